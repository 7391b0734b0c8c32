package fields_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// TestWideAsNarrow: a wide struct and one that is not wide, with the same fields, give the same
// values and errors for the same bytes, valid or spoilt, in one piece or cut.
func TestWideAsNarrow(t *testing.T) {
	const n = 48
	wide, narrow := wideOf(n), schema.NewStruct("Wide48")
	fields := make([]schema.FieldDesc, n)
	for i := range fields {
		fields[i] = wide.Fields()[i].FieldDesc
	}
	narrow.Define(fields...)
	rnd := rand.New(rand.NewPCG(testmode.Seed(t), 48))
	valid, refused := 0, 0
	for range testmode.Of(3_000, 100_000) {
		wire := sparseWire(rnd, wide)
		for range rnd.IntN(3) {
			if len(wire) > 1 && rnd.IntN(4) == 0 {
				wire = wire[:1+rnd.IntN(len(wire)-1)]
			} else {
				wire[rnd.IntN(len(wire))] = byte([]int{0, 1, 8, 11, 15, 0xff, rnd.IntN(256)}[rnd.IntN(7)])
			}
		}
		parse := inOnePiece.Parse
		if rnd.IntN(2) == 0 {
			parse = cutEvery(1 + rnd.IntN(20)).Parse
		}
		var opts []engine.Option
		for _, o := range []engine.Option{engine.Lazy, engine.ValidUTF8, engine.Recycle} {
			if rnd.IntN(4) == 0 {
				opts = append(opts, o)
			}
		}
		w, wideErr := parse(wide, bytes.Clone(wire), opts...)
		s, err := parse(narrow, bytes.Clone(wire), opts...)
		if fmt.Sprint(wideErr) != fmt.Sprint(err) {
			t.Fatalf("%v: %x\nwide: %v\nnot:  %v", opts, wire, wideErr, err)
		}
		if err != nil {
			refused++
			continue
		}
		valid++
		for i := range n {
			if got, want := nth(w, wide, i), narrowNth(s, narrow, i); got != want {
				t.Fatalf("%v: %x\nfield %d of the wide struct is %v, not %v", opts, wire, i, got, want)
			}
		}
		w.Release()
		s.Release()
	}
	if valid < 1000 || refused < 500 {
		t.Errorf("%d messages valid, %d refused", valid, refused)
	}
}

// sparseWire returns the bytes of a struct of d with some of its fields, some of them twice.
func sparseWire(rnd *rand.Rand, d *schema.Struct) []byte {
	var b []byte
	for i := range len(d.Fields()) {
		if rnd.IntN(4) > 0 {
			continue
		}
		if rnd.IntN(8) == 0 {
			i = rnd.IntN(len(d.Fields()))
		}
		f := &d.Fields()[i]
		b = append(b, byte(f.Header()>>16), byte(f.Header()>>8), byte(f.Header()))
		x := rnd.IntN(1000)
		switch number := wire.AppendBE32(nil, uint32(x)); i % 4 { // see wideOf
		case 0:
			b = append(b, number...)
		case 1:
			b = append(wire.AppendBE32(b, 6), fmt.Sprintf("%06d", x)...)
		case 2:
			b = append(b, byte(x&1))
		case 3:
			b = append(append(b, byte(nocopy.WireI32), 0, 0, 0, 1), number...)
		}
	}
	return append(b, 0)
}

// narrowNth is nth for a struct that is not wide.
func narrowNth(s engine.Struct, d *schema.Struct, i int) any {
	f := d.Field(i)
	if !s.Has(f) {
		return nil
	}
	switch i % 4 {
	case 0:
		return int(s.Int32(f))
	case 1:
		return s.Text(f)
	case 2:
		return s.Bool(f)
	}
	return s.Child(f, d).ListLen()
}
