package nocopy

import (
	"math"
	"sync"
	"sync/atomic"

	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/internal/entry"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wireindex"
)

// For generated code. XRequiredness tells whether the IDL declares a field required or optional.
type XRequiredness uint8

// For generated code. The requirednesses of the IDL; XDefaultReq is that of a field that says
// nothing.
const (
	XDefaultReq XRequiredness = iota
	XRequired
	XOptional
)

// String returns "default", "required" or "optional".
func (r XRequiredness) String() string {
	if r > XOptional {
		return "XRequiredness(" + itoa(int(r)) + ")"
	}
	return [...]string{"default", "required", "optional"}[r]
}

// For generated code. XFieldDesc describes one field of a struct. Default holds the wire bytes of
// the IDL default.
type XFieldDesc struct {
	ID      int16
	Name    string
	Type    *XType
	Req     XRequiredness
	Default string
	Info    XInfo
}

// For generated code. XType describes the type of a field or of an element.
type XType struct {
	wire   WireType
	kind   kind
	size   uint8 // of a fixed-size value
	binary bool
	desc   *XDesc // struct
	elem   *XType // list and set: element; map: value
	key    *XType // map
	enum   *XEnum
	id     uint32 // number in the registry; containers only

	// Offsets in the code, 0 before they are needed: of the program for a value, and for what is
	// inside.
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
	typeBool   = &XType{wire: WireBool, size: 1}
	typeI8     = &XType{wire: WireI8, size: 1}
	typeI16    = &XType{wire: WireI16, size: 2}
	typeI32    = &XType{wire: WireI32, size: 4}
	typeI64    = &XType{wire: WireI64, size: 8}
	typeDouble = &XType{wire: WireDouble, size: 8}
	typeUUID   = &XType{wire: WireUUID, size: 16}
	typeString = &XType{wire: WireString, kind: text}
	typeBinary = &XType{wire: WireString, kind: text, binary: true}
)

// baseTypes are the types without parameters, by their wire types; of a string, not of a binary.
var baseTypes = [WireUUID + 1]*XType{
	WireBool: typeBool, WireI8: typeI8, WireI16: typeI16, WireI32: typeI32, WireI64: typeI64,
	WireDouble: typeDouble, WireUUID: typeUUID, WireString: typeString,
}

// structTypeOf returns the type of the struct, union or exception that d describes.
func structTypeOf(d *XDesc) *XType { return d.self }

// listTypeOf returns the type of a list.
func listTypeOf(elem *XType) *XType { return register(&XType{wire: WireList, kind: list, elem: elem}) }

// setTypeOf returns the type of a set.
func setTypeOf(elem *XType) *XType { return register(&XType{wire: WireSet, kind: list, elem: elem}) }

// mapTypeOf returns the type of a map.
func mapTypeOf(key, value *XType) *XType {
	return register(&XType{wire: WireMap, kind: dict, key: key, elem: value})
}

// registry numbers the container types, so that an index entry, which is plain words, can name its
// type.
var registry struct {
	mu    sync.Mutex
	types atomic.Pointer[[]*XType]
}

func register(t *XType) *XType {
	registry.mu.Lock()
	defer registry.mu.Unlock()
	var types []*XType
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

func typeByID(id uint32) *XType { return (*registry.types.Load())[id] }

// nested reports whether the elements, keys or values of the list or map type t are lists or maps.
func (t *XType) nested() bool {
	switch t.kind {
	case list:
		return t.elem.kind >= list
	case dict:
		return t.elem.kind >= list || t.key.kind >= list
	}
	return false
}

// nests reports whether a value of type t may have lists or maps in it whose elements, keys or
// values are lists or maps: parsing looks into these to find out whether they are of their
// declared types.
func nests(t *XType) bool {
	if t.kind == record {
		t.desc.program()
		return t.desc.nests
	}
	if t.nestedInside() {
		return true
	}
	for _, d := range t.structs(nil) {
		if d.program(); d.nests {
			return true
		}
	}
	return false
}

// headerSize returns the size of the list's or map's header.
func (t *XType) headerSize() uint32 {
	if t.kind == dict {
		return wire.MapHeader
	}
	return wire.ListHeader
}

// For generated code. XDesc describes a struct, union or exception. NewDesc makes it and Define
// completes it; afterwards it is read-only.
type XDesc struct {
	name      string
	self      *XType // the type that it describes
	info      *XInfo
	union     bool
	wide      bool // see wide.go
	nests     bool // see nests; known when there is a program
	exception bool
	widest    int    // words of the widest struct inside, or of itself; known when there is a program
	words     int    // of an index entry, or undefined
	first     uint32 // word of the first field
	fields    []field
	byID      []idField // by id−minID: how the parser finds a field at once
	minID     int16
	programs  atomic.Pointer[programs]
	// A nil pointer to the type of its handles, once checkDesc has found it out
	handle   atomic.Pointer[any]
	nested   atomic.Int32 // what nesting returns; 0: not known yet
	required []*field     // those that are required

	// What a new struct begins with: its fixed-size fields that are not optional.
	template       string
	templateFields []templateField
	wideTemplate   []templateField // in their place, if the struct is wide
	// Fields of variable size that a finished struct must have.
	owed []*field

	json       atomic.Pointer[jsonNames] // made when first asked for
	byNameOnce sync.Once
	byName     map[string]int // the fields' numbers; made when first asked for
}

type templateField struct{ word, off uint32 }

// idField tells the field with an id, in few bytes.
type idField struct {
	header uint32 // as field.header; noHeader: there is no field with this id
	number uint16
	kind   kind
	size   uint8 // as field.size
}

const noHeader = math.MaxUint32

// field is an XFieldDesc with what parsing asks of it.
type field struct {
	header uint32 // the field header: wire type and id, as a big-endian number of 24 bits
	word   uint32
	kind   kind
	size   uint8
	typ    *XType
	c      XField // the constant by which generated code names it
	XFieldDesc
	inEntry uint64 // what entries of a message's index have of it, see wireindex.FieldEntry

	defaultOnce sync.Once
	defaultView XStruct
	of          *XDesc                  // the field's struct
	unset       atomic.Pointer[Message] // see absent

	widest int // words of the widest struct inside; known once there is a program
}

// newStructDesc returns the descriptor of a struct. It must be completed by Define before use.
func newStructDesc(name string, info ...XInfo) *XDesc {
	return newDesc(&XDesc{name: name, info: onlyInfo(info)})
}

// newUnionDesc returns the descriptor of a union.
func newUnionDesc(name string, info ...XInfo) *XDesc {
	return newDesc(&XDesc{name: name, info: onlyInfo(info), union: true})
}

// newExceptionDesc returns the descriptor of an exception.
func newExceptionDesc(name string, info ...XInfo) *XDesc {
	return newDesc(&XDesc{name: name, info: onlyInfo(info), exception: true})
}

func newDesc(d *XDesc) *XDesc {
	d.self = &XType{wire: WireStruct, kind: record, desc: d}
	d.words = undefined
	return d
}

// mustBeDefined panics if t is a struct of which nothing but the name is known yet.
func (t *XType) mustBeDefined() {
	if t.desc != nil && t.desc.words == undefined {
		panic(panicUndefined)
	}
}

// undefined is the number of words of an entry before Define. It is negative enough that no index
// can be made for such entries, however many.
const undefined = min(math.MinInt>>12, -1<<28)

// Name returns the IDL's name of the struct.
func (d *XDesc) Name() string { return d.name }

// Define completes the descriptor with its fields in declaration order.
func (d *XDesc) Define(fields ...XFieldDesc) {
	d.define(fields)
}

// DefineWide completes the descriptor of a struct with more than entry.MaxDirect fields, whose
// constants have entry.Wide. The fields are in declaration order.
func (d *XDesc) DefineWide(fields ...XFieldDesc) {
	d.wide = true
	d.define(fields)
}

// define completes the descriptor of a struct that is wide or not.
func (d *XDesc) define(fields []XFieldDesc) {
	first, _ := entry.Layout(len(fields), d.union)
	flag := XField(0)
	if d.wide {
		flag = entry.Wide
	}
	d.first = uint32(first)
	span := first + len(fields)
	if span > math.MaxUint16 {
		panic("nocopy: " + d.name + " has too many fields")
	}
	if d.words = span; d.wide {
		d.words = wideWords
	}
	d.fields = make([]field, len(fields))
	minID, maxID := math.MaxInt16, math.MinInt16
	var template []byte
	for i := range fields {
		f := &d.fields[i]
		f.XFieldDesc, f.of = fields[i], d
		f.typ, f.kind, f.size = f.Type, f.Type.kind, f.Type.size
		if f.ID == entry.IndexID {
			panic("nocopy: " + d.name + "." + f.Name + " has the id of a message's index")
		}
		f.header = uint32(f.typ.wire)<<16 | uint32(uint16(f.ID))
		f.word = d.first + uint32(i)
		f.c = XField(f.word)<<entry.WordShift | XField(span)<<entry.WordsShift | flag | XField(f.header)
		f.inEntry = wireindex.FieldEntry(f.header, f.typ.hash())
		minID, maxID = min(minID, int(f.ID)), max(maxID, int(f.ID))
		template = d.addToTemplate(template, f)
	}
	d.template = string(template)
	if len(fields) == 0 {
		return
	}
	d.minID = int16(minID)
	d.byID = make([]idField, maxID-minID+1)
	for i := range d.byID {
		d.byID[i].header = noHeader
	}
	for i := range d.fields {
		f := &d.fields[i]
		d.byID[int(f.ID)-minID] = idField{f.header, uint16(i), f.kind, f.size}
	}
}

// inTemplate reports whether the field is in the bytes that a new struct of type d begins with.
func (f *field) inTemplate(d *XDesc) bool { return !d.union && f.Req != XOptional && f.kind == fixed }

// addToTemplate appends the bytes of f, if a new struct begins with them, to those of the fields
// before it. It notes what else is to be done for f when a message is finished.
func (d *XDesc) addToTemplate(template []byte, f *field) []byte {
	if f.Req == XRequired {
		d.required = append(d.required, f)
	}
	switch {
	case d.union || f.Req == XOptional:
	case f.inTemplate(d):
		at := templateField{f.word, uint32(len(template) + wire.FieldHeader)}
		if d.wide {
			d.wideTemplate = append(d.wideTemplate, at)
		} else {
			d.templateFields = append(d.templateFields, at)
		}
		template = append(template, byte(f.header>>16), byte(f.header>>8), byte(f.header))
		template = append(template, f.Default...)
		template = append(template, make([]byte, int(f.size)-len(f.Default))...)
	case f.Req == XRequired || f.Default != "":
		d.owed = append(d.owed, f)
	}
	return template
}

// byHeader returns the field with this header, nil if there is none.
func (d *XDesc) byHeader(key uint32) *idField {
	if i := uint16(key) - uint16(d.minID); int(i) < len(d.byID) && d.byID[i].header == key {
		return &d.byID[i]
	}
	return nil
}

// fieldNumber returns the number of the field with this header, -1 if there is none.
func (d *XDesc) fieldNumber(key uint32) int {
	if s := d.byHeader(key); s != nil {
		return int(s.number)
	}
	return -1
}

// find returns the field with this header, nil if there is none.
func (d *XDesc) find(key uint32) *field {
	if i := d.fieldNumber(key); i >= 0 {
		return &d.fields[i]
	}
	return nil
}

// field returns the description of a field that generated code names by its constant.
func (d *XDesc) field(f XField) *field { return &d.fields[f.word()-d.first] }

// constant returns the constant by which generated code names field i.
func (d *XDesc) constant(i int) XField { return d.fields[i].c }

// span returns how many words the entry would have if the struct were not wide.
func (d *XDesc) span() uint32 { return d.first + uint32(len(d.fields)) }

// appendZero appends the value of type t that stands for none: zero, empty, or a struct with what
// a new one has.
func appendZero(dst []byte, t *XType) []byte {
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
		dst = append(dst, byte(f.header>>16), byte(f.header>>8), byte(f.header))
		dst = f.appendDefault(dst)
	}
	return append(dst, 0)
}

// appendDefault appends the value that finishing gives to the field if it must be there and was
// not set.
func (f *field) appendDefault(dst []byte) []byte {
	if f.Default != "" {
		return append(dst, f.Default...)
	}
	return appendZero(dst, f.typ)
}

// For generated code. XField is one constant for a field of a struct: its wire type and id, its
// word in the struct's entry, and the number of words of that entry. Package entry has the layout.
type XField uint64

func (f XField) word() uint32 { return uint32(f >> entry.WordShift) }

func (f XField) words() uint32 { return uint32(f>>entry.WordsShift) & math.MaxUint16 }

func (f XField) wire() WireType { return WireType(f >> entry.WireShift) }

// header returns the field header: wire type and id, as a big-endian number of 24 bits.
func (f XField) header() uint32 { return uint32(f) & 0xffffff }

// typeHash returns a hash of the wire types that a value of type t is made of: its own and those
// of its elements, keys and values, but not of the fields of structs.
func (t *XType) typeHash() uint32 { return t.hash() >> (32 - wireindex.BitsPerNumber) }

func (t *XType) hash() uint32 {
	h := (2166136261 ^ uint32(t.wire)) * 16777619
	for _, inside := range []*XType{t.key, t.elem} {
		if inside != nil {
			h = (h ^ inside.hash()) * 16777619
		}
	}
	return h
}
