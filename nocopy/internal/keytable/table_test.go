package keytable

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// keyList are the keys of one map or list, by number. It counts how often one was looked at.
type keyList struct {
	keys   []string // "" was deleted
	looked int
}

func (l *keyList) Key(_ uint32, _ *schema.Type, i uint32) []byte {
	l.looked++
	switch l.keys[i] {
	case "":
		return nil
	case "panic":
		panic("the key was changed")
	}
	return []byte(l.keys[i])
}

func (l *keyList) TextPairs(e, n uint32) ([]uint32, []byte) { return nil, nil }
func (l *keyList) Made(bool)                                {}
func (l *keyList) View(e uint32, t *schema.Type, i uint32)  {}
func (l *keyList) set(f *Finder, i int, key string)         { f.Change(l, 1, uint32(i)); l.keys[i] = key }
func (l *keyList) delete(f *Finder, i, j int) {
	f.Delete(1, uint32(i), uint32(j))
	l.keys = slices.Delete(l.keys, i, j)
}
func (l *keyList) find(f *Finder, t *schema.Type, k string) int {
	return f.Find(l, 1, t, uint32(len(l.keys)), []byte(k))
}

// slowly returns the number of the last key k, and how many keys come again later.
func (l *keyList) slowly(k string) (last, dups int) {
	last = -1
	seen := map[string]bool{}
	for i := len(l.keys) - 1; i >= 0; i-- {
		switch {
		case l.keys[i] == "":
		case seen[l.keys[i]]:
			dups++
		default:
			seen[l.keys[i]] = true
		}
		if l.keys[i] == k && last < 0 {
			last = i
		}
	}
	return last, dups
}

var textMap, textList = schema.MapOf(schema.TypeString, schema.TypeString), schema.ListOf(schema.TypeString)

// TestTable: the last pair with a key is found, and any element, in whichever order pairs and
// elements come, change and go.
func TestTable(t *testing.T) {
	for _, typ := range []*schema.Type{textMap, textList} {
		for seed := range uint64(50) {
			r := rand.New(rand.NewPCG(seed, 6))
			var f Finder
			l := &keyList{}
			kinds := 1 + int(seed)%20
			for step := range 400 {
				switch i := r.IntN(len(l.keys) + 1); {
				case i == len(l.keys) || r.IntN(4) == 0:
					k := fmt.Sprint("key ", r.IntN(2*kinds))
					if typ == textMap && r.IntN(2) == 0 {
						if last, _ := l.slowly(k); f.AddNew(l, 1, typ, uint32(len(l.keys)), []byte(k)) && last >= 0 {
							t.Fatalf("seed %d, step %d: %s is new, and at %d", seed, step, k, last)
						}
					}
					l.keys = append(l.keys, k)
				case r.IntN(3) == 0:
					l.set(&f, i, "")
				case r.IntN(50) == 0:
					f.Drop(1)
				case typ == textList && r.IntN(4) == 0:
					l.delete(&f, 0, min(i, 3))
				case typ == textList && r.IntN(4) == 0:
					l.delete(&f, max(i, len(l.keys)-3), len(l.keys))
				case typ == textList && r.IntN(10) == 0:
					l.delete(&f, i, i+1)
				default:
					l.set(&f, i, fmt.Sprint("key ", r.IntN(kinds)))
				}
				if len(l.keys) == 0 || r.IntN(3) == 0 {
					continue
				}
				k := fmt.Sprint("key ", r.IntN(kinds))
				got := l.find(&f, typ, k)
				want, dups := l.slowly(k)
				if typ == textMap && got != want || (got < 0) != (want < 0) || got >= 0 && l.keys[got] != k {
					t.Fatalf("%s, seed %d, step %d: %s is found at %d, not %d", typ, seed, step, k, got, want)
				}
				if n := uint32(len(l.keys)); typ == textMap && f.Repeated(l, 1, typ, n) != dups && !allDiffer(l, 1, typ, n) {
					t.Fatalf("seed %d, step %d: %d keys come again, not %d", seed, step, f.Repeated(l, 1, typ, n), dups)
				}
			}
		}
	}
}

// TestFewLooks: no choice of keys makes a table slow, nor does any order of changes that programs
// make: the keys looked at are a few for each, and lists stay short.
func TestFewLooks(t *testing.T) {
	const n = 20_000
	for name, key := range map[string]func(i int) string{
		"numbers":   func(i int) string { return fmt.Sprint(i) },
		"same ends": func(i int) string { return fmt.Sprintf("the same beginning %06d the same end", i) },
		"equal":     func(i int) string { return "equal" },
		"in pairs":  func(i int) string { return fmt.Sprint(i % (n / 2)) },
	} {
		t.Run(name, func(t *testing.T) {
			for _, typ := range []*schema.Type{textMap, textList} {
				var f Finder
				l := &keyList{}
				for i := range n {
					l.keys = append(l.keys, key(i))
				}
				check := func(what string, looks int) {
					t.Helper()
					if l.looked > looks {
						t.Errorf("%s: %s: %d keys were looked at, not %d", typ, what, l.looked, looks)
					}
					l.looked = 0
					for _, x := range f.table(1).heads {
						roots := 0
						for ; x != 0; x = f.table(1).links[x-1].next {
							roots++
						}
						if roots > 20 {
							t.Fatalf("%s: %s: %d links in a list", typ, what, roots)
						}
					}
				}
				for i := range n {
					l.find(&f, typ, key(i))
				}
				check("lookups", 4*n)
				for i := range n {
					l.set(&f, i, fmt.Sprint("other ", i))
					l.find(&f, typ, key(n-1-i))
				}
				check("changes and lookups", 8*n)
				for i := range n {
					l.set(&f, i, key(i))
					l.find(&f, typ, key(i))
				}
				check("and back", 8*n)
				for i := range n {
					l.set(&f, n-1-i, "")
					l.find(&f, typ, key(i))
				}
				check("deletions, last to first", 8*n)
				for i := range n {
					l.set(&f, n-1-i, "equal")
					l.find(&f, typ, key(i))
				}
				check("all made equal, last to first", 8*n)
				for i := range n {
					l.set(&f, i*7919%n, "equal again")
					l.find(&f, typ, "equal again")
				}
				check("all made equal, in any order", 32*n)
				if typ == textMap {
					continue
				}
				for i := range n / 2 {
					l.delete(&f, 0, 1)
					l.delete(&f, len(l.keys)-1, len(l.keys))
					if i%2 == 0 {
						l.keys = append(l.keys, key(i))
					}
					if len(l.keys) > 0 {
						l.find(&f, typ, key(i))
					}
				}
				check("the first and the last deleted", 8*n)
			}
		})
	}
}

// TestKeyThatPanics: a key that can't be read, since a trusted peer has changed it, leaves the
// table as it was. It is asked for again, and the others are found.
func TestKeyThatPanics(t *testing.T) {
	var f Finder
	l := &keyList{}
	for i := range 100 {
		l.keys = append(l.keys, fmt.Sprint(i))
	}
	for bad := range l.keys {
		key := l.keys[bad]
		f.Drop(1)
		l.keys[bad] = "panic"
		for range 2 {
			func() {
				defer func() {
					if recover() == nil {
						t.Error("there is no panic")
					}
				}()
				l.find(&f, textMap, "7")
			}()
		}
		l.keys[bad] = key
		for i, k := range l.keys {
			if got := l.find(&f, textMap, k); got != i {
				t.Fatalf("%s is found at %d, not %d", k, got, i)
			}
		}
		l.set(&f, bad, "other")
		l.set(&f, bad, key)
		for i, k := range l.keys {
			if got := l.find(&f, textMap, k); got != i {
				t.Fatalf("%s is found at %d, not %d, after %d was changed", k, got, i, bad)
			}
		}
	}
}
