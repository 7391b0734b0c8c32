package schema

import (
	"math"
	"strconv"
	"sync/atomic"

	"github.com/nocopythrift/nocopythrift/internal/entry"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// Requiredness reports whether the IDL declares a field required or optional.
type Requiredness uint8

// The requirednesses of the IDL. DefaultReq is for a field that is declared neither required nor
// optional.
const (
	DefaultReq Requiredness = iota
	Required
	Optional
)

// String returns "default", "required" or "optional".
func (r Requiredness) String() string {
	if r > Optional {
		return "XRequiredness(" + strconv.Itoa(int(r)) + ")"
	}
	return [...]string{"default", "required", "optional"}[r]
}

// FieldDesc describes one field of a struct. Default holds the wire bytes of
// the IDL default.
type FieldDesc struct {
	ID      int16
	Name    string
	Type    *Type
	Req     Requiredness
	Default string
	Info    Info
}

// TemplateField gives the offset in the template of the field with this word.
type TemplateField struct{ Word, Off uint32 }

// IDField is a short form of a Field, for the table by ids.
type IDField struct {
	header uint32 // as Field.header; noHeader if no field has this id
	Number uint16
	Kind   Kind
	Size   uint8 // as Field.size
}

const noHeader = math.MaxUint32

// Field is a FieldDesc together with the facts that parsing needs.
type Field struct {
	header uint32 // the field header: wire type and id, as a big-endian number of 24 bits
	word   uint32
	kind   Kind
	size   uint8
	c      Ref // the constant that identifies it in generated code
	FieldDesc
	inEntry uint64 // its form in the entries of a wire index, see wireindex.FieldEntry

	of     *Struct             // the field's struct
	Absent atomic.Pointer[any] // the value of the unset field, kept by package nocopy
}

// InTemplate reports whether the field is in the template, with which a new struct of type d
// begins.
func (f *Field) InTemplate(d *Struct) bool { return !d.union && f.Req != Optional && f.kind == Fixed }

// AppendDefault appends the value that Finish gives to the field if it must be present and was not
// set.
func (f *Field) AppendDefault(dst []byte) []byte {
	if f.Default != "" {
		return append(dst, f.Default...)
	}
	return AppendZero(dst, f.Type)
}

// Ref identifies a field of a struct in one constant: its wire type and id, its number, and how
// many there are. Package entry says where they stand in it. None of that depends on the layout of
// the index.
type Ref uint64

// Number returns the field's number in the IDL's order, which begins with entry.FirstNumber or
// entry.FirstArm.
func (f Ref) Number() uint32 { return uint32(f >> entry.NumberShift) }

// Word returns the number of the field's word.
func (f Ref) Word() uint32 { return uint32(f>>entry.NumberShift) + entry.Displacement }

// Words returns the number of words that the struct's entry would have if it were not wide.
func (f Ref) Words() uint32 { return uint32(f>>entry.EndShift)&math.MaxUint16 + entry.Displacement }

// Wire returns the field's wire type.
func (f Ref) Wire() wire.Type { return wire.Type(f >> entry.WireShift) }

// Header returns the field header: wire type and id, as a big-endian number of 24 bits.
func (f Ref) Header() uint32 { return uint32(f) & 0xffffff }

// FixedList reports whether the field is a list or set of elements of fixed size.
func (f *Field) FixedList() bool { return f.kind == List && f.Type.elem.kind == Fixed }

// Wide reports whether the field belongs to a wide struct.
func (f Ref) Wide() bool { return int32(f) < 0 }

// Header returns the field header: wire type and id, as a big-endian number of 24 bits.
func (f *Field) Header() uint32 { return f.header }

// Word returns the number of the field's word.
func (f *Field) Word() uint32 { return f.word }

// Kind says how the field is indexed.
func (f *Field) Kind() Kind { return f.kind }

// Size returns the size in bytes of a field of fixed size.
func (f *Field) Size() uint8 { return f.size }

// Ref returns the constant that identifies the field in generated code.
func (f *Field) Ref() Ref { return f.c }

// Of returns the struct to which the field belongs.
func (f *Field) Of() *Struct { return f.of }

// InEntry returns the field's form in the entries of a wire index, see wireindex.FieldEntry.
func (f *Field) InEntry() uint64 { return f.inEntry }
