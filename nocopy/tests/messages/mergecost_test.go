package messages_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"runtime"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/dynamic"
	"github.com/nocopythrift/nocopythrift/nocopy/messages"
)

const costIDL = `
struct K { 1: optional i32 a }
struct R { 1: map<K,K> structs, 2: map<string,K> texts, 3: map<list<i32>,i32> lists, 4: map<set<i32>,string> sets, 5: map<map<i32,i32>,i32> maps }
struct N { 1: optional N next, 2: i32 value }`

func costType(t *testing.T, name string) dynamic.Type {
	t.Helper()
	s, err := dynamic.LoadText(map[string]string{"cost.thrift": costIDL})
	if err != nil {
		t.Fatal(err)
	}
	typ, _ := s.Struct(name)
	return typ
}

// allocated returns how many bytes f allocates.
func allocated(f func()) int {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int(after.TotalAlloc - before.TotalAlloc)
}

// equalPairs returns an R whose field, a map of these wire types, has n times the same pair.
func equalPairs(field, key, elem byte, pair string, n int) []byte {
	b := binary.BigEndian.AppendUint32([]byte{13, 0, field, key, elem}, uint32(n))
	return append(append(b, bytes.Repeat([]byte(pair), n)...), 0)
}

// TestMergeEqualKeys: pairs with equal keys that are structs or containers take no more memory to
// merge than those with equal texts. The last one counts.
func TestMergeEqualKeys(t *testing.T) {
	if !testmode.InOwnProcess(t) {
		return
	}
	const n = 20_000
	typ := costType(t, "R")
	texts := 0
	for _, c := range []struct {
		field     string
		id        byte
		key, elem byte
		pair      string
		left      int
	}{
		{"texts", 2, 11, 12, "\x00\x00\x00\x00\x00", 1},
		{"structs", 1, 12, 12, "\x00\x00", n},
		{"lists", 3, 15, 8, "\x08\x00\x00\x00\x00\x00\x00\x00\x01", n},
		{"sets", 4, 14, 11, "\x08\x00\x00\x00\x00\x00\x00\x00\x00", n},
		{"maps", 5, 13, 8, "\x08\x08\x00\x00\x00\x00\x00\x00\x00\x01", n},
	} {
		src, err := typ.Parse(equalPairs(c.id, c.key, c.elem, c.pair, n))
		if err != nil {
			t.Fatal(c.field, err)
		}
		dst := src.Clone()
		got := allocated(func() {
			messages.Merge(dst, src)
			dst.Message().Finish()
		}) / n
		if texts == 0 {
			texts = got
		}
		if got > 2*texts {
			t.Errorf("%s: %d bytes are allocated per pair, for texts %d", c.field, got, texts)
		}
		into := typ.New()
		messages.Merge(into, src)
		for what, m := range map[string]dynamic.Message{"a copy": dst, "a new message": into} {
			if v, _ := m.Get(c.field); v.Map().Len() != c.left {
				t.Errorf("%s: merged into %s there are %d pairs, want %d", c.field, what, v.Map().Len(), c.left)
			}
		}
		src.Release()
		dst.Release()
		into.Release()
	}
}

// TestMergeLastKey: of several pairs with equal struct keys the last one is merged, in the place
// that its key has in the other message.
func TestMergeLastKey(t *testing.T) {
	typ := costType(t, "R")
	for _, n := range []int{2, 5, 40} { // with a table of keys and without
		pair := func(k, v int) dynamic.Pair {
			return dynamic.Pair{Key: map[string]any{"a": k}, Value: map[string]any{"a": v}}
		}
		b := binary.BigEndian.AppendUint32([]byte{13, 0, 1, 12, 12}, uint32(2*n))
		for i := range 2 * n { // each key twice
			for _, x := range []int{i % n, i} {
				b = append(binary.BigEndian.AppendUint32(append(b, 8, 0, 1), uint32(x)), 0)
			}
		}
		src, err := typ.Parse(append(b, 0))
		if err != nil {
			t.Fatal(err)
		}
		dst, err := typ.FromMap(map[string]any{"structs": []dynamic.Pair{pair(1, -1), pair(-5, -5)}})
		if err != nil {
			t.Fatal(err)
		}
		messages.Merge(dst, src)
		pairs := []dynamic.Pair{pair(1, n+1), pair(-5, -5)}
		for i := range n {
			if i != 1 {
				pairs = append(pairs, pair(i, n+i))
			}
		}
		want, err := typ.FromMap(map[string]any{"structs": pairs})
		if err != nil {
			t.Fatal(err)
		}
		if !messages.Equal(dst, want) {
			t.Errorf("%d keys: %v\nnot %v", n, dst, want)
		}
		src.Release()
		dst.Release()
		want.Release()
	}
}

// TestMergeDeep: merging, copying and filtering structs that are nested deeper than the default
// limit takes memory in proportion to their depth, also if they have unknown fields, or are in
// several pieces.
func TestMergeDeep(t *testing.T) {
	if !testmode.InOwnProcess(t) {
		return
	}
	const perLevel = 4 << 10
	typ := costType(t, "N")
	limits := nocopy.Limits{MaxDepth: 1 << 16}
	for _, unknown := range []string{"", "\x08\x77\x77\x00\x00\x00\x01"} {
		for _, edited := range []bool{false, true} {
			for _, n := range []int{50, 5_000} {
				wire := append(bytes.Repeat([]byte("\x0c\x00\x01"), n), bytes.Repeat([]byte(unknown+"\x00"), n+1)...)
				parse := func() dynamic.Message {
					m, err := typ.Parse(wire, limits)
					if err != nil {
						t.Fatal(err)
					}
					return m
				}
				what := fmt.Sprintf("%d levels, unknown fields: %t, edited: %t", n, unknown != "", edited)
				check := func(operation string, f func(dst, src dynamic.Message)) {
					dst, src := parse(), parse()
					if edited {
						m := src
						for range n {
							v, _ := m.Get("next")
							m = v.Message()
						}
						if err := m.Set("value", 7); err != nil {
							t.Fatal(err)
						}
					}
					got := allocated(func() { f(dst, src) }) / n
					if got > perLevel && n > 1000 {
						t.Errorf("%s, %s: %d bytes are allocated per level", what, operation, got)
					}
					if n < 1000 && unknown == "" && !messages.Equal(dst, src) {
						t.Errorf("%s: %s gave another message", what, operation)
					}
					src.Release()
					dst.Release()
				}
				check("Merge", func(dst, src dynamic.Message) { messages.Merge(dst, src) })
				check("CopyInto", func(dst, src dynamic.Message) { messages.CopyInto(dst, src) })
				if !edited {
					check("Missing", func(_, src dynamic.Message) { src.Message().Missing() })
				}
			}
		}
	}
}
