// Package vtproto is Protocol Buffers with the code of vtprotobuf: its pools, and its
// unmarshalling that lets strings alias the input.
package vtproto

import (
	"github.com/bytedance/gopkg/lang/dirtmake"

	"github.com/nocopythrift/nocopythrift/bench/data"
	use "github.com/nocopythrift/nocopythrift/bench/generated/structs/vtproto"
	pb "github.com/nocopythrift/nocopythrift/bench/generated/vtproto/peer"
	"github.com/nocopythrift/nocopythrift/bench/generated/vtproto/prom"
	"github.com/nocopythrift/nocopythrift/bench/generated/vtproto/wide"
	"github.com/nocopythrift/nocopythrift/bench/peer"
	"github.com/nocopythrift/nocopythrift/bench/structs"
)

// Format is the format that the peers of this package write.
const Format = "protobuf"

// Peer has the rows
//
//   - vtproto: fresh structs and a fresh buffer
//   - vtproto/pool+unsafe: structs from the generated pools (build: kept by the application), a
//     buffer that is kept, strings that alias the input
func Peer() peer.Peer {
	fresh := structs.Variant{Row: "vtproto", Codec: freshStructs, Own: true}
	return peer.Peer{
		Name:   "vtproto",
		Format: Format,
		Rows: func(in *peer.Input, op peer.Op) []peer.Row {
			ops := []peer.Op{op}
			// An application that builds keeps its structs: one from the pool has no sub-messages.
			pooled := structs.Variant{Row: "vtproto/pool+unsafe", Ops: ops, Codec: pooled(in.Value), Keep: op == peer.Build, Own: true}
			fresh := structs.Variant{Row: fresh.Row, Ops: ops, Codec: fresh.Codec, Own: true}
			return structs.Rows(use.Of(in.Value), []structs.Variant{fresh, pooled}, in, op)
		},
		Decode: func(in *peer.Input, b []byte) (any, error) { return fresh.Decode(use.Of(in.Value), b) },
	}
}

// Marshal returns the message with the values of v, a message of package data.
func Marshal(v any) []byte {
	use := use.Of(v)
	m := use.New()
	use.Fill(m)
	return freshStructs(use).Encode(m)
}

// message is implemented by every generated message.
type message interface {
	SizeVT() int
	MarshalToSizedBufferVT([]byte) (int, error)
	UnmarshalVT([]byte) error
}

func freshStructs(structs.Message) structs.Codec {
	return structs.Codec{
		Encode: func(m any) []byte {
			v := m.(message)
			n := v.SizeVT()
			return marshal(v, dirtmake.Bytes(n, n))
		},
		Decode: func(b []byte, m any) error { return m.(message).UnmarshalVT(b) },
	}
}

func pooled(v any) func(structs.Message) structs.Codec {
	return func(structs.Message) structs.Codec {
		var buf []byte
		return structs.Codec{
			New:  pool(v),
			Free: func(m any) { m.(interface{ ReturnToVTPool() }).ReturnToVTPool() },
			Encode: func(m any) []byte {
				v := m.(message)
				n := v.SizeVT()
				if cap(buf) < n {
					buf = make([]byte, n)
				}
				return marshal(v, buf[:n])
			},
			Decode: func(b []byte, m any) error {
				return m.(interface{ UnmarshalVTUnsafe([]byte) error }).UnmarshalVTUnsafe(b)
			},
		}
	}
}

// pool returns the generated function that takes a message like v from its pool.
func pool(v any) func() any {
	switch v.(type) {
	case *data.MyTest:
		return func() any { return pb.MyTestFromVTPool() }
	case *data.Small:
		return func() any { return pb.SmallFromVTPool() }
	case *data.Business:
		return func() any { return pb.BusinessFromVTPool() }
	case *data.Blob:
		return func() any { return pb.BlobFromVTPool() }
	case *data.VStreamRows:
		return func() any { return pb.VStreamRowsResponseFromVTPool() }
	case *data.WriteRequest:
		return func() any { return prom.WriteRequestFromVTPool() }
	case *data.Wide:
		return func() any { return wide.WideFromVTPool() }
	}
	panic("vtproto: no such message")
}

// marshal fills b, which is exactly as long as the message.
func marshal(m message, b []byte) []byte {
	if _, err := m.MarshalToSizedBufferVT(b); err != nil {
		panic(err)
	}
	return b
}
