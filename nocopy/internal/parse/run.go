package parse

import (
	"unicode/utf8"

	"github.com/nocopythrift/nocopythrift/internal/entry"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/index"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/program"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// run goes on with the program until it has ended, or there is something that resume has to do:
// then pc is the op in question. It returns why it has stopped.
//
// An op is met if what it reaches is in the window and begins with its header. The contents of a
// text may end after the window: then no other op of the struct is met, not even its STOP.
//
// The labels are the phases of the loop. At next, the op at pc is to be tried. At later, Lazy
// passes over a value. At pop, a struct or container has ended. At missed, an op is not met.
func run[M mode](s *machine) reason {
	var m M
	// 1. These are constants in the loop that the compiler makes for a mode, and cost nothing.
	// 2. The machine's state is in local variables, which the compiler keeps in registers.
	stores, checks, lazy := len(m) != modePasses, len(m)&modeChecks != 0, len(m)&modeLazy != 0
	code, mem, size := s.code, s.mem(), s.size
	pc, at, left, head := uint64(s.pc), s.at, s.left, s.head
	w := entryAt(s.idx, s.entry)
	why := unforeseen
	var f *level
next:
	for {
		o := opAt(code, pc)

		// Fields that are texts or of fixed size follow each other here, without the switch.
		//
		// 1. Only their ops have no sign: one comparison tells them from all others.
		// 2. An op reaches 4 bytes or more. One comparison with the window's size, before the load,
		//    is therefore enough for the header, the value, and the length of a text.
		// 3. A header has 3 bytes and is compared as a number of 4, without the uppermost.
		// 4. The end of a text's contents is not compared: the next op's end, which is further, is.
		// 5. Words are not zeroed in advance: each op that is tried writes its own, here or at missed.
		for int64(o) >= 0 {
			end := at + reachAt(code, pc)
			if end > size || (load32(mem, at)^uint32(o))&program.HeaderMask != 0 {
				goto missed
			}
			if o&program.OpText != 0 {
				n := uint64(loadBE32(mem, at+wire.FieldHeader))
				if checks && o&program.OpString != 0 && !s.valid(end, n) {
					goto missed
				}
				end += n
			}
			if stores {
				put(w, uint32(o>>program.OpWord), head+uint32(at))
			}
			at = end
			pc += program.CellSize
			o = opAt(code, pc)
		}

		switch kind := o.Kind(); {
		case kind == program.KindStop:
			if at >= size || load8(mem, at) != byte(wire.Stop) {
				break next
			}
			if stores {
				put(w, entry.End, head+uint32(at)-wire.FieldHeader)
			}
			at++
			// The next struct of a list begins at once:
			//
			// 1. One level is for all structs of the list, and nothing is popped and pushed.
			// 2. Their entries follow each other: the op has their size, and w is moved by it.
			if left > 0 {
				left--
				if stores {
					w = wordsAfter(w, o.Word())
					put(w, entry.Start, head+uint32(at)-wire.FieldHeader)
				}
				pc = toAt(code, pc) >> 32
				continue next
			}
			s.deeper++
			goto pop

		case kind == program.KindStruct:
			e, end := s.used, at+o.Reach()
			if o&program.OpBare != 0 {
				if end > size {
					goto missed
				}
			} else if end >= size || (load32(mem, at)^uint32(o))&program.HeaderMask != 0 {
				goto missed
			}
			if lazy && o&program.OpLater != 0 {
				goto later
			}
			if stores {
				words := uint64(shapeAt(code, pc) >> program.ShapeWords)
				if uint64(e)+words > uint64(s.room) {
					why = indexFull
					break next
				}
				put(w, o.Word(), e)
				s.used = e + uint32(words)
			}
			if s.deeper <= 0 {
				why = tooManyStructs
				break next
			}
			if s.top == s.height() {
				why, s.used = levelsFull, e
				break next
			}
			// 1. A level has numbers and no pointers: storing it needs no write barrier.
			// 2. The entry's number is found by w, which saves a register for it in the loop.
			f = s.level(s.top)
			f.pc, f.left, f.list = uint32(pc)+2*program.CellSize, left, 0
			if stores {
				f.entry = number(s.idx, w)
				w = entryAt(s.idx, e)
				put(w, entry.Start, head+uint32(end)-wire.FieldHeader)
			}
			s.top++
			s.deeper--
			left, at = 0, end
			pc = toAt(code, pc) >> 32
			continue next

		case kind <= program.KindContainer: // or KindNumbers, KindTexts, KindTextPairs, KindStructs
			e, end := s.used, at+o.Reach()
			if o&program.OpBare != 0 {
				if end > size {
					goto missed
				}
			} else if end >= size || (load32(mem, at)^uint32(o))&program.HeaderMask != 0 {
				goto missed
			}
			if lazy && o&program.OpLater != 0 {
				goto later
			}
			shape, n := shapeAt(code, pc), loadBE32(mem, end-4)
			if !s.fits(o, shape, n, end) {
				goto missed
			}
			// The entry is written where it will be, but is not in use yet:
			//
			// 1. There is room for all elements before one is looked at.
			// 2. Only at the end, or when the elements are gone into, s.used counts it and word w
			//    refers to it. An op that is missed before has nothing to undo.
			per, l := uint32(shape>>program.ShapeWords), w
			words := entry.ListWords + uint64(n)*uint64(per)
			if stores {
				if uint64(e)+words > uint64(s.room) {
					why = indexFull
					break next
				}
				l = entryAt(s.idx, e)
				put(l, entry.ListStart, head+uint32(end)-wire.FieldHeader)
				put(l, entry.ListCount, n)
				put(l, entry.ListElems, e+entry.ListWords)
				if kind == program.KindStructs {
					put(l, entry.ListRoom, per)
				} else {
					put(l, entry.ListRoom, n)
				}
				put(l, entry.ListType, uint32(typeAt(code, pc)))
			}
			// 1. Elements that are all alike are indexed by a loop of their own, at once. It returns
			//    an end outside of the window if something in it is odd.
			// 2. Structs of texts and fields of fixed size are, too, as far as they have all fields in
			//    order. The machine goes on with the first that does not.
		elements:
			switch {
			case n == 0:
			case kind == program.KindNumbers:
				end += uint64(n) * uint64(uint8(shape))
			case kind == program.KindTexts:
				end = texts[M](s, o, l, n, end)
			case kind == program.KindTextPairs:
				end = textPairs[M](s, o, l, n, end)
			default:
				if o&program.OpNested != 0 && s.after > 0 { // there may be no way back
					goto missed
				}
				if kind == program.KindStructs && s.deeper <= 0 {
					why = tooManyStructs
					break next
				}
				if s.top == s.height() {
					why = levelsFull
					break next
				}
				if stores {
					l = wordsAfter(l, entry.ListWords)
				}
				if !checks && o&program.OpFlat != 0 && kind == program.KindStructs {
					all := n
					if end, n = flats[M](s, toAt(code, pc)>>32, l, per, n, end); n == 0 {
						break elements
					}
					if stores {
						l = wordsAfter(l, (all-n)*per)
					}
				}
				if stores {
					put(w, o.Word(), e)
					s.used = e + uint32(words)
				}
				f = s.level(s.top)
				f.pc, f.left, f.list = uint32(pc)+2*program.CellSize, left, 0
				if stores {
					f.entry, f.list = number(s.idx, w), e
					w = l
				}
				if kind == program.KindStructs {
					s.deeper--
					if stores {
						put(w, entry.Start, head+uint32(end)-wire.FieldHeader)
					}
				}
				s.top++
				left, at = n-1, end
				pc = toAt(code, pc) >> 32
				continue next
			}
			if end > size {
				goto missed
			}
			if stores {
				put(entryAt(s.idx, e), entry.ListEnd, head+uint32(end)-wire.FieldHeader)
				put(w, o.Word(), e)
				s.used = e + uint32(words)
			}
			at = end
			pc += 2 * program.CellSize
			continue next

		case kind <= program.KindNext: // or KindUnionStop, KindEnded
			if kind == program.KindUnionStop {
				if at >= size || load8(mem, at) != byte(wire.Stop) {
					break next
				}
				if stores {
					put(w, entry.End, head+uint32(at)-wire.FieldHeader)
					put(w, entry.Arm, lastOf(w, o.Word(), uint32(o.Reach())))
				}
				at++
			}
			if stores && o&program.OpMap != 0 {
				put(w, entry.PairNode, 0)
			}
			if left > 0 { // as after a STOP
				left--
				if stores {
					w = wordsAfter(w, o.Word())
					if kind != program.KindNext {
						put(w, entry.Start, head+uint32(at)-wire.FieldHeader)
					}
				}
				pc = toAt(code, pc) >> 32
				continue next
			}
			if kind != program.KindNext {
				s.deeper++
			}
			goto pop

		case kind <= program.KindText: // or KindFixed
			end := at + o.Reach()
			if end > size {
				break next
			}
			if kind == program.KindText {
				n := uint64(loadBE32(mem, at))
				if end+n > size || checks && o&program.OpString != 0 && !s.valid(end, n) {
					break next
				}
				end += n
			}
			if stores {
				put(w, o.Word(), head+uint32(at)-wire.FieldHeader)
			}
			at = end
			pc += program.CellSize
			continue next

		case kind == program.KindFork:
			// 1. A sender writes all structs of a type in the order of the program or in that of New. The
			//    first op that is missed is where they part.
			// 2. The header here may be the other order's only because the fields before it are absent.
			//    If the op has a reach, the header after it must be the other order's, too.
			other, second := toAt(code, pc)>>32, at+o.Reach()
			if second+4 <= size && o.Is(load32(mem, at)) &&
				(second == at || opAt(code, other+program.CellSize).Is(load32(mem, second))) {
				pc = other
			} else {
				pc = uint64(uint32(toAt(code, pc)))
			}
			continue next

		case kind == program.KindDone:
			s.at = at
			return finished

		default: // KindQuit
			pc = toAt(code, pc) >> 32
			break next
		}

	later:
		// Lazy notes where the value begins, and a machine that stores nothing finds its end.
		if after := s.passOp(o, pc, at+o.Reach()); after <= size {
			put(w, o.Word(), uint32(index.LazyAt(head+uint32(at))))
			at = after
			pc += 2 * program.CellSize
			continue next
		}
		break next

	pop:
		// A struct or container has ended: the one that it is in goes on.
		if s.top == s.bottom {
			s.at = at
			return finished
		}
		s.top--
		f = s.level(s.top)
		if stores {
			if f.list != 0 {
				put(entryAt(s.idx, f.list), entry.ListEnd, head+uint32(at)-wire.FieldHeader)
			}
			w = entryAt(s.idx, f.entry)
		}
		pc, left = uint64(f.pc), f.left
		continue next

	missed:
		// The field may be absent: its word says so, and the program tells what to try then.
		if stores {
			put(w, o.Word(), 0)
		}
		pc = uint64(uint32(toAt(code, pc)))
	}
	s.at, s.left, s.pc = at, left, uint32(pc)
	if stores {
		s.entry = number(s.idx, w)
	}
	return why
}

// nowhere is an index that is in no window.
const nowhere = 1 << 62

// texts indexes n texts, n at least 1, of the list of entry l. The first one is at index at. It
// returns the index after them, or one that is not in the window.
//
//go:noinline
func texts[M mode](s *machine, o program.Op, l wordsAt, n uint32, at uint64) uint64 {
	var m M
	mem, size, base := s.mem(), s.size, s.head-wire.FieldHeader
	if size < wire.TextHeader {
		return nowhere
	}
	last := size - wire.TextHeader
	for k := uint32(entry.ListWords); n > 0; n-- {
		if at > last {
			return nowhere
		}
		x := uint64(loadBE32(mem, at))
		if len(m)&modeChecks != 0 && o&program.OpString != 0 && !s.valid(at+wire.TextHeader, x) {
			return nowhere
		}
		if len(m) != modePasses {
			put(l, k, base+uint32(at))
			k++
		}
		at += wire.TextHeader + x
	}
	return at
}

// textPairs indexes n pairs, n at least 1, of the map of entry l. The first one is at index at. It
// returns the index after them, or one that is not in the window.
//
//go:noinline
func textPairs[M mode](s *machine, o program.Op, l wordsAt, n uint32, at uint64) uint64 {
	var m M
	if len(m) == modePasses {
		return texts[M](s, o, l, 2*n, at)
	}
	mem, size, base := s.mem(), s.size, s.head-wire.FieldHeader
	if size < wire.TextHeader {
		return nowhere
	}
	last := size - wire.TextHeader
	for l = wordsAfter(l, entry.ListWords); ; l = wordsAfter(l, entry.PairWords) {
		if at > last {
			return nowhere
		}
		x := uint64(loadBE32(mem, at))
		if len(m)&modeChecks != 0 && o&program.OpStringKeys != 0 && !s.valid(at+wire.TextHeader, x) {
			return nowhere
		}
		value := at + wire.TextHeader + x
		if value > last {
			return nowhere
		}
		x = uint64(loadBE32(mem, value))
		if len(m)&modeChecks != 0 && o&program.OpString != 0 && !s.valid(value+wire.TextHeader, x) {
			return nowhere
		}
		put(l, entry.PairKey, base+uint32(at))
		put(l, entry.PairValue, base+uint32(value))
		put(l, entry.PairNode, 0)
		at = value + wire.TextHeader + x
		if n--; n == 0 {
			return at
		}
	}
}

// flats indexes n structs, n at least 1, of texts and fields of fixed size. The first one is at
// index at; its entry is at w, and each entry has this many words. flats stops at a struct that
// does not have all fields in the order of the program or of New. It returns where it has stopped,
// and how many structs are left.
func flats[M mode](s *machine, pc uint64, w wordsAt, words, n uint32, at uint64) (uint64, uint32) {
	if words == entry.StructWords+2 && opAt(s.code, pc)&opAt(s.code, pc+program.CellSize)&program.OpText != 0 && s.size >= labelSize {
		return labels[M](s, pc, w, n, at)
	}
	end, left := flatsIn[M](s, pc, w, words, n, at)
	if left == n {
		ended := pc + uint64(words-entry.StructWords+1)*program.CellSize
		if built := uint64(uint32(toAt(s.code, ended))); built != 0 {
			return flatsIn[M](s, built, w, words, n, at)
		}
	}
	return end, left
}

// flatsIn indexes structs as flats does, as long as they have all fields in the order of the
// program at pc.
//
//go:noinline
func flatsIn[M mode](s *machine, pc uint64, w wordsAt, words, n uint32, at uint64) (uint64, uint32) {
	var m M
	code, mem, size, head := s.code, s.mem(), s.size, s.head
	for {
		i := at
		for o := opAt(code, pc); int64(o) >= 0; o = opAt(code, pc) {
			// Fewer than 8 bytes are left only in short structs: they leave the loop.
			if i+8 > size || (load32(mem, i)^uint32(o))&program.HeaderMask != 0 {
				return at, n
			}
			if len(m) != modePasses {
				put(w, uint32(o>>program.OpWord), head+uint32(i))
			}
			if o&program.OpText != 0 {
				i += uint64(loadBE32(mem, i+wire.FieldHeader))
			}
			i += reachAt(code, pc)
			pc += program.CellSize
		}
		if i >= size || load8(mem, i) != byte(wire.Stop) {
			return at, n
		}
		if len(m) != modePasses {
			put(w, entry.Start, head+uint32(at)-wire.FieldHeader)
			put(w, entry.End, head+uint32(i)-wire.FieldHeader)
		}
		at = i + 1
		if n--; n == 0 {
			return at, 0
		}
		if len(m) != modePasses {
			w = wordsAfter(w, words)
		}
		pc -= uint64(words-entry.StructWords) * program.CellSize
	}
}

// labels indexes structs of two texts as flats does. It needs a window of at least labelSize
// bytes: then one comparison says that a text is whole and that the next header or STOP is in the
// window.
//
//go:noinline
func labels[M mode](s *machine, pc uint64, w wordsAt, n uint32, at uint64) (uint64, uint32) {
	var m M
	mem, last, base := s.mem(), s.size-labelSize, s.head-wire.FieldHeader
	name, value := uint32(opAt(s.code, pc)), uint32(opAt(s.code, pc+program.CellSize))
	for {
		if at > last || (load32(mem, at)^name)&program.HeaderMask != 0 {
			return at, n
		}
		v := at + uint64(loadBE32(mem, at+wire.FieldHeader))
		if v > last || (load32(mem, v+textSize)^value)&program.HeaderMask != 0 {
			return at, n
		}
		z := v + uint64(loadBE32(mem, v+textSize+wire.FieldHeader))
		if z > last || load8(mem, z+2*textSize) != byte(wire.Stop) {
			return at, n
		}
		if len(m) != modePasses {
			put(w, entry.Start, base+uint32(at))
			put(w, entry.End, base+uint32(z)+2*textSize)
			put(w, entry.StructWords, base+uint32(at)+wire.FieldHeader)
			put(w, entry.StructWords+1, base+uint32(v)+textSize+wire.FieldHeader)
		}
		at = z + labelSize
		if n--; n == 0 {
			return at, 0
		}
		if len(m) != modePasses {
			w = wordsAfter(w, entry.StructWords+2)
		}
	}
}

const (
	textSize  = wire.FieldHeader + wire.TextHeader
	labelSize = 2*textSize + 1 // of a struct of two texts, without their contents
)

// fits reports whether n elements of this shape, the op of a second cell, may come in the
// container of op o, whose header ends at index end.
func (s *machine) fits(o, shape program.Op, n uint32, end uint64) bool {
	mem := s.mem()
	return (n == 0 || load8(mem, end-5) == byte(shape>>program.ShapeWire) && (o&program.OpMap == 0 || load8(mem, end-6) == byte(shape>>program.ShapeKey))) &&
		uint64(n)*uint64(uint8(shape>>program.ShapeLeast)) <= s.size-end+s.after
}

// valid reports whether the window has n bytes at index at, and they are UTF-8.
func (s *machine) valid(at, n uint64) bool {
	b := s.window()
	return at+n <= uint64(len(b)) && utf8.Valid(b[at:at+n])
}

// lastOf returns the number of the last arm that is set in the union with entry w, of n words; 0
// if none is. first is the number of the word of the first arm.
func lastOf(w wordsAt, n, first uint32) uint32 {
	for n--; n >= first; n-- {
		if wordAt(w, n) != 0 {
			return n - entry.Displacement
		}
	}
	return 0
}
