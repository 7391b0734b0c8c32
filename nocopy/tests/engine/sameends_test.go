package engine_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"runtime"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/render"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// TestKeysWithTheSameEnds: a StringMap tells keys apart that have the same length and the same
// bytes at both ends, however many there are, whether it is built, changed or parsed.
func TestKeysWithTheSameEnds(t *testing.T) {
	for _, n := range []int{2, 16, 17, 64, 65, 256, 257, 1000} {
		key := func(i int) string { return fmt.Sprintf("the same beginning %06d the same end", i) }
		root := engine.New(itemDesc)
		m := nocopy.StringMap(root.NewChild(fieldNamed(itemDesc, "labels"), itemDesc, 0))
		for i := range n {
			m.Put(key(i), "before")
			m.Put(key(i/2), fmt.Sprint(i/2))
		}
		for i := range n {
			m.Put(key(i), fmt.Sprint(i))
		}
		check := func(how string, m nocopy.StringMap) {
			t.Helper()
			if m.Len() != n {
				t.Errorf("%s: %d pairs, not %d", how, m.Len(), n)
			}
			for i := range n {
				if v, ok := m.Get(key(i)); v != fmt.Sprint(i) || !ok {
					t.Fatalf("%s: %s of %d is %q, %v", how, key(i), n, v, ok)
				}
			}
			if v, ok := m.Get(key(n)); ok {
				t.Errorf("%s: a key that is not there is %q", how, v)
			}
			seen := 0
			for k, v := range m.All() {
				if k != key(seen) || v != fmt.Sprint(seen) {
					t.Errorf("%s: pair %d is %q: %q", how, seen, k, v)
				}
				seen++
			}
			if seen != n {
				t.Errorf("%s: All yields %d pairs of %d", how, seen, n)
			}
		}
		check("built", m)
		wire := bytes.Clone(root.Message().Bytes())
		for _, opt := range []engine.Option{engine.Own, engine.Lazy} {
			s := mustParse(t, itemDesc, bytes.Clone(wire), opt)
			m := nocopy.StringMap(s.Child(fieldNamed(itemDesc, "labels"), itemDesc))
			check("parsed", m)
			for i := range n { // each takes the place of the one before
				if !m.Delete(key(i)) || m.Delete(key(i)) {
					t.Errorf("Delete(%s) of %d", key(i), n)
				}
				m.Put(key(i), fmt.Sprint(i))
			}
			check("changed", m)
			s.Release()
		}
		root.Release()
	}
}

// TestDoubleKeysInJSON: two NaNs as keys are an error in JSON. Other doubles are never the same,
// and writing them takes no memory besides the text.
func TestDoubleKeysInJSON(t *testing.T) {
	d := schema.NewStruct("Doubles")
	d.Define(schema.FieldDesc{ID: 1, Name: "m", Type: schema.MapOf(schema.TypeDouble, schema.TypeBool)})
	s := engine.New(d)
	m := nocopy.Map[float64, bool, engine.AsFloat64, engine.AsBool](s.NewChild(d.Field(0), d, 0))
	for i := range 50_000 {
		m.Put(float64(i), true)
	}
	m.Put(math.NaN(), true)
	s.Message().Finish()
	text, err := render.AppendJSON(nil, s, d, render.JSON{})
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err = render.AppendJSON(text[:0], s, d, render.JSON{})
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; err != nil || n > 1<<20 {
		t.Errorf("%d bytes are allocated; %v", n, err)
	}
	m.Put(math.Float64frombits(math.Float64bits(math.NaN())+1), true)
	var bad *nocopy.Error
	if _, err := render.AppendJSON(nil, s, d, render.JSON{}); !errors.As(err, &bad) {
		t.Errorf("two NaNs: %v", err)
	}
	s.Release()
}
