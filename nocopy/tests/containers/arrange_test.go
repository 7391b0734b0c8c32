package containers_test

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/internal/handles"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// pointList returns a list of points with these xs, in one of the possible states of lists.
func pointList(t *testing.T, state string, xs ...int32) (thriftimpl.Struct, nocopy.StructList[thriftimpl.Struct]) {
	t.Helper()
	f, x := fieldNamed(allDesc, "points"), fieldNamed(pointDesc, "x")
	var opts []nocopy.Option
	if strings.HasSuffix(state, "recycled") {
		opts = append(opts, nocopy.Recycle)
	}
	s := newStruct(allDesc, opts...)
	l := nocopy.StructList[thriftimpl.Struct](s.NewChild(f, allDesc, len(xs)))
	for i := range xs {
		l.At(i).SetInt32(x, xs[i])
	}
	name, _, _ := strings.Cut(state, ",")
	switch name {
	case "open":
	case "closed":
		s.Message().Finish()
	case "appended":
		l = nocopy.StructList[thriftimpl.Struct](s.NewChild(f, allDesc, 0))
		for i := range xs {
			if i == 1 {
				s.Message().Finish()
			}
			l.AppendNew().SetInt32(x, xs[i])
		}
	case "edited":
		s.Message().Finish()
		for i := range xs {
			v := newStruct(pointDesc)
			v.SetInt32(x, xs[i])
			v.SetInt32(fieldNamed(pointDesc, "y"), -1)
			l.Set(i, v)
		}
	default:
		how := opts
		if name == "lazy" {
			how = append(how, nocopy.Lazy)
		}
		s = mustParse(t, allDesc, s.Message().Bytes(), how...)
		l = nocopy.StructList[thriftimpl.Struct](s.Child(f, allDesc))
	}
	return s, l
}

var listStates = []string{"open", "closed", "appended", "edited", "received", "lazy", "open, recycled", "closed, recycled", "appended, recycled", "edited, recycled",
	"received, recycled", "lazy, recycled"}

// xsOf returns the xs of the points. It checks that the list in the message and its sent form
// agree.
func xsOf(t *testing.T, l nocopy.StructList[thriftimpl.Struct]) []int32 {
	t.Helper()
	read := func(l nocopy.StructList[thriftimpl.Struct]) []int32 {
		xs := []int32{}
		for i, p := range l.All() {
			if p != l.At(i) {
				t.Errorf("All gives %v as element %d, At %v", p, i, l.At(i))
			}
			xs = append(xs, p.Int32(fieldNamed(pointDesc, "x")))
		}
		return xs
	}
	xs := read(l)
	sent := mustParse(t, allDesc, messageOf(l).AppendTo(nil))
	if got := read(nocopy.StructList[thriftimpl.Struct](sent.Child(fieldNamed(allDesc, "points"), allDesc))); !slices.Equal(got, xs) {
		t.Errorf("reads as %v, is sent as %v", xs, got)
	}
	return xs
}

func TestArrangeStructs(t *testing.T) {
	byX := func(a, b thriftimpl.Struct) int {
		return cmp.Compare(a.Int32(fieldNamed(pointDesc, "x")), b.Int32(fieldNamed(pointDesc, "x")))
	}
	for _, state := range listStates {
		t.Run(state, func(t *testing.T) {
			for name, c := range map[string]struct {
				do   func(l nocopy.StructList[thriftimpl.Struct])
				want []int32
			}{
				"Swap":                 {func(l nocopy.StructList[thriftimpl.Struct]) { l.Swap(0, 3) }, []int32{40, 20, 30, 10}},
				"Swap with itself":     {func(l nocopy.StructList[thriftimpl.Struct]) { l.Swap(1, 1) }, []int32{10, 20, 30, 40}},
				"Swap twice":           {func(l nocopy.StructList[thriftimpl.Struct]) { l.Swap(0, 3); l.Swap(3, 0) }, []int32{10, 20, 30, 40}},
				"Delete the first":     {func(l nocopy.StructList[thriftimpl.Struct]) { l.Delete(0, 1) }, []int32{20, 30, 40}},
				"Delete in the middle": {func(l nocopy.StructList[thriftimpl.Struct]) { l.Delete(1, 3) }, []int32{10, 40}},
				"Delete the last":      {func(l nocopy.StructList[thriftimpl.Struct]) { l.Delete(3, 4) }, []int32{10, 20, 30}},
				"Delete all":           {func(l nocopy.StructList[thriftimpl.Struct]) { l.Delete(0, 4) }, []int32{}},
				"Delete none":          {func(l nocopy.StructList[thriftimpl.Struct]) { l.Delete(4, 4); l.Delete(0, 0) }, []int32{10, 20, 30, 40}},
				"Delete all but one":   {func(l nocopy.StructList[thriftimpl.Struct]) { l.Delete(0, 2); l.Delete(1, 2) }, []int32{30}},
				"Truncate":             {func(l nocopy.StructList[thriftimpl.Struct]) { l.Truncate(1) }, []int32{10}},
				"Truncate to nothing":  {func(l nocopy.StructList[thriftimpl.Struct]) { l.Truncate(0) }, []int32{}},
				"SortFunc": {func(l nocopy.StructList[thriftimpl.Struct]) {
					l.SortFunc(func(a, b thriftimpl.Struct) int { return -byX(a, b) })
				}, []int32{40, 30, 20, 10}},
				"Delete all, append": {func(l nocopy.StructList[thriftimpl.Struct]) {
					l.Truncate(0)
					l.AppendNew().SetInt32(fieldNamed(pointDesc, "x"), 5)
				}, []int32{5}},
				"append, swap, append": {func(l nocopy.StructList[thriftimpl.Struct]) { l.Append(l.At(1)); l.Swap(0, 4); l.Append(l.At(0)) }, []int32{20, 20, 30, 40, 10, 20}},
				"swap, edit, swap": {func(l nocopy.StructList[thriftimpl.Struct]) {
					l.Swap(0, 1)
					l.At(0).SetInt32(fieldNamed(pointDesc, "x"), 7)
					l.Swap(0, 2)
				}, []int32{30, 10, 7, 40}},
				"swap, set, sort": {func(l nocopy.StructList[thriftimpl.Struct]) { l.Swap(0, 1); l.Set(3, l.At(0)); l.SortFunc(byX) }, []int32{10, 20, 20, 30}},
				"delete, send, append": {func(l nocopy.StructList[thriftimpl.Struct]) {
					l.Delete(1, 2)
					messageOf(l).Len()
					l.Append(l.At(0))
					l.Swap(0, 2)
				}, []int32{40, 30, 10, 10}},
				"Swap neighbours": {func(l nocopy.StructList[thriftimpl.Struct]) { l.Swap(0, 1) }, []int32{20, 10, 30, 40}},
			} {
				s, l := pointList(t, state, 10, 20, 30, 40)
				c.do(l)
				if got := xsOf(t, l); !slices.Equal(got, c.want) {
					t.Errorf("%s, %s: %v, want %v", state, name, got, c.want)
				}
				other := newStruct(allDesc) // the list as a value
				other.SetChild(fieldNamed(allDesc, "points"), allDesc, thriftimpl.Struct(l))
				if got := xsOf(t, nocopy.StructList[thriftimpl.Struct](other.Child(fieldNamed(allDesc, "points"), allDesc))); !slices.Equal(got, c.want) {
					t.Errorf("%s, %s: copied: %v, want %v", state, name, got, c.want)
				}
				s.SetText(fieldNamed(allDesc, "text"), longText)
				if got := xsOf(t, l); !slices.Equal(got, c.want) {
					t.Errorf("%s, %s, and a text: %v, want %v", state, name, got, c.want)
				}
			}
		})
	}
}

// TestArrangedHandles: handles move with their elements. Handles of deleted elements read the old
// values, and changes through them are not sent.
func TestArrangedHandles(t *testing.T) {
	x := fieldNamed(pointDesc, "x")
	for _, state := range listStates {
		t.Run(state, func(t *testing.T) {
			s, l := pointList(t, state, 10, 20, 30, 40)
			first, second, last := l.At(0), l.At(1), l.At(3)
			l.Swap(0, 3)
			first.SetInt32(x, 11)
			last.SetInt32(x, 41)
			l.SortFunc(func(a, b thriftimpl.Struct) int { return cmp.Compare(a.Int32(x), b.Int32(x)) })
			if got := xsOf(t, l); !slices.Equal(got, []int32{11, 20, 30, 41}) || l.At(0).Int32(x) != 11 {
				t.Errorf("%s: %v", state, got)
			}
			l.Delete(1, 2)
			second.SetInt32(x, 99)
			if got := xsOf(t, l); !slices.Equal(got, []int32{11, 30, 41}) || second.Int32(x) != 99 {
				t.Errorf("%s: after Delete %v, and the deleted one %d", state, got, second.Int32(x))
			}
			// A handle of a place, and a handle that moves along, as documented.
			here := l.At(0)
			l.Set(0, l.At(1))
			l.Set(1, here)
			if got := xsOf(t, l); !slices.Equal(got, []int32{30, 30, 41}) {
				t.Errorf("%s: after Set %v", state, got)
			}
			s.Release()
		})
	}
}

// TestArrangeBounds: arguments out of range panic as with slices, and change nothing.
func TestArrangeBounds(t *testing.T) {
	s := mustParse(t, allDesc, handles.Wire())
	before := s.Message().AppendTo(nil)
	lists := map[string]interface {
		Len() int
		Swap(i, j int)
		Delete(i, j int)
		Truncate(n int)
	}{
		"structs": nocopy.StructList[thriftimpl.Struct](s.Child(fieldNamed(allDesc, "points"), allDesc)), "lists": nocopy.NestedList[nocopy.Int32List](s.Child(fieldNamed(allDesc, "matrix"), allDesc)),
		"strings": nocopy.StringList(s.Child(fieldNamed(allDesc, "words"), allDesc)), "binaries": nocopy.BytesList(s.Child(fieldNamed(allDesc, "blobs"), allDesc)),
		"numbers": nocopy.Int64List(s.Child(fieldNamed(allDesc, "numbers"), allDesc)), "bools": nocopy.BoolList(s.Child(fieldNamed(allDesc, "flags"), allDesc)),
		"uuids": nocopy.UUIDList(s.Child(fieldNamed(allDesc, "keys"), allDesc)),
	}
	for name, l := range lists {
		t.Run(name, func(t *testing.T) {
			n := l.Len()
			for what, f := range map[string]func(){
				"Swap(-1, 0)": func() { l.Swap(-1, 0) }, "Swap(0, n)": func() { l.Swap(0, n) }, "Swap(n, n)": func() { l.Swap(n, n) },
				"Delete(-1, 0)": func() { l.Delete(-1, 0) }, "Delete(0, n+1)": func() { l.Delete(0, n+1) }, "Delete(1, 0)": func() { l.Delete(1, 0) },
				"Truncate(-1)": func() { l.Truncate(-1) }, "Truncate(n+1)": func() { l.Truncate(n + 1) },
			} {
				func() {
					defer func() {
						err, ok := recover().(runtime.Error)
						if !ok || !strings.HasPrefix(err.Error(), "nocopy: ") {
							t.Errorf("%s of %s: %v", what, name, err)
						}
					}()
					f()
				}()
			}
		})
	}
	if !bytes.Equal(s.Message().AppendTo(nil), before) {
		t.Error("something has changed")
	}
	if got, want := (nocopy.BoundsError{Low: 3, High: 2, Len: 1}).Error(), "nocopy: bounds out of range [3:2] with length 1"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	l := nocopy.StringList(s.Child(fieldNamed(allDesc, "words"), allDesc))
	panics(t, "appending while sorting", "nocopy: list changed while it was sorted", func() {
		l.SortFunc(func(a, b string) int { l.Append("x"); return strings.Compare(a, b) })
	})
}

// TestArrangeCost: contents of elements are not copied, and repeated operations do not make the
// message grow.
func TestArrangeCost(t *testing.T) {
	const n = 20_000
	s := newStruct(allDesc)
	words := nocopy.StringList(s.NewChild(fieldNamed(allDesc, "words"), allDesc, n))
	r := rand.New(rand.NewPCG(1, 2))
	for i := range n {
		words.Set(i, fmt.Sprintf("%08d%s", r.Uint32(), strings.Repeat("x", 100)))
	}
	s = mustParse(t, allDesc, s.Message().Bytes())
	words = nocopy.StringList(s.Child(fieldNamed(allDesc, "words"), allDesc))
	comparisons := 0
	cost := allocated(func() {
		words.SortFunc(func(a, b string) int { comparisons++; return strings.Compare(a, b) })
	})
	if comparisons > 25*n || cost > 60*n && aliasing && !debugging {
		t.Errorf("sorting %d texts: %d comparisons, %d bytes", n, comparisons, cost)
	}
	if sorted := words.AppendTo(nil); !slices.IsSorted(sorted) || len(sorted) != n {
		t.Error("not sorted")
	}
	nodes := s.Message().Nodes()
	cost = allocated(func() {
		for i := range n / 2 {
			words.Swap(i, n-1-i)
			words.Delete(0, 1)
			words.Truncate(words.Len() - 1)
			words.Append("new")
			words.Swap(0, words.Len()-1)
		}
	})
	if nodes = s.Message().Nodes() - nodes; nodes > 8 || cost > 200*n {
		t.Errorf("%d nodes more, %d bytes", nodes, cost)
	}
	got := mustParse(t, allDesc, s.Message().Bytes())
	if a, b := words.AppendTo(nil), nocopy.StringList(got.Child(fieldNamed(allDesc, "words"), allDesc)).AppendTo(nil); !slices.Equal(a, b) {
		t.Error("is not sent as it reads")
	}
}

// TestPairsInFreeSlots: a loop over a map yields a pair that has taken the place of a deleted one
// next to another deleted one.
func TestPairsInFreeSlots(t *testing.T) {
	const n = 100
	s := newStruct(allDesc)
	m := nocopy.Map[string, int64, thriftimpl.AsString, thriftimpl.AsInt64](s.NewChild(fieldNamed(allDesc, "counts"), allDesc, 0))
	for i := range int64(n) {
		m.Put(fmt.Sprint("key", i), i)
	}
	for i := 4; i < 8; i++ {
		m.Delete(fmt.Sprint("key", i))
	}
	m.Put("new", n)
	got := map[string]int64{}
	for k, v := range m.All() {
		got[k] = v
	}
	if len(got) != n-3 || got["new"] != n || m.Len() != n-3 {
		t.Errorf("%d pairs of %d are yielded; the new one is %d", len(got), m.Len(), got["new"])
	}
	s.Release()
}
