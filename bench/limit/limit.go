package limit

import (
	"io"

	"github.com/bytedance/gopkg/lang/dirtmake"

	"github.com/nocopythrift/nocopythrift/bench/data"
	"github.com/nocopythrift/nocopythrift/bench/peer"
)

// Peer has two rows where bytes are written: `limit` with a fresh buffer for every message, not
// zeroed, and `limit/reuse` with one buffer for all. Values that are set in another order than the
// message's are first set in Go slices, or noted beside the received message. These are fresh, or
// used again, like the buffer. For lists of numbers the rows are `scalar`, a loop over the
// elements, and `memcpy`, which does not convert them.
func Peer() peer.Peer { return peer.Peer{Name: "limit", Rows: rows} }

func rows(in *peer.Input, op peer.Op) []peer.Row {
	v, wire := in.Value, in.Wire
	switch v := v.(type) {
	case *data.Bulk:
		return bulkRows(v, wire, op)
	case *data.FieldOrder:
		return orderRows(func(c data.Catalog) data.Catalog { return setFields(c, v) })
	case *data.WordOrder:
		return orderRows(func(c data.Catalog) data.Catalog { return setWords(c, v) })
	case *data.Edits:
		return editRows(v, wire)
	}
	switch op {
	case peer.Read:
		return []peer.Row{{Peer: "limit", Make: func() peer.Step { return func(io.Writer) uint64 { return sum(wire, v) } }}}
	case peer.Partial:
		return []peer.Row{{Peer: "limit", Make: func() peer.Step { return func(io.Writer) uint64 { return partial(wire, v) } }}}
	case peer.Build:
		if blob, ok := v.(*data.Blob); ok {
			return []peer.Row{{Peer: "limit", Make: func() peer.Step { return func(w io.Writer) uint64 { return writeBlob(w, blob) } }}}
		}
		return both(func() int { return size(v) }, func(b []byte) []byte { return Append(b, v) })
	case peer.Edit:
		return both(
			func() int { return editSize(wire, v) },
			func(b []byte) []byte { return edit(b[:0], wire, v) })
	}
	return nil
}

// both makes the rows of an operation that puts its output, of at most size bytes, into the buffer
// it is given.
func both(size func() int, put func([]byte) []byte) []peer.Row {
	return []peer.Row{
		{Peer: "limit", Make: func() peer.Step {
			return func(w io.Writer) uint64 {
				n := size()
				return write(w, put(dirtmake.Bytes(n, n)))
			}
		}},
		{Peer: "limit/reuse", Make: func() peer.Step {
			var kept []byte
			return func(w io.Writer) uint64 {
				out := put(kept)
				kept = out[:cap(out)]
				return write(w, out)
			}
		}},
	}
}

func write(w io.Writer, b []byte) uint64 {
	n, err := w.Write(b)
	if err != nil {
		panic(err)
	}
	return uint64(n)
}

// writeBlob does not copy the binary and needs no buffer worth reusing.
func writeBlob(w io.Writer, v *data.Blob) uint64 {
	var buf [128]byte
	head := putBlobHead(buf[:], v)
	tail := putBlobTail(buf[:], head, v)
	return write(w, buf[:head]) + write(w, v.Data) + write(w, buf[head:tail])
}
