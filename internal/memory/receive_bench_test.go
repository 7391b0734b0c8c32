package memory

import (
	"strconv"
	"testing"
)

// endless is a Reader that never ends, and is as fast as copying memory.
type endless []byte

func (e endless) Read(b []byte) (int, error) { return copy(b, e), nil }

func BenchmarkReceive(b *testing.B) {
	src := make(endless, 1<<20)
	for _, size := range []int{200, 4 << 10, 64 << 10, 1 << 20} {
		b.Run(strconv.Itoa(size), func(b *testing.B) {
			var r Receiver
			r.Reset(false)
			b.SetBytes(int64(size))
			for b.Loop() {
				for len(r.Bytes()) < size {
					r.Fill(src, size)
				}
				r.Take(size).Release()
			}
		})
	}
}
