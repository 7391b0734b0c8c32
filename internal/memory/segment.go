package memory

import "sync/atomic"

// zeroes is the memory at position 0: enough for every number and for the length of an empty text
// or list.
var zeroes = make([]byte, 64)

// CheckZeroes panics if something was stored into the page of zeroes, which all Spaces share.
func CheckZeroes() {
	if [64]byte(zeroes) != [64]byte{} {
		panic("nocopy: internal error: stored into the zeroes that all messages share")
	}
}

// segs is the memory of positions, a segment of 1 MiB after the other. A Space embeds it: At then
// costs the inliner one step less.
type segs [][]byte

// panicBeyond is the text of the panic for a value that reaches beyond its memory, because the
// bytes were changed after they were checked.
const panicBeyond = "nocopy: text reaches beyond its memory: the message's bytes were changed by somebody else"

// At returns the memory from position p to the end of its block, without copying. The bytes after
// the value that the caller knows to be at p are undefined.
func (s segs) At(p Pos) []byte { return s[p>>segBits][p&segMask:] }

// Writable reports whether values at p may be overwritten in place: the memory belongs to this
// Space alone.
func (s *Space) Writable(p Pos) bool { return atomic.LoadUint32(&s.meta[p>>segBits].writable) != 0 }

// Foreign reports whether the memory at p is a caller's: it was passed to AddForeign or ReferTo of
// this Space, or of one from which it was shared.
func (s *Space) Foreign(p Pos) bool { return s.meta[p>>segBits].foreign }

// Begins reports whether p is the first position of a segment.
func Begins(p Pos) bool { return p&segMask == 0 }

// Segments returns the number of segments that n bytes of contiguous memory take.
func Segments(n int) int { return int(uint(n)>>segBits) + 1 }

// Room reports whether n more bytes of contiguous memory can be given positions. Each piece of
// foreign memory takes a whole segment, even a small one. Callers should copy small pieces when
// segments become few.
func (s *Space) Room(n int) bool { return s.RoomAfter(0, n) }

// RoomAfter is Room after this many more segments have been taken.
func (s *Space) RoomAfter(segments, n int) bool {
	return len(s.segs)+segments+Segments(n) <= maxSegments
}

// CheckRoom panics unless there are positions for n more bytes of contiguous memory.
func (s *Space) CheckRoom(n int) {
	if !s.Room(n) {
		s.EndChange() // the message is unchanged, and the caller may use it further
		panic("nocopy: message larger than its address space of 2 GiB")
	}
}

// addSegments gives positions to mem and returns the first one. The position just after the last
// byte belongs to mem, too.
func (s *Space) addSegments(mem []byte, m segment) Pos {
	s.CheckRoom(len(mem))
	first := Pos(len(s.segs)) << segBits
	for off := 0; off <= len(mem); off += segSize {
		if len(s.segs) == cap(s.segs) {
			s.growSegments()
		}
		s.segs = append(s.segs, mem[off:])
		s.meta = append(s.meta, m)
	}
	return first
}

// growSegments makes room for more segments. It moves the first ones out of few and clears their
// places there, which would otherwise keep their memory alive.
func (s *Space) growSegments() {
	n := max(2*len(s.segs), 8)
	s.segs = append(make([][]byte, 0, n), s.segs...)
	s.meta = append(make([]segment, 0, n), s.meta...)
	s.few.segs, s.few.meta = [2][]byte{}, [2]segment{}
}

// dropSegments forgets all memory except the page of zeroes.
func (s *Space) dropSegments() {
	s.flat = nil
	switch len(s.segs) {
	case 0, 1:
		return
	case 2: // the usual case, in which a call of clear would cost most
		s.segs[1], s.meta[1].block = nil, nil
	default:
		clear(s.segs[1:])
		clear(s.meta[1:])
	}
	s.segs, s.meta = s.segs[:1], s.meta[:1]
}

// TakeBack removes the segments after that of p, up to that of end, so that other memory can get
// their positions. It does nothing unless end is in the last segment. No position in the removed
// segments may be used afterwards. At of earlier positions still reaches over the old memory: a
// value that gets the positions must be longer than what was left there.
func (s *Space) TakeBack(p, end Pos) {
	n := int(p>>segBits) + 1
	if int(end>>segBits) != len(s.segs)-1 {
		return
	}
	clear(s.segs[n:])
	clear(s.meta[n:])
	s.segs, s.meta = s.segs[:n], s.meta[:n]
}

// AddForeign gives the caller's memory a position, without copying it. With own, the Space may
// store into it from now on. Without own, nobody may, until the Space is freed.
func (s *Space) AddForeign(mem []byte, own bool) Pos {
	return s.addSegments(mem, segment{writable: asUint32(own), foreign: !own})
}

// Exchangeable reports whether n bytes of the caller's memory can get the positions [from, to).
func (s *Space) Exchangeable(from, to Pos, n int) bool {
	return Begins(from) && from != 0 && s.Foreign(from) && Segments(n) <= Segments(int(to-from))
}

// Exchange gives mem the positions [from, to) of other memory, which is not used any more.
// Exchangeable must have returned true.
func (s *Space) Exchange(from, to Pos, mem []byte) {
	first := from >> segBits
	for i := range Pos(Segments(int(to - from))) {
		s.segs[first+i] = mem[min(int(i)<<segBits, len(mem)):]
	}
}

// Small returns the foreign memory that contains p, or nil if a node costs no more than a copy of
// it. Replace may replace it.
func (s *Space) Small(p Pos) []byte {
	i := p >> segBits
	mem := s.segs[i]
	// If the segment before is a whole one, this may be the end of the same memory, which is also
	// read through that segment.
	if len(mem) > SmallForeign || s.meta[i].block != nil || len(s.segs[i-1]) >= segSize {
		return nil
	}
	return mem
}

// Replace makes the memory that contains p a copy of it, own, which is at the tail.
func (s *Space) Replace(p Pos, own []byte) {
	i := p >> segBits
	s.segs[i], s.meta[i], s.flat = own, segment{block: s.tailMem, writable: 1}, nil
}

// Crowded reports whether there are so many segments that calling Mark is worth its time.
func (s *Space) Crowded() bool { return uint32(len(s.segs)) > s.mostSegs }

// Mark makes Crowded false until there are twice as many segments, or, if positions are running
// out, a few more. When only the last segments are left, Crowded stays true.
func (s *Space) Mark() {
	most := max(2*len(s.segs), fewSegs)
	if most > manySegs {
		most = min(max(manySegs, len(s.segs)+moreSegs), lastSegs)
	}
	s.mostSegs = uint32(most)
}

// Ample reports whether at least three quarters of all positions are free.
func (s *Space) Ample() bool { return len(s.segs) <= maxSegments/4 }

// Short reports whether positions are running out.
func (s *Space) Short() bool { return len(s.segs) > manySegs }

// Scattered reports whether a message of this size takes so many more segments than it needs that
// half of the positions that it does not need are lost.
func (s *Space) Scattered(size int) bool {
	dead := len(s.segs) - size>>segBits // segments that compacting would free
	return dead >= max(manySegs-size>>segBits/2, 2*reserveSegs)
}

// RoomToChange reports whether a change that adds n bytes may begin: there are positions for the
// bytes, and for everything else that the change may need.
func (s *Space) RoomToChange(n int) bool { return s.RoomAfter(reserveSegs, n) }

// RoomOnceCompacted returns for how many bytes there would be RoomToChange if a message of this
// size were compacted; it may be negative.
func RoomOnceCompacted(size int) int {
	const most = (maxSegments - 2*reserveSegs) << segBits
	return most - 1 - size
}

// Taken returns the number of bytes of the Space's blocks and of foreign memory that has
// positions, used by the message or not.
func (s *Space) Taken() int {
	n := int(s.reserved)
	for i, mem := range s.segs {
		if m := &s.meta[i]; m.block == nil && atomic.LoadUint32(&m.writable) == 0 {
			n += min(len(mem), segSize)
		}
	}
	return n
}
