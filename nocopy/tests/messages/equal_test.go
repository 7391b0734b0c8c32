package messages_test

import (
	"math/rand/v2"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/messages"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/referee"
)

// TestEqualRandom: with all options, messages are equal if and only if their records are, also
// between two sets of types made from one IDL.
func TestEqualRandom(t *testing.T) {
	var equal, unequal int
	for round := range testmode.Of(5, 25) {
		g := newGen(uint64(round))
		structs := g.Structs(4)
		if round%5 == 0 {
			structs = referee.Everything()
		}
		ts, us := newTypes(structs), newTypes(structs)
		rnd := rand.New(rand.NewPCG(uint64(round), 7))
		for range 30 {
			s := structs[g.Intn(len(structs))]
			a := g.Record(s, 4)
			if g.Intn(2) == 0 {
				g.Noise(a)
			}
			b := shuffled(a, rnd).(*referee.Record)
			if g.Intn(2) == 0 {
				b = changed(g, b)
			}
			wireA, wireB := referee.Write(a, rnd), referee.Write(b, rnd)
			x, y, z := ts.parse(t, s, wireA), ts.parse(t, s, wireB, nocopy.Lazy), us.parse(t, s, wireB)
			a, b = read(t, s, wireA), read(t, s, wireB)
			for opt := range messages.Option(8) {
				nan := false
				c := canon{opt, &nan, map[*referee.Field]string{}}
				textA, textB := c.record(a), c.record(b)
				want := textA == textB && !nan
				if want {
					equal++
				} else {
					unequal++
				}
				for i, other := range []message{y, z} {
					if got := messages.Equal(x, other, opt); got != want {
						t.Fatalf("round %d, options %b, other %d: %v\n%s\n%s\n%x\n%x", round, opt, i, got, textA, textB, wireA, wireB)
					}
					if got := messages.Equal(other, x, opt); got != want {
						t.Fatalf("round %d, options %b, other %d: the other way round %v", round, opt, i, got)
					}
				}
				if got := messages.Equal(x, x, opt); got != !hasNaN(c, a) {
					t.Fatalf("round %d: equal to itself: %v", round, got)
				}
			}
		}
	}
	if equal < 200 || unequal < 200 {
		t.Errorf("%d were equal, %d not: too few to tell", equal, unequal)
	}
}

func hasNaN(c canon, r *referee.Record) bool {
	nan := false
	canon{c.opt, &nan, map[*referee.Field]string{}}.record(r)
	return nan
}

// read returns the record that Apache's library reads.
func read(t *testing.T, s *referee.Struct, wire []byte) *referee.Record {
	t.Helper()
	r, err := referee.Accept(s, wire)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
