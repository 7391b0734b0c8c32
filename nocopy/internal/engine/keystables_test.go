package engine

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/index"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// slowly returns what lookup of the key does, by looking at every pair or element, and how many
// pairs have the key of a later one.
func slowly(s Struct, t *schema.Type, k []byte) (found, dups int) {
	found = -1
	keys := map[string]bool{}
	for i := s.ListLen() - 1; i >= 0; i-- {
		have := s.m.keyBytes(s.entry(), t, uint32(i))
		if have == nil {
			continue
		}
		if found < 0 && bytes.Equal(have, k) {
			found = i
		}
		if keys[string(have)] {
			dups++
		}
		keys[string(have)] = true
	}
	return found, dups
}

// TestTables: tables know the contents of maps and sets of every type, with keys that came several
// times, after all kinds of changes: by the map's or set's methods, through handles of keys and
// elements, and through handles of values in those.
func TestTables(t *testing.T) {
	sizes := []int{16, 40}
	if testmode.Long {
		sizes = []int{3, 16, 17, 65, 200}
	}
	for _, k := range hostileKeys {
		t.Run(k.name, func(t *testing.T) {
			for _, kind := range []string{"map", "set"} {
				for _, order := range keyOrders {
					for _, n := range sizes {
						for seed := range uint64(2) {
							r := rand.New(rand.NewPCG(uint64(n), seed))
							changeTable(t, kind+k.name, k.typ, order.number, n, r)
							if t.Failed() {
								t.Fatalf("%s%s, %s, %d pairs or elements, seed %d", kind, k.name, order.name, n, seed)
							}
						}
					}
				}
			}
		})
	}
}

func changeTable(t *testing.T, name string, kt *schema.Type, number func(i, n int) int, n int, r *rand.Rand) {
	f := fieldNamed(keyed, name)
	ft := keyed.FieldOf(f).Type
	data := []byte(fieldHead(keyed, name))
	if ft.Kind() == schema.Dict {
		data = append(data, byte(kt.Wire()))
	}
	data = wire.AppendBE32(append(data, byte(ft.Elem().Wire())), uint32(n))
	if ft.Kind() == schema.List {
		data = wire.AppendBE32(append([]byte(fieldHead(keyed, name)), byte(kt.Wire())), uint32(n))
	}
	for i := range n {
		data = appendValueOf(data, kt, number(i, n))
		if ft.Kind() == schema.Dict {
			data = append(data, one+"v"...)
		}
	}
	opts := [][]Option{nil, {Own}, {Lazy}, {Recycle, Own}}[r.IntN(4)]
	root := mustParse(t, keyed, append(data, 0), opts...)
	defer root.Release()
	s := root.Child(f, keyed)
	h := &hostile{root: root, desc: keyed, fresh: 5}
	var handles []Struct // of keys and elements, also of such as are gone
	check := func(step int, k encoded) {
		b := k.bytes()
		if k.view.m != nil {
			b = bytes.Clone(k.view.wireAs(kt))
		}
		s.m.closeElements(s.entry())
		got := s.m.lookup(s.entry(), ft, b)
		want, dups := slowly(s, ft, b)
		switch {
		case ft.Kind() == schema.List && got >= 0 && want >= 0: // any will do
		case got != want:
			t.Errorf("step %d: %q is found at %d, not %d", step, b, got, want)
		}
		if ft.Kind() == schema.Dict {
			if ft.OfViews() {
				dups = 0 // each counts
			}
			live, yielded := s.ListLen()-int(s.m.editOf(s.entry()).dead)-dups, 0
			s.eachPair(func(index.Word, index.Word) bool { yielded++; return true })
			if s.MapLen() != live || yielded != live {
				t.Errorf("step %d: Len is %d, All yields %d, not %d", step, s.MapLen(), yielded, live)
			}
		}
	}
	some := func() encoded { // one that is there mostly
		if r.IntN(4) == 0 || s.ListLen() == 0 {
			return value(kt, r.IntN(2*n))
		}
		i := r.IntN(s.ListLen())
		if ft.Kind() == schema.Dict && s.pairAt(i).Key() == 0 {
			return value(kt, i)
		}
		return keyAt(s, ft, i)
	}
	for step := range 120 {
		k := some()
		switch class := r.IntN(14); {
		case class < 2 && ft.Kind() == schema.Dict:
			PutPair[encoded, encoded, raw, raw](s, k, value(schema.TypeString, step))
		case class < 6 && ft.Kind() == schema.Dict:
			b := k.bytes()
			if k.view.m != nil {
				b = bytes.Clone(k.view.wireAs(kt))
			}
			was, _ := slowly(s, ft, b)
			if got := remove(s, k); got != (was >= 0) {
				t.Errorf("step %d: Delete is %v, the key was at %d", step, got, was)
			}
		case class < 7 && ft.Kind() == schema.Dict:
			AppendNewPair[encoded, encoded, raw, raw](s)
		case class < 4 && s.ListLen() > 0:
			h.set(s, ft, r.IntN(s.ListLen()), k)
		case class < 6:
			if ft.Kind() == schema.List && !contains(s, ft, k) {
				h.append(s, ft)
			}
		case class < 8 && kt.Kind() >= schema.Record && s.ListLen() > 0:
			// a handle, whose contents may be changed now and later
			i := r.IntN(s.ListLen())
			if ft.Kind() == schema.List {
				handles = append(handles, at(s, ft, i))
			} else if w := s.pairAt(i).Key(); w != 0 {
				handles = append(handles, s.m.handle(w.Entry()))
			}
		case class < 10 && len(handles) > 0:
			changeInside(h, handles[r.IntN(len(handles))], kt, r)
		case class < 11:
			root.m.Len()
		}
		if r.IntN(2) == 0 {
			check(step, some())
		}
		check(step, k)
		if t.Failed() {
			return
		}
	}
	clone := root.Clone(keyed)
	if got, want := TextOf(clone, keyed), TextOf(root, keyed); got != want {
		t.Errorf("sent as\n%s, not\n%s", got, want)
	}
	clone.Release()
}

// changeInside changes something in a struct or container, at any depth.
func changeInside(h *hostile, s Struct, t *schema.Type, r *rand.Rand) {
	all := h.within(s, t)
	x := all[r.IntN(len(all))]
	h.change(x.Struct, x.t)
}

// within returns the handles of a struct or container and of all in it.
func (h *hostile) within(s Struct, t *schema.Type) []typedHandle {
	inner := &hostile{}
	inner.collect(s, t)
	return inner.all()
}

// TestTableStays: deleting and putting makes no table anew, however many pairs there are. No table
// grows with pairs that are deleted again.
func TestTableStays(t *testing.T) {
	for _, n := range []int{17, 32, 33, 63, 64, 65, 1024, 4095, 4096, 4097} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			for _, built := range []bool{true, false} {
				root := New(allDesc)
				counts := Map[string, int64, AsString, AsInt64](root.NewChild(fieldNamed(allDesc, "counts"), allDesc, 0))
				for i := range n {
					counts.Put(strconv.Itoa(i), int64(i))
				}
				if !built {
					wire := root.m.AppendTo(nil)
					root.Release()
					root = mustParse(t, allDesc, wire)
					counts = Map[string, int64, AsString, AsInt64](root.Child(fieldNamed(allDesc, "counts"), allDesc))
				}
				_, _ = counts.Get("0")
				e := Struct(counts).entry()
				grown := 0
				last, _ := root.m.keys.Stats(e)
				for i := range 3 * n {
					key := strconv.Itoa(i % n)
					if i >= n { // another one each time
						key = strconv.Itoa(i + n)
					}
					for range 1 + i%3 { // around a power of two
						counts.Put(key+"x", 1)
					}
					if !counts.Delete(key+"x") || counts.Delete(key+"x") || !counts.Delete(strconv.Itoa(i%n)) {
						t.Fatalf("%d pairs: %s can't be deleted", n, key)
					}
					counts.Put(strconv.Itoa(i%n), int64(i))
					if counts.Len() != n {
						t.Fatalf("%d pairs: %d", n, counts.Len())
					}
					if now, _ := root.m.keys.Stats(e); now != last {
						grown, last = grown+1, now
					}
				}
				_, _ = counts.Get("0")
				lists, linked := root.m.keys.Stats(e)
				if grown > 1 || lists > 2*max(n, 64) || linked != n || Struct(counts).ListLen() > n+1 {
					t.Errorf("%d pairs: the table grew %d times, to %d lists of %d; the map has room for %d", n, grown, lists, linked, Struct(counts).ListLen())
				}
				root.Release()
			}
		})
	}
}
