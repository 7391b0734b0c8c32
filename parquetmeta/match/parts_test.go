package match_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/nocopythrift/nocopythrift/nocopy"

	"github.com/nocopythrift/nocopythrift/parquetmeta"
	"github.com/nocopythrift/nocopythrift/parquetmeta/format"
	"github.com/nocopythrift/nocopythrift/parquetmeta/match"
)

// counted counts the calls of ReadAt.
type counted struct {
	io.ReaderAt
	calls int
}

func (r *counted) ReadAt(b []byte, at int64) (int, error) {
	r.calls++
	return r.ReaderAt.ReadAt(b, at)
}

// event is a row of the files of TestFilter and TestBytes.
type event struct {
	ID   int64  `parquet:"id"`
	Name string `parquet:"name,dict"`
}

// events returns a file of 3 row groups of 1,000 rows, with ids in steps of 2.
func events(t testing.TB, options ...parquet.WriterOption) []byte {
	t.Helper()
	var file bytes.Buffer
	w := parquet.NewGenericWriter[event](&file, append(options, parquet.PageBufferSize(800))...)
	for g := range int64(3) {
		for i := range int64(1000) {
			if _, err := w.Write([]event{{2 * (1000*g + i), fmt.Sprint("name ", i%10)}}); err != nil {
				t.Fatal(err)
			}
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

// TestFilter: a value within the bounds that is not there is excluded by the Bloom filter, with
// two reads; what bounds exclude is excluded without.
func TestFilter(t *testing.T) {
	file := events(t, parquet.BloomFilters(parquet.SplitBlockFilter(16, "id")))
	found, excluded := 0, 0
	for id := range int64(6000) {
		r := &counted{bytes.NewReader(file), 0}
		f, err := parquetmeta.Open(r, int64(len(file)))
		if err != nil {
			t.Fatal(err)
		}
		r.calls = 0
		n := 0
		for g, err := range match.RowGroups(f, match.Equal("id", id)) {
			if err != nil || int64(g.Number) != id/2000 {
				t.Fatal(g, err)
			}
			n++
		}
		if most := 2; r.calls > most || id/2000*2000+1998 < id && r.calls > 0 {
			t.Fatalf("id %d: %d reads", id, r.calls)
		}
		switch {
		case id%2 == 0 && n != 1:
			t.Fatalf("id %d is not found", id)
		case id%2 == 0:
			found++
		case n == 0:
			excluded++
		}
	}
	if found != 3000 || excluded < 2900 {
		t.Errorf("%d found, %d of 3000 excluded", found, excluded)
	}
	// Without filters the bounds decide.
	n := 0
	for range match.RowGroups(open(t, events(t)), match.Equal("id", 1)) {
		n++
	}
	if n != 1 {
		t.Error(n)
	}
}

// TestBytes: the bytes of all rows are the chunk; those of some are fewer, and have the
// dictionary.
func TestBytes(t *testing.T) {
	f := open(t, events(t))
	for column := range 2 {
		size := func(p match.Predicate) (total int64) {
			for part, err := range match.Parts(f, p) {
				if err != nil {
					t.Fatal(err)
				}
				ranges, err := part.Bytes(column)
				if err != nil {
					t.Fatal(err)
				}
				c, err := part.RowGroup.Chunk(column)
				if err != nil {
					t.Fatal(err)
				}
				begin, _, err := c.Range()
				if err != nil || c.DictionaryPageOffset > 0 && ranges[0].Begin != begin {
					t.Error(ranges, begin, err)
				}
				for i, r := range ranges {
					if r.Begin >= r.End || i > 0 && r.Begin <= ranges[i-1].End {
						t.Error(ranges)
					}
					total += r.End - r.Begin
				}
			}
			return total
		}
		all := int64(0)
		for c, err := range f.ColumnAt(column).Chunks() {
			_, n, wrong := c.Range()
			if err != nil || wrong != nil {
				t.Fatal(err, wrong)
			}
			all += n
		}
		if n := size(match.And()); n != all {
			t.Errorf("column %d: %d bytes of %d", column, n, all)
		}
		some := size(match.Or(match.Between("id", 2100, 2110), match.Between("id", 3900, 4000)))
		if some <= 0 || some > all/2 {
			t.Errorf("column %d: %d bytes of %d", column, some, all)
		}
		if n := size(match.Equal("id", 2101)); n <= 0 || n >= some { // the page can have it
			t.Errorf("column %d: %d bytes, and %d", column, n, some)
		}
		if n := size(match.And(match.Between("id", 2100, 2110), match.Between("id", 3900, 4000))); n != 0 {
			t.Errorf("column %d: %d bytes", column, n)
		}
	}
}

// indexed returns a file with one column of 100 bytes of pages, and these indexes.
func indexed(t testing.TB, columns format.ColumnIndex, offsets format.OffsetIndex) *parquetmeta.File {
	data := make([]byte, 100)
	m := footer(ofType(format.Type_INT32, 0, nil), typeOrder, nil)
	c := m.GetRowGroups().At(0).GetColumns().At(0)
	c.GetMetaData().SetDataPageOffset(4)
	c.GetMetaData().SetTotalCompressedSize(100)
	for i, index := range []*nocopy.Message{columns.Message(), offsets.Message()} {
		at, b := int64(4+len(data)), index.AppendCompact(nil)
		data = append(data, b...)
		if i == 0 {
			c.SetColumnIndexOffset(at)
			c.SetColumnIndexLength(int32(len(b)))
		} else {
			c.SetOffsetIndexOffset(at)
			c.SetOffsetIndexLength(int32(len(b)))
		}
	}
	return fileOf(t, data, m)
}

// indexes returns indexes of 3 pages, whose values are 10 to 19, 20 to 29, and null.
func indexes() (format.ColumnIndex, format.OffsetIndex) {
	c, o := format.NewColumnIndex(), format.NewOffsetIndex()
	c.SetNullPages([]bool{false, false, true})
	c.SetMinValues([][]byte{u32(10), u32(20), {}})
	c.SetMaxValues([][]byte{u32(19), u32(29), {}})
	c.SetNullCounts([]int64{0, 1, 3})
	for i, l := range o.NewPageLocations(3).All() {
		l.SetFirstRowIndex(int64(4 * i))
		l.SetOffset(4 + 30*int64(i))
		l.SetCompressedPageSize(30)
	}
	return c, o
}

func rows(f *parquetmeta.File, p match.Predicate) (string, error) {
	for part, err := range match.Parts(f, p) {
		return fmt.Sprint(part.Rows), err
	}
	return "[]", nil
}

// TestPages: rows by bounds and nulls of pages.
func TestPages(t *testing.T) {
	f := indexed(t, func() format.ColumnIndex { c, _ := indexes(); return c }(), func() format.OffsetIndex { _, o := indexes(); return o }())
	for _, test := range []struct {
		p    match.Predicate
		want string
	}{
		{match.And(), "[{0 10}]"},
		{match.Equal("c", 15), "[{0 4}]"},
		{match.Between("c", 19, 20), "[{0 8}]"},
		{match.Between("c", 30, nil), "[]"},
		{match.IsNull("c"), "[{4 10}]"},
		{match.NotNull("c"), "[{0 8}]"},
		{match.Or(match.Equal("c", 10), match.And(match.IsNull("c"), match.Between("c", nil, 19))), "[{0 4}]"},
	} {
		if have, err := rows(f, test.p); err != nil || have != test.want {
			t.Errorf("%v: %s, %v, not %s", test.p, have, err, test.want)
		}
	}
}

// TestHostileIndex: indexes that make no sense are errors, or exclude nothing.
func TestHostileIndex(t *testing.T) {
	for name, test := range map[string]struct {
		change func(c format.ColumnIndex, o format.OffsetIndex)
		text   string // of the error; "" if there is none
	}{
		"pages too few":         {func(c format.ColumnIndex, o format.OffsetIndex) { o.GetPageLocations().Truncate(2) }, "3 pages and 3 counts"},
		"counts too few":        {func(c format.ColumnIndex, o format.OffsetIndex) { c.SetNullCounts(nil) }, "3 pages and 0 counts"},
		"no pages":              {func(c format.ColumnIndex, o format.OffsetIndex) { o.NewPageLocations(0) }, "3 pages"},
		"bounds too few":        {func(c format.ColumnIndex, o format.OffsetIndex) { c.SetMinValues([][]byte{u32(10)}) }, ""},
		"bounds of other types": {func(c format.ColumnIndex, o format.OffsetIndex) { c.SetMaxValues([][]byte{u64(1), nil, nil}) }, ""},
		"contradicting bounds":  {func(c format.ColumnIndex, o format.OffsetIndex) { c.SetMaxValues([][]byte{u32(1), nil, nil}) }, ""},
		"a first row later": {func(c format.ColumnIndex, o format.OffsetIndex) { o.GetPageLocations().At(0).SetFirstRowIndex(1) },
			"chunk 0 of row group 0: page 0 begins with row 1 of 10"},
		"negative row":    {func(c format.ColumnIndex, o format.OffsetIndex) { o.GetPageLocations().At(0).SetFirstRowIndex(-1) }, "row -1"},
		"rows back":       {func(c format.ColumnIndex, o format.OffsetIndex) { o.GetPageLocations().At(2).SetFirstRowIndex(3) }, "page 2 begins with row 3, the one before with 4"},
		"row beyond":      {func(c format.ColumnIndex, o format.OffsetIndex) { o.GetPageLocations().At(2).SetFirstRowIndex(11) }, "row 11 of 10"},
		"offset beyond":   {func(c format.ColumnIndex, o format.OffsetIndex) { o.GetPageLocations().At(2).SetOffset(math.MaxInt64) }, "page 2"},
		"negative offset": {func(c format.ColumnIndex, o format.OffsetIndex) { o.GetPageLocations().At(0).SetOffset(-1) }, "offset -1"},
		"negative size":   {func(c format.ColumnIndex, o format.OffsetIndex) { o.GetPageLocations().At(0).SetCompressedPageSize(-1) }, "of -1 bytes"},
		"pages overlap":   {func(c format.ColumnIndex, o format.OffsetIndex) { o.GetPageLocations().At(1).SetOffset(33) }, "the one before ends at 34"},
		"a row in two":    {func(c format.ColumnIndex, o format.OffsetIndex) { o.GetPageLocations().At(1).SetFirstRowIndex(0) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			c, o := indexes()
			test.change(c, o)
			have, err := rows(indexed(t, c, o), match.Equal("c", 15))
			if test.text == "" {
				if err != nil || !strings.HasPrefix(have, "[{0 ") {
					t.Error(have, err)
				}
			} else if !errors.Is(err, match.ErrIndex) || !strings.Contains(err.Error(), test.text) {
				t.Error(have, err)
			}
		})
	}
}

// TestOtherFile: chunks in other files are excluded by the footer alone.
func TestOtherFile(t *testing.T) {
	file := events(t, parquet.BloomFilters(parquet.SplitBlockFilter(16, "id")))
	m, err := parquetmeta.Merge(func(yield func(string, *parquetmeta.File) bool) {
		_ = yield("a/1.parquet", open(t, file)) && yield("b/2.parquet", open(t, file))
	})
	if err != nil {
		t.Fatal(err)
	}
	f := fileOf(t, nil, m)
	for part, err := range match.Parts(f, match.Equal("id", 2001)) {
		if err != nil || part.RowGroup.Number%3 != 1 || fmt.Sprint(part.Rows) != "[{0 1000}]" {
			t.Error(part, err)
		}
		if _, err := part.Bytes(0); !errors.Is(err, parquetmeta.ErrOtherFile) {
			t.Error(err)
		}
	}
}

// FuzzParts: no indexes and no bounds panic or take long.
func FuzzParts(f *testing.F) {
	c, o := indexes()
	f.Add(c.Message().AppendCompact(nil), o.Message().AppendCompact(nil), u32(3), u32(4), byte(1), int32(2))
	f.Fuzz(func(t *testing.T, columns, offsets, lo, hi []byte, typ byte, scale int32) {
		element := ofType(format.Type(typ%8), scale, nil)
		if typ >= 128 {
			element = ofType(format.Type(typ%8), scale, decimals(scale))
		}
		m := footer(element, typeOrder, func(s format.Statistics) { s.SetMinValue(lo); s.SetMaxValue(hi) })
		c := m.GetRowGroups().At(0).GetColumns().At(0)
		c.SetColumnIndexOffset(4)
		c.SetColumnIndexLength(int32(len(columns)))
		c.SetOffsetIndexOffset(4 + int64(len(columns)))
		c.SetOffsetIndexLength(int32(len(offsets)))
		c.GetMetaData().SetDataPageOffset(4)
		c.GetMetaData().SetTotalCompressedSize(int64(len(columns)))
		c.GetMetaData().SetBloomFilterOffset(4)
		file := fileOf(t, append(columns[:len(columns):len(columns)], offsets...), m)
		order, err := match.OrderOf(file.ColumnAt(0))
		if err != nil {
			t.Fatal(err)
		}
		v, ok := order.Value(lo) // except times of day that are too long for Go
		if c, same := order.Compare(lo, lo); same != ok && typ%8 != 2 || c != 0 {
			t.Fatal(v, ok, c, same)
		}
		for _, p := range []match.Predicate{match.IsNull("c"), match.Equal("c", v), match.Or(match.NotNull("c"), match.Between("c", nil, v))} {
			for part, err := range match.Parts(file, p) {
				if err == nil {
					_, _ = part.Bytes(0)
				}
			}
		}
	})
}

// BenchmarkParts finds rows of a file with many pages.
func BenchmarkParts(b *testing.B) {
	all := columns()
	f, err := open(b, newTable(b, rand.New(rand.NewPCG(1, 1)), all).file).ReadIndexes()
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		for _, err := range match.Parts(f, match.Between("i64", 3, 5)) {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}
