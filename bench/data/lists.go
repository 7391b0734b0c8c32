package data

import "math"

// Bulk is workload H: a list of numbers; the other three stay empty.
type Bulk struct {
	Longs   []int64
	Ints    []int32
	Shorts  []int16
	Doubles []float64
}

// Spots returns what a list that is read as a whole adds to a sum: its length and some of its
// elements. Adding up all would take most of the measured time.
func Spots[T int64 | int32 | int16](s []T) uint64 {
	n := len(s)
	if n == 0 {
		return 0
	}
	return uint64(n) + uint64(s[0]) + uint64(s[n/3]) + uint64(s[n-1])
}

// SpotsF64 returns the number of elements, if there are any, plus the bits of three of them: the
// first, the one after a third, and the last.
func SpotsF64(s []float64) uint64 {
	n := len(s)
	if n == 0 {
		return 0
	}
	return uint64(n) + math.Float64bits(s[0]) + math.Float64bits(s[n/3]) + math.Float64bits(s[n-1])
}

// OrNil returns s, or nil if it is empty: an empty list and none are the same to the benchmark.
func OrNil[T any](s []T) []T {
	if len(s) == 0 {
		return nil
	}
	return s
}

// newBulk returns n numbers of an element type, as the IDL calls it.
func newBulk(elem string, n int) *Bulk {
	r := newSource(7)
	v := new(Bulk)
	for range n {
		switch x := r.Int64(); elem {
		case "i64":
			v.Longs = append(v.Longs, x)
		case "i32":
			v.Ints = append(v.Ints, int32(x))
		case "i16":
			v.Shorts = append(v.Shorts, int16(x))
		case "double":
			v.Doubles = append(v.Doubles, r.NormFloat64())
		}
	}
	return v
}
