package parse_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/impl"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/internal/handles"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

var (
	describedCustomer = newStructDesc("Customer")
	describedOrder    = newStructDesc("Order")
)

func init() {
	describedCustomer.Define(thriftimpl.FieldDesc{ID: 1, Name: "name", Type: typeString}, thriftimpl.FieldDesc{ID: 2, Name: "vip", Type: typeBool})
	describedOrder.Define(
		thriftimpl.FieldDesc{ID: 1, Name: "id", Type: typeI64},
		thriftimpl.FieldDesc{ID: 2, Name: "customer", Type: structTypeOf(describedCustomer)},
		thriftimpl.FieldDesc{ID: 3, Name: "price_list", Type: listTypeOf(typeI32)},
		thriftimpl.FieldDesc{ID: 4, Name: "small", Type: typeI8},
		thriftimpl.FieldDesc{ID: 5, Name: "note", Type: typeString},
		thriftimpl.FieldDesc{ID: 6, Name: "names", Type: mapTypeOf(typeString, typeString)},
	)
}

// orderWire returns the bytes of an Order with all fields.
func orderWire() []byte {
	s := newStruct(describedOrder)
	s.SetInt64(fieldNamed(describedOrder, "id"), 1)
	c := s.NewChild(fieldNamed(describedOrder, "customer"), describedOrder, 0)
	c.SetText(fieldNamed(describedCustomer, "name"), "Ada")
	s.SetInt32s(fieldNamed(describedOrder, "price_list"), describedOrder, []int32{1, 2, 3})
	s.SetInt8(fieldNamed(describedOrder, "small"), 4)
	s.SetText(fieldNamed(describedOrder, "note"), "a note")
	return s.Message().AppendTo(nil)
}

// framed returns b after its length.
func framed(b []byte) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...)
}

// otherFormats returns bytes of other formats, and the text of the error for each.
func otherFormats() map[string][2]string {
	order := string(orderWire())
	strict := "\x80\x01\x00\x01\x00\x00\x00\x03get\x00\x00\x00\x01" + order
	old := "\x00\x00\x00\x03get\x01\x00\x00\x00\x01" + order
	compact := "\x82\x21\x07\x03get\x16\x02\x00"
	header := "\x0f\xff\x00\x00\x00\x00\x00\x07\x00\x01\x00\x00\x00\x00" + strict
	frame := func(s string) string { return string(framed([]byte(s))) }
	return map[string][2]string{
		"frame":                {frame(order), "NewFrameDecoder"},
		"two frames":           {frame(order) + frame(order), "NewFrameDecoder"},
		"strict call":          {strict, "package rpc"},
		"call, truncated":      {strict[:20], "package rpc"},
		"old call":             {old, "package rpc"},
		"framed call":          {frame(strict), "a frame with a call"},
		"part of a frame":      {frame(strict)[:40], "a frame with a call"},
		"framed old call":      {frame(old), "a frame with a call"},
		"compact call":         {compact, "a call in the compact protocol, which package rpc reads"},
		"compact reply":        {"\x82\x41\x07\x03get\x16\x02\x00", "a call in the compact protocol, which package rpc reads"},
		"compact, framed":      {frame(compact), "a frame with a call in the compact protocol, which package rpc reads"},
		"compact struct":       {"\x16\x02\x1c\x18\x03Ada\x11\x00\x19\x35\x02\x04\x06\x13\x04\x18\x02no\x1b\x01\x88\x01a\x01b\x00", "a struct in the compact protocol"},
		"THeader":              {frame(header), "THeader transport, which package rpc reads"},
		"THeader, length gone": {header, "THeader transport, which package rpc reads"},
		"JSON":                 {`{"id":1,"note":"x"}`, "nocopyjson"},
		"JSON, spaces":         {"\n { \"id\" : 1", "nocopyjson"},
		"no JSON fields":       {"{ }\n", "nocopyjson"},
		"JSON array":           {`[{"id":1}]`, "nocopyjson"},
		"Apache's JSON":        {`{"1":{"i64":1},"5":{"str":"x"}}`, "Apache's JSON"},
		"call in JSON":         {`[1,"get",1,7,{"1":{"rec":{}}}]`, "Apache's JSON"},
		"HTTP request":         {"POST /thrift HTTP/1.1\r\nHost: x\r\n\r\n", "net/http"},
		"HTTP response":        {"HTTP/1.1 400 Bad Request\r\n", "net/http"},
		"HTTP/2":               {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "net/http"},
		"TLS hello":            {"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + strings.Repeat("r", 100), "crypto/tls"},
		"TLS alert":            {"\x15\x03\x01\x00\x02\x02\x46", "crypto/tls"},
	}
}

// TestOtherFormats: the errors of Parse and of a Decoder name the format of the bytes, in one or
// several pieces. Apart from that, they are the usual *Errors.
func TestOtherFormats(t *testing.T) {
	for name, c := range otherFormats() {
		b := []byte(c[0])
		check := func(way string, err error) {
			t.Helper()
			var bad *nocopy.Error
			if !errors.As(err, &bad) || bad.Path == "" || !strings.Contains(err.Error(), c[1]) {
				t.Errorf("%s, %s: %v, want %q", name, way, err, c[1])
			}
			if !errors.Is(err, nocopy.ErrTrailing) && !errors.Is(err, nocopy.ErrType) && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, nocopy.ErrNegative) {
				t.Errorf("%s, %s: %v is none of the usual errors", name, way, err)
			}
		}
		_, err := parseStruct(describedOrder, b)
		check("Parse", err)
		_, err = parseStruct(describedOrder, b, nocopy.Lazy)
		check("Lazy", err)
		_, err = nocopy.ParseBlocks[nocopy.Struct](describedOrder, [][]byte{b[:2], b[2:min(7, len(b))], b[min(7, len(b)):]})
		if name != "compact struct" { // which is recognised only in one piece
			check("ParseBlocks", err)
		}
		_, err = nocopy.Read[nocopy.Struct](describedOrder, strings.NewReader(c[0]), len(b))
		check("Read", err)
		_, err = nocopy.ParseInto[viewOfOrder](new(nocopy.Message), b)
		check("ParseInto", err)
		_, err = nocopy.OpenIndexed[nocopy.Struct](describedOrder, b)
		check("OpenIndexed", err)
	}
}

// TestOtherFormatsMemory: to find out the format of bytes that are refused takes no memory if they
// begin with nonsense, and at most twice their size if they begin like a compact struct.
func TestOtherFormatsMemory(t *testing.T) {
	const size = 8 << 20
	desc := thriftimpl.NewDesc("Numbers")
	desc.Define(thriftimpl.FieldDesc{ID: 1, Name: "list", Type: thriftimpl.ListOf(thriftimpl.TypeI64), Req: thriftimpl.Optional})
	zeros := append(binary.AppendUvarint([]byte{0x19, 0xf6}, size), make([]byte, size+1)...)
	for name, c := range map[string]struct {
		b    []byte
		most int
	}{
		"nonsense":                      {bytes.Repeat([]byte{0x1f}, size), size / 8},
		"small numbers, each of a byte": {zeros, 2*size + size/8},
	} {
		n := allocated(func() {
			if _, err := parseStruct(desc, c.b); err == nil {
				t.Errorf("%s is accepted", name)
			}
		})
		if n > c.most {
			t.Errorf("%s: refusing %d bytes allocates %d, more than %d", name, len(c.b), n, c.most)
		}
	}
	small := append(binary.AppendUvarint([]byte{0x19, 0xf6}, 100_000), make([]byte, 100_001)...)
	if _, err := parseStruct(desc, small); err == nil || !strings.Contains(err.Error(), "compact protocol") {
		t.Errorf("800 KB of numbers in the compact protocol: %v", err)
	}
}

// TestOtherFormatsOfStreams: the error of a Decoder names the format of a stream, even if the
// stream first gives empty structs, because the length of a frame begins with zeros.
func TestOtherFormatsOfStreams(t *testing.T) {
	order := string(orderWire())
	large := newStruct(describedOrder)
	large.SetText(fieldNamed(describedOrder, "note"), strings.Repeat("x", 200_000))
	streams := otherFormats()
	streams["many frames"] = [2]string{strings.Repeat(string(framed([]byte(order))), 3000), "NewFrameDecoder"}
	streams["large frame"] = [2]string{string(framed(large.Message().Bytes())), "NewFrameDecoder"}
	streams["JSON lines"] = [2]string{strings.Repeat(`{"id":1,"note":"x"}`+"\n", 9000), "nocopyjson"}
	for name, c := range streams {
		if name == "compact struct" || name == "compact, framed" {
			continue // the end is unknown in a stream; it ends inside an apparent map
		}
		d := nocopy.NewDecoder[viewOfOrder](strings.NewReader(c[0]))
		var err error
		for err == nil {
			_, err = d.Next()
		}
		var bad *nocopy.Error
		if !errors.As(err, &bad) || !strings.Contains(err.Error(), c[1]) {
			t.Errorf("%s: %v, want %q", name, err, c[1])
		}
	}
	for name, c := range map[string][2]string{
		"strict call":  {streams["strict call"][0], "package rpc"},
		"JSON":         {streams["JSON"][0], "nocopyjson"},
		"HTTP request": {streams["HTTP request"][0], "net/http"},
		"framed call":  {streams["framed call"][0], "a call"},
		"structs":      {order + order, "a struct without a frame: NewDecoder"},
	} {
		d := nocopy.NewFrameDecoder[viewOfOrder](strings.NewReader(c[0]))
		var err error
		for err == nil {
			_, err = d.Next()
		}
		var bad *nocopy.Error
		if !errors.As(err, &bad) || !strings.Contains(err.Error(), c[1]) {
			t.Errorf("%s, given to a Decoder of frames: %v, want %q", name, err, c[1])
		}
	}
}

// TestFramesOfRequired: the length of a frame begins like an empty struct, which is invalid for a
// type with required fields.
func TestFramesOfRequired(t *testing.T) {
	wire := newStruct(requiredDesc)
	wire.SetText(fieldNamed(requiredDesc, "t"), "text")
	d := nocopy.NewDecoder[viewOfRequired](bytes.NewReader(framed(wire.Message().Bytes())))
	if _, err := d.Next(); !errors.Is(err, nocopy.ErrMissingRequired) || !strings.Contains(err.Error(), "NewFrameDecoder") {
		t.Error(err)
	}
	d = nocopy.NewDecoder[viewOfRequired](strings.NewReader("\x00"))
	if _, err := d.Next(); !errors.Is(err, nocopy.ErrMissingRequired) || strings.Contains(err.Error(), "the bytes are") {
		t.Error(err)
	}
}

var requiredDesc = func() *thriftimpl.Desc {
	d := newStructDesc("Required")
	d.Define(thriftimpl.FieldDesc{ID: 1, Name: "t", Type: typeString, Req: thriftimpl.Required})
	return d
}()

// viewOfRequired is like the type generated for requiredDesc.
type viewOfRequired nocopy.Struct

func (viewOfRequired) ThriftDesc() *thriftimpl.Desc { return requiredDesc }

// viewOfOrder is like the type generated for describedOrder.
type viewOfOrder nocopy.Struct

func (viewOfOrder) ThriftDesc() *thriftimpl.Desc { return describedOrder }

// TestBrokenBinary: for truncated or damaged Thrift Binary, and for random bytes, no error names
// another format.
func TestBrokenBinary(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	wires := [][]byte{orderWire(), handles.Wire()}
	claims := func(d *thriftimpl.Desc, b []byte) error {
		if _, err := parseStruct(d, b); err != nil && strings.Contains(err.Error(), "the bytes are") {
			return err
		}
		return nil
	}
	said := 0
	check := func(d *thriftimpl.Desc, b []byte) {
		if err := claims(d, b); err != nil {
			if said++; said < 5 {
				t.Errorf("% x: %v", b[:min(len(b), 40)], err)
			}
		}
	}
	random, taken := 0, 0
	for i, d := range []*thriftimpl.Desc{describedOrder, allDesc} {
		wire := wires[i]
		for n := range wire {
			check(d, wire[:n])
			b := append([]byte(nil), wire...)
			for v := range 256 {
				b[n] = byte(v)
				check(d, b)
			}
		}
		for range testmode.Of(20_000, 500_000) {
			b := make([]byte, r.IntN(64))
			for i := range b {
				b[i] = byte(r.Uint32())
			}
			// Random bytes may look like another format by chance: 2 in a million are a compact
			// call.
			if random++; claims(d, b) != nil {
				taken++
			}
			b = append(b[:0], wire[:min(len(wire), 64)]...)
			for range 1 + r.IntN(4) {
				b[r.IntN(len(b))] = byte(r.Uint32())
			}
			check(d, b)
		}
	}
	if taken > random/100_000 {
		t.Errorf("%d of %d random texts are taken for another format", taken, random)
	}
}

// TestSetterOnAbsent: the panic names the struct, the field and the method that makes it.
func TestSetterOnAbsent(t *testing.T) {
	s := newStruct(describedOrder)
	defer s.Release()
	customer := s.Child(fieldNamed(describedOrder, "customer"), describedOrder)
	panicsWith(t, "nocopy: Order.customer: setter called on an absent struct or container: use NewCustomer first",
		func() { customer.SetText(fieldNamed(describedCustomer, "name"), "x") })
	panicsWith(t, "nocopy: Order.customer: setter called on an absent struct or container: use NewCustomer first",
		func() { customer.SetBool(fieldNamed(describedCustomer, "vip"), true) })
	prices := s.Child(fieldNamed(describedOrder, "price_list"), describedOrder)
	panicsWith(t, "nocopy: Order.price_list: setter called on an absent struct or container: use NewPriceList first",
		func() { nocopy.Int32List(prices).Append(1) })
	panicsWith(t, panicAbsent, func() { thriftimpl.Struct{}.SetText(fieldNamed(describedCustomer, "name"), "x") })
	panicsWith(t, "nocopy: Order.names: ", func() { nocopy.StringMap(s.Child(fieldNamed(describedOrder, "names"), describedOrder)).Put("a", "b") })
	panicsWith(t, "nocopy: Order.names: ",
		func() {
			nocopy.StringMap(thriftimpl.Struct{}.Child(fieldNamed(describedOrder, "names"), describedOrder)).Put("a", "b")
		})
}

// TestShortCompact: the error of Parse for few bytes that may be in the compact protocol names the
// option, and the error of Parse with the option says if few bytes may be Thrift Binary.
func TestShortCompact(t *testing.T) {
	for _, typ := range []*thriftimpl.Type{thriftimpl.TypeBool, thriftimpl.TypeI8, thriftimpl.TypeI16, thriftimpl.TypeI32, thriftimpl.TypeI64,
		thriftimpl.TypeString, thriftimpl.ListOf(thriftimpl.TypeI32)} {
		d := thriftimpl.NewDesc("Short")
		d.Define(thriftimpl.FieldDesc{ID: 1, Name: "f", Type: typ, Req: thriftimpl.Optional})
		s := thriftimpl.New(d)
		switch typ.Wire() {
		case nocopy.WireString:
			s.SetText(d.Field(0), "a")
		case nocopy.WireBool:
			s.SetBool(d.Field(0), true)
		case nocopy.WireList:
			s.NewValue(d.Field(0), d, 0)
		default:
			s.SetValue(d.Field(0), d, impl.ValueOfInt(typ, 1))
		}
		compact, wire := nocopy.Struct(s).Message().AppendCompact(nil), s.Message().AppendTo(nil)
		_, err := thriftimpl.Parse(d, compact)
		if err == nil || !strings.HasSuffix(err.Error(), "; the bytes may be a struct in the compact protocol, which is parsed with the option Compact") {
			t.Errorf("%v: % x: %v", typ, compact, err)
		}
		_, err = thriftimpl.Parse(d, wire, nocopy.Compact)
		say := "may be"
		if len(wire) >= 8 {
			say = "are"
		}
		if typ != thriftimpl.TypeBool && err == nil { // a bool's bytes are unknown fields
			t.Errorf("%v: % x is accepted", typ, wire)
		} else if err != nil && !strings.HasSuffix(err.Error(), "; the bytes "+say+" a struct in Thrift Binary, which is parsed without the option Compact") {
			t.Errorf("%v: % x: %v", typ, wire, err)
		}
		s.Release()
	}
}

// TestNoBytes: the error of an empty input says so. errors.Is finds io.ErrUnexpectedEOF.
func TestNoBytes(t *testing.T) {
	d := describedOrder
	var m nocopy.Message
	for what, parse := range map[string]func(opts ...nocopy.Option) error{
		"Parse":          func(opts ...nocopy.Option) error { _, err := parseStruct(d, nil, opts...); return err },
		"an empty slice": func(opts ...nocopy.Option) error { _, err := parseStruct(d, []byte{}, opts...); return err },
		"ParseInto":      func(opts ...nocopy.Option) error { _, err := nocopy.ParseInto[orderView](&m, nil, opts...); return err },
		"Read": func(opts ...nocopy.Option) error {
			_, err := nocopy.Read[nocopy.Struct](d, strings.NewReader(""), 0, opts...)
			return err
		},
		"ParseBlocks": func(opts ...nocopy.Option) error {
			_, err := nocopy.ParseBlocks[nocopy.Struct](d, nil, opts...)
			return err
		},
		"an empty frame": func(opts ...nocopy.Option) error {
			_, err := nocopy.NewFrameDecoder[orderView](strings.NewReader("\x00\x00\x00\x00"), opts...).Next()
			return err
		},
		"OpenIndexed": func(opts ...nocopy.Option) error {
			_, err := nocopy.OpenIndexed[nocopy.Struct](d, nil, opts...)
			return err
		},
	} {
		for _, o := range []nocopy.Option{nil, nocopy.Lazy, nocopy.Compact, nocopy.ValidUTF8, nocopy.WithIndex, nocopy.ByIndex, nocopy.Recycle} {
			err := parse(o)
			if !errors.Is(err, io.ErrUnexpectedEOF) || err.Error() != "nocopy: Order: offset 0: no bytes: unexpected EOF" {
				t.Errorf("%s, %v: %v", what, o, err)
			}
		}
	}
	if _, err := nocopy.Peek(nil, 1); !errors.Is(err, io.ErrUnexpectedEOF) || !strings.Contains(err.Error(), "no bytes") {
		t.Error(err)
	}
	if _, err := parseStruct(d, []byte{11}); !errors.Is(err, io.ErrUnexpectedEOF) || strings.Contains(err.Error(), "no bytes") {
		t.Error(err)
	}
}

// orderView is the Go type of handles of structs that describedOrder describes.
type orderView nocopy.Struct

func (orderView) ThriftDesc() *thriftimpl.Desc { return describedOrder }
