package memory

// Draft is memory for bytes that are written before they belong to a message. It is a block of its
// own. AdoptTail makes the block the tail of a Space. The zero Draft stands for the free memory at
// the tail.
type Draft struct {
	mem   []byte
	block *Block // nil if the garbage collector owns the memory
}

// NewDraft returns a Draft for at least n bytes. Only s can adopt it.
func (s *Space) NewDraft(n int) Draft { return s.draft(max(n, SlabSize)) }

// draft returns memory of the given size.
func (s *Space) draft(size int) Draft {
	switch {
	case s.recycle:
		block := newBlock(size)
		return Draft{block.mem, block}
	case !Debugging:
		block := newSlab(size)
		return Draft{block.mem, block}
	}
	return Draft{mem: fresh(size)}
}

// Mem returns the memory for the bytes.
func (d *Draft) Mem() []byte { return d.mem }

// Zero reports whether d is zero: its bytes are in the free memory at the tail.
func (d *Draft) Zero() bool { return d.mem == nil }

// Drop gives the Draft's memory up. It does nothing for a zero Draft.
func (d *Draft) Drop() {
	if d.block != nil {
		d.block.release()
	}
	*d = Draft{}
}
