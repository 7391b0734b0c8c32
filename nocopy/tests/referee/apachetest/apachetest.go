// Package apachetest compares package apachethrift with Apache's library, over all protocols and
// transports. Only tests import it.
package apachetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/apache/thrift/lib/go/thrift"
	"github.com/google/go-cmp/cmp"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/apachethrift"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/impl"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/referee"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

var background = context.Background()

// Schema converts types of the referee to descriptors and back. It converts each type once.
type Schema struct {
	descs   map[*referee.Struct]*thriftimpl.Desc
	structs map[*thriftimpl.Desc]*referee.Struct
}

// NewSchema returns an empty Schema.
func NewSchema() *Schema {
	return &Schema{map[*referee.Struct]*thriftimpl.Desc{}, map[*thriftimpl.Desc]*referee.Struct{}}
}

// Desc returns the descriptor of s.
func (sc *Schema) Desc(s *referee.Struct) *thriftimpl.Desc {
	if d := sc.descs[s]; d != nil {
		return d
	}
	make := thriftimpl.NewDesc
	switch {
	case s.Union:
		make = thriftimpl.NewUnionDesc
	case s.Exception:
		make = thriftimpl.NewExceptionDesc
	}
	d := make(s.Name)
	sc.descs[s] = d
	var fields []thriftimpl.FieldDesc
	for _, f := range s.Fields {
		fd := thriftimpl.FieldDesc{ID: f.ID, Name: f.Name, Type: sc.typ(f.Type), Req: impl.Requiredness(f.Req)}
		if f.Default != nil {
			fd.Default = string(referee.WriteValue(f.Type, f.Default, nil))
		}
		fields = append(fields, fd)
	}
	impl.Define(d, fields)
	return d
}

var anEnum = thriftimpl.EnumOf(thriftimpl.NewEnum("Enum", nil))

func (sc *Schema) typ(t *referee.Type) *thriftimpl.Type {
	switch {
	case t.IsStruct():
		return thriftimpl.StructOf(sc.Desc(t.Struct))
	case t.Wire == thrift.LIST:
		return thriftimpl.ListOf(sc.typ(t.Elem))
	case t.Wire == thrift.SET:
		return thriftimpl.SetOf(sc.typ(t.Elem))
	case t.IsMap():
		return thriftimpl.MapOf(sc.typ(t.Key), sc.typ(t.Elem))
	case t.Enum:
		return anEnum
	case t.Binary:
		return thriftimpl.TypeBinary
	}
	return map[thrift.TType]*thriftimpl.Type{thrift.BOOL: thriftimpl.TypeBool, thrift.BYTE: thriftimpl.TypeI8, thrift.I16: thriftimpl.TypeI16,
		thrift.I32: thriftimpl.TypeI32, thrift.I64: thriftimpl.TypeI64, thrift.DOUBLE: thriftimpl.TypeDouble,
		thrift.STRING: thriftimpl.TypeString, thrift.UUID: thriftimpl.TypeUUID}[t.Wire]
}

// StructOf returns the referee's type of d.
func (sc *Schema) StructOf(d *thriftimpl.Desc) *referee.Struct {
	if s := sc.structs[d]; s != nil {
		return s
	}
	s := &referee.Struct{Name: d.Name(), Union: d.IsUnion(), Exception: d.IsException()}
	sc.structs[d] = s
	for i := range d.NumFields() {
		f := d.FieldDesc(i)
		s.Fields = append(s.Fields, referee.Field{ID: f.ID, Name: f.Name, Type: sc.typeOf(f.Type), Req: referee.Requiredness(f.Req)})
	}
	return s
}

func (sc *Schema) typeOf(t *thriftimpl.Type) *referee.Type {
	switch {
	case t.Struct() != nil:
		return referee.StructOf(sc.StructOf(t.Struct()))
	case t.Key() != nil:
		return referee.MapOf(sc.typeOf(t.Key()), sc.typeOf(t.Elem()))
	case t.Wire() == nocopy.WireList:
		return referee.ListOf(sc.typeOf(t.Elem()))
	case t.Wire() == nocopy.WireSet:
		return referee.SetOf(sc.typeOf(t.Elem()))
	}
	return &referee.Type{Wire: thrift.TType(t.Wire()), Binary: t.Binary(), Enum: t.Enum() != nil}
}

// seeded makes choices from a seed.
type seeded struct{ *rand.Rand }

func (s seeded) Intn(n int) int { return s.IntN(n) }

// NewGen returns a Gen that makes the same values each time.
func NewGen(seed uint64) *referee.Gen {
	return &referee.Gen{Choices: seeded{rand.New(rand.NewPCG(seed, 1))}}
}

// Wire is a protocol over a transport that writes to memory.
type Wire struct {
	Name string
	Over func(memory thrift.TTransport) thrift.TProtocol
}

func conf(protocol thrift.THeaderProtocolID, transforms ...thrift.THeaderTransformID) *thrift.TConfiguration {
	return &thrift.TConfiguration{THeaderProtocolID: &protocol, THeaderTransforms: transforms}
}

func strictness(strict bool) *thrift.TConfiguration {
	return &thrift.TConfiguration{TBinaryStrictRead: &strict, TBinaryStrictWrite: &strict}
}

// Wires are the protocols over the transports.
var Wires = []Wire{
	{"binary", func(t thrift.TTransport) thrift.TProtocol { return thrift.NewTBinaryProtocolConf(t, strictness(true)) }},
	{"binary, not strict", func(t thrift.TTransport) thrift.TProtocol { return thrift.NewTBinaryProtocolConf(t, strictness(false)) }},
	{"binary, framed", func(t thrift.TTransport) thrift.TProtocol {
		return thrift.NewTBinaryProtocolConf(thrift.NewTFramedTransportConf(t, nil), nil)
	}},
	{"binary, buffered", func(t thrift.TTransport) thrift.TProtocol {
		return thrift.NewTBinaryProtocolConf(thrift.NewTBufferedTransport(t, 64), nil)
	}},
	{"compact", func(t thrift.TTransport) thrift.TProtocol { return thrift.NewTCompactProtocolConf(t, nil) }},
	{"compact, framed", func(t thrift.TTransport) thrift.TProtocol {
		return thrift.NewTCompactProtocolConf(thrift.NewTFramedTransportConf(t, nil), nil)
	}},
	{"compact, zlib", func(t thrift.TTransport) thrift.TProtocol {
		z, err := thrift.NewTZlibTransport(t, 1)
		if err != nil {
			panic(err)
		}
		return thrift.NewTCompactProtocolConf(z, nil)
	}},
	{"header, binary", func(t thrift.TTransport) thrift.TProtocol {
		return thrift.NewTHeaderProtocolConf(t, conf(thrift.THeaderProtocolBinary))
	}},
	{"header, compact", func(t thrift.TTransport) thrift.TProtocol {
		return thrift.NewTHeaderProtocolConf(t, conf(thrift.THeaderProtocolCompact))
	}},
	{"header, compact, zlib", func(t thrift.TTransport) thrift.TProtocol {
		return thrift.NewTHeaderProtocolConf(t, conf(thrift.THeaderProtocolCompact, thrift.TransformZlib))
	}},
	{"JSON", func(t thrift.TTransport) thrift.TProtocol { return thrift.NewTJSONProtocol(t) }},
}

// Written returns the bytes of a message whose struct f writes.
func (w Wire) Written(t testing.TB, f func(thrift.TProtocol) error) []byte {
	t.Helper()
	memory := thrift.NewTMemoryBuffer()
	p := w.Over(memory)
	err := p.WriteMessageBegin(background, "method", thrift.CALL, 7)
	if err == nil {
		err = f(p)
	}
	if err := errors.Join(err, p.WriteMessageEnd(background), p.Flush(background)); err != nil {
		t.Fatalf("%s: %v", w.Name, err)
	}
	return memory.Bytes()
}

// Read calls f to read the struct of a message. Nothing of the message may be left afterwards.
func (w Wire) Read(t testing.TB, b []byte, f func(thrift.TProtocol) error) error {
	t.Helper()
	memory := thrift.NewTMemoryBuffer()
	memory.Buffer = bytes.NewBuffer(bytes.Clone(b))
	p := w.Over(memory)
	name, kind, seqid, err := p.ReadMessageBegin(background)
	if err != nil || name != "method" || kind != thrift.CALL || seqid != 7 {
		t.Fatalf("%s: header %q %d %d, %v", w.Name, name, kind, seqid, err)
	}
	if err := f(p); err != nil {
		return err
	}
	if err := p.ReadMessageEnd(background); err != nil {
		t.Fatalf("%s: after the struct: %v", w.Name, err)
	}
	// zlib's reader may stop before the marks of a flush, which decompress to nothing
	if memory.Len() > 0 && w.Name != "compact, zlib" {
		t.Fatalf("%s: %d bytes are left", w.Name, memory.Len())
	}
	// The message must not refer to memory of the transport
	clear(memory.Bytes()[:0:cap(memory.Bytes())])
	return nil
}

// Known is a struct of a type that is known by its descriptor.
type Known struct {
	Desc   *thriftimpl.Desc
	Struct nocopy.Struct
}

// ThriftDesc returns the descriptor.
func (k Known) ThriftDesc() *thriftimpl.Desc { return k.Desc }

// ThriftStruct returns the handle.
func (k Known) ThriftStruct() thriftimpl.Struct { return thriftimpl.Struct(k.Struct) }

// simpleJSON returns what f writes in Apache's simple JSON, and its error.
func simpleJSON(t *testing.T, f func(thrift.TProtocol) error) string {
	t.Helper()
	memory := thrift.NewTMemoryBuffer()
	p := thrift.NewTSimpleJSONProtocol(memory)
	return fmt.Sprint(errors.Join(f(p), p.Flush(background)) == nil, memory.String())
}

// RoundTrip compares reading and writing of a record with Apache's library, over w: a record that
// Apache's library has written is read with the values that Apache's library reads, and is written
// with the same bytes.
func RoundTrip(t *testing.T, w Wire, d *thriftimpl.Desc, rec *referee.Record) {
	t.Helper()
	b := w.Written(t, func(p thrift.TProtocol) error { return referee.WriteTo(p, rec) })
	var want *referee.Record
	refused := w.Read(t, b, func(p thrift.TProtocol) (err error) {
		want, err = referee.ReadFrom(p, rec.Type)
		return err
	})
	var s nocopy.Struct
	err := w.Read(t, b, func(p thrift.TProtocol) (err error) {
		s, err = apachethrift.ReadStruct(background, p, d)
		return err
	})
	if refused != nil && err != nil && w.Name == "JSON" && strings.Contains(refused.Error(), "but found") {
		return // Apache's library can't read Infinity and null where its buffer ends in them
	}
	if refused != nil || err != nil {
		t.Fatalf("%s, %s: %v, but Apache's says %v, of\n%q", w.Name, rec.Type.Name, err, refused, b)
	}
	got, err := referee.Accept(rec.Type, s.Message().Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(referee.Plain(want), referee.Plain(got)); diff != "" {
		t.Fatalf("%s, %s: (-Apache +ours)\n%s", w.Name, rec.Type.Name, diff)
	}
	if w.Name == Wires[0].Name {
		theirs := simpleJSON(t, func(p thrift.TProtocol) error { return referee.WriteTo(p, rec) })
		ours := simpleJSON(t, func(p thrift.TProtocol) error { return apachethrift.Write(background, p, Known{d, s}) })
		if ours != theirs {
			t.Fatalf("%s in simple JSON:\n%s, not\n%s", rec.Type.Name, ours, theirs)
		}
	}
	again := w.Written(t, func(p thrift.TProtocol) error { return apachethrift.Write(background, p, Known{d, s}) })
	if w.Name == "JSON" {
		b = w.Written(t, func(p thrift.TProtocol) error { return referee.WriteTo(p, want) })
	}
	if !bytes.Equal(again, b) {
		t.Fatalf("%s, %s: written as\n%q, not\n%q", w.Name, rec.Type.Name, again, b)
	}
}

// DescsOf returns the descriptors of the structs of a generated package.
func DescsOf(path string) (descs []*thriftimpl.Desc) {
	for _, file := range impl.Files() {
		if file.GoPackage() == path {
			descs = append(descs, file.Structs...)
		}
	}
	return descs
}
