package engine

import (
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wireindex"
)

// indexOpened checks all of a message that is read by its index, and indexes what has been left
// for later: it is an ordinary message afterwards. An error is returned again without a scan:
// programs may ask for each element, and nothing changes such a message.
func (m *Message) indexOpened() error {
	if m.landing.checked == nil {
		m.landing.checked = m.checkOpened()
	}
	return m.landing.checked
}

// checkOpened does what indexOpened does, the first time.
func (m *Message) checkOpened() error {
	l := m.landing
	plain := takeParsed(m.desc, m.flags&ValidUTF8|limited, m.limits)
	s, err := plain.parseFrom(l.b, plain.buf.Refer(l.b, false, false))
	if err != nil {
		return err
	}
	s.m.Release()
	c := indexCheck{x: &l.x, b: l.b}
	if at, ok := c.structure(0); !ok || at != len(l.b) || c.k != l.x.N {
		return &Error{Offset: at, Path: m.desc.Name(), Err: ErrIndex}
	}
	if l.err != nil || !m.indexRest() { // if something has been read as absent, or is not valid
		return l.err
	}
	m.pending &^= byIndex
	m.levelled = m.words
	l.reset()
	return nil
}

// validInner reports whether the bytes of the struct of entry e, which d describes and which is
// not the root, are such a struct. Getters may have passed over what is in it by the index.
func (m *Message) validInner(e uint32, d *schema.Struct) bool {
	l := m.landing
	from, to := m.extent(e, d.Type())
	b := l.b[from-l.base : to-l.base]
	limits := m.limits
	limits.MaxIndex = 4 * int(l.maxIndex)
	plain := takeParsed(d, m.flags&ValidUTF8|limited, limits)
	s, err := plain.parseFrom(b, plain.buf.Refer(b, false, false))
	if err != nil {
		l.misfit(m.desc, int(from-l.base))
		return false
	}
	s.m.Release()
	return true
}

// indexRest indexes what has been left for later, not using the index. It reports whether it
// could; if not, landing.err tells why.
func (m *Message) indexRest() bool {
	l := m.landing
	defer m.moreIndex()()
	for _, s := range l.structs {
		depth := 1
		if s.e != m.root {
			depth = int(m.idx[s.e-1])
		}
		for i := m.next(s.desc, s.e, 0); i < len(s.desc.Fields()); i = m.next(s.desc, s.e, i+1) {
			f := &s.desc.Fields()[i]
			word := m.at(s.e, f.Ref())
			if f.Kind() < schema.Record || word&notIndexed == 0 {
				continue
			}
			word, _, ok := m.parseAt(f.Type, int(word&^notIndexed-l.base), len(l.b), depth)
			if !ok {
				return false
			}
			m.put(s.e, f.Ref(), word)
		}
	}
	for i := range l.lists {
		l.lists[i].failed = false
		if !m.fillList(&l.lists[i]) {
			return false
		}
	}
	return true
}

// indexCheck compares an index with all of a message that is known to be valid. It knows no types:
// there may be entries for fields that the root's type does not have.
type indexCheck struct {
	x *wireindex.Index
	b []byte
	k int // the next entry
}

// structure compares the entries of what is in the struct at offset i. It returns the offset of
// what follows; or that of what does not fit, and false.
func (c *indexCheck) structure(i int) (int, bool) {
	for c.b[i] != byte(WireStop) {
		header, at := wire.HeaderAt(c.b, i), i+wire.FieldHeader
		if c.x.Offset(c.k) != at {
			i = c.pass(at, WireType(header>>16))
			continue
		}
		entry := c.x.Entry(c.k)
		c.k++
		end := int(wireindex.Number(entry[wireindex.EntryEndAt:]))
		if h, _ := wireindex.EntryField(entry); h != header || end > len(c.b) {
			return i, false
		}
		next, ok := c.value(WireType(header>>16), at, end, entry)
		if !ok || next != end {
			return i, false
		}
		i = end
	}
	return i + 1, true
}

func (c *indexCheck) pass(at int, t WireType) int {
	end, err := skip(c.b, at, t, maxBudget, 1)
	if err != nil {
		panic("nocopy: internal error: " + err.Error())
	}
	return end
}

// value does as structure, for the value of type t at an offset that this entry is for.
func (c *indexCheck) value(t WireType, at, end int, entry []byte) (int, bool) {
	inner := c.x.Offset(c.k) < end
	anchors := wireindex.Number(entry[wireindex.EntryAnchorsAt:]) != 0
	switch {
	case t == WireStruct && inner:
		return c.structure(at)
	case t != WireList && t != WireSet || !anchors && !inner:
		return c.pass(at, t), true
	}
	elem, n, stride := WireType(c.b[at]), int(wire.BE32(c.b[at+1:])), uint8(0)
	_, stride = wireindex.EntryField(entry)
	if stride > wireindex.MaxStride {
		return at, false
	}
	at += wire.ListHeader
	ok := true
	for i := range n {
		if anchors && i > 0 && i&(1<<stride-1) == 0 {
			if a, found := c.x.Anchor(entry, i>>stride-1); !found || a != at {
				return at, false
			}
		}
		if elem == WireStruct && c.x.Offset(c.k) < end {
			if at, ok = c.structure(at); !ok {
				return at, false
			}
			continue
		}
		at = c.pass(at, elem)
	}
	return at, true
}
