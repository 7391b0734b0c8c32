package dynamic_test

import (
	"errors"
	"fmt"
	"reflect"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/dynamic"
	"github.com/nocopythrift/nocopythrift/nocopy/messages"
)

// TestIndexed: dynamic messages get an index, and are read by it and changed like others, even
// with a newer version of the type.
func TestIndexed(t *testing.T) {
	typ := mustStruct(t, mustLoad(t, "../../../examples/programs/archive/archive.thrift"), "Invoice")
	lines := make([]any, 200)
	for i := range lines {
		lines[i] = map[string]any{"article": fmt.Sprint("article ", i), "count": i, "price": float64(i) / 4}
	}
	fields := map[string]any{
		"number": 7, "lines": lines, "labels": map[string]string{"a": "b"}, "seller": map[string]any{"id": 3, "name": "seller"},
	}
	made, err := typ.FromMap(fields, nocopy.WithIndex)
	if err != nil {
		t.Fatal(err)
	}
	wire := made.Message().AppendTo(nil)
	plain, err := typ.Parse(wire)
	if err != nil {
		t.Fatal(err)
	}
	for _, opts := range [][]nocopy.Option{{nocopy.RequireIndex}, {nocopy.ByIndex, nocopy.Recycle}, {nocopy.Lazy}, {nocopy.WithIndex}} {
		m, err := typ.Parse(wire, opts...)
		if err != nil {
			t.Fatal(err)
		}
		for path, want := range map[string]any{
			"seller.name": "seller", "lines[150].article": "article 150", "lines[199].count": int32(199), `labels["a"]`: "b", "buyer.id": int64(0),
		} {
			if v, err := m.Lookup(path); err != nil || v.Interface() != want {
				t.Errorf("%v: %s is %v, not %v; %v", opts, path, v, want, err)
			}
		}
		if got, want := dynamic.ToMap(m), dynamic.ToMap(made); !reflect.DeepEqual(got, want) {
			t.Errorf("%v: it is %.200v not %.200v", opts, got, want)
		}
		if !messages.Equal(m, plain) || m.String() != plain.String() {
			t.Errorf("%v: it reads as %.200v", opts, m)
		}
		if err := m.Message().Index(); err != nil {
			t.Error(err)
		}
		m.Release()
	}
	other := mustStruct(t, text(t, `
		struct Line { 1: string article  3: i64 price  4: optional string note }
		struct Party { 2: binary name  4: list<i32> codes }
		struct Invoice { 1: string number  3: list<Line> lines  4: map<string, i32> labels  6: Party seller  8: optional Party buyer }`), "Invoice")
	m, err := other.Parse(wire, nocopy.RequireIndex)
	if err != nil {
		t.Fatal(err)
	}
	if v, err := m.Lookup("lines[120].article"); err != nil || v.Text() != "article 120" {
		t.Errorf("line 120 is %v; %v", v, err)
	}
	again, err := other.Parse(wire)
	if err != nil || !messages.Equal(m, again) || m.Has("number") || m.Has("labels") {
		t.Errorf("of the other type it is\n%.300v not\n%.300v; %v", m, again, err)
	}
	if err := errors.Join(m.Set("number", "eight"), m.Message().Index()); err != nil {
		t.Error(err)
	}
	edited, err := typ.Parse(m.Message().AppendTo(nil), nocopy.ByIndex)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := nocopy.Peek(edited.Message().Bytes(), -32000); !errors.Is(err, nocopy.ErrNotFound) {
		t.Errorf("goes out with the index that it had: %v", err)
	}
}
