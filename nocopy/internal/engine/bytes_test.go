package engine

import (
	"bytes"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// TestBytesFrozen: what Bytes has handed out stays as it is, whatever is changed afterwards, and
// what is sent is what was set.
func TestBytesFrozen(t *testing.T) {
	small := []byte("\x0a\x00\x05\x00\x00\x00\x00\x00\x00\x00\x01\x0b\x00\x07\x00\x00\x00\x03abc\x00")
	for name, make := range map[string]func(wire []byte) Struct{
		"received":           func(wire []byte) Struct { return mustParse(t, allDesc, wire) },
		"received, own":      func(wire []byte) Struct { return mustParse(t, allDesc, bytes.Clone(wire), Own) },
		"received, recycled": func(wire []byte) Struct { return mustParse(t, allDesc, bytes.Clone(wire), Own, Recycle) },
		"cloned": func(wire []byte) Struct {
			s := mustParse(t, allDesc, wire)
			defer s.Release()
			return s.Clone(allDesc)
		},
		"read": func(wire []byte) Struct {
			s, err := Read(allDesc, bytes.NewReader(wire), len(wire), Recycle)
			if err != nil {
				t.Fatal(err)
			}
			return s
		},
		"built": func(wire []byte) Struct {
			s := New(allDesc)
			s.SetInt64(fieldNamed(allDesc, "large"), 1)
			Int64List(s.NewChild(fieldNamed(allDesc, "numbers"), allDesc, 3)).Set(2, 5)
			return s
		},
		"built, recycled": func(wire []byte) Struct {
			s := New(allDesc, Recycle)
			s.SetInt64(fieldNamed(allDesc, "large"), 1)
			counts := Map[string, int64, AsString, AsInt64](s.NewChild(fieldNamed(allDesc, "counts"), allDesc, 0))
			counts.Put("key 1", 5)
			return s
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, wire := range [][]byte{fullWire(t), small} {
				for range 3 { // the second time in what the first has left
					s := make(wire)
					before := s.m.Bytes()
					want := bytes.Clone(before)
					s.SetInt64(fieldNamed(allDesc, "large"), 77)
					second := s.m.Bytes()
					wantSecond := bytes.Clone(second)
					changer{t: t, m: s.m}.structure(s, allDesc)
					s.SetInt64(fieldNamed(allDesc, "large"), 78)
					third := s.m.Bytes()
					again := mustParse(t, allDesc, third)
					if got := again.Int64(fieldNamed(allDesc, "large")); got != 78 || s.Int64(fieldNamed(allDesc, "large")) != 78 {
						t.Errorf("%s: set to 78, sent as %d", name, got)
					}
					if got, want := again.Format(allDesc), s.Format(allDesc); got != want {
						t.Errorf("%s: is %s, sent as %s", name, want, got)
					}
					if !bytes.Equal(before, want) || !bytes.Equal(second, wantSecond) {
						t.Errorf("%s: Bytes have changed afterwards", name)
					}
					again.Release()
					s.Release()
				}
			}
		})
	}
}

// TestAppendStruct: the bytes of one struct are a message.
func TestAppendStruct(t *testing.T) {
	s := New(allDesc)
	inner := s.NewChild(fieldNamed(allDesc, "self"), allDesc, 0)
	inner.SetText(fieldNamed(allDesc, "text"), "inner")
	inner.NewChild(fieldNamed(allDesc, "point"), allDesc, 0).SetInt32(fieldNamed(pointDesc, "x"), 3)
	check := func(what string, s Struct, d *schema.Struct, want string) {
		t.Helper()
		wire := s.AppendStruct([]byte("dst"), d)
		if string(wire[:3]) != "dst" {
			t.Errorf("%s: what was there has changed", what)
		}
		if got := mustParse(t, d, wire[3:]).Format(d); got != want {
			t.Errorf("%s: %s, want %s", what, got, want)
		}
	}
	check("being built", inner, allDesc, `{text: "inner", point: {x: 3, y: 0}}`)
	inner.SetText(fieldNamed(allDesc, "text"), "edited")
	check("edited", inner, allDesc, `{text: "edited", point: {x: 3, y: 0}}`)
	check("root", s, allDesc, `{self: {text: "edited", point: {x: 3, y: 0}}}`)
	check("innermost", inner.Child(fieldNamed(allDesc, "point"), allDesc), pointDesc, "{x: 3, y: 0}")
	got := mustParse(t, allDesc, s.m.Bytes(), Lazy).Child(fieldNamed(allDesc, "self"), allDesc)
	check("received", got, allDesc, `{text: "edited", point: {x: 3, y: 0}}`)
	check("absent", s.Child(fieldNamed(allDesc, "shape"), allDesc), shapeDesc, "{}")
	check("zero", Struct{}, pointDesc, "{x: 0, y: 0}")
}
