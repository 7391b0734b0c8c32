package parquetmeta_test

import (
	"bytes"
	"errors"
	"io"
	"sync"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/nocopythrift/nocopythrift/nocopy"

	"github.com/nocopythrift/nocopythrift/parquetmeta"
	"github.com/nocopythrift/nocopythrift/parquetmeta/format"
)

// TestEdit: a file gets another footer, and parquet-go reads its rows.
func TestEdit(t *testing.T) {
	file := write(t, 29, 3)
	f := opened(t, file)
	m, err := f.Metadata()
	if err != nil {
		t.Fatal(err)
	}
	parquetmeta.SetKeyValue(m, "origin", "edited")
	parquetmeta.SetKeyValue(m, "new", "value")
	parquetmeta.DropStatistics(m)
	edited, err := parquetmeta.AppendFooter(file[:f.Offset():f.Offset()], m)
	if err != nil {
		t.Fatal(err)
	}
	g := opened(t, edited)
	for key, want := range map[string]string{"origin": "edited", "new": "value"} {
		if have, ok := g.KeyValue(key); !ok || have != want {
			t.Errorf("%s: %q, %v", key, have, ok)
		}
	}
	if have, ok := g.KeyValue("other"); ok || have != "" {
		t.Error(have)
	}
	for c, err := range g.ColumnAt(0).Chunks() {
		if err != nil {
			t.Fatal(err)
		}
		if s := c.Statistics; s.MinValue != nil || s.MaxValue != nil || s.NullCount != -1 || c.ColumnIndexOffset != -1 || c.OffsetIndexOffset <= 0 {
			t.Errorf("%+v", c)
		}
	}
	read, err := parquet.OpenFile(bytes.NewReader(edited), int64(len(edited)))
	if err != nil {
		t.Fatal(err)
	}
	if v, _ := read.Lookup("origin"); v != "edited" || read.NumRows() != 6 {
		t.Errorf("%q, %d rows", v, read.NumRows())
	}
	rows := make([]parquet.Row, 10)
	for _, g := range read.RowGroups() {
		r := g.Rows()
		if n, err := r.ReadRows(rows); n != 2 || err != nil && err != io.EOF {
			t.Error(n, err)
		}
		r.Close()
	}
}

// TestUnknownFields: fields of later formats stay.
func TestUnknownFields(t *testing.T) {
	m := small()
	b := compact(m)
	b = append(b[:len(b)-1], 0xf8, 3, 'n', 'e', 'w', 0) // a text of id 19
	f := opened(t, fileOf(b))
	again, err := f.Metadata()
	if err != nil {
		t.Fatal(err)
	}
	parquetmeta.SetKeyValue(again, "k", "v")
	parquetmeta.SetKeyValue(again, "k", "w")
	out, err := parquetmeta.AppendFooter(nil, again)
	if err != nil || !bytes.Contains(out, []byte("\x03new")) {
		t.Errorf("%q, %v", out, err)
	}
	if v, _ := opened(t, out).KeyValue("k"); v != "w" {
		t.Error(v)
	}
}

// TestKeyTwice: setting a key leaves one pair of it.
func TestKeyTwice(t *testing.T) {
	m := small()
	for _, key := range []string{"a", "k", "k", "b", "k"} {
		pair := m.GetKeyValueMetadata()
		if !m.IsSetKeyValueMetadata() {
			pair = m.NewKeyValueMetadata(0)
		}
		pair.AppendNew().SetKey(key)
	}
	parquetmeta.SetKeyValue(m, "k", "v")
	have := ""
	for k, v := range opened(t, fileOf(compact(m))).KeyValues() {
		have += k + "=" + v + " "
	}
	if have != "a= k=v b= " {
		t.Error(have)
	}
}

// TestIncomplete: a footer that lacks required fields is not written.
func TestIncomplete(t *testing.T) {
	m := format.NewFileMetaData()
	if out, err := parquetmeta.AppendFooter([]byte("x"), m); !errors.Is(err, nocopy.ErrMissingRequired) || string(out) != "x" {
		t.Error(out, err)
	}
}

// TestColumn: columns are found by their paths, whether names have dots or not.
func TestColumn(t *testing.T) {
	m := format.NewFileMetaData()
	m.SetVersion(1)
	names := []string{"root", "a", "b.c", "d", "a.b", "c", "", "f"}
	children := []int32{4, 2, 0, 0, 1, 0, 0, 0}
	schema := m.NewSchema(len(names) + 20)
	for i, e := range schema.All() {
		e.SetName("more")
		e.SetRepetitionType(format.FieldRepetitionType(i % 3))
		if i < len(names) {
			e.SetName(names[i])
		}
		if i < len(names) && children[i] > 0 {
			e.SetNumChildren(children[i])
		} else {
			e.SetType(format.Type_BOOLEAN)
		}
	}
	schema.At(0).SetNumChildren(24)
	m.SetNumRows(0)
	m.NewRowGroups(0)
	f := opened(t, fileOf(compact(m)))
	for path, want := range map[string]int{"a.b.c": 0, "a.d": 1, "": 3, "f": 4, "more": 5, "a": -1, "a.b": -1, "x": -1, "a.": -1, "more.more": -1} {
		first := opened(t, fileOf(compact(m))).Column(path).Number() // later lookups are by hashes
		if have := f.Column(path).Number(); have != want || first != want {
			t.Errorf("column %q: %d and %d, not %d", path, first, have, want)
		}
	}
	if n := f.ColumnAt(1).Node(); n.Name() != "d" || n.Path() != "a.d" || n.MaxDefinitionLevel() != 1 || n.MaxRepetitionLevel() != 0 {
		t.Error(n.Path(), n.MaxDefinitionLevel(), n.MaxRepetitionLevel())
	}
	for _, err := range f.Column("a.b").Chunks() {
		if !errors.Is(err, nocopy.ErrNotFound) {
			t.Error(err)
		}
	}
}

// TestAllocations: reading in place allocates nothing for each chunk.
func TestAllocations(t *testing.T) {
	file := write(t, 29, 100)
	r := bytes.NewReader(file)
	n := testing.AllocsPerRun(10, func() {
		f, err := parquetmeta.Open(r, int64(len(file)))
		if err != nil {
			t.Fatal(err)
		}
		for g := range f.RowGroups() {
			for c, err := range g.Chunks() {
				if err != nil || c.NumValues < 0 {
					t.Fatal(err)
				}
			}
		}
	})
	if n > 30 {
		t.Errorf("%v allocations for 3,300 chunks", n)
	}
}

// TestGoroutines: a File may be used by many goroutines at once.
func TestGoroutines(t *testing.T) {
	f := opened(t, write(t, 58, 2))
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for i := range f.NumColumns() {
				for c, err := range f.Column(f.ColumnAt(i).Path()).Chunks() {
					if err != nil || c.Column != i {
						t.Error(c, err)
					}
				}
			}
			if _, err := f.Metadata(); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}
