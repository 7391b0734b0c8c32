package parse

import "github.com/nocopythrift/nocopythrift/nocopy/internal/program"

// The loop's steps over structs and containers that it does not index.

// passOp returns the index after the struct or container that o, the op at pc, expects. Its header
// ends at index at. If it is not whole in the window, or not as programs foresee it, passOp
// returns an index that is not in the window.
func (s *machine) passOp(o program.Op, pc, at uint64) uint64 {
	n := uint32(1)
	if o.Kind() != program.KindStruct {
		n = loadBE32(s.mem(), at-4)
		if !s.fits(o, shapeAt(s.code, pc), n, at) {
			return nowhere
		}
		if n == 0 {
			return at
		}
	}
	return s.passElements(o, pc, at, n)
}

// passElements passes n elements, n at least 1, of the kind that the op expects, and returns the
// same as passOp. The first element is at index at. For a struct n is 1.
func (s *machine) passElements(o program.Op, pc, at uint64, n uint32) uint64 {
	inside, structs := toAt(s.code, pc)>>32, int32(0)
	switch kind := o.Kind(); kind {
	case program.KindNumbers:
		return at + uint64(n)*uint64(uint8(shapeAt(s.code, pc)))
	case program.KindTexts:
		return texts[passing](s, o, s.idx, n, at)
	case program.KindTextPairs:
		return texts[passing](s, o, s.idx, 2*n, at)
	case program.KindStruct, program.KindStructs:
		if structs = 1; s.deeper <= 0 {
			return nowhere
		}
		if o&program.OpFlat != 0 && kind == program.KindStructs {
			if at, n = flats[passing](s, inside, s.idx, uint32(shapeAt(s.code, pc)>>program.ShapeWords), n, at); n == 0 {
				return at
			}
		}
	}
	return s.pass(inside, at, n-1, structs)
}

// pass passes the value at index at, whose program is at pc, and left more such values. It returns
// the index after them, or one that is not in the window. structs is 1 if they are structs, else
// 0.
func (s *machine) pass(pc, at uint64, left uint32, structs int32) uint64 {
	top, bottom, deeper := s.top, s.bottom, s.deeper
	s.pc, s.at, s.left, s.bottom, s.deeper = uint32(pc), at, left, top, deeper-structs
	why := run[passing](s)
	s.top, s.bottom, s.deeper = top, bottom, deeper
	if why != finished {
		return nowhere
	}
	return s.at
}
