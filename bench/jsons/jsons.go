// Package jsons has the rows of workload J: Thrift to JSON and JSON to Thrift.
package jsons

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"reflect"

	apachethrift "github.com/apache/thrift/lib/go/thrift"
	"github.com/bytedance/sonic"
	"github.com/cloudwego/dynamicgo/conv"
	"github.com/cloudwego/dynamicgo/conv/j2t"
	"github.com/cloudwego/dynamicgo/conv/t2j"
	"github.com/cloudwego/dynamicgo/thrift"
	fast "github.com/cloudwego/gopkg/protocol/thrift"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/nocopythrift/nocopythrift/bench/data"
	"github.com/nocopythrift/nocopythrift/bench/dynamic"
	ourpeer "github.com/nocopythrift/nocopythrift/bench/generated/nocopy/peer"
	useapache "github.com/nocopythrift/nocopythrift/bench/generated/structs/apache"
	useproto "github.com/nocopythrift/nocopythrift/bench/generated/structs/vtproto"
	"github.com/nocopythrift/nocopythrift/bench/idl"
	"github.com/nocopythrift/nocopythrift/bench/peer"
	"github.com/nocopythrift/nocopythrift/bench/structs"
	usekitex "github.com/nocopythrift/nocopythrift/bench/structs/kitex"
	"github.com/nocopythrift/nocopythrift/internal/jsontext"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/nocopyjson"
)

// The formats that peers write, besides Thrift Binary.
const (
	formatJSON      = "JSON"
	formatProtoJSON = "JSON of Protocol Buffers"
	formatProto     = "protobuf of JSON"
)

// Peers are the contestants. Each converts in one direction:
//
//   - nocopy, nocopy/recycle: messages, parsed and written by nocopyjson, or read by it and
//     written
//   - nocopy/dynamic: the same with nocopy.Recycle, without generated code
//   - kitex, apache: their structs, and encoding/json
//   - kitex/sonic, apache/sonic: the same structs, and sonic
//   - kitex/structs-only (to-json): encoding/json, of structs that are there already
//   - dynamicgo: t2j, j2t; the latter is native code on amd64 before Go 1.27
//   - protojson: Protocol Buffers instead of Thrift
//   - jsontext/tokens (from-json): only the tokens of the text are read
func Peers() []peer.Peer {
	text := func(in *peer.Input, b []byte) (any, error) {
		m := usekitex.Of(of(in))
		s := m.New()
		if err := json.Unmarshal(b, s); err != nil {
			return nil, err
		}
		return m.Values(s), nil
	}
	wire := func(in *peer.Input, b []byte) (any, error) {
		m := useapache.Of(of(in))
		s := m.New()
		if err := readApache(b, s); err != nil {
			return nil, err
		}
		return m.Values(s), nil
	}
	pb := func(unmarshal func([]byte, proto.Message) error) func(in *peer.Input, b []byte) (any, error) {
		return func(in *peer.Input, b []byte) (any, error) {
			m := useproto.Of(of(in))
			s := m.New()
			if err := unmarshal(b, s.(proto.Message)); err != nil {
				return nil, err
			}
			return m.Values(s), nil
		}
	}
	return []peer.Peer{
		{Name: "to JSON", Format: formatJSON, Rows: only(peer.ToJSON, toJSON), Decode: text},
		{Name: "to protojson", Format: formatProtoJSON, Rows: only(peer.ToJSON, toProtoJSON), Decode: pb(protojson.Unmarshal)},
		{Name: "from JSON", Rows: only(peer.FromJSON, fromJSON), Decode: wire},
		{Name: "from protojson", Format: formatProto, Rows: only(peer.FromJSON, fromProtoJSON), Decode: pb(proto.Unmarshal)},
	}
}

func of(in *peer.Input) any { return in.Value.(*data.JSON).Of }

func only(op peer.Op, rows func(*peer.Input) []peer.Row) func(*peer.Input, peer.Op) []peer.Row {
	return func(in *peer.Input, asked peer.Op) []peer.Row {
		if asked != op {
			return nil
		}
		return rows(in)
	}
}

// codec is one of the libraries that know Go structs.
type codec struct {
	name      string
	marshal   func(any) ([]byte, error)
	unmarshal func([]byte, any) error
}

var (
	standard = codec{"", json.Marshal, json.Unmarshal}
	bySonic  = codec{"/sonic", sonic.Marshal, sonic.Unmarshal}
)

// text returns the message as JSON, as encoding/json writes Kitex's structs.
func text(in *peer.Input) []byte {
	s := usekitex.Of(of(in)).New()
	check(readKitex(in.Wire, s))
	return must(json.Marshal(s))
}

func toJSON(in *peer.Input) []peer.Row {
	rows := append(ours(in, toOurs), peer.Row{Peer: "nocopy/dynamic", Make: func() peer.Step {
		return marshal(in.Wire, dynamic.TypeOf(of(in)).Parse, []nocopy.Option{nocopy.Recycle})
	}})
	for _, c := range []codec{standard, bySonic} {
		rows = append(rows,
			peer.Row{Peer: "kitex" + c.name, Make: func() peer.Step { return fromStructs(in.Wire, usekitex.Of(of(in)), readKitex, c) }},
			peer.Row{Peer: "apache" + c.name, Make: func() peer.Step { return fromStructs(in.Wire, useapache.Of(of(in)), readApache, c) }},
		)
	}
	return append(rows,
		peer.Row{Peer: "kitex/structs-only", Make: func() peer.Step {
			s := usekitex.Of(of(in)).New()
			check(readKitex(in.Wire, s))
			return func(w io.Writer) uint64 { return structs.Write(w, must(json.Marshal(s))) }
		}},
		peer.Row{Peer: "dynamicgo", Make: func() peer.Step {
			d, c, ctx := descriptor(of(in)), t2j.NewBinaryConv(conv.Options{}), context.Background()
			return func(w io.Writer) uint64 { return structs.Write(w, must(c.Do(ctx, d, in.Wire))) }
		}},
	)
}

func fromJSON(in *peer.Input) []peer.Row {
	text := text(in)
	rows := append(ours(in, func(v any, opts ...nocopy.Option) peer.Step { return fromOurs(v, text, opts) }),
		peer.Row{Peer: "nocopy/dynamic", Make: func() peer.Step {
			t := dynamic.TypeOf(of(in))
			return func(w io.Writer) uint64 {
				m := must(t.FromJSON(text, nocopy.Recycle))
				n := must(m.Message().WriteTo(w))
				m.Release()
				return uint64(n)
			}
		}})
	for _, c := range []codec{standard, bySonic} {
		rows = append(rows,
			peer.Row{Peer: "kitex" + c.name, Make: func() peer.Step { return toStructs(text, usekitex.Of(of(in)), writeKitex, c) }},
			peer.Row{Peer: "apache" + c.name, Make: func() peer.Step { return toStructs(text, useapache.Of(of(in)), writeApache, c) }},
		)
	}
	return append(rows,
		peer.Row{Peer: "dynamicgo", Make: func() peer.Step {
			d, c, ctx := descriptor(of(in)), j2t.NewBinaryConv(conv.Options{}), context.Background()
			return func(w io.Writer) uint64 { return structs.Write(w, must(c.Do(ctx, d, text))) }
		}},
		peer.Row{Peer: "jsontext/tokens", Make: func() peer.Step { return tokens(text, in.Wire) }},
	)
}

// tokens reads the tokens of a text. It writes wire, which was there before.
func tokens(text, wire []byte) peer.Step {
	d, buf := new(jsontext.Decoder), new(bytes.Buffer)
	return func(w io.Writer) uint64 {
		*buf = *bytes.NewBuffer(text)
		d.Reset(buf, jsontext.AllowDuplicateNames(true))
		for {
			if _, err := d.ReadToken(); err == io.EOF {
				return structs.Write(w, wire)
			} else if err != nil {
				panic(err)
			}
		}
	}
}

func fromStructs(wire []byte, m structs.Message, read func([]byte, any) error, c codec) peer.Step {
	return func(w io.Writer) uint64 {
		s := m.New()
		check(read(wire, s))
		return structs.Write(w, must(c.marshal(s)))
	}
}

func toStructs(text []byte, m structs.Message, write func(any) []byte, c codec) peer.Step {
	return func(w io.Writer) uint64 {
		s := m.New()
		check(c.unmarshal(text, s))
		return structs.Write(w, write(s))
	}
}

func readKitex(b []byte, s any) error {
	_, err := s.(fast.FastCodec).FastRead(b)
	return err
}

func writeKitex(s any) []byte {
	c := s.(fast.FastCodec)
	b := make([]byte, c.BLength())
	return b[:c.FastWriteNocopy(b, nil)]
}

func readApache(b []byte, s any) error {
	t := &apachethrift.TMemoryBuffer{Buffer: bytes.NewBuffer(b)}
	return s.(apachethrift.TStruct).Read(context.Background(), apachethrift.NewTBinaryProtocolConf(t, nil))
}

func writeApache(s any) []byte {
	t := apachethrift.NewTMemoryBuffer()
	check(s.(apachethrift.TStruct).Write(context.Background(), apachethrift.NewTBinaryProtocolConf(t, nil)))
	return t.Bytes()
}

// ours returns our rows, which step makes.
func ours(in *peer.Input, step func(v any, opts ...nocopy.Option) peer.Step) []peer.Row {
	return []peer.Row{
		{Peer: "nocopy", Make: func() peer.Step { return step(in, nil...) }},
		{Peer: "nocopy/recycle", Make: func() peer.Step { return step(in, nocopy.Recycle) }},
	}
}

// sender is a message of ours, of a generated type or not.
type sender interface {
	nocopy.AnyStruct
	Release()
}

// ourStruct is one of our types.
type ourStruct interface {
	nocopy.StructView
	nocopy.AnyStruct
	Release()
	Message() *nocopy.Message
}

func toOurs(v any, opts ...nocopy.Option) peer.Step {
	in := v.(*peer.Input)
	if _, ok := of(in).(*data.Small); ok {
		return marshal(in.Wire, ourpeer.ParseSmall, opts)
	}
	return marshal(in.Wire, ourpeer.ParseBusiness, opts)
}

func marshal[S sender](wire []byte, parse func([]byte, ...nocopy.Option) (S, error), opts []nocopy.Option) peer.Step {
	return func(w io.Writer) uint64 {
		s := must(parse(wire, opts...))
		check(nocopyjson.Write(w, s))
		s.Release()
		return 0
	}
}

func fromOurs(v any, text []byte, opts []nocopy.Option) peer.Step {
	if _, ok := of(v.(*peer.Input)).(*data.Small); ok {
		return unmarshal[ourpeer.Small](text, opts)
	}
	return unmarshal[ourpeer.Business](text, opts)
}

func unmarshal[S ourStruct](text []byte, opts []nocopy.Option) peer.Step {
	return func(w io.Writer) uint64 {
		var s S
		check(nocopyjson.Unmarshal(text, &s, opts...))
		n := must(s.Message().WriteTo(w))
		s.Release()
		return uint64(n)
	}
}

func toProtoJSON(in *peer.Input) []peer.Row {
	return []peer.Row{{Peer: "protojson", Make: func() peer.Step {
		m := useproto.Of(of(in))
		s := m.New()
		m.Fill(s)
		wire := must(proto.Marshal(s.(proto.Message)))
		return func(w io.Writer) uint64 {
			s := m.New().(proto.Message)
			check(proto.Unmarshal(wire, s))
			return structs.Write(w, must(protojson.Marshal(s)))
		}
	}}}
}

func fromProtoJSON(in *peer.Input) []peer.Row {
	return []peer.Row{{Peer: "protojson", Make: func() peer.Step {
		m := useproto.Of(of(in))
		s := m.New()
		m.Fill(s)
		text := must(protojson.Marshal(s.(proto.Message)))
		return func(w io.Writer) uint64 {
			s := m.New().(proto.Message)
			check(protojson.Unmarshal(text, s))
			return structs.Write(w, must(proto.Marshal(s)))
		}
	}}}
}

// descriptor returns dynamicgo's descriptor of the type of v.
func descriptor(v any) *thrift.TypeDescriptor {
	name := reflect.TypeOf(v).Elem().Name()
	content := fmt.Sprintf("%s\nservice S { %s f(1: %[2]s m) }", idl.Peer, name)
	s := must(thrift.NewDescritorFromContent(context.Background(), "peer.thrift", content, nil, false))
	d := must(s.LookupFunctionByMethod("f")).Response()
	return d.Struct().FieldById(0).Type()
}

func must[T any](v T, err error) T {
	check(err)
	return v
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
