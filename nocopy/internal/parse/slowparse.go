package parse

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

// fields indexes the rest of the struct of entry e, which begins at i. The entry's words say
// which fields have come before; of a wide struct none have. It returns the index after the
// struct, or failed.
func (p *Parser) fields(d *schema.Struct, e uint32, i int) int {
	wide, first := d.IsWide(), len(p.present)
	last, ascending := p.beginFields(d, e), true
	for {
		if len(p.B)-i < wire.FieldHeader {
			if i = p.headerOrStop(i); i < 0 {
				return i
			}
		}
		if p.B[i] == byte(wire.Stop) {
			break
		}
		key := wire.HeaderAt(p.B, i)
		f := d.ByHeader(key)
		if f == nil {
			if i = p.unknown(d, e, i, key); i < 0 {
				return i
			}
			continue
		}
		word := uint32(0)
		if end := p.plainEnd(f, i); end > 0 {
			word = p.Base + uint32(i) + wire.FieldHeader
			i = end
		} else if i, word = p.fieldOrExtra(d, e, &d.Fields()[f.Number], i); i < 0 {
			return i
		}
		if word == 0 {
			continue
		}
		at := d.First() + uint32(f.Number)
		if !wide {
			if before := p.x.EntryWord(e, at); before != 0 {
				if i = p.duplicate(d, e, &d.Fields()[f.Number], uint32(before), i); i < 0 {
					return i
				}
			}
			p.x.SetEntryWord(e, at, index.Word(word))
			last = at
			continue
		}
		ascending = ascending && at > last
		last = at
		p.present = append(p.present, index.PresentAt(at, index.Word(word)))
		if !ascending && len(p.present)-first >= 2*len(d.Fields()) {
			if i = p.sortPresent(d, e, first, i); i < 0 {
				return i
			}
		}
	}
	if wide && !p.endWide(d, e, first, i, ascending) {
		return failed
	}
	return p.stop(d, e, i, last)
}

// beginFields prepares the struct of entry e for more fields. It returns the number of the word of
// the field that has come last, if it is a union.
func (p *Parser) beginFields(d *schema.Struct, e uint32) (last uint32) {
	switch {
	case d.IsWide():
		// There may be no table, if the struct is not valid, but p.present has grown
		p.x.HasTables, p.x.More = true, true
		p.x.SetTable(e, 0)
		if !d.IsUnion() {
			p.x.SetArm(e, 0) // not used
		}
	case d.IsUnion():
		return p.x.LastArm(e, d.Span(), false) + entry.Displacement
	}
	return 0
}

// headerOrStop gets the STOP, or the whole header of the field at i, into the window. It returns
// its index there, or failed.
func (p *Parser) headerOrStop(i int) int {
	if i = p.need(i, 1); i < 0 || p.B[i] == byte(wire.Stop) {
		return i
	}
	return p.need(i, wire.FieldHeader)
}

// fieldOrExtra indexes field f of the struct of entry e, whose header is at i. It returns the
// index after it, or failed, and the field's word. The word is 0 if the value is not of its type
// after all; a union notes it then.
func (p *Parser) fieldOrExtra(d *schema.Struct, e uint32, f *schema.Field, i int) (int, uint32) {
	i, word := p.field(f, i)
	if i < 0 {
		return p.InField(f.Name), 0
	}
	if word == 0 && d.IsUnion() {
		i = p.addExtra(e, p.mismatched, p.Base+uint32(i), i)
	}
	return i, word
}

// stop ends the struct of entry e, whose STOP is at i. last is the number of the word of the field
// that came last. It returns the index after the STOP, or failed if a required field is missing.
func (p *Parser) stop(d *schema.Struct, e uint32, i int, last uint32) int {
	p.x.SetEnd(e, index.Word(p.Base+uint32(i)))
	if d.IsUnion() {
		p.x.SetArmField(e, max(last, entry.Displacement)-entry.Displacement)
	}
	for _, f := range d.Required() {
		if p.x.At(e, f.Ref()) == 0 && !p.Trusted {
			p.Fail(i, wire.ErrMissingRequired)
			return p.InField(f.Name)
		}
	}
	return i + 1
}

// duplicate notes that the value with this word, of field f in the struct of entry e, does not
// count, since a later one of the same field has come. i is where the parser is. It returns i, or
// failed.
func (p *Parser) duplicate(d *schema.Struct, e uint32, f *schema.Field, word uint32, i int) int {
	if p.byIndex && p.Lazy { // the value is not known to be well formed
		return p.Fail(i, wire.ErrIndex)
	}
	at, end := p.msg.NoteDuplicate(f.Type.Wire(), word)
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
// that the IDL says: then the field counts as unknown, and p.mismatched is its position.
func (p *Parser) container(f *schema.Field, i int) (int, uint32) {
	// This comes first, since it may move the window: a mismatch that is found later goes back to i.
	if f.Kind() > schema.Record {
		if i = p.need(i, wire.FieldHeader+int(f.Type.HeaderSize())); i < 0 {
			return i, 0
		}
	}
	if end := p.endByIndex(f.Header(), f, i+wire.FieldHeader); end != 0 {
		return end, uint32(index.LazyAt(p.Base + uint32(i+wire.FieldHeader)))
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

// mismatchedContainer skips field f, whose header is at i. Its value has another type than the
// field, so it counts as unknown. mismatchedContainer returns the index after it, or failed.
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
			return end, uint32(index.LazyAt(p.Base + uint32(at)))
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
	elem, body := t.Elem(), i+lead+int(t.HeaderSize())
	n, per := wire.BE32(p.B[body-4:]), uint32(t.ElemWords())
	if err := p.badContainer(t, i+lead, body, n); err != 0 {
		return err, 0
	}
	e := p.allotFor(t, entry.ListWords, int(n), int(per), i)
	if e == 0 {
		return failed, 0
	}
	flat := t.Kind() == schema.List && elem.Kind() == schema.Fixed
	if size := int(n) * int(elem.Size()); flat {
		if i = p.need(i, body-i+size); i < 0 {
			return i, 0
		}
		body = i + lead + wire.ListHeader
		i = body + size
	} else {
		i = body
	}
	room := index.Room(n)
	if t.Kind() == schema.List && elem.Kind() == schema.Record {
		room = index.Room(per)
	}
	p.x.MakeList(e, t, p.Base+uint32(body), 0, n, room)
	for k, slot := uint32(0), e+entry.ListWords; k < n && !flat; k, slot = k+1, slot+per {
		if i = p.slot(t, slot, i); i < 0 {
			if i == failed {
				p.atElement(int(k))
			}
			return i, 0
		}
	}
	p.x.SetEnd(e, index.Word(p.Base+uint32(i)))
	return i, e
}

// slot indexes the element or pair at i of a container of type t, whose words begin at slot. It
// returns the index after it, failed or mismatch.
func (p *Parser) slot(t *schema.Type, slot uint32, i int) int {
	word := uint32(0)
	if t.Kind() == schema.Dict {
		if i, word = p.element(t.Key(), i); i < 0 {
			return i
		}
		p.x.Pair(slot).Fill(word, 0)
		slot = p.x.Pair(slot).ValueSlot()
	} else if t.Elem().Kind() == schema.Record {
		return p.Structure(t.Elem().Struct(), slot, i)
	}
	if i, word = p.element(t.Elem(), i); i >= 0 {
		p.x.SetWord(slot, index.Word(word))
	}
	return i
}

// badContainer returns 0 if the header at h of a container of type t is as the type says, and the
// message may have its n elements or pairs, from body on. Otherwise it returns failed or mismatch.
func (p *Parser) badContainer(t *schema.Type, h, body int, n uint32) int {
	key, elem := wire.Type(p.B[h]), wire.Type(p.B[body-5])
	same, least := elem == t.Elem().Wire(), uint64(wire.MinSize[t.Elem().Wire()])
	if t.Kind() == schema.Dict {
		same = same && key == t.Key().Wire()
		least += uint64(wire.MinSize[t.Key().Wire()])
	}
	short := uint64(n)*least > uint64(len(p.B)-body+p.After)
	switch {
	case n == 0 || same && !short:
		return 0
	case int32(n) < 0:
		return p.Fail(body-4, wire.ErrNegative)
	case wire.MinSize[key] == 0:
		return p.Fail(h, wire.TypeError(key))
	case wire.MinSize[elem] == 0:
		return p.Fail(body-5, wire.TypeError(elem))
	case same:
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
	if n < 0 && p.Referred != nil {
		return i, lead + wire.TextHeader, p.Referred.Word(p.B[i+lead:])
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
	s.start(i, levelOf(1, typesOf(t, t), BudgetOf(p.MaxDepth)), StructCost, int64(len(p.B)+p.After))
	need, err := s.scan(p.B)
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
	if p.x.Reuses {
		w = p.x.AllocRaw(index.ExtraWords)
	} else if w = p.allot(index.ExtraWords, 0, 0, i); w == 0 {
		return failed
	}
	p.x.AddExtra(w, e, at, end, 0)
	return i
}
