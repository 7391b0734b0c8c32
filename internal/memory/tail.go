package memory

import "encoding/binary"

// Tail returns the position at which the next bytes are appended, if they need no new block.
func (s *Space) Tail() Pos { return s.tailPos + Pos(s.used) }

// FreeTail returns the unused memory of the block at the tail.
func (s *Space) FreeTail() []byte { return s.tail[s.used:] }

// Left returns the number of unused bytes of the block at the tail.
func (s *Space) Left() int { return len(s.tail) - s.used }

// InTail reports whether the n bytes at position p are in the block at the tail and may be stored
// into by Put8 and the like. Most bytes of a message that is being built are.
func (s *Space) InTail(p Pos, n int) bool {
	return uint64(p-s.tailPos)+uint64(n) <= uint64(s.used) && s.tailShared == 0
}

// Fits reports whether AppendShort and AppendFitting may be called for n bytes: n is at most
// MaxShort, and the block at the tail has room for the bytes and their head.
func (s *Space) Fits(n int) bool { return n <= MaxShort && n+maxLead < len(s.tail)-s.used }

// ToFit returns how many bytes must be Left so that Fits(n) is true.
func ToFit(n int) int { return n + maxLead + 1 }

// AppendFitting appends one byte in the block at the tail, and returns its position. There must be
// room for it there, see Fits.
func (s *Space) AppendFitting(v byte) Pos {
	i := s.used
	s.tail[i] = v
	s.used = i + 1
	return s.tailPos + Pos(i)
}

// AppendHead appends the high lead bytes of head, at most 8, in the block at the tail, and returns
// the position of the first. There must be room for them there, see Fits.
func (s *Space) AppendHead(head uint64, lead int) Pos {
	i := s.used
	binary.BigEndian.PutUint64(s.tail[i:], head)
	s.used = i + lead
	return s.tailPos + Pos(i)
}

// Advance appends the first n bytes of FreeTail.
func (s *Space) Advance(n int) { s.used += n }

// Retract frees the last k bytes of the tail, and moves the n bytes that follow them down to their
// place.
func (s *Space) Retract(k, n int) {
	from := s.tail[s.used:][:n]
	s.used -= k
	copy(s.tail[s.used:], from)
}

// Rewind frees the bytes of the tail from position p on, and returns them.
func (s *Space) Rewind(p Pos) []byte {
	start := int(p - s.tailPos)
	old := s.tail[start:s.used]
	s.used = start
	return old
}

// Since returns the bytes of the tail from position p on.
func (s *Space) Since(p Pos) []byte { return s.tail[p-s.tailPos : s.used] }

// TakeEnd takes the last n bytes of the block at the tail away from it, which must have so many
// Left, and returns them with their position.
func (s *Space) TakeEnd(n int) (Pos, []byte) {
	end := len(s.tail) - n
	mem := s.tail[end:]
	s.tail = s.tail[:end:end]
	return s.tailPos + Pos(end), mem
}

// Gap leaves one byte unused, because no two runs may share a position. It makes sure that the
// tail has writable room for n+1 bytes.
func (s *Space) Gap(n int) {
	// The tail has no segment yet, or was shared in the meantime: continue in a new segment
	if len(s.tail) > 0 && !s.Writable(s.tailPos) {
		s.CheckRoom(len(s.tail) - s.used)
		s.tail = s.tail[s.used:]
		s.used = 0
		s.addTail()
	}
	if s.used+n+2 > len(s.tail) {
		s.NewTail(n + 2)
	}
	s.used++
}

// TailSize returns the size of a new block at the tail for n bytes. It panics if there are no
// positions left for it: call it before changing anything.
func (s *Space) TailSize(n int) int {
	reserved := int(s.reserved)
	size := min(max(reserved, SlabSize), MaxSlabSize)
	if n > size/4 {
		size = n + afterLarge
		if size < MaxSlabSize {
			size = max(size, min(reserved+n, MaxSlabSize))
		}
	}
	s.CheckRoom(size)
	return size
}

// NewTail makes a new block of at least n bytes the tail. The rest of the old one stays unused.
func (s *Space) NewTail(n int) {
	size := s.TailSize(n)
	var rest []byte
	if !s.recycle && size == SlabSize {
		rest = restOfSlab()
	}
	if rest != nil {
		s.tail, s.tailMem = rest, nil
	} else {
		s.takeTail(size)
	}
	s.reserved += uint32(size)
	s.used = 0
	s.ownTail()
}

// Fit makes sure that n bytes fit into the tail, to be placed or appended to a run that is about
// to be opened. If they are few and the tail has no room, it gets memory of their size, since the
// message is complete with them. No run may be open.
func (s *Space) Fit(n int) {
	size := n + 2 // with the bytes that Gap leaves unused
	switch {
	case size > smallPart, s.used+size <= len(s.tail):
		return
	case s.recycle:
		s.takeTail(size)
	default:
		s.tail, s.tailMem = partOfSlab(size), nil
	}
	s.reserved += uint32(len(s.tail))
	s.used = 0
	s.ownTail()
}

// takeTail makes new memory of the given size the tail. ownTail has to be called next.
func (s *Space) takeTail(size int) {
	d := s.draft(size)
	if !s.recycle {
		d.mem = d.mem[:size:size] // no more than that, see afterLarge
	}
	s.tail, s.tailMem = d.mem, d.block
}

// ownTail adds the tail to the Space's blocks and gives it positions.
func (s *Space) ownTail() {
	s.own(s.tailMem)
	s.addTail()
}

// addTail gives the block at the tail its positions.
func (s *Space) addTail() {
	if s.tailPos == 0 { // lent memory was not the Space's own before
		s.lent = 0
	}
	s.tailPos = s.addSegments(s.tail, segment{block: s.tailMem, writable: 1})
	s.tailShared = s.slow
}

// AdoptTail makes d the tail, none of whose bytes are in use yet. d is zero afterwards.
func (s *Space) AdoptTail(d *Draft) {
	s.CheckRoom(len(d.mem))
	s.reserved += uint32(len(d.mem))
	s.tail, s.tailMem = d.mem, d.block
	*d = Draft{}
	s.used = 0
	s.ownTail()
}
