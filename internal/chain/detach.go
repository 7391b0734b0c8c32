package chain

// Detach returns the message in pieces of memory that the garbage collector owns and nobody stores
// into. The Buffer must be freed next, which leaves the pieces unchanged. Detach copies pieces
// shorter than below together, and other pieces shorter than long unless they are a caller's. It
// refers to all others. The Buffer must be sealed, and must not recycle.
func (b *Buffer) Detach(below, long int) [][]byte {
	if b.Recycles() {
		panic("nocopy: Detach of a Buffer that recycles")
	}
	refers := func(p piece) bool {
		n := int(p.to - p.from)
		return n >= below && (n >= long || b.Foreign(p.from))
	}
	copies, count := 0, 1
	for _, p := range b.pieces {
		if refers(p) {
			count += 2
		} else {
			copies += int(p.to - p.from)
		}
	}
	copied, out, from := make([]byte, 0, copies), make([][]byte, 0, count), 0
	end := func() {
		if n := len(copied); n > from {
			out, from = append(out, copied[from:n:n]), n
		}
	}
	for _, p := range b.pieces {
		if !refers(p) {
			copied = append(copied, b.mem(p)...)
			continue
		}
		end()
		out = append(out, b.mem(p))
		b.Lend()
	}
	end()
	return out
}
