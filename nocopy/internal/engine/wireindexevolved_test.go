package engine

import (
	"math/rand/v2"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// evolved returns a type that d may become: fields are gone, new, of another type, or have another
// id, in nested structs too.
func (g messageMaker) evolved(d *schema.Struct, depth int) *schema.Struct {
	to := schema.NewStruct(d.Name())
	if d.IsUnion() {
		to = schema.NewUnion(d.Name())
	}
	var fields []schema.FieldDesc
	taken := map[int16]bool{}
	add := func(f schema.FieldDesc) {
		if !taken[f.ID] {
			taken[f.ID] = true
			fields = append(fields, f)
		}
	}
	for i := range d.Fields() {
		f := d.Fields()[i].FieldDesc
		switch g.rnd.IntN(12) {
		case 0:
			continue
		case 1:
			f.Type = g.typ(max(depth, 0))
		case 2:
			f.ID += 7
		default:
			f.Type = g.evolvedType(f.Type, depth)
		}
		if d.IsUnion() || g.rnd.IntN(8) > 0 {
			f.Req = schema.Optional
		}
		add(f)
	}
	if g.rnd.IntN(3) == 0 {
		add(schema.FieldDesc{ID: int16(300 + g.rnd.IntN(9)), Name: "new", Type: g.typ(max(depth, 0)), Req: schema.Optional})
	}
	g.rnd.Shuffle(len(fields), func(i, j int) { fields[i], fields[j] = fields[j], fields[i] })
	to.Define(fields...)
	return to
}

func (g messageMaker) evolvedType(t *schema.Type, depth int) *schema.Type {
	switch {
	case depth < 0:
		return t
	case t.Kind() == schema.Record:
		return schema.StructOf(g.evolved(t.Struct(), depth-1))
	case t.Kind() == schema.List && t.Wire() == wire.Set:
		return schema.SetOf(g.evolvedType(t.Elem(), depth-1))
	case t.Kind() == schema.List:
		return schema.ListOf(g.evolvedType(t.Elem(), depth-1))
	case t.Kind() == schema.Dict:
		return schema.MapOf(t.Key(), g.evolvedType(t.Elem(), depth-1))
	}
	return t
}

// TestByIndexEvolved: reading a message with an index as another version of its type gives the
// same values as a plain parse. Messages that a plain parse refuses are refused.
func TestByIndexEvolved(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(5, testmode.Seed(t)))
	read, refused := 0, 0
	for range testmode.Of(30, 100) { // of types, which are never given back
		g := messageMaker{rnd, 1 << rnd.IntN(9)}
		d := g.desc(3)
		others := [5]*schema.Struct{}
		for i := range others {
			others[i] = g.evolved(d, 3)
		}
		for range testmode.Of(1, 5) {
			with := withIndex(t, d, g.structure(nil, d, 0), []Option{AnySize}...)
			for _, other := range others {
				plain, plainErr := Parse(other, with)
				s, err := Parse(other, with, ByIndex, AnySize)
				switch {
				case plainErr == nil && err != nil:
					t.Fatalf("%v, but a plain parse accepts it", err)
				case err != nil:
					refused++
					continue
				case plainErr != nil:
					readByHandles(other, s, 12)
					if s.m.Index() == nil {
						t.Fatalf("accepted, but for a plain parse it is %v", plainErr)
					}
					s.Release()
					refused++
					continue
				}
				if s.m.pending&byIndex != 0 {
					read++
				}
				sameReader{t, rnd}.structs(other, s, plain)
				if err := s.m.Index(); err != nil {
					t.Fatal(err)
				}
				sameReader{t, rnd}.structs(other, s, plain)
				checkIndex(t, s)
				s.Release()
				plain.Release()
			}
		}
	}
	t.Log(read, "read by their index,", refused, "refused")
	if read < 50 {
		t.Error("too few to tell")
	}
}
