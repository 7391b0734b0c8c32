package parquetmeta_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/parquet-go/parquet-go"

	"github.com/nocopythrift/nocopythrift/nocopy"

	"github.com/nocopythrift/nocopythrift/parquetmeta"
	"github.com/nocopythrift/nocopythrift/parquetmeta/format"
)

// folder writes files into a new folder.
func folder(t *testing.T, files map[string][]byte) fs.FS {
	t.Helper()
	dir := t.TempDir()
	for name, b := range files {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, b, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return os.DirFS(dir)
}

// paths returns the paths of the row groups' first chunks.
func paths(t *testing.T, f *parquetmeta.File) string {
	t.Helper()
	var all []string
	for c, err := range f.ColumnAt(0).Chunks() {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, c.FilePath())
	}
	return strings.Join(all, " ")
}

// TestFolder: a folder is a dataset, by its files, by those that are named, or by its _metadata.
func TestFolder(t *testing.T) {
	one, two := write(t, 29, 2), write(t, 29, 1)
	files := map[string][]byte{
		"b.parquet": one, "a/x=1/part.parquet": two, "_common_metadata": two, ".hidden.parquet": nil, "_temporary/c.parquet": nil, "notes.txt": nil,
	}
	f, err := parquetmeta.OpenFolder(folder(t, files))
	if err != nil {
		t.Fatal(err)
	}
	if have := paths(t, f); have != "a/x=1/part.parquet b.parquet b.parquet" || f.NumRows() != 6 || f.NumRowGroups() != 3 {
		t.Error(have, f.NumRows())
	}
	f, err = parquetmeta.OpenFiles(folder(t, files), []string{"b.parquet"})
	if err != nil || paths(t, f) != "b.parquet b.parquet" || f.NumRows() != 4 {
		t.Error(err)
	}
	if v, _ := f.KeyValue("origin"); v != "test" {
		t.Error(v)
	}
	files["_metadata"] = one
	if f, err = parquetmeta.OpenFolder(folder(t, files)); err != nil || paths(t, f) != " " {
		t.Error(err)
	}
	// What it describes is as in the file.
	f, _ = parquetmeta.OpenFiles(folder(t, files), []string{"a/x=1/part.parquet", "b.parquet"})
	single := opened(t, one)
	for g, err := range f.RowGroups() {
		if err != nil {
			t.Fatal(err)
		}
		if g.Number == 0 {
			continue
		}
		their, err := single.RowGroup(g.Number - 1)
		if err != nil || their.NumRows != g.NumRows || their.TotalByteSize != g.TotalByteSize {
			t.Error(their, g, err)
		}
		for i := range single.NumColumns() {
			a, e1 := g.Chunk(i)
			b, e2 := their.Chunk(i)
			if e1 != nil || e2 != nil || a.DataPageOffset != b.DataPageOffset || !bytes.Equal(a.Statistics.MaxValue, b.Statistics.MaxValue) {
				t.Error(a, b, e1, e2)
			}
		}
	}
}

// TestFolderWrong: each fault names the file.
func TestFolderWrong(t *testing.T) {
	good := write(t, 29, 1)
	edited := func(change func(m format.FileMetaData)) []byte {
		m, err := opened(t, good).Metadata()
		if err != nil {
			t.Fatal(err)
		}
		change(m)
		out, err := parquetmeta.AppendFooter([]byte("PAR1"), m)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	for name, test := range map[string]struct {
		file []byte
		want error
		text string
	}{
		"no Parquet":     {[]byte("hello, world"), parquetmeta.ErrNotParquet, `"b.parquet": parquetmeta: the file ends with`},
		"fewer columns":  {write(t, 28, 1), parquetmeta.ErrSchema, `"b.parquet" has another number of columns`},
		"another type":   {edited(func(m format.FileMetaData) { m.GetSchema().At(5).SetType(format.Type_INT96) }), parquetmeta.ErrSchema, `another column "column_`},
		"another order":  {edited(func(m format.FileMetaData) { m.GetColumnOrders().At(3).NewIEEE_754_TOTAL_ORDER() }), parquetmeta.ErrSchema, "another order of column 3"},
		"no orders":      {edited(func(m format.FileMetaData) { m.UnsetColumnOrders() }), parquetmeta.ErrSchema, "number of column orders"},
		"chunks outside": {edited(func(m format.FileMetaData) { m.GetRowGroups().At(0).GetColumns().At(0).SetFilePath("/etc/passwd") }), parquetmeta.ErrOtherFile, "/etc/passwd"},
		"wrong groups":   {edited(func(m format.FileMetaData) { m.GetRowGroups().At(0).GetColumns().Delete(0, 1) }), parquetmeta.ErrSchema, "columns in a row group"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := parquetmeta.OpenFolder(folder(t, map[string][]byte{"a.parquet": good, "b.parquet": test.file}))
			if !errors.Is(err, test.want) || !strings.Contains(err.Error(), test.text) || !strings.Contains(err.Error(), "b.parquet") {
				t.Error(err)
			}
		})
	}
	if _, err := parquetmeta.OpenFolder(folder(t, nil)); !errors.Is(err, parquetmeta.ErrSchema) {
		t.Error(err)
	}
	if _, err := parquetmeta.OpenFiles(folder(t, nil), []string{"../a"}); !errors.Is(err, fs.ErrInvalid) {
		t.Error(err)
	}
	if _, err := parquetmeta.OpenFolder(fstest.MapFS{"a.parquet": {Data: good}}); err != nil {
		t.Error(err)
	}
	limits := nocopy.Limits{MaxBytes: (len(good) - int(opened(t, good).Offset())) * 3 / 2}
	if _, err := parquetmeta.OpenFolder(folder(t, map[string][]byte{"a.parquet": good, "b.parquet": good, "c.parquet": good}), limits); !errors.Is(err, nocopy.ErrLimit) {
		t.Error(err)
	}
	renamed := edited(func(m format.FileMetaData) { m.GetSchema().At(0).SetName("spark_schema") })
	if _, err := parquetmeta.OpenFolder(folder(t, map[string][]byte{"a.parquet": good, "b.parquet": renamed})); err != nil {
		t.Error(err)
	}
}

// TestCommonMetadata: a file of the schema alone.
func TestCommonMetadata(t *testing.T) {
	f := opened(t, write(t, 29, 2))
	m, err := parquetmeta.Merge(func(yield func(string, *parquetmeta.File) bool) { yield("a", f) })
	if err != nil {
		t.Fatal(err)
	}
	m.NewRowGroups(0)
	m.SetNumRows(0)
	out, err := parquetmeta.AppendFooter([]byte("PAR1"), m)
	if err != nil {
		t.Fatal(err)
	}
	if g := opened(t, out); g.NumRowGroups() != 0 || g.NumRows() != 0 || g.NumColumns() != f.NumColumns() {
		t.Error(g.NumRowGroups())
	}
}

// TestDropRowGroup: the others are read by parquet-go, with their rows.
func TestDropRowGroup(t *testing.T) {
	type row struct{ N int64 }
	var file bytes.Buffer
	w := parquet.NewGenericWriter[row](&file)
	for i := range int64(4) {
		if _, err := w.Write([]row{{i}, {i + 10}}[:1+i%2]); err != nil {
			t.Fatal(err)
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	f := opened(t, file.Bytes())
	m, err := f.Metadata()
	if err != nil {
		t.Fatal(err)
	}
	parquetmeta.DropRowGroup(m, 1)
	parquetmeta.DropRowGroup(m, 1)
	edited, err := parquetmeta.AppendFooter(file.Bytes()[:f.Offset()], m)
	if err != nil {
		t.Fatal(err)
	}
	// parquet-go reads page indexes as if those of all row groups were side by side.
	read, err := parquet.OpenFile(bytes.NewReader(edited), int64(len(edited)), parquet.SkipPageIndex(true))
	if err != nil {
		t.Fatal(err)
	}
	rows := make([]row, 10)
	n, err := parquet.NewGenericReader[row](read).Read(rows)
	if err != io.EOF || n != 3 || rows[0].N != 0 || rows[1].N != 3 || rows[2].N != 13 || opened(t, edited).NumRows() != 3 {
		t.Error(rows, err)
	}
}

// TestRenameColumn: a column, and a group with its columns, have their new names in schema and
// chunks.
func TestRenameColumn(t *testing.T) {
	file, err := os.ReadFile("testdata/orders.parquet")
	if err != nil {
		t.Fatal(err)
	}
	f := opened(t, file)
	m, err := f.Metadata()
	if err != nil {
		t.Fatal(err)
	}
	for _, names := range [][2]string{{"id", "number"}, {"customer", "client"}, {"client.age", "years"}, {"client.name", "name"}} {
		if err := parquetmeta.RenameColumn(m, names[0], names[1]); err != nil {
			t.Fatal(err)
		}
	}
	for _, wrong := range []struct {
		path, name string
		want       error
	}{
		{"id", "x", nocopy.ErrNotFound}, {"", "x", nocopy.ErrNotFound}, {"client.years", "name", parquetmeta.ErrSchema}, {"client", "number", parquetmeta.ErrSchema},
	} {
		if err := parquetmeta.RenameColumn(m, wrong.path, wrong.name); !errors.Is(err, wrong.want) {
			t.Error(wrong, err)
		}
	}
	edited, err := parquetmeta.AppendFooter(file[:f.Offset():f.Offset()], m)
	if err != nil {
		t.Fatal(err)
	}
	if err := everything(edited); err != nil {
		t.Error(err)
	}
	type row struct {
		Number int64 `parquet:"number,optional"`
		Client struct {
			Name  string `parquet:"name,optional"`
			Years int32  `parquet:"years,optional"`
		} `parquet:"client"`
	}
	rows, err := parquet.Read[row](bytes.NewReader(edited), int64(len(edited)))
	if err != nil || len(rows) != 4 || rows[0].Client.Name != "Ada" || rows[0].Number == 0 {
		t.Error(rows, err)
	}
	// Schemas that are no trees
	for _, children := range []int32{-1, 1, 3, 1 << 30} {
		m := small()
		m.GetSchema().At(0).SetNumChildren(children)
		if err := parquetmeta.RenameColumn(m, "c", "d"); !errors.Is(err, parquetmeta.ErrSchema) {
			t.Error(children, err)
		}
	}
	deep := small()
	for _, e := range deep.NewSchema(1000).All() {
		e.SetNumChildren(1)
	}
	few := small()
	few.GetRowGroups().At(0).GetColumns().Truncate(1)
	for _, m := range []format.FileMetaData{deep, few, format.NewFileMetaData()} {
		if err := parquetmeta.RenameColumn(m, "c", "d"); !errors.Is(err, parquetmeta.ErrSchema) {
			t.Error(err)
		}
	}
}

// TestElements: the error about a list of other elements names both types.
func TestElements(t *testing.T) {
	b := compact(small())
	at := bytes.Index(b, []byte{9, 4, 0x15, 0}) // encodings: field 2, a list of 1 i32
	b[at+2] = 0x14
	if err := everything(fileOf(b)); !errors.Is(err, nocopy.ErrType) || !strings.Contains(err.Error(), "columns[0].meta_data.encodings") || !strings.Contains(err.Error(), "elements i16 where i32 belongs") {
		t.Error(err)
	}
}
