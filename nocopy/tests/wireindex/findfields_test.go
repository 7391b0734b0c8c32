package wireindex_test

import (
	"bytes"
	"runtime"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/render"
)

const (
	// 8888: {"k": "vw"}
	contextField = "\x0d\x22\xb8\x0b\x0b\x00\x00\x00\x01\x00\x00\x00\x01k\x00\x00\x00\x02vw"
	// 8888: i32 9
	otherContext = "\x08\x22\xb8\x00\x00\x00\x09"
)

// openBytes returns what AddOpen adds, and Len of the Batch.
func openBytes(t *testing.T, s engine.Struct, cuts []engine.Cut) string {
	t.Helper()
	var b chain.Batch
	var out bytes.Buffer
	s.AddOpen(&b, cuts)
	n := b.Len()
	if n == 0 {
		return ""
	}
	if _, err := b.Write(&out); err != nil || out.Len() != n {
		t.Fatalf("%d bytes of %d: %v", out.Len(), n, err)
	}
	return out.String()
}

// TestFindFieldsEdited: a field is found after fields that were set, replaced, linked or removed.
func TestFindFieldsEdited(t *testing.T) {
	large := engine.New(allDesc)
	defer large.Release()
	large.SetText(fieldNamed(allDesc, "text"), strings.Repeat("x", 10_000))
	for i := range 100 {
		large.Child(fieldNamed(allDesc, "self"), allDesc)
		large.NewChild(fieldNamed(allDesc, "points"), allDesc, i)
	}
	wire := "\x0b\x00\x07\x00\x00\x00\x01t" + "\x0f\x00\x0d\x0a\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x01" + contextField + "\x00"
	for _, w := range ways(len(wire)) {
		for name, edit := range map[string]func(s engine.Struct){
			"none":   func(engine.Struct) {},
			"text":   func(s engine.Struct) { s.SetText(fieldNamed(allDesc, "text"), longText) },
			"large":  func(s engine.Struct) { s.SetText(fieldNamed(allDesc, "text"), strings.Repeat("y", 5000)) },
			"list":   func(s engine.Struct) { s.SetInt64s(fieldNamed(allDesc, "numbers"), allDesc, []int64{1, 2, 3}) },
			"linked": func(s engine.Struct) { s.SetChild(fieldNamed(allDesc, "self"), allDesc, large) },
			"unset":  func(s engine.Struct) { s.Unset(fieldNamed(allDesc, "text")); s.Unset(fieldNamed(allDesc, "numbers")) },
			"twice": func(s engine.Struct) {
				s.SetChild(fieldNamed(allDesc, "self"), allDesc, large)
				s.Child(fieldNamed(allDesc, "self"), allDesc).SetText(fieldNamed(allDesc, "text"), longText)
				s.SetInt32(fieldNamed(allDesc, "medium"), 3)
			},
			"compacted": func(s engine.Struct) { s.SetText(fieldNamed(allDesc, "text"), longText); s.Message().Compact() },
		} {
			s, err := w.Parse(allDesc, []byte(wire))
			if err != nil {
				t.Fatal(err)
			}
			edit(s)
			name = w.Name + ", " + name
			v, cuts := s.FindFields(8888)
			all := string(s.Message().Bytes())
			if string(v.Raw()) != contextField[3:] || len(cuts) != 1 || all[cuts[0].From:cuts[0].To] != contextField {
				t.Fatalf("%s: found %x at %v", name, v.Raw(), cuts)
			}
			want := strings.Replace(all, contextField, "", 1)
			if got := openBytes(t, s, cuts) + "\x00"; got != want {
				t.Fatalf("%s: %x, want %x", name, got, want)
			}
			before := render.Text(s, allDesc)
			if !s.RemoveFields(8888) || render.Text(s, allDesc) != before || string(s.Message().Bytes()) != want {
				t.Fatalf("%s: removed: %x, want %x", name, s.Message().Bytes(), want)
			}
			checkOutput(t, name, s.Message(), []byte(want))
			s.Release()
		}
	}
	if v, cuts := engine.Absent().FindFields(1); v.Type != 0 || cuts != nil {
		t.Errorf("an absent struct has %v", v)
	}
}

// TestFindFieldsWide: a field that comes 100,000 times in a row is one cut.
func TestFindFieldsWide(t *testing.T) {
	for _, between := range []string{"", "\x02\x00\x65\x01"} {
		const n = 100_000
		wire := strings.Repeat(otherContext+between, n) + "\x00"
		s := mustParse(t, emptyDesc, []byte(wire))
		want := n
		if between == "" {
			want = 1
		}
		if _, cuts := s.FindFields(8888); len(cuts) != want {
			t.Errorf("%d cuts, want %d", len(cuts), want)
		}
		if allocs := testing.AllocsPerRun(100, func() { s.FindField(8888) }); allocs > 0 {
			t.Errorf("%v allocations to find the first", allocs)
		}
		if !s.RemoveFields(8888) || string(s.Message().Bytes()) != strings.Repeat(between, n)+"\x00" {
			t.Errorf("not all are removed")
		}
		s.Release()
	}
}

func TestHasType(t *testing.T) {
	for wire, want := range map[string]bool{
		contextField[3:]: true, contextField[3:] + "x": false, contextField[3:19]: false, "": false, "\x0b\x0b\x00\x00\x00\x00": true, "\x0b\x0b\xff\xff\xff\xff": false,
	} {
		if got := engine.HasType(nocopy.WireMap, []byte(wire)); got != want {
			t.Errorf("%x is a map: %t", wire, got)
		}
	}
	for _, typ := range []nocopy.WireType{0, 1, 5, 7, 9, 17, 255} {
		if engine.HasType(typ, []byte{0}) {
			t.Errorf("there is no type %v", typ)
		}
	}
}

// TestFindFieldsCopiesLittle: if the value lies in several pieces it is copied, and not the rest
// of the message with it: that would be kept alive.
func TestFindFieldsCopiesLittle(t *testing.T) {
	const large = 4 << 20
	s := engine.New(allDesc)
	text := strings.Repeat("t", 2*engine.ReferSize) // has a piece of its own, after its length
	s.SetText(fieldNamed(allDesc, "text"), text)
	s.SetText(fieldNamed(allDesc, "blob"), strings.Repeat("d", large))
	s.Message().Finish()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	v, cuts := s.FindFields(int16(fieldNamed(allDesc, "text").Header()))
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > large/2 {
		t.Errorf("%d bytes are allocated", n)
	}
	if string(v.Raw()[4:]) != text || len(cuts) != 1 {
		t.Errorf("%d bytes, %v", len(v.Raw()), cuts)
	}
	s.Release()
}
