package messages_test

import (
	"math/rand/v2"
	"testing"

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
	for round := range testmode.Of(10, 100) {
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
			if got := cmp.Equal(x, y, opts, nocopycmp.IgnoreUnknown()); want != got {
				t.Fatalf("round %d: %v without unknown fields\n%s", round, got, cmp.Diff(x, y, opts))
			}
		}
	}
}
