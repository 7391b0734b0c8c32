package parquetmeta_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	theirs "github.com/parquet-go/parquet-go/format"

	"github.com/nocopythrift/nocopythrift/parquetmeta"
	"github.com/nocopythrift/nocopythrift/parquetmeta/format"
)

var protocol thrift.CompactProtocol

func opened(t testing.TB, file []byte) *parquetmeta.File {
	t.Helper()
	f, err := parquetmeta.Open(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestFiles compares the values that we and parquet-go read from the files of parquet-go's tests.
// Many of them come from parquet-testing: by parquet-mr, parquet-cpp, Rust, Impala and others.
func TestFiles(t *testing.T) {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/parquet-go/parquet-go").Output()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	err = filepath.WalkDir(filepath.Join(strings.TrimSpace(string(dir)), "testdata"), func(name string, d os.DirEntry, err error) error {
		if err == nil && filepath.Ext(name) == ".parquet" {
			b, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			n++
			t.Run(filepath.Base(name), func(t *testing.T) { compare(t, b) })
		}
		return err
	})
	if err != nil || n < 50 {
		t.Fatalf("%d files: %v", n, err)
	}
}

// TestShapes compares wide and long files that parquet-go writes.
func TestShapes(t *testing.T) {
	for _, shape := range [][2]int{{100, 1}, {10_000, 1}, {1, 1000}, {100, 20}, {7, 0}} {
		t.Run(fmt.Sprintf("%dx%d", shape[0], shape[1]), func(t *testing.T) { compare(t, write(t, shape[0], shape[1])) })
	}
}

// write returns a file with these numbers of columns, which take turns in all encodings and
// logical types, and of row groups. It has page indexes and Bloom filters.
func write(t testing.TB, columns, groups int) []byte {
	nodes := []parquet.Node{
		parquet.Encoded(parquet.String(), &parquet.Plain),
		parquet.Optional(parquet.Encoded(parquet.Int(64), &parquet.DeltaBinaryPacked)),
		parquet.Encoded(parquet.Leaf(parquet.DoubleType), &parquet.ByteStreamSplit),
		parquet.Compressed(parquet.Encoded(parquet.String(), &parquet.RLEDictionary), &parquet.Zstd),
		parquet.Encoded(parquet.Leaf(parquet.BooleanType), &parquet.RLE),
		parquet.Compressed(parquet.Encoded(parquet.String(), &parquet.DeltaByteArray), &parquet.Snappy),
		parquet.Encoded(parquet.JSON(), &parquet.DeltaLengthByteArray),
		parquet.Timestamp(parquet.Microsecond), parquet.Timestamp(parquet.Nanosecond),
		parquet.TimestampAdjusted(parquet.Millisecond, false),
		parquet.Time(parquet.Microsecond), parquet.TimeAdjusted(parquet.Nanosecond, false),
		parquet.Date(), parquet.Optional(parquet.Decimal(2, 18, parquet.Int64Type)),
		parquet.Decimal(3, 9, parquet.Int32Type), parquet.Decimal(4, 30, parquet.FixedLenByteArrayType(13)),
		parquet.UUID(), parquet.BSON(), parquet.Enum(), parquet.FieldID(parquet.Int(8), 4711),
		parquet.Uint(16), parquet.Uint(32), parquet.Uint(64), parquet.Leaf(parquet.Int96Type), parquet.Leaf(parquet.FloatType),
		parquet.Repeated(parquet.Int(32)), parquet.List(parquet.String()), parquet.Map(parquet.String(), parquet.Int(16)),
		parquet.Group{"a": parquet.String(), "b": parquet.Group{"c": parquet.Optional(parquet.Int(64))}},
	}
	fields := parquet.Group{}
	for i := range columns {
		fields[fmt.Sprintf("column_%05d", i)] = nodes[i%len(nodes)]
	}
	schema := parquet.NewSchema("table", fields)
	var file bytes.Buffer
	w := parquet.NewWriter(&file, schema, parquet.KeyValueMetadata("origin", "test"),
		parquet.BloomFilters(parquet.SplitBlockFilter(10, "column_00000")))
	var row parquet.Row
	for c, leaf := range schema.Columns() {
		found, _ := schema.Lookup(leaf...)
		v := parquet.NullValue()
		if found.Node.Required() && found.MaxDefinitionLevel == 0 {
			switch typ := found.Node.Type(); typ.Kind() {
			case parquet.Boolean:
				v = parquet.BooleanValue(true)
			case parquet.Int32:
				v = parquet.Int32Value(int32(c))
			case parquet.Int64:
				v = parquet.Int64Value(int64(c) << 33)
			case parquet.Int96:
				v = parquet.Int96Value(deprecated.Int96{1, 2, 3})
			case parquet.Float:
				v = parquet.FloatValue(1.5)
			case parquet.Double:
				v = parquet.DoubleValue(-2.5)
			case parquet.FixedLenByteArray:
				v = parquet.FixedLenByteArrayValue(make([]byte, typ.Length()))
			default:
				v = parquet.ByteArrayValue([]byte(fmt.Sprint("value ", c)))
			}
		}
		row = append(row, v.Level(0, 0, c))
	}
	for range groups {
		if _, err := w.WriteRows([]parquet.Row{row, row}); err != nil {
			t.Fatal(err)
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// compare compares all that is read of a file with what parquet-go reads.
func compare(t *testing.T, file []byte) {
	f := opened(t, file)
	footer := file[f.Offset() : len(file)-8]
	var want theirs.FileMetaData
	if err := thrift.Unmarshal(&protocol, footer, &want); err != nil {
		t.Fatal(err)
	}
	same(t, "version", f.Version(), want.Version)
	same(t, "rows", f.NumRows(), want.NumRows)
	same(t, "creator", f.CreatedBy(), want.CreatedBy)
	var pairs []theirs.KeyValue
	for k, v := range f.KeyValues() {
		pairs = append(pairs, theirs.KeyValue{Key: k, Value: v})
	}
	if !slices.Equal(pairs, want.KeyValueMetadata) {
		t.Errorf("pairs %v, not %v", pairs, want.KeyValueMetadata)
	}
	compareSchema(t, f, &want)
	same(t, "row groups", f.NumRowGroups(), len(want.RowGroups))
	for g, err := range f.RowGroups() {
		if err != nil {
			t.Fatal(err)
		}
		their := want.RowGroups[g.Number]
		same(t, "rows", g.NumRows, their.NumRows)
		same(t, "size", g.TotalByteSize, their.TotalByteSize)
		same(t, "compressed size", max(g.TotalCompressedSize, 0), their.TotalCompressedSize)
		same(t, "offset", max(g.FileOffset, 0), their.FileOffset)
		for c, err := range g.Chunks() {
			if err != nil {
				t.Fatal(err)
			}
			compareChunk(t, file, c, &their.Columns[c.Column])
		}
	}
	m, err := f.Metadata()
	if err != nil {
		t.Fatal(err)
	}
	again, err := parquetmeta.AppendFooter(nil, m)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(again, file[f.Offset():]) {
		t.Errorf("the footer is written as\n%x, not\n%x", again, file[f.Offset():])
	}
}

func compareSchema(t *testing.T, f *parquetmeta.File, want *theirs.FileMetaData) {
	nodes, columns := 0, 0
	var visit func(n parquetmeta.Node, path string)
	visit = func(n parquetmeta.Node, path string) {
		their := want.Schema[nodes]
		nodes++
		same(t, "name", n.Name(), their.Name)
		same(t, "path", n.Path(), path)
		e, err := n.Metadata()
		if err != nil {
			t.Fatal(err)
		}
		same(t, "type", int32(e.GetType()), int32(their.Type.V))
		same(t, "has a type", e.IsSetType(), their.Type.Valid)
		same(t, "repetition", int32(e.GetRepetitionType()), int32(their.RepetitionType.V))
		same(t, "field id", e.GetFieldID(), their.FieldID)
		same(t, "converted type", int32(e.GetConvertedType()), int32(their.ConvertedType.V))
		if logical := e.GetLogicalType(); (logical.Which() == 0) != (their.LogicalType.Value == nil) {
			t.Errorf("%s: logical type %v, not %v", path, logical, their.LogicalType.String())
		}
		if c, ok := n.Column(); ok {
			same(t, "number", c.Number(), columns)
			same(t, "number by path", f.Column(path).Number(), columns)
			columns++
		}
		for child := range n.Children() {
			visit(child, strings.TrimPrefix(path+"."+child.Name(), "."))
		}
	}
	visit(f.Schema(), "")
	same(t, "nodes", nodes, len(want.Schema))
	same(t, "columns", columns, f.NumColumns())
}

func compareChunk(t *testing.T, file []byte, c parquetmeta.Chunk, want *theirs.ColumnChunk) {
	t.Helper()
	// parquet-go gives 0 for absent values.
	m := &want.MetaData
	have := []int64{
		int64(c.Type), int64(c.Codec), c.NumValues, c.TotalUncompressedSize, c.TotalCompressedSize, c.DataPageOffset,
		max(c.IndexPageOffset, 0), max(c.DictionaryPageOffset, 0), max(c.BloomFilterOffset, 0), max(int64(c.BloomFilterLength), 0),
		max(c.OffsetIndexOffset, 0), max(int64(c.OffsetIndexLength), 0), max(c.ColumnIndexOffset, 0), max(int64(c.ColumnIndexLength), 0),
		max(c.Statistics.NullCount, 0), max(c.Statistics.DistinctCount, 0),
	}
	wanted := []int64{
		int64(m.Type), int64(m.Codec), m.NumValues, m.TotalUncompressedSize, m.TotalCompressedSize, m.DataPageOffset,
		m.IndexPageOffset, m.DictionaryPageOffset, m.BloomFilterOffset, int64(m.BloomFilterLength),
		want.OffsetIndexOffset, int64(want.OffsetIndexLength), want.ColumnIndexOffset, int64(want.ColumnIndexLength),
		m.Statistics.NullCount, m.Statistics.DistinctCount,
	}
	if !slices.Equal(have, wanted) {
		t.Errorf("chunk %d of row group %d: %v, not %v", c.Column, c.RowGroup, have, wanted)
	}
	for k, pair := range [][2][]byte{
		{c.Statistics.MinValue, m.Statistics.MinValue}, {c.Statistics.MaxValue, m.Statistics.MaxValue},
		{c.Statistics.Min, m.Statistics.Min}, {c.Statistics.Max, m.Statistics.Max},
	} {
		if !bytes.Equal(pair[0], pair[1]) {
			t.Errorf("bound %d: %x, not %x", k, pair[0], pair[1])
		}
	}
	var encodings []format.Encoding
	for _, e := range m.Encoding {
		encodings = append(encodings, format.Encoding(e))
	}
	if !slices.Equal(c.Encodings(), encodings) {
		t.Errorf("encodings %v, not %v", c.Encodings(), encodings)
	}
	if _, _, err := c.Range(); err != nil {
		t.Error(err)
	}
	whole, err := c.Metadata()
	if err != nil {
		t.Fatal(err)
	}
	same(t, "values", whole.GetMetaData().GetNumValues(), m.NumValues)
	whole.Release()
	compareIndexes(t, file, c)
}

func compareIndexes(t *testing.T, file []byte, c parquetmeta.Chunk) {
	offsets, err := c.OffsetIndex()
	if err != nil {
		t.Fatal(err)
	}
	if offsets.Valid() != (c.OffsetIndexOffset >= 0) {
		t.Errorf("offset index: %v", offsets)
	}
	if offsets.Valid() {
		var want theirs.OffsetIndex
		if err := thrift.Unmarshal(&protocol, file[c.OffsetIndexOffset:][:c.OffsetIndexLength], &want); err != nil {
			t.Fatal(err)
		}
		same(t, "pages", offsets.GetPageLocations().Len(), len(want.PageLocations))
		for i, p := range offsets.GetPageLocations().All() {
			same(t, "page", [3]int64{p.GetOffset(), int64(p.GetCompressedPageSize()), p.GetFirstRowIndex()},
				[3]int64{want.PageLocations[i].Offset, int64(want.PageLocations[i].CompressedPageSize), want.PageLocations[i].FirstRowIndex})
		}
	}
	bounds, err := c.ColumnIndex()
	if err != nil {
		t.Fatal(err)
	}
	if bounds.Valid() {
		var want theirs.ColumnIndex
		if err := thrift.Unmarshal(&protocol, file[c.ColumnIndexOffset:][:c.ColumnIndexLength], &want); err != nil {
			t.Fatal(err)
		}
		same(t, "order", int32(bounds.GetBoundaryOrder()), int32(want.BoundaryOrder))
		same(t, "null pages", fmt.Sprint(bounds.GetNullPages().AppendTo(nil)), fmt.Sprint(want.NullPages))
		same(t, "bounds", fmt.Sprint(bounds.GetMinValues().AppendTo(nil)), fmt.Sprint(want.MinValues))
		same(t, "bounds", fmt.Sprint(bounds.GetMaxValues().AppendTo(nil)), fmt.Sprint(want.MaxValues))
		same(t, "null counts", fmt.Sprint(bounds.GetNullCounts().AppendTo(nil)), fmt.Sprint(want.NullCounts))
	}
	header, at, err := c.BloomFilter()
	if err != nil {
		t.Fatal(err)
	}
	if header.Valid() {
		var want theirs.BloomFilterHeader
		r := bytes.NewReader(file[c.BloomFilterOffset:])
		if err := thrift.NewDecoder(protocol.NewReader(onlyReader{r})).Decode(&want); err != nil {
			t.Fatal(err)
		}
		same(t, "bytes of Bloom filter", header.GetNumBytes(), want.NumBytes)
		if c.BloomFilterLength >= 0 {
			same(t, "end of Bloom filter", at+int64(header.GetNumBytes()), c.BloomFilterOffset+int64(c.BloomFilterLength))
		}
	}
}

// onlyReader hides the other methods of a reader.
type onlyReader struct{ io.Reader }

func same[T comparable](t *testing.T, what string, have, want T) {
	t.Helper()
	if have != want {
		t.Errorf("%s: %v, not %v", what, have, want)
	}
}
