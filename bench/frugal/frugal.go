// Package frugal is cloudwego's frugal, which encodes and decodes by reflection on the structs
// that the kitex tool generates.
package frugal

import (
	"github.com/bytedance/gopkg/lang/dirtmake"
	"github.com/cloudwego/frugal"

	nocopy "github.com/nocopythrift/nocopythrift/bench/generated/structs/frugal"
	"github.com/nocopythrift/nocopythrift/bench/peer"
	"github.com/nocopythrift/nocopythrift/bench/structs"
	use "github.com/nocopythrift/nocopythrift/bench/structs/kitex"
)

var (
	decoding = []peer.Op{peer.Read, peer.Partial, peer.Edit}
	rows     = []structs.Variant{
		{Row: "frugal", Ops: append([]peer.Op{peer.Build}, decoding...), Codec: freshBuffers},
		{Row: "frugal/reuse", Ops: []peer.Op{peer.Build, peer.Edit}, Codec: keptBuffer, Keep: true},
	}
	tagged = []structs.Variant{{Row: "frugal/nocopy", Ops: decoding, Codec: freshBuffers}}
)

// Peer has the rows
//
//   - frugal: fresh structs and a fresh buffer
//   - frugal/reuse (build, edit): the application keeps structs, slices, maps and the buffer
//   - frugal/nocopy (read, partial, edit): every string and binary is tagged nocopy, and aliases
//     the input
func Peer() peer.Peer {
	return peer.Peer{Name: "frugal", Rows: func(in *peer.Input, op peer.Op) []peer.Row {
		return append(structs.Rows(use.Of(in.Value), rows, in, op), structs.Rows(nocopy.Of(in.Value), tagged, in, op)...)
	}}
}

func freshBuffers(structs.Message) structs.Codec {
	return structs.Codec{Decode: decode, Encode: func(m any) []byte {
		n := frugal.EncodedSize(m)
		return encode(dirtmake.Bytes(n, n), m)
	}}
}

func keptBuffer(structs.Message) structs.Codec {
	var buf []byte
	return structs.Codec{Decode: decode, Encode: func(m any) []byte {
		n := frugal.EncodedSize(m)
		if cap(buf) < n {
			buf = make([]byte, n)
		}
		return encode(buf[:n], m)
	}}
}

func encode(b []byte, m any) []byte {
	n, err := frugal.EncodeObject(b, nil, m)
	if err != nil {
		panic(err)
	}
	return b[:n]
}

func decode(b []byte, m any) error {
	_, err := frugal.DecodeObject(b, m)
	return err
}
