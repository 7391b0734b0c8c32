package nocopy

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
)

// For generated code. XInfo holds the comment before a declaration in the IDL and the annotations
// after it, in their order.
type XInfo struct {
	Doc         string
	Annotations []XAnnotation
}

// For generated code. XAnnotation is an annotation of the IDL: (name = "value"), or (name), whose
// value is "1".
type XAnnotation struct{ Name, Value string }

// Annotation returns the value of the last annotation with this name, and whether there is one.
func (i *XInfo) Annotation(name string) (value string, ok bool) {
	for _, a := range slices.Backward(i.Annotations) {
		if a.Name == name {
			return a.Value, true
		}
	}
	return "", false
}

// onlyInfo returns what a constructor was given, if it was.
func onlyInfo(info []XInfo) *XInfo {
	if len(info) == 0 {
		return &XInfo{}
	}
	return &info[0]
}

// Info returns the comment and annotations of the struct.
func (d *XDesc) Info() *XInfo { return d.info }

// IsUnion reports whether d describes a union.
func (d *XDesc) IsUnion() bool { return d.union }

// IsException reports whether d describes an exception.
func (d *XDesc) IsException() bool { return d.exception }

// NumFields returns the number of fields.
func (d *XDesc) NumFields() int { return len(d.fields) }

// FieldDesc returns field i, in declaration order. It must not be changed.
func (d *XDesc) FieldDesc(i int) *XFieldDesc { return &d.fields[i].XFieldDesc }

// Field returns the constant that identifies field i in the accessors of XStruct.
func (d *XDesc) Field(i int) XField { return d.constant(i) }

// AppendDefault appends field f as finishing adds it if it is required and not set.
func (d *XDesc) AppendDefault(dst []byte, f XField) []byte {
	fd := d.field(f)
	dst = append(dst, byte(fd.header>>16), byte(fd.header>>8), byte(fd.header))
	return fd.appendDefault(dst)
}

// NextRequired returns the number of the first required field from field i on. If there is none,
// as in unions, it returns d.NumFields().
func (d *XDesc) NextRequired(i int) int {
	k, _ := slices.BinarySearchFunc(d.required, i, func(f *field, i int) int {
		return int(f.word-d.first) - i
	})
	if d.union || k == len(d.required) {
		return len(d.fields)
	}
	return int(d.required[k].word - d.first)
}

// NumberByID returns the number of the field with this id, or −1.
func (d *XDesc) NumberByID(id int16) int {
	if i := int(id) - int(d.minID); i >= 0 && i < len(d.byID) && d.byID[i].header != noHeader {
		return int(d.byID[i].number)
	}
	return -1
}

// NumberByName returns the number of the field with this name, or −1.
func (d *XDesc) NumberByName(name string) int {
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

// Wire returns the wire type of values of type t.
func (t *XType) Wire() WireType { return t.wire }

// Binary reports whether t is binary. On the wire a binary has the type of a string.
func (t *XType) Binary() bool { return t.binary }

// Struct returns the descriptor of a struct, union or exception, and nil for other types.
func (t *XType) Struct() *XDesc { return t.desc }

// Enum returns the descriptor of an enum, and nil for other types.
func (t *XType) Enum() *XEnum { return t.enum }

// Elem returns the element type of a list or set, the value type of a map, and nil for other
// types.
func (t *XType) Elem() *XType { return t.elem }

// Key returns the key type of a map, and nil for other types.
func (t *XType) Key() *XType { return t.key }

// String returns the type in the syntax of the IDL.
func (t *XType) String() string {
	switch {
	case t == nil:
		return "none"
	case t.desc != nil:
		return t.desc.name
	case t.enum != nil:
		return t.enum.name
	case t.binary:
		return "binary"
	case t.kind == dict:
		return "map<" + t.key.String() + ", " + t.elem.String() + ">"
	case t.kind == list:
		return t.wire.String() + "<" + t.elem.String() + ">"
	}
	return t.wire.String()
}

// For generated code. XEnum describes an enum.
type XEnum struct {
	name   string
	info   *XInfo
	values []XEnumValue // in declaration order
	once   sync.Once
	// Of values with the same number, the first one; made when first asked for
	byNumber map[int32]string
	byName   map[string]int32
	typ      XType
}

// For generated code. XEnumValue is a value of an enum. Several may have the same number.
type XEnumValue struct {
	Name  string
	Value int32
	Info  XInfo
}

// newEnum returns the descriptor of an enum with these values.
func newEnum(name string, values []XEnumValue, info []XInfo) *XEnum {
	e := &XEnum{name: name, values: values, info: onlyInfo(info)}
	e.typ = XType{wire: WireI32, size: 4, enum: e}
	return e
}

// TypeName returns the IDL's name of the enum.
func (e *XEnum) TypeName() string { return e.name }

// Info returns the comment and annotations of the enum.
func (e *XEnum) Info() *XInfo { return e.info }

// Values returns the values in declaration order. They must not be changed.
func (e *XEnum) Values() []XEnumValue { return e.values }

func (e *XEnum) index() {
	e.byNumber, e.byName = make(map[int32]string, len(e.values)), make(map[string]int32, len(e.values))
	for _, v := range slices.Backward(e.values) {
		e.byNumber[v.Value], e.byName[v.Name] = v.Name, v.Value
	}
}

// Name returns the IDL's name of a number, or "". If there are several, it is the first.
func (e *XEnum) Name(v int32) string {
	e.once.Do(e.index)
	return e.byNumber[v]
}

// Value returns the number of the value with this name in the IDL, and whether there is one.
func (e *XEnum) Value(name string) (v int32, ok bool) {
	e.once.Do(e.index)
	v, ok = e.byName[name]
	return v, ok
}

// Text returns the name of a number, or the number in digits if it has no name.
func (e *XEnum) Text(v int32) string {
	if name := e.Name(v); name != "" {
		return name
	}
	return e.name + "(" + itoa(int(v)) + ")"
}

// Parse returns the number of the value with this name in the IDL, or an error.
func (e *XEnum) Parse(name string) (int32, error) {
	if v, ok := e.Value(name); ok {
		return v, nil
	}
	return 0, fmt.Errorf("%q is not a %s", name, e.name)
}

// For generated code. XFile registers the descriptors of one IDL file.
type XFile struct {
	Name     string // of the IDL file, without its folder
	Structs  []*XDesc
	Enums    []*XEnum
	Consts   []XConstDesc
	Services []XService

	caller uintptr
}

// For generated code. XConstDesc describes a constant of the IDL.
type XConstDesc struct {
	Name string
	Type *XType
	Wire string // its value's wire bytes
	Info XInfo
}

// For generated code. XService describes a service.
type XService struct {
	Name    string
	Extends string // the IDL's name of the extended service, with its file: base.Base
	Methods []XMethod
	Info    XInfo
}

// For generated code. XMethod describes a method of a service by the structs of its calls and
// replies. The result has field 0 for the return value, and one field per declared exception. A
// oneway method has no result: it is nil.
type XMethod struct {
	Name         string
	Args, Result *XDesc
	Info         XInfo
}

// files are the registered files, in the order of registration.
var files struct {
	mu  sync.Mutex
	all []*XFile
}

// Register adds a file to the result of Files.
func (X) Register(f *XFile) {
	var caller [1]uintptr
	runtime.Callers(3, caller[:])
	f.caller = caller[0]
	files.mu.Lock()
	defer files.mu.Unlock()
	files.all = append(files.all, f)
}

// Files returns the IDL files of all generated packages in the program.
func (X) Files() []*XFile {
	files.mu.Lock()
	defer files.mu.Unlock()
	return slices.Clone(files.all)
}

// GoPackage returns the import path of the package that registered the file, or "" for a file that
// no package registered.
func (f *XFile) GoPackage() string {
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
