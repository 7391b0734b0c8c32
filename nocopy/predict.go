package nocopy

// Most messages come from programs that write all fields in the IDL's order. Where that holds, the parser need
// not ask which field comes next, only whether it is the expected one. Where it does not, it gives up without harm.

// step is a field as it is expected: its header, how far it reaches, and where its position goes.
type step struct {
	key     uint32
	advance uint32 // header, value of fixed size or length
	kind    kind
}

func stepOf(f *field) step {
	s := step{key: f.key, kind: f.kind, advance: fieldHeader + uint32(f.size)}
	if f.kind == text {
		s.advance = fieldHeader + textHeader
	}
	return s
}

// inOrder indexes the fields at i as long as they come in the IDL's order and are not containers. words are
// the struct's words from the first field's on. It returns where it stopped and how many fields it has done.
func (p *parser) inOrder(steps []step, words []uint32, i int) (int, int) {
	b, base := p.b, p.base
	words = words[:len(steps)]
	for q := range steps {
		if len(b)-i < 8 {
			return i, q
		}
		x := be64(b[i:])
		s := &steps[q]
		if uint32(x>>40) != s.key {
			return i, q
		}
		// A branch, not arithmetic: predicted, it lets the next load start before this one is done.
		end := uint64(i) + uint64(s.advance)
		if s.kind != fixed {
			end += uint64(uint32(x >> 8))
		}
		if end > uint64(len(b)) || s.kind > text {
			return i, q
		}
		words[q] = base + uint32(i) + fieldHeader
		i = int(end)
	}
	return i, len(steps)
}

// structs indexes n structs of a type without containers, at a constant stride from first on. The words need
// not be zero.
func (p *parser) structs(d *Desc, first uint32, i, n int) int {
	stride := d.words
	words := p.m.idx[first : first+uint32(n*stride)]
	b, base := p.b, p.base
	for k := range n {
		w := words[:stride]
		words = words[stride:]
		at := i
		w[0] = base + uint32(i)
		end, done := p.inOrder(d.steps, w[structWords:], i)
		if done == len(d.steps) && end < len(b) && b[end] == byte(WireStop) {
			w[1] = base + uint32(end)
			i = end + 1
			continue
		}
		clear(w)
		if i = p.structure(d, first+uint32(k*stride), at); i < 0 {
			return p.at(k)
		}
		b, base = p.b, p.base
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
