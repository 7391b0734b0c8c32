package program

import (
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// Op describes the value that is expected next. The low 24 bits are a field header as it is
// loaded, little-endian. Above them are: how many bytes the op reaches, without the contents of a
// text or container; flags; the word of the entry that it fills; its kind. The sign is clear only
// for fields that are texts or of fixed size.
type Op uint64

// The parts of an Op above the field header.
const (
	OpReach = 24 // shift

	OpText       = 1 << 32 // a text, whose contents follow
	OpFlat       = 1 << 32 // a list of structs of only texts and fields of fixed size
	OpString     = 1 << 33 // a text, or list or map of texts, that ValidUTF8 checks
	OpStringKeys = 1 << 34 // a map with keys that it checks
	OpBare       = 1 << 35 // an element: it has no field header
	OpMap        = 1 << 36 // a map, or the end of one of its pairs
	OpNested     = 1 << 37 // a container of containers
	OpLater      = 1 << 38 // Lazy leaves it for later

	OpWord  = 40 // shift
	opWords = 1<<16 - 1
	opKind  = 56 // shift

	HeaderMask = 1<<24 - 1 // the field header
)

// The kinds of special ops, which have the sign. The loop compares in this order: what messages
// have most comes first.
const (
	KindStop      = 1<<7 + iota // STOP
	KindStruct                  // a struct, union or exception. It has a second cell
	KindNumbers                 // a list of elements of fixed size. It has a second cell
	KindTexts                   // a list of texts. It has a second cell
	KindTextPairs               // a map of texts to texts. It has a second cell
	KindStructs                 // a list of structs. It has a second cell
	KindContainer               // another list or map. It has a second cell
	KindUnionStop               // the STOP of a union
	KindEnded                   // after a STOP: the next element, or what the struct is in
	KindNext                    // after an element or pair of a KindContainer: likewise
	KindFixed                   // an element of fixed size
	KindText                    // an element that is a text
	KindFork                    // goes to the other order if the struct has its fields in that
	KindDone                    // the end of a value that is in no field
	KindQuit                    // stops: the slow parser goes on
)

func (o Op) Kind() uint32 { return uint32(o >> opKind) }

func (o Op) Word() uint32 { return uint32(o>>OpWord) & opWords }

func (o Op) Reach() uint64 { return uint64(uint32(o) >> OpReach) }

func (o Op) Is(x uint32) bool { return (x^uint32(o))&HeaderMask == 0 }

// Cells returns how many cells the op takes.
func (o Op) Cells() uint32 {
	if k := o.Kind(); k >= KindStruct && k <= KindContainer {
		return 2
	}
	return 1
}

// Cell is an op and, in To, two offsets in the code, in bytes. The low half of To is where to go
// on if the op is not met (its miss). The high half is
//
//	of a struct or container   the program of the struct, or of the elements
//	of the end of something    the op that begins it
//	of a fork                  the op in the other order
//	of a quit                  the missed op
type Cell struct {
	Op Op
	To uint64
}

// CellSize is the size of a Cell in bytes, the unit of offsets in the code.
const CellSize = 16

// secondCell returns the second cell of an op for a struct or container of type t. Its op has,
// from the lowest byte on: the size of an element, the wire types of elements and of keys, the
// least bytes that an element or pair takes, and, from ShapeWords on, the words of the index that
// an element or pair takes, or a struct. The low half of To is the number of a container's type;
// the high half, which compile sets, is the program of a value of type t.
func secondCell(t *schema.Type) Cell {
	if t.Kind() == schema.Record {
		return Cell{Op: Op(t.Struct().Words()) << ShapeWords}
	}
	least := wire.MinSize[t.Elem().Wire()]
	s := Op(t.Elem().Size()) | Op(t.Elem().Wire())<<ShapeWire | Op(t.ElemWords())<<ShapeWords
	if t.Kind() == schema.Dict {
		least += wire.MinSize[t.Key().Wire()]
		s |= Op(t.Key().Wire()) << ShapeKey
	}
	return Cell{s | Op(least)<<ShapeLeast, uint64(t.ID())}
}

// Shifts in the op of a second cell.
const (
	ShapeWire  = 8
	ShapeKey   = 16
	ShapeLeast = 24
	ShapeWords = 32
)

func Special(kind Op) Op { return kind << opKind }
