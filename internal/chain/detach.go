package chain

// HoldPieces returns a chunk of foreign pieces of memory, such as a network library's buffers.
// They may be stored into. free is called once, by the goroutine that releases the last of them.
// There must be at least one piece. Only a Buffer that recycles can take the chunk over.
func HoldPieces(pieces [][]byte, free func()) Chunk {
	b := newForeign(returnFunc(free), len(pieces))
	c := Chunk{Mem: pieces[0], block: b}
	for last, i := &c, 1; i < len(pieces); i++ {
		last.next = &Chunk{Mem: pieces[i], block: b}
		last = last.next
	}
	return c
}

// returnFunc is an Owner that consists of a function.
type returnFunc func()

func (f returnFunc) Return() { f() }

// HoldOwned returns a chunk of one piece of memory that belongs to owner. It is returned to owner
// after its last release. Memory that is readOnly is never stored into, and a Buffer that does not
// recycle copies it instead of sharing it. BeginIn takes memory that is not.
func HoldOwned(mem []byte, owner Owner, readOnly bool) Chunk {
	b := newForeign(owner, 1)
	b.mem, b.readOnly = mem, readOnly
	return Chunk{mem, b, nil}
}

// Detach returns the message in pieces of memory that the garbage collector owns and nobody stores
// into. The Buffer must be freed next, which leaves the pieces unchanged. Detach copies pieces
// shorter than below together, and other pieces shorter than long unless they are a caller's. It
// refers to all others. The Buffer must be sealed, and must not recycle.
func (b *Buffer) Detach(below, long int) [][]byte {
	if b.recycle {
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

// AppendPieces appends the parts of the message that are contiguous in memory to dst, in wire
// order. The Buffer must be sealed; the bytes alias it.
func (b *Buffer) AppendPieces(dst [][]byte) [][]byte {
	for _, p := range b.pieces {
		dst = append(dst, b.mem(p))
	}
	return dst
}
