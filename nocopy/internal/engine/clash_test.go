package engine

import (
	"fmt"
	"testing"
)

// TestClashingKeys: tables go by the ends of keys until too many keys have the same ends; then by
// whole keys. No choice of keys makes lookups slow.
func TestClashingKeys(t *testing.T) {
	for _, c := range []struct {
		format string
		whole  int // of 6 tables
	}{
		{"%d", 0},
		{"a name of some length, %d", 0},
		{"%08d in front", 0},
		{"the same beginning %06d the same end", 6},
	} {
		t.Run(c.format, func(t *testing.T) {
			got := tablesOfWholeKeys(t, c.format, 0)
			if got != c.whole {
				// Hashes have a seed: now and then two keys have the same one, which counts at
				// each lookup. That other keys have, too, is most unlikely.
				got = tablesOfWholeKeys(t, c.format, 10_000)
			}
			if got != c.whole {
				t.Errorf("%d tables go by whole keys, not %d", got, c.whole)
			}
		})
	}
}

// tablesOfWholeKeys makes maps with keys from a number on, written in a format. It returns how
// many of their six tables go by whole keys.
func tablesOfWholeKeys(t *testing.T, format string, first int) (whole int) {
	const n = 3000
	key := func(i int) string { return fmt.Sprintf(format, first+i) }
	check := func(how string, s Struct) {
		t.Helper()
		texts := StringMap(s.Child(fieldNamed(clashDesc, "texts"), clashDesc))
		numbers := Map[string, int64, AsString, AsInt64](s.Child(fieldNamed(clashDesc, "numbers"), clashDesc))
		if texts.Len() != n || numbers.Len() != n {
			t.Errorf("%s: %d and %d pairs of %d", how, texts.Len(), numbers.Len(), n)
		}
		for i := range n {
			text, ok1 := texts.Get(key(i))
			number, ok2 := numbers.Get(key(i))
			if text != fmt.Sprint(i) || number != int64(i) || !ok1 || !ok2 {
				t.Fatalf("%s: %s is %q and %d", how, key(i), text, number)
			}
		}
		for k, v := range texts.All() {
			if got, _ := texts.Get(k); got != v {
				t.Errorf("%s: the first pair is %q: %q, Get finds %q", how, k, v, got)
			}
			break
		}
		if _, ok := texts.Get(key(n)); ok {
			t.Errorf("%s: a key that is not there is found", how)
		}
		tables := 0
		for _, tb := range s.m.keys.Tables() {
			tables++
			_, _, wholeKeys, mustRehash := tb.Stats()
			if wholeKeys {
				whole++
			}
			if mustRehash {
				t.Errorf("%s: after too many clashes still by the ends of keys", how)
			}
		}
		if tables != 2 {
			t.Errorf("%s: %d tables", how, tables)
		}
	}
	s := New(clashDesc)
	texts := StringMap(s.NewChild(fieldNamed(clashDesc, "texts"), clashDesc, 0))
	for i := range n {
		texts.Put(key(i), "before")
		texts.Put(key(i/2), fmt.Sprint(i/2))
	}
	for i := range n {
		texts.Put(key(i), fmt.Sprint(i))
	}
	numbers := Map[string, int64, AsString, AsInt64](s.NewChild(fieldNamed(clashDesc, "numbers"), clashDesc, 0))
	for i := range n {
		numbers.Put(key(i), int64(i))
	}
	check("built", s)
	check("parsed", mustParse(t, clashDesc, s.m.Bytes()))
	for range 10 { // deleted and put again, the same keys take more and more buckets
		for i := range n {
			numbers.Delete(key(i))
			numbers.Put(key(i), int64(i))
		}
	}
	check("changed", s)
	s.Release()
	return whole
}
