package memory

import (
	"bytes"
	"fmt"
	"io"
	"testing"
)

// piecesOf returns pieces of memory of these sizes, and their bytes.
func piecesOf(sizes ...int) (pieces [][]byte, all []byte) {
	for i, n := range sizes {
		mem := bytes.Repeat([]byte{byte(i + 1)}, n)
		pieces, all = append(pieces, mem), append(all, mem...)
	}
	return pieces, all
}

// recorder is a Writer that records what is written to it.
type recorder struct {
	bytes.Buffer
	sizes []int
}

func (r *recorder) Write(b []byte) (int, error) {
	r.sizes = append(r.sizes, len(b))
	return r.Buffer.Write(b)
}

// writeVectored writes as to a connection with writev, but each piece on its own.
func writeVectored(pieces [][]byte, w io.Writer) (Stats, error) {
	g := &Gatherer{w: w, vectored: true}
	for _, p := range pieces {
		g.Add(p, false)
	}
	return g.End()
}

// TestWriteGathers: small pieces are copied together, large ones are written from their place.
func TestWriteGathers(t *testing.T) {
	for _, c := range []struct {
		name  string
		sizes []int
		want  []int // writes
		stats Stats
	}{
		{"nothing", nil, nil, Stats{}},
		{"one small piece", []int{10}, []int{10}, Stats{10, 1, 0, 0}},
		{"one large piece", []int{5000}, []int{5000}, Stats{5000, 1, 1, 5000}},
		{"small pieces become one", []int{10, 20, 1023}, []int{1053}, Stats{1053, 1, 0, 0}},
		{"large ones stay", []int{1024, 2000}, []int{1024, 2000}, Stats{3024, 2, 2, 3024}},
		{"small ones between large ones", []int{1, 2000, 2, 3, 3000, 4}, []int{1, 2000, 5, 3000, 4}, Stats{5010, 5, 2, 5000}},
	} {
		t.Run(c.name, func(t *testing.T) {
			pieces, want := piecesOf(c.sizes...)
			var r recorder
			stats, err := writeVectored(pieces, &r)
			if err != nil || stats != c.stats {
				t.Errorf("%s: %+v, %v, want %+v", c.name, stats, err, c.stats)
			}
			if fmt.Sprint(r.sizes) != fmt.Sprint(c.want) || !bytes.Equal(r.Bytes(), want) {
				t.Errorf("%s: written as %v, want %v", c.name, r.sizes, c.want)
			}
		})
	}
}
