package nocopykitex

import (
	"errors"
	"sync"

	"github.com/cloudwego/gopkg/bufiox"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// body is a struct that is sent or was received: a message, or wire bytes that become one when
// somebody wants to look at them. Any number of goroutines may use it, but change the message only
// while no other uses that.
type body struct {
	desc *thriftimpl.Desc

	mu   sync.Mutex
	msg  *nocopy.Message // takes precedence over wire
	wire [][]byte        // memory that nobody changes and the garbage collector frees
	// What was written is referred to until it has been sent
	byRef bool
}

// errEmpty is the error of sending what is not there.
var errEmpty = errors.New("nocopy: arguments that were not set")

// set makes m the struct.
func (b *body) set(m *nocopy.Message) {
	b.mu.Lock()
	b.msg, b.wire = m, nil
	b.mu.Unlock()
}

// encode makes the wire bytes of m, which must have been finished and must not recycle, the
// struct. m can be released then. Pieces of less than below bytes are copied, as are those of m's
// own memory of less than long.
func (b *body) encode(m *nocopy.Message, below, long int) {
	wire := thriftimpl.Detach(m, below, long)
	b.mu.Lock()
	b.msg, b.wire = nil, wire
	b.mu.Unlock()
}

// message returns the struct as a message, which it makes of wire bytes if it has to; nil if there
// is none.
func (b *body) message() *nocopy.Message {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.msg == nil && b.wire != nil {
		s, err := nocopy.ParseBlocks[nocopy.Struct](b.desc, b.wire)
		if err == nil {
			err = s.Message().Check()
		}
		if err != nil {
			panic("nocopy: what was encoded can't be parsed: " + err.Error())
		}
		b.msg = s.Message()
	}
	return b.msg
}

// root returns the struct, absent if there is none.
func (b *body) root() nocopy.Struct {
	if m := b.message(); m != nil {
		return m.Root()
	}
	return thriftimpl.Absent()
}

// write writes the struct.
func (b *body) write(out bufiox.Writer) error {
	b.mu.Lock()
	m, wire := b.msg, b.wire
	b.mu.Unlock()
	var room [16][]byte
	switch {
	case m != nil:
		if err := m.Check(); err != nil {
			return err
		}
		wire = thriftimpl.AppendPieces(m, room[:0])
	case wire == nil:
		return errEmpty
	}
	byRef, err := writePieces(out, wire)
	if byRef && m != nil {
		b.mu.Lock()
		b.byRef = true
		b.mu.Unlock()
	}
	return err
}

// empty reports whether there is no struct.
func (b *body) empty() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.msg == nil && b.wire == nil
}

// end releases the message, if there is one, which must be a held one. It does nothing but return
// false if what was written refers to it and sent is false.
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
	return true
}

const (
	// referFrom is the size of the smallest piece that is written by reference. Kitex's writers refer
	// to larger pieces than 4 KiB and copy others.
	referFrom = 4<<10 + 1

	// shareFrom is the size of the smallest piece of another message that is referred to until it is
	// written: a smaller one is copied at once.
	shareFrom = 256

	// longOwn is the size from which on a piece that a request or a result was built in is referred
	// to instead of copied: then the memory that it was built in can't be used again.
	longOwn = 32 << 10
)

// writePieces writes pieces of memory to Kitex's buffer: large ones by reference, as
// bufiox.Writer's WriteBinary does in constant time, and small ones copied together. It reports
// whether there are large ones.
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
