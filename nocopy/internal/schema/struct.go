package schema

import (
	"math"
	"sync"
	"sync/atomic"

	"github.com/nocopythrift/nocopythrift/internal/entry"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wireindex"
)

// Struct describes a struct, union or exception. NewStruct makes it and Define
// completes it; afterwards it is read-only.
type Struct struct {
	name        string
	goName      string // of the generated type, if it is another one
	self        *Type  // the type of the struct
	info        *Info
	union       bool
	wide        bool // see wide.go of package index
	exception   bool
	words       int    // of an index entry, or undefined
	first       uint32 // word of the first field
	firstNumber uint32 // see Ref.Number
	fields      []Field
	byID        []IDField // by id−minID: the parser finds a field in one step
	minID       int16
	programs    atomic.Pointer[Programs]
	facts       atomic.Pointer[facts]  // of its contents; nil if not yet known
	same        atomic.Pointer[Struct] // the last one that SameDescs found to be alike
	sameLayout  atomic.Pointer[Struct] // the last one that SameLayout found to be alike
	required    []*Field               // the required fields

	// The wire bytes with which a new struct begins: its fixed-size fields that are not optional.
	template       string
	templateFields []TemplateField
	wideTemplate   []TemplateField // used instead if the struct is wide
	// Fields of variable size that a finished struct must have.
	added []*Field

	// Kept by packages nocopy and nocopyjson: a nil pointer to the type of handles, the names in JSON
	HandleType, JSON atomic.Pointer[any]

	byNameOnce sync.Once
	byName     map[string]int // the fields' numbers; made at first use
}

// NewStruct returns the descriptor of a struct. It must be completed by Define before use.
func NewStruct(name string, info ...Info) *Struct {
	return newDesc(&Struct{name: name, info: onlyInfo(info)})
}

// NewUnion returns the descriptor of a union.
func NewUnion(name string, info ...Info) *Struct {
	return newDesc(&Struct{name: name, info: onlyInfo(info), union: true})
}

// NewException returns the descriptor of an exception.
func NewException(name string, info ...Info) *Struct {
	return newDesc(&Struct{name: name, info: onlyInfo(info), exception: true})
}

func newDesc(d *Struct) *Struct {
	d.self = &Type{wire: wire.Struct, kind: Record, desc: d}
	d.words = undefined
	return d
}

// PanicUndefined is the text of the panic when a struct is used before it is complete.
const PanicUndefined = "nocopy: struct used before the init function of its package has described it: " +
	"make messages in functions that are called later, not to initialize variables of that package"

// undefined is the number of words of an entry before Define. It is so negative that no index can
// be made of any number of such entries.
const undefined = min(math.MinInt>>12, -1<<28)

// Name returns the IDL's name of the struct.
func (d *Struct) Name() string { return d.name }

// GoType sets the name of the generated type, which differs from the IDL's, and returns d.
func (d *Struct) GoType(name string) *Struct {
	d.goName = name
	return d
}

// GoName returns the name of the generated type. Without generated code it is the IDL's.
func (d *Struct) GoName() string {
	if d.goName != "" {
		return d.goName
	}
	return d.name
}

// DefineWide is Define for a struct with more than entry.MaxDirect fields, whose constants have
// entry.Wide.
func (d *Struct) DefineWide(fields ...FieldDesc) {
	d.wide = true
	d.Define(fields...)
}

// Define completes the descriptor with its fields in declaration order.
func (d *Struct) Define(fields ...FieldDesc) {
	d.firstNumber = uint32(entry.First(d.union))
	end := d.firstNumber + uint32(len(fields))
	every := Ref(end) << entry.EndShift // what the constants of all fields say
	if d.union {
		every |= entry.Union
	}
	if d.wide {
		every |= entry.Wide
	}
	d.first = d.firstNumber + entry.Displacement
	span := int(end) + entry.Displacement
	if span > math.MaxUint16 {
		panic("nocopy: " + d.name + " has too many fields")
	}
	if d.words = span; d.wide {
		d.words = entry.WideWords
	}
	d.fields = make([]Field, len(fields))
	minID, maxID := math.MaxInt16, math.MinInt16
	var template []byte
	for i := range fields {
		f := &d.fields[i]
		f.FieldDesc, f.of = fields[i], d
		f.kind, f.size = f.Type.kind, f.Type.size
		if f.ID == entry.IndexID {
			panic("nocopy: " + d.name + "." + f.Name + " has the id of a message's index")
		}
		f.header = uint32(f.Type.wire)<<16 | uint32(uint16(f.ID))
		f.word = d.first + uint32(i)
		f.c = Ref(d.firstNumber+uint32(i))<<entry.NumberShift | every | Ref(f.header)
		f.inEntry = wireindex.FieldEntry(f.header, f.Type.hash())
		minID, maxID = min(minID, int(f.ID)), max(maxID, int(f.ID))
		template = d.addToTemplate(template, f)
	}
	d.template = string(template)
	if len(fields) == 0 {
		return
	}
	d.minID = int16(minID)
	d.byID = make([]IDField, maxID-minID+1)
	for i := range d.byID {
		d.byID[i].header = noHeader
	}
	for i := range d.fields {
		f := &d.fields[i]
		d.byID[int(f.ID)-minID] = IDField{f.header, uint16(i), f.kind, f.size}
	}
}

// addToTemplate appends the bytes of f to the template if they belong there. Otherwise it notes
// what Finish has to do for f.
func (d *Struct) addToTemplate(template []byte, f *Field) []byte {
	if f.Req == Required {
		d.required = append(d.required, f)
	}
	switch {
	case d.union || f.Req == Optional:
	case f.InTemplate(d):
		at := TemplateField{f.word, uint32(len(template) + wire.FieldHeader)}
		if d.wide {
			d.wideTemplate = append(d.wideTemplate, at)
		} else {
			d.templateFields = append(d.templateFields, at)
		}
		template = append(template, byte(f.header>>16), byte(f.header>>8), byte(f.header))
		template = append(template, f.Default...)
		template = append(template, make([]byte, int(f.size)-len(f.Default))...)
	case f.Req == Required || f.Default != "":
		d.added = append(d.added, f)
	}
	return template
}

// ByHeader returns the field with this header, or nil.
func (d *Struct) ByHeader(key uint32) *IDField {
	if i := uint16(key) - uint16(d.minID); int(i) < len(d.byID) && d.byID[i].header == key {
		return &d.byID[i]
	}
	return nil
}

// Find returns the field with this header, or nil.
func (d *Struct) Find(key uint32) *Field {
	if s := d.ByHeader(key); s != nil {
		return &d.fields[s.Number]
	}
	return nil
}

// FieldOf returns the field that a constant of generated code identifies.
func (d *Struct) FieldOf(f Ref) *Field { return &d.fields[f.Number()-d.firstNumber] }

// Span returns the number of words that the entry would have if the struct were not wide.
func (d *Struct) Span() uint32 { return d.first + uint32(len(d.fields)) }

// Programs has the offsets at which a struct's programs begin.
type Programs struct {
	Start uint32 // for the order of the IDL
	Built uint32 // for the order in which New writes the fields; 0 if the order is the same
	Ended uint32 // the op KindEnded
}

// Type returns the type that d describes.
func (d *Struct) Type() *Type { return d.self }

// IsWide reports whether the entries of structs of type d have tables.
func (d *Struct) IsWide() bool { return d.wide }

// Words returns the number of words of an entry. It is negative before Define.
func (d *Struct) Words() int { return d.words }

// First returns the number of the first field's word.
func (d *Struct) First() uint32 { return d.first }

// Fields returns the fields in declaration order.
func (d *Struct) Fields() []Field { return d.fields }

// Required returns the required fields.
func (d *Struct) Required() []*Field { return d.required }

// Template returns the wire bytes with which a new struct begins: its fixed-size fields that are
// not optional.
func (d *Struct) Template() string { return d.template }

// TemplateFields returns the offsets of the template's fields.
func (d *Struct) TemplateFields() []TemplateField { return d.templateFields }

// WideTemplate returns the offsets of the template's fields of a wide struct.
func (d *Struct) WideTemplate() []TemplateField { return d.wideTemplate }

// AddedIfUnset returns the fields of variable size that finishing a struct adds if they are unset.
func (d *Struct) AddedIfUnset() []*Field { return d.added }

// Programs returns the programs of the struct, or nil if it has not been compiled.
func (d *Struct) Programs() *Programs { return d.programs.Load() }

// SetPrograms stores the programs of the struct.
func (d *Struct) SetPrograms(p *Programs) { d.programs.Store(p) }
