package nocopy

// indexLazily indexes the value of field f of the struct of entry e, which was left for later. It
// returns its entry, which is the field's word from now on.
func (m *Message) indexLazily(f *field, e uint32) uint32 {
	p := m.at(e, f.c) &^ notIndexed
	var word uint32
	if m.pending&byIndex != 0 {
		word = m.land(f, e, p)
	} else {
		word = m.indexAt(f.typ, p)
	}
	m.put(e, f.c, word)
	return word
}

// affords reports whether a value of field f, n bytes with this many structs, can be indexed
// whenever it is touched, without exceeding the limit of the index. It is an estimate from above;
// if it says no, indexing at once finds out.
func (p *parser) affords(f *field, n, structs int) bool {
	if p.affordsAny(f) {
		return true
	}
	words := uint64(structs)*uint64(f.widest) + 2*uint64(n) // the latter for lists, maps and texts
	if uint64(p.m.words)+p.promised+words > uint64(p.maxIndex) {
		return false
	}
	p.promised += words
	return true
}

// allow is called before a value of n bytes is counted. What Lazy leaves for later without
// counting may take all words that are due to its bytes: so all are reserved, but for those of
// values that are counted.
func (p *parser) allow(n int) {
	words := min(p.reserved, indexPerByte/4*uint64(n))
	p.reserved -= words
	p.promised -= words
}

// affordsAny reports whether affords does for any value that there may be.
func (p *parser) affordsAny(f *field) bool {
	return p.lenient || f.widest <= narrow && p.m.limits.MaxIndex <= 0
}

// narrow is the number of words that the entry of the smallest struct, a lone STOP, may have
// within the default limit.
const narrow = indexPerByte/4 - 2

// Index indexes everything that Lazy left for later and checks what Lazy could not (but for a
// value in whose place a later one of the same field stands). Afterwards any number of goroutines
// may read the message. The error is an *Error; its offset counts from the beginning of the
// container that is wrong.
//
// Of a message parsed with ByIndex it checks everything, the index included: all that has been
// read is what a reader without the index reads if the error is nil. Else it is an *Error, in
// which errors.Is finds ErrIndex if the message is right and the index is not.
func (m *Message) Index() error {
	if m.pending&byIndex != 0 {
		return m.indexOpened()
	}
	if m.flags&Lazy == 0 {
		return nil
	}
	// It is finished: a struct that is being built lacks what it is owed
	if err := m.Check(); err != nil {
		return err
	}
	m.flags &^= Lazy
	ix := indexer{m}
	if err := ix.structure(m.desc, m.root, m.desc.name); err != nil {
		m.flags |= Lazy
		return err
	}
	return nil
}

// indexer goes through an index and completes it.
type indexer struct{ m *Message }

func (ix indexer) structure(d *XDesc, e uint32, path string) error {
	m := ix.m
	for _, f := range d.required {
		if m.at(e, f.c) == 0 {
			return &Error{Path: path + "." + f.Name, Err: ErrMissingRequired}
		}
	}
	if d.far && m.hasNoWords(e) {
		return nil
	}
	for i := m.next(d, e, 0); i < len(d.fields); i = m.next(d, e, i+1) {
		f := &d.fields[i]
		word := m.at(e, f.c)
		if word == 0 || f.kind < record {
			continue
		}
		if word&notIndexed != 0 {
			var err error
			if word, err = ix.strictly(f.typ, word&^notIndexed, path+"."+f.Name); err != nil {
				return err
			}
			m.put(e, f.c, word)
			continue
		}
		if err := ix.value(f.typ, word, path+"."+f.Name); err != nil {
			return err
		}
	}
	return nil
}

// strictly indexes the container at p as a message that is not lazy would.
func (ix indexer) strictly(t *XType, p uint32, path string) (uint32, error) {
	m := ix.m
	m.beginTrusted(p)
	m.p.lenient, m.p.utf8, m.p.maxDepth = false, m.flags&ValidUTF8 != 0, m.limits.MaxDepth
	i, word := m.p.value(t, 0, 0)
	m.p.b = nil
	if i < 0 {
		err := m.p.finish(&XDesc{name: path})
		return 0, err
	}
	return word, nil
}

// value completes the index of a container that has an entry.
func (ix indexer) value(t *XType, e uint32, path string) error {
	m := ix.m
	switch {
	case t.kind == record:
		return ix.structure(t.desc, e, path)
	case t.kind == dict:
		for i := range m.idx[e+listCount] {
			slot := m.idx[e+listElems] + i*pairWords
			if m.idx[slot] == 0 {
				continue
			}
			for k, kt := range []*XType{t.key, t.elem} {
				if kt.kind >= record {
					if err := ix.value(kt, m.idx[slot+uint32(k)], path+"["+itoa(int(i))+"]"); err != nil {
						return err
					}
				}
			}
		}
	case t.elem.kind >= record:
		for i := range m.idx[e+listCount] {
			if err := ix.value(t.elem, m.elementEntry(e, t.elem, i), path+"["+itoa(int(i))+"]"); err != nil {
				return err
			}
		}
	}
	return nil
}
