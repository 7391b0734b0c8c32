package shapes_test

import (
	"bytes"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/nocopythrift/nocopythrift/gen/internal/shapes"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/messages"
	"github.com/nocopythrift/nocopythrift/nocopy/reflection"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// filter is a list, set or map of a subject, and its DeleteFunc.
type filter struct {
	name string
	// all returns the elements as texts
	all func(s *subject) []string
	// deleteFunc removes the elements for which del returns true, given their texts.
	deleteFunc func(s *subject, del func(text string) bool)
	// add adds an element, or replaces one of a map
	add func(s *subject)
}

// list is the interface of lists and sets of T.
type listOf[T any] interface {
	All() iter.Seq2[int, T]
	DeleteFunc(func(T) bool)
}

// mapOf is the interface of maps.
type mapOf[K, V any] interface {
	All() iter.Seq2[K, V]
	DeleteFunc(func(K, V) bool)
}

func filterOf[T any, L listOf[T]](name string, get func(s *subject) L, add func(l L)) filter {
	return filter{name, func(s *subject) (all []string) {
		for _, v := range get(s).All() {
			all = append(all, fmt.Sprint(v))
		}
		return all
	}, func(s *subject, del func(text string) bool) {
		get(s).DeleteFunc(func(v T) bool { return del(fmt.Sprint(v)) })
	}, func(s *subject) { add(get(s)) }}
}

func filterOfMap[K, V any, M mapOf[K, V]](name string, get func(s *subject) M, add func(m M)) filter {
	return filter{name, func(s *subject) (all []string) {
		for k, v := range get(s).All() {
			all = append(all, fmt.Sprint(k, ":", v))
		}
		return all
	}, func(s *subject, del func(text string) bool) {
		get(s).DeleteFunc(func(k K, v V) bool { return del(fmt.Sprint(k, ":", v)) })
	}, func(s *subject) { add(get(s)) }}
}

// filters are all kinds of lists, sets and maps.
var filters = []filter{
	filterOf("bools", func(s *subject) nocopy.BoolList { return s.lists.GetFlags() }, func(l nocopy.BoolList) { l.Append(true) }),
	filterOf("bytes", func(s *subject) nocopy.Int8List { return s.lists.GetTinies() }, func(l nocopy.Int8List) { l.Append(9) }),
	filterOf("i16", func(s *subject) nocopy.Int16List { return s.lists.GetSmalls() }, func(l nocopy.Int16List) { l.Append(9) }),
	filterOf("i32", func(s *subject) nocopy.Int32List { return s.lists.GetMediums() }, func(l nocopy.Int32List) { l.Append(9) }),
	filterOf("i64", func(s *subject) nocopy.Int64List { return s.lists.GetLarges() }, func(l nocopy.Int64List) { l.Append(9) }),
	filterOf("doubles", func(s *subject) nocopy.Float64List { return s.lists.GetReals() }, func(l nocopy.Float64List) { l.Append(9) }),
	filterOf("uuids", func(s *subject) nocopy.UUIDList { return s.lists.GetKeys() }, func(l nocopy.UUIDList) { l.Append(nocopy.UUID{9}) }),
	filterOf("enums", func(s *subject) nocopy.EnumList[shapes.Color] { return s.lists.GetColors() }, func(l nocopy.EnumList[shapes.Color]) { l.Append(9) }),
	filterOf("strings", func(s *subject) nocopy.StringList { return s.lists.GetTexts() }, func(l nocopy.StringList) { l.Append("added") }),
	filterOf("binaries", func(s *subject) nocopy.BytesList { return s.lists.GetBlobs() }, func(l nocopy.BytesList) { l.Append(bytes.Repeat([]byte("d"), 5000)) }),
	filterOf("structs", func(s *subject) nocopy.StructList[shapes.Point] { return s.lists.GetPoints() }, func(l nocopy.StructList[shapes.Point]) { l.AppendNew().SetX(5) }),
	filterOf("unions", func(s *subject) nocopy.StructList[shapes.Shape] { return s.lists.GetShapes() }, func(l nocopy.StructList[shapes.Shape]) { l.AppendNew().SetLabel("added") }),
	filterOf("lists", func(s *subject) nocopy.NestedList[nocopy.Int64List] { return s.lists.GetMatrix() }, func(l nocopy.NestedList[nocopy.Int64List]) { l.AppendNew(2) }),
	filterOf("lists of strings", func(s *subject) nocopy.NestedList[nocopy.StringList] { return s.lists.GetTable() }, func(l nocopy.NestedList[nocopy.StringList]) { l.AppendNew(1).Set(0, "added") }),
	filterOf("a set of i64", func(s *subject) nocopy.Int64List { return s.sets.GetLarges() }, func(l nocopy.Int64List) { l.Add(77) }),
	filterOf("a set of strings", func(s *subject) nocopy.StringList { return s.sets.GetTexts() }, func(l nocopy.StringList) { l.Add("added") }),
	filterOf("a set of structs", func(s *subject) nocopy.StructList[shapes.Point] { return s.sets.GetPoints() }, func(l nocopy.StructList[shapes.Point]) { l.AppendNew().SetX(77) }),
	filterOfMap("a map of strings", func(s *subject) nocopy.StringMap { return s.maps.GetToTexts() }, func(m nocopy.StringMap) { m.Put("added", "x") }),
	filterOfMap("a map by i64", func(s *subject) mapOf[int64, string] { return s.maps.GetByLarges() }, func(mapOf[int64, string]) {}),
	filterOfMap("a map to structs", func(s *subject) mapOf[string, shapes.Point] { return s.maps.GetToPoints() }, func(mapOf[string, shapes.Point]) {}),
	filterOfMap("a map to maps", func(s *subject) mapOf[string, nocopy.Map[string, int64, thriftimpl.AsString, thriftimpl.AsInt64]] {
		return s.maps.GetNested()
	}, func(mapOf[string, nocopy.Map[string, int64, thriftimpl.AsString, thriftimpl.AsInt64]]) {}),
	filterOf("reflection.List", func(s *subject) reflection.List { return list(s, "points") }, func(reflection.List) {}),
	filterOfMap("reflection.Map", func(s *subject) reflection.Map { return dictionary(s, "to_points") }, func(reflection.Map) {}),
}

// otherStates are more ways in which messages come.
var otherStates = []state{
	{"owned", func(t *testing.T) *subject { return copiedSubject(t, nocopy.Own) }},
	{"by index", func(t *testing.T) *subject {
		s := newSubject(nocopy.WithIndex)
		defer s.release()
		l, err1 := shapes.ParseLists(s.lists.Message().AppendTo(nil), nocopy.ByIndex)
		r, err2 := shapes.ParseSets(s.sets.Message().AppendTo(nil), nocopy.ByIndex, nocopy.Recycle)
		m, err3 := shapes.ParseMaps(s.maps.Message().AppendTo(nil), nocopy.ByIndex)
		if err1 != nil || err2 != nil || err3 != nil {
			t.Fatal(err1, err2, err3)
		}
		return &subject{l, r, m}
	}},
	{"compact", func(t *testing.T) *subject {
		s := newSubject()
		defer s.release()
		l, err1 := shapes.ParseLists(s.lists.Message().AppendCompact(nil), nocopy.Compact)
		r, err2 := shapes.ParseSets(s.sets.Message().AppendCompact(nil), nocopy.Compact, nocopy.Recycle)
		m, err3 := shapes.ParseMaps(s.maps.Message().AppendCompact(nil), nocopy.Compact)
		if err1 != nil || err2 != nil || err3 != nil {
			t.Fatal(err1, err2, err3)
		}
		return &subject{l, r, m}
	}},
	{"read", func(t *testing.T) *subject {
		read := func(b []byte) (io.Reader, int) { return iotest.OneByteReader(bytes.NewReader(b)), len(b) }
		r, n := read(received[0])
		l, err1 := shapes.ReadLists(r, n, nocopy.Recycle)
		r, n = read(received[1])
		sets, err2 := shapes.ReadSets(r, n)
		r, n = read(received[2])
		m, err3 := shapes.ReadMaps(r, n, nocopy.Recycle)
		if err1 != nil || err2 != nil || err3 != nil {
			t.Fatal(err1, err2, err3)
		}
		return &subject{l, sets, m}
	}},
	{"a clone", func(t *testing.T) *subject {
		s := parsedSubject(t)
		defer s.release()
		return &subject{s.lists.Clone(), s.sets.Clone(), s.maps.Clone()}
	}},
	{"repacked", func(t *testing.T) *subject {
		s := parsedSubject(t)
		s.edit("edited")
		s.lists.Message().Repack()
		s.sets.Message().Repack()
		s.maps.Message().Repack()
		return s
	}},
	{"finished", func(t *testing.T) *subject {
		s := newSubject()
		s.edit("edited")
		s.lists.Message().Finish()
		s.sets.Message().Finish()
		s.maps.Message().Finish()
		return s
	}},
}

// copiedSubject is parsedSubject of bytes that nobody else has.
func copiedSubject(t *testing.T, opts ...nocopy.Option) *subject {
	l, err1 := shapes.ParseLists(bytes.Clone(received[0]), opts...)
	s, err2 := shapes.ParseSets(bytes.Clone(received[1]), opts...)
	m, err3 := shapes.ParseMaps(bytes.Clone(received[2]), opts...)
	if err1 != nil || err2 != nil || err3 != nil {
		t.Fatal(err1, err2, err3)
	}
	return &subject{l, s, m}
}

// choices are the functions by which elements are chosen: the one number i of n.
var choices = map[string]func(i, n int) bool{
	"none":             func(i, n int) bool { return false },
	"all":              func(i, n int) bool { return true },
	"the first":        func(i, n int) bool { return i == 0 },
	"the last":         func(i, n int) bool { return i == n-1 },
	"all but the last": func(i, n int) bool { return i < n-1 },
	"every second":     func(i, n int) bool { return i%2 == 1 },
	"in pairs":         func(i, n int) bool { return i/2%2 == 0 },
}

// TestDeleteFunc: of every kind of list, set and map, in every state, the elements that are left
// are those that slices.DeleteFunc leaves. They are sent, and the message can be edited further.
func TestDeleteFunc(t *testing.T) {
	for _, f := range filters {
		t.Run(f.name, func(t *testing.T) {
			for _, state := range slices.Concat(states, otherStates) {
				for name, choose := range choices {
					for _, rounds := range []int{1, 3} {
						if err := f.check(state.make(t), choose, rounds); err != nil {
							t.Errorf("%s, %s, %d times: %v", state.name, name, rounds, err)
						}
					}
				}
			}
		})
	}
}

// check deletes elements, and adds one, so many times. It returns what is wrong.
func (f filter) check(s *subject, choose func(i, n int) bool, rounds int) error {
	defer s.release()
	for range rounds {
		before := f.all(s)
		n := len(before)
		var given, want []string
		f.deleteFunc(s, func(text string) bool {
			given = append(given, text)
			return choose(len(given)-1, n)
		})
		for i, text := range before {
			if !choose(i, n) {
				want = append(want, text)
			}
		}
		if !slices.Equal(given, before) {
			return fmt.Errorf("the function gets %s, not %s", given, before)
		}
		if got := f.all(s); !slices.Equal(got, want) {
			return fmt.Errorf("left are %s, not %s", got, want)
		}
		again := s.parse()
		if got := f.all(again); !slices.Equal(got, want) {
			return fmt.Errorf("sent are %s, not %s", got, want)
		}
		again.release()
		f.add(s)
	}
	s.lists.SetTimes([]int64{1})
	s.lists.GetTexts().Append("later")
	s.maps.GetToTexts().Put("later", "v")
	s.sets.GetTexts().Add("later")
	again := s.parse()
	defer again.release()
	if got, want := f.all(again), f.all(s); !slices.Equal(got, want) {
		return fmt.Errorf("after editing, sent are %s, not %s", got, want)
	}
	return nil
}

// parse returns the messages that are received when those of s are sent.
func (s *subject) parse() *subject {
	l, err1 := shapes.ParseLists(s.lists.Message().AppendTo(nil))
	r, err2 := shapes.ParseSets(s.sets.Message().AppendTo(nil))
	m, err3 := shapes.ParseMaps(s.maps.Message().AppendTo(nil))
	if err1 != nil || err2 != nil || err3 != nil {
		panic(fmt.Sprint(err1, err2, err3))
	}
	return &subject{l, r, m}
}

// TestDeleteFuncChanges: the function may change elements and look at the list. If the number of
// elements changes, or the message is released, DeleteFunc panics.
func TestDeleteFuncChanges(t *testing.T) {
	for _, f := range filters {
		for _, state := range states {
			s, twin := state.make(t), state.make(t)
			n := len(f.all(s))
			looked := 0
			f.deleteFunc(s, func(string) bool {
				if len(f.all(s)) == n && messages.Equal(s.lists, twin.lists) && messages.Equal(s.sets, twin.sets) && messages.Equal(s.maps, twin.maps) {
					looked++
				}
				s.parse().release() // it is finished
				return looked%2 == 0
			})
			if looked != n || len(f.all(s)) != n-n/2 {
				t.Errorf("%s, %s: %d of %d looks, %d are left", f.name, state.name, looked, n, len(f.all(s)))
			}
			s.release()
			twin.release()

			s = state.make(t)
			text := panicText(func() {
				f.deleteFunc(s, func(string) bool {
					f.deleteFunc(s, func(string) bool { return true })
					return true
				})
			})
			if !strings.HasSuffix(text, " changed by the function of its DeleteFunc") || len(f.all(s)) != 0 {
				t.Errorf("%s, %s: when the elements are deleted meanwhile: %q, %d are left", f.name, state.name, text, len(f.all(s)))
			}
			s.parse().release()
			s.release()

			s = state.make(t)
			text = fmt.Sprint(recovered(func() {
				f.deleteFunc(s, func(string) bool { s.release(); return true })
			}))
			if !strings.Contains(text, "used after Release") {
				t.Errorf("%s, %s: when the message is released meanwhile: %q", f.name, state.name, text)
			}
		}
	}
}

// recovered returns the value of f's panic.
func recovered(f func()) (v any) {
	defer func() { v = recover() }()
	f()
	return nil
}

// TestDeleteFuncEdits: changes of the elements that stay are sent, in whatever way they are made.
func TestDeleteFuncEdits(t *testing.T) {
	for _, state := range slices.Concat(states, otherStates) {
		s := state.make(t)
		i := int32(0)
		s.lists.GetPoints().DeleteFunc(func(p shapes.Point) bool {
			p.SetY(100 + i)
			i++
			return i%2 == 0
		})
		long := strings.Repeat("long", 2000)
		s.lists.GetShapes().DeleteFunc(func(x shapes.Shape) bool {
			is := x.GetLabel() == "8"
			x.SetLabel(long)
			return is
		})
		s.lists.GetTexts().DeleteFunc(func(text string) bool {
			if text == "c" {
				s.lists.GetTexts().Set(0, long)
			}
			return text == "a"
		})
		s.lists.GetMatrix().DeleteFunc(func(l nocopy.Int64List) bool {
			l.Append(5)
			return l.At(0) == 8
		})
		s.maps.GetToPoints().DeleteFunc(func(k string, p shapes.Point) bool {
			p.SetY(7)
			s.maps.GetToTexts().Put(k, long)
			return k != "3"
		})
		again := s.parse()
		for j, p := range again.lists.GetPoints().All() {
			if p.GetY() != 100+2*int32(j) {
				t.Errorf("%s: point %d is %v", state.name, j, p)
			}
		}
		for _, x := range again.lists.GetShapes().All() {
			if x.GetLabel() != long {
				t.Errorf("%s: a label of %d bytes", state.name, len(x.GetLabel()))
			}
		}
		for _, l := range again.lists.GetMatrix().All() {
			if l.At(l.Len()-1) != 5 || l.At(0) == 8 {
				t.Errorf("%s: a list is %v", state.name, l)
			}
		}
		if p, ok := again.maps.GetToPoints().Get("3"); !ok || p.GetY() != 7 || again.maps.GetToPoints().Len() != 1 {
			t.Errorf("%s: points are %v", state.name, again.maps.GetToPoints())
		}
		if text, _ := again.maps.GetToTexts().Get("4"); text != long {
			t.Errorf("%s: a text of %d bytes", state.name, len(text))
		}
		again.release()
		s.release()
	}
}

// TestDeleteFuncHandles: handles stay with their elements. Handles of removed elements read the
// old values.
func TestDeleteFuncHandles(t *testing.T) {
	for _, state := range states {
		s := state.make(t)
		points := s.lists.GetPoints()
		var handles []shapes.Point
		var values []int32
		for _, p := range points.All() {
			handles, values = append(handles, p), append(values, p.GetX())
		}
		points.DeleteFunc(func(p shapes.Point) bool { return p.GetX() == values[1] })
		for i, p := range handles {
			if p.GetX() != values[i] {
				t.Errorf("%s: the handle of element %d reads %d, not %d", state.name, i, p.GetX(), values[i])
			}
		}
		handles[0].SetY(55)
		if points.At(0) != handles[0] || points.At(1) != handles[2] || points.At(0).GetY() != 55 {
			t.Errorf("%s: other handles", state.name)
		}
		s.release()
	}
}

// TestDeleteFuncOfRepeatedKeys: with a pair go the earlier ones that have its key.
func TestDeleteFuncOfRepeatedKeys(t *testing.T) {
	pair := func(k, v string) string { return "\x00\x00\x00\x01" + k + "\x00\x00\x00\x01" + v }
	wire := "\x0d\x00\x1b\x0b\x0b\x00\x00\x00\x06" + pair("a", "1") + pair("b", "2") + pair("a", "3") + pair("c", "4") + pair("b", "5") + pair("a", "6") + "\x00"
	m, err := shapes.ParseMaps([]byte(wire))
	if err != nil {
		t.Fatal(err)
	}
	var given []string
	m.GetToTexts().DeleteFunc(func(k, v string) bool {
		given = append(given, k+v)
		return k == "a"
	})
	if want := []string{"c4", "b5", "a6"}; !slices.Equal(given, want) {
		t.Errorf("the function gets %s, not %s", given, want)
	}
	again, err := shapes.ParseMaps(m.Message().AppendTo(nil))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := again.GetToTexts().String(), `{"c": "4", "b": "5"}`; got != want || m.GetToTexts().Len() != 2 {
		t.Errorf("left is %s, not %s", got, want)
	}
	if _, ok := m.GetToTexts().Get("a"); ok {
		t.Error("a is still there")
	}
}

// TestDeleteFuncOfNil: without a function, DeleteFunc panics with the type. Without a list it
// panics as all methods do that change one.
func TestDeleteFuncOfNil(t *testing.T) {
	s := newSubject()
	for want, f := range map[string]func(){
		"nocopy: DeleteFunc of a list<i64>: del is nil":           func() { s.lists.GetLarges().DeleteFunc(nil) },
		"nocopy: DeleteFunc of a list<string>: del is nil":        func() { s.lists.GetTexts().DeleteFunc(nil) },
		"nocopy: DeleteFunc of a list<Point>: del is nil":         func() { s.lists.GetPoints().DeleteFunc(nil) },
		"nocopy: DeleteFunc of a list<list<i64>>: del is nil":     func() { s.lists.GetMatrix().DeleteFunc(nil) },
		"nocopy: DeleteFunc of a set<string>: del is nil":         func() { s.sets.GetTexts().DeleteFunc(nil) },
		"nocopy: DeleteFunc of a map<string, string>: del is nil": func() { s.maps.GetToTexts().DeleteFunc(nil) },
		"nocopy: DeleteFunc of a map<i64, string>: del is nil":    func() { s.maps.GetByLarges().DeleteFunc(nil) },
		"nocopy: DeleteFunc of a map<string, Point>: del is nil":  func() { s.maps.GetToPoints().DeleteFunc(nil) },
		"nocopy: DeleteFunc of a list<bool>: del is nil":          func() { list(s, "flags").DeleteFunc(nil) },
		"nocopy: DeleteFunc of a map<string, i64>: del is nil":    func() { s.maps.NewToLarges().DeleteFunc(nil) },
	} {
		if got := panicText(f); got != want {
			t.Errorf("panics with %q, not %q", got, want)
		}
	}
	if text := panicText(func() { s.lists.GetCube().DeleteFunc(nil) }); !strings.Contains(text, "NewCube") {
		t.Errorf("an absent list: %q", text)
	}
}
