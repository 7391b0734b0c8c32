package engine

import (
	"fmt"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// Parse bounds how many structs may be nested. Building is bounded likewise, when the message is
// finished: by then every struct is in its place.

// maxNesting is how many structs may be nested in the message when it is finished: as many as
// Parse accepts by default, or more if it was made with such Limits.
func (m *Message) maxNesting() int { return max(m.limits.MaxDepth, defaultMaxDepth) }

// checkNesting returns an error if more structs are nested in the message, of which everything is
// complete, than may be. Only types that may contain themselves need a look, and only when entries
// were added since the last one.
func (m *Message) checkNesting() error {
	if m.words == m.levelled || m.desc.Nesting() <= m.maxNesting() {
		return nil
	}
	if most := m.maxNesting(); m.exceeds(m.desc.Type(), m.root, most) {
		return &Error{Path: m.desc.Name(), Err: depthError(most)}
	}
	m.levelled = m.words
	return nil
}

// exceeds reports whether more than left structs are nested in the value of entry e.
func (m *Message) exceeds(t *schema.Type, e uint32, left int) bool {
	switch {
	case t.Nesting() <= left:
		return false
	case t.Kind() == schema.Record:
		return left == 0 || m.fieldExceeds(t.Struct(), e, left-1)
	}
	for i := range m.idx[e+listCount] {
		if t.Kind() == schema.List {
			if m.exceeds(t.Elem(), m.elementEntry(e, t.Elem(), i), left) {
				return true
			}
			continue
		}
		pair := m.idx[m.idx[e+listElems]+i*pairWords:][:pairWords]
		if key, value := pair[pairKey], pair[pairValue]; key != 0 && // it was not deleted
			(t.Key().Kind() >= schema.Record && m.exceeds(t.Key(), key, left) || t.Elem().Kind() >= schema.Record && m.exceeds(t.Elem(), value, left)) {
			return true
		}
	}
	return false
}

// fieldExceeds reports whether more than left structs are nested in a field of the struct of entry
// e.
func (m *Message) fieldExceeds(d *schema.Struct, e uint32, left int) bool {
	for i := m.next(d, e, 0); i < len(d.Fields()); i = m.next(d, e, i+1) {
		f := &d.Fields()[i]
		word := m.at(e, f.Ref())
		if word == 0 || f.Kind() < schema.Record || f.Type.Nesting() <= left {
			continue
		}
		if p := word &^ notIndexed; p != word {
			if _, err := skip(m.buf.At(p), 0, f.Type.Wire(), budgetOf(left), 1); err == nil {
				continue
			}
			word = m.indexLazily(f, e)
		}
		if m.exceeds(f.Type, word, left) {
			return true
		}
	}
	return false
}

// depthError returns errDepth with the depth that would be accepted.
func depthError(most int) error { return fmt.Errorf("%w = %d", errDepth, most) }
