package engine

import (
	"strconv"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/index"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// indexLazily indexes the value of field f of the struct of entry e. The value was left for later.
// It returns the value's entry, which is the field's word from now on.
func (m *Message) indexLazily(f *schema.Field, e uint32) uint32 {
	p := m.ix.At(e, f.Ref()) &^ index.NotIndexed
	var word uint32
	if m.pending&byIndex != 0 {
		word = m.land(f, e, p)
	} else {
		word = m.indexLeft(f, p)
	}
	m.ix.Put(e, f.Ref(), word)
	return word
}

// indexLeft indexes the value of field f at position p, which Lazy left for later, and returns its
// entry. A getter returns no error: so if the value is not valid it is taken as skipping saw it,
// and Index returns the error.
func (m *Message) indexLeft(f *schema.Field, p uint32) uint32 {
	shadows := len(m.shadows.all)
	i, word := m.parseLeft(f.Type, p, true)
	if i >= 0 {
		return word
	}
	m.p.InField(f.Name)
	if err := m.p.Finish(m.desc); m.late == nil {
		m.ownSeldom()
		m.late, m.ix.More = err, true
	}
	m.dropShadows(shadows)
	m.beginTrusted(p)
	m.p.Lazy = true
	i, word = m.p.Value(f.Type, 0, 0)
	m.p.EndTrusted(i)
	return word
}

// parseLeft indexes the struct or container of type t at position p, which Lazy left for later,
// with all checks that parsing makes without Lazy. With lazily it leaves the values in it for
// later, as Lazy does. It returns failed, with the error noted, or the entry.
func (m *Message) parseLeft(t *schema.Type, p uint32, lazily bool) (int, uint32) {
	m.beginTrusted(p)
	m.p.Lazy = lazily
	m.p.Trusted, m.p.UTF8, m.p.MaxDepth = false, m.flags&ValidUTF8 != 0, m.limits.MaxDepth
	i, word := m.p.Value(t, 0, 0)
	m.p.B = nil
	return i, word
}

// Index indexes everything that Lazy skipped, and checks what Lazy could not, whether it was read
// before or not.
func (m *Message) Index() error {
	if m.pending&byIndex != 0 {
		return m.indexOpened()
	}
	if m.flags&Lazy == 0 {
		return nil
	}
	// Check finishes the message: a struct that is being built lacks the fields that it is owed.
	if err := m.Check(); err != nil {
		return err
	}
	if m.late != nil {
		return m.late
	}
	m.flags &^= Lazy
	ix := indexer{m}
	if err := ix.structure(m.desc, m.root, m.desc.Name()); err != nil {
		m.flags |= Lazy
		return err
	}
	return nil
}

// indexer goes through an index and completes it.
type indexer struct{ m *Message }

// structure completes the index of the struct of entry e. It returns the error of the first value
// that is wrong.
func (ix indexer) structure(d *schema.Struct, e uint32, path string) error {
	m := ix.m
	for i := m.ix.Next(d, e, 0); i < len(d.Fields()); i = m.ix.Next(d, e, i+1) {
		f := &d.Fields()[i]
		word := m.ix.At(e, f.Ref())
		if word == 0 || f.Kind() < schema.Record {
			continue
		}
		if word&index.NotIndexed != 0 {
			var err error
			if word, err = ix.strictly(f.Type, word&^index.NotIndexed, path+"."+f.Name); err != nil {
				return err
			}
			m.ix.Put(e, f.Ref(), word)
			continue
		}
		if err := ix.value(f.Type, word, path+"."+f.Name); err != nil {
			return err
		}
	}
	return nil
}

// strictly indexes the struct or container of type t at position p, with all checks that parsing
// makes without Lazy. It returns its entry.
func (ix indexer) strictly(t *schema.Type, p uint32, path string) (uint32, error) {
	i, word := ix.m.parseLeft(t, p, false)
	if i < 0 {
		return 0, ix.m.p.Finish(schema.NewStruct(path))
	}
	return word, nil
}

// value completes the index of the struct or container of type t and entry e, see structure.
func (ix indexer) value(t *schema.Type, e uint32, path string) error {
	m := ix.m
	switch {
	case t.Kind() == schema.Record:
		return ix.structure(t.Struct(), e, path)
	case t.Kind() == schema.Dict:
		for i := range m.ix.Words[e+listCount] {
			slot := m.ix.Words[e+listElems] + i*pairWords
			if m.ix.Words[slot] == 0 {
				continue
			}
			for k, kt := range []*schema.Type{t.Key(), t.Elem()} {
				if kt.Kind() >= schema.Record {
					if err := ix.value(kt, m.ix.Words[slot+uint32(k)], path+"["+strconv.Itoa(int(i))+"]"); err != nil {
						return err
					}
				}
			}
		}
	case t.Elem().Kind() >= schema.Record:
		for i := range m.ix.Words[e+listCount] {
			if err := ix.value(t.Elem(), m.elementEntry(e, t.Elem(), i), path+"["+strconv.Itoa(int(i))+"]"); err != nil {
				return err
			}
		}
	}
	return nil
}
