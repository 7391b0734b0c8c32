package nocopy

import (
	"encoding/binary"
	"fmt"
	"io"
	"math/bits"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/nocopythrift/nocopythrift/internal/chain"
)

var errDepth = fmt.Errorf("%w: nested deeper than Limits.MaxDepth", ErrLimit)

// parser validates a message and indexes it in one pass. It sees the bytes through a window that is contiguous:
// the whole message when that is in one piece. Where a value crosses from one block into the next, both parts
// are stitched: copied into a piece of their own, which takes the place of the originals in the chain.
//
// Methods take and return an index into the window; a negative one says that the parse has failed, or (mismatch)
// that the value is not of its declared type. Whoever calls a method that may move the window reads p.b again.
type parser struct {
	m    *Message
	b    []byte // the window
	base uint32 // position of b[0]
	off  int    // offset in the message of b[0]

	from    int          // index in b at which the window's part of the chain begins
	node    chain.NodeID // whose content the chain is, 0 = the message
	windows []window
	next    place // what follows the window
	rest    int   // bytes from next on
	// In a stitched window: b[copied:] is a copy of what stands at original.
	copied   int
	original place

	mismatched uint32  // position of a field that turned out not to be of its type
	scan       Scanner // for what is skipped across windows

	growth   growth
	depth    int
	maxDepth int
	maxIndex uint32 // words
	lazy     bool
	promised uint64 // words that indexing what was left for later may take
	utf8     bool
	lenient  bool // what is indexed has been accepted before
	reuse    bool // entries that are free are used again

	err  *Error
	path []string // innermost first
}

const (
	failed   = -1
	mismatch = -2
)

// fail notes what is wrong at i, unless something was before.
//
//go:noinline
func (p *parser) fail(i int, err error) int {
	if p.err == nil {
		p.err = &Error{Offset: p.off + i, Err: err}
	}
	return failed
}

// short is the failure of a message that ends before the value at i does.
func (p *parser) short() int { return p.fail(len(p.b)+p.rest, io.ErrUnexpectedEOF) }

// fill makes sure that the header of the field at i, or the STOP, and that of the text or container in it are contiguous, if the
// message has as many bytes. More than that must not be asked for: every value that crosses into another window is copied.
func (p *parser) fill(i int) int {
	if p.rest == 0 || len(p.b)-i >= fieldHeader+mapHeader {
		return i
	}
	if i = p.need(i, 1); i < 0 || p.b[i] == byte(WireStop) {
		return i
	}
	n := fieldHeader
	if t := WireType(p.b[i]); t != WireStruct {
		n += int(minSize[t])
	}
	return p.need(i, min(n, len(p.b)-i+p.rest))
}

// head is load64 where there may be fewer than 8 bytes: what is behind the end of b is zero.
func head(b []byte, i int) uint64 {
	if len(b)-i >= 8 {
		return load64(b, i)
	}
	var x [8]byte
	copy(x[:], b[i:])
	return binary.LittleEndian.Uint64(x[:])
}

// keyIn returns the field's key in the 8 bytes that begin with its header.
func keyIn(x uint64) uint32 { return bits.ReverseBytes32(uint32(x)) >> 8 }

// lengthIn returns the length in the 8 bytes that begin with the header of a text field.
func lengthIn(x uint64) uint32 { return bits.ReverseBytes32(uint32(x >> (8 * fieldHeader))) }

// structure indexes the struct at i into the entry e, whose words hold anything.
func (p *parser) structure(d *Desc, e uint32, i int) int {
	if p.depth++; p.depth > p.maxDepth {
		return p.fail(i, errDepth)
	}
	p.m.idx[e] = p.base + uint32(i)
	if p.utf8 || d.union || p.reuse {
		return p.fields(nil, d, e, i, 0)
	}
	pl := planOf(d)
	k, shift := notBegun, uint32(nothingInside)
	if pl.steps[0]&stepOther == 0 { // mostly that is all
		shift = p.shiftOf(pl, e, 0)
		if i, k = p.m.follow(pl, 0, p.b, i, e, shift, p.base); k == len(pl.steps) {
			p.m.words += pl.rest(0)
			p.depth--
			return i
		}
	}
	return p.goOn(pl, d, e, i, k, shift)
}

// goOn indexes the rest of the struct of entry e, of which follow has done the steps before k with this shift.
func (p *parser) goOn(pl *plan, d *Desc, e uint32, i, k int, shift uint32) int {
	pl, i, next := p.planned(pl, d, e, i, 0, k, shift)
	if i < 0 || next > len(d.fields) {
		p.depth--
		return i
	}
	return p.fields(pl, d, e, i, next)
}

// fields indexes what is at i of the struct of entry e, up to its end. The fields at places before next, the one that is expected,
// have been indexed as the plan has it; without a plan, any may come.
func (p *parser) fields(pl *plan, d *Desc, e uint32, i, next int) int {
	order, places := d.natural, d.natural
	if pl != nil {
		order, places = pl.order, pl.places
	}
	if pl != nil && pl.built {
		for _, number := range order[next:] {
			p.m.idx[e+d.fields[number].word] = 0
		}
	} else {
		clear(p.m.idx[e+structWords : e+uint32(d.words)][next:])
	}
	done := next // the place behind the last field that has come
	for {
		b := p.b
		var x uint64
		if len(b)-i >= fieldHeader+mapHeader {
			x = load64(b, i)
		} else {
			if i = p.fill(i); i < 0 {
				return i
			}
			b = p.b
			switch n := len(b) - i; {
			case n == 0:
				return p.short()
			case b[i] == byte(WireStop): // before anything reads beyond it
				return p.stop(d, e, i, next)
			case n < fieldHeader:
				return p.short()
			}
			x = head(b, i)
		}
		key, n := keyIn(x), next
		if n >= len(d.fields) || d.fields[order[n]].key != key {
			if key>>16 == 0 {
				return p.stop(d, e, i, next)
			}
			if n = d.step(key); n < 0 {
				if i = p.unknown(d, e, i, key); i < 0 {
					return i
				}
				continue
			}
			n = int(places[n])
		}
		f := &d.fields[order[n]]
		word := uint32(0)
		switch f.kind {
		case fixed:
			if i = p.need(i, fieldHeader+int(f.size)); i >= 0 {
				word = p.base + uint32(i) + fieldHeader
				i += fieldHeader + int(f.size)
			}
		case text:
			var size int
			i, size = p.text(i, fieldHeader, f.typ)
			word = p.base + uint32(i) + fieldHeader
			i += size
		default:
			i, word = p.container(f, i)
		}
		if i < 0 {
			return p.in(f.Name)
		}
		if word == 0 { // not of its type after all
			if d.union {
				if i = p.strange(e, p.mismatched, p.base+uint32(i), i); i < 0 {
					return i
				}
			}
			continue
		}
		if p.m.idx[e+f.word] != 0 {
			if i = p.shadow(d, e, f, i); i < 0 {
				return i
			}
		}
		p.m.idx[e+f.word] = word
		if next = n + 1; next <= done {
			continue
		}
		if pl != nil {
			if pl, i, next = p.planned(pl, d, e, i, next, notBegun, nothingInside); i < 0 {
				return i
			} else if next > len(d.fields) {
				return p.stop(d, e, i-1, next)
			}
			order, places = pl.order, pl.places
		}
		done = next
	}
}

// stop ends the struct whose STOP is at i; next is the field behind the one that came last.
func (p *parser) stop(d *Desc, e uint32, i, next int) int {
	p.m.idx[e+1] = p.base + uint32(i)
	if d.union && next > 0 {
		p.m.idx[p.m.which(e)] = uint32(next) + unionWord
	}
	for _, w := range d.required {
		if p.m.idx[e+w] == 0 && !p.lenient {
			p.fail(i, ErrMissingRequired)
			return p.in(d.fields[w-d.first].Name)
		}
	}
	p.depth--
	return i + 1
}

// shadow notes that a field comes a second time in the struct of entry e. It returns i, where the parser is, or failed.
func (p *parser) shadow(d *Desc, e uint32, f *field, i int) int {
	at, end := p.m.valuePlace(f.typ.wire, p.m.idx[e+f.word])
	p.m.shadows.all = append(p.m.shadows.all, shadow{e: e, word: f.word, at: at - fieldHeader, end: end})
	if d.union {
		return p.strange(e, at-fieldHeader, end, i)
	}
	return i
}

// in adds the name of a field to the path of the failure.
func (p *parser) in(name string) int {
	p.path = append(p.path, "."+name)
	return failed
}

func (p *parser) at(k int) int {
	p.path = append(p.path, "["+itoa(k)+"]")
	return failed
}

// text makes lead bytes and the string behind them contiguous, and checks it. It returns where lead begins
// now and how long both are.
func (p *parser) text(i, lead int, t *Type) (at, n int) {
	if i = p.need(i, lead+textHeader); i < 0 {
		return i, 0
	}
	n = int(int32(be32(p.b[i+lead:])))
	if n < 0 {
		return p.fail(i+lead, ErrNegative), 0
	}
	if n > len(p.b)-i-lead-textHeader+p.rest {
		return p.short(), 0
	}
	n += lead + textHeader
	if i = p.need(i, n); i < 0 {
		return i, 0
	}
	if p.utf8 && !t.binary && !utf8.Valid(p.b[i+lead+textHeader:i+n]) {
		return p.fail(i+lead+textHeader, ErrUTF8), 0
	}
	return i, n
}

// container indexes the struct, list, set or map in the field whose header is at i. The entry is 0 if its
// elements are not of their type: then the field, which is at mismatched, counts as unknown.
func (p *parser) container(f *field, i int) (int, uint32) {
	if p.lazy && (f.kind != list || f.typ.elem.kind != fixed) {
		return p.wholeContainer(f, i)
	}
	if p.rest > 0 && p.node == 0 && f.typ.nested() { // of what is linked it is known, see source
		return p.crossingContainer(f, i)
	}
	var end int
	var e uint32
	switch f.kind {
	case list:
		end, e = p.list(f.typ, i, fieldHeader)
	case dict:
		end, e = p.dict(f.typ, i, fieldHeader)
	default:
		end, e = p.value(f.typ, i, fieldHeader)
	}
	if end == mismatch {
		return p.mismatchedContainer(f, i), 0
	}
	return end, e
}

// mismatchedContainer is what remains of container if the field's elements are not of their type.
func (p *parser) mismatchedContainer(f *field, i int) int {
	p.mismatched = p.base + uint32(i)
	return p.skip(i, fieldHeader, f.typ.wire, p.maxDepth, structCost)
}

// crossingContainer is container when windows follow and it may turn out late that the field is not of its type: then there must be a
// way back.
func (p *parser) crossingContainer(f *field, i int) (int, uint32) {
	back := p.waypoint()
	end, e := p.value(f.typ, i, fieldHeader)
	if end == mismatch {
		p.goBack(back)
		return p.mismatchedContainer(f, i), 0
	}
	return end, e
}

// wholeContainer is container with Lazy: it is left for later, if it is in one piece.
func (p *parser) wholeContainer(f *field, i int) (int, uint32) {
	end := usualEnd(p.b, f.typ, i+fieldHeader, p.maxDepth-p.depth)
	if end >= 0 && p.affords(f, p.b[i+fieldHeader:end]) {
		return end, notIndexed | p.base + uint32(i) + fieldHeader
	}
	if p.rest == 0 {
		end = p.skip(i, fieldHeader, f.typ.wire, p.maxDepth-p.depth, 1)
		if end >= 0 && p.matches(f.typ, i+fieldHeader) && p.affords(f, p.b[i+fieldHeader:end]) {
			return end, notIndexed | p.base + uint32(i) + fieldHeader
		}
		if end < 0 && p.err.Err == errDepth {
			// What is unknown in there does not count with what is around it: indexing finds out whether it is too deep after all.
			p.err = nil
			end = p.skip(i, fieldHeader, f.typ.wire, 2*p.maxDepth-p.depth, 1)
		}
		if end < 0 {
			return failed, 0
		}
	}
	p.lazy = false
	end, e := p.container(f, i)
	p.lazy = true
	return end, e
}

// matches says whether the elements of the container at i have their declared type, all the way down.
func (p *parser) matches(t *Type, i int) bool {
	if t.kind < list {
		return true
	}
	ok, _ := matches(p.b, t, i, t.nested())
	return ok
}

// matches is parser.matches of the value at b[i:], which is known to be well formed. With deep it looks at
// the elements of elements too, and returns the index behind the value.
func matches(b []byte, t *Type, i int, deep bool) (bool, int) {
	ok := true
	end := i
	switch t.kind {
	case list:
		n := be32(b[i+1:])
		ok = n == 0 || WireType(b[i]) == t.elem.wire
		end = i + listHeader
		for ; ok && deep && n > 0; n-- {
			ok, end = matches(b, t.elem, end, true)
		}
	case dict:
		n := be32(b[i+2:])
		ok = n == 0 || WireType(b[i]) == t.key.wire && WireType(b[i+1]) == t.elem.wire
		end = i + mapHeader
		for ; ok && deep && n > 0; n-- {
			if ok, end = matches(b, t.key, end, true); ok {
				ok, end = matches(b, t.elem, end, true)
			}
		}
	default:
		end, _ = skip(b, i, t.wire, maxBudget, 1)
	}
	return ok, end
}

// value indexes the struct or container that stands behind lead bytes at i. It returns the index behind it and its entry.
func (p *parser) value(t *Type, i, lead int) (int, uint32) {
	switch t.kind {
	case record:
		e := p.takeFor(t, 0, t.desc.words, 1, i)
		if e == 0 {
			return failed, 0
		}
		return p.structure(t.desc, e, i+lead), e
	case list:
		return p.list(t, i, lead)
	default:
		return p.dict(t, i, lead)
	}
}

// take takes words of the index for a head and n elements of per words each, contents undefined; 0 if that is
// over the limit.
func (p *parser) take(head, n, per, i int) uint32 {
	words := uint64(head) + uint64(n)*uint64(per) // below 1<<48
	if end := uint64(p.m.words) + words; end <= uint64(p.maxIndex) && end <= uint64(len(p.m.idx)) {
		e := p.m.words
		p.m.words = uint32(end)
		return e
	}
	return p.takeMore(words, i)
}

// takeFor is take for a value of the type.
func (p *parser) takeFor(t *Type, head, n, per, i int) uint32 {
	if p.reuse {
		return p.m.reuse(t, uint32(head+n*per))
	}
	return p.take(head, n, per, i)
}

// takeMore is take when the index must grow, or may not.
func (p *parser) takeMore(words uint64, i int) uint32 {
	if uint64(p.m.words)+words > uint64(p.maxIndex) {
		p.fail(i, fmt.Errorf("%w: index of more than Limits.MaxIndex = %d bytes", ErrLimit, 4*uint64(p.maxIndex)))
		return 0
	}
	if end := int(p.m.words) + int(words); end > len(p.m.idx) {
		p.growIndex(end, p.off+i, p.off+len(p.b)+p.rest)
	}
	return p.m.take(int(words))
}

// finish returns the error of a failed parse, with its path.
func (p *parser) finish(d *Desc) error {
	p.path = append(p.path, d.name)
	slices.Reverse(p.path)
	p.err.Path = strings.Join(p.path, "")
	err := p.err
	if err.Err == errDepth {
		err.Err = depthError(p.maxDepth)
	}
	p.path, p.err = p.path[:0], nil
	return err
}
