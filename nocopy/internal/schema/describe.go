package schema

import (
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// Info holds the comment before a declaration in the IDL, and the annotations after it, in order.
type Info struct {
	Doc         string
	Annotations []Annotation
}

// Annotation is an annotation of the IDL: (name = "value"), or (name), whose
// value is "1".
type Annotation struct{ Name, Value string }

// Annotation returns the value of the last annotation with this name, and whether there is one.
func (i *Info) Annotation(name string) (value string, ok bool) {
	for _, a := range slices.Backward(i.Annotations) {
		if a.Name == name {
			return a.Value, true
		}
	}
	return "", false
}

// onlyInfo returns the Info that was passed to a constructor, or nil.
func onlyInfo(info []Info) *Info {
	if len(info) == 0 {
		return &Info{}
	}
	return &info[0]
}

// Info returns the comment and annotations of the struct.
func (d *Struct) Info() *Info { return d.info }

// IsUnion reports whether d describes a union.
func (d *Struct) IsUnion() bool { return d.union }

// IsException reports whether d describes an exception.
func (d *Struct) IsException() bool { return d.exception }

// NumFields returns the number of fields.
func (d *Struct) NumFields() int { return len(d.fields) }

// FieldDesc returns field i, in declaration order. It must not be changed.
func (d *Struct) FieldDesc(i int) *FieldDesc { return &d.fields[i].FieldDesc }

// Field returns the constant that identifies field i in the accessors of engine.Struct.
func (d *Struct) Field(i int) Ref { return d.fields[i].c }

// AppendDefault appends field f as Finish adds it if it is required and not set.
func (d *Struct) AppendDefault(dst []byte, f Ref) []byte {
	fd := d.FieldOf(f)
	dst = append(dst, byte(fd.header>>16), byte(fd.header>>8), byte(fd.header))
	return fd.AppendDefault(dst)
}

// NextRequired returns the number of the first required field from field i on. If there is none,
// as in unions, it returns d.NumFields().
func (d *Struct) NextRequired(i int) int {
	k, _ := slices.BinarySearchFunc(d.required, i, func(f *Field, i int) int {
		return int(f.word-d.first) - i
	})
	if d.union || k == len(d.required) {
		return len(d.fields)
	}
	return int(d.required[k].word - d.first)
}

// NumberByID returns the number of the field with this id, or −1.
func (d *Struct) NumberByID(id int16) int {
	if i := int(id) - int(d.minID); i >= 0 && i < len(d.byID) && d.byID[i].header != noHeader {
		return int(d.byID[i].Number)
	}
	return -1
}

// NumberByName returns the number of the field with this name, or −1.
func (d *Struct) NumberByName(name string) int {
	d.byNameOnce.Do(func() {
		d.byName = make(map[string]int, len(d.fields))
		for i := range d.fields {
			d.byName[d.fields[i].Name] = i
		}
	})
	if i, ok := d.byName[name]; ok {
		return i
	}
	return -1
}

// String returns the type in the syntax of the IDL.
func (t *Type) String() string {
	switch {
	case t == nil:
		return "none"
	case t.desc != nil:
		return t.desc.name
	case t.enum != nil:
		return t.enum.name
	case t.binary:
		return "binary"
	case t.kind == Dict:
		return "map<" + t.key.String() + ", " + t.elem.String() + ">"
	case t.kind == List:
		return t.wire.String() + "<" + t.elem.String() + ">"
	}
	return t.wire.String()
}

// Enum describes an enum.
type Enum struct {
	name   string
	info   *Info
	values []EnumValue // in declaration order
	once   sync.Once
	// The first name of each number; made at first use
	byNumber map[int32]string
	byName   map[string]int32
	typ      Type
}

// Type returns the type of the enum.
func (e *Enum) Type() *Type { return &e.typ }

// EnumValue is a value of an enum. Several may have the same number.
type EnumValue struct {
	Name  string
	Value int32
	Info  Info
}

// NewEnum returns the descriptor of an enum with these values.
func NewEnum(name string, values []EnumValue, info []Info) *Enum {
	e := &Enum{name: name, values: values, info: onlyInfo(info)}
	e.typ = Type{wire: wire.I32, size: 4, enum: e}
	return e
}

// TypeName returns the IDL's name of the enum.
func (e *Enum) TypeName() string { return e.name }

// Info returns the comment and annotations of the enum.
func (e *Enum) Info() *Info { return e.info }

// Values returns the values in declaration order. They must not be changed.
func (e *Enum) Values() []EnumValue { return e.values }

func (e *Enum) index() {
	e.byNumber, e.byName = make(map[int32]string, len(e.values)), make(map[string]int32, len(e.values))
	for _, v := range slices.Backward(e.values) {
		e.byNumber[v.Value], e.byName[v.Name] = v.Name, v.Value
	}
}

// Name returns the IDL's name of a number, the first if there are several, or "".
func (e *Enum) Name(v int32) string {
	e.once.Do(e.index)
	return e.byNumber[v]
}

// Value returns the number of the value with this name in the IDL, and whether there is one.
func (e *Enum) Value(name string) (v int32, ok bool) {
	e.once.Do(e.index)
	v, ok = e.byName[name]
	return v, ok
}

// Text returns the name of a number, or the number in digits if it has no name.
func (e *Enum) Text(v int32) string {
	if name := e.Name(v); name != "" {
		return name
	}
	return e.name + "(" + strconv.Itoa(int(v)) + ")"
}

// Parse returns the number of the value with this name in the IDL, or an error.
func (e *Enum) Parse(name string) (int32, error) {
	if v, ok := e.Value(name); ok {
		return v, nil
	}
	return 0, fmt.Errorf("%q is not a %s", name, e.name)
}

// File registers the descriptors of one IDL file.
type File struct {
	Name     string // of the IDL file, without its folder
	Structs  []*Struct
	Enums    []*Enum
	Consts   []Const
	Services []Service

	caller uintptr
}

// Const describes a constant of the IDL.
type Const struct {
	Name string
	Type *Type
	Wire string // the wire bytes of its value
	Info Info
}

// Service describes a service.
type Service struct {
	Name    string
	Extends string // the IDL's name of the extended service, with its file: base.Base
	Methods []Method
	Info    Info
}

// Method describes a method of a service by the structs of its arguments and result. The result
// has field 0 for the return value, and one field per declared exception. It is nil for a oneway
// method.
type Method struct {
	Name         string
	Args, Result *Struct
	Info         Info
}

// files are the registered files, in the order of registration.
var files struct {
	mu  sync.Mutex
	all []*File
}

// Register adds a file to the result of Files. caller is a program counter in the package that
// registers it.
func Register(f *File, caller uintptr) {
	f.caller = caller
	files.mu.Lock()
	defer files.mu.Unlock()
	files.all = append(files.all, f)
}

// Files returns the IDL files of all generated packages in the program.
func Files() []*File {
	files.mu.Lock()
	defer files.mu.Unlock()
	return slices.Clone(files.all)
}

// GoPackage returns the import path of the package that registered the file, or "" for a file that
// no package registered.
func (f *File) GoPackage() string {
	if f.caller == 0 {
		return ""
	}
	frame, _ := runtime.CallersFrames([]uintptr{f.caller}).Next()
	name := frame.Function
	slash := strings.LastIndexByte(name, '/') + 1
	dot := strings.IndexByte(name[slash:], '.')
	if dot < 0 {
		return name
	}
	return name[:slash+dot]
}

// ArmName returns the IDL's name of a union's field, by its number as Which returns it. It returns
// "none" for 0, and the number if no field has it.
func (d *Struct) ArmName(number int32) string {
	switch f := d.arm(number); {
	case f != nil:
		return f.Name
	case number == 0:
		return "none"
	}
	return strconv.Itoa(int(number))
}

// ArmID returns the id of a union's field, by its number as Which returns it, or 0 if no field
// has it.
func (d *Struct) ArmID(number int32) int16 {
	if f := d.arm(number); f != nil {
		return f.ID
	}
	return 0
}

func (d *Struct) arm(number int32) *Field {
	if i := int64(number) - int64(d.firstNumber); number > 0 && i >= 0 && i < int64(len(d.fields)) {
		return &d.fields[i]
	}
	return nil
}

// Redacted reports whether text and logs must omit the value of a field or struct. It is true for
// the annotation (nocopy.redact), unless its value is "0" or "false".
func (i *Info) Redacted() bool {
	if len(i.Annotations) == 0 {
		return false
	}
	v, ok := i.Annotation("nocopy.redact")
	return ok && v != "0" && v != "false"
}
