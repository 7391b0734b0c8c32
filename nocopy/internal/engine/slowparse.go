package engine

import (
	"io"
	"strconv"
	"unicode/utf8"

	"github.com/nocopythrift/nocopythrift/internal/entry"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/index"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/program"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wireindex"
)

// The slow parser indexes values that programs do not foresee: fields in any order, twice, unknown
// or of another type than the IDL's, and values that cross from one block into the next. It finds
// all errors.

// fields indexes the rest of the struct of entry e, which begins at i. The entry's words tell
// which fields have come before. It returns the index after the struct, or failed.
func (p *parser) fields(d *schema.Struct, e uint32, i int) int {
	if d.IsWide() {
		return p.wideFields(d, e, i)
	}
	last := uint32(0)
	if d.IsUnion() {
		last = p.m.ix.LastArm(d, e)
	}
	for {
		if i = p.need(i, 1); i < 0 {
			return i
		}
		if p.b[i] == byte(wire.Stop) {
			return p.stop(d, e, i, last)
		}
		if i = p.need(i, wire.FieldHeader); i < 0 {
			return i
		}
		key := wire.HeaderAt(p.b, i)
		f := d.Find(key)
		if f == nil {
			if i = p.unknown(d, e, i, key); i < 0 {
				return i
			}
			continue
		}
		word := uint32(0)
		if f.Kind() < schema.Record {
			var n int
			if i, n, word = p.textOrFixed(f.Type, i, wire.FieldHeader); i >= 0 {
				i += n
			}
		} else {
			i, word = p.container(f, i)
		}
		if i < 0 {
			return p.inField(f.Name)
		}
		if word == 0 { // not of its type after all
			if d.IsUnion() {
				if i = p.addExtra(e, p.mismatched, p.base+uint32(i), i); i < 0 {
					return i
				}
			}
			continue
		}
		if before := p.m.ix.Words[e+f.Word()]; before != 0 {
			if i = p.shadow(d, e, f, before, i); i < 0 {
				return i
			}
		}
		p.m.ix.Words[e+f.Word()] = word
		last = f.Word()
	}
}

// stop ends the struct of entry e, whose STOP is at i. last is the number of the word of the field
// that came last. It returns the index after the STOP, or failed if a required field is missing.
func (p *parser) stop(d *schema.Struct, e uint32, i int, last uint32) int {
	p.m.ix.Words[e+entry.End] = p.base + uint32(i)
	if d.IsUnion() {
		p.m.ix.Words[p.m.ix.ArmWord(e)] = last
	}
	for _, f := range d.Required() {
		if p.m.ix.At(e, f.Ref()) == 0 && !p.trusted {
			p.fail(i, wire.ErrMissingRequired)
			return p.inField(f.Name)
		}
	}
	return i + 1
}

// shadow notes that the value with this word, of field f in the struct of entry e, does not count,
// since a later one of the same field has come. i is where the parser is. It returns i, or failed.
func (p *parser) shadow(d *schema.Struct, e uint32, f *schema.Field, word uint32, i int) int {
	at, end := p.m.valuePlace(f.Type.Wire(), word)
	p.m.ownSeldom()
	p.m.shadows.all = append(p.m.shadows.all, shadow{e: e, word: f.Word(), at: at - wire.FieldHeader, end: end})
	p.m.ix.More = true
	if d.IsUnion() {
		return p.addExtra(e, at-wire.FieldHeader, end, i)
	}
	return i
}

// unknown skips the field at i of the struct of entry e, whose header is key and which the
// struct's descriptor does not have, or has with another type. It returns the index after it, or
// failed.
func (p *parser) unknown(d *schema.Struct, e uint32, i int, key uint32) int {
	t := wire.Type(key >> 16)
	if wire.MinSize[t] == 0 {
		return p.fail(i, wire.TypeError(t))
	}
	at := p.base + uint32(i)
	end := p.skip(i, t)
	if end < 0 {
		return p.inField(strconv.Itoa(int(int16(key))))
	}
	if key == wireindex.Header {
		p.m.noteIndex(e)
	}
	if d.IsUnion() {
		return p.addExtra(e, at, p.base+uint32(end), end)
	}
	return end
}

// container indexes the struct, list, set or map in field f, whose header is at i. It returns the
// index after it, or failed, and the field's word. The word is 0 if elements are not of the type
// that the IDL tells: then the field counts as unknown, and p.mismatched is its position.
func (p *parser) container(f *schema.Field, i int) (int, uint32) {
	// This comes first, since it may move the window: a mismatch that is found later goes back to i.
	if f.Kind() > schema.Record {
		if i = p.need(i, wire.FieldHeader+int(f.Type.HeaderSize())); i < 0 {
			return i, 0
		}
	}
	if p.lazy && !f.FixedList() {
		return p.wholeContainer(f, i)
	}
	// A linked value, which has a node, is known to be of its type: see indexShared.
	crossing := p.after > 0 && p.node == 0 && f.Type.Nested()
	var back waypoint
	if crossing { // a mismatch may be found when the window has moved: then the parser goes back
		back = p.waypoint()
	}
	end, e := p.value(f.Type, i, wire.FieldHeader)
	if end == mismatch {
		if crossing {
			p.goBack(back)
		}
		return p.mismatchedContainer(f, i), 0
	}
	return end, e
}

// mismatchedContainer skips field f, whose header is at i and whose value is not of the field's
// type: it counts as unknown. It returns the index after it, or failed.
func (p *parser) mismatchedContainer(f *schema.Field, i int) int {
	p.mismatched = p.base + uint32(i)
	return p.skip(i, f.Type.Wire())
}

// wholeContainer leaves the struct, list, set or map in field f, whose header is at i, for later
// if it is in one piece and Limits.MaxIndex allows it; else it indexes it. It returns what
// container returns.
func (p *parser) wholeContainer(f *schema.Field, i int) (int, uint32) {
	at := i + wire.FieldHeader
	if f.Widest() <= 2*program.Narrow && p.affordsAny(f) { // programs try each field of a struct
		if end := p.pass(f.Type, at); end >= 0 {
			return end, index.NotIndexed | p.base + uint32(at)
		}
	}
	if p.after == 0 {
		s := &p.scan
		end := p.skipAs(at, f.Type.Wire(), f.Type, p.maxDepth-p.depth, 1)
		declared := end >= 0 && !s.mismatched
		if declared && p.affordsAny(f) {
			return end, index.NotIndexed | p.base + uint32(at)
		}
		if end < 0 && p.err.Err == errDepth {
			// Unknown fields in the value have a depth of their own: it does not add to the depth
			// of the structs around them. Indexing finds out whether it is too deep after all.
			p.err = nil
			end = p.skipAs(at, f.Type.Wire(), nil, 2*p.maxDepth-p.depth, 1)
		}
		if end < 0 {
			return failed, 0
		}
		p.allow(end - at)
		if declared && p.affords(f, end-at, s.structs) {
			return end, index.NotIndexed | p.base + uint32(at)
		}
	}
	p.lazy = false
	end, e := p.container(f, i)
	p.lazy = true
	return end, e
}

// slowValue indexes the value of type t that stands after lead bytes at i, none if it is a text or
// of fixed size. It runs no program for the value itself, but perhaps for values in it. It returns
// the index after it, failed or mismatch, and its word.
func (p *parser) slowValue(t *schema.Type, i, lead int) (int, uint32) {
	switch t.Kind() {
	case schema.Fixed, schema.Text:
		return p.element(t, i)
	case schema.Record:
		e := p.allotFor(t, 0, t.Struct().Words(), 1, i)
		if e == 0 {
			return failed, 0
		}
		return p.structure(t.Struct(), e, i+lead), e
	}
	if i = p.need(i, lead+int(t.HeaderSize())); i < 0 {
		return i, 0
	}
	if t.Kind() == schema.List {
		return p.list(t, i, lead)
	}
	return p.dict(t, i, lead)
}

// list indexes the list or set of type t after lead bytes at i. Its header must be contiguous. It
// returns what slowValue returns.
func (p *parser) list(t *schema.Type, i, lead int) (int, uint32) {
	h, elem := i+lead, t.Elem()
	body := h + wire.ListHeader
	n, left := wire.BE32(p.b[h+1:]), len(p.b)-body+p.after
	if wire.Type(p.b[h]) != elem.Wire() && n > 0 || uint64(n)*uint64(wire.MinSize[elem.Wire()]) > uint64(left) || n > maxCount {
		return p.badList(t, h), 0
	}
	e := p.allotFor(t, listWords, int(n), t.ElemWords(), i)
	if e == 0 {
		return failed, 0
	}
	if elem.Kind() == schema.Fixed {
		if i = p.need(i, lead+wire.ListHeader+int(n)*int(elem.Size())); i < 0 {
			return i, 0
		}
		body = i + lead + wire.ListHeader
		i = body + int(n)*int(elem.Size())
		p.listEntry(t, e, body, n)
		p.m.ix.Words[e+listEnd] = p.base + uint32(i)
		return i, e
	}
	p.listEntry(t, e, body, n)
	i = body
	for k := range n {
		var word uint32
		if elem.Kind() == schema.Record {
			i = p.structure(elem.Struct(), e+listWords+k*uint32(elem.Struct().Words()), i)
		} else if i, word = p.element(elem, i); i >= 0 {
			p.m.ix.Words[e+listWords+k] = word
		}
		if i < 0 {
			return p.inElement(int(k), i), 0
		}
	}
	p.m.ix.Words[e+listEnd] = p.base + uint32(i)
	return i, e
}

// inElement adds k, the number of an element, to the path of the failure if i is failed. It
// returns i.
func (p *parser) inElement(k, i int) int {
	if i == failed {
		p.atElement(k)
	}
	return i
}

// badList fails with the error in the list whose header is at h, or returns mismatch.
func (p *parser) badList(t *schema.Type, h int) int {
	n, elem := int32(wire.BE32(p.b[h+1:])), wire.Type(p.b[h])
	switch {
	case n < 0:
		return p.fail(h+1, wire.ErrNegative)
	case elem == t.Elem().Wire():
		return p.short()
	case wire.MinSize[elem] == 0:
		return p.fail(h, wire.TypeError(elem))
	}
	return mismatch
}

// listEntry fills in the first words of the entry e of a list, set or map of type t. It has n
// elements or pairs, and the first one is at body.
func (p *parser) listEntry(t *schema.Type, e uint32, body int, n uint32) {
	w := (*[listWords]uint32)(p.m.ix.Words[e:])
	w[listStart], w[listEnd] = p.base+uint32(body), 0
	w[listCount] = n
	w[listElems] = e + listWords
	w[listRoom] = n
	if t.Kind() == schema.List && t.Elem().Kind() == schema.Record {
		w[listRoom] = uint32(t.Elem().Struct().Words())
	}
	w[listType] = t.ID()
}

// dict indexes the map of type t after lead bytes at i. Its header must be contiguous. It returns
// what slowValue returns.
func (p *parser) dict(t *schema.Type, i, lead int) (int, uint32) {
	h := i + lead
	i = h + wire.MapHeader
	n := wire.BE32(p.b[h+2:])
	if (wire.Type(p.b[h]) != t.Key().Wire() || wire.Type(p.b[h+1]) != t.Elem().Wire()) && n > 0 ||
		uint64(n)*uint64(wire.MinSize[t.Key().Wire()]+wire.MinSize[t.Elem().Wire()]) > uint64(len(p.b)-i+p.after) {
		return p.badDict(t, h), 0
	}
	e := p.allotFor(t, listWords, int(n), pairWords, i)
	if e == 0 {
		return failed, 0
	}
	p.listEntry(t, e, i, n)
	for k := range n {
		var key, value uint32
		if i, key = p.element(t.Key(), i); i >= 0 {
			i, value = p.element(t.Elem(), i)
		}
		if i < 0 {
			return p.inElement(int(k), i), 0
		}
		w := p.m.ix.Words[e+listWords+k*pairWords:][:pairWords]
		w[pairKey], w[pairValue], w[pairNode] = key, value, 0
	}
	p.m.ix.Words[e+listEnd] = p.base + uint32(i)
	return i, e
}

// badDict fails with the error in the map whose header is at h, or returns mismatch.
func (p *parser) badDict(t *schema.Type, h int) int {
	key, value := wire.Type(p.b[h]), wire.Type(p.b[h+1])
	switch {
	case int32(wire.BE32(p.b[h+2:])) < 0:
		return p.fail(h+2, wire.ErrNegative)
	case wire.MinSize[key] == 0:
		return p.fail(h, wire.TypeError(key))
	case wire.MinSize[value] == 0:
		return p.fail(h+1, wire.TypeError(value))
	case key == t.Key().Wire() && value == t.Elem().Wire():
		return p.short()
	}
	return mismatch
}

// element indexes the element, key or value of type t at i. It returns the index after it, failed
// or mismatch, and its word.
func (p *parser) element(t *schema.Type, i int) (int, uint32) {
	if t.Kind() >= schema.Record {
		return p.value(t, i, 0)
	}
	i, n, word := p.textOrFixed(t, i, 0)
	return i + n, word
}

// textOrFixed makes lead bytes at i and the text or value of fixed size after them contiguous, and
// checks the value. It returns the index at which the lead bytes are now, or failed; how many
// bytes they and the value have; and the value's word.
func (p *parser) textOrFixed(t *schema.Type, i, lead int) (at, n int, word uint32) {
	if t.Kind() == schema.Fixed {
		n = lead + int(t.Size())
		if i = p.need(i, n); i < 0 {
			return i, 0, 0
		}
		return i, n, p.base + uint32(i+lead)
	}
	if i = p.need(i, lead+wire.TextHeader); i < 0 {
		return i, 0, 0
	}
	n = int(int32(wire.BE32(p.b[i+lead:])))
	if n < 0 && p.far != nil {
		return i, lead + wire.TextHeader, p.farText(i + lead)
	}
	if n < 0 {
		return p.fail(i+lead, wire.ErrNegative), 0, 0
	}
	if n > len(p.b)-i-lead-wire.TextHeader+p.after {
		return p.short(), 0, 0
	}
	n += lead + wire.TextHeader
	if i = p.need(i, n); i < 0 {
		return i, 0, 0
	}
	if p.utf8 && !t.Binary() && !utf8.Valid(p.b[i+lead+wire.TextHeader:i+n]) {
		return p.fail(i+lead+wire.TextHeader, wire.ErrUTF8), 0, 0
	}
	return i, n, p.base + uint32(i+lead)
}

// skip returns the index after the value of the field whose header is at i, or failed. It may lie
// in several windows.
func (p *parser) skip(i int, t wire.Type) int {
	i += wire.FieldHeader
	if end, _ := wholeEnd(p.b, i, t, wholeDepth(budgetOf(p.maxDepth))); end > 0 {
		return end
	}
	return p.skipAs(i, t, nil, p.maxDepth, structCost)
}

// skipAs skips the value at i, which may lie in several windows, and returns the index after it,
// or failed. If typ is not nil it is the declared type: then p.scan tells whether the value is of
// it, and how many structs there are in it. depth is the most structs that may be in one another;
// listCost is what a list or map counts, as structCost is what a struct counts.
func (p *parser) skipAs(i int, t wire.Type, typ *schema.Type, depth, listCost int) int {
	s := &p.scan
	s.resetValue(t, typ, budgetOf(depth), listCost, len(p.b)-i+p.after)
	for {
		need, err := s.scan(p.b[i:])
		switch {
		case err == io.ErrUnexpectedEOF:
			return p.short()
		case err != nil:
			return p.fail(i+s.off, err)
		case need == 0:
			return i + s.off
		}
		passed := s.Passed()
		s.Drop()
		if i = p.need(i+passed, need-passed); i < 0 {
			return failed
		}
	}
}
