package containers_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/nocopythrift/nocopythrift/nocopy"
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
				s, err := w.Parse(allDesc, []byte(wire.String()))
				if err != nil {
					t.Fatal(err)
				}
				counts := nocopy.Map[string, int64, thriftimpl.AsString, thriftimpl.AsInt64](s.Child(fieldNamed(allDesc, "counts"), allDesc))
				read := func() map[string]int64 {
					got := map[string]int64{}
					for k, v := range counts.All() {
						if _, twice := got[k]; twice {
							t.Errorf("%d keys, %s: All yields %q twice", n, w.Name, k)
						}
						got[k] = v
					}
					for k, v := range got {
						if other, ok := counts.Get(k); !ok || other != v {
							t.Errorf("%d keys, %s: All yields %d for %q, Get %d", n, w.Name, v, k, other)
						}
					}
					if counts.Len() != len(got) {
						t.Errorf("%d keys, %s: Len is %d, All yields %d", n, w.Name, counts.Len(), len(got))
					}
					return got
				}
				if diff := cmp.Diff(want, read()); diff != "" {
					t.Errorf("%d keys, %s (-want +got):\n%s", n, w.Name, diff)
				}
				changed := map[string]int64{"new": 8}
				for k, v := range want {
					changed[k] = v
				}
				delete(changed, "k0")
				changed["k1"] = 7
				if !counts.Delete("k0") || counts.Delete("k0") {
					t.Errorf("%d keys, %s: a key that came three times is deleted once", n, w.Name)
				}
				counts.Put("k1", 7)
				counts.Put("new", 8)
				if diff := cmp.Diff(changed, read()); diff != "" {
					t.Errorf("%d keys, %s, changed (-want +got):\n%s", n, w.Name, diff)
				}
				again := mustParse(t, allDesc, s.Message().Bytes())
				counts = nocopy.Map[string, int64, thriftimpl.AsString, thriftimpl.AsInt64](again.Child(fieldNamed(allDesc, "counts"), allDesc))
				if diff := cmp.Diff(changed, read()); diff != "" {
					t.Errorf("%d keys, %s, changed and sent (-want +got):\n%s", n, w.Name, diff)
				}
				again.Release()
				s.Release()
			}
		})
	}
}
