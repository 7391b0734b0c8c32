package nocopy

import (
	"fmt"
	"math"
)

// Parse bounds how many structs may be nested. Building is bounded likewise, when the message is
// finished: by then every struct is in its place.

// nesting returns how many structs may be nested in a value of the type, the outermost included:
// unbounded if one of them may contain itself.
func (t *XType) nesting() int {
	switch t.kind {
	case record:
		return t.desc.nesting()
	case list:
		return t.elem.nesting()
	case dict:
		return max(t.key.nesting(), t.elem.nesting())
	}
	return 0
}

// unbounded is the nesting of a struct that may contain itself.
const unbounded = math.MaxInt16

func (d *XDesc) nesting() int {
	if n := d.nested.Load(); n > 0 {
		return int(n)
	}
	n := d.countNesting(map[*XDesc]bool{})
	d.nested.Store(int32(n))
	return n
}

// countNesting returns how many structs may be nested in one of type d, itself included; unbounded
// if one of them may contain itself or one of those in path, which are around it.
func (d *XDesc) countNesting(path map[*XDesc]bool) int {
	if path[d] {
		return unbounded
	}
	d.self.mustBeDefined()
	path[d] = true
	n := 0
	for i := range d.fields {
		n = max(n, d.fields[i].typ.countNesting(path))
	}
	delete(path, d)
	return min(n+1, unbounded)
}

func (t *XType) countNesting(path map[*XDesc]bool) int {
	switch {
	case t.kind == record && t.desc.nested.Load() > 0:
		return t.desc.nesting()
	case t.kind == record:
		n := t.desc.countNesting(path)
		t.desc.nested.Store(int32(n))
		return n
	case t.kind == list:
		return t.elem.countNesting(path)
	case t.kind == dict:
		return max(t.key.countNesting(path), t.elem.countNesting(path))
	}
	return 0
}

// maxNesting is how many structs may be nested in the message when it is finished: as many as
// Parse accepts by default, or more if it was made with such Limits.
func (m *Message) maxNesting() int { return max(m.limits.MaxDepth, defaultMaxDepth) }

// checkNesting returns an error if more structs are nested in the message, of which everything is
// complete, than may be. Only types that may contain themselves need a look, and only when entries
// were added since the last one.
func (m *Message) checkNesting() error {
	if m.words == m.levelled || m.desc.nesting() <= m.maxNesting() {
		return nil
	}
	if most := m.maxNesting(); m.exceeds(m.desc.self, m.root, most) {
		return &Error{Path: m.desc.name, Err: depthError(most)}
	}
	m.levelled = m.words
	return nil
}

// exceeds reports whether more than left structs are nested in the value of entry e.
func (m *Message) exceeds(t *XType, e uint32, left int) bool {
	switch {
	case t.nesting() <= left:
		return false
	case t.kind == record:
		return left == 0 || m.fieldExceeds(t.desc, e, left-1)
	}
	for i := range m.idx[e+listCount] {
		if t.kind == list {
			if m.exceeds(t.elem, m.elementEntry(e, t.elem, i), left) {
				return true
			}
			continue
		}
		pair := m.idx[m.idx[e+listElems]+i*pairWords:][:pairWords]
		if key, value := pair[pairKey], pair[pairValue]; key != 0 && // it was not deleted
			(t.key.kind >= record && m.exceeds(t.key, key, left) || t.elem.kind >= record && m.exceeds(t.elem, value, left)) {
			return true
		}
	}
	return false
}

// fieldExceeds reports whether more than left structs are nested in a field of the struct of entry
// e.
func (m *Message) fieldExceeds(d *XDesc, e uint32, left int) bool {
	for i := m.next(d, e, 0); i < len(d.fields); i = m.next(d, e, i+1) {
		f := &d.fields[i]
		word := m.at(e, f.c)
		if word == 0 || f.kind < record || f.typ.nesting() <= left {
			continue
		}
		if p := word &^ notIndexed; p != word {
			if _, err := skip(m.buf.At(p), 0, f.typ.wire, budgetOf(left), 1); err == nil {
				continue
			}
			word = m.indexLazily(f, e)
		}
		if m.exceeds(f.typ, word, left) {
			return true
		}
	}
	return false
}

// depthError returns errDepth with the depth that would be accepted.
func depthError(most int) error { return fmt.Errorf("%w = %d", errDepth, most) }
