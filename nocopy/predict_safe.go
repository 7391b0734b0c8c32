//go:build nounsafe

package nocopy

// inOrder indexes the fields at i as long as they come in the IDL's order, beginning with the field next, and are
// not containers. It returns where it stopped, and the field behind the last one that it has done.
func (p *parser) inOrder(d *Desc, e uint32, i, next int) (int, int) {
	b, base := p.b, p.base
	steps := d.steps[next:]
	words := p.m.idx[e+d.first+uint32(next):][:len(steps)]
	for k := range steps {
		if len(b)-i < 8 {
			return i, next + k
		}
		x, s := load64(b, i), steps[k]
		// A branch, not arithmetic: predicted, it lets the next load start before this one is done.
		end := uint64(i) + uint64(uint32(s))
		if s&stepText != 0 {
			end += uint64(uint32(x >> 8))
		}
		if (x^uint64(s))>>40 != 0 || end > uint64(len(b)) || words[k] != 0 {
			return i, next + k
		}
		words[k] = base + uint32(i) + fieldHeader
		i = int(end)
	}
	return i, next + len(steps)
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
			next := uint64(at) + uint64(uint32(s))
			if s&stepText != 0 {
				next += uint64(uint32(x >> 8))
			}
			if (x^uint64(s))>>40 != 0 || next > uint64(len(b)) {
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
			next := uint64(at) + uint64(uint32(s))
			if s&stepText != 0 {
				next += uint64(uint32(x >> 8))
			}
			if (x^uint64(s))>>40 != 0 || next > uint64(len(b)) {
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

// passTexts finds the end of n strings. It returns where it stopped, and how many are left.
func passTexts(b []byte, i int, n uint32) (int, uint32) {
	for ; n > 0; n-- {
		if len(b)-i < textHeader {
			break
		}
		end := uint64(i) + textHeader + uint64(be32(b[i:]))
		if end > uint64(len(b)) {
			break
		}
		i = int(end)
	}
	return i, n
}
