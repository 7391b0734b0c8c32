// Package ours is nocopythrift itself, used as its README tells users to.
package ours

import (
	"io"

	"github.com/nocopythrift/nocopythrift/nocopy"

	"github.com/nocopythrift/nocopythrift/bench/data"
	"github.com/nocopythrift/nocopythrift/bench/peer"
)

// Peer has the rows
//
//   - nocopy: no options, so everything read from a message stays valid for ever
//   - nocopy/recycle: with nocopy.Recycle, so memory is used again after Release
//   - nocopy/lazy (partial, edit): with nocopy.Lazy and nocopy.Recycle, what a gateway uses
//   - nocopy/peek (partial): no message, each field is looked up in the bytes
//
// All of them release their messages. None owns the bytes it parses, so that an edit never stores into its input.
func Peer() peer.Peer { return peer.Peer{Name: "nocopy", Rows: rows, Decode: decode} }

// message is what is measured of one message type, whose handle is S. The functions that an operation is not defined for are nil.
type message[S nocopy.View] struct {
	make    func(...nocopy.Option) S
	parse   func([]byte, ...nocopy.Option) (S, error)
	fill    func(S)
	sum     func(S) uint64
	partial func(S) uint64
	peek    func([]byte) uint64
	edit    func(S)
	values  func(S) any
}

func rows(in *peer.Input, op peer.Op) []peer.Row {
	switch v := in.Value.(type) {
	case *data.MyTest:
		return myTest(v).rows(in.Wire, op)
	case *data.Small:
		return small(v).rows(in.Wire, op)
	case *data.Business:
		return business(v).rows(in.Wire, op)
	case *data.Blob:
		return blob(v).rows(in.Wire, op)
	case *data.WriteRequest:
		return writeRequest(v).rows(in.Wire, op)
	}
	return nil
}

func decode(in *peer.Input, b []byte) (any, error) {
	switch v := in.Value.(type) {
	case *data.MyTest:
		return myTest(v).decode(b)
	case *data.Small:
		return small(v).decode(b)
	case *data.Business:
		return business(v).decode(b)
	case *data.Blob:
		return blob(v).decode(b)
	case *data.WriteRequest:
		return writeRequest(v).decode(b)
	}
	panic("ours: no such message")
}

func (m message[S]) decode(b []byte) (any, error) {
	s, err := m.parse(b)
	if err != nil {
		return nil, err
	}
	defer nocopy.Struct(s).Release()
	return m.values(s), nil
}

// mode is a row's name and the options it stands for.
type mode struct {
	row  string
	opts []nocopy.Option
}

var (
	safe    = mode{"nocopy", nil}
	recycle = mode{"nocopy/recycle", []nocopy.Option{nocopy.Recycle}}
	lazy    = mode{"nocopy/lazy", []nocopy.Option{nocopy.Lazy, nocopy.Recycle}}
)

func (m message[S]) rows(wire []byte, op peer.Op) []peer.Row {
	switch op {
	case peer.Build:
		return each([]mode{safe, recycle}, func(o []nocopy.Option, w io.Writer) uint64 {
			s := m.make(o...)
			m.fill(s)
			return send(w, nocopy.Struct(s))
		})
	case peer.Read:
		return each([]mode{safe, recycle}, func(o []nocopy.Option, _ io.Writer) uint64 {
			s := must(m.parse(wire, o...))
			n := m.sum(s)
			nocopy.Struct(s).Release()
			return n
		})
	case peer.Partial:
		rows := each([]mode{safe, recycle, lazy}, func(o []nocopy.Option, _ io.Writer) uint64 {
			s := must(m.parse(wire, o...))
			n := m.partial(s)
			nocopy.Struct(s).Release()
			return n
		})
		return append(rows, peer.Row{Peer: "nocopy/peek", Step: func(io.Writer) uint64 { return m.peek(wire) }})
	case peer.Edit:
		return each([]mode{safe, recycle, lazy}, func(o []nocopy.Option, w io.Writer) uint64 {
			s := must(m.parse(wire, o...))
			m.edit(s)
			return send(w, nocopy.Struct(s))
		})
	}
	return nil
}

// each makes a row of step in each mode.
func each(modes []mode, step func([]nocopy.Option, io.Writer) uint64) []peer.Row {
	var rows []peer.Row
	for _, m := range modes {
		rows = append(rows, peer.Row{Peer: m.row, Step: func(w io.Writer) uint64 { return step(m.opts, w) }})
	}
	return rows
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
