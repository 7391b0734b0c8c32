package byteorder_test

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/byteorder"
)

type enum int32

// check converts slices of every length up to 200 to bytes and back, each at some alignment. The
// bytes must be those that encoding/binary writes.
func check[E int8 | int16 | int32 | int64 | float64 | enum](t *testing.T, name string, store func([]byte, []E), load func([]E, []byte), value func() E) {
	t.Run(name, func(t *testing.T) {
		for n := range 201 {
			values := make([]E, n)
			for i := range values {
				values[i] = value()
			}
			want, err := binary.Append(nil, binary.BigEndian, values)
			if err != nil {
				t.Fatal(err)
			}
			memory := make([]byte, n%17+len(want)+9)
			for i := range memory {
				memory[i] = 0xa5
			}
			b := memory[n%17:]
			store(b, values)
			if got := b[:len(want)]; !slices.Equal(got, want) {
				t.Fatalf("%d elements are stored as %x instead of %x", n, got, want)
			}
			for _, guard := range append(slices.Clone(memory[:n%17]), b[len(want):]...) {
				if guard != 0xa5 {
					t.Fatalf("storing %d elements changed bytes around them", n)
				}
			}
			back := make([]E, n+2)
			load(back[1:n+1], b)
			if again, err := binary.Append(nil, binary.BigEndian, back[1:n+1]); err != nil || !slices.Equal(again, want) {
				t.Fatalf("%x is loaded as %v instead of %v", want, back[1:n+1], values)
			}
			if back[0] != 0 || back[n+1] != 0 {
				t.Fatalf("loading %d elements changed those around them", n)
			}
			if n == 0 {
				continue
			}
			if panics(func() { load(back[:n], want[:len(want)-1:len(want)-1]) }) != true || panics(func() { store(make([]byte, len(want)-1), values) }) != true {
				t.Fatalf("%d elements fit into %d bytes", n, len(want)-1)
			}
		}
	})
}

func panics(f func()) (did bool) {
	defer func() { did = recover() != nil }()
	f()
	return false
}

// TestConvert: all types, at all lengths, in both directions. All bits are preserved, even those
// of NaNs.
func TestConvert(t *testing.T) {
	rand := rand.New(rand.NewPCG(1, 2))
	check(t, "int8", byteorder.Store[int8], byteorder.Load[int8], func() int8 { return int8(rand.Uint32()) })
	check(t, "int16", byteorder.Store[int16], byteorder.Load[int16], func() int16 { return int16(rand.Uint32()) })
	check(t, "int32", byteorder.Store[int32], byteorder.Load[int32], func() int32 { return int32(rand.Uint32()) })
	check(t, "enum", byteorder.Store[enum], byteorder.Load[enum], func() enum { return enum(rand.Uint32()) })
	check(t, "int64", byteorder.Store[int64], byteorder.Load[int64], func() int64 { return int64(rand.Uint64()) })
	check(t, "float64", byteorder.Store[float64], byteorder.Load[float64], func() float64 {
		if rand.IntN(4) == 0 {
			// A NaN with a payload
			return math.Float64frombits(0x7ff8<<48 | rand.Uint64N(1<<48))
		}
		return math.Float64frombits(rand.Uint64())
	})
}

// TestNothing: nil is a slice too.
func TestNothing(t *testing.T) {
	byteorder.Load[int64](nil, nil)
	byteorder.Store[int64](nil, nil)
	byteorder.Load[int16](nil, []byte{1, 2})
	byteorder.Store[float64]([]byte{1, 2}, nil)
}

// TestAllocations: converting allocates nothing.
func TestAllocations(t *testing.T) {
	v, b := make([]int64, 100), make([]byte, 800)
	if n := testing.AllocsPerRun(100, func() {
		byteorder.Store(b, v)
		byteorder.Load(v, b)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
