package ours

import (
	"io"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// Life has what an application does with a message of one type, in steps. Command insns counts
// each of them alone; the rows of Peer are made of several.
type Life struct {
	Desc  *thriftimpl.Desc
	Build func() nocopy.Struct // makes the message and sets all fields
	// Of types with structs of plain values, else nil:
	Whole  func() nocopy.Struct                 // fills them and makes the message of them
	Append func(dst []byte) []byte              // fills them and appends their bytes
	Fields func([]byte, ...nocopy.Option) error // parses bytes into them
	Parse  func(wire []byte, opts ...nocopy.Option) nocopy.Struct
	Read   func(nocopy.Struct) uint64 // reads all fields
	// Nil if the type has no such operation:
	Edit func(nocopy.Struct)
	Peek func(wire []byte) uint64 // finds a few late values without a message
}

// LifeOf returns the steps for v, a message of package data.
func LifeOf(v any) Life { return of(v).life() }

// Send writes a message to w. The caller releases it.
func Send(w io.Writer, s nocopy.Struct) int64 { return must(s.Message().WriteTo(w)) }

func (f with[S]) life() Life {
	m := f()
	var zero S
	l := Life{
		Desc: zero.ThriftDesc(),
		Build: func() nocopy.Struct {
			s := m.make()
			m.fill(s)
			return nocopy.Struct(s)
		},
		Parse: func(b []byte, opts ...nocopy.Option) nocopy.Struct { return nocopy.Struct(must(m.parse(b, opts...))) },
		Read:  func(s nocopy.Struct) uint64 { return m.sum(S(s)) },
		Peek:  m.peek,
	}
	if m.of != nil {
		l.Whole = func() nocopy.Struct { return nocopy.Struct(m.of()) }
	}
	if m.plain != nil {
		l.Append = func(dst []byte) []byte {
			m.plain.fill()
			return m.plain.write(dst)
		}
		l.Fields = m.plain.parse
	}
	if m.edit != nil {
		l.Edit = func(s nocopy.Struct) { m.edit(S(s)) }
	}
	return l
}
