package nocopy

import (
	"math/rand/v2"
	"testing"
)

// TestSurvey compares what compiling finds out of structs that refer to each other at random with
// what looking into each of them finds.
func TestSurvey(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	nestedType := listTypeOf(listTypeOf(typeI32))
	for range 30 {
		descs := make([]*XDesc, 1+rnd.IntN(12))
		lists := make([]*XType, len(descs))
		for i := range descs {
			descs[i] = newStructDesc("S")
			lists[i] = listTypeOf(structTypeOf(descs[i]))
		}
		for _, d := range descs {
			var fields []XFieldDesc
			for range rnd.IntN(4) {
				typ := typeI32
				switch to := rnd.IntN(len(descs)); rnd.IntN(8) {
				case 0, 1, 2:
					typ = structTypeOf(descs[to])
				case 3, 4:
					typ = lists[to]
				case 5:
					typ = nestedType
				}
				fields = append(fields, XFieldDesc{ID: int16(len(fields) + 1), Name: "f", Type: typ})
			}
			d.Define(fields...)
		}
		for _, i := range rnd.Perm(len(descs)) { // those compiled before are known
			d := descs[i]
			d.program()
			nests, widest := false, 0
			for r := range reached(d, map[*XDesc]bool{}) {
				widest = max(widest, r.words)
				for j := range r.fields {
					nests = nests || r.fields[j].typ.nestedInside()
				}
			}
			if d.nests != nests || d.widest != widest {
				t.Fatalf("nests is %v, widest %d; want %v, %d", d.nests, d.widest, nests, widest)
			}
		}
	}
}

func reached(d *XDesc, all map[*XDesc]bool) map[*XDesc]bool {
	if all[d] {
		return all
	}
	all[d] = true
	for i := range d.fields {
		for _, in := range d.fields[i].typ.structs(nil) {
			reached(in, all)
		}
	}
	return all
}
