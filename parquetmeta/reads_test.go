package parquetmeta_test

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/cespare/xxhash/v2"

	"github.com/nocopythrift/nocopythrift/nocopy"

	"github.com/nocopythrift/nocopythrift/parquetmeta"
	"github.com/nocopythrift/nocopythrift/parquetmeta/format"
)

// counted counts the calls of ReadAt and their bytes.
type counted struct {
	io.ReaderAt
	calls, bytes int
}

func (r *counted) ReadAt(b []byte, at int64) (int, error) {
	r.calls++
	r.bytes += len(b)
	return r.ReaderAt.ReadAt(b, at)
}

// TestTail: one read for a footer that the guess has, two for a longer one, whatever the guess.
func TestTail(t *testing.T) {
	file := write(t, 100, 20)
	footer := len(file) - int(opened(t, file).Offset())
	for _, guess := range []int{-1, 0, 8, 100, 64 << 10, footer - 1, footer, footer + 1, len(file), 1 << 30} {
		r := &counted{ReaderAt: bytes.NewReader(file)}
		f, err := parquetmeta.OpenTail(r, int64(len(file)), guess)
		if err != nil {
			t.Fatal(guess, err)
		}
		want := 2
		if guess >= footer {
			want = 1
		}
		if r.calls != want || r.bytes > max(footer, min(guess, len(file))) || f.NumColumns() != 100+25 && f.NumRowGroups() != 20 {
			t.Errorf("guess %d of %d: %d reads of %d bytes", guess, footer, r.calls, r.bytes)
		}
	}
}

// TestReadIndexes: one read for the indexes of all chunks, which are the same as with one for
// each.
func TestReadIndexes(t *testing.T) {
	file := write(t, 100, 20)
	r := &counted{ReaderAt: bytes.NewReader(file)}
	f, err := parquetmeta.Open(r, int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	r.calls = 0
	with, err := f.ReadIndexes()
	if err != nil || r.calls != 1 {
		t.Fatalf("%d reads: %v", r.calls, err)
	}
	chunks := 0
	for g, err := range with.RowGroups() {
		if err != nil {
			t.Fatal(err)
		}
		for c, err := range g.Chunks() {
			if err != nil {
				t.Fatal(err)
			}
			chunks++
			compareIndexes(t, file, c)
		}
	}
	for c := range with.ColumnAt(0).Chunks() { // which has Bloom filters
		r.calls = 0
		if _, _, err := c.BloomFilter(); err != nil || r.calls != 1 {
			t.Error(r.calls, err)
		}
	}
	// All the same, but 2 reads for each chunk
	r.calls = 0
	for g := range f.RowGroups() {
		for c := range g.Chunks() {
			compareIndexes(t, file, c)
		}
	}
	if r.calls < 2*chunks {
		t.Error(r.calls, "reads for", chunks, "chunks")
	}
	t.Logf("%d chunks: 1 read, not %d", chunks, r.calls)
}

// TestReadIndexesApart: indexes that are far apart are not read with what is between; those of
// others, and wrong ones, are found out.
func TestReadIndexesApart(t *testing.T) {
	m := small()
	data := make([]byte, 1<<20)
	index := format.NewOffsetIndex()
	index.NewPageLocations(1)
	b := index.Message().AppendCompact(nil)
	chunks := []format.ColumnChunk{m.GetRowGroups().At(0).GetColumns().At(0), m.GetRowGroups().At(1).GetColumns().At(1)}
	for i, at := range []int64{100, 900_000} {
		copy(data[at:], b)
		chunks[i].SetOffsetIndexOffset(at)
		chunks[i].SetOffsetIndexLength(int32(len(b)))
	}
	elsewhere := m.GetRowGroups().At(0).GetColumns().At(1)
	elsewhere.SetFilePath("other.parquet")
	elsewhere.SetOffsetIndexOffset(1 << 50)
	elsewhere.SetOffsetIndexLength(1)
	file := func() []byte {
		out, err := parquetmeta.AppendFooter(bytes.Clone(data), m)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	r := &counted{ReaderAt: bytes.NewReader(file())}
	f, err := parquetmeta.OpenTail(r, r.ReaderAt.(*bytes.Reader).Size(), 1000)
	if err != nil {
		t.Fatal(err)
	}
	r.calls, r.bytes = 0, 0
	if f, err = f.ReadIndexes(); err != nil || r.calls != 2 || r.bytes != 2*len(b) {
		t.Fatal(r, err)
	}
	for _, c := range []struct{ group, column int }{{0, 0}, {1, 1}} {
		g, _ := f.RowGroup(c.group)
		chunk, err := g.Chunk(c.column)
		if err != nil {
			t.Fatal(err)
		}
		if o, err := chunk.OffsetIndex(); err != nil || o.GetPageLocations().Len() != 1 {
			t.Error(o, err)
		}
	}
	if r.calls != 2 {
		t.Error(r.calls)
	}
	limited, err := parquetmeta.Open(bytes.NewReader(file()), int64(len(file())), nocopy.Limits{MaxBytes: 500})
	if err == nil {
		chunks[0].SetOffsetIndexLength(501)
		limited, err = parquetmeta.Open(bytes.NewReader(file()), int64(len(file())), nocopy.Limits{MaxBytes: 500})
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := limited.ReadIndexes(); !errors.Is(err, nocopy.ErrLimit) {
		t.Error(err)
	}
	for _, wrong := range [][2]int64{{-5, 10}, {10, -5}, {1 << 50, 10}, {10, 1<<31 - 1}} {
		chunks[0].SetOffsetIndexOffset(wrong[0])
		chunks[0].SetOffsetIndexLength(int32(wrong[1]))
		if _, err := opened(t, file()).ReadIndexes(); !errors.Is(err, nocopy.ErrLimit) {
			t.Error(wrong, err)
		}
	}
}

// TestMayHave: the filter has the values that are there, and few others.
func TestMayHave(t *testing.T) {
	file := write(t, 29, 2)
	for c, err := range opened(t, file).ColumnAt(0).Chunks() {
		if err != nil {
			t.Fatal(err)
		}
		have := 0
		for i := range 1000 {
			if may, err := c.MayHave(uint64(i) * 0x9e3779b97f4a7c15); err != nil {
				t.Fatal(err)
			} else if may {
				have++
			}
		}
		if may, err := c.MayHave(xxhash.Sum64String("value 0")); !may || err != nil || have > 100 {
			t.Error(may, err, have)
		}
	}
	for c := range opened(t, file).ColumnAt(1).Chunks() {
		if may, err := c.MayHave(5); !may || err != nil { // without a filter
			t.Error(may, err)
		}
	}
}
