package engine

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/index"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/parse"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wireindex"
)

// withEntries returns the message, which has no index, with one of these entries and anchors.
func withEntries(data []byte, n int, entries []byte) []byte {
	b := append(bytes.Clone(data[:len(data)-1]), byte(wire.String), byte(wireindex.Header>>8&0xff), byte(wireindex.Header&0xff))
	size := uint32(len(entries) + wireindex.TrailerBytes)
	b = append(wire.AppendBE32(b, size), entries...)
	b = wireindex.AppendNumber(wireindex.AppendNumber(b, uint32(n)), uint32(len(b))+wireindex.TrailerBytes+1)
	b = append(wireindex.AppendNumber(wireindex.AppendNumber(b, size), wireindex.Version), wireindex.Magic...)
	return append(b, 0)
}

// indexTypes are types of messages with an index, and one such message of each, without the index.
func indexTypes(t testing.TB) (types []*schema.Struct, wires [][]byte) {
	types, wires = []*schema.Struct{businessDesc}, [][]byte{largeBusiness(t, 200)}
	for seed := uint64(0); len(types) < 6; seed++ {
		g := messageMaker{rand.New(rand.NewPCG(7, seed)), 256}
		d := g.desc(3)
		wire := g.structure(nil, d, 0)
		if x, ok := wireindex.Find(withIndex(t, d, wire)); ok && x.N > 3 && len(wire) < 64<<10 {
			types, wires = append(types, d), append(wires, wire)
		}
	}
	return types, wires
}

// readByHandles reads all of a message by handles, in the order of the types, and returns the
// number of values.
func readByHandles(d *schema.Struct, s Struct, depth int) (n int) {
	if depth == 0 {
		return 0
	}
	for i := range d.Fields() {
		f, x := &d.Fields()[i], d.Field(i)
		switch {
		case !s.HasField(x):
			continue
		case f.Kind() == schema.Text:
			n += len(s.Text(x))
		case f.Kind() == schema.Fixed:
			s.m.fixedValue(index.Word(s.word(x)))
		case f.Kind() == schema.Record:
			n += readByHandles(f.Type.Struct(), s.Child(x, d), depth-1)
		case f.Kind() == schema.List && f.Type.Elem().Kind() == schema.Record:
			l := StructList[Struct](s.Child(x, d))
			for _, i := range []int{l.Len() - 1, l.Len() / 2, 0} {
				if i >= 0 && l.Len() > 0 {
					n += readByHandles(f.Type.Elem().Struct(), l.At(i), depth-1)
				}
			}
			for _, v := range l.All() {
				n += readByHandles(f.Type.Elem().Struct(), v, depth-1)
			}
		default:
			n += s.Child(x, d).ListLen()
		}
		n++
	}
	return n
}

// checkHostileIndex reads a message whose index may say anything: nothing outside of it is read,
// the index in memory stays within its limit, and the values that Index accepts are those of a
// plain parse.
func checkHostileIndex(t testing.TB, d *schema.Struct, b []byte) {
	t.Helper()
	guarded := append(make([]byte, 0, len(b)+64), b...)
	for i := range 64 {
		guarded[:len(b)+64][len(b)+i] = 0xee
	}
	plain, plainErr := Parse(d, b)
	for _, opts := range [][]Option{{ByIndex}, {RequireIndex, Recycle}, {ByIndex, ValidUTF8, Limits{MaxDepth: 5, MaxIndex: 4 << 10}}} {
		s, err := Parse(d, guarded, opts...)
		if err != nil {
			if e := (*wire.Error)(nil); !errors.As(err, &e) {
				t.Fatalf("not an *wire.Error: %v", err)
			}
			continue
		}
		m := s.m
		readByHandles(d, s, 12)
		_ = TextOf(s, d)
		if m.landing != nil && uint64(m.ix.Used) > 2*uint64(m.limits.maxIndex(len(b)))+1<<14 {
			t.Fatalf("%d words for %d bytes", m.ix.Used, len(b))
		}
		if err := m.Index(); err == nil {
			if plainErr != nil {
				t.Fatalf("accepted, but for a plain parse it is %v", plainErr)
			}
			if TextOf(s, d) != TextOf(plain, d) {
				t.Fatalf("Index accepts what reads as\n%s not\n%s", TextOf(s, d), TextOf(plain, d))
			}
		} else if e := (*wire.Error)(nil); !errors.As(err, &e) {
			t.Fatalf("not an *wire.Error: %v", err)
		}
		if !bytes.Equal(m.Bytes(), b) {
			t.Fatal("reading has changed the message")
		}
		s.Release()
	}
}

// withRootField returns the entries with one more, in its place, which tells the truth about a
// field of the root, or nearly.
func withRootField(rnd *rand.Rand, d *schema.Struct, data, body []byte, n int) ([]byte, int) {
	starts := []int{0}
	for i := 0; data[i] != byte(wire.Stop); {
		end, err := parse.Skip(data, i+wire.FieldHeader, wire.Type(data[i]), parse.MaxBudget, 1)
		if err != nil {
			panic(err)
		}
		i = end
		starts = append(starts, end)
	}
	which := rnd.IntN(len(starts) - 1)
	at, header := starts[which]+wire.FieldHeader, wire.HeaderAt(data, starts[which])
	hash := rnd.Uint32()
	if f := d.Find(header); f != nil {
		hash = f.Type.Hash()
	}
	end := starts[which+1+rnd.IntN(len(starts)-which-1)]
	if rnd.IntN(3) == 0 {
		end = at + rnd.IntN(len(data)-at)
	}
	e := wireindex.AppendNumber(wireindex.AppendNumber(nil, uint32(at)), uint32(end))
	e = wireindex.AppendNumber(wireindex.AppendNumber(wireindex.AppendNumber(e, header<<wireindex.StrideBits), hash), 0)
	k := 0
	for k < n && int(wireindex.Number(body[k*wireindex.EntryBytes:])) < at {
		k++
	}
	return slices.Insert(body, k*wireindex.EntryBytes, e...), n + 1
}

// FuzzByIndex reads messages whose index, or whose bytes, are anything.
func FuzzByIndex(f *testing.F) {
	types, wires := indexTypes(f)
	for i, d := range types {
		x, _ := wireindex.Find(withIndex(f, d, wires[i]))
		f.Add(uint8(i), uint16(x.N), x.Bytes[:len(x.Bytes)-wireindex.TrailerBytes], uint32(0), byte(0))
		f.Add(uint8(i), uint16(x.N), x.Bytes[:len(x.Bytes)-wireindex.TrailerBytes], uint32(len(wires[i])/2), byte(1))
	}
	f.Fuzz(func(t *testing.T, kind uint8, n uint16, index []byte, at uint32, flip byte) {
		k := int(kind) % len(types)
		if int(n)*wireindex.EntryBytes > len(index) {
			n = uint16(len(index) / wireindex.EntryBytes)
		}
		b := withEntries(wires[k], int(n), index)
		b[int(at)%len(b)] ^= flip
		checkHostileIndex(t, types[k], b)
	})
}

// TestHostileIndex does as FuzzByIndex with indexes that were changed a little, or lie in ways
// that fit the message.
func TestHostileIndex(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(2, testmode.Seed(t)))
	types, wires := indexTypes(t)
	for range testmode.Of(100, 1000) {
		k := rnd.IntN(len(types))
		with := withIndex(t, types[k], wires[k])
		x, _ := wireindex.Find(with)
		body := bytes.Clone(x.Bytes[:len(x.Bytes)-wireindex.TrailerBytes])
		n := x.N
		for range 1 + rnd.IntN(3) {
			at := rnd.IntN(len(body)/4) * 4
			switch v := wireindex.Number(body[at:]); rnd.IntN(9) {
			case 0:
				wireindex.PutNumber(body[at:], v+uint32(rnd.IntN(9))-4)
			case 1:
				wireindex.PutNumber(body[at:], rnd.Uint32())
			case 2: // what another entry says
				copy(body[at:], body[rnd.IntN(x.N)*wireindex.EntryBytes+at%wireindex.EntryBytes:][:4])
			case 3:
				body[rnd.IntN(len(body))] ^= 1 << rnd.IntN(8)
			case 4:
				n = rnd.IntN(n + 1)
			case 5: // the place of a value in another
				wireindex.PutNumber(body[at:], uint32(rnd.IntN(len(with))))
			case 6: // a field of the root, of any type
				e := body[rnd.IntN(x.N)*wireindex.EntryBytes:]
				f := &types[k].Fields()[rnd.IntN(len(types[k].Fields()))]
				wireindex.PutNumber(e[wireindex.EntryFieldAt:], f.Header()<<wireindex.StrideBits)
				wireindex.PutNumber(e[wireindex.EntryTypesAt:], f.Type.Hash())
			case 7: // an entry for any of the root's fields
				body, n = withRootField(rnd, types[k], wires[k], body, n)
			case 8: // entries in another order, and one ends elsewhere
				a, b := body[rnd.IntN(x.N)*wireindex.EntryBytes:][:wireindex.EntryBytes], body[rnd.IntN(x.N)*wireindex.EntryBytes:][:wireindex.EntryBytes]
				wireindex.PutNumber(a[wireindex.EntryEndAt:], uint32(rnd.IntN(len(with))))
				c := bytes.Clone(a)
				copy(a, b)
				copy(b, c)
			}
		}
		b := withEntries(wires[k], n, body)
		if rnd.IntN(4) == 0 {
			b[rnd.IntN(len(wires[k]))] ^= 1 << rnd.IntN(8)
		}
		checkHostileIndex(t, types[k], b)
	}
}
