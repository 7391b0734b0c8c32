package engine

import (
	"unicode/utf8"

	"github.com/nocopythrift/nocopythrift/internal/entry"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/index"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/parse"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wireindex"
)

// This file reads a message by the index in its own bytes, the wire index (package wireindex).
// Parsing goes through the fields of the root and leaves its large values for later, as Lazy does,
// but passes over them by the wire index. A value that is touched is found by the wire index, too,
// and then parsed and checked as ever. A wire index may say anything: only bytes of the
// message are read, and only values of the declared type.
//
// Two kinds of entries: entry k of the wire index tells where a value is in the message; entry e
// is one of the index of the message.

// mostPassed bounds the work for a message with a wrong wire index: how many times as many bytes
// as the message, or a list, has may be passed over.
const mostPassed = 4

// affords notes that n bytes are about to be read in a struct that is this deep. It reports
// whether the bytes read in all structs of this depth are few enough. They are if the wire index
// fits; one by which values overlap would have the same bytes read again and again.
func (l *landing) affords(depth, n int) bool {
	for len(l.read) <= depth {
		l.read = append(l.read, 0)
	}
	l.read[depth] += n
	return l.read[depth] <= (mostPassed+4)*len(l.b)
}

// landRoot makes the entry of the root of the message b, which is at position base, by its wire
// index. It reports whether the message has one that fits.
func (m *Message) landRoot(b []byte, base uint32) bool {
	m.desc.Type().MustBeDefined()
	x, ok := wireindex.Find(b)
	if x.At+1 < wireindex.MinIndexed && m.flags&AnySize == 0 || // WithIndex adds none
		x.At+1 > wireindex.MostIndexed {
		return false
	}
	maxIndex := m.limits.maxIndex(len(b))
	if !ok || m.desc.IsUnion() || uint64(index.First+m.desc.Words()) > uint64(maxIndex) {
		return false
	}
	l := m.landing
	if l == nil {
		l = new(landing)
		m.ownSeldom()
		m.landing = l
	}
	l.x, l.b, l.base = x, b, base
	l.maxIndex, l.mostIndex = maxIndex, uint32(min(2*uint64(maxIndex), index.MaxWords))
	l.budget = parse.BudgetOf(max(m.limits.MaxDepth, parse.MaxDepth))
	m.guarded, m.pending = true, byIndex|carriesIndex
	m.root = m.ix.Alloc(m.desc.Words())
	end, ok := m.landFields(m.desc, m.root, 0, x.At, 0)
	if !ok || end != x.At {
		return false
	}
	m.ix.Words[m.root+entry.End] = base + uint32(len(b)-1)
	l.structs = append(l.structs, landedStruct{m.root, m.desc})
	return true
}

// landFields fills in the words of entry e, which are zero, of a struct of type d that begins at
// offset i: up to its STOP or, of the root, up to offset stop. Entry k of the wire index is the
// first one of a value in it. It returns the offset after the struct, and whether the struct is as
// the wire index tells. If not, the struct may still be valid.
func (m *Message) landFields(d *schema.Struct, e uint32, i, stop, k int) (end int, ok bool) {
	l := m.landing
	b, x := l.b, &l.x
	m.ix.Words[e+entry.Start] = l.base + uint32(i)
	next, checks := x.Offset(k), m.flags&ValidUTF8 != 0
	fields, expected := d.Fields(), 0 // the number of the field that comes next, mostly
	// There are always 8 bytes, since the index follows; the compiler does not know that
	for stop-i > wire.FieldHeader && len(b)-i >= 8 {
		head := wire.Load64(b, i)
		header, at := wire.HeaderIn(head), i+wire.FieldHeader
		if at == next {
			entry := x.Entry(k)
			end := int(wireindex.Number(entry[wireindex.EntryEndAt:]))
			var f *schema.Field
			if expected < len(fields) && isOf(&fields[expected], entry) {
				f = &fields[expected]
				expected++
			} else {
				indexed, _ := wireindex.EntryField(entry)
				if f = d.FindFrom(&expected, indexed); (f == nil || !isOf(f, entry)) && header != indexed {
					return 0, false
				}
			}
			later := f != nil && f.Kind() > schema.Text && isOf(f, entry)
			if end <= at || end > stop || later && m.ix.At(e, f.Ref()) != 0 {
				return 0, false
			}
			k++
			if next = x.Offset(k); next < end {
				k = x.Seek(k, end)
				next = x.Offset(k)
			}
			if later {
				m.ix.Put(e, f.Ref(), index.NotIndexed|l.base+uint32(at))
			}
			if f == nil && header == wireindex.Header {
				m.noteIndex(e)
			}
			if later || f == nil {
				i = end
				continue
			}
		}
		if header>>16 == uint32(wire.Stop) {
			break
		}
		var f *schema.Field
		if expected < len(fields) && fields[expected].Header() == header {
			f = &fields[expected]
			expected++
		} else {
			f = d.FindFrom(&expected, header)
		}
		switch {
		case f != nil && f.Kind() <= schema.Text:
			if m.ix.At(e, f.Ref()) != 0 {
				return 0, false
			}
			m.ix.Put(e, f.Ref(), l.base+uint32(at))
			i = at + int(f.Size())
			if f.Kind() == schema.Text {
				n := wire.LengthIn(head)
				i = at + wire.TextHeader + int(n)
				if n > uint32(stop) || i <= stop && checks && !f.Type.Binary() && !utf8.Valid(b[at+wire.TextHeader:i]) {
					return 0, false
				}
			}
			if i > stop {
				return 0, false
			}
		case f != nil && f.FixedList() && m.ix.At(e, f.Ref()) == 0 && stop-at >= wire.ListHeader && b[at] == byte(f.Type.Elem().Wire()):
			size := uint64(wire.BE32(b[at+1:])) * uint64(f.Type.Elem().Size())
			if size > uint64(stop-at-wire.ListHeader) {
				return 0, false
			}
			i = at + wire.ListHeader + int(size)
			m.ix.Put(e, f.Ref(), index.NotIndexed|l.base+uint32(at))
		default:
			if i, ok = l.pass(at, stop, wire.Type(header>>16)); !ok {
				return 0, false
			}
			if header == wireindex.Header {
				m.noteIndex(e)
			}
			if f == nil || !parse.Fits(b, f.Type, at) {
				continue
			}
			if m.ix.At(e, f.Ref()) != 0 {
				return 0, false
			}
			m.ix.Put(e, f.Ref(), index.NotIndexed|l.base+uint32(at))
		}
		if next < i { // in a value that has no entry
			return 0, false
		}
	}
	if e != m.root {
		if i >= stop || b[i] != byte(wire.Stop) {
			return 0, false
		}
		m.ix.Words[e+entry.End] = l.base + uint32(i)
		i++
	}
	for _, f := range d.Required() {
		if m.ix.At(e, f.Ref()) == 0 {
			return 0, false
		}
	}
	return i, true
}

// pass returns the offset after the value of type t at an offset, and whether it is whole before
// stop. Lists and maps in it hardly count as depth: if its type is known they do not count at all.
func (l *landing) pass(at, stop int, t wire.Type) (int, bool) {
	end, err := parse.Skip(l.b[:stop], at, t, l.budget, 1)
	return end, err == nil
}

// misfit notes that the wire index does not fit the message at an offset.
func (l *landing) misfit(d *schema.Struct, at int) {
	if l.err == nil {
		l.err = &wire.Error{Offset: at, Path: d.Name(), Err: wire.ErrIndex}
	}
}

// scanFor returns the offset of the value of field f in the struct that begins at offset i. It
// does not use the wire index. It returns 0 if there is no such field, or too much was scanned
// before.
func (l *landing) scanFor(f *schema.Field, i int) (found int) {
	if l.scanned > mostPassed*len(l.b) {
		return 0
	}
	defer func(from int) { l.scanned += i - from }(i)
	for len(l.b)-i > wire.FieldHeader && l.b[i] != byte(wire.Stop) {
		header, at := wire.HeaderAt(l.b, i), i+wire.FieldHeader
		end, ok := l.pass(at, len(l.b), wire.Type(header>>16))
		if !ok {
			l.scanned += len(l.b) - i
			return 0
		}
		if header == f.Header() && parse.Fits(l.b, f.Type, at) {
			found = at
		}
		i = end
	}
	return found
}

// smallStruct is the size in bytes up to which going through a struct's fields costs less than
// starting the parser.
const smallStruct = 256

// landStruct makes an entry for the struct at an offset, before stop. Entry k of the wire index is
// the first that may be for a value in it. It returns the entry and the offset after the struct; 0
// if the struct is not as the wire index tells.
func (m *Message) landStruct(d *schema.Struct, at, stop, k, depth int) (e uint32, end int) {
	if depth > m.limits.MaxDepth || !m.mayAlloc(d.Words()+1) {
		return 0, 0
	}
	e = m.ix.Alloc(d.Words()+1) + 1
	m.ix.Words[e-1] = uint32(depth)
	end, ok := m.landFields(d, e, at, stop, k)
	if !ok {
		return 0, 0
	}
	m.landing.structs = append(m.landing.structs, landedStruct{e, d})
	return e, end
}

// mayAlloc reports whether the index may have n more words. The memory of landing counts as part
// of it.
func (m *Message) mayAlloc(n int) bool {
	l := m.landing
	used := uint64(m.ix.Used) + landedStructWords*uint64(len(l.structs)) + landedListWords*uint64(len(l.lists))
	return used+uint64(n) <= uint64(l.maxIndex)
}

// How many words of the index a landedStruct and a landedList count as.
const (
	landedStructWords = 4
	landedListWords   = 30
)

// moreIndex lets the index be twice as large until the function that it returns is called:
// meanwhile some elements have two entries.
func (m *Message) moreIndex() func() {
	l, most := m.landing, m.landing.maxIndex
	l.maxIndex = l.mostIndex
	return func() { l.maxIndex = most }
}

// parseAt parses the value of type t at an offset, before stop, in a struct that is this deep. It
// returns its entry, the offset after it, and whether it is valid. If not, it notes the error for
// Message.Index.
func (m *Message) parseAt(t *schema.Type, at, stop, depth int) (word uint32, end int, ok bool) {
	l := m.landing
	m.beginTrusted(l.base + uint32(at))
	p := m.p
	p.B = l.b[at:stop:stop]
	p.Trusted, p.UTF8, p.MaxDepth, p.MaxIndex, p.MaxWords = false, m.flags&ValidUTF8 != 0, m.limits.MaxDepth-depth, m.limits.MaxIndex, l.maxIndex
	i, word := p.Value(t, 0, 0)
	p.B = nil
	if i >= 0 {
		return word, at + i, true
	}
	err := error(&wire.Error{Path: m.desc.Name(), Err: wire.ErrType})
	if p.Err != nil {
		err = p.Finish(m.desc)
	}
	if l.err == nil {
		err.(*wire.Error).Offset += at
		l.err = err
	}
	return 0, 0, false
}

// absentEntry returns the entry that all values of type t that are not valid share: one that reads
// as absent.
func (m *Message) absentEntry(t *schema.Type) uint32 {
	l := m.landing
	e := l.absent.Get(t)
	if e != 0 {
		return e
	}
	if t.Kind() == schema.Record {
		e = m.ix.Alloc(t.Struct().Words())
	} else {
		e = m.ix.Alloc(listWords)
		m.ix.Words[e+listType] = t.ID()
	}
	l.absent.Put(t, e)
	return e
}

// isOf reports whether an entry is for a value of this field and its type.
func isOf(f *schema.Field, entry []byte) bool { return f.InEntry() == wireindex.EntryOf(entry) }
