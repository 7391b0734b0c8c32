package containers_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
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
