package memory

import "sync/atomic"

// own adds a block to the Space's blocks, unless it is nil.
func (s *Space) own(block *Block) {
	switch {
	case block == nil:
	case s.recycle:
		s.held = append(s.held, block)
	default:
		s.slabs = append(s.slabs, block)
	}
}

// AddChunk gives the memory of a chunk of one piece a position, without copying, and takes the
// chunk over. A Space that does not recycle can take only chunks that are not recycled.
func (s *Space) AddChunk(c Chunk) Pos {
	s.hold(c)
	p := s.AddPiece(c, 0)
	if p == segSize {
		s.flat = c.Mem
	}
	return p
}

// TakeOver takes over a chunk. It gives a chunk of one piece a position, without copying, and
// returns it. The pieces of other chunks have no positions until AddPiece gives them some; then
// TakeOver returns 0.
func (s *Space) TakeOver(c Chunk) Pos {
	if c.next == nil {
		return s.AddChunk(c)
	}
	for p := &c; p != nil; p = p.next {
		s.hold(*p)
	}
	return 0
}

// AddPiece gives positions to the bytes from byte n on of a piece that was taken over.
func (s *Space) AddPiece(c Chunk, n int) Pos {
	return s.addSegments(c.Mem[n:], segment{block: c.block, writable: c.writable()})
}

func (s *Space) hold(c Chunk) {
	if c.block == nil {
		return
	}
	if !s.recycle {
		panic("nocopy: recycled memory in a message that does not recycle")
	}
	s.held = append(s.held, c.block)
}

// ShareFrom gives the n bytes at position p of src a position in s, too, and returns it. It does
// not copy them. From then on neither Space stores into that memory. Concurrent calls for one src
// are allowed. Memory that is readOnly is copied if s does not recycle.
func (s *Space) ShareFrom(src *Space, p Pos, n int) Pos {
	src.freeze(p>>segBits, (p+Pos(n))>>segBits)
	from := &src.meta[p>>segBits]
	if from.block != nil && from.block.readOnly && !s.recycle {
		at, mem := s.AddBlock(n) // s would never release it
		copy(mem, src.At(p))
		return at
	}
	if from.block != nil {
		from.block.retain()
		s.held = append(s.held, from.block)
	}
	return s.addSegments(src.At(p)[:n:n], segment{block: from.block, foreign: from.foreign})
}

// Freeze makes all later stores go to new memory. Slices of the message's bytes therefore keep
// their contents until Free. Concurrent calls and reads are allowed.
func (s *Space) Freeze() { s.freeze(0, Pos(len(s.meta)-1)) }

// freeze makes the segments first to last unwritable.
func (s *Space) freeze(first, last Pos) {
	for i := first; i <= last; i++ {
		if m := &s.meta[i]; atomic.LoadUint32(&m.writable) != 0 {
			atomic.StoreUint32(&s.shared, 1)
			// The segment may be the tail's. If not, stores to the tail only take longer
			atomic.StoreUint32(&s.tailShared, 1)
			atomic.StoreUint32(&m.writable, 0)
		}
	}
}

// NeedsBlock reports whether a value of n bytes that is not at the tail takes a block of its own.
func NeedsBlock(n int) bool { return n >= ownBlockFrom }

// AddBlock returns n bytes in memory that is not the tail, with their position.
func (s *Space) AddBlock(n int) (Pos, []byte) {
	var d Draft
	if s.recycle || n >= SlabSize {
		d = s.draft(n)
	} else {
		d.mem = fresh(n)
	}
	s.own(d.block)
	mem := d.mem[:n:n]
	return s.addSegments(mem, segment{block: d.block, writable: 1}), mem
}

// AddAgain gives mem, which is a part of the tail, another position, higher than all others.
func (s *Space) AddAgain(mem []byte) Pos {
	return s.addSegments(mem, segment{block: s.tailMem, writable: 1})
}

// dropHeld gives back the recycled blocks, except the one at the tail if nobody else holds it.
func (s *Space) dropHeld(recycle bool) {
	for i, blk := range s.held {
		s.held[i] = nil
		// Strings that were read from this message alias the block and stay valid: leave it to the
		// garbage collector
		if !s.recycle {
			blk.abandon()
			continue
		}
		if recycle && blk == s.tailMem && blk.reusable() {
			continue // keep it: it is still in the processor's caches
		}
		if blk == s.tailMem {
			s.tail, s.tailMem, s.used = nil, nil, 0
		}
		blk.release()
	}
	s.held = s.held[:0]
}

// dropSlabs gives up the blocks of a Space that does not recycle. If no part of them was lent or
// shared, they go to their pools, except the one at the tail, which stays. Otherwise they are left
// to the garbage collector.
func (s *Space) dropSlabs() {
	clean := s.lent == 0 && s.shared == 0
	stays := clean && len(s.tail) <= keepRewound
	for i, blk := range s.slabs {
		s.slabs[i] = nil
		switch {
		case blk != s.tailMem && !clean:
		case blk != s.tailMem:
			blk.release()
		case !clean: // its rest may be the next message's tail
			s.tailMem = nil
		case !stays:
			s.tail, s.tailMem, s.used = nil, nil, 0
			blk.release()
		}
	}
	s.slabs = s.slabs[:0]
}

// Retire gives back the block that Free has kept for the next message. Call it when there will be
// none.
func (s *Space) Retire() {
	for _, blk := range append(s.held, s.slabs...) { // one of them is empty
		blk.release()
	}
	s.held, s.slabs, s.tail, s.tailMem = nil, nil, nil, nil
}

// OwnerOf returns the owner of the memory passed to BeginIn, and where the bytes [from, to) are in
// it: n bytes, beginning at byte at. The owner is nil if any of them is elsewhere.
func (s *Space) OwnerOf(from, to Pos) (owner Owner, at, n int) {
	if len(s.meta) < 2 {
		return nil, 0, 0
	}
	block := s.meta[1].block
	if block == nil || block.owner == nil || int(to) > segSize+len(block.mem) {
		return nil, 0, 0
	}
	return block.owner, int(from) - segSize, int(to - from)
}
