package nocopy

import "github.com/nocopythrift/nocopythrift/nocopy/internal/schema"

// For generated code. These types describe types. They are defined in package schema.
type (
	// For generated code. XDesc describes a struct, union or exception. NewDesc makes it and Define
	// completes it; afterwards it is read-only.
	XDesc = schema.Struct
	// For generated code. XType describes the type of a field or of an element.
	XType = schema.Type
	// For generated code. XField is one constant for a field of a struct: its wire type and id, its
	// word in the struct's entry, and the number of words of that entry. Package entry has the
	// layout.
	XField = schema.Ref
	// For generated code. XFieldDesc describes one field of a struct. Default holds the wire bytes of
	// the IDL default.
	XFieldDesc = schema.FieldDesc
	// For generated code. XRequiredness tells whether the IDL declares a field required or optional.
	XRequiredness = schema.Requiredness
	// For generated code. XEnum describes an enum.
	XEnum = schema.Enum
	// For generated code. XEnumValue is a value of an enum. Several may have the same number.
	XEnumValue = schema.EnumValue
	// For generated code. XInfo holds the comment before a declaration in the IDL and the annotations
	// after it, in their order.
	XInfo = schema.Info
	// For generated code. XAnnotation is an annotation of the IDL: (name = "value"), or (name), whose
	// value is "1".
	XAnnotation = schema.Annotation
	// For generated code. XFile registers the descriptors of one IDL file.
	XFile = schema.File
	// For generated code. XConstDesc describes a constant of the IDL.
	XConstDesc = schema.Const
	// For generated code. XService describes a service.
	XService = schema.Service
	// For generated code. XMethod describes a method of a service by the structs of its calls and
	// replies. The result has field 0 for the return value, and one field per declared exception. A
	// oneway method has no result: it is nil.
	XMethod = schema.Method
)

// For generated code. The requirednesses of the IDL; XDefaultReq is that of a field that says
// nothing.
const (
	XDefaultReq = schema.DefaultReq
	XRequired   = schema.Required
	XOptional   = schema.Optional
)
