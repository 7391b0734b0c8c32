package shapes_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/descriptor"
	"github.com/nocopythrift/nocopythrift/nocopy/dynamic"
	"github.com/nocopythrift/nocopythrift/nocopy/nocopyjson"
	"github.com/nocopythrift/nocopythrift/nocopy/reflection"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

func loadShapes(t testing.TB) *dynamic.Schema {
	t.Helper()
	s, err := dynamic.Load("shapes.thrift")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// fields returns the facts that a descriptor says, as comparable text.
func fields(s descriptor.Struct) string {
	var b strings.Builder
	fmt.Fprintln(&b, s.Shape(), s.Name(), s.Doc())
	for a := range s.Annotations() {
		fmt.Fprintln(&b, a)
	}
	for f := range s.Fields() {
		fmt.Fprintf(&b, "%d %s %s %d %q %q\n", f.ID(), f.Name(), f.Type(), f.Requiredness(), f.DefaultWire(), f.Doc())
		for a := range f.Annotations() {
			fmt.Fprintln(&b, a)
		}
	}
	return b.String()
}

// TestDynamicAsGenerated: descriptors say the same as those of generated code, new messages have
// the same bytes, and parsing good and damaged bytes has the same outcome.
func TestDynamicAsGenerated(t *testing.T) {
	s := loadShapes(t)
	rnd := rand.New(rand.NewPCG(1, 2))
	n := 0
	for name, generated := range descriptor.Structs() {
		if !strings.HasPrefix(name, "shapes.") {
			continue
		}
		n++
		typ, err := s.Struct(name)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(fields(generated), fields(typ.Struct)); diff != "" {
			t.Errorf("%s: -generated +dynamic:\n%s", name, diff)
		}
		g, d := reflection.OfStruct(generated.Desc(), newOf(generated)), typ.New()
		if !bytes.Equal(g.Message().Bytes(), d.Message().Bytes()) {
			t.Errorf("%s: new: %v and %v", name, g, d)
		}
		seeds := [][]byte{randomMessage(t, rnd, generated), randomMessage(t, rnd, generated)}
		for range 300 {
			b := bytes.Clone(seeds[rnd.IntN(2)])
			for range rnd.IntN(3) {
				if len(b) > 0 {
					b[rnd.IntN(len(b))] = byte(rnd.IntN(18))
				}
			}
			want, wantErr := parseAs(generated, b)
			got, err := typ.Parse(b)
			if fmt.Sprint(wantErr) != fmt.Sprint(err) {
				t.Fatalf("%s %x: generated: %v, dynamic: %v", name, b, wantErr, err)
			}
			if err == nil && (want.String() != got.String() || !bytes.Equal(got.AppendTo(nil), want.AppendTo(nil))) {
				t.Fatalf("%s %x: generated: %v, dynamic: %v", name, b, want, got)
			}
		}
	}
	if n < 15 {
		t.Errorf("only %d structs", n)
	}
	for name, c := range descriptor.Consts() {
		if !strings.HasPrefix(name, "shapes.") {
			continue
		}
		got, err := s.Const(name)
		if err != nil || got.Wire() != c.Wire() || got.Type().String() != c.Type().String() || got.Doc() != c.Doc() {
			t.Errorf("%s: %v, %v", name, got, err)
		}
		if got.Value().Type().WireType() != c.Type().WireType() {
			t.Errorf("%s: %v", name, got.Value())
		}
	}
	for name, e := range descriptor.Enums() {
		if strings.HasPrefix(name, "shapes.") {
			got, err := s.Enum(name)
			if err != nil || fmt.Sprint(enumValues(got)) != fmt.Sprint(enumValues(e)) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

func enumValues(e descriptor.Enum) (all []string) {
	for v := range e.Values() {
		all = append(all, fmt.Sprint(v.Name(), v.Number(), v.Doc()))
	}
	return all
}

// TestDynamicConversions: messages of all types as Go values and as JSON, and back.
func TestDynamicConversions(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	s := loadShapes(t)
	for name, generated := range descriptor.Structs() {
		if !strings.HasPrefix(name, "shapes.") {
			continue
		}
		typ, err := s.Struct(name)
		if err != nil {
			t.Fatal(err)
		}
		for range 30 {
			b := randomMessage(t, rnd, generated)
			want, err := typ.Parse(b)
			if err != nil {
				t.Fatal(err)
			}
			fields := dynamic.ToMap(want)
			got, err := typ.FromMap(fields)
			if err != nil {
				t.Fatalf("%s: %v of %v", name, err, fields)
			}
			if diff := cmp.Diff(fields, dynamic.ToMap(got)); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
			text, err := nocopyjson.Marshal(want)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			x, err := parseAs(generated, b)
			if err != nil {
				t.Fatal(err)
			}
			if own, err := nocopyjson.Marshal(x); err != nil || string(own) != string(text) {
				t.Errorf("%s: generated: %s, dynamic: %s, %v", name, own, text, err)
			}
			back, err := typ.FromJSON(text)
			if err != nil {
				t.Fatalf("%s: %v of %s", name, err, text)
			}
			if diff := cmp.Diff(fields, dynamic.ToMap(back)); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
		}
	}
}

func newOf(s descriptor.Struct) thriftimpl.Struct { return thriftimpl.New(s.Desc()) }

func parseAs(s descriptor.Struct, b []byte) (reflection.Message, error) {
	x, err := thriftimpl.Parse(s.Desc(), b)
	return reflection.OfStruct(s.Desc(), x), err
}

// randomMessage returns the bytes of a message of a generated type with most fields set.
func randomMessage(t testing.TB, rnd *rand.Rand, s descriptor.Struct) []byte {
	fields, _ := randomValue(rnd, descriptor.TypeOf(thriftimpl.StructOf(s.Desc())), 0).(map[string]any)
	m, err := dynamic.TypeOf(reflection.OfStruct(s.Desc(), newOf(s))).FromMap(fields)
	if err != nil {
		t.Fatal(err)
	}
	return m.Message().Bytes()
}

// randomValue returns a value for FromMap, nil if it would be nested too deeply.
func randomValue(rnd *rand.Rand, t descriptor.Type, depth int) any {
	switch t.WireType() {
	case nocopy.WireBool:
		return rnd.IntN(2) == 0
	case nocopy.WireI8:
		return rnd.IntN(256) - 128
	case nocopy.WireI16:
		return rnd.IntN(1<<16) - 1<<15
	case nocopy.WireI32:
		if t.Enum().Valid() {
			for v := range t.Enum().Values() {
				return v.Name()
			}
		}
		return int32(rnd.Uint32())
	case nocopy.WireI64:
		return int64(rnd.Uint64())
	case nocopy.WireDouble:
		return rnd.NormFloat64()
	case nocopy.WireUUID:
		return nocopy.UUID{byte(rnd.IntN(256)), 1, 2}
	case nocopy.WireString:
		b := make([]byte, rnd.IntN(10))
		for i := range b {
			b[i] = byte('a' + rnd.IntN(26))
		}
		if t.IsBinary() {
			return b
		}
		return string(b)
	case nocopy.WireStruct:
		if depth > 3 {
			return nil
		}
		fields := map[string]any{}
		for f := range t.Struct().Fields() {
			if v := randomValue(rnd, f.Type(), depth+1); v != nil {
				fields[f.Name()] = v
			}
			if t.Struct().Shape() == descriptor.ShapeUnion {
				break
			}
		}
		return fields
	case nocopy.WireMap:
		var pairs []dynamic.Pair
		for range rnd.IntN(2) { // equal keys that are structs are not detected
			k, v := randomValue(rnd, t.Key(), depth+1), randomValue(rnd, t.Elem(), depth+1)
			if k == nil || v == nil {
				return nil
			}
			pairs = append(pairs, dynamic.Pair{Key: k, Value: v})
		}
		return pairs
	}
	list := []any{}
	for range rnd.IntN(4) {
		v := randomValue(rnd, t.Elem(), depth+1)
		if v == nil {
			return nil
		}
		// JSON has each element of a set once
		if t.WireType() != nocopy.WireSet || !slices.ContainsFunc(list, func(x any) bool { return cmp.Equal(x, v) }) {
			list = append(list, v)
		}
	}
	return list
}
