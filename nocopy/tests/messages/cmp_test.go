package messages_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apache/thrift/lib/go/thrift"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy/messages"
	"github.com/nocopythrift/nocopythrift/nocopy/nocopycmp"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/referee"
)

// TestCmpAgrees: package nocopycmp regards the same messages as equal.
func TestCmpAgrees(t *testing.T) {
	opts := cmp.Options{nocopycmp.Transform(), cmpopts.EquateNaNs()}
	for round := range testmode.Of(2, 10) {
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
			// For cmp, each NaN is an element or a key of its own
			nans := hashesNaN(a, false) || hashesNaN(b, false)
			if want, got := messages.Equal(x, y, messages.EquateNaNs), cmp.Equal(x, y, opts); want != got && (got || !nans) {
				t.Fatalf("round %d: %v\n%s", round, got, cmp.Diff(x, y, opts))
			}
			want := messages.Equal(x, y, messages.EquateNaNs, messages.IgnoreUnknown)
			// For cmp, elements of a set, or keys of a map, that differ only in unknown fields
			// still count as two
			got := cmp.Equal(x, y, opts, nocopycmp.IgnoreUnknown())
			if want != got && (got || !hashes(s, containers) && !nans) {
				t.Fatalf("round %d: %v without unknown fields\n%s", round, got, cmp.Diff(x, y, opts))
			}
		}
	}
}

func containers(t *referee.Type) bool { return t.IsContainer() }

// hashesNaN reports whether an element of a set or a key of a map in v contains a NaN or, if v
// itself is hashed, whether v contains one.
func hashesNaN(v referee.Value, hashed bool) bool {
	in := func(v referee.Value) bool { return hashesNaN(v, hashed) }
	switch v := v.(type) {
	case referee.Float:
		return hashed && math.IsNaN(math.Float64frombits(uint64(v)))
	case *referee.Record:
		return slices.ContainsFunc(v.Fields, in)
	case *referee.List:
		hashed = hashed || v.Type.Wire == thrift.SET
		return slices.ContainsFunc(v.Elems, in)
	case *referee.Map:
		return slices.ContainsFunc(v.Pairs, func(p referee.Pair) bool { return hashesNaN(p.Key, true) || in(p.Value) })
	}
	return false
}

// hashes reports whether a struct contains, at any depth, a set whose elements, or a map whose
// keys, are or contain types of this kind.
func hashes(s *referee.Struct, kind func(*referee.Type) bool) bool {
	seen := map[*referee.Struct]bool{}
	var in func(t *referee.Type, hashed bool) bool
	structs := func(s *referee.Struct, hashed bool) bool {
		if seen[s] {
			return false
		}
		seen[s] = true
		found := slices.ContainsFunc(s.Fields, func(f referee.Field) bool { return in(f.Type, hashed) })
		seen[s] = false
		return found
	}
	in = func(t *referee.Type, hashed bool) bool {
		switch {
		case t == nil:
			return false
		case hashed && kind(t):
			return true
		case t.IsStruct():
			return structs(t.Struct, hashed)
		}
		return in(t.Elem, hashed || t.Wire == thrift.SET) || in(t.Key, true)
	}
	return structs(s, false)
}
