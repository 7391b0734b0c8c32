package support

import (
	"bytes"
	"fmt"
	"testing/iotest"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// Way is one way in which bytes become a message. All of them must have the same result.
type Way struct {
	Name  string
	Parse func(d *schema.Struct, wire []byte, opts ...engine.Option) (engine.Struct, error)
}

// CutEvery returns the way that gets its bytes in blocks of n.
func CutEvery(n int) Way {
	return Way{fmt.Sprintf("blocks of %d", n), func(d *schema.Struct, wire []byte, opts ...engine.Option) (engine.Struct, error) {
		var blocks [][]byte
		for len(wire) > n {
			blocks, wire = append(blocks, wire[:n]), wire[n:]
		}
		return engine.ParseBlocks(d, append(blocks, wire), opts...)
	}}
}

// CutAt returns the way that gets its bytes in two blocks.
func CutAt(n int) Way {
	return Way{fmt.Sprintf("cut at %d", n), func(d *schema.Struct, wire []byte, opts ...engine.Option) (engine.Struct, error) {
		n := min(n, len(wire))
		return engine.ParseBlocks(d, [][]byte{wire[:n], wire[n:]}, opts...)
	}}
}

func With(w Way, o engine.Option, name string) Way {
	return Way{w.Name + ", " + name, func(d *schema.Struct, wire []byte, opts ...engine.Option) (engine.Struct, error) {
		return w.Parse(d, wire, append([]engine.Option{o}, opts...)...)
	}}
}

var (
	InOnePiece = Way{"in one piece", engine.Parse}
	Owned      = Way{"own", func(d *schema.Struct, wire []byte, opts ...engine.Option) (engine.Struct, error) {
		return engine.Parse(d, bytes.Clone(wire), append([]engine.Option{engine.Own}, opts...)...)
	}}
	FromReader = Way{"from a reader of single bytes", func(d *schema.Struct, wire []byte, opts ...engine.Option) (engine.Struct, error) {
		return engine.Read(d, iotest.OneByteReader(bytes.NewReader(wire)), len(wire), opts...)
	}}
	Recycled = With(FromReader, engine.Recycle, "recycled")
)

// Ways returns all ways for a message of n bytes: cut at every offset among them.
func Ways(n int) []Way {
	list := []Way{
		InOnePiece, Owned, FromReader, Recycled, With(InOnePiece, engine.Lazy, "lazy"), With(FromReader, engine.Lazy, "lazy"),
		CutEvery(1), CutEvery(2), CutEvery(3), CutEvery(7), With(CutEvery(1), engine.Lazy, "lazy"), With(CutEvery(5), engine.Recycle, "recycled"),
	}
	for i := range n + 1 {
		list = append(list, CutAt(i), With(CutAt(i), engine.Lazy, "lazy"))
	}
	return list
}

var Cloned = Way{"cloned", func(d *schema.Struct, wire []byte, opts ...engine.Option) (engine.Struct, error) {
	s, err := engine.Parse(d, wire, opts...)
	if err != nil {
		return s, err
	}
	defer s.Release()
	return s.Clone(d), nil
}}

// ManyWays are the ways of parsing that take different paths through the parser.
var ManyWays = []Way{
	InOnePiece, With(InOnePiece, engine.Lazy, "lazy"), CutAt(9), CutAt(30), With(CutAt(30), engine.Lazy, "lazy"), FromReader,
	With(InOnePiece, engine.ValidUTF8, "utf8"),
}
