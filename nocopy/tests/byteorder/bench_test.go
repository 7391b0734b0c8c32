package byteorder_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/nocopythrift/nocopythrift/internal/byteorder"
)

// BenchmarkAgainstCopy reports the speed of converting divided by the speed of copying the same
// bytes: 1 is the same, more is faster. Each round measures both, in random order. The result is
// the median of the rounds' ratios, so that other load on the machine matters little. Bytes begin
// at an odd address.
func BenchmarkAgainstCopy(b *testing.B) {
	for _, n := range []int{16, 128, 512, 4096, 32768, 131072, 1 << 20} {
		against(b, "int64", n, 8, byteorder.Load[int64], byteorder.Store[int64])
		against(b, "float64", n, 8, byteorder.Load[float64], byteorder.Store[float64])
		against(b, "int32", n, 4, byteorder.Load[int32], byteorder.Store[int32])
		against(b, "int16", n, 2, byteorder.Load[int16], byteorder.Store[int16])
	}
}

func against[E int16 | int32 | int64 | float64](b *testing.B, name string, n, size int, load func([]E, []byte), store func([]byte, []E)) {
	values, bytes := make([]E, n), make([]byte, n*size+35)[35:]
	other, from := make([]byte, n*size), make([]byte, n*size)
	// Memory that was never written to is mapped to a single page of zeroes: reading it would be
	// too fast.
	for _, fresh := range [][]byte{bytes, other, from} {
		for i := range fresh {
			fresh[i] = byte(i)
		}
	}
	load(values, bytes)
	loads := func() { load(values, bytes) }
	stores := func() { store(bytes, values) }
	copies := func() { copy(other, bytes) }
	copiesBack := func() { copy(bytes, from) }
	b.Run(fmt.Sprintf("%s/%d/load", name, n), func(b *testing.B) { report(b, n*size, loads, copies) })
	b.Run(fmt.Sprintf("%s/%d/store", name, n), func(b *testing.B) { report(b, n*size, stores, copiesBack) })
}

func report(b *testing.B, size int, convert, copies func()) {
	const rounds = 41
	each := max(3, 1<<18/size)
	timed := func(f func()) float64 {
		f()
		start := time.Now()
		for range each {
			f()
		}
		return float64(time.Since(start).Nanoseconds()) / float64(each)
	}
	var ours, ratios []float64
	for b.Loop() {
		for range rounds {
			var convertTime, copyTime float64
			if rand.IntN(2) == 0 {
				convertTime, copyTime = timed(convert), timed(copies)
			} else {
				copyTime, convertTime = timed(copies), timed(convert)
			}
			ours, ratios = append(ours, convertTime), append(ratios, copyTime/convertTime)
		}
	}
	slices.Sort(ours)
	slices.Sort(ratios)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(ours[len(ours)/2], "ns")
	b.ReportMetric(float64(size)/ours[len(ours)/2], "GB/s")
	b.ReportMetric(ratios[len(ratios)/2], "×copy")
}
