package messages_test

import (
	"math/rand/v2"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/render"
	"github.com/nocopythrift/nocopythrift/nocopy/messages"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/referee"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// FuzzEqual: messages of any bytes are equal if and only if the records that Apache's library
// reads are.
func FuzzEqual(f *testing.F) {
	structs := referee.Everything()
	ts := newTypes(structs)
	g := newGen(1)
	rnd := rand.New(rand.NewPCG(1, 1))
	for range 40 { // short messages, for many runs per second
		which := g.Intn(len(structs))
		r := g.Record(structs[which], 2)
		if wire := referee.Write(r, rnd); len(wire) < 500 {
			f.Add(byte(which), byte(g.Intn(8)), wire, referee.Write(shuffled(r, rnd).(*referee.Record), rnd))
		}
	}
	f.Fuzz(func(t *testing.T, which, opt byte, a, b []byte) {
		s := structs[int(which)%len(structs)]
		x, err := thriftimpl.Parse(ts[s], a)
		if err != nil {
			return
		}
		y, err := thriftimpl.Parse(ts[s], b)
		if err != nil {
			return
		}
		nan := false
		c := canon{messages.Option(opt % 8), &nan, map[*referee.Field]string{}}
		want := c.record(read(t, s, a)) == c.record(read(t, s, b)) && !nan
		if got := messages.Equal(message{ts[s], x}, message{ts[s], y}, c.opt); got != want {
			t.Errorf("%v\n%s\n%s", got, render.Text(x, ts[s]), render.Text(y, ts[s]))
		}
		messages.Merge(message{ts[s], x}, message{ts[s], y})
		ts.checkSent(t, s, message{ts[s], x})
	})
}

// FuzzMask: any text gives an error or a mask. The mask's own text gives the same mask, and the
// mask can be applied.
func FuzzMask(f *testing.F) {
	structs := referee.Everything()
	ts := newTypes(structs)
	g := newGen(1)
	top := structs[0]
	wire := referee.Write(g.Record(top, 3), nil)
	m := ts.parse(f, top, wire)
	for range 50 {
		f.Add(randomPath(g, m))
	}
	f.Add(`f2[3],f4[true],f2[*]`)
	f.Fuzz(func(t *testing.T, text string) {
		mask, err := messages.NewMask(ts[top], text)
		if err != nil {
			if bad := err.(*messages.MaskError); bad.Offset < 0 || bad.Offset > len(text) {
				t.Error(bad)
			}
			return
		}
		again, err := messages.NewMask(ts[top], mask.String())
		if err != nil || again.String() != mask.String() {
			t.Fatalf("%q is %q, which is %v, %v", text, mask, again, err)
		}
		x, src := ts.parse(t, top, wire), ts.parse(t, top, wire)
		mask.Drop(x)
		ts.checkSent(t, top, x)
		mask.Copy(x, src)
		ts.checkSent(t, top, x)
		for _, value := range []any{1, true, "x", 1.5, []byte{1}} {
			mask.Set(x, value)
		}
		ts.checkSent(t, top, x)
		again.Keep(x)
		ts.checkSent(t, top, x)
	})
}
