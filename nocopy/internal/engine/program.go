package engine

import (
	"math"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// Each type is compiled into a program, which one loop runs (run.go): an op for each field, in the
// IDL's order, then one for STOP. A struct whose fields New writes in another order, those of
// fixed size first, has its ops in that order, too.
//
// An op that does not meet its field stores 0 in the field's word and goes on at miss, which is
// mostly the next field: fields may be absent. So every word of an entry is defined at its STOP.
// At the first place where the orders differ miss leads to a fork, which finds out which of them
// the struct has. What no order foresees is left to the slow parser, from there on to the end of
// the struct: where STOP is expected, or at once if a required field is missed.

// op tells what is expected next. The low 24 bits are a field header as it is loaded,
// little-endian. Above them: how many bytes the op reaches, without the contents of a text or
// container; flags; the word of the entry that it fills; its kind. The sign is set unless it is a
// field that is a text or of fixed size.
type op uint64

const (
	opReach = 24 // shift

	opText       = 1 << 32 // a text, whose contents follow
	opFlat       = 1 << 32 // a list of structs of nothing but texts and fields of fixed size
	opString     = 1 << 33 // a text, or list or map of texts, that ValidUTF8 checks
	opStringKeys = 1 << 34 // a map with keys that it checks
	opBare       = 1 << 35 // an element: it has no field header
	opMap        = 1 << 36 // a map, or the end of one of its pairs
	opNested     = 1 << 37 // a container of containers
	opLater      = 1 << 38 // Lazy leaves it for later

	opWord  = 40 // shift
	opWords = 1<<16 - 1
	opKind  = 56 // shift

	headerMask = 1<<24 - 1
)

// The kinds of special ops, which have the sign.
const (
	kindStop      = 1<<7 + iota // STOP
	kindUnionStop               // the STOP of a union
	kindEnded                   // after a STOP: the next element, or what the struct is in
	kindNext                    // after an element or pair of a kindContainer: likewise
	kindDone                    // the end of a value that is in no field
	kindFork                    // goes to the other order if the struct has its fields in that
	kindQuit                    // stops: the slow parser goes on
	kindFixed                   // an element of fixed size
	kindText                    // an element that is a text
	kindStruct                  // a struct, union or exception. From here on there is a second cell
	kindNumbers                 // a list of elements of fixed size
	kindTexts                   // a list of texts
	kindTextPairs               // a map of texts to texts
	kindStructs                 // a list of structs
	kindContainer               // another list or map
)

func (o op) kind() uint32     { return uint32(o >> opKind) }
func (o op) word() uint32     { return uint32(o>>opWord) & opWords }
func (o op) reach() uint64    { return uint64(uint32(o) >> opReach) }
func (o op) is(x uint32) bool { return (x^uint32(o))&headerMask == 0 }

// cells returns how many cells the op takes.
func (o op) cells() uint32 {
	if o.kind() >= kindStruct {
		return 2
	}
	return 1
}

// cell is an op and, in to, two offsets in the code, in bytes. The low half of to is where to go
// on if the op is not met (its miss). The high half is
//
//	of a struct or container   the program of the struct, or of the elements
//	of the end of something    the op that begins it
//	of a fork                  the op in the other order
//	of a quit                  the missed op
type cell struct {
	op op
	to uint64
}

const cellSize = 16

// secondCell returns the second cell of an op for a struct or container of type t. Its op has,
// from the lowest byte on: the size of an element, the wire types of elements and of keys, the
// least bytes that an element or pair takes, and, from shapeWords on, the words of the index that
// an element or pair takes, or a struct. The low half of to is the number of a container's type;
// the high half, which compile sets, is the program of a value of type t.
func secondCell(t *schema.Type) cell {
	if t.Kind() == schema.Record {
		return cell{op: op(t.Struct().Words()) << shapeWords}
	}
	least := wire.MinSize[t.Elem().Wire()]
	s := op(t.Elem().Size()) | op(t.Elem().Wire())<<shapeWire | op(t.ElemWords())<<shapeWords
	if t.Kind() == schema.Dict {
		least += wire.MinSize[t.Key().Wire()]
		s |= op(t.Key().Wire()) << shapeKey
	}
	return cell{s | op(least)<<shapeLeast, uint64(t.ID())}
}

const (
	shapeWire  = 8
	shapeKey   = 16
	shapeLeast = 24
	shapeWords = 32
)

// code is what has been compiled. It only grows: an offset stays good, also in an older copy.
var code struct {
	mu      sync.Mutex
	cells   atomic.Pointer[[]cell]
	origins atomic.Pointer[[]opOrigin] // of each cell
}

// opOrigin tells what an op was compiled from.
type opOrigin struct {
	desc  *schema.Struct
	field *schema.Field // nil: the struct's end
	typ   *schema.Type  // of an element, which is in no field; desc is nil then
}

// originOf returns the opOrigin of the op at an offset.
func originOf(at uint32) opOrigin { return (*code.origins.Load())[at/cellSize] }

// cellAt returns the cell at an offset.
func cellAt(at uint32) cell { return (*code.cells.Load())[at/cellSize] }

// programsOf returns the programs of d. It compiles them when they are first needed, not when d is
// defined, since the types of its fields may be defined later.
func programsOf(d *schema.Struct) *schema.Programs {
	if p := d.Programs(); p != nil {
		return p
	}
	compile(d.Type())
	return d.Programs()
}

// valueProgram returns the offset of the program for a value of type t, a container, that is in no
// field.
func valueProgram(t *schema.Type) uint32 {
	if at := t.Value.Load(); at != 0 {
		return at
	}
	compile(t)
	return t.Value.Load()
}

// compiler appends to the code what a type and the types inside of it need.
type compiler struct {
	cells      []cell
	origins    []opOrigin
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
	value bool // to the program of a value; else to that of what is inside
}

// compile makes the programs of t, and of the types in it of which there are none yet.
func compile(t *schema.Type) {
	code.mu.Lock()
	defer code.mu.Unlock()
	c := compiler{values: map[*schema.Type]uint32{}, insides: map[*schema.Type]uint32{}, programs: map[*schema.Struct]*schema.Programs{}}
	if cells := code.cells.Load(); cells != nil {
		c.cells, c.origins = *cells, *code.origins.Load()
	} else { // offset 0 stands for none
		c.add(cell{}, opOrigin{})
	}
	schema.Survey(t)
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
		c.cells[r.cell].to |= uint64(at) << 32
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

func (c *compiler) offset() uint32 { return uint32(len(c.cells)) * cellSize }

func (c *compiler) add(s cell, o opOrigin) {
	c.cells = append(c.cells, s)
	c.origins = append(c.origins, o)
}

// compile makes the programs of type t: of a value that is in no field, and of a struct's fields
// or a container's elements.
func (c *compiler) compile(t *schema.Type) {
	c.values[t] = c.offset()
	c.element(t, 0)
	c.add(cell{op: special(kindDone)}, opOrigin{})
	switch {
	case t.Kind() == schema.Record:
		c.structure(t.Struct())
	case kindOf(t) == kindContainer:
		start := c.offset()
		c.insides[t] = start
		next, words := special(kindNext), 1
		if t.Kind() == schema.Dict {
			next, words = next|opMap, pairWords
			c.element(t.Key(), 0)
			c.element(t.Elem(), 1)
		} else {
			c.element(t.Elem(), 0)
		}
		c.add(cell{next | op(words)<<opWord, uint64(start) << 32}, opOrigin{})
	}
	c.endQuits()
}

func special(kind op) op { return kind << opKind }

// kindOf returns the kind of the op of a value of type t that is not of fixed size or a text.
func kindOf(t *schema.Type) op {
	switch {
	case t.Kind() == schema.Record:
		return kindStruct
	case t.Kind() == schema.Dict && t.Key().Kind() == schema.Text && t.Elem().Kind() == schema.Text:
		return kindTextPairs
	case t.Kind() == schema.Dict || t.Elem().Kind() > schema.Record:
		return kindContainer
	case t.Elem().Kind() == schema.Record:
		return kindStructs
	case t.Elem().Kind() == schema.Text:
		return kindTexts
	}
	return kindNumbers
}

// element adds the op of an element, key or value of type t, which is in no field. word is the
// number of its word.
func (c *compiler) element(t *schema.Type, word int) {
	o := op(word)<<opWord | opBare
	c.quits = append(c.quits, len(c.cells))
	switch t.Kind() {
	case schema.Fixed:
		c.add(cell{op: special(kindFixed) | o | op(t.Size())<<opReach}, opOrigin{typ: t})
	case schema.Text:
		c.add(cell{op: special(kindText) | o | stringFlag(t) | wire.TextHeader<<opReach}, opOrigin{typ: t})
	default:
		c.container(o, t, opOrigin{typ: t})
	}
}

// container adds the op o of a struct, list, set or map.
func (c *compiler) container(o op, t *schema.Type, from opOrigin) {
	kind, inside := kindOf(t), t
	o |= special(kind)
	if t.Kind() != schema.Record {
		o += op(t.HeaderSize()) << opReach
	}
	switch kind {
	case kindTextPairs:
		o |= opMap | stringFlag(t.Elem())
		if !t.Key().Binary() {
			o |= opStringKeys
		}
	case kindTexts:
		o |= stringFlag(t.Elem())
	case kindStructs:
		inside = t.Elem()
		if isFlat(t.Elem().Struct()) {
			o |= opFlat
		}
	case kindContainer:
		if t.Kind() == schema.Dict {
			o |= opMap
			c.need(t.Key())
		}
		c.need(t.Elem())
		if t.Nested() {
			o |= opNested
		}
	}
	c.need(t)
	c.need(inside)
	c.references = append(c.references, reference{len(c.cells), inside, false}, reference{len(c.cells) + 1, t, true})
	c.add(cell{op: o}, from)
	c.add(secondCell(t), from)
}

func stringFlag(t *schema.Type) op {
	if t.Binary() {
		return 0
	}
	return opString
}

// structure makes the programs of d, for both orders of its fields.
func (c *compiler) structure(d *schema.Struct) {
	p := &schema.Programs{Start: c.offset()}
	c.programs[d], c.insides[d.Type()] = p, p.Start
	if d.IsWide() {
		c.wide(d, p)
		return
	}
	natural, built := fieldOrder(d, false), fieldOrder(d, true)
	ops := c.sequence(d, natural)
	p.Ended = c.offset()
	// The miss of this cell is where the other order begins, if there is one.
	c.add(cell{special(kindEnded) | op(d.Words())<<opWord, uint64(p.Start) << 32}, opOrigin{desc: d})
	differ := 0
	for differ < len(natural) && natural[differ] == built[differ] {
		differ++
	}
	if differ == len(natural) {
		c.endQuits()
		return
	}
	p.Built = c.offset()
	c.cells[p.Built/cellSize-1].to |= uint64(p.Built)
	others := c.sequence(d, built)
	c.endQuits()
	c.fork(ops[differ], others[differ], others[differ], c.cells[others[differ]].op.reach())
	// An element that lacks some fields may be taken for one in the built order. The elements after
	// it lead back to the IDL's: by any field that comes later in the built order than in the IDL's.
	for i := slices.Index(natural, built[differ]) - 1; i >= differ; i-- {
		c.fork(others[differ], ops[i], ops[differ], 0)
	}
}

// wide makes the program of d, which is wide: the slow parser indexes it.
func (c *compiler) wide(d *schema.Struct, p *schema.Programs) {
	next := uint64(p.Start+cellSize) << 32
	c.add(cell{special(kindQuit), next}, opOrigin{desc: d})
	c.sequence(d, nil)
	p.Ended = c.offset()
	c.add(cell{special(kindEnded) | op(d.Words())<<opWord, uint64(p.Start) << 32}, opOrigin{desc: d})
	for i := range d.Fields() {
		for _, in := range d.Fields()[i].Type.Structs(nil) {
			c.need(in.Type())
		}
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
			c.cells[at].to = uint64(c.offset())
		}
	}
	kind := special(kindStop)
	if d.IsUnion() {
		kind = special(kindUnionStop) | op(d.First())<<opReach // where its arms' words begin
	}
	c.add(cell{kind | op(d.Words())<<opWord, uint64(start) << 32}, opOrigin{desc: d})
	return ops
}

// field adds the op of a field.
func (c *compiler) field(d *schema.Struct, f *schema.Field) {
	o := op(bits.ReverseBytes32(f.Header()<<8)) | op(f.Word())<<opWord | wire.FieldHeader<<opReach
	from := opOrigin{desc: d, field: f}
	switch f.Kind() {
	case schema.Fixed:
		c.add(cell{op: o + op(f.Size())<<opReach}, from)
	case schema.Text:
		c.add(cell{op: o + wire.TextHeader<<opReach | opText | stringFlag(f.Type)}, from)
	default:
		if f.Widest() <= narrow && canWait(f) && !holdsLists(f.Type) {
			o |= opLater
		}
		c.container(o, f.Type, from)
	}
}

// canWait reports whether Lazy may leave field f, a struct or container, for later.
func canWait(f *schema.Field) bool {
	return !f.FixedList() && !(f.Kind() == schema.Record && plain(f.Type.Struct()))
}

// holdsLists reports whether t is a list of structs that have values which Lazy leaves for later:
// then it leaves these, not all of the list, so that nothing is passed over twice.
func holdsLists(t *schema.Type) bool {
	if t.Kind() != schema.List || t.Elem().Kind() != schema.Record {
		return false
	}
	for i := range t.Elem().Struct().Fields() {
		if f := &t.Elem().Struct().Fields()[i]; f.Kind() >= schema.Record && canWait(f) {
			return true
		}
	}
	return false
}

// endQuits makes the ops that must not be missed go to the slow parser when they are.
func (c *compiler) endQuits() {
	for _, at := range c.quits {
		c.cells[at].to |= uint64(c.offset())
		c.add(cell{special(kindQuit), uint64(at) * cellSize << 32}, c.origins[at])
	}
	c.quits = c.quits[:0]
}

// fork adds a fork op and makes it the miss of the op in cell at. When the machine comes there and
// the field of the op in cell like is next, it goes on at cell to, else where the miss led before.
// With a reach other than 0 the op after like must be met, too, that many bytes further on: one
// field alone may be next since those before it are absent, not since the order is another.
func (c *compiler) fork(at, like, to int, reach uint64) {
	miss := uint64(uint32(c.cells[at].to))
	c.cells[at].to = c.cells[at].to&^math.MaxUint32 | uint64(c.offset())
	o := special(kindFork) | c.cells[like].op&headerMask | op(reach)<<opReach
	c.add(cell{o, miss | uint64(to)*cellSize<<32}, c.origins[at])
}

// fieldOrder returns the numbers of the fields in the order of the IDL or, with built, in the
// order in which a message that New has made has them, if they were set in the order of the IDL.
func fieldOrder(d *schema.Struct, built bool) []uint16 {
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

// isFlat reports whether the struct has nothing but texts and fields of fixed size.
func isFlat(d *schema.Struct) bool {
	for i := range d.Fields() {
		if d.Fields()[i].Kind() > schema.Text {
			return false
		}
	}
	return !d.IsUnion() && !d.IsWide() && len(d.Fields()) > 0
}

// maxPlain is the most words that the entry of a plain struct, with the entries of all values in
// it, may have.
const maxPlain = 64

// plain reports whether the struct is small and has nothing but fields of fixed size, lists of
// such, texts and plain structs: Lazy indexes it at once.
func plain(d *schema.Struct) bool { return plainWords(d, maxPlain) <= maxPlain }

// plainWords returns how many words the entries of the struct and of all values in it take; more
// than most if the struct is not plain.
func plainWords(d *schema.Struct, most int) int {
	n := d.Words()
	if d.IsUnion() || d.IsWide() || n > most {
		return most + 1
	}
	for i := range d.Fields() {
		switch f := &d.Fields()[i]; {
		case f.FixedList():
			n += listWords
		case f.Kind() > schema.Record:
			return most + 1
		case f.Kind() == schema.Record && n <= most:
			n += plainWords(f.Type.Struct(), most-n)
		}
	}
	return n
}
