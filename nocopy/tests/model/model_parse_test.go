// How TestModel parses messages: in all ways in which bytes can arrive.

package model_test

import (
	"bytes"
	"io"

	"github.com/nocopythrift/nocopythrift/internal/memory"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/referee"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// anyDepth is for messages that were put into each other and into themselves again and again.
var anyDepth = nocopy.Limits{MaxDepth: 10_000}

// parse makes a message of wire, the bytes of rec, in one of the ways in which bytes arrive. With
// mayEnd it may use one of the session's own messages, whose previous contents end.
func (s *session) parse(b *bound, wire []byte, rec *referee.Record, mayEnd bool) *message {
	m := &message{b: b, root: rec}
	opts := []nocopy.Option{anyDepth}
	if s.Intn(4) == 0 {
		opts = append(opts, nocopy.Lazy)
	}
	if m.recycled = s.Intn(4) == 0; m.recycled {
		opts = append(opts, nocopy.Recycle)
	}
	with := false
	switch s.Intn(8) {
	case 0:
		opts = append(opts, nocopy.WithIndex)
		with = true
	case 1:
		opts = append(opts, nocopy.ByIndex, anySize)
		wire = engine.Indexed(b.desc, wire, anyDepth)
	case 2: // for a receiver that does not know the index
		wire = engine.Indexed(b.desc, wire, anyDepth)
	}
	var err error
	switch class := s.Intn(4); {
	case class == 0:
		cuts := s.cut(wire)
		s.logf("m%d, _ := ParseBlocks[%s](%x, %v)", s.made+1, b.Name, cuts, opts)
		m.h, err = nocopy.ParseBlocks[handle](b.desc, cuts, opts...)
		m.inputs = []input{{wire, string(wire)}}
	case class == 1:
		s.logf("m%d, _ := Read[%s](%x, %v)", s.made+1, b.Name, wire, opts)
		m.h, err = nocopy.Read[handle](b.desc, &oddReader{s, bytes.Clone(wire)}, len(wire), opts...)
	case class == 3 && m.recycled && len(wire)%2 == 0:
		lazy := len(opts) == 3
		s.logf("m%d, _ := ParseChunk(%s, HoldOwned(%x), Recycle, %t)", s.made+1, b.Name, wire, lazy)
		m.h, err = thriftimpl.ParseChunk(b.desc, readOnly(wire), nocopy.Limits(anyDepth), true, lazy)
	case class == 2:
		opts = append(opts, nocopy.Own)
		fallthrough
	default:
		s.logf("m%d, _ := Parse%s(%x, %v)", s.made+1, b.Name, wire, opts)
		if class == 3 {
			m.inputs = []input{{wire, string(wire)}}
		}
		if mayEnd && s.Intn(3) == 0 {
			s.fillOwn(m, func() { m.h, err = parseInto(m.own, b.desc, wire, opts...) })
		} else {
			m.h, err = thriftimpl.Parse(b.desc, wire, opts...)
		}
	}
	if m.parsed = bytes.Clone(wire); with {
		m.parsed = nil // it may have an index now
	}
	if err != nil {
		failf("a valid message is refused: %v\n%x", err, wire)
	}
	return m
}

// readOnly returns a chunk of memory that must not be stored into, and whose bytes change when it
// is given back.
func readOnly(wire []byte) memory.Chunk {
	was := string(wire)
	return memory.HoldOwned(wire, owner(func() {
		if string(wire) != was {
			failf("memory that must not be stored into was %x and is %x", was, wire)
		}
		for i := range wire {
			wire[i] = 0xdd
		}
	}), true)
}

// owner is a memory.Owner that does something when memory is given back.
type owner func()

func (f owner) Return() { f() }

// cut cuts b into blocks, some of them empty.
func (s *session) cut(b []byte) [][]byte {
	var blocks [][]byte
	few := 1 + s.Intn(8)
	for len(b) > 0 && len(blocks) < few {
		n := min(s.Intn(300), len(b))
		blocks = append(blocks, b[:n:n])
		b = b[n:]
	}
	return append(blocks, b)
}

// oddReader gives its bytes in pieces of odd sizes.
type oddReader struct {
	s *session
	b []byte
}

func (r *oddReader) Read(p []byte) (int, error) {
	if len(r.b) == 0 {
		return 0, io.EOF
	}
	n := copy(p, r.b[:min(len(r.b), 1+r.s.Intn(1000))])
	r.b = r.b[n:]
	return n, nil
}
