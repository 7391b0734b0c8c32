package schema

import (
	"math/rand/v2"
	"sync"
	"testing"
)

// TestSurvey compares the facts of structs that refer to each other at random with the results of
// searching each of them.
func TestSurvey(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	nestedType := ListOf(ListOf(TypeI32))
	for range 30 {
		descs := make([]*Struct, 1+rnd.IntN(12))
		lists := make([]*Type, len(descs))
		for i := range descs {
			descs[i] = NewStruct("S")
			lists[i] = ListOf(StructOf(descs[i]))
		}
		for _, d := range descs {
			var fields []FieldDesc
			for range rnd.IntN(4) {
				typ := TypeI32
				switch to := rnd.IntN(len(descs)); rnd.IntN(8) {
				case 0, 1, 2:
					typ = StructOf(descs[to])
				case 3, 4:
					typ = lists[to]
				case 5:
					typ = nestedType
				case 6:
					typ = TypeDouble
				}
				fields = append(fields, FieldDesc{ID: int16(len(fields) + 1), Name: "f", Type: typ})
			}
			d.Define(fields...)
		}
		for _, i := range rnd.Perm(len(descs)) { // the facts of some are known before
			d := descs[i]
			want := facts{nesting: longest(d, map[*Struct]bool{})}
			for r := range reached(d, map[*Struct]bool{}) {
				want.widest = max(want.widest, r.words)
				for j := range r.fields {
					want.nests = want.nests || r.fields[j].Type == nestedType
					want.doubles = want.doubles || r.fields[j].Type == TypeDouble
				}
			}
			if got := d.self.facts(); got != want {
				t.Fatalf("got %+v, want %+v", got, want)
			}
		}
	}
}

func reached(d *Struct, all map[*Struct]bool) map[*Struct]bool {
	if all[d] {
		return all
	}
	all[d] = true
	for i := range d.fields {
		for _, in := range structsIn(d.fields[i].Type) {
			reached(in, all)
		}
	}
	return all
}

// longest returns how deep structs may be nested in d, itself included. path has those around it.
func longest(d *Struct, path map[*Struct]bool) int {
	if path[d] {
		return unbounded
	}
	path[d] = true
	n := 0
	for i := range d.fields {
		for _, in := range structsIn(d.fields[i].Type) {
			n = max(n, longest(in, path))
		}
	}
	delete(path, d)
	return min(n+1, unbounded)
}

// structsIn returns the structs in a value of the type, without the structs nested in them.
func structsIn(t *Type) []*Struct {
	switch t.kind {
	case Record:
		return []*Struct{t.desc}
	case List:
		return structsIn(t.elem)
	}
	return nil
}

// TestSurveyAtOnce: goroutines that survey structs of a ring at once find the same facts.
func TestSurveyAtOnce(t *testing.T) {
	for range 20 {
		ring := make([]*Struct, 50)
		for i := range ring {
			ring[i] = NewStruct("S")
		}
		for i, d := range ring {
			d.Define(FieldDesc{ID: 1, Name: "next", Type: StructOf(ring[(i+1)%len(ring)])}, FieldDesc{ID: 2, Name: "f", Type: TypeDouble})
		}
		want := facts{doubles: true, widest: ring[0].words, nesting: unbounded}
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				if got := ring[7*i%len(ring)].self.facts(); got != want {
					t.Errorf("got %+v, want %+v", got, want)
				}
			})
		}
		wg.Wait()
	}
}
