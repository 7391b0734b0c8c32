package match

import (
	"fmt"

	"github.com/cespare/xxhash/v2"

	"github.com/nocopythrift/nocopythrift/nocopy"

	"github.com/nocopythrift/nocopythrift/parquetmeta"
)

// Predicate is a condition on rows. Its functions keep the values that they get: change none of
// them.
type Predicate struct {
	op     op
	path   string
	lo, hi any
	parts  []Predicate
}

type op uint8

const (
	and op = iota // the zero Predicate has no parts, which all rows match
	or
	between
	equal
	isNull
	notNull
)

// Between matches rows whose value in the column with this path is from lo to hi, with both. nil
// is no limit. Of a repeated column, one of the row's values is enough.
func Between(path string, lo, hi any) Predicate {
	return Predicate{op: between, path: path, lo: lo, hi: hi}
}

// Equal matches rows whose value in the column with this path equals v. Of a repeated column, one
// of the row's values is enough.
func Equal(path string, v any) Predicate { return Predicate{op: equal, path: path, lo: v, hi: v} }

// IsNull matches rows without a value in the column with this path. Of a repeated column it
// excludes nothing.
func IsNull(path string) Predicate { return Predicate{op: isNull, path: path} }

// NotNull matches rows with a value in the column with this path.
func NotNull(path string) Predicate { return Predicate{op: notNull, path: path} }

// And matches rows that match all of the predicates.
func And(all ...Predicate) Predicate { return Predicate{op: and, parts: all} }

// Or matches rows that match one of the predicates at least.
func Or(some ...Predicate) Predicate { return Predicate{op: or, parts: some} }

// bound is a predicate for a file: the values are those of the columns.
type bound struct {
	op       op
	parts    []bound
	column   int
	repeated bool
	order    Order
	values   span
	hashes   []uint64 // of the encodings of the one value that there is, or nil
}

// bind looks the columns up, and converts the values.
func (p Predicate) bind(f *parquetmeta.File) (b bound, err error) {
	b.op = p.op
	if p.op == and || p.op == or {
		b.parts = make([]bound, len(p.parts))
		for i, part := range p.parts {
			if b.parts[i], err = part.bind(f); err != nil {
				return b, err
			}
		}
		return b, nil
	}
	c := f.Column(p.path)
	if b.column = c.Number(); b.column < 0 {
		return b, fmt.Errorf("match: column %q: %w", p.path, nocopy.ErrNotFound)
	}
	b.repeated = c.Node().MaxRepetitionLevel() > 0
	if b.order, err = OrderOf(c); err != nil || p.op == isNull || p.op == notNull || b.order.kind == unordered {
		return b, err
	}
	var from, to point
	if p.lo != nil || p.op == equal {
		if from, to, err = b.order.around(p.lo); err != nil {
			return b, fmt.Errorf("match: column %q: %w", p.path, err)
		}
		b.values.lo = &from
	}
	if p.op == between && p.hi != nil {
		if _, to, err = b.order.around(p.hi); err != nil {
			return b, fmt.Errorf("match: column %q: %w", p.path, err)
		}
	}
	if p.hi != nil {
		b.values.hi = &to
	}
	if p.op == equal && b.order.compare(from, to) == 0 {
		for _, value := range b.order.plain(from) {
			b.hashes = append(b.hashes, xxhash.Sum64(value))
		}
	}
	return b, nil
}

// none reports whether no value is between the predicate's.
func (b *bound) none() bool {
	v := b.values
	return v.lo != nil && v.hi != nil && b.order.compare(*v.lo, *v.hi) > 0
}

// excluded reports whether no row can match if the column's values are within bounds. all tells
// that every value is null, and nulls how many are; -1 is unknown.
func (b *bound) excluded(bounds span, all bool, nulls int64) bool {
	switch b.op {
	case isNull:
		return !b.repeated && !all && nulls == 0
	case notNull:
		return all
	}
	return all || b.none() || b.order.kind != unordered && b.order.apart(b.values, bounds)
}

// can reports whether the chunks of a row group can have a row that matches, by their statistics
// and, with filters, by their Bloom filters.
func (b *bound) can(g parquetmeta.RowGroup, filters bool) (bool, error) {
	if b.op == and || b.op == or {
		for i := range b.parts {
			if can, err := b.parts[i].can(g, filters); err != nil || can == (b.op == or) {
				return can, err
			}
		}
		return b.op == and, nil
	}
	c, err := g.Chunk(b.column)
	if err != nil {
		return false, err
	}
	s := c.Statistics
	bounds, _ := b.order.span(b.order.Bounds(s)) // which are none if they are wrong
	if b.excluded(bounds, s.NullCount >= 0 && s.NullCount == c.NumValues, s.NullCount) {
		return false, nil
	}
	if !filters || len(b.hashes) == 0 || c.Encrypted || c.FilePath() != "" {
		return true, nil
	}
	for _, h := range b.hashes {
		if can, err := c.MayHave(h); can || err != nil {
			return can, err
		}
	}
	return false, nil
}
