package parse

import (
	"slices"

	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/internal/entry"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// This file parses wide structs. The words of the fields are collected and put into a table of
// their size when the struct has ended.

// endWide makes the table of the wide struct of entry e, which ends at i: of the fields from
// number first on. It reports whether it could; otherwise it has failed.
func (p *Parser) endWide(d *schema.Struct, e uint32, first, i int, ascending bool) bool {
	if !ascending {
		if i = p.sortPresent(d, e, first, i); i < 0 {
			return false
		}
	}
	if len(p.present) > first {
		t := p.makeTable(d, first, i)
		p.x.SetTable(e, t)
		p.present = p.present[:first]
		return t != 0
	}
	return true
}

// plainEnd returns the index after the field whose header is at i, if that is a text or of fixed
// size and all of it is in the window and needs no further check; else 0.
func (p *Parser) plainEnd(f *schema.IDField, i int) int {
	left := p.B[i:]
	if f.Kind > schema.Text || f.Kind == schema.Text && p.UTF8 || len(left) <= wire.FieldHeader+wire.TextHeader {
		return 0
	}
	// A text has size 0, and fixed is 0: so which of them it is takes no branch, which nobody could
	// foretell
	n := uint64(wire.BE32(left[wire.FieldHeader:]) & -uint32(f.Kind))
	end := wire.FieldHeader + uint64(f.Size) + wire.TextHeader*uint64(f.Kind) + n
	if n > chain.MaxSize || end >= uint64(len(left)) {
		return 0
	}
	return i + int(end)
}

// field indexes the field whose header is at i. It returns the index after it, or a negative one,
// and the field's word, which is 0 if the value is not of its type after all.
func (p *Parser) field(f *schema.Field, i int) (int, uint32) {
	if f.Kind() >= schema.Record {
		return p.container(f, i)
	}
	i, n, word := p.textOrFixed(f.Type, i, wire.FieldHeader)
	return i + n, word
}

// sortPresent sorts the fields from number first on. Of fields that came several times it leaves
// the last, and notes the others. It returns i, where the parser is, or failed.
func (p *Parser) sortPresent(d *schema.Struct, e uint32, first, i int) int {
	all, n := p.present[first:], 0
	p.spare = slices.Grow(p.spare[:0], len(all))
	sorted, _ := chain.SortByHigh(all, p.spare)
	for k, x := range sorted {
		if k+1 < len(sorted) && sorted[k+1].Number() == x.Number() {
			f := &d.Fields()[x.Number()-d.First()]
			if i = p.duplicate(d, e, f, uint32(x.Word()), i); i < 0 {
				return i
			}
			continue
		}
		all[n] = x
		n++
	}
	p.present = p.present[:first+n]
	return i
}

// makeTable returns a table of d with the fields from number first on, which are in ascending
// order. It returns 0, having failed at i, if that is over the limit.
func (p *Parser) makeTable(d *schema.Struct, first, i int) uint32 {
	all := p.present[first:]
	n := entry.BareTable(d.Span()) + uint32(len(all))
	t := uint32(0)
	if p.x.Reuses {
		t = p.x.AllocTable(n)
	} else {
		if t = p.allot(int(n), 0, 0, i); t == 0 {
			return 0
		}
	}
	p.x.FillTable(t, d.Span(), all)
	return t
}
