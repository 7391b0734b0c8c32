package engine

import (
	"math"
	"testing"
)

// TestGenerationWraps: after 2³² contents a message counts them from 1 again, since 0 is for
// constants and values that are absent. It works as before, and handles of its last contents are
// stale.
func TestGenerationWraps(t *testing.T) {
	text := fieldNamed(allDesc, "text")
	wire := New(allDesc)
	wire.SetText(text, "some text")
	b := wire.m.AppendTo(nil)
	wire.Release()
	for name, begin := range map[string]func(m *Message) Struct{
		"built": func(m *Message) Struct {
			s := NewInto(allDesc, m, nil)
			s.SetText(text, "some text")
			return s
		},
		"parsed": func(m *Message) Struct {
			s, err := ParseInto(allDesc, m, b, nil)
			if err != nil {
				t.Fatal(err)
			}
			return s
		},
	} {
		var m Message
		begin(&m)
		m.gen = math.MaxUint32 - 1
		for i, want := range []uint64{math.MaxUint32, 1, 2} {
			last := m.Root()
			s := begin(&m)
			if m.gen != want {
				t.Errorf("%s: generation %d is %d", name, i, m.gen)
			}
			if got := s.Text(text); got != "some text" || !s.Valid() {
				t.Errorf("%s, generation %d: %q", name, m.gen, got)
			}
			s.SetInt32(fieldNamed(allDesc, "medium"), 7)
			if got := s.NewChild(fieldNamed(allDesc, "self"), allDesc, 0); !got.Valid() || s.Int32(fieldNamed(allDesc, "medium")) != 7 {
				t.Errorf("%s, generation %d: it can't be changed", name, m.gen)
			}
			panics(t, name, panicStale, func() { last.Text(text) })
		}
		m.Reset()
	}
	// A handle of the generation that 0 would be is not one of an absent struct.
	if empty.gen != 0 {
		t.Errorf("absent values are of generation %d", empty.gen)
	}
}
