package edits_test

import (
	"bytes"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/render"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/internal/handles"
)

// TestBytesFrozen: bytes that Bytes has returned never change, even if the message is changed
// afterwards, and the message is sent with the values that were set.
func TestBytesFrozen(t *testing.T) {
	small := []byte("\x0a\x00\x05\x00\x00\x00\x00\x00\x00\x00\x01\x0b\x00\x07\x00\x00\x00\x03abc\x00")
	for name, make := range map[string]func(wire []byte) engine.Struct{
		"received":      func(wire []byte) engine.Struct { return mustParse(t, allDesc, wire) },
		"received, own": func(wire []byte) engine.Struct { return mustParse(t, allDesc, bytes.Clone(wire), engine.Own) },
		"received, recycled": func(wire []byte) engine.Struct {
			return mustParse(t, allDesc, bytes.Clone(wire), engine.Own, engine.Recycle)
		},
		"cloned": func(wire []byte) engine.Struct {
			s := mustParse(t, allDesc, wire)
			defer s.Release()
			return s.Clone(allDesc)
		},
		"read": func(wire []byte) engine.Struct {
			s, err := engine.Read(allDesc, bytes.NewReader(wire), len(wire), engine.Recycle)
			if err != nil {
				t.Fatal(err)
			}
			return s
		},
		"built": func(wire []byte) engine.Struct {
			s := engine.New(allDesc)
			s.SetInt64(fieldNamed(allDesc, "large"), 1)
			nocopy.Int64List(s.NewChild(fieldNamed(allDesc, "numbers"), allDesc, 3)).Set(2, 5)
			return s
		},
		"built, recycled": func(wire []byte) engine.Struct {
			s := engine.New(allDesc, engine.Recycle)
			s.SetInt64(fieldNamed(allDesc, "large"), 1)
			counts := nocopy.Map[string, int64, engine.AsString, engine.AsInt64](s.NewChild(fieldNamed(allDesc, "counts"), allDesc, 0))
			counts.Put("key 1", 5)
			return s
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, wire := range [][]byte{handles.Wire(), small} {
				for range 3 { // the second time in what the first has left
					s := make(wire)
					before := s.Message().Bytes()
					want := bytes.Clone(before)
					s.SetInt64(fieldNamed(allDesc, "large"), 77)
					second := s.Message().Bytes()
					wantSecond := bytes.Clone(second)
					changeAll(t, s, allDesc)
					s.SetInt64(fieldNamed(allDesc, "large"), 78)
					third := s.Message().Bytes()
					again := mustParse(t, allDesc, third)
					if got := again.Int64(fieldNamed(allDesc, "large")); got != 78 || s.Int64(fieldNamed(allDesc, "large")) != 78 {
						t.Errorf("%s: set to 78, sent as %d", name, got)
					}
					if got, want := render.Text(again, allDesc), render.Text(s, allDesc); got != want {
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
	s := engine.New(allDesc)
	inner := s.NewChild(fieldNamed(allDesc, "self"), allDesc, 0)
	inner.SetText(fieldNamed(allDesc, "text"), "inner")
	inner.NewChild(fieldNamed(allDesc, "point"), allDesc, 0).SetInt32(fieldNamed(pointDesc, "x"), 3)
	check := func(what string, s engine.Struct, d *schema.Struct, want string) {
		t.Helper()
		wire := s.AppendStruct([]byte("dst"), d)
		if string(wire[:3]) != "dst" {
			t.Errorf("%s: what was there has changed", what)
		}
		if got := render.Text(mustParse(t, d, wire[3:]), d); got != want {
			t.Errorf("%s: %s, want %s", what, got, want)
		}
	}
	check("being built", inner, allDesc, `{text: "inner", point: {x: 3, y: 0}}`)
	inner.SetText(fieldNamed(allDesc, "text"), "edited")
	check("edited", inner, allDesc, `{text: "edited", point: {x: 3, y: 0}}`)
	check("root", s, allDesc, `{self: {text: "edited", point: {x: 3, y: 0}}}`)
	check("innermost", inner.Child(fieldNamed(allDesc, "point"), allDesc), pointDesc, "{x: 3, y: 0}")
	got := mustParse(t, allDesc, s.Message().Bytes(), engine.Lazy).Child(fieldNamed(allDesc, "self"), allDesc)
	check("received", got, allDesc, `{text: "edited", point: {x: 3, y: 0}}`)
	check("absent", s.Child(fieldNamed(allDesc, "shape"), allDesc), shapeDesc, "{}")
	check("zero", engine.Struct{}, pointDesc, "{x: 0, y: 0}")
}
