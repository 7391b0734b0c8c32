// Package structs has the rows of all peers that decode into Go structs and encode from them:
// Kitex, frugal, Apache Thrift, vtprotobuf. The application's operations on a struct type are
// written once, in package structs/kitex, and copied for the others' types by generate.sh. A peer
// adds a Codec.
package structs

import (
	"io"

	"github.com/nocopythrift/nocopythrift/bench/peer"
)

// Message holds the application's operations on one message type. Every any is a *T of the same
// generated struct T. Functions that no operation needs are nil.
type Message struct {
	New     func() any
	Fill    func(m any)        // from the application's values; uses again what m has
	Sum     func(m any) uint64 // reads everything
	Partial func(m any) uint64
	Edit    func(m any)
	Values  func(m any) any // as a message of package data

	Subset *Message // New and Partial for structs that declare only the fields that Partial reads
}

// Codec turns structs into bytes and back. It may keep buffers from one call to the next.
type Codec struct {
	Encode func(m any) []byte // the bytes are read before the next call
	Decode func(b []byte, m any) error

	// Send, if not nil, is called in place of Encode by codecs that write several pieces.
	Send func(w io.Writer, m any) uint64

	// New and Free take structs for decoding from a pool and return them. If nil, structs are new
	// each time.
	New  func() any
	Free func(m any)
}

// Variant is one way to use a peer: a row.
type Variant struct {
	Row   string
	Ops   []peer.Op
	Codec func(Message) Codec // called for each sample
	// The application keeps structs, slices and maps from one message to the next
	Keep   bool
	Subset bool // decodes into Message.Subset's structs
	// The peer's bytes are not Thrift Binary: it reads bytes that it has encoded itself
	Own bool
}

// Rows returns the rows of op.
func Rows(m Message, variants []Variant, in *peer.Input, op peer.Op) []peer.Row {
	if m.New == nil {
		return nil
	}
	var rows []peer.Row
	for _, v := range variants {
		for _, o := range v.Ops {
			if o == op && (!v.Subset || m.Subset != nil) {
				rows = append(rows, peer.Row{Peer: v.Row, Make: func() peer.Step { return v.step(m, in, op) }})
			}
		}
	}
	return rows
}

// Decode reads b with the codec of v back into plain values.
func (v Variant) Decode(m Message, b []byte) (any, error) {
	s := m.New()
	if err := v.Codec(m).Decode(b, s); err != nil {
		return nil, err
	}
	return m.Values(s), nil
}

func (v Variant) step(m Message, in *peer.Input, op peer.Op) peer.Step {
	if v.Subset {
		m = *m.Subset
	}
	c := v.Codec(m)
	if c.New == nil {
		c.New, c.Free = m.New, func(any) {}
	}
	if c.Send == nil {
		c.Send = func(w io.Writer, m any) uint64 { return Write(w, c.Encode(m)) }
	}
	wire := in.Wire
	if v.Own && op != peer.Build {
		s := m.New()
		m.Fill(s)
		wire = append([]byte(nil), c.Encode(s)...)
	}
	if v.Keep {
		kept := m.New()
		c.New, c.Free = func() any { return kept }, func(any) {}
	}
	read := func() any {
		s := c.New()
		if err := c.Decode(wire, s); err != nil {
			panic(err)
		}
		return s
	}
	switch op {
	case peer.Build:
		return func(w io.Writer) uint64 {
			s := c.New()
			m.Fill(s)
			n := c.Send(w, s)
			c.Free(s)
			return n
		}
	case peer.Read:
		return func(io.Writer) uint64 {
			s := read()
			n := m.Sum(s)
			c.Free(s)
			return n
		}
	case peer.Partial:
		return func(io.Writer) uint64 {
			s := read()
			n := m.Partial(s)
			c.Free(s)
			return n
		}
	case peer.Edit:
		return func(w io.Writer) uint64 {
			s := read()
			m.Edit(s)
			n := c.Send(w, s)
			c.Free(s)
			return n
		}
	}
	panic("structs: no such operation")
}

// Write writes b to w and returns its length.
func Write(w io.Writer, b []byte) uint64 {
	n, err := w.Write(b)
	if err != nil {
		panic(err)
	}
	return uint64(n)
}

// Room returns a slice of n elements, s's memory if it is large enough.
func Room[E any](s []E, n int) []E {
	if cap(s) < n {
		return make([]E, n)
	}
	return s[:n]
}

// Some returns the struct at p, allocating it if there is none.
func Some[T any](p **T) *T {
	if *p == nil {
		*p = new(T)
	}
	return *p
}

// Typed is a Message whose functions take a *T.
type Typed[T any] struct {
	Fill    func(*T)
	Sum     func(*T) uint64
	Partial func(*T) uint64
	Edit    func(*T)
	Values  func(*T) any
	Subset  *Message
}

// Message returns the same functions with any for *T.
func (t Typed[T]) Message() Message {
	return Message{
		New:     func() any { return new(T) },
		Fill:    func(m any) { t.Fill(m.(*T)) },
		Sum:     func(m any) uint64 { return t.Sum(m.(*T)) },
		Partial: func(m any) uint64 { return t.Partial(m.(*T)) },
		Edit:    func(m any) { t.Edit(m.(*T)) },
		Values:  func(m any) any { return t.Values(m.(*T)) },
		Subset:  t.Subset,
	}
}
