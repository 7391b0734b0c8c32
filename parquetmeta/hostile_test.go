package parquetmeta_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy"

	"github.com/nocopythrift/nocopythrift/parquetmeta"
	"github.com/nocopythrift/nocopythrift/parquetmeta/format"
)

// small returns a footer of 2 columns, "a.b" and "c", and 2 row groups.
func small() format.FileMetaData {
	m := format.NewFileMetaData()
	m.SetVersion(1)
	schema := m.NewSchema(4)
	for i, e := range []struct {
		name     string
		children int32
	}{{"root", 2}, {"a", 1}, {"b", 0}, {"c", 0}} {
		schema.At(i).SetName(e.name)
		if e.children > 0 {
			schema.At(i).SetNumChildren(e.children)
		} else {
			schema.At(i).SetType(format.Type_INT64)
		}
	}
	groups := m.NewRowGroups(2)
	for _, g := range groups.All() {
		columns := g.NewColumns(2)
		for i, c := range columns.All() {
			d := c.NewMetaData()
			d.SetType(format.Type_INT64)
			d.SetEncodings([]format.Encoding{format.Encoding_PLAIN})
			d.SetPathInSchema([][]string{{"a", "b"}, {"c"}}[i])
			d.SetNumValues(int64(i + 1))
			d.NewStatistics().SetNullCount(0)
		}
		g.SetNumRows(1)
	}
	m.SetNumRows(2)
	return m
}

// fileOf returns a file of nothing but data and this footer.
func fileOf(footer []byte) []byte {
	b := append([]byte("PAR1 some data "), footer...)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(footer)))
	return append(b, "PAR1"...)
}

func compact(m format.FileMetaData) []byte { return m.Message().AppendCompact(nil) }

// everything reads all that there is to read, and returns the first error.
func everything(file []byte, limits ...nocopy.Limits) error {
	f, err := parquetmeta.Open(bytes.NewReader(file), int64(len(file)), limits...)
	if err != nil {
		return err
	}
	var all error
	note := func(err error) {
		if all == nil {
			all = err
		}
	}
	for range f.KeyValues() {
	}
	for i := range f.NumColumns() {
		c := f.ColumnAt(i)
		_ = f.Column(c.Path())
		_, err := c.Node().Metadata()
		note(err)
	}
	for g, err := range f.RowGroups() {
		note(err)
		if err != nil {
			break
		}
		for c, err := range g.Chunks() {
			note(err)
			if err != nil {
				break
			}
			c.Encodings()
			_, _, err = c.Range()
			note(err)
			_, err = c.OffsetIndex()
			note(err)
			_, err = c.ColumnIndex()
			note(err)
			_, _, err = c.BloomFilter()
			note(err)
			_, err = c.Metadata()
			note(err)
		}
		_, err = g.Metadata()
		note(err)
	}
	_, err = f.Metadata()
	note(err)
	return all
}

// TestHostile: each fault of a file gives an error that names the fault and its place.
func TestHostile(t *testing.T) {
	with := func(change func(m format.FileMetaData)) []byte {
		m := small()
		change(m)
		return fileOf(compact(m))
	}
	chunk := func(m format.FileMetaData) format.ColumnChunk { return m.GetRowGroups().At(1).GetColumns().At(1) }
	good := fileOf(compact(small()))
	if err := everything(good); err != nil {
		t.Fatal(err)
	}
	changed := func(at int, s string) []byte {
		b := bytes.Clone(good)
		copy(b[len(b)+at:], s)
		return b
	}
	for _, test := range []struct {
		name string
		file []byte
		want error
		text string
	}{
		{"empty file", nil, parquetmeta.ErrNotParquet, "a file of 0 bytes"},
		{"a few bytes", []byte("PAR1"), parquetmeta.ErrNotParquet, "a file of 4 bytes"},
		{"another file", changed(-4, "\r\n\r\n"), parquetmeta.ErrNotParquet, `ends with "\r\n\r\n"`},
		{"encrypted footer", changed(-4, "PARE"), parquetmeta.ErrEncrypted, "footer is encrypted"},
		{"longer than the file", changed(-8, "\xff\xff\xff\xff"), parquetmeta.ErrNotParquet, "4294967295 bytes in a file of"},
		{"no footer", fileOf(nil), io.ErrUnexpectedEOF, "FileMetaData: offset 0"},
		{"cut off", fileOf(compact(small())[:len(compact(small()))-20]), io.ErrUnexpectedEOF, "FileMetaData.row_groups[1].columns[1]"},
		{"more after it", fileOf(append(compact(small()), 1)), nocopy.ErrTrailing, "FileMetaData: offset"},
		{"no such type", fileOf([]byte{0x1f}), nocopy.ErrType, "FileMetaData: offset 1"},
		{"row groups twice", fileOf([]byte{0x49, 0x0c, 0x09, 0x08, 0x0c}), nil, "field comes twice"},
		{"no schema", with(func(m format.FileMetaData) { m.NewSchema(0) }), parquetmeta.ErrSchema, "schema: offset"},
		{"no version", fileOf([]byte{0x29, 0x1c, 0x48, 0, 0, 0x16, 0, 0x19, 0x0c, 0}), nocopy.ErrMissingRequired, "FileMetaData.version"},
		{"a name is missing", fileOf([]byte{0x15, 0, 0x19, 0x1c, 0, 0x16, 0, 0x19, 0x0c, 0}), nocopy.ErrMissingRequired, "schema[0].name"},
		{"2 billion elements", fileOf([]byte{0x15, 0, 0x19, 0xfc, 0xff, 0xff, 0xff, 0xff, 7}), io.ErrUnexpectedEOF, "FileMetaData.schema"},
		{"negative number of elements", fileOf([]byte{0x15, 0, 0x19, 0xfc, 0xff, 0xff, 0xff, 0xff, 0xf}), nocopy.ErrNegative, "FileMetaData.schema"},
		{"too many children", with(func(m format.FileMetaData) { m.GetSchema().At(0).SetNumChildren(3) }), parquetmeta.ErrSchema, "schema[0].num_children"},
		{"2 billion children", with(func(m format.FileMetaData) { m.GetSchema().At(1).SetNumChildren(math.MaxInt32) }), parquetmeta.ErrSchema, "schema[1].num_children"},
		{"too few children", with(func(m format.FileMetaData) { m.GetSchema().At(0).SetNumChildren(1) }), parquetmeta.ErrSchema, "schema[3]"},
		{"negative children", with(func(m format.FileMetaData) { m.GetSchema().At(1).SetNumChildren(-1) }), nocopy.ErrNegative, "schema[1].num_children"},
		{"nested for ever", with(func(m format.FileMetaData) {
			for _, e := range m.NewSchema(1000).All() {
				e.SetNumChildren(1)
			}
		}), nocopy.ErrLimit, "schema[256]: "},
		{"a column too few", with(func(m format.FileMetaData) { m.GetRowGroups().At(1).GetColumns().Delete(1, 2) }), parquetmeta.ErrSchema, "row_groups[1]: "},
		{"columns in another order", with(func(m format.FileMetaData) { m.GetRowGroups().At(1).GetColumns().Swap(0, 1) }), parquetmeta.ErrSchema, "row_groups[1].columns[0].meta_data.path_in_schema"},
		{"no metadata", with(func(m format.FileMetaData) { chunk(m).UnsetMetaData() }), nocopy.ErrMissingRequired, "row_groups[1].columns[1].meta_data"},
		{"negative offset", with(func(m format.FileMetaData) { chunk(m).GetMetaData().SetDataPageOffset(-5) }), nocopy.ErrLimit, "offset -5"},
		{"negative size", with(func(m format.FileMetaData) { chunk(m).GetMetaData().SetTotalCompressedSize(-1) }), nocopy.ErrLimit, "of -1 bytes"},
		{"size beyond the file", with(func(m format.FileMetaData) {
			chunk(m).GetMetaData().SetDataPageOffset(4)
			chunk(m).GetMetaData().SetTotalCompressedSize(math.MaxInt64)
		}), nocopy.ErrLimit, "pages at offset 4"},
		{"index beyond the file", with(func(m format.FileMetaData) {
			chunk(m).SetOffsetIndexOffset(math.MaxInt64)
			chunk(m).SetOffsetIndexLength(math.MaxInt32)
		}), nocopy.ErrLimit, "offset index"},
		{"index of negative size", with(func(m format.FileMetaData) {
			chunk(m).SetColumnIndexOffset(4)
			chunk(m).SetColumnIndexLength(-2)
		}), nocopy.ErrLimit, "column index"},
		{"no index", with(func(m format.FileMetaData) {
			chunk(m).SetColumnIndexOffset(4)
			chunk(m).SetColumnIndexLength(9)
		}), nil, "ColumnIndex"},
		{"Bloom filter beyond the file", with(func(m format.FileMetaData) { chunk(m).GetMetaData().SetBloomFilterOffset(1 << 40) }), nocopy.ErrLimit, "Bloom filter"},
		{"no Bloom filter", with(func(m format.FileMetaData) { chunk(m).GetMetaData().SetBloomFilterOffset(5) }), nil, "BloomFilterHeader"},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := everything(test.file)
			if err == nil || test.want != nil && !errors.Is(err, test.want) || !strings.Contains(err.Error(), test.text) {
				t.Errorf("%v, not %v with %q", err, test.want, test.text)
			}
		})
	}
	if err := everything(good, nocopy.Limits{MaxBytes: 100}); !errors.Is(err, nocopy.ErrLimit) {
		t.Error(err)
	}
	for n := range good { // cut at each byte
		if err := everything(good[:n]); err == nil {
			t.Errorf("%d of %d bytes: no error", n, len(good))
		}
	}
}

// TestDeep: structs in structs are an error, in whichever part of the footer they are counted.
func TestDeep(t *testing.T) {
	for k := 100; k < 140; k++ {
		b := []byte{0x15, 2, 0x19, 0x2c, 0x48, 1, 'r', 0x15, 2, 0, 0x15, 4, 0x38, 1, 'c', 0, 0x16, 0, 0x19, 0x1c}
		b = append(b, 0x19, 0x1c, 0x26, 0, 0x6c, 0, 0xcc) // a chunk with an unknown field
		b = append(append(b, bytes.Repeat([]byte{0x1c}, k)...), make([]byte, k+1)...)
		b = append(b, 0, 0x16, 0, 0x16, 0, 0, 0)
		if err := everything(fileOf(b)); !errors.Is(err, nocopy.ErrLimit) {
			t.Errorf("%d levels: %v", k, err)
		}
	}
}

// TestMemory: the memory of a File is bounded by its bytes, even if the footer promises long
// lists.
func TestMemory(t *testing.T) {
	const n = 300_000
	children := binary.AppendUvarint(nil, 2*n)
	nodes := append([]byte{0x15, 2, 0x19, 0xfc}, binary.AppendUvarint(nil, n+1)...)
	nodes = append(append(append(nodes, 0x48, 0, 0x15), children...), 0)
	nodes = append(nodes, bytes.Repeat([]byte{0x48, 0, 0}, n)...) // groups without children
	nodes = append(nodes, 0x16, 0)
	groups := append([]byte{0x19, 0xfc}, binary.AppendUvarint(nil, n)...)
	groups = append(groups, bytes.Repeat([]byte{0x19, 0x0c, 0}, n)...)
	file := fileOf(append(append(nodes, groups...), 0))
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	f := opened(t, file)
	runtime.GC()
	runtime.ReadMemStats(&after)
	if kept := int64(after.HeapAlloc) - int64(before.HeapAlloc); kept > 16*int64(len(file)) {
		t.Errorf("%d bytes for a file of %d", kept, len(file))
	}
	if f.NumRowGroups() != n || f.NumColumns() != 0 || f.Column("x").Number() != -1 {
		t.Error(f.NumRowGroups(), f.NumColumns())
	}
}

// TestReader: a reader's errors are returned, and one that gives too little is found out.
func TestReader(t *testing.T) {
	failed := errors.New("failed")
	if _, err := parquetmeta.Open(readerAt(func([]byte, int64) (int, error) { return 0, failed }), 100); !errors.Is(err, failed) {
		t.Error(err)
	}
	if _, err := parquetmeta.Open(readerAt(func([]byte, int64) (int, error) { return 0, io.EOF }), 100); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Error(err)
	}
	if _, err := parquetmeta.Open(bytes.NewReader(nil), -1); !errors.Is(err, parquetmeta.ErrNotParquet) {
		t.Error(err)
	}
}

type readerAt func(b []byte, off int64) (int, error)

func (r readerAt) ReadAt(b []byte, off int64) (int, error) { return r(b, off) }

// TestSigned: a footer that is signed is read, and not written; columns with a key of their own
// say that they are encrypted.
func TestSigned(t *testing.T) {
	m := small()
	m.NewEncryptionAlgorithm().NewAES_GCM_V1()
	c := m.GetRowGroups().At(0).GetColumns().At(0)
	c.UnsetMetaData()
	c.NewCryptoMetadata().NewENCRYPTION_WITH_COLUMN_KEY().SetPathInSchema([]string{"a", "b"})
	c.SetOffsetIndexOffset(4)
	c.SetOffsetIndexLength(4)
	f := opened(t, fileOf(append(compact(m), make([]byte, 28)...)))
	for c, err := range f.Column("a.b").Chunks() {
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.OffsetIndex(); c.Encrypted != (c.RowGroup == 0) || c.Encrypted && !errors.Is(err, parquetmeta.ErrEncrypted) {
			t.Error(c, err)
		}
	}
	again, err := f.Metadata()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parquetmeta.AppendFooter(nil, again); !errors.Is(err, parquetmeta.ErrEncrypted) {
		t.Error(err)
	}
}

// FuzzFooter: no footer panics or takes long. A chunk that is read in place has the same values as
// its message.
func FuzzFooter(f *testing.F) {
	f.Add(compact(small()))
	file := write(f, 29, 2)
	f.Add(file[opened(f, file).Offset() : len(file)-8])
	f.Fuzz(func(t *testing.T, footer []byte) {
		file := fileOf(footer)
		everything(file)
		p, err := parquetmeta.Open(bytes.NewReader(file), int64(len(file)))
		if err != nil {
			return
		}
		whole, wrong := p.Metadata()
		for g, err := range p.RowGroups() {
			if err != nil {
				if wrong == nil {
					t.Fatalf("%v: the message has no error", err)
				}
				break
			}
			if wrong == nil {
				m := whole.GetRowGroups().At(g.Number)
				if m.GetNumRows() != g.NumRows || m.GetTotalByteSize() != g.TotalByteSize {
					t.Fatalf("%+v, not %v", g, m)
				}
			}
			for c, err := range g.Chunks() {
				if err != nil {
					if wrong == nil && !errors.Is(err, parquetmeta.ErrSchema) && !errors.Is(err, nocopy.ErrMissingRequired) {
						t.Fatalf("%v: the message has no error", err)
					}
					break
				}
				m, err := c.Metadata()
				if err != nil {
					continue
				}
				d := m.GetMetaData()
				s := d.GetStatistics()
				if d.Valid() && (d.GetNumValues() != c.NumValues || d.GetType() != c.Type || d.GetCodec() != c.Codec ||
					d.GetDataPageOffset() != c.DataPageOffset || d.GetTotalCompressedSize() != c.TotalCompressedSize ||
					!bytes.Equal(s.GetMinValue(), c.Statistics.MinValue) || s.IsSetMinValue() != (c.Statistics.MinValue != nil) ||
					!bytes.Equal(s.GetMax(), c.Statistics.Max) || s.GetIsMaxValueExact() != c.Statistics.MaxValueExact ||
					s.IsSetNullCount() && s.GetNullCount() != c.Statistics.NullCount || d.GetEncodings().Len() != len(c.Encodings())) {
					t.Fatalf("%+v, not %v", c, m)
				}
				m.Release()
			}
		}
	})
}
