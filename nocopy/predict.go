package nocopy

// Most messages come from programs that write all fields in the IDL's order. Where that holds, the parser need
// not ask which field comes next, only whether it is the expected one. Where it does not, it gives up without harm.

// step is a field as it is expected: its header in the high 24 bits, where a message has it when 8 bytes are
// loaded; whether it is a text; and in the low 32 bits how far it reaches without the text.
type step uint64

const (
	stepText = 1 << 39
	// tooFar is the reach of what is not so simple: it ends behind every message.
	tooFar = 1<<32 - 1
)

func stepOf(f *field) step {
	s := step(f.key) << 40
	switch f.kind {
	case fixed:
		return s | fieldHeader + step(f.size)
	case text:
		return s | stepText | fieldHeader + textHeader
	}
	return s | tooFar
}

func (s step) key() uint32  { return uint32(s >> 40) }
func (s step) simple() bool { return uint32(s) != tooFar }

// structs indexes n structs of a type without containers, at a constant stride from first on. The words need
// not be zero.
func (p *parser) structs(d *Desc, first uint32, i, n int) int {
	stride := uint32(d.words)
	for end := first + uint32(n)*stride; ; first += stride {
		if i, first = p.usualStructs(d.steps, first, end, i); first == end {
			return i
		}
		clear(p.m.idx[first : first+stride])
		if i = p.structure(d, first, i); i < 0 {
			return p.at(n - int((end-first)/stride))
		}
	}
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
