// Types and messages of the referee for this package's tests, and its notion of equality.

package messages_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/apache/thrift/lib/go/thrift"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/impl"
	"github.com/nocopythrift/nocopythrift/nocopy/messages"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/referee"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// seeded makes choices from a seed.
type seeded struct{ *rand.Rand }

func (s seeded) Intn(n int) int { return s.IntN(n) }

func newGen(seed uint64) *referee.Gen {
	return &referee.Gen{Choices: seeded{rand.New(rand.NewPCG(seed, 1))}}
}

// types are descriptors of the referee's types, as generated code would have them.
type types map[*referee.Struct]*thriftimpl.Desc

func newTypes(structs []*referee.Struct) types {
	ts := types{}
	for _, s := range structs {
		switch {
		case s.Union:
			ts[s] = thriftimpl.NewUnionDesc(s.Name)
		case s.Exception:
			ts[s] = thriftimpl.NewExceptionDesc(s.Name)
		default:
			ts[s] = thriftimpl.NewDesc(s.Name)
		}
	}
	for _, s := range structs {
		var fields []thriftimpl.FieldDesc
		for _, f := range s.Fields {
			fd := thriftimpl.FieldDesc{ID: f.ID, Name: f.Name, Type: ts.of(f.Type), Req: impl.Requiredness(f.Req)}
			if f.Default != nil {
				fd.Default = string(referee.WriteValue(f.Type, f.Default, nil))
			}
			fields = append(fields, fd)
		}
		ts[s].Define(fields...)
	}
	return ts
}

func (ts types) of(t *referee.Type) *thriftimpl.Type {
	switch {
	case t.IsStruct():
		return thriftimpl.StructOf(ts[t.Struct])
	case t.Wire == thrift.LIST:
		return thriftimpl.ListOf(ts.of(t.Elem))
	case t.Wire == thrift.SET:
		return thriftimpl.SetOf(ts.of(t.Elem))
	case t.IsMap():
		return thriftimpl.MapOf(ts.of(t.Key), ts.of(t.Elem))
	case t.Enum:
		return thriftimpl.EnumOf(thriftimpl.NewEnum("Enum", nil))
	case t.Binary:
		return thriftimpl.TypeBinary
	}
	return map[thrift.TType]*thriftimpl.Type{thrift.BOOL: thriftimpl.TypeBool, thrift.BYTE: thriftimpl.TypeI8, thrift.I16: thriftimpl.TypeI16,
		thrift.I32: thriftimpl.TypeI32, thrift.I64: thriftimpl.TypeI64, thrift.DOUBLE: thriftimpl.TypeDouble, thrift.STRING: thriftimpl.TypeString,
		thrift.UUID: thriftimpl.TypeUUID}[t.Wire]
}

// message is a struct that is known only by its descriptor.
type message struct {
	d *thriftimpl.Desc
	s thriftimpl.Struct
}

func (m message) ThriftDesc() *thriftimpl.Desc    { return m.d }
func (m message) ThriftStruct() thriftimpl.Struct { return m.s }

func (ts types) parse(t testing.TB, s *referee.Struct, wire []byte, opts ...nocopy.Option) message {
	t.Helper()
	h, err := thriftimpl.Parse(ts[s], wire, opts...)
	if err != nil {
		t.Fatalf("%v in\n%x", err, wire)
	}
	return message{ts[s], h}
}

// canon makes texts of values that are the same if and only if the values are equal.
type canon struct {
	opt messages.Option
	nan *bool // set to true if a NaN was found that equals nothing
	// The texts of defaults; "" while they are being made
	zeros map[*referee.Field]string
}

func (c canon) has(o messages.Option) bool { return c.opt&o != 0 }

func (c canon) text(t *referee.Type, v referee.Value) string {
	switch v := v.(type) {
	case referee.Float:
		x := math.Float64frombits(uint64(v))
		if x != x {
			*c.nan = *c.nan || !c.has(messages.EquateNaNs)
			return "NaN"
		}
		return fmt.Sprint(x + 0)
	case string:
		return fmt.Sprintf("%q", v)
	case referee.Bytes:
		return fmt.Sprintf("%q", v)
	case *referee.Record:
		return c.record(v)
	case *referee.List:
		var all []string
		for _, x := range v.Elems {
			all = append(all, c.text(t.Elem, x))
		}
		if t.Wire == thrift.SET {
			slices.Sort(all)
			all = slices.Compact(all)
		}
		return "[" + strings.Join(all, " ") + "]"
	case *referee.Map:
		pairs := map[string]referee.Value{}
		for _, p := range v.Pairs { // a NaN in a value that does not count is ignored
			key := c.text(t.Key, p.Key)
			if x, ok := p.Key.(referee.Float); ok && x == 1<<63 {
				key = "-0"
			}
			pairs[key] = p.Value
		}
		var all []string
		for k, x := range pairs {
			all = append(all, k+":"+c.text(t.Elem, x))
		}
		slices.Sort(all)
		return "{" + strings.Join(all, " ") + "}"
	}
	return fmt.Sprint(v)
}

func (c canon) record(r *referee.Record) string {
	var all []string
	for i, v := range r.Fields {
		f := &r.Type.Fields[i]
		if v == nil || r.Type.Union && r.Last != i+1 {
			continue
		}
		text := c.text(f.Type, v)
		if c.has(messages.EquateDefaults) && !r.Type.Union && text == c.initial(f) {
			continue
		}
		all = append(all, fmt.Sprint(f.ID, "=", text))
	}
	slices.Sort(all)
	if r.Type.Union {
		all = append(all, fmt.Sprint("arm ", r.Last))
	}
	if !c.has(messages.IgnoreUnknown) {
		unknown := slices.Clone(r.Unknown)
		slices.SortStableFunc(unknown, func(a, b referee.Raw) int { return int(a.ID) - int(b.ID) })
		all = append(all, fmt.Sprintf("%+v", unknown))
	}
	return "(" + strings.Join(all, " ") + ")"
}

// initial returns the text of the value that an unset field reads as.
func (c canon) initial(f *referee.Field) string {
	if text, ok := c.zeros[f]; ok {
		return text
	}
	c.zeros[f] = ""
	nan := false
	c.zeros[f] = canon{c.opt, &nan, c.zeros}.zero(f)
	return c.zeros[f]
}

func (c canon) zero(f *referee.Field) string {
	switch {
	case f.Default != nil:
		return c.text(f.Type, f.Default)
	case f.Type.IsStruct():
		return c.record(referee.NewRecord(f.Type.Struct))
	}
	return c.text(f.Type, referee.Zero(f.Type))
}

// shuffled returns a copy of a value with sets and maps in another order. Repeated keys keep their
// order.
func shuffled(v referee.Value, rnd *rand.Rand) referee.Value {
	v = referee.Clone(v)
	shuffle(v, rnd)
	return v
}

func shuffle(v referee.Value, rnd *rand.Rand) {
	switch v := v.(type) {
	case *referee.Record:
		for _, x := range v.Fields {
			shuffle(x, rnd)
		}
	case *referee.List:
		for _, x := range v.Elems {
			shuffle(x, rnd)
		}
		if v.Type.Wire == thrift.SET {
			rnd.Shuffle(len(v.Elems), func(i, j int) { v.Elems[i], v.Elems[j] = v.Elems[j], v.Elems[i] })
			if n := len(v.Elems); n > 0 && rnd.IntN(4) == 0 {
				v.Elems = append(v.Elems, referee.Clone(v.Elems[rnd.IntN(n)]))
			}
		}
	case *referee.Map:
		for _, p := range v.Pairs {
			shuffle(p.Key, rnd)
			shuffle(p.Value, rnd)
		}
		if len(v.Live()) == len(v.Pairs) && !v.Type.Key.IsContainer() && v.Type.Key.Wire != thrift.DOUBLE {
			rnd.Shuffle(len(v.Pairs), func(i, j int) { v.Pairs[i], v.Pairs[j] = v.Pairs[j], v.Pairs[i] })
		}
	}
}

// changed returns a copy of r with perhaps one change.
func changed(g *referee.Gen, r *referee.Record) *referee.Record {
	r = referee.Clone(r).(*referee.Record)
	change(g, r)
	return r
}

func change(g *referee.Gen, v referee.Value) {
	switch v := v.(type) {
	case *referee.Record:
		if len(v.Fields) == 0 {
			return
		}
		i := g.Intn(len(v.Fields))
		switch f := &v.Type.Fields[i]; {
		case g.Intn(3) > 0 && v.Fields[i] != nil:
			change(g, v.Fields[i])
			if !f.Type.IsContainer() {
				v.Fields[i] = g.Value(f.Type, 1)
			}
		case v.Type.Union || g.Intn(4) == 0:
			g.Noise(v)
		case v.Fields[i] == nil:
			v.Fields[i] = f.Initial()
			if v.Fields[i] == nil {
				v.Fields[i] = referee.Zero(f.Type)
			}
		case f.Req == referee.Optional:
			v.Fields[i] = nil
		}
	case *referee.List:
		if n := len(v.Elems); n > 0 {
			i := g.Intn(n)
			change(g, v.Elems[i])
			if !v.Type.Elem.IsContainer() {
				v.Elems[i] = g.Value(v.Type.Elem, 1)
			}
		}
	case *referee.Map:
		if n := len(v.Pairs); n > 0 {
			i := g.Intn(n)
			change(g, v.Pairs[i].Value)
			if !v.Type.Elem.IsContainer() {
				v.Pairs[i].Value = g.Value(v.Type.Elem, 1)
			}
		}
	}
}

// field returns the wire bytes of a field with these value bytes.
func field(wire nocopy.WireType, id int16, value ...byte) []byte {
	return append([]byte{byte(wire), byte(id >> 8), byte(id)}, value...)
}

func be32(n int) []byte { return binary.BigEndian.AppendUint32(nil, uint32(n)) }
