package model_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/referee"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// seeded makes choices from a seed.
type seeded struct{ *rand.Rand }

func (s seeded) Intn(n int) int { return s.IntN(n) }

func newGen(seed uint64) *referee.Gen {
	return &referee.Gen{Choices: seeded{rand.New(rand.NewPCG(seed, 1))}}
}

// shapes returns one struct for each type and requiredness of a field, with and without a default.
func shapes() []*referee.Struct {
	g := newGen(1)
	all := referee.Everything()
	var list []*referee.Struct
	for _, s := range all {
		list = append(list, s)
		for _, f := range s.Fields {
			for req := range referee.Requiredness(3) {
				if req != referee.Optional && s.Name == "Node" && f.Type.IsStruct() { // would have no end
					continue
				}
				for _, def := range []referee.Value{nil, g.Value(f.Type, 3)} {
					name := fmt.Sprintf("%s_%s_%d_%v", s.Name, f.Name, req, def != nil)
					list = append(list, &referee.Struct{Name: name, Fields: []referee.Field{
						{ID: 1, Name: "before", Type: referee.String},
						{ID: -7, Name: "it", Type: f.Type, Req: req, Default: def},
						{ID: 300, Name: "after", Type: referee.I16, Req: req},
					}})
				}
			}
		}
	}
	return list
}

// TestApacheReadsOurs: Apache's library reads the same values from bytes that were written through
// accessors.
func TestApacheReadsOurs(t *testing.T) {
	sc := newSchema(shapes())
	g := newGen(2)
	for _, b := range sc.structs {
		t.Run(b.Name, func(t *testing.T) {
			for range rounds(b) {
				want := g.Record(b.Struct, 4)
				h := thriftimpl.New(b.desc)
				filler{sc, g}.record(h, want)
				wire := h.Message().Bytes()
				got, err := referee.Read(b.Struct, wire)
				if err != nil {
					t.Fatalf("%v in\n%x", err, wire)
				}
				if diff := cmp.Diff(referee.Plain(want), referee.Plain(got)); diff != "" {
					t.Fatalf("Apache's library reads something else than was set (-want +got):\n%s", diff)
				}
				sc.sameByGetters(t, b, h, want)
				h.Release()
			}
		})
	}
}

// TestOursReadsApache: accessors read the same values from bytes of Apache's library, and the
// bytes are sent unchanged.
func TestOursReadsApache(t *testing.T) {
	sc := newSchema(shapes())
	g := newGen(3)
	for _, b := range sc.structs {
		t.Run(b.Name, func(t *testing.T) {
			for range rounds(b) {
				rec := g.Record(b.Struct, 4)
				g.Noise(rec)
				wire := referee.Write(rec, rand.New(rand.NewPCG(uint64(g.Intn(1<<30)), 2)))
				referee.Normal(rec)
				for _, opts := range [][]nocopy.Option{nil, {nocopy.Lazy}, {nocopy.Recycle}} {
					h, err := thriftimpl.Parse(b.desc, wire, opts...)
					if err != nil {
						t.Fatalf("%v in\n%x", err, wire)
					}
					sc.sameByGetters(t, b, h, rec)
					if got := h.Message().Bytes(); !bytes.Equal(got, wire) {
						t.Fatalf("the message came out as\n%x, not\n%x", got, wire)
					}
					h.Release()
				}
			}
		})
	}
}

// TestUntouchedStructs: Apache's library reads a new, unchanged struct as one in which only the
// mandatory fields are set.
func TestUntouchedStructs(t *testing.T) {
	sc := newSchema(shapes())
	for _, b := range sc.structs {
		t.Run(b.Name, func(t *testing.T) {
			h := thriftimpl.New(b.desc)
			got, err := referee.Read(b.Struct, h.Message().Bytes())
			if err != nil {
				t.Fatal(err)
			}
			want := referee.Zero(referee.StructOf(b.Struct))
			if diff := cmp.Diff(referee.Plain(want), referee.Plain(got)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", b.Name, diff)
			}
			h.Release()
		})
	}
}

func rounds(b *bound) int {
	if len(b.Fields) > 5 {
		return testmode.Of(6, 50)
	}
	return testmode.Of(3, 5)
}

// sameByGetters checks that the finished struct h reads as want.
func (sc *schema) sameByGetters(t *testing.T, b *bound, h handle, want *referee.Record) {
	t.Helper()
	r := &reader{schema: sc, finished: true}
	got := r.record(b.Struct, h)
	if diff := cmp.Diff(referee.Plain(want), referee.Plain(got)); diff != "" {
		t.Fatalf("the getters give (-want +got):\n%s", diff)
	}
	for _, wrong := range r.wrong {
		t.Error(wrong)
	}
}
