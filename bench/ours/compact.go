package ours

import (
	"io"

	"github.com/nocopythrift/nocopythrift/nocopy"

	"github.com/nocopythrift/nocopythrift/bench/data"
	bench "github.com/nocopythrift/nocopythrift/bench/peer"
)

// CompactFormat is the name of the format of peers that speak Thrift's compact protocol.
const CompactFormat = "compact protocol"

// InCompact reports whether a message is measured in the compact protocol.
func InCompact(v any) bool {
	switch v.(type) {
	case *data.Small, *data.Business, *data.VStreamRows, *data.WriteRequest:
		return true
	}
	return false
}

// Compact has the row nocopy/compact: messages that come and go in the compact protocol, with
// nocopy.Recycle.
func Compact() bench.Peer {
	return bench.Peer{
		Name:   "nocopy/compact",
		Format: CompactFormat,
		Rows: func(in *bench.Input, op bench.Op) []bench.Row {
			if !InCompact(in.Value) {
				return nil
			}
			return []bench.Row{{Peer: "nocopy/compact", Make: func() bench.Step { return of(in.Value).compactStep(in.Wire, op) }}}
		},
		Decode: func(in *bench.Input, b []byte) (any, error) { return of(in.Value).decode(b, nocopy.Compact) },
	}
}

// compactStep returns the step of an operation on the message, whose Thrift Binary is wire, in the
// compact protocol.
func (f with[S]) compactStep(wire []byte, op bench.Op) bench.Step {
	m := f()
	s := nocopy.Struct(must(m.parse(wire)))
	in := s.Message().AppendCompact(nil)
	s.Release()
	parse := func() S { return must(m.parse(in, nocopy.Compact, nocopy.Recycle)) }
	read := func(sum func(S) uint64) bench.Step {
		return func(io.Writer) uint64 {
			s := parse()
			n := sum(s)
			nocopy.Struct(s).Release()
			return n
		}
	}
	send := func(w io.Writer, s S) uint64 {
		n := must(nocopy.Struct(s).Message().WriteCompact(w))
		nocopy.Struct(s).Release()
		return uint64(n)
	}
	switch op {
	case bench.Build:
		return func(w io.Writer) uint64 {
			s := m.make(nocopy.Recycle)
			m.fill(s)
			return send(w, s)
		}
	case bench.Read:
		return read(m.sum)
	case bench.Partial:
		return read(m.partial)
	case bench.Edit:
		return func(w io.Writer) uint64 {
			s := parse()
			m.edit(s)
			return send(w, s)
		}
	}
	panic("ours: no such operation")
}
