package containers_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// filtered has the lists and the map of a message that tests delete elements of.
type filtered struct {
	words   nocopy.StringList
	points  nocopy.StructList[engine.Struct]
	matrix  nocopy.NestedList[nocopy.Int32List]
	numbers nocopy.Int64List
	counts  nocopy.Map[string, int64, thriftimpl.AsString, thriftimpl.AsInt64]
}

func filteredOf(s engine.Struct) filtered {
	child := func(name string) engine.Struct { return s.Child(fieldNamed(allDesc, name), allDesc) }
	return filtered{nocopy.StringList(child("words")), nocopy.StructList[engine.Struct](child("points")),
		nocopy.NestedList[nocopy.Int32List](child("matrix")), nocopy.Int64List(child("numbers")),
		nocopy.Map[string, int64, thriftimpl.AsString, thriftimpl.AsInt64](child("counts"))}
}

// newFiltered returns a message whose lists and map have n elements each.
func newFiltered(n int, opts ...engine.Option) engine.Struct {
	s := newStruct(allDesc, opts...)
	child := func(name string) engine.Struct { return s.NewChild(fieldNamed(allDesc, name), allDesc, 0) }
	x := fieldNamed(pointDesc, "x")
	words := nocopy.StringList(child("words"))
	for i := range n {
		words.Append(fmt.Sprint("word ", i))
	}
	points := nocopy.StructList[engine.Struct](child("points"))
	for i := range n {
		points.AppendNew().SetInt32(x, int32(i))
	}
	matrix := nocopy.NestedList[nocopy.Int32List](child("matrix"))
	for i := range n {
		matrix.AppendNew(1).Set(0, int32(i))
	}
	numbers := nocopy.Int64List(child("numbers"))
	for i := range n {
		numbers.Append(int64(i))
	}
	counts := nocopy.Map[string, int64, thriftimpl.AsString, thriftimpl.AsInt64](child("counts"))
	for i := range n {
		counts.Put(fmt.Sprint(i), int64(i))
	}
	return s
}

// deleteFunc removes the elements whose numbers in the original message del chooses.
func (l filtered) deleteFunc(del func(i int64) bool) {
	x := fieldNamed(pointDesc, "x")
	l.words.DeleteFunc(func(w string) bool {
		var i int64
		fmt.Sscanf(w, "word %d", &i)
		return del(i)
	})
	l.points.DeleteFunc(func(p engine.Struct) bool { return del(int64(p.Int32(x))) })
	l.matrix.DeleteFunc(func(v nocopy.Int32List) bool { return del(int64(v.At(0))) })
	l.numbers.DeleteFunc(del)
	l.counts.DeleteFunc(func(_ string, v int64) bool { return del(v) })
}

// check reports whether exactly these elements are left.
func (l filtered) check(want []int64) error {
	var words []string
	var points, matrix, counts []int64
	x := fieldNamed(pointDesc, "x")
	for _, i := range want {
		words = append(words, fmt.Sprint("word ", i))
	}
	for _, p := range l.points.All() {
		points = append(points, int64(p.Int32(x)))
	}
	for _, v := range l.matrix.All() {
		matrix = append(matrix, int64(v.At(0)))
	}
	for k, v := range l.counts.All() {
		if k != fmt.Sprint(v) {
			return fmt.Errorf("the value of %s is %d", k, v)
		}
		counts = append(counts, v)
	}
	for name, got := range map[string][]int64{"points": points, "matrix": matrix, "counts": counts, "numbers": l.numbers.AppendTo(nil)} {
		if !slices.Equal(got, want) {
			return fmt.Errorf("%s: %d are left, not %d", name, got, want)
		}
	}
	if got := l.words.AppendTo(nil); !slices.Equal(got, words) {
		return fmt.Errorf("words: %q are left, not %q", got, words)
	}
	return nil
}

// TestDeleteFuncManyWays: in whatever pieces a message is received, the right elements are left,
// after one DeleteFunc and after several.
func TestDeleteFuncManyWays(t *testing.T) {
	const n = 40
	wire := newFiltered(n).Message().AppendTo(nil)
	for _, way := range manyWays {
		for _, opts := range [][]engine.Option{nil, {nocopy.Recycle}, {nocopy.Lazy}} {
			for _, run := range []int64{1, 2, 5, 19} {
				s, err := way.Parse(allDesc, slices.Clone(wire), opts...)
				if err != nil {
					t.Fatal(err)
				}
				var want []int64
				for i := range int64(n) {
					want = append(want, i)
				}
				for _, del := range []func(i int64) bool{
					func(i int64) bool { return i/run%2 == 1 },
					func(i int64) bool { return i%3 == 0 },
					func(i int64) bool { return i > 30 },
					func(i int64) bool { return i < 5 },
				} {
					l := filteredOf(s)
					l.deleteFunc(del)
					want = slices.DeleteFunc(want, del)
					if err := l.check(want); err != nil {
						t.Fatalf("%s, runs of %d: %v", way.Name, run, err)
					}
					again, err := parseStruct(allDesc, s.Message().AppendTo(nil))
					if err != nil {
						t.Fatalf("%s, runs of %d: %v", way.Name, run, err)
					}
					if err := filteredOf(again).check(want); err != nil {
						t.Fatalf("%s, runs of %d, sent: %v", way.Name, run, err)
					}
				}
				s.Release()
			}
		}
	}
}

// TestDeleteFuncPieces: elements that stay next to each other are sent as one piece, and deleting
// neighbours takes one node.
func TestDeleteFuncPieces(t *testing.T) {
	wire := newFiltered(100).Message().AppendTo(nil)
	s := mustParse(t, allDesc, wire)
	filteredOf(s).words.DeleteFunc(func(w string) bool { return strings.Contains(w, "5") && len(w) == len("word 50") && w[5] == '5' })
	if n := s.Message().Nodes(); n > 2 { // one for the count
		t.Errorf("deleting elements 50 to 59 takes %d nodes", n)
	}
	var pieces int
	s.Message().Finish()
	for range engine.Buffer(s.Message()).AppendPieces(nil) {
		pieces++
	}
	if pieces > 4 { // before the count, the count, elements up to 49, those from 60 on
		t.Errorf("%d pieces are sent", pieces)
	}
}

// TestDeleteFuncAllocates: in messages that are recycled, the number of allocations does not
// depend on the number of elements.
func TestDeleteFuncAllocates(t *testing.T) {
	if !testmode.InOwnProcess(t) {
		return
	}
	if debugging || raceEnabled || !aliasing {
		t.Skip("builds for finding faults allocate more, and those without unsafe copy texts")
	}
	for name, deleteFunc := range map[string]func(l filtered, del func() bool){
		"texts":   func(l filtered, del func() bool) { l.words.DeleteFunc(func(string) bool { return del() }) },
		"structs": func(l filtered, del func() bool) { l.points.DeleteFunc(func(engine.Struct) bool { return del() }) },
		"lists":   func(l filtered, del func() bool) { l.matrix.DeleteFunc(func(nocopy.Int32List) bool { return del() }) },
		"numbers": func(l filtered, del func() bool) { l.numbers.DeleteFunc(func(int64) bool { return del() }) },
	} {
		count := func(n int) float64 {
			wire := newFiltered(n).Message().AppendTo(nil)
			var buf []byte
			filter := func() {
				s, err := parseStruct(allDesc, wire, nocopy.Lazy, nocopy.Recycle)
				if err != nil {
					panic(err)
				}
				i := 0
				deleteFunc(filteredOf(s), func() bool { i++; return i/5%2 == 0 })
				buf = s.Message().AppendTo(buf[:0])
				s.Release()
			}
			for range 10 { // messages of the pool keep memory
				filter()
			}
			return testing.AllocsPerRun(50, filter)
		}
		if few, many := count(100), count(5000); many > few+4 {
			t.Errorf("%s: of a list of 100 %v allocations, of one of 5,000 %v", name, few, many)
		}
	}
}

// TestDeleteFuncOfMany: deleting from a list of a million elements takes memory in proportion, and
// is done at once. (A loop of Delete would take hours.)
func TestDeleteFuncOfMany(t *testing.T) {
	const n = 1_000_000
	s := newStruct(allDesc)
	words := nocopy.StringList(s.NewChild(fieldNamed(allDesc, "words"), allDesc, n))
	points := nocopy.StructList[engine.Struct](s.NewChild(fieldNamed(allDesc, "points"), allDesc, n))
	s.Message().Finish()
	for _, list := range []struct {
		name   string
		delete func(func() bool)
		len    func() int
	}{
		{"texts", func(del func() bool) { words.DeleteFunc(func(string) bool { return del() }) }, words.Len},
		{"structs", func(del func() bool) { points.DeleteFunc(func(engine.Struct) bool { return del() }) }, points.Len},
	} {
		i := 0
		cost := allocated(func() { list.delete(func() bool { i++; return i%2 == 0 }) })
		if i != n || list.len() != n/2 || cost > 200*n {
			t.Errorf("%s: %d calls, %d are left, %d bytes", list.name, i, list.len(), cost)
		}
	}
	if got := mustParse(t, allDesc, s.Message().Bytes()); filteredOf(got).points.Len() != n/2 || filteredOf(got).words.Len() != n/2 {
		t.Error("others are sent")
	}
}

// TestDeleteFuncForEver: a message does not grow if elements are added to a list, and as many are
// deleted, again and again.
func TestDeleteFuncForEver(t *testing.T) {
	rounds := 3000
	if testmode.Long {
		rounds = 20_000
	}
	x := fieldNamed(pointDesc, "x")
	s := newFiltered(100, nocopy.Recycle)
	defer s.Release()
	l := filteredOf(s)
	largest, early := 0, 0
	for round := range rounds {
		for i := range 50 {
			l.words.Append("a word that is a little longer")
			l.points.AppendNew().SetInt32(x, int32(i))
			l.matrix.AppendNew(2).Set(0, 5)
			l.numbers.Append(int64(i))
			l.counts.Put(fmt.Sprint(round, " ", i), int64(i))
		}
		i := 0
		half := func() bool { i++; return i%3 == 0 }
		l.words.DeleteFunc(func(string) bool { return half() })
		l.points.DeleteFunc(func(engine.Struct) bool { return half() })
		l.matrix.DeleteFunc(func(nocopy.Int32List) bool { return half() })
		l.numbers.DeleteFunc(func(int64) bool { return half() })
		l.counts.DeleteFunc(func(string, int64) bool { return half() })
		largest = max(largest, engine.Buffer(s.Message()).Footprint())
		if round == rounds/2 {
			early = largest
		}
	}
	if n := l.words.Len(); n > 200 || largest > 16<<20 || largest > early*3/2 {
		t.Errorf("%d words; the message takes %d bytes after half of the rounds, then %d", n, early, largest)
	}
	s.Message().Finish()
	if _, err := parseStruct(allDesc, s.Message().AppendTo(nil)); err != nil {
		t.Error(err)
	}
}

// TestDeleteFuncReplaced: elements that were set before, and so are in nodes, are removed alone
// and together with neighbours.
func TestDeleteFuncReplaced(t *testing.T) {
	wire := newFiltered(10).Message().AppendTo(nil)
	x := fieldNamed(pointDesc, "x")
	for _, run := range []int64{1, 2, 3} {
		s := mustParse(t, allDesc, wire)
		l := filteredOf(s)
		for _, i := range []int{0, 3, 4, 9} {
			l.words.Set(i, fmt.Sprint("word ", i))
			point := newStruct(pointDesc)
			point.SetInt32(x, int32(i))
			l.points.Set(i, point)
			l.matrix.NewAt(i, 2).Set(0, int32(i))
		}
		del := func(i int64) bool { return i >= 3 && i < 3+run || i == 0 || i == 9 }
		l.deleteFunc(del)
		want := slices.DeleteFunc([]int64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, del)
		if err := l.check(want); err != nil {
			t.Errorf("runs of %d: %v", run, err)
		}
		if err := filteredOf(mustParse(t, allDesc, s.Message().AppendTo(nil))).check(want); err != nil {
			t.Errorf("runs of %d, sent: %v", run, err)
		}
	}
}

// TestDeleteFuncFinishes: the function may finish a message that carries an index, which is then
// made anew.
func TestDeleteFuncFinishes(t *testing.T) {
	const n = 2000
	s := newFiltered(n, nocopy.WithIndex)
	del := func(i int64) bool { s.Message().Finish(); return i%2 == 0 }
	var want []int64
	for i := int64(1); i < n; i += 2 {
		want = append(want, i)
	}
	filteredOf(s).deleteFunc(func(i int64) bool {
		if i%100 == 0 {
			return del(i)
		}
		return i%2 == 0
	})
	got, err := parseStruct(allDesc, s.Message().AppendTo(nil), nocopy.RequireIndex)
	if err != nil {
		t.Fatal(err)
	}
	if err := filteredOf(got).check(want); err != nil {
		t.Error(err)
	}
	if err := got.Message().Index(); err != nil {
		t.Error(err)
	}
}

// TestDeleteFuncAppended: elements that were received and ones that were added are deleted
// together.
func TestDeleteFuncAppended(t *testing.T) {
	s := mustParse(t, allDesc, newFiltered(10).Message().AppendTo(nil))
	l := filteredOf(s)
	x := fieldNamed(pointDesc, "x")
	for i := 10; i < 14; i++ {
		l.words.Append(fmt.Sprint("word ", i))
		l.points.AppendNew().SetInt32(x, int32(i))
		l.matrix.AppendNew(1).Set(0, int32(i))
		l.numbers.Append(int64(i))
		l.counts.Put(fmt.Sprint(i), int64(i))
	}
	l.deleteFunc(func(i int64) bool { return i > 7 && i < 12 })
	want := []int64{0, 1, 2, 3, 4, 5, 6, 7, 12, 13}
	if err := l.check(want); err != nil {
		t.Error(err)
	}
	if err := filteredOf(mustParse(t, allDesc, s.Message().AppendTo(nil))).check(want); err != nil {
		t.Errorf("sent: %v", err)
	}
}

// TestDeleteFuncOfElement: a list that is an element of another one is found there by its new
// contents, even if the function has looked for it by the old ones.
func TestDeleteFuncOfElement(t *testing.T) {
	s := newFiltered(40) // enough for a table
	matrix := filteredOf(s).matrix
	inner, other := matrix.At(5), filteredOf(newFiltered(1)).matrix.At(0)
	inner.Append(100)
	other.Set(0, 100)
	inner.DeleteFunc(func(v int32) bool {
		if matrix.Contains(other) {
			t.Error("the new contents are found too early")
		}
		return v == 5
	})
	if !matrix.Contains(other) {
		t.Error("the new contents are not found")
	}
}
