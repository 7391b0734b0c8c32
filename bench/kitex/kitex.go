// Package kitex is Kitex FastCodec, as thriftgo's `fastgo` backend generates it, at its best: BLength, one buffer that is not zeroed, FastWriteNocopy; FastRead into a
// struct that is on the heap, as every struct is that goes through a handler. Its cache for decoded strings stays off, as it is by default in Kitex.
package kitex

import (
	"io"

	"github.com/bytedance/gopkg/lang/dirtmake"
	"github.com/cloudwego/gopkg/protocol/thrift"

	"github.com/nocopythrift/nocopythrift/bench/data"
	"github.com/nocopythrift/nocopythrift/bench/peer"
)

// Peer has the rows
//
//   - kitex: each message is made of fresh structs and a fresh buffer
//   - kitex/reuse (build, edit): the application keeps structs, slices, maps and the buffer from one message to the next
//   - kitex/subset-IDL (partial): the structs declare only the fields that are wanted
func Peer() peer.Peer { return peer.Peer{Name: "kitex", Rows: rows, Decode: decode} }

// message is what is measured of one message type. T is the generated struct, *T implements FastCodec. The functions that an operation is not defined for are nil.
type message[T any] struct {
	codec   func(*T) thrift.FastCodec // the conversion: going through the interface puts structs on the heap
	fill    func(*T)                  // from the application's values; reuses what is there
	sum     func(*T) uint64
	partial func(*T) uint64
	edit    func(*T)
	values  func(*T) any
	subset  func(wire []byte) uint64 // partial, with an IDL of its own
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
	panic("kitex: no such message")
}

func (m message[T]) rows(wire []byte, op peer.Op) []peer.Row {
	read := func(into *T) *T {
		fastRead(m.codec(into), wire)
		return into
	}
	switch op {
	case peer.Build:
		kept, buf := new(T), []byte(nil)
		return []peer.Row{
			{Peer: "kitex", Step: func(w io.Writer) uint64 {
				v := new(T)
				m.fill(v)
				return writeFresh(w, m.codec(v))
			}},
			{Peer: "kitex/reuse", Step: func(w io.Writer) uint64 {
				m.fill(kept)
				return writeReused(w, m.codec(kept), &buf)
			}},
		}
	case peer.Read:
		return []peer.Row{{Peer: "kitex", Step: func(io.Writer) uint64 { return m.sum(read(new(T))) }}}
	case peer.Partial:
		rows := []peer.Row{{Peer: "kitex", Step: func(io.Writer) uint64 { return m.partial(read(new(T))) }}}
		if m.subset != nil {
			rows = append(rows, peer.Row{Peer: "kitex/subset-IDL", Step: func(io.Writer) uint64 { return m.subset(wire) }})
		}
		return rows
	case peer.Edit:
		kept, buf := new(T), []byte(nil)
		return []peer.Row{
			{Peer: "kitex", Step: func(w io.Writer) uint64 {
				v := read(new(T))
				m.edit(v)
				return writeFresh(w, m.codec(v))
			}},
			{Peer: "kitex/reuse", Step: func(w io.Writer) uint64 {
				*kept = *new(T)
				m.edit(read(kept))
				return writeReused(w, m.codec(kept), &buf)
			}},
		}
	}
	return nil
}

func (m message[T]) decode(b []byte) (any, error) {
	v := new(T)
	if _, err := m.codec(v).FastRead(b); err != nil {
		return nil, err
	}
	return m.values(v), nil
}

func fastRead(m thrift.FastCodec, b []byte) {
	if _, err := m.FastRead(b); err != nil {
		panic(err)
	}
}

func writeFresh(w io.Writer, m thrift.FastCodec) uint64 {
	n := m.BLength()
	b := dirtmake.Bytes(n, n)
	return write(w, b[:m.FastWriteNocopy(b, nil)])
}

func writeReused(w io.Writer, m thrift.FastCodec, buf *[]byte) uint64 {
	n := m.BLength()
	if cap(*buf) < n {
		*buf = make([]byte, n)
	}
	b := (*buf)[:n]
	return write(w, b[:m.FastWriteNocopy(b, nil)])
}

func write(w io.Writer, b []byte) uint64 {
	n, err := w.Write(b)
	if err != nil {
		panic(err)
	}
	return uint64(n)
}

// room returns a slice of n elements, s's memory if it is large enough.
func room[E any](s []E, n int) []E {
	if cap(s) < n {
		return make([]E, n)
	}
	return s[:n]
}

// some returns the struct at p, allocating it if there is none.
func some[T any](p **T) *T {
	if *p == nil {
		*p = new(T)
	}
	return *p
}

// fillPairs puts pairs into m, which it clears, or makes if it is nil.
func fillPairs(m map[string]string, pairs []data.Pair) map[string]string {
	if m == nil {
		m = make(map[string]string, len(pairs))
	} else {
		clear(m)
	}
	for _, p := range pairs {
		m[p.Key] = p.Value
	}
	return m
}
