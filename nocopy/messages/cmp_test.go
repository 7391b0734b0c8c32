package messages_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apache/thrift/lib/go/thrift"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/nocopythrift/nocopythrift/internal/referee"
	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy/messages"
	"github.com/nocopythrift/nocopythrift/nocopy/nocopycmp"
)

// TestCmpAgrees: by package nocopycmp the same messages are equal.
func TestCmpAgrees(t *testing.T) {
	opts := cmp.Options{nocopycmp.Transform(), cmpopts.EquateNaNs()}
	for round := range testmode.Of(2, 50) {
		g := newGen(uint64(round))
		structs := g.Structs(4)
		if round%5 == 0 {
			structs = referee.Everything()
		}
		ts := newTypes(structs)
		rnd := rand.New(rand.NewPCG(uint64(round), 7))
		for range 20 {
			s := structs[g.Intn(len(structs))]
			a := g.Record(s, 3)
			g.Noise(a)
			b := shuffled(a, rnd).(*referee.Record)
			if g.Intn(2) == 0 {
				b = changed(g, b)
			}
			x, y := ts.parse(t, s, referee.Write(a, rnd)), ts.parse(t, s, referee.Write(b, rnd))
			if want, got := messages.Equal(x, y, messages.EquateNaNs), cmp.Equal(x, y, opts); want != got {
				t.Fatalf("round %d: %v\n%s", round, got, cmp.Diff(x, y, opts))
			}
			want := messages.Equal(x, y, messages.EquateNaNs, messages.IgnoreUnknown)
			// For cmp, two elements of a set or keys of a map stay two, also if they differ in
			// unknown fields only
			got := cmp.Equal(x, y, opts, nocopycmp.IgnoreUnknown())
			if want != got && (got || !hashes(s, map[*referee.Struct]bool{})) {
				t.Fatalf("round %d: %v without unknown fields\n%s", round, got, cmp.Diff(x, y, opts))
			}
		}
	}
}

// hashes reports whether a struct has sets of structs or containers, or maps with such keys, at
// any depth.
func hashes(s *referee.Struct, seen map[*referee.Struct]bool) bool {
	if seen[s] {
		return false
	}
	seen[s] = true
	var in func(t *referee.Type) bool
	in = func(t *referee.Type) bool {
		switch {
		case t == nil:
			return false
		case t.IsStruct():
			return hashes(t.Struct, seen)
		case t.Wire == thrift.SET && t.Elem.IsContainer(), t.IsMap() && t.Key.IsContainer():
			return true
		}
		return in(t.Elem) || in(t.Key)
	}
	return slices.ContainsFunc(s.Fields, func(f referee.Field) bool { return in(f.Type) })
}
