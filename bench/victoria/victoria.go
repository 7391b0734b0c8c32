// Package victoria has the two decoders that VictoriaMetrics wrote for Prometheus write requests:
// prompb, which decodes into structs that are kept in a pool, and easyproto, with which one writes
// a visitor by hand. Both speak Protocol Buffers.
package victoria

import (
	"io"

	"github.com/VictoriaMetrics/VictoriaMetrics/lib/prompb"

	"github.com/nocopythrift/nocopythrift/bench/data"
	"github.com/nocopythrift/nocopythrift/bench/peer"
	"github.com/nocopythrift/nocopythrift/bench/vtproto"
)

// Peer has the rows
//
//   - VM prompb/pool (read, partial): as in vminsert, where strings alias the input
//   - easyproto: pooled marshaler (build), a visitor that decodes only the wanted fields (read,
//     partial)
func Peer() peer.Peer { return peer.Peer{Name: "victoria", Format: vtproto.Format, Rows: rows} }

func rows(in *peer.Input, op peer.Op) []peer.Row {
	switch v := in.Value.(type) {
	case *data.WriteRequest:
		return writeRequestRows(v, op)
	case *data.VStreamRows:
		return vstreamRows(v, op)
	}
	return nil
}

func writeRequestRows(v *data.WriteRequest, op peer.Op) []peer.Row {
	visitor := func(visit func([]byte) uint64) peer.Row {
		return peer.Row{Peer: "easyproto/visitor", Make: func() peer.Step {
			wire := marshalRequest(nil, v)
			return func(io.Writer) uint64 { return visit(wire) }
		}}
	}
	switch op {
	case peer.Build:
		return []peer.Row{{Peer: "easyproto", Make: func() peer.Step {
			var buf []byte
			return func(w io.Writer) uint64 {
				buf = marshalRequest(buf[:0], v)
				return write(w, buf)
			}
		}}}
	case peer.Read:
		return []peer.Row{{Peer: "VM prompb/pool", Make: func() peer.Step { return pooled(v, sumRequest) }}, visitor(visitRequest)}
	case peer.Partial:
		return []peer.Row{{Peer: "VM prompb/pool", Make: func() peer.Step { return pooled(v, partialRequest) }}, visitor(visitLast)}
	}
	return nil
}

// pooled decodes into structs from VictoriaMetrics' own pool, as vminsert does, and reads them.
func pooled(v *data.WriteRequest, read func(*prompb.WriteRequest) uint64) peer.Step {
	wire := marshalRequest(nil, v)
	return func(io.Writer) uint64 {
		u := prompb.GetWriteRequestUnmarshaler()
		m, err := u.UnmarshalProtobuf(wire)
		if err != nil {
			panic(err)
		}
		n := read(m)
		prompb.PutWriteRequestUnmarshaler(u)
		return n
	}
}

func sumRequest(m *prompb.WriteRequest) (sum uint64) {
	for i := range m.Timeseries {
		t := &m.Timeseries[i]
		for j := range t.Labels {
			sum += data.Str(t.Labels[j].Name) + data.Str(t.Labels[j].Value)
		}
		for j := range t.Samples {
			sum += data.F64(t.Samples[j].Value) + uint64(t.Samples[j].Timestamp)
		}
	}
	return sum
}

func partialRequest(m *prompb.WriteRequest) uint64 {
	t := &m.Timeseries[len(m.Timeseries)-1]
	return data.Str(t.Labels[0].Value) + data.F64(t.Samples[0].Value) + uint64(t.Samples[0].Timestamp)
}

func vstreamRows(v *data.VStreamRows, op peer.Op) []peer.Row {
	switch op {
	case peer.Build:
		return []peer.Row{{Peer: "easyproto", Make: func() peer.Step {
			var buf []byte
			return func(w io.Writer) uint64 {
				buf = marshalRows(buf[:0], v)
				return write(w, buf)
			}
		}}}
	case peer.Read:
		return []peer.Row{{Peer: "easyproto/visitor", Make: func() peer.Step {
			wire := marshalRows(nil, v)
			var lengths []int64
			return func(io.Writer) uint64 { return visitRows(wire, &lengths) }
		}}}
	}
	return nil
}

func write(w io.Writer, b []byte) uint64 {
	n, err := w.Write(b)
	if err != nil {
		panic(err)
	}
	return uint64(n)
}
