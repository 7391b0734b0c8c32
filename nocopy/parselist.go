package nocopy

// Indexing lists, sets and maps as they are parsed.

// list indexes the list or set that stands behind lead bytes at i.
func (p *parser) list(t *Type, i, lead int) (int, uint32) {
	if len(p.b)-i < lead+listHeader {
		if i = p.need(i, lead+listHeader); i < 0 {
			return i, 0
		}
	}
	h, elem := i+lead, t.elem
	n, left := be32(p.b[h+1:]), len(p.b)-h-listHeader+p.rest
	if WireType(p.b[h]) != elem.wire && n > 0 || uint64(n)*uint64(minSize[elem.wire]) > uint64(left) || n > maxCount {
		return p.badList(t, h), 0
	}
	if n >= manyElements && elem.kind >= list {
		p.foresee(t, int(n))
	}
	e := p.takeFor(t, listWords, int(n), t.elemWords(), i)
	if e == 0 {
		return failed, 0
	}
	p.listEntry(t, e, h+listHeader, n)
	if elem.kind == fixed {
		size := int(n) * int(elem.size)
		if end := h + listHeader + size; end <= len(p.b) {
			i = end
		} else if i = p.need(i, lead+listHeader+size); i < 0 {
			return i, 0
		} else {
			i += lead + listHeader
			p.m.idx[e+listStart] = p.base + uint32(i)
			i += size
		}
	} else if i = p.elements(elem, e+listWords, h+listHeader, int(n)); i < 0 {
		return i, 0
	}
	p.m.idx[e+listEnd] = p.base + uint32(i)
	return i, e
}

// badList says what is wrong with a list: its header is at h.
func (p *parser) badList(t *Type, h int) int {
	n, wire := int32(be32(p.b[h+1:])), WireType(p.b[h])
	switch {
	case n < 0:
		return p.fail(h+1, ErrNegative)
	case wire == t.elem.wire:
		return p.short()
	case minSize[wire] == 0:
		return p.fail(h, typeError(wire))
	}
	return mismatch
}

// elements indexes the n elements of a list, texts, structs or containers, that begin at i. Their words are from first on.
func (p *parser) elements(t *Type, first uint32, i, n int) int {
	switch {
	case t.kind == text:
		return p.texts(t, first, i, n)
	case t.kind == record && t.desc.flat && !p.utf8 && p.depth < p.maxDepth:
		return p.structs(t.desc, first, i, n)
	case t.kind == record:
		per, pl := uint32(t.desc.words), planOf(t.desc)
		for k, window := 0, uint32(0); k < n; k++ {
			if p.base != window { // once a window: what is unusual in it may be so again
				window = p.base
				var done int
				switch {
				case p.utf8 || p.reuse:
				case pl.whole:
					i, done = p.wholes(pl, t.desc, first, i, n-k)
				case pl.shelf && !p.lazy && p.depth+2 <= p.maxDepth:
					i, done = p.shelves(pl, t.desc, first, i, n-k)
				}
				first += uint32(done) * per
				if k += done; k == n {
					break
				}
			}
			if i = p.structure(t.desc, first, i); i < 0 {
				return p.at(k)
			}
			first += per
		}
		return i
	}
	for k := range n {
		var word uint32
		if i, word = p.value(t, i, 0); i < 0 {
			if i == failed {
				p.at(k)
			}
			return i
		}
		p.m.idx[first+uint32(k)] = word
	}
	return i
}

// listEntry fills in what the entry of a list or map of n elements begins with.
func (p *parser) listEntry(t *Type, e uint32, body int, n uint32) {
	w := (*[listWords]uint32)(p.m.idx[e:])
	w[listStart], w[listEnd] = p.base+uint32(body), 0
	w[listCount] = n
	w[listElems] = e + listWords
	w[listRoom] = n
	if t.kind == list && t.elem.kind == record {
		w[listRoom] = uint32(t.elem.desc.words)
	}
	w[listType] = t.id
}

// texts indexes n strings.
func (p *parser) texts(t *Type, first uint32, i, n int) int {
	words := p.m.idx[first : first+uint32(n)]
	for k := 0; k < n; k++ {
		if !p.utf8 {
			var done int
			i, done = p.usualTexts(words[k:], i)
			if k += done; k == n {
				break
			}
		}
		var size int // one that crosses into another window, or is wrong
		if i, size = p.text(i, 0, t); i < 0 {
			return p.at(k)
		}
		words[k] = p.base + uint32(i)
		i += size
	}
	return i
}

// dict indexes the map that stands behind lead bytes at i.
func (p *parser) dict(t *Type, i, lead int) (int, uint32) {
	if len(p.b)-i < lead+mapHeader {
		if i = p.need(i, lead+mapHeader); i < 0 {
			return i, 0
		}
	}
	h := i + lead
	i = h + mapHeader
	head := p.b[h:i:i]
	count := be32(head[2:])
	if (WireType(head[0]) != t.key.wire || WireType(head[1]) != t.elem.wire) && count > 0 ||
		uint64(count)*uint64(minSize[t.key.wire]+minSize[t.elem.wire]) > uint64(len(p.b)-i+p.rest) {
		return p.badDict(t, h), 0
	}
	n := int(count)
	if n >= manyElements && (t.key.kind >= record || t.elem.kind >= record) {
		p.foresee(t, n)
	}
	e := p.takeFor(t, listWords, n, pairWords, i)
	if e == 0 {
		return failed, 0
	}
	p.listEntry(t, e, i, count)
	slot := e + listWords
	texts, window := t.key.kind == text && t.elem.kind == text && !p.utf8, uint32(0)
	for k := 0; k < n; k++ {
		if texts && p.base != window {
			window = p.base
			var done int
			i, done = p.textPairs(slot, i, n-k)
			slot += uint32(done) * pairWords
			if k += done; k == n {
				break
			}
		}
		var word uint32
		if i, word = p.element(t.key, i); i < 0 {
			if i == failed {
				p.at(k)
			}
			return i, 0
		}
		p.m.idx[slot] = word
		if i, word = p.element(t.elem, i); i < 0 {
			if i == failed {
				p.at(k)
			}
			return i, 0
		}
		p.m.idx[slot+1], p.m.idx[slot+pairNode] = word, 0
		slot += pairWords
	}
	p.m.idx[e+listEnd] = p.base + uint32(i)
	return i, e
}

// badDict says what is wrong with a map: its header is at h.
func (p *parser) badDict(t *Type, h int) int {
	key, value := WireType(p.b[h]), WireType(p.b[h+1])
	switch {
	case int32(be32(p.b[h+2:])) < 0:
		return p.fail(h+2, ErrNegative)
	case minSize[key] == 0:
		return p.fail(h, typeError(key))
	case minSize[value] == 0:
		return p.fail(h+1, typeError(value))
	case key == t.key.wire && value == t.elem.wire:
		return p.short()
	}
	return mismatch
}

// element indexes one key or value of a map and returns its word.
func (p *parser) element(t *Type, i int) (int, uint32) {
	switch t.kind {
	case fixed:
		if i = p.need(i, int(t.size)); i < 0 {
			return i, 0
		}
		return i + int(t.size), p.base + uint32(i)
	case text:
		var n int
		if len(p.b)-i >= textHeader && !p.utf8 {
			if size := uint64(be32(p.b[i:])) + textHeader; size <= uint64(len(p.b)-i) {
				return i + int(size), p.base + uint32(i)
			}
		}
		if i, n = p.text(i, 0, t); i < 0 {
			return i, 0
		}
		return i + n, p.base + uint32(i)
	}
	return p.value(t, i, 0)
}
