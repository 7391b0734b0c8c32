//go:build nocopydebug

package engine

import (
	"os"
	"slices"
	"strings"

	"github.com/nocopythrift/nocopythrift/internal/hashmap"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// With the tag nocopydebug a message knows which required numbers of new structs were set, and
// which structs and containers are no longer part of it.

// debugNotes is what a message knows of its entries.
type debugNotes struct {
	unset   hashmap.Map[uint32, []schema.Ref]   // required numbers of new structs that nobody has set
	removed hashmap.Map[uint32, *schema.Type]   // entries of what was replaced or removed
	structs hashmap.Map[uint32, *schema.Struct] // by entry: the types of new structs
}

// The environment variable NOCOPYDEBUG turns checks off: missing=0 that of required fields,
// removed=0 that of writes to values that were removed from their message.
var (
	checksMissing = !strings.Contains(os.Getenv("NOCOPYDEBUG"), "missing=0")
	checksRemoved = !strings.Contains(os.Getenv("NOCOPYDEBUG"), "removed=0")
)

// mustHaveAll panics if a required field was never set.
func (m *Message) mustHaveAll() {
	if checksMissing {
		if all := m.missing(1); len(all) > 0 {
			panic("nocopy: " + all[0].String())
		}
	}
}

func (m *Message) knowsUnset() bool { return m.origin.unset.Len() > 0 }

// noteTemplate notes that entry e is that of a new struct.
func (m *Message) noteTemplate(d *schema.Struct, e uint32) {
	m.origin.structs.Put(e, d)
	m.noteAllSet(e)
	if d.IsUnion() {
		return
	}
	for _, f := range d.Required() {
		if f.Kind() == schema.Fixed && f.Default == "" {
			m.origin.unset.Put(e, append(m.origin.unset.Get(e), f.Ref()))
		}
	}
}

// noteAllSet notes that all numbers of the struct of entry e are set.
func (m *Message) noteAllSet(e uint32) {
	if m.origin.unset.Get(e) != nil {
		m.origin.unset.Put(e, nil)
	}
}

// noteSet notes that field f, a number of the struct of entry e, is about to be set. It panics as
// checkPart does.
func (m *Message) noteSet(e uint32, f schema.Ref) {
	m.checkPart(e)
	if fields := m.origin.unset.Get(e); len(fields) > 0 {
		m.origin.unset.Put(e, slices.DeleteFunc(fields, func(g schema.Ref) bool { return g == f }))
	}
}

func (m *Message) isUnset(e uint32, f schema.Ref) bool {
	return slices.Contains(m.origin.unset.Get(e), f)
}

// noteRemoved notes that the struct or container of type t and entry e, and what is in it, is
// about to be no longer part of the message.
func (m *Message) noteRemoved(t *schema.Type, e uint32) {
	if t.Kind() < schema.Record || e == 0 || e&notIndexed != 0 || m.origin.removed.Get(e) != nil {
		return
	}
	m.origin.removed.Put(e, t)
	switch t.Kind() {
	case schema.Record:
		if m.idx[e] == 0 {
			return
		}
		for i := m.next(t.Struct(), e, 0); i < len(t.Struct().Fields()); i = m.next(t.Struct(), e, i+1) {
			if f := &t.Struct().Fields()[i]; f.Kind() >= schema.Record {
				m.noteRemoved(f.Type, m.at(e, f.Ref()))
			}
		}
	case schema.List:
		if t.Elem().Kind() >= schema.Record && m.idx[e+listRoom] != roomByIndex {
			for i := range m.idx[e+listCount] {
				m.noteRemoved(t.Elem(), m.elementEntry(e, t.Elem(), i))
			}
		}
	case schema.Dict:
		for i := range m.idx[e+listCount] {
			if slot := m.idx[e+listElems] + i*pairWords; m.idx[slot] != 0 {
				m.noteRemoved(t.Key(), m.idx[slot])
				m.noteRemoved(t.Elem(), m.idx[slot+pairValue])
			}
		}
	}
}

// noteRemovedField does the same for the struct of entry e, which is in a field. It does nothing
// if its type is not known, since the struct was received.
func (m *Message) noteRemovedField(e uint32) {
	if d := m.origin.structs.Get(e); d != nil {
		m.noteRemoved(d.Type(), e)
	}
}

// noteReused notes that n words from entry e on are used for other values.
func (m *Message) noteReused(e, n uint32) {
	for i := range n {
		m.noteAllSet(e + i)
		if m.origin.removed.Get(e+i) != nil {
			m.origin.removed.Put(e+i, nil)
		}
		if m.origin.structs.Get(e+i) != nil {
			m.origin.structs.Put(e+i, nil)
		}
	}
}

// checkPart panics if the struct or container of entry e, which is about to be changed, is no
// longer part of the message: nobody would see the change.
func (m *Message) checkPart(e uint32) {
	if t := m.origin.removed.Get(e); t != nil && checksRemoved {
		panic("nocopy: setter called on a " + t.String() + " that is no longer in its message: it was replaced or removed")
	}
}

func (m *Message) dropNotes() { m.origin.debugNotes = debugNotes{} }
