package parquetmeta

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/nocopythrift/nocopythrift/nocopy"

	"github.com/nocopythrift/nocopythrift/parquetmeta/format"
)

// within returns an error unless the file has these bytes.
func (f *File) within(offset, length int64, what string) error {
	if offset < 0 || length < 0 || offset > f.size || length > f.size-offset {
		return fmt.Errorf("parquetmeta: %s at offset %d, of %d bytes, in a file of %d: %w", what, offset, length, f.size, nocopy.ErrLimit)
	}
	return nil
}

// index reads an index of the chunk, or nil if it has none.
func (c Chunk) index(offset int64, length int32, what string) ([]byte, error) {
	if offset == -1 && length == -1 {
		return nil, nil
	}
	if err := c.here(what); err != nil {
		return nil, err
	}
	switch {
	case c.Encrypted:
		return nil, fmt.Errorf("parquetmeta: the %s is %w", what, ErrEncrypted)
	case int64(length) > c.f.maxBytes():
		return nil, fmt.Errorf("parquetmeta: %s of %d bytes: %w", what, length, nocopy.ErrLimit)
	}
	if err := c.f.within(offset, int64(length), what); err != nil {
		return nil, err
	}
	b := make([]byte, length)
	return b, readFull(c.f.r, b, offset)
}

// span is bytes of a file: those at begin, and what was read of them.
type span struct {
	begin, end int64
	b          []byte
}

// read is a file. Some of its spans, in order, are in memory.
type read struct {
	io.ReaderAt
	spans []span
}

func (r read) ReadAt(b []byte, at int64) (int, error) {
	i, found := slices.BinarySearchFunc(r.spans, at, func(s span, at int64) int { return cmp.Compare(s.begin, at) })
	if !found {
		i-- // the last that begins before it
	}
	if i >= 0 && at+int64(len(b)) <= r.spans[i].end {
		return copy(b, r.spans[i].b[at-r.spans[i].begin:]), nil
	}
	return r.ReaderAt.ReadAt(b, at)
}

// gap is how many bytes that nobody asked for are read rather than called for again.
const gap = 64 << 10

// ReadIndexes reads the offset indexes and column indexes of all chunks of this file into memory,
// and returns a File whose chunks take them from there. Writers put indexes side by side: then one
// call of ReadAt reads all. Bytes in other places take further calls. The errors are those of the
// reader, one with [nocopy.ErrLimit] if an index is not in the file, or if they have together more
// bytes than a footer may have, and those of the chunks, as in RowGroup.Chunks.
func (f *File) ReadIndexes() (*File, error) {
	spans, err := f.indexes()
	if err != nil {
		return nil, err
	}
	most := f.maxBytes()
	for i := range spans {
		s := &spans[i]
		if most -= s.end - s.begin; most < 0 {
			return nil, fmt.Errorf("parquetmeta: indexes of more than %d bytes: %w", f.maxBytes(), nocopy.ErrLimit)
		}
		s.b = make([]byte, s.end-s.begin)
		if err := readFull(f.r, s.b, s.begin); err != nil {
			return nil, err
		}
	}
	with := *f
	with.r = read{f.r, spans}
	return &with, nil
}

// indexes returns where the indexes of all chunks in this file are, joined.
func (f *File) indexes() ([]span, error) {
	var spans []span
	for g := range f.groups {
		for i := range f.leaves {
			c, err := f.chunk(g, i)
			if err != nil {
				return nil, err
			}
			if c.Encrypted || c.FilePath() != "" {
				continue
			}
			for _, index := range [][2]int64{
				{c.ColumnIndexOffset, int64(c.ColumnIndexLength)}, {c.OffsetIndexOffset, int64(c.OffsetIndexLength)},
			} {
				offset, length := index[0], index[1]
				if offset == -1 && length == -1 {
					continue
				}
				if err := f.within(offset, length, "index"); err != nil {
					return nil, err
				}
				spans = append(spans, span{begin: offset, end: offset + length})
			}
		}
	}
	return joined(spans), nil
}

// joined sorts spans and joins those that have at most a gap between them.
func joined(spans []span) []span {
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.begin, b.begin) })
	n := 0
	for i, s := range spans {
		if i > 0 && s.begin-spans[n-1].end <= gap {
			spans[n-1].end = max(spans[n-1].end, s.end)
		} else {
			spans[n] = s
			n++
		}
	}
	return spans[:n]
}

// OffsetIndex reads where the pages of the chunk are, with one call of ReadAt. The message is
// the caller's. If the chunk has no such index, the message is absent: Valid returns false. The
// error is a *[nocopy.Error], whose offset counts from the index's beginning, if the index is
// wrong; one with [nocopy.ErrLimit] if it is not in the file, or exceeds the limits; one with
// [ErrOtherFile], if the chunk has an index but is in another file, or with [ErrEncrypted]; or the
// reader's.
func (c Chunk) OffsetIndex() (format.OffsetIndex, error) {
	b, err := c.index(c.OffsetIndexOffset, c.OffsetIndexLength, "offset index")
	if b == nil || err != nil {
		return format.OffsetIndex{}, err
	}
	return format.ParseOffsetIndex(b, nocopy.Compact, c.f.limits)
}

// ColumnIndex reads the statistics of the chunk's pages. All else is as with OffsetIndex.
func (c Chunk) ColumnIndex() (format.ColumnIndex, error) {
	b, err := c.index(c.ColumnIndexOffset, c.ColumnIndexLength, "column index")
	if b == nil || err != nil {
		return format.ColumnIndex{}, err
	}
	return format.ParseColumnIndex(b, nocopy.Compact, c.f.limits)
}

// BloomFilter reads the header of the chunk's Bloom filter. bits is where in the file its bits
// begin: header.GetNumBytes() bytes, which are in the file. All else is as with OffsetIndex; the
// header is read with one call of ReadAt, of 256 bytes, unless it is longer.
func (c Chunk) BloomFilter() (header format.BloomFilterHeader, bits int64, err error) {
	if c.BloomFilterOffset == -1 {
		return header, 0, nil
	}
	const what = "Bloom filter"
	if err := c.here(what); err != nil {
		return header, 0, err
	}
	if c.Encrypted {
		return header, 0, fmt.Errorf("parquetmeta: the %s is %w", what, ErrEncrypted)
	}
	if err := c.f.within(c.BloomFilterOffset, 1, what); err != nil {
		return header, 0, err
	}
	for most := int64(256); ; most *= 256 {
		b := make([]byte, min(most, c.f.size-c.BloomFilterOffset))
		if err := readFull(c.f.r, b, c.BloomFilterOffset); err != nil {
			return header, 0, err
		}
		s := scanner{b: b}
		n := s.record(0, 0)
		if n < 0 {
			if errors.Is(s.err, io.ErrUnexpectedEOF) && most == 256 && int64(len(b)) == most {
				continue
			}
			return header, 0, &nocopy.Error{Offset: s.at, Path: "BloomFilterHeader", Err: s.err}
		}
		if header, err = format.ParseBloomFilterHeader(b[:n], nocopy.Compact, c.f.limits); err != nil {
			return format.BloomFilterHeader{}, 0, err
		}
		bits = c.BloomFilterOffset + int64(n)
		if err := c.f.within(bits, int64(header.GetNumBytes()), what); err != nil {
			return format.BloomFilterHeader{}, 0, err
		}
		return header, bits, nil
	}
}
