package nocopy

import (
	"encoding/binary"
	"math"
	"sync"
	"sync/atomic"

	"github.com/nocopythrift/nocopythrift/internal/chain"
)

// GeneratedV1 is referred to by generated code: a runtime that no longer fits such code lacks the name, so
// that the mismatch is found when compiling.
const GeneratedV1 = 1

// Requiredness is what the IDL says of a field's presence.
type Requiredness uint8

// The requirednesses of the IDL. DefaultReq is that of a field that says nothing.
const (
	DefaultReq Requiredness = iota
	Required
	Optional
)

// FieldDesc describes one field of a struct. Default is the IDL default as the wire bytes of the value.
type FieldDesc struct {
	ID      int16
	Name    string
	Type    *Type
	Req     Requiredness
	Default string
}

// Type describes the type of a field or of an element.
type Type struct {
	wire   WireType
	kind   kind
	size   uint8 // of a fixed-size value
	binary bool
	desc   *Desc // struct
	elem   *Type // list and set: element; map: value
	key    *Type // map
	enum   func(int32) string
	id     uint32 // number in the registry; containers only

	// Offsets in the code, 0 before they are needed: of the program for a value, and for what is inside.
	value, inside atomic.Uint32
}

// kind groups the wire types by how they are indexed.
type kind uint8

const (
	fixed  kind = iota // a position
	text               // a position, or a node
	record             // a struct's entry
	list               // a list's or set's entry
	dict               // a map's entry
)

// The types without parameters.
var (
	TypeBool   = &Type{wire: WireBool, size: 1}
	TypeI8     = &Type{wire: WireI8, size: 1}
	TypeI16    = &Type{wire: WireI16, size: 2}
	TypeI32    = &Type{wire: WireI32, size: 4}
	TypeI64    = &Type{wire: WireI64, size: 8}
	TypeDouble = &Type{wire: WireDouble, size: 8}
	TypeUUID   = &Type{wire: WireUUID, size: 16}
	TypeString = &Type{wire: WireString, kind: text}
	TypeBinary = &Type{wire: WireString, kind: text, binary: true}
)

// EnumOf returns the type of an enum whose values have these names ("" for a value without one).
func EnumOf(name func(int32) string) *Type { return &Type{wire: WireI32, size: 4, enum: name} }

// StructOf returns the type of the struct, union or exception that d describes.
func StructOf(d *Desc) *Type { return d.self }

// ListOf returns the type of a list.
func ListOf(elem *Type) *Type { return register(&Type{wire: WireList, kind: list, elem: elem}) }

// SetOf returns the type of a set.
func SetOf(elem *Type) *Type { return register(&Type{wire: WireSet, kind: list, elem: elem}) }

// MapOf returns the type of a map.
func MapOf(key, value *Type) *Type {
	return register(&Type{wire: WireMap, kind: dict, key: key, elem: value})
}

// registry numbers the container types, so that an index entry, which is plain words, can name its type.
var registry struct {
	mu    sync.Mutex
	types atomic.Pointer[[]*Type]
}

func register(t *Type) *Type {
	registry.mu.Lock()
	defer registry.mu.Unlock()
	var types []*Type
	if old := registry.types.Load(); old != nil {
		types = *old
	}
	if t.id = uint32(len(types)); t.id >= chain.FirstPos { // movePositions tells them from positions
		panic("nocopy: more than " + itoa(int(chain.FirstPos)) + " types")
	}
	types = append(types, t)
	registry.types.Store(&types)
	return t
}

func typeByID(id uint32) *Type { return (*registry.types.Load())[id] }

// nested says whether elements of the type's elements are containers without a struct around them.
func (t *Type) nested() bool {
	switch t.kind {
	case list:
		return t.elem.kind >= list
	case dict:
		return t.elem.kind >= list || t.key.kind >= list
	}
	return false
}

// nests reports whether a value of the type may have nested containers in it, which parsing must look into to find out whether they are
// of their type.
func nests(t *Type) bool {
	if t.kind == record {
		t.desc.program()
		return t.desc.nests
	}
	return anyNested(t, map[*Desc]bool{})
}

// anyNested is nests, but for structs that were seen.
func anyNested(t *Type, seen map[*Desc]bool) bool {
	switch {
	case t.nested():
		return true
	case t.kind == record && !seen[t.desc]:
		t.mustBeDefined()
		seen[t.desc] = true
		for i := range t.desc.fields {
			if anyNested(t.desc.fields[i].typ, seen) {
				return true
			}
		}
	case t.kind == dict:
		return anyNested(t.key, seen) || anyNested(t.elem, seen)
	case t.kind == list:
		return anyNested(t.elem, seen)
	}
	return false
}

// header returns the size of what stands in front of the elements.
func (t *Type) header() uint32 {
	if t.kind == dict {
		return mapHeader
	}
	return listHeader
}

// Desc describes a struct, union or exception: made by NewDesc, completed by Define, then read-only.
type Desc struct {
	name      string
	self      *Type // the type that it describes
	union     bool
	nests     bool // see nests; known when there is a program
	exception bool
	words     int    // of an index entry, or undefined
	first     uint32 // word of the first field
	fields    []field
	slots     []slot // by id−minID: how the parser finds a field at once
	minID     int16
	programs  atomic.Pointer[programs]
	nested    atomic.Int32 // what nesting returns; 0: not known yet
	required  []uint32     // words of required fields

	// What a new struct begins with: its fixed-size fields that are not optional.
	template      string
	templateSlots []templateSlot
	// Fields of variable size that a finished struct must have.
	owed []*field
}

type templateSlot struct{ word, off uint32 }

// slot says which field has an id.
type slot struct {
	key  uint32 // noKey: there is no field with this id
	step uint32
}

const noKey = math.MaxUint32

// field is a FieldDesc made ready for the parser.
type field struct {
	key  uint32 // the header on the wire
	word uint32
	kind kind
	size uint8
	typ  *Type
	FieldDesc

	defaultOnce sync.Once
	defaultView Struct
	widest      int // words of the widest struct inside; known once there is a program
}

// NewDesc returns the descriptor of a struct. It must be completed by Define before use.
func NewDesc(name string) *Desc { return newDesc(&Desc{name: name}) }

// NewUnionDesc returns the descriptor of a union.
func NewUnionDesc(name string) *Desc { return newDesc(&Desc{name: name, union: true}) }

// NewExceptionDesc returns the descriptor of an exception.
func NewExceptionDesc(name string) *Desc { return newDesc(&Desc{name: name, exception: true}) }

func newDesc(d *Desc) *Desc {
	d.self = &Type{wire: WireStruct, kind: record, desc: d}
	d.words = undefined
	return d
}

// mustBeDefined panics if t is a struct of which nothing but the name is known yet.
func (t *Type) mustBeDefined() {
	if t.desc != nil && t.desc.words == undefined {
		panic(panicUndefined)
	}
}

// undefined is how many words an entry has before Define: so few that no index, nor any list's part of it, can be made of them.
const undefined = min(math.MinInt>>12, -1<<28)

// Name returns the IDL's name of the struct.
func (d *Desc) Name() string { return d.name }

// structWords are the words of a struct's index entry before its fields.
const structWords = 2

// Define completes the descriptor with its fields in declaration order.
func (d *Desc) Define(fields ...FieldDesc) {
	d.first = structWords
	if d.union {
		d.first = unionWord + 1
	}
	d.words = int(d.first) + len(fields)
	if d.words > math.MaxUint16 {
		panic("nocopy: " + d.name + " has too many fields")
	}
	d.fields = make([]field, len(fields))
	minID, maxID := math.MaxInt16, math.MinInt16
	for i := range fields {
		f := &d.fields[i]
		f.FieldDesc = fields[i]
		f.typ, f.kind, f.size = f.Type, f.Type.kind, f.Type.size
		f.key = uint32(f.typ.wire)<<16 | uint32(uint16(f.ID))
		f.word = d.first + uint32(i)
		minID, maxID = min(minID, int(f.ID)), max(maxID, int(f.ID))
		d.addToTemplate(f)
	}
	if len(fields) == 0 {
		return
	}
	d.minID = int16(minID)
	d.slots = make([]slot, maxID-minID+1)
	for i := range d.slots {
		d.slots[i].key = noKey
	}
	for i := range d.fields {
		f := &d.fields[i]
		d.slots[int(f.ID)-minID] = slot{f.key, uint32(i)}
	}
}

// inTemplate says whether the field is in what a new struct of type d begins with.
func (f *field) inTemplate(d *Desc) bool { return !d.union && f.Req != Optional && f.kind == fixed }

func (d *Desc) addToTemplate(f *field) {
	if f.Req == Required {
		d.required = append(d.required, f.word)
	}
	switch {
	case d.union || f.Req == Optional:
	case f.inTemplate(d):
		d.templateSlots = append(d.templateSlots, templateSlot{f.word, uint32(len(d.template) + fieldHeader)})
		value := make([]byte, f.size)
		copy(value, f.Default)
		d.template += string([]byte{byte(f.key >> 16), byte(f.key >> 8), byte(f.key)}) + string(value)
	case f.Req == Required || f.Default != "":
		d.owed = append(d.owed, f)
	}
}

// step returns the number of the field with this header, -1 if there is none.
func (d *Desc) step(key uint32) int {
	if i := uint16(key) - uint16(d.minID); int(i) < len(d.slots) {
		if s := &d.slots[i]; s.key == key {
			return int(s.step)
		}
	}
	return -1
}

// find returns the field with this header, nil if there is none.
func (d *Desc) find(key uint32) *field {
	if i := d.step(key); i >= 0 {
		return &d.fields[i]
	}
	return nil
}

// field returns the description of a field that generated code names by its constant.
func (d *Desc) field(f Field) *field { return &d.fields[f.word()-d.first] }

// constant returns what generated code calls field i.
func (d *Desc) constant(i int) Field {
	f := &d.fields[i]
	return Field(f.word)<<48 | Field(d.words)<<32 | Field(f.key)
}

// appendZero appends the value that a field or element of type t has when nobody gave it one.
func appendZero(dst []byte, t *Type) []byte {
	switch t.kind {
	case fixed:
		return append(dst, make([]byte, t.size)...)
	case text:
		return append(dst, 0, 0, 0, 0)
	case list:
		return append(dst, byte(t.elem.wire), 0, 0, 0, 0)
	case dict:
		return append(dst, byte(t.key.wire), byte(t.elem.wire), 0, 0, 0, 0)
	}
	dst = append(dst, t.desc.template...)
	for _, f := range t.desc.owed {
		dst = append(dst, byte(f.key>>16), byte(f.key>>8), byte(f.key))
		dst = f.appendDefault(dst)
	}
	return append(dst, 0)
}

// appendDefault appends the value that the field is given when it is owed.
func (f *field) appendDefault(dst []byte) []byte {
	if f.Default != "" {
		return append(dst, f.Default...)
	}
	return appendZero(dst, f.typ)
}

func appendBE32(dst []byte, v uint32) []byte { return binary.BigEndian.AppendUint32(dst, v) }
