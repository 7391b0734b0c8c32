package schema

import (
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/nocopythrift/nocopythrift/internal/entry"
	"github.com/nocopythrift/nocopythrift/internal/memory"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wireindex"
)

// Type describes the type of a field or of an element.
type Type struct {
	wire   wire.Type
	kind   Kind
	size   uint8 // in bytes, of a fixed-size value
	binary bool
	desc   *Struct // struct
	elem   *Type   // list and set: element; map: value
	key    *Type   // map
	enum   *Enum
	id     uint32 // number in the registry; containers only

	// Offsets in the code of the programs for a value and for its contents, or 0 before they are
	// needed.
	Value, Inside atomic.Uint32
}

// Kind groups the wire types by how they are indexed.
type Kind uint8

// The kinds, each with the meaning of the word of such a value.
const (
	Fixed  Kind = iota // a position
	Text               // a position, or a node
	Record             // a struct's entry
	List               // a list's or set's entry
	Dict               // a map's entry
)

// The types without parameters.
var (
	TypeBool   = &Type{wire: wire.Bool, size: 1}
	TypeI8     = &Type{wire: wire.I8, size: 1}
	TypeI16    = &Type{wire: wire.I16, size: 2}
	TypeI32    = &Type{wire: wire.I32, size: 4}
	TypeI64    = &Type{wire: wire.I64, size: 8}
	TypeDouble = &Type{wire: wire.Double, size: 8}
	TypeUUID   = &Type{wire: wire.UUID, size: 16}
	TypeString = &Type{wire: wire.String, kind: Text}
	TypeBinary = &Type{wire: wire.String, kind: Text, binary: true}
)

// baseTypes has the types without parameters by wire type. For wire.String it has string, not
// binary.
var baseTypes = [wire.UUID + 1]*Type{
	wire.Bool: TypeBool, wire.I8: TypeI8, wire.I16: TypeI16, wire.I32: TypeI32, wire.I64: TypeI64,
	wire.Double: TypeDouble, wire.UUID: TypeUUID, wire.String: TypeString,
}

// StructOf returns the type of the struct, union or exception that d describes.
func StructOf(d *Struct) *Type { return d.self }

// ListOf returns the type of a list.
func ListOf(elem *Type) *Type { return register(&Type{wire: wire.List, kind: List, elem: elem}) }

// SetOf returns the type of a set.
func SetOf(elem *Type) *Type { return register(&Type{wire: wire.Set, kind: List, elem: elem}) }

// MapOf returns the type of a map.
func MapOf(key, value *Type) *Type {
	return register(&Type{wire: wire.Map, kind: Dict, key: key, elem: value})
}

// registry numbers the container types. An index entry consists of plain words, and names its type
// by this number.
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
	if t.id = uint32(len(types)); t.id >= memory.FirstPos { // must differ from positions
		panic("nocopy: more than " + strconv.Itoa(int(memory.FirstPos)) + " types")
	}
	types = append(types, t)
	registry.types.Store(&types)
	return t
}

func TypeByID(id uint32) *Type { return (*registry.types.Load())[id] }

// Nested reports whether the elements, keys or values of the list or map type t are lists or maps.
func (t *Type) Nested() bool {
	switch t.kind {
	case List:
		return t.elem.kind >= List
	case Dict:
		return t.elem.kind >= List || t.key.kind >= List
	}
	return false
}

// HeaderSize returns the size of the list's or map's header.
func (t *Type) HeaderSize() uint32 {
	if t.kind == Dict {
		return wire.MapHeader
	}
	return wire.ListHeader
}

// MustBeDefined panics if t is a struct without Define.
func (t *Type) MustBeDefined() {
	if t.desc != nil && t.desc.words == undefined {
		panic(PanicUndefined)
	}
}

// AppendZero appends the zero value of type t: 0, an empty string or container, or a new, finished
// struct.
func AppendZero(dst []byte, t *Type) []byte {
	switch t.kind {
	case Fixed:
		return append(dst, make([]byte, t.size)...)
	case Text:
		return append(dst, 0, 0, 0, 0)
	case List:
		return append(dst, byte(t.elem.wire), 0, 0, 0, 0)
	case Dict:
		return append(dst, byte(t.key.wire), byte(t.elem.wire), 0, 0, 0, 0)
	}
	dst = append(dst, t.desc.template...)
	for _, f := range t.desc.added {
		dst = append(dst, byte(f.header>>16), byte(f.header>>8), byte(f.header))
		dst = f.AppendDefault(dst)
	}
	return append(dst, 0)
}

// Hash returns a hash of the wire types in a value of type t: its own type, and the types of its
// elements, keys and values at any depth. Types of fields in structs do not count.
func (t *Type) Hash() uint32 { return t.hash() >> (32 - wireindex.BitsPerNumber) }

func (t *Type) hash() uint32 {
	h := (2166136261 ^ uint32(t.wire)) * 16777619
	for _, inside := range []*Type{t.key, t.elem} {
		if inside != nil {
			h = (h ^ inside.hash()) * 16777619
		}
	}
	return h
}

// OfViews reports whether the elements of a list or set, or the keys of a map, are structs or
// containers.
func (t *Type) OfViews() bool {
	return t.kind == List && t.elem.kind >= Record || t.kind == Dict && t.key.kind >= Record
}

// ElemWords returns the number of words in the slot of an element or pair.
func (t *Type) ElemWords() int {
	switch {
	case t.kind == Dict:
		return entry.PairWords
	case t.elem.kind == Fixed:
		return 0
	case t.elem.kind == Record:
		return t.elem.desc.words
	}
	return 1
}

// Wire returns the wire type of values of type t.
func (t *Type) Wire() wire.Type { return t.wire }

// Binary reports whether t is binary. On the wire a binary has the type of a string.
func (t *Type) Binary() bool { return t.binary }

// Struct returns the descriptor of a struct, union or exception, and nil for other types.
func (t *Type) Struct() *Struct { return t.desc }

// Enum returns the descriptor of an enum, and nil for other types.
func (t *Type) Enum() *Enum { return t.enum }

// Elem returns the element type of a list or set, the value type of a map, and nil for other
// types.
func (t *Type) Elem() *Type { return t.elem }

// Key returns the key type of a map, and nil for other types.
func (t *Type) Key() *Type { return t.key }

// Kind says how values of type t are indexed.
func (t *Type) Kind() Kind { return t.kind }

// Size returns the size in bytes of values of fixed size.
func (t *Type) Size() uint8 { return t.size }

// ID returns the number of a container type, see TypeByID.
func (t *Type) ID() uint32 { return t.id }

// Types returns all container types by their numbers.
func Types() []*Type { return *registry.types.Load() }

// AnyStruct returns a type that stands for any struct. Only its kind may be read.
func AnyStruct() *Type { return &Type{wire: wire.Struct, kind: Record} }

// BaseType returns the type of a bool, number, string or uuid.
func BaseType(t wire.Type) *Type {
	if int(t) >= len(baseTypes) || baseTypes[t] == nil {
		panic("nocopy: " + t.String() + " is no base type")
	}
	return baseTypes[t]
}
