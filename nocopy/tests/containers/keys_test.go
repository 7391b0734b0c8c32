package containers_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/render"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// viewSet is a set of structs or lists, and the test's record of it.
type viewSet struct {
	h        engine.Struct
	elem     *schema.Type
	elements []string        // what it holds, as text
	handles  []engine.Struct // of elements; zero for elements whose handle was not needed yet
}

// newValue returns a message that holds the value of number v, and the value.
func (s *viewSet) newValue(v int32) (engine.Struct, engine.Struct) {
	holder := engine.New(allDesc)
	var x engine.Struct
	if s.elem.Kind() == schema.Record {
		x = holder.NewChild(fieldNamed(allDesc, "point"), allDesc, 0)
	} else {
		x = holder.NewChild(fieldNamed(allDesc, "unique"), allDesc, 1)
	}
	s.change(x, v)
	return holder, x
}

// change gives x, which is an element or will become one, the value of number v.
func (s *viewSet) change(x engine.Struct, v int32) {
	if s.elem.Kind() == schema.Record {
		x.SetInt32(fieldNamed(pointDesc, "y"), v)
	} else {
		nocopy.Int32List(x).Set(0, v)
	}
}

func (s *viewSet) text(v int32) string {
	if s.elem.Kind() == schema.Record {
		return fmt.Sprintf("{x: 0, y: %d}", v)
	}
	return fmt.Sprintf("[%d]", v)
}

func (s *viewSet) holds(text string) bool {
	for _, x := range s.elements {
		if x == text {
			return true
		}
	}
	return false
}

// at returns the handle of element i, which the test keeps.
func (s *viewSet) at(i int) engine.Struct {
	if s.elem.Kind() == schema.Record {
		s.handles[i] = nocopy.StructList[engine.Struct](s.h).At(i)
	} else {
		s.handles[i] = nocopy.NestedList[engine.Struct](s.h).At(i)
	}
	return s.handles[i]
}

// TestSetsOfViews: Contains and Add find the present elements of sets of structs and lists, also
// after changes through handles.
func TestSetsOfViews(t *testing.T) {
	rows := schema.NewStruct("Rows")
	rows.Define(schema.FieldDesc{ID: 1, Name: "points", Type: schema.SetOf(schema.StructOf(pointDesc))}, schema.FieldDesc{ID: 2, Name: "rows", Type: schema.SetOf(schema.ListOf(schema.TypeI32))})
	for seed := range uint64(60) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 4))
			root := engine.New(rows)
			name := []string{"points", "rows"}[seed%2]
			s := &viewSet{elem: rows.Fields()[seed%2].Type.Elem(), h: root.NewChild(fieldNamed(rows, name), rows, 0)}
			add := func(v int32) {
				holder, x := s.newValue(v)
				if s.elem.Kind() == schema.Record {
					nocopy.StructList[engine.Struct](s.h).Add(x)
				} else {
					nocopy.NestedList[engine.Struct](s.h).Add(x)
				}
				holder.Release()
				if !s.holds(s.text(v)) {
					s.elements, s.handles = append(s.elements, s.text(v)), append(s.handles, engine.Struct{})
				}
			}
			if seed%3 == 0 { // received
				for range 30 {
					add(int32(r.IntN(100)))
				}
				root = mustParse(t, rows, root.Message().Bytes())
				s.h = root.Child(fieldNamed(rows, name), rows)
			}
			for range 400 {
				v, n := int32(r.IntN(100)), len(s.elements)
				switch class := r.IntN(40); {
				case class < 20 || n == 0:
					add(v)
				case class < 21: // changed through a handle, be it old or new
					i := r.IntN(n)
					if s.handles[i] == (engine.Struct{}) {
						s.at(i)
					}
					s.change(s.handles[i], v)
					s.elements[i] = s.text(v)
				case class < 22:
					s.at(r.IntN(n))
				case class < 23:
					holder, x := s.newValue(v)
					i := r.IntN(n)
					s.handles[i], s.elements[i] = engine.Struct{}, s.text(v)
					if s.elem.Kind() == schema.Record {
						nocopy.StructList[engine.Struct](s.h).Set(i, x)
					} else {
						nocopy.NestedList[engine.Struct](s.h).Set(i, x)
					}
					holder.Release()
				case class < 24:
					if s.elem.Kind() == schema.Record {
						s.handles = append(s.handles, nocopy.StructList[engine.Struct](s.h).AppendNew())
					} else {
						s.handles = append(s.handles, nocopy.NestedList[engine.Struct](s.h).AppendNew(1))
					}
					s.change(s.handles[n], v)
					s.elements = append(s.elements, s.text(v))
				case class < 25:
					holder, x := s.newValue(v)
					s.handles, s.elements = append(s.handles, engine.Struct{}), append(s.elements, s.text(v))
					if s.elem.Kind() == schema.Record {
						nocopy.StructList[engine.Struct](s.h).Append(x)
					} else {
						nocopy.NestedList[engine.Struct](s.h).Append(x)
					}
					holder.Release()
				case class < 26:
					root.Message().Finish()
				}
				holder, x := s.newValue(v)
				got := nocopy.StructList[engine.Struct](s.h).Contains(x)
				if s.elem.Kind() == schema.List {
					got = nocopy.NestedList[engine.Struct](s.h).Contains(x)
				}
				holder.Release()
				if want := s.holds(s.text(v)); got != want || s.h.ListLen() != len(s.elements) {
					t.Fatalf("seed %d: Contains(%s) = %v of %d elements\n%s", seed, s.text(v), got, s.h.ListLen(), s.elements)
				}
			}
			if got, want := render.ContainerText(s.h, ""), fmt.Sprint("[", joined(s.elements), "]"); got != want {
				t.Errorf("seed %d: %s, want %s", seed, got, want)
			}
			root.Release()
		})
	}
}

func joined(list []string) (s string) {
	for i, x := range list {
		if i > 0 {
			s += ", "
		}
		s += x
	}
	return s
}

// TestMapsByViews is TestSetsOfViews for maps whose keys are structs.
func TestMapsByViews(t *testing.T) {
	for seed := range uint64(60) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 5))
			root, key := engine.New(allDesc), engine.New(pointDesc)
			m := nocopy.Map[engine.Struct, string, engine.AsView[engine.Struct], engine.AsString](root.NewChild(fieldNamed(allDesc, "byPoint"), allDesc, 0))
			want, y := map[int32]string{}, fieldNamed(pointDesc, "y")
			next := int32(100) // keys are changed to one that there is not
			handles := map[int32]engine.Struct{}
			for i := range 400 {
				v, text := int32(r.IntN(100)), itoa(i)
				key.SetInt32(y, v)
				switch class := r.IntN(40); {
				case class < 20:
					m.Put(key, text)
					want[v] = text
				case class < 21:
					_, is := want[v]
					if m.Delete(key) != is {
						t.Fatalf("seed %d: Delete(%d) = %v", seed, v, !is)
					}
					delete(want, v)
					delete(handles, v)
				case class < 22:
					for k := range m.All() {
						handles[k.Int32(y)] = k
					}
				case class < 23:
					next++
					m.Append(text).SetInt32(y, next)
					want[next] = text
				case class < 25:
					for old, k := range handles { // any
						next++
						k.SetInt32(y, next)
						want[next] = want[old]
						delete(want, old)
						delete(handles, old)
						handles[next] = k
						break
					}
				case class < 26 && len(handles) > 0: // a key of its own
					for old, k := range handles {
						m.Put(k, text)
						want[old] = text
						break
					}
				}
				for _, v := range []int32{v, next, int32(r.IntN(100))} {
					key.SetInt32(y, v)
					got, is := m.Get(key)
					if text, there := want[v]; got != text || is != there || m.Len() != len(want) {
						t.Fatalf("seed %d, %d: Get(%d) = %q, %v, want %q, %v; %d keys of %d", seed, i, v, got, is, text, there, m.Len(), len(want))
					}
				}
			}
			root.Release()
			key.Release()
		})
	}
}

// TestViewsReadByMany: any number of goroutines may look for elements of a set that was added to,
// and get handles of them.
func TestViewsReadByMany(t *testing.T) {
	for range 20 {
		root, key := engine.New(allDesc), engine.New(pointDesc)
		set := nocopy.StructList[engine.Struct](root.NewChild(fieldNamed(allDesc, "grown"), allDesc, 0))
		for i := range 50 {
			key.SetInt32(fieldNamed(pointDesc, "x"), int32(i))
			set.Add(key)
		}
		root.Message().Finish()
		key.Message().Finish()
		var readers sync.WaitGroup
		for g := range 4 {
			readers.Go(func() {
				for i := range 50 {
					if !set.Contains(key) {
						t.Error("an element is not found")
					}
					if g%2 == 0 && set.At(i).Int32(fieldNamed(pointDesc, "x")) != int32(i) {
						t.Error("an element is another one")
					}
				}
			})
		}
		readers.Wait()
		root.Release()
		key.Release()
	}
}
