//go:build amd64 || arm64

package hyper

import (
	"io"
	"slices"

	"buf.build/go/hyperpb"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/nocopythrift/nocopythrift/bench/data"
	pb "github.com/nocopythrift/nocopythrift/bench/generated/vtproto/peer"
	"github.com/nocopythrift/nocopythrift/bench/generated/vtproto/prom"
	"github.com/nocopythrift/nocopythrift/bench/generated/vtproto/wide"
	"github.com/nocopythrift/nocopythrift/bench/peer"
	"github.com/nocopythrift/nocopythrift/bench/vtproto"
)

// Peer has the rows (read, partial)
//
//   - hyperpb: the arena kept from one message to the next, strings that alias the input, no check
//     that they are UTF-8, as other rows have none
//   - hyperpb/pgo: the same with tables that were compiled again after a profile of the message
//   - hyperpb/utf8, hyperpb/pgo+utf8: the same with the check, as nocopy/recycle+utf8
func Peer() peer.Peer { return peer.Peer{Name: "hyperpb", Format: vtproto.Format, Rows: rows} }

// use is what the operations need of a message's type. Both functions look their fields up once;
// what they return reads a message and returns the sum.
type use struct {
	message      proto.Message
	sum, partial func(protoreflect.MessageDescriptor) func(protoreflect.Message) uint64
}

func of(v any) (use, bool) {
	switch v.(type) {
	case *data.MyTest:
		return use{message: (*pb.MyTest)(nil), sum: sumMyTest}, true
	case *data.Small:
		return use{message: (*pb.Small)(nil), sum: sumSmall, partial: partialSmall}, true
	case *data.Business:
		return use{message: (*pb.Business)(nil), sum: sumBusiness, partial: partialBusiness}, true
	case *data.Blob:
		return use{message: (*pb.Blob)(nil), sum: sumBlob}, true
	case *data.VStreamRows:
		return use{message: (*pb.VStreamRowsResponse)(nil), sum: sumRows}, true
	case *data.WriteRequest:
		return use{message: (*prom.WriteRequest)(nil), sum: sumRequest, partial: partialRequest}, true
	case *data.Wide:
		return use{message: (*wide.Wide)(nil), sum: sumWide, partial: partialWide}, true
	}
	return use{}, false
}

func rows(in *peer.Input, op peer.Op) []peer.Row {
	u, ok := of(in.Value)
	read := u.sum
	if op == peer.Partial {
		read = u.partial
	}
	if !ok || read == nil || op != peer.Read && op != peer.Partial {
		return nil
	}
	row := func(name string, profiled, utf8 bool) peer.Row {
		return peer.Row{Peer: name, Make: func() peer.Step {
			wire := vtproto.Marshal(in.Value)
			t := hyperpb.CompileMessageDescriptor(u.message.ProtoReflect().Descriptor())
			// Each option is a closure: these are made once.
			opts := []hyperpb.UnmarshalOption{hyperpb.WithAllowAlias(true), hyperpb.WithAllowInvalidUTF8(!utf8)}
			if profiled {
				t = recompiled(t, wire, opts)
			}
			sum, shared := read(t.Descriptor()), new(hyperpb.Shared)
			return func(io.Writer) uint64 {
				m := shared.NewMessage(t)
				if err := m.Unmarshal(wire, opts...); err != nil {
					panic(err)
				}
				n := sum(m)
				shared.Free()
				return n
			}
		}}
	}
	return []peer.Row{
		row("hyperpb", false, false), row("hyperpb/pgo", true, false),
		row("hyperpb/utf8", false, true), row("hyperpb/pgo+utf8", true, true),
	}
}

// recompiled returns t with the tables that hyperpb makes of a profile of the message in wire,
// which is the only message that it will read. The profile is taken with these options.
func recompiled(t *hyperpb.MessageType, wire []byte, opts []hyperpb.UnmarshalOption) *hyperpb.MessageType {
	profile, shared := t.NewProfile(), new(hyperpb.Shared)
	opts = append(slices.Clip(opts), hyperpb.WithRecordProfile(profile, 1))
	for range 10 {
		if err := shared.NewMessage(t).Unmarshal(wire, opts...); err != nil {
			panic(err)
		}
		shared.Free()
	}
	return t.Recompile(profile)
}
