// The part of TestHostileSteps about maps whose keys are structs. A peer may send a key many
// times, and the last of them counts, also while a program edits keys between its lookups.

package engine

import (
	"math/rand/v2"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/steps"
)

// equalKeys is which of n keys are the same.
var equalKeys = []struct {
	name   string
	number func(i, n int) int
}{
	{"all different", func(i, n int) int { return i }},
	{"all the same", func(i, n int) int { return 7 }},
	{"two by turns", func(i, n int) int { return i % 2 }},
	{"a hundred by turns", func(i, n int) int { return i % 100 }},
	{"each a hundred times", func(i, n int) int { return i / 100 }},
	{"half the same", func(i, n int) int { return min(i, n/2) }},
}

// keyEditor edits the keys of a map of structs.
type keyEditor struct {
	*hostile
	in   typedHandle
	keys []Struct
	n    int
}

// edit sets the number of key i.
func (k keyEditor) edit(i, number int) { k.keys[i].SetInt32(pointDesc.Field(0), int32(number)) }

// look looks for a key that is not there.
func (k keyEditor) look() { get(k.in.Struct, k.new(k.in.t.Key())) }

var keyEdits = []struct {
	name string
	run  func(k keyEditor, number func(i, n int) int)
}{
	{"nothing, first to last", func(k keyEditor, number func(i, n int) int) {
		for i := range k.n {
			k.edit(i, number(i, k.n))
			k.look()
		}
	}},
	{"nothing, last to first", func(k keyEditor, number func(i, n int) int) {
		for i := k.n - 1; i >= 0; i-- {
			k.edit(i, number(i, k.n))
			k.look()
		}
	}},
	{"nothing, in any order", func(k keyEditor, number func(i, n int) int) {
		for _, i := range rand.New(rand.NewPCG(1, 2)).Perm(k.n) {
			k.edit(i, number(i, k.n))
			k.look()
		}
	}},
	{"all to one, last to first", func(k keyEditor, number func(i, n int) int) {
		for i := k.n - 1; i >= 0; i-- {
			k.edit(i, 5)
			k.look()
		}
	}},
	{"all to one, in any order", func(k keyEditor, number func(i, n int) int) {
		for _, i := range rand.New(rand.NewPCG(1, 2)).Perm(k.n) {
			k.edit(i, 5)
			k.look()
		}
	}},
	{"the first half, then one lookup", func(k keyEditor, number func(i, n int) int) {
		k.look()
		for i := range k.n / 2 {
			k.edit(i, number(i, k.n))
		}
		k.look()
	}},
	{"all are deleted and added again", func(k keyEditor, number func(i, n int) int) {
		k.look()
		for i := range k.n {
			remove(k.in.Struct, value(k.in.t.Key(), number(i, k.n)))
		}
		for range k.n {
			k.in.pairOfZeros()
			k.look()
		}
	}},
}

func countKeySteps(t *testing.T) {
	const small, large = 500, 8000
	for _, keys := range equalKeys {
		for _, edits := range keyEdits {
			few := keySteps(t, small, keys.number, edits.run, 0)
			limit := 2 * large / small * few
			if many := keySteps(t, large, keys.number, edits.run, limit); many > limit {
				t.Errorf("keys %s, edits %s: %d keys take %d steps, %d more than %d", keys.name, edits.name, small, few, large, limit)
			}
		}
	}
}

// keySteps returns the steps that edits take of a map of n keys.
func keySteps(t *testing.T, n int, number func(i, n int) int, edits func(k keyEditor, number func(i, n int) int), limit int) (took int) {
	b := []byte(fieldHead(keyed, "mapPoint") + "\x0c\x0b" + be(n))
	for i := range n {
		b = append(appendValueOf(b, pointDesc.Type(), number(i, n)), be(0)...)
	}
	s, err := Parse(keyed, append(b, 0))
	if err != nil {
		t.Fatal(err)
	}
	h := newHostile(s, keyed)
	k := keyEditor{hostile: h, in: h.maps[0], n: n}
	for i := range n {
		k.keys = append(k.keys, s.m.handle(k.in.pairAt(i).Key().Entry()))
	}
	k.look()
	defer func() {
		took, steps.Limit = steps.N, 0
		if x := recover(); x != nil && x != (steps.Exceeded{}) {
			panic(x)
		}
	}()
	steps.N, steps.Limit = 0, limit
	edits(k, number)
	return 0
}
