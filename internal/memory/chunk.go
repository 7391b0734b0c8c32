package memory

// Chunk is a list of pieces of memory with received bytes. They belong to the caller of
// Receiver.Take, who may store into them. The garbage collector owns the memory of a piece without
// a block.
type Chunk struct {
	Mem   []byte
	block *Block
	next  *Chunk
}

// NewChunk returns a chunk of n bytes, contents undefined. With recycle, its memory comes from
// pools.
func NewChunk(n int, recycle bool) Chunk {
	if !recycle {
		return Chunk{Mem: fresh(n)}
	}
	b := newReceived(n)
	return Chunk{Mem: b.mem[:n:n], block: b}
}

// Next returns the list of the pieces after the first, or nil.
func (c Chunk) Next() *Chunk { return c.next }

// Len returns the number of bytes in all pieces.
func (c Chunk) Len() int {
	n := 0
	for p := &c; p != nil; p = p.next {
		n += len(p.Mem)
	}
	return n
}

// Release gives back the memory of all pieces. Recycled memory must not be used afterwards. Do not
// call Release if a Buffer has taken the chunk over.
func (c Chunk) Release() {
	for p := &c; p != nil; p = p.next {
		if p.block != nil {
			p.block.release()
		}
	}
}

// First returns the first n bytes of a chunk, without taking a reference of its own. If it is in
// pieces, n must be the number of its bytes.
func (c Chunk) First(n int) Chunk {
	if c.next == nil {
		c.Mem = c.Mem[:n]
	}
	return c
}

// From returns the rest of the chunk from its byte n on, which must be in its first piece. Both
// the chunk and its rest must be released.
func (c Chunk) From(n int) Chunk {
	for p := &c; p != nil; p = p.next {
		if p.block != nil {
			p.block.retain()
		}
	}
	return Chunk{c.Mem[n:], c.block, c.next}
}

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

// writable returns 1 if a Buffer that takes the chunk over may store into it, else 0.
func (c Chunk) writable() uint32 { return asUint32(c.block == nil || !c.block.readOnly) }

// CopyWarm is copy for memory that will be used again soon: it keeps dst in the processor's
// caches. The built-in copy bypasses them from 1 MiB on. It returns the number of bytes copied.
func CopyWarm(dst, src []byte) int {
	const most = 256 << 10
	n := 0
	for ; len(src)-n > most && len(dst)-n > most; n += most {
		copy(dst[n:n+most], src[n:])
	}
	return n + copy(dst[n:], src[n:])
}

// asUint32 returns 1 for true, for fields that are accessed atomically.
func asUint32(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}
