package parse

import (
	"io"
	"strconv"
	"unicode/utf8"

	"github.com/nocopythrift/nocopythrift/internal/chain"
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
func (p *Parser) fields(d *schema.Struct, e uint32, i int) int {
	if d.IsWide() {
		return p.wideFields(d, e, i)
	}
	last := uint32(0)
	if d.IsUnion() {
		last = p.x.LastArm(d, e)
	}
	for {
		if i = p.need(i, 1); i < 0 {
			return i
		}
		if p.B[i] == byte(wire.Stop) {
			return p.stop(d, e, i, last)
		}
		if i = p.need(i, wire.FieldHeader); i < 0 {
			return i
		}
		key := wire.HeaderAt(p.B, i)
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
			return p.InField(f.Name)
		}
		if word == 0 { // not of its type after all
			if d.IsUnion() {
				if i = p.addExtra(e, p.mismatched, p.Base+uint32(i), i); i < 0 {
					return i
				}
			}
			continue
		}
		if before := p.x.Words[e+f.Word()]; before != 0 {
			if i = p.shadow(d, e, f, before, i); i < 0 {
				return i
			}
		}
		p.x.Words[e+f.Word()] = word
		last = f.Word()
	}
}

// stop ends the struct of entry e, whose STOP is at i. last is the number of the word of the field
// that came last. It returns the index after the STOP, or failed if a required field is missing.
func (p *Parser) stop(d *schema.Struct, e uint32, i int, last uint32) int {
	p.x.Words[e+entry.End] = p.Base + uint32(i)
	if d.IsUnion() {
		p.x.Words[p.x.ArmWord(e)] = last
	}
	for _, f := range d.Required() {
		if p.x.At(e, f.Ref()) == 0 && !p.Trusted {
			p.Fail(i, wire.ErrMissingRequired)
			return p.InField(f.Name)
		}
	}
	return i + 1
}

// shadow notes that the value with this word, of field f in the struct of entry e, does not count,
// since a later one of the same field has come. i is where the parser is. It returns i, or failed.
func (p *Parser) shadow(d *schema.Struct, e uint32, f *schema.Field, word uint32, i int) int {
	if p.byIndex && p.Lazy { // the value is not known to be well formed
		return p.Fail(i, wire.ErrIndex)
	}
	at, end := p.msg.NoteShadow(e, f.Word(), f.Type.Wire(), word)
	if d.IsUnion() {
		return p.addExtra(e, at, end, i)
	}
	return i
}

// unknown skips the field at i of the struct of entry e, whose header is key and which the
// struct's descriptor does not have, or has with another type. It returns the index after it, or
// failed.
func (p *Parser) unknown(d *schema.Struct, e uint32, i int, key uint32) int {
	t := wire.Type(key >> 16)
	if wire.MinSize[t] == 0 {
		return p.Fail(i, wire.TypeError(t))
	}
	at := p.Base + uint32(i)
	end := p.endByIndex(key, nil, i+wire.FieldHeader)
	if end == 0 {
		end = p.skip(i, t)
	}
	if end < 0 {
		return p.InField(strconv.Itoa(int(int16(key))))
	}
	if key == wireindex.Header {
		p.msg.NoteIndex(e)
	}
	if d.IsUnion() {
		return p.addExtra(e, at, p.Base+uint32(end), end)
	}
	return end
}

// container indexes the struct, list, set or map in field f, whose header is at i. It returns the
// index after it, or failed, and the field's word. The word is 0 if elements are not of the type
// that the IDL tells: then the field counts as unknown, and p.mismatched is its position.
func (p *Parser) container(f *schema.Field, i int) (int, uint32) {
	// This comes first, since it may move the window: a mismatch that is found later goes back to i.
	if f.Kind() > schema.Record {
		if i = p.need(i, wire.FieldHeader+int(f.Type.HeaderSize())); i < 0 {
			return i, 0
		}
	}
	if end := p.endByIndex(f.Header(), f, i+wire.FieldHeader); end != 0 {
		return end, index.NotIndexed | p.Base + uint32(i+wire.FieldHeader)
	}
	if p.Lazy && !f.FixedList() {
		return p.lazily(f, i)
	}
	rest := p.After
	end, e := p.Value(f.Type, i, wire.FieldHeader)
	switch {
	case end != mismatch:
		return end, e
	case rest != p.After: // the window has moved, and there is no way back to i
		return p.Fail(0, ErrScattered), 0
	}
	return p.mismatchedContainer(f, i), 0
}

// mismatchedContainer skips field f, whose header is at i and whose value is not of the field's
// type: it counts as unknown. It returns the index after it, or failed.
func (p *Parser) mismatchedContainer(f *schema.Field, i int) int {
	p.mismatched = p.Base + uint32(i)
	return p.skip(i, f.Type.Wire())
}

// lazily leaves the struct, list, set or map in field f, whose header is at i, for later if the
// program of its type passes over it and its index cannot exceed the limit, whatever is in it.
// Otherwise it indexes all of it: no byte is passed over twice. It returns what container returns.
func (p *Parser) lazily(f *schema.Field, i int) (int, uint32) {
	at := i + wire.FieldHeader
	if f.Type.Widest() <= program.Narrow {
		if end := p.pass(f.Type, at); end >= 0 {
			return end, index.NotIndexed | p.Base + uint32(at)
		}
	}
	p.Lazy = false
	end, e := p.container(f, i)
	p.Lazy = true
	return end, e
}

// slowValue indexes the value of type t that stands after lead bytes at i, none if it is a text or
// of fixed size. It runs no program for the value itself, but perhaps for values in it. It returns
// the index after it, failed or mismatch, and its word.
func (p *Parser) slowValue(t *schema.Type, i, lead int) (int, uint32) {
	switch t.Kind() {
	case schema.Fixed, schema.Text:
		return p.element(t, i)
	case schema.Record:
		e := p.allotFor(t, 0, t.Struct().Words(), 1, i)
		if e == 0 {
			return failed, 0
		}
		return p.Structure(t.Struct(), e, i+lead), e
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
func (p *Parser) list(t *schema.Type, i, lead int) (int, uint32) {
	h, elem := i+lead, t.Elem()
	body := h + wire.ListHeader
	n, left := wire.BE32(p.B[h+1:]), len(p.B)-body+p.After
	if wire.Type(p.B[h]) != elem.Wire() && n > 0 || uint64(n)*uint64(wire.MinSize[elem.Wire()]) > uint64(left) || n > chain.MaxSize {
		return p.badList(t, h), 0
	}
	e := p.allotFor(t, entry.ListWords, int(n), t.ElemWords(), i)
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
		p.x.Words[e+entry.ListEnd] = p.Base + uint32(i)
		return i, e
	}
	p.listEntry(t, e, body, n)
	i = body
	for k := range n {
		var word uint32
		if elem.Kind() == schema.Record {
			i = p.Structure(elem.Struct(), e+entry.ListWords+k*uint32(elem.Struct().Words()), i)
		} else if i, word = p.element(elem, i); i >= 0 {
			p.x.Words[e+entry.ListWords+k] = word
		}
		if i < 0 {
			return p.inElement(int(k), i), 0
		}
	}
	p.x.Words[e+entry.ListEnd] = p.Base + uint32(i)
	return i, e
}

// inElement adds k, the number of an element, to the path of the failure if i is failed. It
// returns i.
func (p *Parser) inElement(k, i int) int {
	if i == failed {
		p.atElement(k)
	}
	return i
}

// badList fails with the error in the list whose header is at h, or returns mismatch.
func (p *Parser) badList(t *schema.Type, h int) int {
	n, elem := int32(wire.BE32(p.B[h+1:])), wire.Type(p.B[h])
	switch {
	case n < 0:
		return p.Fail(h+1, wire.ErrNegative)
	case elem == t.Elem().Wire():
		return p.short()
	case wire.MinSize[elem] == 0:
		return p.Fail(h, wire.TypeError(elem))
	}
	return mismatch
}

// listEntry fills in the first words of the entry e of a list, set or map of type t. It has n
// elements or pairs, and the first one is at body.
func (p *Parser) listEntry(t *schema.Type, e uint32, body int, n uint32) {
	w := (*[entry.ListWords]uint32)(p.x.Words[e:])
	w[entry.ListStart], w[entry.ListEnd] = p.Base+uint32(body), 0
	w[entry.ListCount] = n
	w[entry.ListElems] = e + entry.ListWords
	w[entry.ListRoom] = n
	if t.Kind() == schema.List && t.Elem().Kind() == schema.Record {
		w[entry.ListRoom] = uint32(t.Elem().Struct().Words())
	}
	w[entry.ListType] = t.ID()
}

// dict indexes the map of type t after lead bytes at i. Its header must be contiguous. It returns
// what slowValue returns.
func (p *Parser) dict(t *schema.Type, i, lead int) (int, uint32) {
	h := i + lead
	i = h + wire.MapHeader
	n := wire.BE32(p.B[h+2:])
	if (wire.Type(p.B[h]) != t.Key().Wire() || wire.Type(p.B[h+1]) != t.Elem().Wire()) && n > 0 ||
		uint64(n)*uint64(wire.MinSize[t.Key().Wire()]+wire.MinSize[t.Elem().Wire()]) > uint64(len(p.B)-i+p.After) {
		return p.badDict(t, h), 0
	}
	e := p.allotFor(t, entry.ListWords, int(n), entry.PairWords, i)
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
		w := p.x.Words[e+entry.ListWords+k*entry.PairWords:][:entry.PairWords]
		w[entry.PairKey], w[entry.PairValue], w[entry.PairNode] = key, value, 0
	}
	p.x.Words[e+entry.ListEnd] = p.Base + uint32(i)
	return i, e
}

// badDict fails with the error in the map whose header is at h, or returns mismatch.
func (p *Parser) badDict(t *schema.Type, h int) int {
	key, value := wire.Type(p.B[h]), wire.Type(p.B[h+1])
	switch {
	case int32(wire.BE32(p.B[h+2:])) < 0:
		return p.Fail(h+2, wire.ErrNegative)
	case wire.MinSize[key] == 0:
		return p.Fail(h, wire.TypeError(key))
	case wire.MinSize[value] == 0:
		return p.Fail(h+1, wire.TypeError(value))
	case key == t.Key().Wire() && value == t.Elem().Wire():
		return p.short()
	}
	return mismatch
}

// element indexes the element, key or value of type t at i. It returns the index after it, failed
// or mismatch, and its word.
func (p *Parser) element(t *schema.Type, i int) (int, uint32) {
	if t.Kind() >= schema.Record {
		return p.Value(t, i, 0)
	}
	i, n, word := p.textOrFixed(t, i, 0)
	return i + n, word
}

// textOrFixed makes lead bytes at i and the text or value of fixed size after them contiguous, and
// checks the value. It returns the index at which the lead bytes are now, or failed; how many
// bytes they and the value have; and the value's word.
func (p *Parser) textOrFixed(t *schema.Type, i, lead int) (at, n int, word uint32) {
	if t.Kind() == schema.Fixed {
		n = lead + int(t.Size())
		if i = p.need(i, n); i < 0 {
			return i, 0, 0
		}
		return i, n, p.Base + uint32(i+lead)
	}
	if i = p.need(i, lead+wire.TextHeader); i < 0 {
		return i, 0, 0
	}
	n = int(int32(wire.BE32(p.B[i+lead:])))
	if n < 0 && p.Far != nil {
		return i, lead + wire.TextHeader, p.Far.Word(p.B[i+lead:])
	}
	if n < 0 {
		return p.Fail(i+lead, wire.ErrNegative), 0, 0
	}
	if n > len(p.B)-i-lead-wire.TextHeader+p.After {
		return p.short(), 0, 0
	}
	n += lead + wire.TextHeader
	if i = p.need(i, n); i < 0 {
		return i, 0, 0
	}
	if p.UTF8 && !t.Binary() && !utf8.Valid(p.B[i+lead+wire.TextHeader:i+n]) {
		return p.Fail(i+lead+wire.TextHeader, wire.ErrUTF8), 0, 0
	}
	return i, n, p.Base + uint32(i+lead)
}

// skip returns the index after the value of the field whose header is at i, or failed. It may lie
// in several windows.
func (p *Parser) skip(i int, t wire.Type) int {
	i += wire.FieldHeader
	if end := plainEnd(p.B, i, t); end >= 0 {
		return end
	}
	s := &p.scan
	s.start(StructCost, int64(len(p.B)+p.After))
	need, err := s.begin(p.B, i, t, BudgetOf(p.MaxDepth))
	for i = 0; need > 0; {
		passed := s.Passed()
		s.Drop()
		if i = p.need(i+passed, need-passed); i < 0 {
			return failed
		}
		need, err = s.scan(p.B[i:])
	}
	switch err {
	case nil:
		return i + s.off
	case io.ErrUnexpectedEOF:
		return p.short()
	}
	return p.Fail(i+s.off, err)
}

// addExtra notes that at these positions there is a field of the union of entry e that no word
// stands for. It returns i, where the parser is, or failed.
func (p *Parser) addExtra(e, at, end uint32, i int) int {
	w := uint32(0)
	if p.reuse {
		w = p.x.AllocRaw(index.ExtraWords)
	} else if w = p.allot(index.ExtraWords, 0, 0, i); w == 0 {
		return failed
	}
	p.x.AddExtra(w, e, at, end, 0)
	return i
}
