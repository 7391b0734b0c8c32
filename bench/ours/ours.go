// Package ours has the rows of nocopythrift itself, used as its README recommends.
package ours

import (
	"io"
	"slices"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"

	"github.com/nocopythrift/nocopythrift/bench/data"
	"github.com/nocopythrift/nocopythrift/bench/generated/nocopy/peer"
	"github.com/nocopythrift/nocopythrift/bench/generated/nocopy/prom"
	"github.com/nocopythrift/nocopythrift/bench/generated/nocopy/wide"
	bench "github.com/nocopythrift/nocopythrift/bench/peer"
)

// Peer has the rows
//
//   - nocopy: no options; everything read from a message stays valid for ever
//   - nocopy/recycle: with nocopy.Recycle; memory is used again after Release
//   - nocopy/fields, nocopy/fields+recycle (build): of structs of plain values, as nocopyc -fields
//     makes them; without options, and with nocopy.Recycle
//   - nocopy/plain (build, read): such structs and bytes, without a message; structs, slices and
//     the buffer are kept
//   - nocopy/kept (B and H): no options, all messages one after the other in one Message that the
//     application keeps
//   - nocopy/lazy (partial, edit): with nocopy.Lazy and nocopy.Recycle, as in a gateway
//   - nocopy/index (partial): with nocopy.ByIndex and nocopy.Recycle, of a message with an index
//     (nocopy.WithIndex)
//   - nocopy/peek (partial): no message, nocopy.PeekAll finds the fields in the bytes; not for W,
//     whose 2,000 fields no program would name
//
// All of them release their messages. None owns the bytes it parses: an edit never stores into its
// input.
func Peer() bench.Peer {
	return bench.Peer{
		Name: "nocopy",
		Rows: func(in *bench.Input, op bench.Op) []bench.Row { return of(in.Value).rows(in.Wire, op) },
		Decode: func(in *bench.Input, b []byte) (any, error) {
			return of(in.Value).decode(b)
		},
	}
}

// use holds the operations on one message type.
type use interface {
	rows(wire []byte, op bench.Op) []bench.Row
	life() Life
	stepOf(wire []byte, op bench.Op, opts ...nocopy.Option) bench.Step
	compactStep(wire []byte, op bench.Op) bench.Step
	decode(b []byte, opts ...nocopy.Option) (any, error)
}

func of(v any) use {
	switch v := v.(type) {
	case *data.MyTest:
		return with[peer.MyTest](func() message[peer.MyTest] { return myTest(v) })
	case *data.Small:
		return with[peer.Small](func() message[peer.Small] { return small(v) })
	case *data.Business:
		return with[peer.Business](func() message[peer.Business] { return business(v) })
	case *data.Blob:
		return with[peer.Blob](func() message[peer.Blob] { return blob(v) })
	case *data.VStreamRows:
		return with[peer.VStreamRowsResponse](func() message[peer.VStreamRowsResponse] { return vstreamRows(v) })
	case *data.WriteRequest:
		return with[prom.WriteRequest](func() message[prom.WriteRequest] { return writeRequest(v) })
	case *data.Wide:
		return with[wide.Wide](func() message[wide.Wide] { return wideRows(v) })
	case *data.Bulk:
		return with[peer.Bulk](func() message[peer.Bulk] { return bulk(v) })
	case *data.FieldOrder:
		return with[peer.Catalog](func() message[peer.Catalog] { return catalog(func(m peer.Catalog) { fillFields(m, v) }, nil) })
	case *data.WordOrder:
		return with[peer.Catalog](func() message[peer.Catalog] { return catalog(func(m peer.Catalog) { fillWords(m, v) }, nil) })
	case *data.Edits:
		return with[peer.Catalog](func() message[peer.Catalog] { return catalog(nil, func(m peer.Catalog) { editItems(m, v) }) })
	}
	panic("ours: no such message")
}

// message holds the operations on one message type, whose handle is S. Operations that the type
// does not have are nil.
type message[S nocopy.StructView] struct {
	make    func(...nocopy.Option) S
	parse   func([]byte, ...nocopy.Option) (S, error)
	fill    func(S)
	of      func(...nocopy.Option) S // makes it of structs of plain values
	plain   *plain                   // the same without a message
	kept    bool                     // there are rows of a Message that the application keeps
	sum     func(S) uint64
	partial func(S) uint64
	peek    func([]byte) uint64
	edit    func(S)
	values  func(S) any
}

// with makes a message for each row, together with the slices that an application keeps.
type with[S nocopy.StructView] func() message[S]

func (f with[S]) decode(b []byte, opts ...nocopy.Option) (any, error) {
	m := f()
	s, err := m.parse(b, append(opts, nocopy.Limits{MaxBytes: large})...)
	if err != nil {
		return nil, err
	}
	defer nocopy.Struct(s).Release()
	return m.values(s), nil
}

// large is the limit for messages: G's largest is above the default of 100 MiB.
const large = 1 << 30

// mode is a row's name with the options of its messages.
type mode struct {
	row  string
	opts []nocopy.Option
}

var (
	safe    = mode{"nocopy", nil}
	recycle = mode{"nocopy/recycle", []nocopy.Option{nocopy.Recycle}}
	lazy    = mode{"nocopy/lazy", []nocopy.Option{nocopy.Lazy, nocopy.Recycle}}
)

func (f with[S]) rows(wire []byte, op bench.Op) []bench.Row {
	modes := []mode{safe, recycle}
	if op == bench.Partial || op == bench.Edit {
		modes = append(modes, lazy)
	}
	var rows []bench.Row
	for _, m := range modes {
		rows = append(rows, bench.Row{Peer: m.row, Make: func() bench.Step { return f.stepOf(wire, op, m.opts...) }})
	}
	if f().kept {
		rows = append(rows, bench.Row{Peer: "nocopy/kept", Make: func() bench.Step { return f().keptStep(wire, op) }})
	}
	if op == bench.Build && f().of != nil {
		for _, m := range []mode{{"nocopy/fields", nil}, {"nocopy/fields+recycle", recycle.opts}} {
			rows = append(rows, bench.Row{Peer: m.row, Make: func() bench.Step {
				of := f().of
				return func(w io.Writer) uint64 { return send(w, nocopy.Struct(of(m.opts...))) }
			}})
		}
	}
	if (op == bench.Build || op == bench.Read) && f().plain != nil {
		rows = append(rows, bench.Row{Peer: "nocopy/plain", Make: func() bench.Step { return f().plain.step(wire, op) }})
	}
	if op == bench.Partial && f().peek != nil {
		rows = append(rows, bench.Row{Peer: "nocopy/index", Make: func() bench.Step {
			m, limit := f(), nocopy.Limits{MaxBytes: large}
			s := nocopy.Struct(must(m.parse(wire, nocopy.WithIndex, limit)))
			with := s.Message().AppendTo(nil)
			s.Release()
			return m.step(with, op, []nocopy.Option{nocopy.ByIndex, nocopy.Recycle, limit})
		}})
		rows = append(rows, bench.Row{Peer: "nocopy/peek", Make: func() bench.Step {
			m := f()
			return func(io.Writer) uint64 { return m.peek(wire) }
		}})
	}
	return rows
}

// stepOf returns the step of an operation with these options, on the message in wire.
func (f with[S]) stepOf(wire []byte, op bench.Op, opts ...nocopy.Option) bench.Step {
	return f().step(wire, op, slices.Concat(opts, limitFor(wire)))
}

func (m message[S]) step(wire []byte, op bench.Op, opts []nocopy.Option) bench.Step {
	switch op {
	case bench.Build:
		return func(w io.Writer) uint64 {
			s := m.make(opts...)
			m.fill(s)
			return send(w, nocopy.Struct(s))
		}
	case bench.Read:
		return func(io.Writer) uint64 {
			s := must(m.parse(wire, opts...))
			n := m.sum(s)
			nocopy.Struct(s).Release()
			return n
		}
	case bench.Partial:
		return func(io.Writer) uint64 {
			s := must(m.parse(wire, opts...))
			n := m.partial(s)
			nocopy.Struct(s).Release()
			return n
		}
	case bench.Edit:
		return func(w io.Writer) uint64 {
			s := must(m.parse(wire, opts...))
			m.edit(s)
			return send(w, nocopy.Struct(s))
		}
	}
	panic("ours: no such operation")
}

// keptStep returns the step of an operation that uses one Message, which the application keeps.
func (m message[S]) keptStep(wire []byte, op bench.Op) bench.Step {
	kept := new(nocopy.Message)
	send := func(w io.Writer) uint64 {
		n := must(kept.WriteTo(w))
		kept.Reset()
		return uint64(n)
	}
	read := func(sum func(S) uint64) bench.Step {
		return func(io.Writer) uint64 {
			n := sum(must(nocopy.ParseInto[S](kept, wire)))
			kept.Reset()
			return n
		}
	}
	switch op {
	case bench.Build:
		return func(w io.Writer) uint64 {
			m.fill(nocopy.NewInto[S](kept))
			return send(w)
		}
	case bench.Read:
		return read(m.sum)
	case bench.Partial:
		return read(m.partial)
	case bench.Edit:
		return func(w io.Writer) uint64 {
			m.edit(must(nocopy.ParseInto[S](kept, wire)))
			return send(w)
		}
	}
	panic("ours: no such operation")
}

// step returns the step of an operation on plain values.
func (p *plain) step(wire []byte, op bench.Op) bench.Step {
	if op == bench.Read {
		return func(io.Writer) uint64 {
			if err := p.parse(wire, limitFor(wire)...); err != nil {
				panic(err)
			}
			return p.sum()
		}
	}
	var buf []byte
	return func(w io.Writer) uint64 {
		p.fill()
		buf = p.write(buf[:0])
		return uint64(must(w.Write(buf)))
	}
}

// peek returns a function that finds values in the bytes of a struct and returns their sum.
func peek(d *thriftimpl.Desc, sum func([]nocopy.Value) uint64, paths ...[]int) func([]byte) uint64 {
	var values []nocopy.Value
	return func(b []byte) uint64 {
		values = must(nocopy.PeekAll(values[:0], d, b, paths...))
		return sum(values)
	}
}

// limitFor returns the option that a message of these bytes needs, if any.
func limitFor(wire []byte) []nocopy.Option {
	if len(wire) <= 100<<20 {
		return nil
	}
	return []nocopy.Option{nocopy.Limits{MaxBytes: large}}
}

// send writes the message and releases it.
func send(w io.Writer, s nocopy.Struct) uint64 {
	n := must(s.Message().WriteTo(w))
	s.Release()
	return uint64(n)
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
