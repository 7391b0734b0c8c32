package edits_test

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/render"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/internal/handles"
)

func stateOf(t *testing.T, state string) engine.Struct {
	t.Helper()
	var opts []engine.Option
	if strings.HasSuffix(state, "recycled") {
		opts = append(opts, engine.Recycle)
	}
	wire := handles.Wire()
	if strings.HasPrefix(state, "received") {
		return mustParse(t, allDesc, wire, opts...)
	}
	s := engine.New(allDesc, opts...)
	fill(s)
	if state == "cloned" {
		return s.Clone(allDesc)
	}
	return s
}

// checkSent checks that a message is sent with the values that getters return.
func checkSent(t *testing.T, what string, s engine.Struct) {
	t.Helper()
	s.Message().Finish()
	got := mustParse(t, allDesc, s.Message().AppendTo(nil))
	if a, b := render.Text(s, allDesc), render.Text(got, allDesc); a != b {
		t.Errorf("%s: reads as\n%.2000s\nis sent as\n%.2000s", what, a, b)
	}
	got.Release()
}

// TestCompact: handles of values that are in the message stay valid, others read as absent.
func TestCompact(t *testing.T) {
	for _, state := range []string{"received", "received, recycled", "built", "built, recycled", "cloned"} {
		t.Run(state, func(t *testing.T) {
			s := stateOf(t, state)
			point := s.Child(fieldNamed(allDesc, "point"), allDesc)
			points := nocopy.StructList[engine.Struct](s.Child(fieldNamed(allDesc, "points"), allDesc))
			counts := nocopy.Map[string, int64, engine.AsString, engine.AsInt64](s.Child(fieldNamed(allDesc, "counts"), allDesc))
			words := nocopy.StringList(s.Child(fieldNamed(allDesc, "words"), allDesc))
			gone := s.Child(fieldNamed(allDesc, "self"), allDesc)
			if !gone.Valid() {
				gone = s.NewChild(fieldNamed(allDesc, "self"), allDesc, 0)
			}
			goneList := nocopy.StringList(gone.NewChild(fieldNamed(allDesc, "words"), allDesc, 3))
			goneList.Set(1, "x")
			s.NewChild(fieldNamed(allDesc, "self"), allDesc, 0).SetText(fieldNamed(allDesc, "text"), "new")
			if goneList.At(1) != "x" {
				t.Errorf("%s: what was replaced reads %q", state, goneList.At(1))
			}
			before := render.Text(s, allDesc)
			s.Message().Compact()
			if got := render.Text(s, allDesc); got != before {
				t.Errorf("%s: was\n%s, is\n%s", state, before, got)
			}
			checkSent(t, state, s)
			if s.Message().Nodes() != 0 {
				t.Errorf("%s: %d nodes", state, s.Message().Nodes())
			}
			point.SetInt32(fieldNamed(pointDesc, "x"), 77)
			points.AppendNew().SetInt32(fieldNamed(pointDesc, "x"), 78)
			counts.Put("new", 79)
			words.Append("80")
			for _, want := range []string{"x: 77", "x: 78", `"new": 79`, `"80"`} {
				if got := render.Text(s, allDesc); !strings.Contains(got, want) {
					t.Errorf("%s: %s is not in %s", state, want, got)
				}
			}
			checkSent(t, state+", changed", s)
			if gone.Valid() || gone.Text(fieldNamed(allDesc, "text")) != "" || goneList.Len() != 0 || render.Text(gone, allDesc) != "{}" || goneList.String() != "[]" {
				t.Errorf("%s: what is gone reads as %v, %s, %s", state, gone.Valid(), render.Text(gone, allDesc), goneList)
			}
			panics(t, "setting in what is gone", panicGone, func() { gone.SetText(fieldNamed(allDesc, "text"), "x") })
			panics(t, "setting a number in what is gone", panicGone, func() { gone.SetInt64(fieldNamed(allDesc, "large"), 1) })
			panics(t, "appending to what is gone", panicGone, func() { goneList.Append("x") })
			if c := gone.Clone(allDesc); render.Text(c, allDesc) != "{}" {
				t.Errorf("%s: a clone of what is gone: %s", state, render.Text(c, allDesc))
			}
			s.SetChild(fieldNamed(allDesc, "self"), allDesc, gone)
			checkSent(t, state+", with a copy of what is gone", s)
			s.Message().Compact()
			checkSent(t, state+", compacted again", s)
			s.Release()
		})
	}
	panics(t, "of an absent message", "nocopy: Repack of an absent struct, or of a constant of the IDL", func() { engine.Struct{}.Message().Compact() })
}

// TestEntryUsedAgain: a map that gets the entry of one that was being filled has keys of its own.
func TestEntryUsedAgain(t *testing.T) {
	counts := fieldNamed(allDesc, "counts")
	from := engine.New(allDesc)
	nocopy.Map[string, int64, engine.AsString, engine.AsInt64](from.NewChild(counts, allDesc, 0)).Put("a", 1)
	s := engine.New(allDesc)
	nocopy.Map[string, int64, engine.AsString, engine.AsInt64](s.NewChild(counts, allDesc, 4)).Put("b", 2)
	s.Unset(counts)
	s.Message().Compact()
	s.SetChild(counts, allDesc, from.Child(counts, allDesc))
	c := nocopy.Map[string, int64, engine.AsString, engine.AsInt64](s.Child(counts, allDesc))
	c.Put("a", 3)
	if got := s.AppendStruct(nil, allDesc); c.Len() != 1 || bytes.Count(got, []byte("\x01a")) != 1 {
		t.Errorf("a key that was put twice is there twice: %s", render.Text(s, allDesc))
	}
}

// TestPositionsSuffice: values of many MiB that are referred to use up positions, but a value that
// fits finds some.
func TestPositionsSuffice(t *testing.T) {
	block := make([]byte, 64<<20)
	s := engine.New(allDesc)
	s.SetText(fieldNamed(allDesc, "text"), "kept")
	for i := range 50 {
		s.SetBytes(fieldNamed(allDesc, "blob"), block[:len(block)-i])
	}
	blobs := nocopy.BytesList(s.NewChild(fieldNamed(allDesc, "blobs"), allDesc, 2))
	for i := range 50 {
		blobs.Set(i%2, block[:2<<20+i])
		blobs.Append(block[:1<<20])
		blobs.Truncate(2)
	}
	if s.Text(fieldNamed(allDesc, "text")) != "kept" || len(s.Bytes(fieldNamed(allDesc, "blob"))) != len(block)-49 || len(blobs.At(1)) != 2<<20+49 {
		t.Error("not what was set")
	}
	if want := 64<<20 + 4<<20; s.Message().Len() < want || s.Message().Len() > want+1000 {
		t.Errorf("%d bytes", s.Message().Len())
	}
}

// TestLargeEdits: a value of many MiB replaces another, again and again. In the long form they are
// GiBs in all, more than an int32 can count.
func TestLargeEdits(t *testing.T) {
	if raceEnabled || math.MaxInt == math.MaxInt32 {
		t.Skip("takes GiBs")
	}
	block, times := make([]byte, testmode.Of(32<<20, 700<<20)), 4
	s := engine.New(allDesc)
	s.SetText(fieldNamed(allDesc, "text"), "kept")
	blobs := nocopy.BytesList(s.NewChild(fieldNamed(allDesc, "blobs"), allDesc, 1))
	for i := range times {
		s.SetBytes(fieldNamed(allDesc, "blob"), block[:len(block)-i])
	}
	s.SetBytes(fieldNamed(allDesc, "blob"), nil)
	for i := range times {
		blobs.Set(0, block[:len(block)-i])
	}
	if s.Text(fieldNamed(allDesc, "text")) != "kept" || len(blobs.At(0)) != len(block)-times+1 {
		t.Error("not what was set")
	}
}

// TestDuplicatesWhenCompacted: if a field comes twice only the last one is left, also in unions
// with unknown fields.
func TestDuplicatesWhenCompacted(t *testing.T) {
	wire := "\x0b\x00\x07" + one + "a" + "\x0c\x00\x0b\x08\x00\x01" + one + "\x00" + "\x0b\x00\x07" + one + "b" + unkText + one + "u" +
		"\x0c\x00\x0c" + unkText + one + "v" + "\x0b\x00\x03" + one + "x" + unkText + one + "w" + "\x0b\x00\x03" + one + "y" + "\x00" +
		"\x0c\x00\x0b\x08\x00\x01" + two + "\x00" + "\x0f\x00\x0d\x08" + one + one + stop
	for _, w := range manyWays {
		t.Run(w.Name, func(t *testing.T) {
			s, err := w.Parse(allDesc, []byte(wire))
			if err != nil {
				t.Fatal(err)
			}
			before := render.Text(s, allDesc)
			unknown := func() (n int) {
				for range s.Unknown(allDesc) {
					n++
				}
				return n
			}
			n := unknown()
			s.Message().Compact()
			u := s.Child(fieldNamed(allDesc, "shape"), allDesc)
			if got := render.Text(s, allDesc); got != before || unknown() != n || u.Which() != int32(fieldNamed(shapeDesc, "label").Number()) {
				t.Errorf("%s: was\n%s with %d unknown, is\n%s with %d, %d", w.Name, before, n, got, unknown(), u.Which())
			}
			checkSent(t, w.Name, s)
			s.Message().Compact()
			u.Arm(fieldNamed(shapeDesc, "radius"), shapeDesc).SetFloat64(fieldNamed(shapeDesc, "radius"), 1)
			u.SetFloat64(fieldNamed(shapeDesc, "radius"), 2)
			if got := u.AppendStruct(nil, shapeDesc); string(got) != "\x04\x00\x01\x40\x00\x00\x00\x00\x00\x00\x00\x00" {
				t.Errorf("%s: the union goes out as %x", w.Name, got)
			}
			s.Unset(fieldNamed(allDesc, "text"))
			if got := mustParse(t, allDesc, s.Message().Bytes()); got.Has(fieldNamed(allDesc, "text")) {
				t.Errorf("%s: a field that was removed is there again", w.Name)
			}
			s.Release()
		})
	}
}
