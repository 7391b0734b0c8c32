// Package kitex is Kitex FastCodec at its best, as the kitex tool generates it and as thriftgo's
// `fastgo` backend does: BLength, one buffer that is not zeroed, FastWriteNocopy; FastRead into a
// struct that is on the heap, as every struct is that goes through a handler. Its cache for
// decoded strings stays off, as it is by default in Kitex.
package kitex

import (
	"io"

	"github.com/bytedance/gopkg/lang/dirtmake"
	"github.com/cloudwego/gopkg/protocol/thrift"
	"github.com/cloudwego/netpoll"

	"github.com/nocopythrift/nocopythrift/bench/data"
	fast "github.com/nocopythrift/nocopythrift/bench/generated/structs/fastgo"
	"github.com/nocopythrift/nocopythrift/bench/peer"
	"github.com/nocopythrift/nocopythrift/bench/structs"
	use "github.com/nocopythrift/nocopythrift/bench/structs/kitex"
)

var (
	all   = []peer.Op{peer.Build, peer.Read, peer.Partial, peer.Edit}
	fresh = structs.Variant{Row: "kitex", Ops: all, Codec: freshBuffers}
	rows  = []structs.Variant{
		fresh,
		reuse("kitex/reuse"),
		{Row: "kitex/netpoll", Ops: []peer.Op{peer.Build}, Codec: linkBuffer},
		{Row: "kitex/subset-IDL", Ops: []peer.Op{peer.Partial}, Codec: freshBuffers, Subset: true},
	}
	fastgo = []structs.Variant{{Row: "fastgo", Ops: all, Codec: freshBuffers}, reuse("fastgo/reuse")}
)

// reuse is the row of an application that keeps structs, slices, maps and the buffer from one
// message to the next.
func reuse(row string) structs.Variant {
	return structs.Variant{Row: row, Ops: []peer.Op{peer.Build, peer.Read, peer.Edit}, Codec: keptBuffer, Keep: true}
}

// Peer is the kitex tool's code, with the rows
//
//   - kitex: each message is made of fresh structs and a fresh buffer
//   - kitex/reuse (build, read, edit): the application keeps structs, slices, maps and the buffer
//     from one message to the next
//   - kitex/netpoll (build): fresh structs, written into netpoll's chained buffer, which refers to
//     strings and binaries of 4 KiB and more
//   - kitex/subset-IDL (partial): the structs declare only the fields that are wanted
func Peer() peer.Peer {
	return peer.Peer{
		Name: "kitex",
		Rows: func(in *peer.Input, op peer.Op) []peer.Row {
			m := use.Of(in.Value)
			m.Subset = use.Subset(in.Value)
			return structs.Rows(m, rows, in, op)
		},
		Decode: func(in *peer.Input, b []byte) (any, error) { return fresh.Decode(use.Of(in.Value), b) },
	}
}

// Fastgo is the code of thriftgo's fastgo, with the rows fastgo and fastgo/reuse: used as in kitex
// and kitex/reuse.
func Fastgo() peer.Peer {
	return peer.Peer{
		Name: "fastgo",
		Rows: func(in *peer.Input, op peer.Op) []peer.Row { return structs.Rows(fast.Of(in.Value), fastgo, in, op) },
	}
}

// Prometheus returns the write request in b, Thrift Binary. It is a copy.
func Prometheus(b []byte) (*data.WriteRequest, error) {
	v, err := fresh.Decode(use.Of(new(data.WriteRequest)), b)
	if err != nil {
		return nil, err
	}
	return v.(*data.WriteRequest), nil
}

func freshBuffers(structs.Message) structs.Codec {
	return structs.Codec{Decode: decode, Encode: func(m any) []byte {
		c := m.(thrift.FastCodec)
		n := c.BLength()
		b := dirtmake.Bytes(n, n)
		return b[:c.FastWriteNocopy(b, nil)]
	}}
}

func keptBuffer(structs.Message) structs.Codec {
	var buf []byte
	return structs.Codec{Decode: decode, Encode: func(m any) []byte {
		c := m.(thrift.FastCodec)
		n := c.BLength()
		if cap(buf) < n {
			buf = make([]byte, n)
		}
		return buf[:c.FastWriteNocopy(buf[:n], nil)]
	}}
}

func linkBuffer(structs.Message) structs.Codec {
	b := netpoll.NewLinkBuffer()
	pieces := make([][]byte, 16)
	return structs.Codec{Send: func(w io.Writer, m any) (sent uint64) {
		c := m.(thrift.FastCodec)
		n := c.BLength()
		room, err := b.Malloc(n)
		check(err)
		c.FastWriteNocopy(room, b)
		check(b.MallocAck(n)) // what was referred to is in it; so much room was too much
		check(b.Flush())
		for b.Len() > 0 {
			n = 0
			for _, p := range b.GetBytes(pieces) {
				n += len(p)
				sent += structs.Write(w, p)
			}
			check(b.Skip(n))
		}
		check(b.Release())
		return sent
	}}
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func decode(b []byte, m any) error {
	_, err := m.(thrift.FastCodec).FastRead(b)
	return err
}
