package engine

import (
	"strconv"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/index"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/program"
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
	m.p.inField(f.Name)
	if err := m.p.finish(m.desc); m.late == nil {
		m.ownSeldom()
		m.late, m.ix.More = err, true
	}
	m.dropShadows(shadows)
	m.beginTrusted(p)
	m.p.lazy = true
	i, word = m.p.value(f.Type, 0, 0)
	m.endTrusted(i)
	return word
}

// parseLeft indexes the struct or container of type t at position p, which Lazy left for later,
// with all checks that parsing makes without Lazy. With lazily it leaves the values in it for
// later, as Lazy does. It returns failed, with the error noted, or the entry.
func (m *Message) parseLeft(t *schema.Type, p uint32, lazily bool) (int, uint32) {
	m.beginTrusted(p)
	m.p.lazy = lazily
	m.p.trusted, m.p.utf8, m.p.maxDepth = false, m.flags&ValidUTF8 != 0, m.limits.MaxDepth
	i, word := m.p.value(t, 0, 0)
	m.p.b = nil
	return i, word
}

// affords reports whether a value of field f, of n bytes with this many structs in it, can be left
// for later: whether indexing it will not exceed the limit of the index. It counts the most words
// that this may take, in p.promised; if it reports false, indexing the value at once finds out.
func (p *parser) affords(f *schema.Field, n, structs int) bool {
	words := uint64(structs)*uint64(f.Widest()) + 2*uint64(n) // the latter for lists, maps and texts
	if uint64(p.m.ix.Used)+p.promised+words > uint64(p.maxIndex) {
		return false
	}
	p.promised += words
	return true
}

// allow is called for a value of n bytes before affords counts its words, or before it is indexed
// at once. A value that affordsAny lets Lazy leave for later may take all words that are due to
// its bytes. The words of the whole message are therefore reserved at first, and allow gives back
// the words of other values.
func (p *parser) allow(n int) {
	words := min(p.reserved, indexPerByte/4*uint64(n))
	p.reserved -= words
	p.promised -= words
}

// affordsAny reports whether all possible values of field f can be left for later.
func (p *parser) affordsAny(f *schema.Field) bool {
	return p.unlimited || f.Widest() <= program.Narrow && p.m.limits.MaxIndex <= 0
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
		return 0, ix.m.p.finish(schema.NewStruct(path))
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
