package match

import (
	"errors"
	"fmt"
	"iter"

	"github.com/nocopythrift/nocopythrift/parquetmeta"
	"github.com/nocopythrift/nocopythrift/parquetmeta/format"
)

// ErrIndex is in the error of a column index or offset index that makes no sense.
var ErrIndex = errors.New("wrong page index")

// Range is from Begin to before End.
type Range struct{ Begin, End int64 }

// Part is a row group that can have rows that match, and which rows these can be.
type Part struct {
	RowGroup parquetmeta.RowGroup
	Rows     []Range // in order, apart from each other; counted from the row group's first
}

// RowGroups yields the row groups that can have rows that match. The loop ends after an error.
func RowGroups(f *parquetmeta.File, p Predicate) iter.Seq2[parquetmeta.RowGroup, error] {
	return func(yield func(parquetmeta.RowGroup, error) bool) {
		b, err := p.bind(f)
		if err != nil {
			yield(parquetmeta.RowGroup{}, err)
			return
		}
		for g, err := range f.RowGroups() {
			can := false
			for _, filters := range []bool{false, true} { // all that the footer says first
				if err == nil {
					if can, err = b.can(g, filters); !can {
						break
					}
				}
			}
			if (can || err != nil) && !yield(g, err) || err != nil {
				return
			}
		}
	}
}

// Parts yields the row groups that can have rows that match, with these rows. Those without any
// are left out. The loop ends after an error.
func Parts(f *parquetmeta.File, p Predicate) iter.Seq2[Part, error] {
	return func(yield func(Part, error) bool) {
		b, _ := p.bind(f) // RowGroups has the error
		for g, err := range RowGroups(f, p) {
			part := Part{RowGroup: g}
			if err == nil {
				part.Rows, err = b.rows(g)
			}
			if (len(part.Rows) > 0 || err != nil) && !yield(part, err) || err != nil {
				return
			}
		}
	}
}

// rows returns the rows of the row group that can match.
func (b *bound) rows(g parquetmeta.RowGroup) ([]Range, error) {
	all := []Range{{0, g.NumRows}}
	if g.NumRows <= 0 {
		all = nil
	}
	if b.op != and && b.op != or {
		return b.pages(g, all)
	}
	var rows []Range
	if b.op == and {
		rows = all
	}
	for i := range b.parts {
		some, err := b.parts[i].rows(g)
		if err != nil {
			return nil, err
		}
		if b.op == and {
			rows = both(rows, some)
		} else {
			rows = either(rows, some)
		}
	}
	return rows, nil
}

// both returns what is in both lists of ranges.
func both(a, b []Range) (out []Range) {
	for len(a) > 0 && len(b) > 0 {
		if r := (Range{max(a[0].Begin, b[0].Begin), min(a[0].End, b[0].End)}); r.Begin < r.End {
			out = append(out, r)
		}
		if a[0].End < b[0].End {
			a = a[1:]
		} else {
			b = b[1:]
		}
	}
	return out
}

// either returns what is in one of two lists of ranges, or in both.
func either(a, b []Range) (out []Range) {
	for len(a) > 0 || len(b) > 0 {
		if len(a) == 0 || len(b) > 0 && b[0].Begin < a[0].Begin {
			a, b = b, a
		}
		out, a = joined(out, a[0]), a[1:]
	}
	return out
}

// joined appends a range that begins not before the others, as a part of the last if they touch.
func joined(all []Range, r Range) []Range {
	if n := len(all) - 1; n >= 0 && r.Begin <= all[n].End {
		all[n].End = max(all[n].End, r.End)
		return all
	}
	return append(all, r)
}

// pages returns the rows in pages of the predicate's column that can match. all are those of the
// row group.
func (b *bound) pages(g parquetmeta.RowGroup, all []Range) ([]Range, error) {
	if can, err := b.can(g, false); err != nil || !can {
		return nil, err
	}
	c, err := g.Chunk(b.column)
	if err != nil || c.Encrypted || c.FilePath() != "" {
		return all, err
	}
	bounds, err := c.ColumnIndex()
	if err != nil || !bounds.Valid() {
		return all, err
	}
	defer bounds.Release()
	pages, err := locations(c, g.NumRows)
	if err != nil || pages == nil {
		return all, err
	}
	nulls, counts := bounds.GetNullPages(), bounds.GetNullCounts()
	if n := len(pages); nulls.Len() != n || bounds.IsSetNullCounts() && counts.Len() != n {
		return nil, wrong(c, "a column index of %d pages and %d counts of nulls, an offset index of %d",
			nulls.Len(), counts.Len(), n)
	}
	var rows []Range
	for i, p := range pages {
		count := int64(-1)
		if bounds.IsSetNullCounts() {
			count = counts.At(i)
		}
		if p.rows.Begin < p.rows.End && !b.excluded(b.order.page(bounds, i), nulls.At(i), count) {
			rows = joined(rows, p.rows)
		}
	}
	return rows, nil
}

// page returns the values that page i can have, by the bounds in the column index. Some writers
// have none if all pages are null.
func (o Order) page(index format.ColumnIndex, i int) span {
	lo, hi, n := index.GetMinValues(), index.GetMaxValues(), index.GetNullPages().Len()
	if !o.trusted || lo.Len() != n || hi.Len() != n || index.GetNullPages().At(i) {
		return span{}
	}
	// A text may be empty, but not nil.
	s, _ := o.span(append([]byte{}, lo.At(i)...), append([]byte{}, hi.At(i)...))
	return s
}

// page is where a data page is: its rows, and its bytes in the file.
type page struct{ rows, bytes Range }

// wrong returns the error of an index.
func wrong(c parquetmeta.Chunk, text string, values ...any) error {
	return fmt.Errorf("match: %w: chunk %d of row group %d: %s", ErrIndex, c.Column, c.RowGroup, fmt.Sprintf(text, values...))
}

// locations reads the offset index of a chunk with so many rows. It returns nil if there is none.
func locations(c parquetmeta.Chunk, numRows int64) ([]page, error) {
	index, err := c.OffsetIndex()
	if err != nil || !index.Valid() {
		return nil, err
	}
	defer index.Release()
	begin, length, err := c.Range()
	if err != nil {
		return nil, err
	}
	all := index.GetPageLocations()
	pages := make([]page, all.Len())
	for i, l := range all.All() {
		size := int64(l.GetCompressedPageSize())
		p := page{Range{l.GetFirstRowIndex(), numRows}, Range{l.GetOffset(), l.GetOffset() + size}}
		switch {
		case p.rows.Begin < 0 || i == 0 && p.rows.Begin > 0 || p.rows.Begin > numRows:
			return nil, wrong(c, "page %d begins with row %d of %d", i, p.rows.Begin, numRows)
		case i > 0 && p.rows.Begin < pages[i-1].rows.Begin:
			return nil, wrong(c, "page %d begins with row %d, the one before with %d", i, p.rows.Begin, pages[i-1].rows.Begin)
		case size < 0 || p.bytes.Begin < begin || p.bytes.Begin > begin+length-size:
			return nil, wrong(c, "page %d is at offset %d, of %d bytes, and its chunk at %d, of %d", i, p.bytes.Begin, size, begin, length)
		}
		if i > 0 {
			before := &pages[i-1].rows // which may end within a row, where a writer breaks the rules
			before.End = max(p.rows.Begin, min(before.Begin+1, numRows))
			if p.bytes.Begin < pages[i-1].bytes.End {
				return nil, wrong(c, "page %d is at offset %d, the one before ends at %d", i, p.bytes.Begin, pages[i-1].bytes.End)
			}
		}
		pages[i] = p
	}
	return pages, nil
}

// Bytes returns which bytes of the file have the part's rows of a column: the dictionary page, if
// there is one, and the data pages with these rows. Without an offset index it is the whole
// chunk. It panics if there is no such column. The errors are those of Chunk.Range and
// Chunk.OffsetIndex, and one with [ErrIndex].
func (p Part) Bytes(column int) ([]Range, error) {
	c, err := p.RowGroup.Chunk(column)
	if err != nil {
		return nil, err
	}
	begin, length, err := c.Range()
	if err != nil {
		return nil, err
	}
	var pages []page
	if !c.Encrypted {
		if pages, err = locations(c, p.RowGroup.NumRows); err != nil {
			return nil, err
		}
	}
	if len(pages) == 0 {
		return []Range{{begin, begin + length}}, nil
	}
	var out []Range
	if pages[0].bytes.Begin > begin {
		out = append(out, Range{begin, pages[0].bytes.Begin})
	}
	rows := p.Rows
	for _, page := range pages {
		for len(rows) > 0 && rows[0].End <= page.rows.Begin {
			rows = rows[1:]
		}
		if len(rows) > 0 && rows[0].Begin < page.rows.End {
			out = joined(out, page.bytes)
		}
	}
	return out, nil
}
