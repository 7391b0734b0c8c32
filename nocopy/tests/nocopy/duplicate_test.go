package nocopy_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/render"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// TestDuplicateKeys: if several pairs have the same key, the last one counts, in all functions, in
// small and large maps.
func TestDuplicateKeys(t *testing.T) {
	for _, n := range []int{2, 5, 16, 17, 18, 100, 1000} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			var wire strings.Builder
			fmt.Fprintf(&wire, "\x0d\x00\x10\x0b\x0a%s", be(3*n)) // each key three times
			want := map[string]int64{}
			for i := range 3 * n {
				key := fmt.Sprint("k", i%n)
				fmt.Fprintf(&wire, "%s%s\x00\x00\x00\x00%s", be(len(key)), key, be(i))
				want[key] = int64(i)
			}
			wire.WriteByte(0)
			for _, w := range []way{inOnePiece, with(inOnePiece, nocopy.Lazy, "lazy"), cutEvery(50)} {
				s, err := w.parse(allDesc, []byte(wire.String()))
				if err != nil {
					t.Fatal(err)
				}
				counts := nocopy.Map[string, int64, thriftimpl.AsString, thriftimpl.AsInt64](s.Child(fieldNamed(allDesc, "counts"), allDesc))
				read := func() map[string]int64 {
					got := map[string]int64{}
					for k, v := range counts.All() {
						if _, twice := got[k]; twice {
							t.Errorf("%d keys, %s: All yields %q twice", n, w.name, k)
						}
						got[k] = v
					}
					for k, v := range got {
						if other, ok := counts.Get(k); !ok || other != v {
							t.Errorf("%d keys, %s: All yields %d for %q, Get %d", n, w.name, v, k, other)
						}
					}
					if counts.Len() != len(got) {
						t.Errorf("%d keys, %s: Len is %d, All yields %d", n, w.name, counts.Len(), len(got))
					}
					return got
				}
				if diff := cmp.Diff(want, read()); diff != "" {
					t.Errorf("%d keys, %s (-want +got):\n%s", n, w.name, diff)
				}
				changed := map[string]int64{"new": 8}
				for k, v := range want {
					changed[k] = v
				}
				delete(changed, "k0")
				changed["k1"] = 7
				if !counts.Delete("k0") || counts.Delete("k0") {
					t.Errorf("%d keys, %s: a key that came three times is deleted once", n, w.name)
				}
				counts.Put("k1", 7)
				counts.Put("new", 8)
				if diff := cmp.Diff(changed, read()); diff != "" {
					t.Errorf("%d keys, %s, changed (-want +got):\n%s", n, w.name, diff)
				}
				again := mustParse(t, allDesc, s.Message().Bytes())
				counts = nocopy.Map[string, int64, thriftimpl.AsString, thriftimpl.AsInt64](again.Child(fieldNamed(allDesc, "counts"), allDesc))
				if diff := cmp.Diff(changed, read()); diff != "" {
					t.Errorf("%d keys, %s, changed and sent (-want +got):\n%s", n, w.name, diff)
				}
				again.Release()
				s.Release()
			}
		})
	}
}

// TestDuplicateFields: Unset removes every occurrence of a field; Set and New replace all of them.
func TestDuplicateFields(t *testing.T) {
	const (
		medium1 = "\x08\x00\x04\x00\x00\x00\x01"
		large1  = "\x0a\x00\x05\x00\x00\x00\x00\x00\x00\x00\x01"
		text1   = "\x0b\x00\x07\x00\x00\x00\x01a"
		words1  = "\x0f\x00\x0e\x0b\x00\x00\x00\x01\x00\x00\x00\x01w"
		point1  = "\x0c\x00\x0b\x08\x00\x01\x00\x00\x00\x01\x00"
		unknown = "\x08\x00\x64\x00\x00\x00\x01"
	)
	var (
		medium, large, text   = fieldNamed(allDesc, "medium"), fieldNamed(allDesc, "large"), fieldNamed(allDesc, "text")
		words, point, allText = fieldNamed(allDesc, "words"), fieldNamed(allDesc, "point"), "{medium: 1, large: 1, text: \"a\", point: {x: 1}, words: [\"w\"]}"
	)
	for _, order := range []string{
		medium1 + large1 + text1 + point1 + words1 + medium1 + large1 + text1 + point1 + words1,
		words1 + point1 + text1 + large1 + medium1 + unknown + medium1 + large1 + text1 + point1 + words1,
		medium1 + medium1 + medium1 + large1 + large1 + text1 + text1 + words1 + words1 + words1 + point1 + point1,
		large1 + medium1 + large1 + medium1 + text1 + words1 + text1 + words1 + point1 + text1 + point1,
	} {
		t.Run(order, func(t *testing.T) {
			wire := []byte(order + "\x00")
			for _, w := range ways(len(wire)) {
				s, err := w.parse(allDesc, wire)
				if err != nil {
					t.Fatal(err)
				}
				if got := render.Text(s, allDesc); got != allText {
					t.Fatalf("%x, %s: %s", order, w.name, got)
				}
				for _, f := range []thriftimpl.Field{medium, large, text, words, point} {
					s.Unset(f)
				}
				again := mustParse(t, allDesc, s.Message().Bytes())
				if got := render.Text(again, allDesc); got != "{}" {
					t.Fatalf("%x, %s: all unset, %s is left", order, w.name, got)
				}
				again.Release()
				s.SetInt64(large, 2)
				s.SetText(text, "b")
				nocopy.StringList(s.NewChild(words, allDesc, 1)).Set(0, "v")
				again = mustParse(t, allDesc, s.Message().Bytes())
				if got := render.Text(again, allDesc); got != `{large: 2, text: "b", words: ["v"]}` {
					t.Fatalf("%x, %s: set again: %s", order, w.name, got)
				}
				again.Release()
				s.Release()
			}
		})
	}
}
