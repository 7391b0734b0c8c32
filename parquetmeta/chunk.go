package parquetmeta

import (
	"bytes"
	"fmt"
	"iter"
	"math/bits"
	"strconv"

	"github.com/nocopythrift/nocopythrift/nocopy"

	"github.com/nocopythrift/nocopythrift/parquetmeta/format"
)

// RowGroup is a row group. Sizes are in bytes.
type RowGroup struct {
	Number              int // from 0
	NumRows             int64
	TotalByteSize       int64 // of all pages before compression
	TotalCompressedSize int64 // of all pages in the file; -1 if unknown
	FileOffset          int64 // where the first page is, in the file of its chunks; -1 if unknown

	f *File
}

// Column is a column of the file. Column of a path that there is not gives one without chunks.
type Column struct {
	f    *File
	i    int
	path string // that there is not
}

// Chunk is the footer's description of a column chunk. It is a plain value, which may be kept. Its
// byte slices alias the footer: they are good for ever, keep the footer in memory, and must not
// be changed. Sizes and lengths are in bytes, offsets count from the beginning of the file that
// FilePath names. They are what the footer says: they may be wrong, also negative. An offset, a
// size or a length is -1 if there is none.
type Chunk struct {
	RowGroup int // the row group's number
	Column   int // the column's number

	Type                  format.Type
	Codec                 format.CompressionCodec
	NumValues             int64 // with nulls
	TotalUncompressedSize int64 // of all pages, with their headers
	TotalCompressedSize   int64
	DataPageOffset        int64 // of the first data page
	IndexPageOffset       int64
	DictionaryPageOffset  int64
	BloomFilterOffset     int64
	BloomFilterLength     int32
	OffsetIndexOffset     int64
	OffsetIndexLength     int32
	ColumnIndexOffset     int64
	ColumnIndexLength     int32
	Statistics            Statistics

	// Encrypted says that the column is encrypted. If it has a key of its own, the footer may
	// tell no more: then NumValues is -1.
	Encrypted bool

	f         *File
	filePath  uint32 // where the text is; 0 if there is none
	encodings uint32 // where the list is
}

// Statistics are the statistics of a column chunk. The values are in the encoding PLAIN; values of
// BYTE_ARRAY have no length before them. A slice is nil, and a count -1, if it is not known.
type Statistics struct {
	MinValue, MaxValue           []byte // bounds in the column's order
	MinValueExact, MaxValueExact bool   // whether the bound is known to occur
	Min, Max                     []byte // the same of old writers, who compared as signed numbers
	NullCount                    int64
	DistinctCount                int64
	NaNCount                     int64
}

// scanGroups goes over the list of row groups and notes where they and their chunks are.
func (f *File) scanGroups(s *scanner, i int) (path string, next int) {
	elem, n, i := s.listHeader(i)
	switch {
	case i < 0:
		return ".row_groups", bad
	case elem != record && n > 0:
		return ".row_groups", s.elements(i, elem, record)
	}
	for g := range n {
		f.groups = append(f.groups, group{start: uint32(i)})
		found := false
		for last := int16(0); ; {
			at := i
			id, kind, next := s.field(i, last)
			if kind == stop {
				i = next
				break
			}
			last, i = id, next
			if id != 1 || kind != list {
				i = s.value(kind, i, 0)
			} else if found {
				i = s.fail(at, errTwice)
			} else {
				if path, i = f.scanChunks(s, i, g, n); i < 0 {
					return groupPath(g) + path, bad
				}
				f.groups[g].rest, found = uint32(i), true
			}
			if i < 0 {
				break
			}
		}
		switch {
		case i < 0:
			return groupPath(g), bad
		case !found:
			return groupPath(g) + ".columns", s.fail(i-1, nocopy.ErrMissingRequired)
		}
		f.groups[g].end = uint32(len(f.chunks))
	}
	return "", i
}

// scanChunks goes over the list of a row group's chunks.
func (f *File) scanChunks(s *scanner, i, g, groups int) (path string, next int) {
	elem, n, i := s.listHeader(i)
	switch {
	case i < 0:
		return ".columns", bad
	case elem != record && n > 0:
		return ".columns", s.elements(i, elem, record)
	}
	if g == 0 && n > 0 { // what the others will need, if they are as the first
		const usual = 32 // bytes of a chunk, at least
		f.chunks = make([]uint32, 0, min(uint64(n)*uint64(groups), uint64(len(s.b)-i)/usual+1))
	}
	for c := range n {
		f.chunks = append(f.chunks, uint32(i))
		if i = s.record(i, 0); i < 0 {
			return chunkPath(g, c)[len(groupPath(g)):], bad
		}
	}
	return "", i
}

// chunksOf returns how many chunks a row group has.
func (f *File) chunksOf(g int) int {
	first := uint32(0)
	if g > 0 {
		first = f.groups[g-1].end
	}
	return int(f.groups[g].end - first)
}

// NumRowGroups returns the number of row groups.
func (f *File) NumRowGroups() int { return len(f.groups) }

// RowGroups yields the row groups in their order. The loop ends after an error, which is a
// *[nocopy.Error].
func (f *File) RowGroups() iter.Seq2[RowGroup, error] {
	return func(yield func(RowGroup, error) bool) {
		for g := range f.groups {
			r, err := f.RowGroup(g)
			if !yield(r, err) || err != nil {
				return
			}
		}
	}
}

// RowGroup returns row group i. It panics if there is none. The error is a *[nocopy.Error].
func (f *File) RowGroup(i int) (RowGroup, error) {
	r := RowGroup{Number: i, TotalCompressedSize: -1, FileOffset: -1, f: f}
	s := scanner{b: f.b}
	at := int(f.groups[i].start)
	rows, size := false, false
	for last := int16(0); ; {
		id, kind, next := s.field(at, last)
		if kind == stop {
			at = next
			break
		}
		last, at = id, next
		switch int(id)<<4 | int(kind) {
		case 1<<4 | list:
			at = int(f.groups[i].rest)
		case 2<<4 | i64:
			size = true
			r.TotalByteSize, at = s.number(at, 64)
		case 3<<4 | i64:
			rows = true
			r.NumRows, at = s.number(at, 64)
		case 5<<4 | i64:
			r.FileOffset, at = s.number(at, 64)
		case 6<<4 | i64:
			r.TotalCompressedSize, at = s.number(at, 64)
		default:
			at = s.value(kind, at, 0)
		}
	}
	path := ""
	switch {
	case at < 0:
	case !size:
		path, at = ".total_byte_size", s.fail(at-1, nocopy.ErrMissingRequired)
	case !rows:
		path, at = ".num_rows", s.fail(at-1, nocopy.ErrMissingRequired)
	}
	if at < 0 {
		return RowGroup{}, &nocopy.Error{Offset: s.at, Path: "FileMetaData" + groupPath(i) + path, Err: s.err}
	}
	return r, nil
}

// Chunks yields the chunks of the row group in the order of the columns. The loop ends after an
// error, which is a *[nocopy.Error].
func (r RowGroup) Chunks() iter.Seq2[Chunk, error] {
	return func(yield func(Chunk, error) bool) {
		for c := range r.f.leaves {
			chunk, err := r.f.chunk(r.Number, c)
			if !yield(chunk, err) || err != nil {
				return
			}
		}
	}
}

// Chunk returns the chunk of a column. It panics if there is none. The error is a
// *[nocopy.Error].
func (r RowGroup) Chunk(column int) (Chunk, error) { return r.f.chunk(r.Number, column) }

// Metadata decodes all that the footer says about the row group and its chunks. The message is the
// caller's. The error is a *[nocopy.Error].
func (r RowGroup) Metadata() (format.RowGroup, error) {
	return part(r.f, int(r.f.groups[r.Number].start), format.ParseRowGroup, "RowGroup", groupPath(r.Number))
}

// NumColumns returns the number of columns: of the schema's nodes that have values.
func (f *File) NumColumns() int { return len(f.leaves) }

// Column returns the column with a path: the names of the nodes from below the root to it,
// joined by dots. If several columns have the path, it is the first one. If none has, the
// Column's Chunks yields an error in which errors.Is finds [nocopy.ErrNotFound].
func (f *File) Column(path string) Column {
	if i := f.column(path); i >= 0 {
		return Column{f: f, i: i}
	}
	return Column{f: f, i: -1, path: path}
}

// ColumnAt returns column i, in the order of the schema. It panics if there is none.
func (f *File) ColumnAt(i int) Column {
	_ = f.leaves[i]
	return Column{f: f, i: i}
}

// Number returns the column's number in the order of the schema, or -1 if there is no such
// column.
func (c Column) Number() int { return c.i }

// Node returns the column's node in the schema. It panics if there is no such column.
func (c Column) Node() Node { return Node{c.f, c.f.leaves[c.i]} }

// Order returns which order of the column's values the bounds in statistics and column indexes
// have. If the footer does not say, the message is absent: Valid returns false. Package match
// compares by it. The message is the caller's. It panics if there is no such column. The error is
// a *[nocopy.Error], whose offset counts from the footer's beginning.
func (c Column) Order() (format.ColumnOrder, error) {
	if _ = c.f.leaves[c.i]; c.f.orders == 0 {
		return format.ColumnOrder{}, nil
	}
	const path = ".column_orders"
	s := scanner{b: c.f.b}
	elem, n, i := s.listHeader(c.f.orders)
	switch {
	case c.i >= n:
		return format.ColumnOrder{}, nil
	case elem != record:
		s.elements(i, elem, record)
		return format.ColumnOrder{}, &nocopy.Error{Offset: s.at, Path: "FileMetaData" + path, Err: s.err}
	}
	for range c.i {
		i = s.record(i, 0)
	}
	return part(c.f, i, format.ParseColumnOrder, "ColumnOrder", path+"["+strconv.Itoa(c.i)+"]")
}

// Path returns the column's path.
func (c Column) Path() string {
	if c.i < 0 {
		return c.path
	}
	return c.Node().Path()
}

// Chunks yields the column's chunk in each row group. The loop ends after an error, which is a
// *[nocopy.Error], or of a column that there is not.
func (c Column) Chunks() iter.Seq2[Chunk, error] {
	return func(yield func(Chunk, error) bool) {
		if c.i < 0 {
			yield(Chunk{}, fmt.Errorf("parquetmeta: column %q: %w", c.path, nocopy.ErrNotFound))
			return
		}
		for g := range c.f.groups {
			chunk, err := c.f.chunk(g, c.i)
			if !yield(chunk, err) || err != nil {
				return
			}
		}
	}
}

// at returns where a chunk begins.
func (f *File) at(g, c int) int { return int(f.chunks[g*len(f.leaves) : (g+1)*len(f.leaves)][c]) }

// chunk decodes a chunk.
func (f *File) chunk(g, c int) (Chunk, error) {
	chunk := Chunk{
		RowGroup: g, Column: c, f: f,
		NumValues: -1, TotalUncompressedSize: -1, TotalCompressedSize: -1,
		DataPageOffset: -1, IndexPageOffset: -1, DictionaryPageOffset: -1, BloomFilterOffset: -1, BloomFilterLength: -1,
		OffsetIndexOffset: -1, OffsetIndexLength: -1, ColumnIndexOffset: -1, ColumnIndexLength: -1,
		Statistics: noStatistics,
	}
	s := scanner{b: f.b}
	if path := chunk.decode(&s, f.at(g, c)); s.err != nil {
		return Chunk{}, &nocopy.Error{Offset: s.at, Path: "FileMetaData" + chunkPath(g, c) + path, Err: s.err}
	}
	return chunk, nil
}

var noStatistics = Statistics{NullCount: -1, DistinctCount: -1, NaNCount: -1}

// decode decodes the chunk that begins at index i. If the chunk is wrong, decode returns the path
// of the wrong value; the scanner has the offset and the error.
func (c *Chunk) decode(s *scanner, i int) (path string) {
	offset, data := false, false
	var v int64
	for last := int16(0); ; {
		id, kind, next := s.field(i, last)
		if kind == stop {
			i = next
			break
		}
		last, i = id, next
		switch int(id)<<4 | int(kind) {
		case 1<<4 | text:
			c.filePath = uint32(i)
			_, i = s.bytes(i)
		case 2<<4 | i64:
			offset = true
			i = s.varint(i)
		case 3<<4 | record:
			data = true
			if path, i = c.metadata(s, i); i < 0 {
				return ".meta_data" + path
			}
		case 4<<4 | i64:
			c.OffsetIndexOffset, i = s.number(i, 64)
		case 5<<4 | i32:
			v, i = s.number(i, 32)
			c.OffsetIndexLength = int32(v)
		case 6<<4 | i64:
			c.ColumnIndexOffset, i = s.number(i, 64)
		case 7<<4 | i32:
			v, i = s.number(i, 32)
			c.ColumnIndexLength = int32(v)
		default:
			c.Encrypted = c.Encrypted || id == 8 && kind == record
			i = s.value(kind, i, 0)
		}
	}
	switch {
	case i < 0:
	case !offset:
		path = ".file_offset"
		s.fail(i-1, nocopy.ErrMissingRequired)
	case !data && !c.Encrypted:
		path = ".meta_data"
		s.fail(i-1, nocopy.ErrMissingRequired)
	}
	return path
}

// requiredMetadata are the ids of the required fields of ColumnMetaData, as bits.
const requiredMetadata = uint32(1<<1 | 1<<2 | 1<<3 | 1<<4 | 1<<5 | 1<<6 | 1<<7 | 1<<9)

var metadataNames = [10]string{
	1: "type", 2: "encodings", 3: "path_in_schema", 4: "codec", 5: "num_values",
	6: "total_uncompressed_size", 7: "total_compressed_size", 9: "data_page_offset",
}

// metadata decodes the ColumnMetaData at index i.
func (c *Chunk) metadata(s *scanner, i int) (path string, next int) {
	c.IndexPageOffset, c.DictionaryPageOffset, c.BloomFilterOffset, c.BloomFilterLength = -1, -1, -1, -1
	c.Statistics = noStatistics
	seen := uint32(0)
	var v int64
	for last := int16(0); ; {
		id, kind, next := s.field(i, last)
		if kind == stop {
			i = next
			break
		}
		last, i = id, next
		known := true
		switch int(id)<<4 | int(kind) {
		case 1<<4 | i32:
			v, i = s.number(i, 32)
			c.Type = format.Type(v)
		case 2<<4 | list:
			if i = c.checkEncodings(s, i); i < 0 {
				return ".encodings", bad
			}
		case 3<<4 | list:
			if i = c.checkPath(s, i); i < 0 {
				return ".path_in_schema", bad
			}
		case 4<<4 | i32:
			v, i = s.number(i, 32)
			c.Codec = format.CompressionCodec(v)
		case 5<<4 | i64:
			c.NumValues, i = s.number(i, 64)
		case 6<<4 | i64:
			c.TotalUncompressedSize, i = s.number(i, 64)
		case 7<<4 | i64:
			c.TotalCompressedSize, i = s.number(i, 64)
		case 9<<4 | i64:
			c.DataPageOffset, i = s.number(i, 64)
		case 10<<4 | i64:
			c.IndexPageOffset, i = s.number(i, 64)
		case 11<<4 | i64:
			c.DictionaryPageOffset, i = s.number(i, 64)
		case 12<<4 | record:
			if i = c.Statistics.decode(s, i); i < 0 {
				return ".statistics", bad
			}
		case 14<<4 | i64:
			c.BloomFilterOffset, i = s.number(i, 64)
		case 15<<4 | i32:
			v, i = s.number(i, 32)
			c.BloomFilterLength = int32(v)
		default:
			known = false
			i = s.value(kind, i, 0)
		}
		if known {
			seen |= 1 << id
		}
	}
	return s.checkMetadata(i, seen)
}

// checkMetadata checks that a ColumnMetaData that ends at index i, or is bad, has the required
// fields. seen has the ids of those that it has, as bits. It returns what metadata returns.
func (s *scanner) checkMetadata(i int, seen uint32) (path string, next int) {
	if i < 0 {
		return "", bad
	}
	if missing := requiredMetadata &^ seen; missing != 0 {
		return "." + metadataNames[bits.TrailingZeros32(missing)], s.fail(i-1, nocopy.ErrMissingRequired)
	}
	return "", i
}

// checkEncodings goes over the chunk's encodings and notes where they are.
func (c *Chunk) checkEncodings(s *scanner, i int) int {
	elem, n, next := s.listHeader(i)
	if next >= 0 && n > 0 && elem != i32 {
		return s.elements(i, elem, i32)
	}
	c.encodings = uint32(i)
	return s.list(i, 0)
}

// checkPath goes over the chunk's path and compares it with the column's.
func (c *Chunk) checkPath(s *scanner, i int) int {
	at := i
	elem, n, i := s.listHeader(i)
	if i < 0 {
		return bad
	}
	if n > 0 && elem != text {
		return s.elements(at, elem, text)
	}
	var few [8]int32
	way := few[:0]
	for k := c.f.leaves[c.Column]; k > 0; k = c.f.nodes[k].parent {
		way = append(way, k)
	}
	fits := n == len(way)
	for k := range n {
		var name []byte
		if name, i = s.bytes(i); i < 0 {
			return bad
		}
		fits = fits && bytes.Equal(name, Node{c.f, way[n-1-k]}.nameBytes())
	}
	if !fits {
		return s.fail(at, fmt.Errorf("%w: the chunk is not that of column %q", ErrSchema, c.f.ColumnAt(c.Column).Path()))
	}
	return i
}

// decode decodes the Statistics at index i.
func (t *Statistics) decode(s *scanner, i int) int {
	*t = noStatistics
	for last := int16(0); ; {
		id, kind, next := s.field(i, last)
		if kind == stop {
			return next
		}
		last, i = id, next
		switch int(id)<<4 | int(kind) {
		case 1<<4 | text:
			t.Max, i = s.bytes(i)
		case 2<<4 | text:
			t.Min, i = s.bytes(i)
		case 3<<4 | i64:
			t.NullCount, i = s.number(i, 64)
		case 4<<4 | i64:
			t.DistinctCount, i = s.number(i, 64)
		case 5<<4 | text:
			t.MaxValue, i = s.bytes(i)
		case 6<<4 | text:
			t.MinValue, i = s.bytes(i)
		case 7<<4 | isTrue, 7<<4 | isFalse:
			t.MaxValueExact = kind == isTrue
		case 8<<4 | isTrue, 8<<4 | isFalse:
			t.MinValueExact = kind == isTrue
		case 9<<4 | i64:
			t.NaNCount, i = s.number(i, 64)
		default:
			i = s.value(kind, i, 0)
		}
	}
}

// Encodings returns the encodings of the chunk's values and levels, in a new slice.
func (c Chunk) Encodings() []format.Encoding {
	if c.encodings == 0 {
		return nil
	}
	s := scanner{b: c.f.b}
	_, n, i := s.listHeader(int(c.encodings))
	all := make([]format.Encoding, n)
	for k := range all {
		var v int64
		if v, i = s.number(i, 32); i < 0 {
			return all[:k]
		}
		all[k] = format.Encoding(v)
	}
	return all
}

// FilePath returns the path of the file that the chunk is in, relative to the folder of this one.
// It is "" if the chunk is in this file, as usual. Chunks of _metadata files, which describe all
// files of a dataset, are in others. The path is what the footer says: it may lead anywhere.
// Check it before you open it, with filepath.IsLocal for example.
func (c Chunk) FilePath() string {
	if c.filePath == 0 {
		return ""
	}
	s := scanner{b: c.f.b}
	path, _ := s.bytes(int(c.filePath))
	return string(path)
}

// here returns an error if the chunk is in another file.
func (c Chunk) here(what string) error {
	if path := c.FilePath(); path != "" {
		return fmt.Errorf("parquetmeta: the %s of the chunk is %w, %.200q: open that one", what, ErrOtherFile, path)
	}
	return nil
}

// Range returns where in the file the chunk's pages are: the dictionary page, if there is one,
// and the data pages. The error has [ErrOtherFile] if the chunk is in another file, and
// [nocopy.ErrLimit] if the pages are not in this one.
func (c Chunk) Range() (offset, length int64, err error) {
	if err := c.here("data"); err != nil {
		return 0, 0, err
	}
	offset, length = c.DataPageOffset, c.TotalCompressedSize
	if c.DictionaryPageOffset > 0 && c.DictionaryPageOffset < offset {
		offset = c.DictionaryPageOffset
	}
	return offset, length, c.f.within(offset, length, "pages")
}

// Metadata decodes all that the footer says about the chunk: also its key-value metadata,
// histograms and what else is no field of Chunk. The message is the caller's. The error is a
// *[nocopy.Error].
func (c Chunk) Metadata() (format.ColumnChunk, error) {
	return part(c.f, c.f.at(c.RowGroup, c.Column), format.ParseColumnChunk, "ColumnChunk", chunkPath(c.RowGroup, c.Column))
}
