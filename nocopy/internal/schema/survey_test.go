package schema

import (
	"math/rand/v2"
	"testing"
)

// TestSurvey compares the results of Survey, for structs that refer to each other at random, with
// the results of searching each of them.
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
				}
				fields = append(fields, FieldDesc{ID: int16(len(fields) + 1), Name: "f", Type: typ})
			}
			d.Define(fields...)
		}
		for _, i := range rnd.Perm(len(descs)) { // Survey skips structs that were compiled before
			d := descs[i]
			Survey(d.self)
			for r := range reached(d, map[*Struct]bool{}) {
				r.SetPrograms(&Programs{})
			}
			nests, widest := false, 0
			for r := range reached(d, map[*Struct]bool{}) {
				widest = max(widest, r.words)
				for j := range r.fields {
					nests = nests || r.fields[j].Type.NestedInside()
				}
			}
			if d.nests != nests || d.widest != widest {
				t.Fatalf("nests is %v, widest %d; want %v, %d", d.nests, d.widest, nests, widest)
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
		for _, in := range d.fields[i].Type.Structs(nil) {
			reached(in, all)
		}
	}
	return all
}
