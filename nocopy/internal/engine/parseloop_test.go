package engine

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/program"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// The loop that runs programs and the slow parser must fill an index alike, word by word, and
// refuse the same with the same error.

// parseSlowly is Parse without a program.
func parseSlowly(d *schema.Struct, b []byte, opts ...Option) (Struct, error) {
	flags, limits := ConfigOf(opts)
	m := expecting(nil, d, flags, limits)
	p := m.resetParser(len(b))
	p.B, p.Base, p.Slow = b, m.buf.Refer(b, false, false), true
	return m.parsed(p, m.indexFrom(p))
}

// schemas makes types of all kinds and messages of them.
type schemas struct {
	*rand.Rand
	descs []*schema.Struct
	odd   float64 // how likely each part of a message is not as its type says
}

func (r *schemas) define() {
	r.descs = nil
	for i := range 2 + r.IntN(5) {
		if name := fmt.Sprint("S", i); r.IntN(4) == 0 {
			r.descs = append(r.descs, schema.NewUnion(name))
		} else {
			r.descs = append(r.descs, schema.NewStruct(name))
		}
	}
	for _, d := range r.descs {
		var fields []schema.FieldDesc
		for id := range r.IntN(7) {
			f := schema.FieldDesc{ID: int16(3*id + r.IntN(3)), Name: fmt.Sprint("f", id), Type: r.typ(0)}
			if !d.IsUnion() {
				f.Req = []schema.Requiredness{schema.DefaultReq, schema.DefaultReq, schema.Optional, schema.Required}[r.IntN(4)]
			}
			fields = append(fields, f)
		}
		r.Shuffle(len(fields), func(i, j int) { fields[i], fields[j] = fields[j], fields[i] })
		d.Define(fields...)
	}
}

func (r *schemas) typ(depth int) *schema.Type {
	switch k := r.IntN(10); {
	case depth < 3 && k == 0:
		return schema.ListOf(r.typ(depth + 1))
	case depth < 3 && k == 1:
		return schema.SetOf(r.typ(depth + 1))
	case depth < 3 && k == 2:
		return schema.MapOf(r.typ(depth+1), r.typ(depth+1))
	case k == 3:
		return schema.ListOf(schema.StructOf(r.descs[r.IntN(len(r.descs))]))
	case k == 4:
		return schema.MapOf(schema.TypeString, schema.TypeString)
	case k < 7:
		return schema.StructOf(r.descs[r.IntN(len(r.descs))])
	}
	return []*schema.Type{schema.TypeBool, schema.TypeI8, schema.TypeI16, schema.TypeI32, schema.TypeI64, schema.TypeDouble, schema.TypeString, schema.TypeString, schema.TypeBinary, schema.TypeUUID}[r.IntN(10)]
}

func (r *schemas) structure(dst []byte, d *schema.Struct, depth int) []byte {
	order := slices.Clone(program.FieldOrder(d, r.IntN(2) == 0))
	if r.Float64() < r.odd {
		r.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	}
	for _, i := range order {
		f := &d.Fields()[i]
		times := 1
		switch {
		case depth > 5 && f.Kind() >= schema.Record && f.Req != schema.Required, f.Req != schema.Required && r.IntN(5) == 0:
			times = 0
		case r.Float64() < r.odd:
			times = r.IntN(3)
		}
		for range times {
			dst = r.value(append(dst, byte(f.Header()>>16), byte(f.Header()>>8), byte(f.Header())), f.Type, depth)
		}
		if r.Float64() < r.odd { // unknown, or known with another type
			dst = append(dst, byte(wire.I8), 0, byte(r.IntN(24)), 7)
		}
	}
	return append(dst, byte(wire.Stop))
}

func (r *schemas) value(dst []byte, t *schema.Type, depth int) []byte {
	n := r.IntN(4)
	if depth > 5 {
		n = 0
	}
	switch t.Kind() {
	case schema.Record:
		if depth > 12 { // it may need itself
			return append(dst, byte(wire.Stop))
		}
		return r.structure(dst, t.Struct(), depth+1)
	case schema.Text:
		if r.IntN(8) == 0 {
			n = r.IntN(200)
		}
		dst = append(binary.BigEndian.AppendUint32(dst, uint32(n)), strings.Repeat("a", n)...)
		if n > 0 && r.Float64() < r.odd/4 {
			dst[len(dst)-1] = 0xff // no UTF-8
		}
		return dst
	case schema.Fixed:
		for range t.Size() {
			dst = append(dst, byte(r.IntN(2)))
		}
		return dst
	}
	elem, key := t.Elem(), t.Key()
	if r.Float64() < r.odd/2 {
		elem = schema.TypeI32
	}
	if key != nil {
		dst = append(dst, byte(key.Wire()))
	}
	dst = binary.BigEndian.AppendUint32(append(dst, byte(elem.Wire())), uint32(n))
	for range n {
		if key != nil {
			dst = r.value(dst, key, depth+1)
		}
		dst = r.value(dst, elem, depth+1)
	}
	return dst
}

// liveWords returns the words of an index, 0 for those that nobody uses: of a container that was
// found not to be of its type.
func liveWords(m *Message) []uint32 {
	c := indexChecker{m: m, taken: make([]string, m.ix.Used)}
	c.value(m.desc.Type(), m.root, m.desc.Name())
	words := slices.Clone(m.ix.Words[:m.ix.Used])
	for i, taken := range c.taken {
		if taken == "" {
			words[i] = 0
		}
	}
	return words
}

func TestLoopAgainstSlowParser(t *testing.T) {
	good, bad := 0, 0
	for seed := range uint64(testmode.Of(40, 150)) {
		r := &schemas{Rand: rand.New(rand.NewPCG(seed, 1))}
		r.define()
		d := r.descs[r.IntN(len(r.descs))]
		for i := range 100 {
			r.odd = []float64{0, 0.02, 0.2}[i%3]
			wire := r.structure(nil, d, 0)
			if len(wire) > 10_000 {
				continue
			}
			switch r.IntN(8) {
			case 0:
				wire = wire[:r.IntN(len(wire))]
			case 1:
				wire[r.IntN(len(wire))] ^= 1 << r.IntN(8)
			}
			opts := [][]Option{nil, nil, {ValidUTF8}, {Limits{MaxDepth: 1 + r.IntN(4)}}, {Limits{MaxIndex: 4 * r.IntN(200)}},
				{ValidUTF8, Limits{MaxDepth: 3, MaxIndex: 4 * r.IntN(400)}}}[r.IntN(6)]
			want, wantErr := parseSlowly(d, wire, opts...)
			got, err := Parse(d, wire, opts...)
			cut := r.IntN(len(wire) + 1)
			if blocks, err := ParseBlocks(d, [][]byte{wire[:cut], wire[cut:]}, opts...); err == nil != (wantErr == nil) {
				t.Fatalf("seed %d, message %d: %x cut at %d %v\n%v, want\n%v", seed, i, wire, cut, opts, err, wantErr)
			} else if err == nil {
				if g, w := TextOf(blocks, d), TextOf(want, d); g != w {
					t.Fatalf("seed %d, message %d: %x cut at %d\n%s, want\n%s", seed, i, wire, cut, g, w)
				}
				blocks.Release()
			}
			if fmt.Sprint(err) != fmt.Sprint(wantErr) {
				t.Fatalf("seed %d, message %d: %x %v\n%v, want\n%v", seed, i, wire, opts, err, wantErr)
			}
			if err != nil {
				bad++
				continue
			}
			good++
			if g, w := liveWords(got.m), liveWords(want.m); !slices.Equal(g, w) {
				t.Errorf("seed %d, message %d: %x %v\n%x, want\n%x", seed, i, wire, opts, g, w)
			}
			if g, w := got.m.duplicates, want.m.duplicates; !slices.Equal(g, w) {
				t.Errorf("seed %d, message %d: %x: earlier fields %v, want %v", seed, i, wire, g, w)
			}
			if err := CheckIndex(got.m); err != nil {
				t.Errorf("seed %d, message %d: %x: %v", seed, i, wire, err)
			}
			if t.Failed() {
				return
			}
			got.Release()
			want.Release()
		}
	}
	t.Log(good, "good messages,", bad, "bad ones")
	if good < testmode.Of(800, 3_000) || bad < testmode.Of(250, 1_000) {
		t.Error("too few of each")
	}
}
