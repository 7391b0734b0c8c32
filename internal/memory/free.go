package memory

// layout says which segments a Space has after the page of zeroes.
type layout uint8

const (
	noTable         layout = iota // it has not even the page: it was never used, or was shrunk
	onlyReferred                  // one, not the tail, and no block is held
	onlyTail                      // the tail
	referredAndTail               // one, then the tail
	otherwise
)

// Edits says how much the message was changed after it had begun.
type Edits uint8

const (
	Unchanged Edits = iota // it is sealed and one span, at FirstPos, and has no nodes
	Appended               // it has no nodes
	Edited
)

// nextState returns the state of a Space that is freed. was is its state, InUse or Referring, and
// reusable reports whether the next message may begin in the tail (tailReusable). Free does what
// the state requires. The rows of the table are tried in this order:
//
//	segments         other conditions      next state
//	noTable                                was
//	onlyReferred     Unchanged             ReadyToRefer: a message that was only read
//	onlyTail         not Edited, reusable  ReadyToBuild: a message that was built in one block
//	referredAndTail  Referring, reusable   ReadyToRefer: a received message, then edited
//	any other                              Ready
func nextState(was State, l layout, e Edits, reusable bool) State {
	switch {
	case l == noTable:
		return was
	case l == onlyReferred && e == Unchanged:
		return ReadyToRefer
	case l == onlyTail && e != Edited && reusable:
		return ReadyToBuild
	case l == referredAndTail && was == Referring && reusable:
		return ReadyToRefer
	}
	return Ready
}

func (s *Space) layout() layout {
	switch {
	case len(s.segs) == 3 && s.tailPos == 2*segSize:
		return referredAndTail
	case len(s.segs) == 2 && s.tailPos == segSize:
		return onlyTail
	case s.OnlyReferred():
		return onlyReferred
	case len(s.segs) == 0:
		return noTable
	}
	return otherwise
}

// OnlyReferred reports whether the Space has one piece of memory, which is neither the tail nor a
// block. If the message is Unchanged, too, Forget does what Free does.
func (s *Space) OnlyReferred() bool { return s.tailPos == 0 && len(s.segs) == 2 && len(s.held) == 0 }

// Forget is Free for an Unchanged message that is OnlyReferred: the usual case of a message that
// was only read.
func (s *Space) Forget() {
	s.segs[1] = nil
	s.flat = nil
	s.state = ReadyToRefer
	if s.shared|s.slow != 0 {
		s.tailShared, s.shared, s.slow = 0, 0, 0
	}
}

// Free gives all memory up, except what the state that it returns keeps for the next message. The
// block at the tail is used again from its beginning if no part of it was lent or shared.
func (s *Space) Free(e Edits) State {
	if !s.recycle && s.lent == 0 && len(s.tail) <= keepRewound && s.shared == 0 {
		s.used = 0
	}
	l := s.layout()
	s.state = nextState(s.state, l, e, l != otherwise && s.tailReusable())
	switch {
	case s.state == Ready:
		s.drop(s.recycle)
	case s.state == ReadyToRefer && l == onlyReferred:
		s.Forget()
	case s.state == ReadyToRefer:
		s.segs[1], s.meta[1].block, s.flat = nil, nil, nil
		s.used, s.shared = 0, 0
		s.end()
	case s.state == ReadyToBuild:
		s.end()
	}
	return s.state
}

// tailReusable reports whether the next message, if it recycles or not like this one, may use the
// block at the tail from its beginning. Free has rewound the tail if it does not recycle.
func (s *Space) tailReusable() bool {
	if s.shared|s.slow != 0 || len(s.tail) < keepTail {
		return false
	}
	if !s.recycle {
		return s.used == 0
	}
	return len(s.held) == 1 && s.held[0] == s.tailMem && s.tailMem.reusable()
}

// end removes all facts about the message. It leaves the memory as it is.
func (s *Space) end() {
	s.reserved, s.lent = 0, 0
	s.changing = false
}

// drop gives up all memory, except one block, or the rest of one, that can be the tail of the next
// message. recycle reports whether that message recycles.
func (s *Space) drop(recycle bool) {
	if len(s.held) > 0 {
		s.dropHeld(recycle)
	}
	if len(s.slabs) > 0 {
		s.dropSlabs()
	}
	switch {
	case s.tailMem != nil:
		s.tail, s.used, s.recycle = s.tailMem.mem, 0, recycle
		s.own(s.tailMem)
	case recycle || len(s.tail)-s.used < keepTail:
		s.tail, s.used = nil, 0
	default:
		s.tail, s.used = s.tail[s.used:], 0
	}
	s.tailPos = 0 // the next message gives it a position when it is first written to
	s.tailShared, s.shared, s.slow = 0, 0, 0
	s.dropSegments()
	s.end()
	s.mostSegs = fewSegs
}

// IsReady reports whether the Space is Ready for a message that recycles or not.
func (s *Space) IsReady(recycle bool) bool { return s.state == Ready && recycle == s.recycle }

// Start empties a Space in any state, and makes its tables if it has none.
func (s *Space) Start(recycle bool) {
	if len(s.segs) == 0 {
		s.segs, s.meta = s.few.segs[:0], s.few.meta[:0]
		s.addSegments(zeroes, segment{})
	}
	s.drop(recycle)
	s.recycle = recycle
}

// Use notes that the Space, which IsReady, holds a message.
func (s *Space) Use() { s.state = InUse }

// Rebuild begins a message in the tail that Free has kept, after so many unused bytes. It returns
// false, and does nothing, if the Space has not kept one for such a message.
func (s *Space) Rebuild(recycle bool, headroom int) bool {
	if s.state != ReadyToBuild || recycle != s.recycle || headroom > keepTail-2 {
		return false
	}
	s.used = 1 + headroom
	s.state = InUse
	return true
}

// BeginIn makes the memory of c, which is from HoldOwned, the tail of a new message. The Space
// must recycle. Bytes that do not fit there go into blocks of the Space's own.
func (s *Space) BeginIn(c Chunk) {
	if s.tailMem != nil { // kept for the next message; no other block is held
		s.tailMem.release()
	}
	clear(s.held)
	s.held = s.held[:0]
	s.tail, s.tailMem, s.used = c.Mem, c.block, 0
	s.reserved += uint32(len(c.Mem))
	s.ownTail()
}

// ReferTo makes mem, the caller's memory, the first memory of a Space that IsReady, without
// copying it. It returns the position of the first byte. With own, the Space may store into mem.
func (s *Space) ReferTo(mem []byte, own bool) Pos {
	p := s.AddForeign(mem, own)
	s.flat, s.lent = mem, 1
	s.state = Referring
	return p
}

// CanReferAgain reports whether ReferAgain can take the place of Start and ReferTo.
func (s *Space) CanReferAgain(mem []byte, recycle bool) bool {
	return s.state == ReadyToRefer && recycle == s.recycle && len(mem) < segSize
}

// ReferAgain is ReferTo for a Space that is ReadyToRefer. The position is FirstPos.
func (s *Space) ReferAgain(mem []byte, own bool) {
	s.state = Referring
	s.segs[1], s.meta[1].writable, s.meta[1].foreign, s.flat = mem, asUint32(own), !own, mem
}

// Renew takes new memory for size bytes, to which the message will be copied, and returns it. The
// message goes on there, after start bytes; it has room for more or, with exact, hardly any. Call
// Move next. The earlier memory is left to the garbage collector and does not go back to a pool,
// so that slices of it stay valid. Memory of an Owner is returned when the Space is freed.
func (s *Space) Renew(start, size int, exact bool) []byte {
	if exact && !s.recycle && len(s.tail) <= SlabSize {
		shareRest(s.tail[s.used:])
	}
	owned := s.held[:0]
	for _, blk := range s.held {
		if blk.owner != nil {
			owned = append(owned, blk)
		} else {
			blk.abandon()
		}
	}
	clear(s.held[len(owned):])
	clear(s.slabs)
	s.held, s.slabs = owned, s.slabs[:0]
	size += start
	if !exact {
		size = max(size+afterLarge, SlabSize)
	}
	if exact && (!s.recycle || size < 1<<minClass) { // pools have only larger blocks
		s.tail, s.tailMem = fresh(size), nil
	} else {
		s.takeTail(size)
	}
	s.reserved = uint32(size)
	return s.tail[:start]
}

// Move gives up all memory except the block of Renew. The first used bytes of that are in use.
func (s *Space) Move(used int) {
	reserved := s.reserved
	s.dropSegments()
	s.end()
	s.reserved = reserved
	s.shared, s.tailPos, s.state = 0, 0, InUse
	s.used = used
	s.ownTail()
}

// InOneBlock reports whether all memory is the block at the tail.
func (s *Space) InOneBlock() bool { return len(s.segs) == 2 && s.tailPos == segSize }

// InSmall reports whether so little memory is in use that copying the message costs less than a
// node. Values that were stitched of two blocks, outside the message, would have added segments.
func (s *Space) InSmall() bool { return len(s.segs) <= 3 && s.used <= 4*SmallForeign }

// Footprint returns about how many bytes the Space's own memory and its tables take.
func (s *Space) Footprint() int { return s.Taken() + 32*cap(s.segs) }

// Shrink gives up the tables, which may have grown larger than the next messages need. The Space
// must be free.
func (s *Space) Shrink() {
	s.segs, s.meta = nil, nil
	s.state = InUse
}
