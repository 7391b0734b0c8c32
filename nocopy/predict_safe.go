//go:build nounsafe

package nocopy

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
