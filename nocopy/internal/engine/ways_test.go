// The ways in which bytes become a message, for several tests.

package engine

import (
	"bytes"
	"fmt"
	"testing/iotest"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// way is one way in which bytes become a message. All of them must come to the same.
type way struct {
	name  string
	parse func(d *schema.Struct, wire []byte, opts ...Option) (Struct, error)
}

// cutEvery returns the way that gets its bytes in blocks of n.
func cutEvery(n int) way {
	return way{fmt.Sprintf("blocks of %d", n), func(d *schema.Struct, wire []byte, opts ...Option) (Struct, error) {
		var blocks [][]byte
		for len(wire) > n {
			blocks, wire = append(blocks, wire[:n]), wire[n:]
		}
		return ParseBlocks(d, append(blocks, wire), opts...)
	}}
}

// cutAt returns the way that gets its bytes in two blocks.
func cutAt(n int) way {
	return way{fmt.Sprintf("cut at %d", n), func(d *schema.Struct, wire []byte, opts ...Option) (Struct, error) {
		n := min(n, len(wire))
		return ParseBlocks(d, [][]byte{wire[:n], wire[n:]}, opts...)
	}}
}

func with(w way, o Option, name string) way {
	return way{w.name + ", " + name, func(d *schema.Struct, wire []byte, opts ...Option) (Struct, error) {
		return w.parse(d, wire, append([]Option{o}, opts...)...)
	}}
}

var (
	inOnePiece = way{"in one piece", Parse}
	owned      = way{"own", func(d *schema.Struct, wire []byte, opts ...Option) (Struct, error) {
		return Parse(d, bytes.Clone(wire), append([]Option{Own}, opts...)...)
	}}
	fromReader = way{"from a reader of single bytes", func(d *schema.Struct, wire []byte, opts ...Option) (Struct, error) {
		return Read(d, iotest.OneByteReader(bytes.NewReader(wire)), len(wire), opts...)
	}}
	recycled = with(fromReader, Recycle, "recycled")
)

// ways returns all ways for a message of n bytes: cut at every offset among them.
func ways(n int) []way {
	list := []way{
		inOnePiece, owned, fromReader, recycled, with(inOnePiece, Lazy, "lazy"), with(fromReader, Lazy, "lazy"),
		cutEvery(1), cutEvery(2), cutEvery(3), cutEvery(7), with(cutEvery(1), Lazy, "lazy"), with(cutEvery(5), Recycle, "recycled"),
	}
	for i := range n + 1 {
		list = append(list, cutAt(i), with(cutAt(i), Lazy, "lazy"))
	}
	return list
}
