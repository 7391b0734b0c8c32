// Package apache is Apache Thrift's own Go library, with code by its own compiler.
package apache

import (
	"bytes"
	"context"

	"github.com/apache/thrift/lib/go/thrift"

	use "github.com/nocopythrift/nocopythrift/bench/generated/structs/apache"
	"github.com/nocopythrift/nocopythrift/bench/ours"
	"github.com/nocopythrift/nocopythrift/bench/peer"
	"github.com/nocopythrift/nocopythrift/bench/structs"
)

var (
	all   = []peer.Op{peer.Build, peer.Read, peer.Partial, peer.Edit}
	fresh = structs.Variant{Row: "apache", Ops: all, Codec: freshProtocols}
	rows  = []structs.Variant{fresh, {Row: "apache/reuse", Ops: all, Codec: keptProtocols, Keep: true}}
)

// Peer has the rows
//
//   - apache: structs, memory buffer and protocol are made for each message
//   - apache/reuse: the application keeps them
func Peer() peer.Peer {
	return peer.Peer{
		Name:   "apache",
		Rows:   func(in *peer.Input, op peer.Op) []peer.Row { return structs.Rows(use.Of(in.Value), rows, in, op) },
		Decode: func(in *peer.Input, b []byte) (any, error) { return fresh.Decode(use.Of(in.Value), b) },
	}
}

// Compact has the row apache/compact: Thrift's compact protocol, with structs, memory buffer and
// protocol that the application keeps.
func Compact() peer.Peer {
	kept := structs.Variant{Row: "apache/compact", Ops: all, Codec: keptCompact, Keep: true, Own: true}
	return peer.Peer{
		Name:   "apache/compact",
		Format: ours.CompactFormat,
		Rows: func(in *peer.Input, op peer.Op) []peer.Row {
			if !ours.InCompact(in.Value) {
				return nil
			}
			return structs.Rows(use.Of(in.Value), []structs.Variant{kept}, in, op)
		},
		Decode: func(in *peer.Input, b []byte) (any, error) { return kept.Decode(use.Of(in.Value), b) },
	}
}

var ctx = context.Background()

// binary returns a protocol on t. Its limits are lifted: F × 64 is more than the 100 MiB that a
// message may have by default.
func binary(t thrift.TTransport) thrift.TProtocol {
	return thrift.NewTBinaryProtocolConf(t, &thrift.TConfiguration{MaxMessageSize: 1 << 30})
}

func freshProtocols(structs.Message) structs.Codec {
	return structs.Codec{
		Encode: func(m any) []byte {
			t := thrift.NewTMemoryBuffer()
			write(m, binary(t))
			return t.Bytes()
		},
		Decode: func(b []byte, m any) error {
			return m.(thrift.TStruct).Read(ctx, binary(&thrift.TMemoryBuffer{Buffer: bytes.NewBuffer(b)}))
		},
	}
}

func compact(t thrift.TTransport) thrift.TProtocol {
	return thrift.NewTCompactProtocolConf(t, &thrift.TConfiguration{MaxMessageSize: 1 << 30})
}

func keptProtocols(structs.Message) structs.Codec { return kept(binary) }

func keptCompact(structs.Message) structs.Codec { return kept(compact) }

func kept(protocol func(thrift.TTransport) thrift.TProtocol) structs.Codec {
	out := thrift.NewTMemoryBuffer()
	writer := protocol(out)
	in := new(thrift.TMemoryBuffer)
	reader := protocol(in)
	return structs.Codec{
		Encode: func(m any) []byte {
			out.Reset()
			write(m, writer)
			return out.Bytes()
		},
		Decode: func(b []byte, m any) error {
			in.Buffer = bytes.NewBuffer(b)
			return m.(thrift.TStruct).Read(ctx, reader)
		},
	}
}

func write(m any, p thrift.TProtocol) {
	if err := m.(thrift.TStruct).Write(ctx, p); err != nil {
		panic(err)
	}
}
