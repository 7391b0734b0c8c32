// Package dynamic has the rows of package nocopy/dynamic: messages without generated code, of
// types that are loaded from the IDL when the program runs.
package dynamic

import (
	"io"

	"github.com/nocopythrift/nocopythrift/bench/data"
	"github.com/nocopythrift/nocopythrift/bench/idl"
	"github.com/nocopythrift/nocopythrift/bench/peer"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/dynamic"
)

// Peer has the rows
//
//   - nocopy/dynamic (partial, edit): a message, with nocopy.Recycle; fields by their ids
//   - nocopy/dynamic/lazy: the same with nocopy.Lazy
//   - nocopy/dynamic/names: fields by their names, the nested one by a path where it is read
//
// All release their messages. None owns the bytes that it parses.
func Peer() peer.Peer { return peer.Peer{Name: "nocopy/dynamic", Rows: rows} }

func rows(in *peer.Input, op peer.Op) []peer.Row {
	var u use
	switch in.Value.(type) {
	case *data.Small:
		u = use{num: 6, double: 8, sub: 9, text: 1, names: [4]string{"Timestamp", "Weight", "Sub", "Name"}}
	case *data.Business:
		u = use{num: 12, double: 9, sub: 11, text: 2, names: [4]string{"Ts", "Score", "Owner", "Name"}}
	default:
		return nil
	}
	var step func(t dynamic.Type, wire []byte, opts ...nocopy.Option) peer.Step
	var byName func(t dynamic.Type, wire []byte) peer.Step
	switch op {
	case peer.Partial:
		step, byName = u.partial, u.partialByName
	case peer.Edit:
		step, byName = u.edit, u.editByName
	default:
		return nil
	}
	return []peer.Row{
		{Peer: "nocopy/dynamic", Make: func() peer.Step { return step(TypeOf(in.Value), in.Wire, nocopy.Recycle) }},
		{Peer: "nocopy/dynamic/lazy", Make: func() peer.Step { return step(TypeOf(in.Value), in.Wire, nocopy.Lazy, nocopy.Recycle) }},
		{Peer: "nocopy/dynamic/names", Make: func() peer.Step { return byName(TypeOf(in.Value), in.Wire) }},
	}
}

// TypeOf returns the type of a message of package data.
func TypeOf(v any) dynamic.Type {
	s := must(dynamic.LoadText(map[string]string{"peer.thrift": idl.Peer}))
	if _, ok := v.(*data.Small); ok {
		return must(s.Struct("Small"))
	}
	return must(s.Struct("Business"))
}

// use names the fields of a message that the partial and edit operations use: an i64, a double and
// a struct of the root, and a string of that struct; by ids and by names.
type use struct {
	num, double, sub, text int16
	names                  [4]string
}

func (u use) partial(t dynamic.Type, wire []byte, opts ...nocopy.Option) peer.Step {
	return func(io.Writer) uint64 {
		m := must(t.Parse(wire, opts...))
		text := must(must(m.GetByID(u.sub)).Message().GetByID(u.text)).Text()
		n := uint64(must(m.GetByID(u.num)).Int()) + data.F64(must(m.GetByID(u.double)).Float()) + data.Str(text)
		m.Release()
		return n
	}
}

func (u use) partialByName(t dynamic.Type, wire []byte) peer.Step {
	path := u.names[2] + "." + u.names[3]
	return func(io.Writer) uint64 {
		m := must(t.Parse(wire, nocopy.Recycle))
		n := uint64(must(m.Get(u.names[0])).Int()) + data.F64(must(m.Get(u.names[1])).Float()) + data.Str(must(m.Lookup(path)).Text())
		m.Release()
		return n
	}
}

func (u use) edit(t dynamic.Type, wire []byte, opts ...nocopy.Option) peer.Step {
	return func(w io.Writer) uint64 {
		m := must(t.Parse(wire, opts...))
		check(must(m.GetByID(u.sub)).Message().SetByID(u.text, data.EditText))
		check(m.SetByID(u.num, int64(data.EditInt)))
		return send(w, m)
	}
}

func (u use) editByName(t dynamic.Type, wire []byte) peer.Step {
	return func(w io.Writer) uint64 {
		m := must(t.Parse(wire, nocopy.Recycle))
		check(must(m.Get(u.names[2])).Message().Set(u.names[3], data.EditText))
		check(m.Set(u.names[0], int64(data.EditInt)))
		return send(w, m)
	}
}

// send writes the message and releases it.
func send(w io.Writer, m dynamic.Message) uint64 {
	n := must(m.Message().WriteTo(w))
	m.Release()
	return uint64(n)
}

func must[T any](v T, err error) T {
	check(err)
	return v
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
