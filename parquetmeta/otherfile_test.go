package parquetmeta_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy"

	"github.com/nocopythrift/nocopythrift/parquetmeta"
)

// elsewhere returns a _metadata file whose row group i is in the file paths[i]; "-" stands for no
// path. Its chunks have all
// indexes, at places that are in this file, too.
func elsewhere(t *testing.T, paths ...string) []byte {
	t.Helper()
	m := small()
	groups := m.GetRowGroups()
	for i, path := range paths {
		for _, c := range groups.At(i).GetColumns().All() {
			if path != "-" {
				c.SetFilePath(path)
			}
			c.SetOffsetIndexOffset(4)
			c.SetOffsetIndexLength(5)
			c.SetColumnIndexOffset(4)
			c.SetColumnIndexLength(5)
			d := c.GetMetaData()
			d.SetDataPageOffset(4)
			d.SetTotalCompressedSize(5)
			d.SetBloomFilterOffset(4)
			d.SetBloomFilterLength(5)
		}
		groups.At(i).SetFileOffset(4)
	}
	return fileOf(compact(m))
}

// TestOtherFile: of chunks in other files, all that the footer says is read, and their places are
// refused with the name of the file.
func TestOtherFile(t *testing.T) {
	for _, paths := range [][]string{{"year=2026/part-0.parquet", "-"}, {"", "../../etc/passwd"}, {strings.Repeat("x", 1000), "ü\x00\xff"}} {
		f := opened(t, elsewhere(t, paths...))
		for i, path := range paths {
			g, err := f.RowGroup(i)
			if err != nil || g.FileOffset != 4 {
				t.Error(g, err)
			}
			for c, err := range g.Chunks() {
				if err != nil {
					t.Fatal(err)
				}
				checkPlace(t, c, strings.TrimPrefix(path, "-"))
			}
		}
		for c, err := range f.Column("a.b").Chunks() {
			if err != nil {
				t.Fatal(err)
			}
			checkPlace(t, c, strings.TrimPrefix(paths[c.RowGroup], "-"))
		}
	}
}

func checkPlace(t *testing.T, c parquetmeta.Chunk, path string) {
	t.Helper()
	if c.FilePath() != path || c.NumValues != int64(c.Column+1) || c.DataPageOffset != 4 || c.Statistics.NullCount != 0 {
		t.Errorf("%q: %+v", c.FilePath(), c)
	}
	offset, length, e1 := c.Range()
	_, e2 := c.OffsetIndex()
	_, e3 := c.ColumnIndex()
	_, _, e4 := c.BloomFilter()
	if path == "" {
		if offset != 4 || length != 5 || errors.Is(errors.Join(e1, e2, e3, e4), parquetmeta.ErrOtherFile) {
			t.Error(offset, length, e1, e2, e3, e4)
		}
		return
	}
	for i, err := range []error{e1, e2, e3, e4} {
		if !errors.Is(err, parquetmeta.ErrOtherFile) || errors.Is(err, nocopy.ErrLimit) || len(err.Error()) > 400 ||
			path[0] < 0x80 && !strings.Contains(err.Error(), path[:min(len(path), 200)]) || strings.ContainsRune(err.Error(), 0) {
			t.Errorf("call %d: %v", i, err)
		}
	}
}

// TestOtherFileWithout: a chunk in another file that has no indexes has none, without an error. An
// encrypted one is in the other file, too.
func TestOtherFileWithout(t *testing.T) {
	m := small()
	for _, g := range m.GetRowGroups().All() {
		for _, c := range g.GetColumns().All() {
			c.SetFilePath("part.parquet")
		}
	}
	for c, err := range opened(t, fileOf(compact(m))).ColumnAt(0).Chunks() {
		if err != nil {
			t.Fatal(err)
		}
		o, e1 := c.OffsetIndex()
		i, e2 := c.ColumnIndex()
		b, _, e3 := c.BloomFilter()
		if err := errors.Join(e1, e2, e3); err != nil || o.Valid() || i.Valid() || b.Valid() {
			t.Error(err)
		}
		if _, _, err := c.Range(); !errors.Is(err, parquetmeta.ErrOtherFile) {
			t.Error(err)
		}
	}
}

// TestOtherFileKept: editing and writing a footer keeps the paths of chunks, also if it is merged
// from those of several files.
func TestOtherFileKept(t *testing.T) {
	file := elsewhere(t, "one.parquet", "two.parquet")
	m, err := opened(t, file).Metadata()
	if err != nil {
		t.Fatal(err)
	}
	parquetmeta.SetKeyValue(m, "k", "v")
	parquetmeta.DropStatistics(m)
	other, err := opened(t, elsewhere(t, "three.parquet", "-")).Metadata()
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range other.GetRowGroups().All() {
		m.GetRowGroups().Append(g)
	}
	out, err := parquetmeta.AppendFooter(nil, m)
	if err != nil {
		t.Fatal(err)
	}
	out = append([]byte("PAR1"), out...)
	want := []string{"one.parquet", "two.parquet", "three.parquet", ""}
	for c, err := range opened(t, out).ColumnAt(1).Chunks() {
		if err != nil || c.FilePath() != want[c.RowGroup] {
			t.Error(c.RowGroup, c.FilePath(), err)
		}
		if d, err := c.Metadata(); err != nil || d.GetFilePath() != want[c.RowGroup] {
			t.Error(d.GetFilePath(), err)
		}
	}
	if n := opened(t, out).NumRowGroups(); n != 4 {
		t.Error(n, "row groups")
	}
}

// TestOtherFileOpened: the chunks are in the file that is named.
func TestOtherFileOpened(t *testing.T) {
	part, err := os.ReadFile("testdata/orders.parquet")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "part.parquet"), part, 0o666); err != nil {
		t.Fatal(err)
	}
	f := opened(t, part)
	m, err := f.Metadata()
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range m.GetRowGroups().All() {
		for _, c := range g.GetColumns().All() {
			c.SetFilePath("part.parquet")
		}
	}
	footer, err := parquetmeta.AppendFooter([]byte("PAR1"), m)
	if err != nil {
		t.Fatal(err)
	}
	// As large as the part, so that all places are in this file, too
	size := len(part) + len(footer)
	file := append(make([]byte, size-len(footer)), footer...)
	for g, err := range opened(t, file).RowGroups() {
		if err != nil {
			t.Fatal(err)
		}
		for c, err := range g.Chunks() {
			if err != nil {
				t.Fatal(err)
			}
			if _, _, err := c.Range(); !errors.Is(err, parquetmeta.ErrOtherFile) {
				t.Fatal(err)
			}
			b, err := os.ReadFile(filepath.Join(dir, c.FilePath()))
			if err != nil {
				t.Fatal(err)
			}
			their, err := opened(t, b).RowGroup(g.Number)
			if err != nil {
				t.Fatal(err)
			}
			same, err := their.Chunk(c.Column)
			if err != nil || same.DataPageOffset != c.DataPageOffset || same.FilePath() != "" {
				t.Error(same, err)
			}
			if _, _, err := same.Range(); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestOtherFileHostile: a path that ends beyond the footer is an error.
func TestOtherFileHostile(t *testing.T) {
	m := small()
	m.GetRowGroups().At(0).GetColumns().At(0).SetFilePath("part.parquet")
	b := compact(m)
	at := bytes.Index(b, []byte("part.parquet"))
	b[at-1] = 0x7f // its length
	if err := everything(fileOf(b)); err == nil {
		t.Error("a path beyond its footer was accepted")
	}
}
