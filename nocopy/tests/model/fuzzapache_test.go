package model_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apache/thrift/lib/go/thrift"
	"github.com/google/go-cmp/cmp"
	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/referee"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// everyShape returns a schema with a field of every shape, all optional, so that random bytes
// often fit, and the same with required fields.
func everyShape() *schema {
	structs := referee.Everything()
	loose := &referee.Struct{Name: "Loose", Fields: slices.Clone(structs[0].Fields)}
	for i := range loose.Fields {
		loose.Fields[i].Req = referee.Optional
	}
	return newSchema(append([]*referee.Struct{loose}, structs...))
}

// FuzzApache passes any bytes to Apache's library, to Parse with and without Lazy, and to Peek.
// Both libraries must accept or refuse them, and read the same values. Where they differ on
// purpose, the referee follows our rules (DESIGN.md lists them). TestDepthOfSkipped and
// TestDepthOfStructs test the bounds of nesting.
func FuzzApache(f *testing.F) {
	sc := everyShape()
	g := newGen(7)
	for i, b := range sc.structs {
		for range 6 {
			rec := g.Record(b.Struct, 1+g.Intn(3))
			g.Noise(rec)
			if wire := referee.Write(rec, rand.New(rand.NewPCG(uint64(i), 3))); len(wire) < 4000 {
				f.Add(wire, uint8(i), []byte{byte(g.Intn(20)), byte(g.Intn(3))})
			}
		}
	}
	f.Fuzz(func(t *testing.T, wire []byte, kind uint8, path []byte) {
		b := sc.structs[int(kind)%len(sc.structs)]
		want, refused := referee.Accept(b.Struct, wire)
		for _, lazy := range []bool{false, true} {
			sc.sameAsApache(t, b, wire, lazy, want, refused)
		}
		steps := make([]int, min(len(path), 8))
		for i := range steps {
			steps[i] = int(int8(path[i]))
		}
		samePeek(t, wire, steps)
		paths := [][]int{steps}
		for _, id := range ids(wire) {
			samePeek(t, wire, []int{int(id)})
			samePeek(t, wire, append([]int{int(id)}, steps...))
			paths = append(paths, []int{int(id)}, append([]int{int(id)}, steps...))
		}
		samePeekAll(t, b, wire, paths)
	})
}

// sameAsApache parses wire and compares the result with the referee's.
func (sc *schema) sameAsApache(t *testing.T, b *bound, wire []byte, lazy bool, want *referee.Record, refused error) {
	t.Helper()
	var opts []nocopy.Option
	if lazy {
		opts = append(opts, nocopy.Lazy)
	}
	h, err := thriftimpl.Parse(b.desc, wire, opts...)
	if lazy {
		_, strict := thriftimpl.Parse(b.desc, wire)
		if fmt.Sprint(err) != fmt.Sprint(strict) {
			t.Fatalf("%s, %x\nParse: %v\nwith Lazy: %v", b.Name, wire, strict, err)
		}
	}
	if err == nil && h.Message().Index() != nil {
		t.Fatalf("%s, lazy %v, %x\nIndex: %v", b.Name, lazy, wire, h.Message().Index())
	}
	switch {
	case errors.Is(err, nocopy.ErrLimit) || referee.TooDeep(refused):
		return
	case (err == nil) != (refused == nil):
		t.Fatalf("%s, lazy %v, %x\nParse: %v\nApache's library: %v", b.Name, lazy, wire, err, refused)
	case err != nil:
		return
	}
	defer h.Release()
	r := &reader{schema: sc, finished: true}
	if got := r.record(b.Struct, h); !referee.Equal(want, got) {
		t.Fatalf("%s, lazy %v, %x\nreads as (-Apache's library +getters):\n%s", b.Name, lazy, wire, cmp.Diff(referee.Plain(want), referee.Plain(got)))
	}
	for _, wrong := range r.wrong {
		t.Errorf("%s, lazy %v: %s\n%x", b.Name, lazy, wrong, wire)
	}
	if got := h.Message().Bytes(); !bytes.Equal(got, wire) {
		t.Fatalf("%s, lazy %v, %x\ngoes out as\n%x", b.Name, lazy, wire, got)
	}
}

// walker goes through bytes by Apache's protocol.
type walker struct {
	thrift.TProtocol
	mem *thrift.TMemoryBuffer
}

func walk(wire []byte) walker {
	mem := &thrift.TMemoryBuffer{Buffer: bytes.NewBuffer(wire)}
	return walker{thrift.NewTBinaryProtocolConf(mem, nil), mem}
}

func (w walker) skip(t thrift.TType) error {
	return thrift.SkipDefaultDepth(context.Background(), w.TProtocol, t)
}

// ids returns the ids of the fields in the well-formed beginning of a struct.
func ids(wire []byte) []int16 {
	var all []int16
	w := walk(wire)
	for {
		_, t, id, err := w.ReadFieldBegin(context.Background())
		if err != nil || t == thrift.STOP {
			return all
		}
		all = append(all, id)
		if w.skip(t) != nil {
			return all
		}
	}
}

// twice reports whether a field of the struct comes more than once.
func twice(wire []byte) bool {
	all := ids(wire)
	slices.Sort(all)
	return len(slices.Compact(slices.Clone(all))) < len(all)
}

// samePeek compares Peek's result with what Apache's protocol finds on the same path.
func samePeek(t *testing.T, wire []byte, path []int) {
	t.Helper()
	typ, want, refused := peek(wire, path)
	v, err := nocopy.Peek(wire, path...)
	if errors.Is(err, nocopy.ErrLimit) || referee.TooDeep(refused) {
		return
	}
	if (err == nil) != (refused == nil) || errors.Is(err, nocopy.ErrNotFound) != (refused == nocopy.ErrNotFound) {
		t.Fatalf("Peek(%x, %v): %v; by Apache's protocol: %v", wire, path, err, refused)
	}
	if err == nil && (wireType(v.Type) != typ || !bytes.Equal(v.Raw(), want)) {
		t.Fatalf("Peek(%x, %v) = %x of type %v, not %x of type %v", wire, path, v.Raw(), v.Type, want, typ)
	}
}

// samePeekAll wants PeekAll to find at once what Peek finds one by one.
func samePeekAll(t *testing.T, b *bound, wire []byte, paths [][]int) {
	t.Helper()
	want := make([]nocopy.Value, len(paths))
	var refused error
	for i, path := range paths {
		v, err := nocopy.Peek(wire, path...)
		if errors.Is(err, nocopy.ErrLimit) {
			return
		}
		if err != nil && !errors.Is(err, nocopy.ErrNotFound) {
			refused = err
		}
		want[i] = v
	}
	for _, d := range []*thriftimpl.Desc{nil, b.desc} {
		got, err := nocopy.PeekAll(nil, d, wire, paths...)
		if errors.Is(err, nocopy.ErrLimit) {
			continue
		}
		if (err == nil) != (refused == nil) {
			t.Fatalf("PeekAll(%x, %v): %v; Peek: %v", wire, paths, err, refused)
		}
		for i, v := range got {
			if v.Type != want[i].Type || !bytes.Equal(v.Raw(), want[i].Raw()) {
				t.Fatalf("PeekAll(%x): at %v %x of type %v, not %x of type %v", wire, paths[i], v.Raw(), v.Type, want[i].Raw(), want[i].Type)
			}
		}
	}
}

func peek(wire []byte, path []int) (thrift.TType, []byte, error) {
	w := walk(wire)
	at := thrift.TType(thrift.STRUCT)
	for _, step := range path {
		var err error
		switch at {
		case thrift.STRUCT:
			at, err = w.field(step)
		case thrift.LIST, thrift.SET:
			at, err = w.element(step)
		default:
			err = nocopy.ErrNotFound
		}
		if err != nil {
			return 0, nil, err
		}
	}
	from := len(wire) - w.mem.Len()
	err := w.skip(at)
	return at, wire[from : len(wire)-w.mem.Len()], err
}

func (w walker) field(want int) (thrift.TType, error) {
	for {
		_, t, id, err := w.ReadFieldBegin(context.Background())
		switch {
		case err != nil:
			return 0, err
		case t == thrift.STOP:
			return 0, nocopy.ErrNotFound
		case int(id) == want:
			return known(t)
		}
		if err := w.skip(t); err != nil {
			return 0, err
		}
	}
}

// element reads a list's header itself. Apache's library would compare the count with all
// remaining bytes, which finding one element does not need.
func (w walker) element(want int) (thrift.TType, error) {
	t, err := w.ReadByte(context.Background())
	if err != nil {
		return 0, err
	}
	n, err := w.ReadI32(context.Background())
	switch {
	case err != nil:
		return 0, err
	case n < 0:
		return 0, nocopy.ErrNegative
	case want < 0 || want >= int(n):
		return 0, nocopy.ErrNotFound
	}
	for range want {
		if err := w.skip(thrift.TType(t)); err != nil {
			return 0, err
		}
	}
	return known(thrift.TType(t))
}

// known refuses unknown types.
func known(t thrift.TType) (thrift.TType, error) {
	if slices.Contains([]thrift.TType{thrift.BOOL, thrift.BYTE, thrift.DOUBLE, thrift.I16, thrift.I32, thrift.I64, thrift.STRING,
		thrift.STRUCT, thrift.MAP, thrift.SET, thrift.LIST, thrift.UUID}, t) {
		return t, nil
	}
	return 0, nocopy.ErrType
}

// TestSpoiltAsApache damages random messages in a few places. The verdict and the values must be
// those of Apache's library.
func TestSpoiltAsApache(t *testing.T) {
	t.Parallel()
	sc := everyShape()
	rounds := testmode.Of(100, 1_000)
	seed := testmode.Seed(t)
	r := rand.New(rand.NewPCG(seed, 4))
	accepted := 0
	for i := range rounds {
		g := newGen(seed + uint64(i))
		b := sc.structs[i%len(sc.structs)]
		rec := g.Record(b.Struct, 1+g.Intn(3))
		g.Noise(rec)
		wire := referee.Write(rec, rand.New(rand.NewPCG(seed+uint64(i), 3)))
		for range 1 + r.IntN(3) {
			wire = spoil(r, wire)
		}
		want, refused := referee.Accept(b.Struct, wire)
		if refused == nil {
			accepted++
		}
		sc.sameAsApache(t, b, wire, false, want, refused)
		if !twice(wire) {
			sc.sameAsApache(t, b, wire, true, want, refused)
		}
		var paths [][]int
		for _, id := range ids(wire) {
			samePeek(t, wire, []int{int(id)})
			samePeek(t, wire, []int{int(id), r.IntN(4), r.IntN(3)})
			if r.IntN(3) == 0 {
				paths = append(paths, []int{int(id)})
			}
			paths = append(paths, []int{int(id), r.IntN(4), r.IntN(3)}, []int{int(id), r.IntN(4)})
		}
		r.Shuffle(len(paths), func(i, j int) { paths[i], paths[j] = paths[j], paths[i] })
		samePeekAll(t, b, wire, paths[:r.IntN(len(paths)+1)])
	}
	if accepted < rounds/20 {
		t.Errorf("only %d of %d spoilt messages are accepted: the test does not test much", accepted, rounds)
	}
	t.Logf("%d of %d spoilt messages are accepted", accepted, rounds)
}

// spoil changes, removes or adds a few bytes, preferably wire types and small counts.
func spoil(r *rand.Rand, wire []byte) []byte {
	at := r.IntN(len(wire) + 1)
	types := []byte{0, 1, 2, 3, 4, 6, 8, 10, 11, 12, 13, 14, 15, 16, 17, 0x7f, 0x80, 0xff}
	switch {
	case at == len(wire) || r.IntN(8) == 0:
		return slices.Insert(wire, at, types[r.IntN(len(types))])
	case r.IntN(8) == 0:
		return slices.Delete(wire, at, min(len(wire), at+1+r.IntN(4)))
	case r.IntN(8) == 0:
		from := r.IntN(len(wire))
		return slices.Insert(wire, at, bytes.Clone(wire[from:min(len(wire), from+r.IntN(40))])...)
	case r.IntN(2) == 0: // replaces a byte that may be a type
		for range 50 {
			if k := r.IntN(len(wire)); slices.Contains(types, wire[k]) {
				at = k
			}
		}
		wire[at] = types[r.IntN(len(types))]
	default:
		wire[at] += byte(1 - 2*r.IntN(2))
	}
	return wire
}
