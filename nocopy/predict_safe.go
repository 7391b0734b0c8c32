//go:build nounsafe

package nocopy

// follow takes steps of pl, from k on, as long as the bytes at b[i:] are as planned, and fills the words of the entry e and
// of those of what is inside, which are shift words from where they would be if they followed the entry; shift may be
// nothingInside. It returns where it stopped: index and step.
func (m *Message) follow(pl *plan, k int, b []byte, i int, e, shift, base uint32) (int, int) {
	idx := m.idx
	first := e // what words are counted from
	for ; k < len(pl.steps); k++ {
		s := pl.steps[k]
		if s&stepStop != 0 {
			if i >= len(b) || b[i] != byte(WireStop) {
				break
			}
			idx[first+s.word()] = base + uint32(i)
			i++
			if s&stepEdge != 0 {
				first = e
			}
			continue
		}
		if len(b)-i < 8 {
			break
		}
		x := load64(b, i)
		end := uint64(i) + s.reach()
		var l listStep
		switch {
		case s&stepText != 0:
			end += uint64(lengthIn(x))
		case s&stepList != 0:
			l = listStep(pl.steps[k+1])
			end += l.size() * uint64(be32(b[i+fieldHeader+1:]))
		}
		if !s.is(uint32(x)) || end > uint64(len(b)) || s&stepOther != 0 || s&(stepOpen|stepList) != 0 && shift == nothingInside ||
			s&stepList != 0 && WireType(b[i+fieldHeader]) != l.wire() {
			break
		}
		word, entry := base+uint32(i)+fieldHeader, e+shift+s.entry()
		switch {
		case s&stepOpen != 0:
			idx[entry], word = word, entry
		case s&stepList != 0:
			w, n := (*[listWords]uint32)(idx[entry:]), be32(b[i+fieldHeader+1:])
			w[listStart], w[listEnd] = word+listHeader, base+uint32(end)
			w[listCount], w[listElems], w[listRoom], w[listType] = n, entry+listWords, n, l.typeID()
			word = entry
			k++
		}
		idx[first+s.word()] = word
		i = int(end)
		if s&stepEdge != 0 {
			first = e + shift
		}
	}
	return i, k
}

// usualStructs indexes structs with all fields in order into the words [first, end), as long as they come. It
// returns where it stopped, and the first words that it has not filled.
func (p *parser) usualStructs(steps []step, first, end uint32, i int) (int, uint32) {
	b, base, stride := p.b, p.base, structWords+uint32(len(steps))
	for ; first < end; first += stride {
		w := p.m.idx[first : first+stride]
		at := i
		for q, s := range steps {
			if len(b)-at < 8 {
				return i, first
			}
			x := load64(b, at)
			next := uint64(at) + s.reach()
			if s&stepText != 0 {
				next += uint64(lengthIn(x))
			}
			if !s.is(uint32(x)) || next > uint64(len(b)) {
				return i, first
			}
			w[structWords+q] = base + uint32(at) + fieldHeader
			at = int(next)
		}
		if at >= len(b) || b[at] != byte(WireStop) {
			return i, first
		}
		w[0], w[1] = base+uint32(i), base+uint32(at)
		i = at + 1
	}
	return i, first
}

// passStructs finds the end of n structs with all fields in order, as long as they come. It returns where it stopped,
// and how many are left.
func passStructs(b []byte, steps []step, i int, n uint32) (int, uint32) {
	for ; n > 0; n-- {
		at := i
		for _, s := range steps {
			if len(b)-at < 8 {
				return i, n
			}
			x := load64(b, at)
			next := uint64(at) + s.reach()
			if s&stepText != 0 {
				next += uint64(lengthIn(x))
			}
			if !s.is(uint32(x)) || next > uint64(len(b)) {
				return i, n
			}
			at = int(next)
		}
		if at >= len(b) || b[at] != byte(WireStop) {
			return i, n
		}
		i = at + 1
	}
	return i, 0
}

// usualTexts indexes texts, a word each, as many as are whole in the window. It returns the index behind them and how many it
// has done.
func (p *parser) usualTexts(words []uint32, i int) (int, int) {
	b, base := p.b, p.base
	for k := range words {
		if len(b)-i < textHeader {
			return i, k
		}
		end := uint64(i) + textHeader + uint64(be32(b[i:]))
		if end > uint64(len(b)) {
			return i, k
		}
		words[k] = base + uint32(i)
		i = int(end)
	}
	return i, len(words)
}

// textsEnd returns the index behind n strings, or unusual if they are not all whole.
func textsEnd(b []byte, i int, n uint32) int {
	for ; n > 0; n-- {
		if len(b)-i < textHeader {
			return unusual
		}
		if i = within(b, uint64(i)+textHeader+uint64(be32(b[i:]))); i < 0 {
			return unusual
		}
	}
	return i
}

// textPairs indexes pairs of texts of a map, as many of n as are whole in the window. It returns the index
// behind them and how many it has done.
func (p *parser) textPairs(first uint32, i, n int) (int, int) {
	words := p.m.idx[first : first+uint32(n*pairWords)]
	b, base := p.b, p.base
	for k := range n {
		if len(b)-i < textHeader {
			return i, k
		}
		value := uint64(i) + textHeader + uint64(be32(b[i:]))
		if value+textHeader > uint64(len(b)) {
			return i, k
		}
		end := value + textHeader + uint64(be32(b[value:]))
		if end > uint64(len(b)) {
			return i, k
		}
		w := words[k*pairWords:][:pairWords]
		w[0], w[1], w[pairNode] = base+uint32(i), base+uint32(value), 0
		i = int(end)
	}
	return i, n
}
