package nocopykitex

import (
	"errors"
	"sync"

	"github.com/cloudwego/gopkg/bufiox"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// body is a struct that is sent or was received: a message, or wire bytes that become a message at
// first use. Any number of goroutines may use it. One of them may change the message only while no
// other uses the message.
type body struct {
	desc *thriftimpl.Desc

	mu sync.Mutex
	// At most one of these three is set
	received nocopy.Struct     // belongs to the caller of a client
	msg      *nocopy.Message   // one of a call
	wire     [][]byte          // immutable memory that the garbage collector frees
	earlier  []*nocopy.Message // previous values of msg, which may still be read
	byRef    bool              // Kitex refers to the written bytes until they are sent
}

// errEmpty is the error of sending an empty body.
var errEmpty = errors.New("nocopy: arguments that were not set")

// set makes m, a message of a call, the struct.
func (b *body) set(m *nocopy.Message) { b.replace(nocopy.Struct{}, m, nil) }

// receive makes s, which belongs to the caller of a client, the struct. If s is zero, there is no
// struct.
func (b *body) receive(s nocopy.Struct) { b.replace(s, nil, nil) }

func (b *body) replace(s nocopy.Struct, m *nocopy.Message, wire [][]byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.msg != nil {
		b.earlier = append(b.earlier, b.msg)
	}
	b.received, b.msg, b.wire = s, m, wire
}

// encode makes the wire bytes of m the struct. m must be finished, must not recycle, and must be
// released afterwards. encode copies pieces shorter than below, and pieces of m's own memory
// shorter than long.
func (b *body) encode(m *nocopy.Message, below, long int) {
	wire := thriftimpl.Detach(m, below, long)
	b.mu.Lock()
	if b.msg == m {
		b.msg = nil
	}
	b.mu.Unlock()
	b.replace(nocopy.Struct{}, nil, wire)
}

// message returns the message of a call, or nil if there is none. It makes one from wire bytes if
// necessary.
func (b *body) message() *nocopy.Message {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.msg == nil && b.wire != nil {
		m, err := thriftimpl.ParseEncoded(b.desc, b.wire)
		if err == nil {
			err = m.Check()
		}
		if err != nil {
			panic("nocopy: what was encoded can't be parsed: " + err.Error())
		}
		b.msg, b.wire = m, nil
	}
	return b.msg
}

// root returns the struct, absent if there is none.
func (b *body) root() nocopy.Struct {
	if m := b.message(); m != nil {
		return m.Root()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.received != (nocopy.Struct{}) {
		return b.received
	}
	return thriftimpl.Absent()
}

// write writes the struct.
func (b *body) write(out bufiox.Writer) error {
	var room [16][]byte
	pieces, parsed, err := b.pieces(room[:0])
	if err != nil {
		return err
	}
	byRef, err := writePieces(out, pieces)
	if byRef && parsed {
		b.mu.Lock()
		b.byRef = true
		b.mu.Unlock()
	}
	return err
}

// pieces returns the wire bytes, and whether they are those of a message of a call. It may append
// to dst.
func (b *body) pieces(dst [][]byte) (pieces [][]byte, parsed bool, err error) {
	b.mu.Lock() // if several goroutines encode a changed struct, one of them finishes it
	defer b.mu.Unlock()
	switch {
	case b.msg != nil:
		if err := b.msg.Check(); err != nil {
			return nil, false, err
		}
		return thriftimpl.AppendPieces(b.msg, dst), true, nil
	case b.wire != nil:
		return b.wire, false, nil
	}
	return nil, false, errEmpty
}

// empty reports whether there is no struct.
func (b *body) empty() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.msg == nil && b.wire == nil && b.received == (nocopy.Struct{})
}

// end releases the messages of a call. If Kitex may still refer to them, since they were written
// by reference and sent is false, it only returns false.
func (b *body) end(sent bool) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.byRef && !sent {
		return false
	}
	if b.msg != nil {
		thriftimpl.End(b.msg)
		b.msg = nil
	}
	for _, m := range b.earlier {
		thriftimpl.End(m)
	}
	b.earlier = nil
	return true
}

const (
	// referFrom is the size of the smallest piece that is written by reference. Kitex's writers
	// refer to pieces larger than 4 KiB and copy others.
	referFrom = 4<<10 + 1

	// shareFrom is the size of the smallest piece of another message that is referred to until it
	// is written. Smaller pieces are copied at once.
	shareFrom = 256

	// longOwn is the size from which on a piece of a request's or result's own memory is referred
	// to instead of copied. That memory can't be used again then.
	longOwn = 32 << 10
)

// writePieces writes pieces of memory to Kitex's buffer: large ones by reference, as
// bufiox.Writer's WriteBinary does in constant time, and small ones copied together. It reports
// whether there were large ones.
func writePieces(out bufiox.Writer, pieces [][]byte) (byRef bool, err error) {
	for i := 0; i < len(pieces); {
		if len(pieces[i]) >= referFrom {
			byRef = true
			if _, err := out.WriteBinary(pieces[i]); err != nil {
				return byRef, err
			}
			i++
			continue
		}
		first, n := i, 0
		for ; i < len(pieces) && len(pieces[i]) < referFrom; i++ {
			n += len(pieces[i])
		}
		b, err := out.Malloc(n)
		if err != nil {
			return byRef, err
		}
		for _, p := range pieces[first:i] {
			b = b[copy(b, p):]
		}
	}
	return byRef, nil
}
