package nocopy

// indexLazily indexes the container at p of a message parsed with Lazy and returns its entry.
func (m *Message) indexLazily(t *Type, p uint32) uint32 { return m.indexAt(t, p) }

// Index indexes everything that Lazy left for later and checks what Lazy could not. Afterwards any number of
// goroutines may read the message. The error is an *Error; its offset counts from the beginning of the
// container that is wrong.
func (m *Message) Index() error {
	if m.flags&Lazy == 0 {
		return nil
	}
	m.Finish() // a struct that is being built lacks what it is owed
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

func (ix indexer) structure(d *Desc, e uint32, path string) error {
	m := ix.m
	for i := range d.fields {
		f := &d.fields[i]
		word := m.idx[e+f.word]
		if word == 0 && f.Req == Required {
			return &Error{Path: path + "." + f.Name, Err: ErrMissingRequired}
		}
		if word == 0 || f.kind < record {
			continue
		}
		if word&notIndexed != 0 {
			var err error
			if word, err = ix.strictly(f.typ, word&^notIndexed, path+"."+f.Name); err != nil {
				return err
			}
			m.idx[e+f.word] = word
			continue
		}
		if err := ix.value(f.typ, word, path+"."+f.Name); err != nil {
			return err
		}
	}
	return nil
}

// strictly indexes the container at p as a message that is not lazy would.
func (ix indexer) strictly(t *Type, p uint32, path string) (uint32, error) {
	m := ix.m
	m.trust(p)
	m.p.lenient, m.p.utf8 = false, m.flags&ValidUTF8 != 0
	i, word := m.p.value(t, 0, 0)
	m.p.b = nil
	if i < 0 {
		err := m.p.finish(&Desc{name: path})
		return 0, err
	}
	return word, nil
}

// value completes the index of a container that has an entry.
func (ix indexer) value(t *Type, e uint32, path string) error {
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
			for k, kt := range []*Type{t.key, t.elem} {
				if kt.kind >= record {
					if err := ix.value(kt, m.idx[slot+uint32(k)], path+"["+itoa(int(i))+"]"); err != nil {
						return err
					}
				}
			}
		}
	case t.elem.kind >= record:
		for i := range m.idx[e+listCount] {
			if err := ix.value(t.elem, m.handle(e).elementEntry(int(i)), path+"["+itoa(int(i))+"]"); err != nil {
				return err
			}
		}
	}
	return nil
}
