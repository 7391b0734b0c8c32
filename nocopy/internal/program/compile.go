package program

import (
	"math"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/nocopythrift/nocopythrift/internal/entry"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// code holds all compiled programs. It only grows: an offset stays good, also in an older copy.
var code struct {
	mu      sync.Mutex
	cells   atomic.Pointer[[]Cell]
	origins atomic.Pointer[[]Origin] // of each cell
}

// Cells returns all cells.
func Cells() []Cell { return *code.cells.Load() }

// Origin says what an op was compiled from.
type Origin struct {
	Desc  *schema.Struct
	Field *schema.Field // nil: the struct's end
	Type  *schema.Type  // of an element, which is in no field; desc is nil then
}

// OriginOf returns the Origin of the op at an offset.
func OriginOf(at uint32) Origin { return (*code.origins.Load())[at/CellSize] }

// CellAt returns the cell at an offset.
func CellAt(at uint32) Cell { return Cells()[at/CellSize] }

// Of returns the programs of d. It compiles them when they are first needed, not when d is
// defined, since the types of its fields may be defined later.
func Of(d *schema.Struct) *schema.Programs {
	if p := d.Programs(); p != nil {
		return p
	}
	compile(d.Type())
	return d.Programs()
}

// OfValue returns the offset of the program for a value of type t, a container, that is in no
// field.
func OfValue(t *schema.Type) uint32 {
	if at := t.Value.Load(); at != 0 {
		return at
	}
	compile(t)
	return t.Value.Load()
}

// compiler appends the programs of a type and of the types in it to the code.
type compiler struct {
	cells      []Cell
	origins    []Origin
	waiting    []*schema.Type          // types whose programs are still to be made
	values     map[*schema.Type]uint32 // offsets of the programs of values that are in no field
	insides    map[*schema.Type]uint32 // offsets of structs and of elements of kindContainers
	programs   map[*schema.Struct]*schema.Programs
	references []reference
	quits      []int // cells of ops that must not be missed
}

// reference is a cell that refers to a program that may not have been made yet.
type reference struct {
	cell  int
	typ   *schema.Type
	value bool // to the program of a value; else of its elements or fields
}

// compile makes the programs of t, and of the types in it that have none yet.
func compile(t *schema.Type) {
	code.mu.Lock()
	defer code.mu.Unlock()
	c := compiler{values: map[*schema.Type]uint32{}, insides: map[*schema.Type]uint32{}, programs: map[*schema.Struct]*schema.Programs{}}
	if cells := code.cells.Load(); cells != nil {
		c.cells, c.origins = *cells, *code.origins.Load()
	} else { // offset 0 stands for none
		c.add(Cell{}, Origin{})
	}
	c.need(t)
	for len(c.waiting) > 0 {
		next := c.waiting[0]
		c.waiting = c.waiting[1:]
		c.compile(next)
	}
	for _, r := range c.references {
		at := c.insides[r.typ]
		if r.value {
			at = c.values[r.typ]
		}
		c.cells[r.cell].To |= uint64(at) << 32
	}
	code.cells.Store(&c.cells)
	code.origins.Store(&c.origins)
	for t, at := range c.values {
		t.Inside.Store(c.insides[t])
		t.Value.Store(at)
	}
	for d, p := range c.programs {
		d.SetPrograms(p)
	}
}

// need has programs made for type t, if it needs any and there are none yet.
func (c *compiler) need(t *schema.Type) {
	if _, known := c.values[t]; known || t.Kind() < schema.Record {
		return
	}
	if at := t.Value.Load(); at != 0 {
		c.values[t], c.insides[t] = at, t.Inside.Load()
		return
	}
	t.MustBeDefined()
	c.values[t] = 0
	c.waiting = append(c.waiting, t)
}

func (c *compiler) offset() uint32 { return uint32(len(c.cells)) * CellSize }

func (c *compiler) add(s Cell, o Origin) {
	c.cells = append(c.cells, s)
	c.origins = append(c.origins, o)
}

// compile makes the programs of type t: of a value that is in no field, and of a struct's fields
// or a container's elements.
func (c *compiler) compile(t *schema.Type) {
	c.values[t] = c.offset()
	c.element(t, 0)
	c.add(Cell{Op: Special(KindDone)}, Origin{})
	switch {
	case t.Kind() == schema.Record:
		c.structure(t.Struct())
	case kindOf(t) == KindContainer:
		start := c.offset()
		c.insides[t] = start
		next, words := Special(KindNext), 1
		if t.Kind() == schema.Dict {
			next, words = next|OpMap, entry.PairWords
			c.element(t.Key(), 0)
			c.element(t.Elem(), 1)
		} else {
			c.element(t.Elem(), 0)
		}
		c.add(Cell{next | Op(words)<<OpWord, uint64(start) << 32}, Origin{})
	}
	c.endQuits()
}

// kindOf returns the kind of the op of a value of type t that is not of fixed size or a text.
func kindOf(t *schema.Type) Op {
	switch {
	case t.Kind() == schema.Record:
		return KindStruct
	case t.Kind() == schema.Dict && t.Key().Kind() == schema.Text && t.Elem().Kind() == schema.Text:
		return KindTextPairs
	case t.Kind() == schema.Dict || t.Elem().Kind() > schema.Record:
		return KindContainer
	case t.Elem().Kind() == schema.Record:
		return KindStructs
	case t.Elem().Kind() == schema.Text:
		return KindTexts
	}
	return KindNumbers
}

// element adds the op of an element, key or value of type t, which is in no field. word is the
// number of its word.
func (c *compiler) element(t *schema.Type, word int) {
	o := Op(word)<<OpWord | OpBare
	c.quits = append(c.quits, len(c.cells))
	switch t.Kind() {
	case schema.Fixed:
		c.add(Cell{Op: Special(KindFixed) | o | Op(t.Size())<<OpReach}, Origin{Type: t})
	case schema.Text:
		c.add(Cell{Op: Special(KindText) | o | stringFlag(t) | wire.TextHeader<<OpReach}, Origin{Type: t})
	default:
		c.container(o, t, Origin{Type: t})
	}
}

// container adds the op o of a struct, list, set or map.
func (c *compiler) container(o Op, t *schema.Type, from Origin) {
	kind, inside := kindOf(t), t
	o |= Special(kind)
	if t.Kind() != schema.Record {
		o += Op(t.HeaderSize()) << OpReach
	}
	switch kind {
	case KindTextPairs:
		o |= OpMap | stringFlag(t.Elem())
		if !t.Key().Binary() {
			o |= OpStringKeys
		}
	case KindTexts:
		o |= stringFlag(t.Elem())
	case KindStructs:
		inside = t.Elem()
		if IsFlat(t.Elem().Struct()) {
			o |= OpFlat
		}
	case KindContainer:
		if t.Kind() == schema.Dict {
			o |= OpMap
			c.need(t.Key())
		}
		c.need(t.Elem())
		if t.Nested() {
			o |= OpNested
		}
	}
	c.need(t)
	c.need(inside)
	c.references = append(c.references, reference{len(c.cells), inside, false}, reference{len(c.cells) + 1, t, true})
	c.add(Cell{Op: o}, from)
	c.add(secondCell(t), from)
}

func stringFlag(t *schema.Type) Op {
	if t.Binary() {
		return 0
	}
	return OpString
}

// structure makes the programs of d, for both orders of its fields.
func (c *compiler) structure(d *schema.Struct) {
	p := &schema.Programs{Start: c.offset()}
	c.programs[d], c.insides[d.Type()] = p, p.Start
	if d.IsWide() {
		c.wide(d, p)
		return
	}
	natural, built := FieldOrder(d, false), FieldOrder(d, true)
	ops := c.sequence(d, natural)
	p.Ended = c.offset()
	// The miss of this cell is where the other order begins, if there is one.
	c.add(Cell{Special(KindEnded) | Op(d.Words())<<OpWord, uint64(p.Start) << 32}, Origin{Desc: d})
	differ := 0
	for differ < len(natural) && natural[differ] == built[differ] {
		differ++
	}
	if differ == len(natural) {
		c.endQuits()
		return
	}
	p.Built = c.offset()
	c.cells[p.Built/CellSize-1].To |= uint64(p.Built)
	others := c.sequence(d, built)
	c.endQuits()
	c.fork(ops[differ], others[differ], others[differ], c.cells[others[differ]].Op.Reach())
	// An element that lacks some fields may be taken for one in the built order. The elements after
	// it lead back to the IDL's: by any field that comes later in the built order than in the IDL's.
	for i := slices.Index(natural, built[differ]) - 1; i >= differ; i-- {
		c.fork(others[differ], ops[i], ops[differ], 0)
	}
}

// wide makes the program of d, which is wide: the slow parser indexes it.
func (c *compiler) wide(d *schema.Struct, p *schema.Programs) {
	next := uint64(p.Start+CellSize) << 32
	c.add(Cell{Special(KindQuit), next}, Origin{Desc: d})
	c.sequence(d, nil)
	p.Ended = c.offset()
	c.add(Cell{Special(KindEnded) | Op(d.Words())<<OpWord, uint64(p.Start) << 32}, Origin{Desc: d})
	for i := range d.Fields() {
		c.need(d.Fields()[i].Type)
	}
}

// sequence makes the program of d for fields in this order, and returns the numbers of their
// cells.
func (c *compiler) sequence(d *schema.Struct, order []uint16) []int {
	start := c.offset()
	ops := make([]int, 0, len(order))
	for _, i := range order {
		f, at := &d.Fields()[i], len(c.cells)
		ops = append(ops, at)
		c.field(d, f)
		if f.Req == schema.Required {
			c.quits = append(c.quits, at)
		} else {
			c.cells[at].To = uint64(c.offset())
		}
	}
	kind := Special(KindStop)
	if d.IsUnion() {
		kind = Special(KindUnionStop) | Op(d.First())<<OpReach // where its arms' words begin
	}
	c.add(Cell{kind | Op(d.Words())<<OpWord, uint64(start) << 32}, Origin{Desc: d})
	return ops
}

// Field adds the op of a field.
func (c *compiler) field(d *schema.Struct, f *schema.Field) {
	o := Op(bits.ReverseBytes32(f.Header()<<8)) | Op(f.Word())<<OpWord | wire.FieldHeader<<OpReach
	from := Origin{Desc: d, Field: f}
	switch f.Kind() {
	case schema.Fixed:
		c.add(Cell{Op: o + Op(f.Size())<<OpReach}, from)
	case schema.Text:
		c.add(Cell{Op: o + wire.TextHeader<<OpReach | OpText | stringFlag(f.Type)}, from)
	default:
		if f.Type.Widest() <= Narrow && canWait(f) && !holdsLists(f.Type) {
			o |= OpLater
		}
		c.container(o, f.Type, from)
	}
}

// endQuits makes the ops that must not be missed go to the slow parser when they are.
func (c *compiler) endQuits() {
	for _, at := range c.quits {
		c.cells[at].To |= uint64(c.offset())
		c.add(Cell{Special(KindQuit), uint64(at) * CellSize << 32}, c.origins[at])
	}
	c.quits = c.quits[:0]
}

// fork adds a fork op and makes it the miss of the op in cell at. When the machine comes there and
// the field of the op in cell like is next, it goes on at cell to, else where the miss led before.
// With a reach other than 0 the op after like must be met, too, that many bytes further on: one
// field alone may be next since those before it are absent, not since the order is another.
func (c *compiler) fork(at, like, to int, reach uint64) {
	miss := uint64(uint32(c.cells[at].To))
	c.cells[at].To = c.cells[at].To&^math.MaxUint32 | uint64(c.offset())
	o := Special(KindFork) | c.cells[like].Op&HeaderMask | Op(reach)<<OpReach
	c.add(Cell{o, miss | uint64(to)*CellSize<<32}, c.origins[at])
}

// FieldOrder returns the numbers of the fields in the order of the IDL or, with built, in the
// order in which a message that New has made has them, if they were set in the order of the IDL.
func FieldOrder(d *schema.Struct, built bool) []uint16 {
	order := make([]uint16, 0, len(d.Fields()))
	for _, first := range []bool{true, false} {
		for i := range d.Fields() {
			if (built && d.Fields()[i].InTemplate(d)) == first {
				order = append(order, uint16(i))
			}
		}
	}
	return order
}

// IsFlat reports whether the struct has only texts and fields of fixed size.
func IsFlat(d *schema.Struct) bool {
	for i := range d.Fields() {
		if d.Fields()[i].Kind() > schema.Text {
			return false
		}
	}
	return !d.IsUnion() && !d.IsWide() && len(d.Fields()) > 0
}
