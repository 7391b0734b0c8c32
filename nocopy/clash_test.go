package nocopy

import (
	"fmt"
	"testing"
)

// clashDesc has a map of texts, whose keys are put without codecs, and one of numbers.
var clashDesc = func() *XDesc {
	d := newStructDesc("Clash")
	d.Define(
		XFieldDesc{ID: 1, Name: "texts", Type: mapTypeOf(typeString, typeString)},
		XFieldDesc{ID: 2, Name: "numbers", Type: mapTypeOf(typeString, typeI64)},
	)
	return d
}()

// TestClashingKeys: tables go by the ends of keys until too many keys have the same; then by whole
// keys, so that no choice of keys makes looking for them slow.
func TestClashingKeys(t *testing.T) {
	const n = 3000
	for _, c := range []struct {
		format string
		strong bool
	}{
		{"%d", false},
		{"a name of some length, %d", false},
		{"%08d in front", false},
		{"the same beginning %06d the same end", true},
	} {
		key := func(i int) string { return fmt.Sprintf(c.format, i) }
		check := func(how string, s XStruct) {
			t.Helper()
			texts := StringMap(s.Child(clashDesc.named("texts"), clashDesc))
			numbers := Map[string, int64, XAsString, XAsInt64](s.Child(clashDesc.named("numbers"), clashDesc))
			if texts.Len() != n || numbers.Len() != n {
				t.Errorf("%s, %s: %d and %d pairs of %d", c.format, how, texts.Len(), numbers.Len(), n)
			}
			for i := range n {
				text, ok1 := texts.Get(key(i))
				number, ok2 := numbers.Get(key(i))
				if text != fmt.Sprint(i) || number != int64(i) || !ok1 || !ok2 {
					t.Fatalf("%s, %s: %s is %q and %d", c.format, how, key(i), text, number)
				}
			}
			for k, v := range texts.All() {
				if got, _ := texts.Get(k); got != v {
					t.Errorf("%s, %s: the first pair is %q: %q, Get finds %q", c.format, how, k, v, got)
				}
				break
			}
			if _, ok := texts.Get(key(n)); ok {
				t.Errorf("%s, %s: a key that is not there is found", c.format, how)
			}
			if len(s.m.tables.made) != 2 {
				t.Errorf("%s, %s: %d tables", c.format, how, len(s.m.tables.made))
			}
			for _, tb := range s.m.tables.made {
				if tb.wholeKeys != c.strong || tb.needsWholeKeys() {
					t.Errorf("%s, %s: strong is %v after %d clashes", c.format, how, tb.wholeKeys, tb.clashes)
				}
			}
		}
		s := newStruct(clashDesc)
		texts := StringMap(s.NewChild(clashDesc.named("texts"), clashDesc, 0))
		for i := range n {
			texts.Put(key(i), "before")
			texts.Put(key(i/2), fmt.Sprint(i/2))
		}
		for i := range n {
			texts.Put(key(i), fmt.Sprint(i))
		}
		numbers := Map[string, int64, XAsString, XAsInt64](s.NewChild(clashDesc.named("numbers"), clashDesc, 0))
		for i := range n {
			numbers.Put(key(i), int64(i))
		}
		check("built", s)
		check("parsed", mustParse(t, clashDesc, s.m.Bytes()))
		for range 10 { // deleted and put again, the same keys take more and more slots
			for i := range n {
				numbers.Delete(key(i))
				numbers.Put(key(i), int64(i))
			}
		}
		check("changed", s)
		s.Release()
	}
}
