package limit

import (
	"io"
	"math"

	"github.com/nocopythrift/nocopythrift/bench/data"
	"github.com/nocopythrift/nocopythrift/bench/peer"
)

// listHead is the number of bytes before the first element of a message of one list; after the
// last one there is only a STOP.
const listHead = 8

// bulkRows returns two rows: a simple loop over the elements, and a copy of as many bytes, as
// fast as memory allows. Both have one buffer, or one slice, for all messages.
func bulkRows(v *data.Bulk, wire []byte, op peer.Op) []peer.Row {
	switch op {
	case peer.Build:
		return []peer.Row{
			{Peer: "scalar", Make: func() peer.Step {
				buf := make([]byte, len(wire))
				return func(w io.Writer) uint64 {
					out, n := putBulk(buf, v)
					return write(w, out[:n])
				}
			}},
			{Peer: "memcpy", Make: func() peer.Step {
				buf := make([]byte, len(wire))
				return func(w io.Writer) uint64 { return write(w, buf[:copy(buf, wire)]) }
			}},
		}
	case peer.Read:
		return []peer.Row{
			{Peer: "scalar", Make: func() peer.Step {
				into := new(data.Bulk)
				return func(io.Writer) uint64 {
					getBulk(into, wire)
					return data.Spots(into.Longs) + data.Spots(into.Ints) + data.Spots(into.Shorts) + data.SpotsF64(into.Doubles)
				}
			}},
			{Peer: "memcpy", Make: func() peer.Step {
				into := make([]byte, len(wire)-listHead-1)
				want := data.Sum(v)
				return func(io.Writer) uint64 {
					copy(into, wire[listHead:])
					return want // its elements are in the wrong byte order: there is nothing to add up
				}
			}},
		}
	}
	return nil
}

// putBulk writes the list that is not empty.
func putBulk(b []byte, v *data.Bulk) ([]byte, int) {
	switch {
	case len(v.Longs) > 0:
		b, out := bulkRoom(b, 1, tI64, len(v.Longs), 8)
		for i, x := range v.Longs {
			be.PutUint64(out[8*i:], uint64(x))
		}
		return b, listHead + 8*len(v.Longs) + 1
	case len(v.Ints) > 0:
		b, out := bulkRoom(b, 2, tI32, len(v.Ints), 4)
		for i, x := range v.Ints {
			be.PutUint32(out[4*i:], uint32(x))
		}
		return b, listHead + 4*len(v.Ints) + 1
	case len(v.Shorts) > 0:
		b, out := bulkRoom(b, 3, tI16, len(v.Shorts), 2)
		for i, x := range v.Shorts {
			be.PutUint16(out[2*i:], uint16(x))
		}
		return b, listHead + 2*len(v.Shorts) + 1
	default:
		b, out := bulkRoom(b, 4, tDouble, len(v.Doubles), 8)
		for i, x := range v.Doubles {
			be.PutUint64(out[8*i:], math.Float64bits(x))
		}
		return b, listHead + 8*len(v.Doubles) + 1
	}
}

// bulkRoom writes all but the elements and returns the message and the room for the elements.
func bulkRoom(b []byte, id, elem byte, count, size int) (message, elements []byte) {
	n := listHead + count*size
	b = room(b, 0, n+1)
	putList(b, 0, id, elem, count)
	b[n] = tStop
	return b, b[listHead:n]
}

// getBulk reads a message of one list, whose slice in v it uses again.
func getBulk(v *data.Bulk, b []byte) {
	n, elements := count(b, 4), b[listHead:len(b)-1]
	switch header(b, 0) {
	case kList | 1:
		v.Longs = slice(v.Longs, n)
		for i := range v.Longs {
			v.Longs[i] = int64(be.Uint64(elements[8*i:]))
		}
	case kList | 2:
		v.Ints = slice(v.Ints, n)
		for i := range v.Ints {
			v.Ints[i] = int32(be.Uint32(elements[4*i:]))
		}
	case kList | 3:
		v.Shorts = slice(v.Shorts, n)
		for i := range v.Shorts {
			v.Shorts[i] = int16(be.Uint16(elements[2*i:]))
		}
	case kList | 4:
		v.Doubles = slice(v.Doubles, n)
		for i := range v.Doubles {
			v.Doubles[i] = math.Float64frombits(be.Uint64(elements[8*i:]))
		}
	default:
		panic("limit: no such list")
	}
}

func slice[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}
