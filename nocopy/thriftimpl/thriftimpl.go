// Package thriftimpl is for the code that nocopyc generates, and for package rpc: descriptors,
// constructors, accessors and codecs. Programs call what is generated; nothing here is meant for
// them, and it may change with any version.
//
// It gives names to what package nocopy has for this purpose, where the implementation is, so that
// getters are inlined and handles keep their fields to themselves.
package thriftimpl

import (
	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/nocopy"
)

// GeneratedV3 is referred to by generated code: a version of this package that no longer fits such
// code has another name, so that the mismatch is found when compiling.
const GeneratedV3 = 3

// GeneratedV2 is what code of version 0.2.0 refers to: the compiler answers that it is not a
// constant, and of which type it is.
var GeneratedV2 nocopy.XGenerateThisCodeAgainWithNocopyc

// What describes types.
type (
	Desc         = nocopy.XDesc
	Type         = nocopy.XType
	Field        = nocopy.XField
	FieldDesc    = nocopy.XFieldDesc
	Requiredness = nocopy.XRequiredness
	Const        = nocopy.XConst
	Enum         = nocopy.XEnum
	EnumValue    = nocopy.XEnumValue
	Info         = nocopy.XInfo
	Annotation   = nocopy.XAnnotation
	File         = nocopy.XFile
	ConstDesc    = nocopy.XConstDesc
	Service      = nocopy.XService
	Method       = nocopy.XMethod
)

// Value is a value of any type.
type Value = nocopy.XValue

// What the IDL says of a field's presence; DefaultReq if nothing.
const (
	DefaultReq = nocopy.XDefaultReq
	Required   = nocopy.XRequired
	Optional   = nocopy.XOptional
)

// Struct is the handle of a struct with all accessors.
type Struct = nocopy.XStruct

// Far is the handle of a far struct, with the getters of one field.
type Far = nocopy.XFar

// Wide is the handle of a wide struct, with the getters of one field.
type Wide = nocopy.XWide

// Scanner finds the end of a struct while its bytes arrive.
type Scanner = nocopy.XScanner

// How keys and values stand in maps, by their Go types.
type (
	Codec[T any]          = nocopy.XCodec[T]
	AsBool                = nocopy.XAsBool
	AsInt8                = nocopy.XAsInt8
	AsInt16               = nocopy.XAsInt16
	AsInt32               = nocopy.XAsInt32
	AsInt64               = nocopy.XAsInt64
	AsFloat64             = nocopy.XAsFloat64
	AsUUID                = nocopy.XAsUUID
	AsEnum[E ~int32]      = nocopy.XAsEnum[E]
	AsString              = nocopy.XAsString
	AsBytes               = nocopy.XAsBytes
	AsView[S nocopy.View] = nocopy.XAsView[S]
)

// The types without parameters.
var (
	TypeBool   = nocopy.X{}.BaseType(nocopy.WireBool)
	TypeI8     = nocopy.X{}.BaseType(nocopy.WireI8)
	TypeI16    = nocopy.X{}.BaseType(nocopy.WireI16)
	TypeI32    = nocopy.X{}.BaseType(nocopy.WireI32)
	TypeI64    = nocopy.X{}.BaseType(nocopy.WireI64)
	TypeDouble = nocopy.X{}.BaseType(nocopy.WireDouble)
	TypeUUID   = nocopy.X{}.BaseType(nocopy.WireUUID)
	TypeString = nocopy.X{}.BaseType(nocopy.WireString)
	TypeBinary = nocopy.X{}.BinaryType()
)

// New returns the root of a new message.
func New(d *Desc, opts ...nocopy.Option) Struct { return nocopy.X{}.New(d, opts...) }

// NewWithRoom returns the root of a new message with room for n bytes before it. The options are
// only Recycle or none.
func NewWithRoom(d *Desc, n int, recycle bool) Struct { return nocopy.X{}.NewWithRoom(d, n, recycle) }

// Parse checks that b is exactly one struct of the type and returns its handle. The message refers
// to b, which must stay as it is for as long as the message or anything read from it is in use; it
// is never written to unless the option Own is given. The error is an *Error.
func Parse(d *Desc, b []byte, opts ...nocopy.Option) (Struct, error) {
	return nocopy.X{}.Parse(d, b, opts...)
}

// ParseChunk checks that received bytes are exactly one struct of the type and returns its handle.
// The message takes them over, also when that fails: it may store into them. With recycle the
// chunk may be of recycled memory, which goes back on Release. If the limits have no MaxBytes,
// there is none: the caller has bounded what it received. With lazy a chunk of one piece is parsed
// as the option Lazy has it.
func ParseChunk(d *Desc, c chain.Chunk, l nocopy.Limits, recycle, lazy bool) (Struct, error) {
	return nocopy.X{}.ParseChunk(d, c, l, recycle, lazy)
}

// Absent returns the handle of a struct that is not there: its getters return zero values, its
// setters panic.
func Absent() nocopy.Struct { return nocopy.X{}.Absent() }

// NewDesc returns the descriptor of a struct. It must be completed by Define before use.
func NewDesc(name string, info ...Info) *Desc { return nocopy.X{}.NewDesc(name, info...) }

// NewUnionDesc returns the descriptor of a union.
func NewUnionDesc(name string, info ...Info) *Desc { return nocopy.X{}.NewUnionDesc(name, info...) }

// NewExceptionDesc returns the descriptor of an exception.
func NewExceptionDesc(name string, info ...Info) *Desc {
	return nocopy.X{}.NewExceptionDesc(name, info...)
}

// Define completes a descriptor with its fields in declaration order: by its method DefineWide if
// there are so many that the struct may be wide, else by Define.
func Define(d *Desc, fields []FieldDesc) { nocopy.X{}.Define(d, fields) }

// NewEnum returns the descriptor of an enum with these values.
func NewEnum(name string, values []EnumValue, info ...Info) *Enum {
	return nocopy.X{}.NewEnum(name, values, info...)
}

// EnumOf returns the type of an enum.
func EnumOf(e *Enum) *Type { return nocopy.X{}.EnumOf(e) }

// EnumValues returns the numbers of an enum's values, each once, in declaration order.
func EnumValues[E ~int32](e *Enum) []E {
	var numbers []E
	for _, v := range e.Values() {
		if e.Name(v.Value) == v.Name {
			numbers = append(numbers, E(v.Value))
		}
	}
	return numbers
}

// Register makes the descriptors of one IDL file known to the program.
func Register(f *File) { nocopy.X{}.Register(f) }

// Files returns the files of all generated packages of the program.
func Files() []*File { return nocopy.X{}.Files() }

// ValueOfBool returns a value of type bool.
func ValueOfBool(v bool) Value { return nocopy.X{}.ValueOfBool(v) }

// ValueOfInt returns v as a value of type t, an i8, i16, i32, i64 or enum. Higher bits than t has
// are cut off.
func ValueOfInt(t *Type, v int64) Value { return nocopy.X{}.ValueOfInt(t, v) }

// ValueOfFloat returns a value of type double.
func ValueOfFloat(v float64) Value { return nocopy.X{}.ValueOfFloat(v) }

// ValueOfUUID returns a value of type uuid.
func ValueOfUUID(v nocopy.UUID) Value { return nocopy.X{}.ValueOfUUID(v) }

// ValueOfBytes returns v as a value of type t, string or binary. It is referred to.
func ValueOfBytes(t *Type, v []byte) Value { return nocopy.X{}.ValueOfBytes(t, v) }

// ValueOfStruct returns the handle s, which is of type t, a struct, list, set or map, as a value.
func ValueOfStruct(t *Type, s Struct) Value { return nocopy.X{}.ValueOfStruct(t, s) }

// ValueOf returns the value of type t, not a struct or container, that has these wire bytes.
func ValueOf(t *Type, wire string) Value { return nocopy.X{}.ValueOf(t, wire) }

// StructOf returns the type of the struct, union or exception that d describes.
func StructOf(d *Desc) *Type { return nocopy.X{}.StructOf(d) }

// ListOf returns the type of a list.
func ListOf(elem *Type) *Type { return nocopy.X{}.ListOf(elem) }

// SetOf returns the type of a set.
func SetOf(elem *Type) *Type { return nocopy.X{}.SetOf(elem) }

// MapOf returns the type of a map.
func MapOf(key, value *Type) *Type { return nocopy.X{}.MapOf(key, value) }

// NewConst returns the constant of type t with these wire bytes.
func NewConst(t *Type, wire string) *Const { return nocopy.X{}.NewConst(t, wire) }

// NewHeld returns a new held message, to which the limits apply, with room for n bytes before it.
// Its Root is the only handle.
func NewHeld(d *Desc, n int, l nocopy.Limits, recycle bool) *nocopy.Message {
	return nocopy.X{}.NewHeld(d, n, l, recycle)
}

// NewIn returns a new message that recycles, with room for n bytes before it. It is built in the
// memory of c, which is from chain.HoldOwned, as long as it fits. It is held if l is not nil.
func NewIn(d *Desc, c chain.Chunk, n int, l *nocopy.Limits) *nocopy.Message {
	return nocopy.X{}.NewIn(d, c, n, l)
}

// OwnPiece returns where the message is in the memory that NewIn was given, n bytes from its byte
// at, and who owns that memory; nil if some of the message is elsewhere. It finishes the message.
func OwnPiece(m *nocopy.Message) (owner chain.Owner, at, n int) { return nocopy.X{}.OwnPiece(m) }

// ParseHeld checks that received bytes are exactly one struct of the type and returns a held
// message of them, which takes them over, also when that fails. See ParseChunk.
func ParseHeld(d *Desc, c chain.Chunk, l nocopy.Limits, recycle, lazy bool) (*nocopy.Message, error) {
	return nocopy.X{}.ParseHeld(d, c, l, recycle, lazy)
}

// CopyHeld returns a held message with a copy of v and room for n bytes before it. v may be a part
// of any message and is read only, but for finishing it. The error tells why v can't be sent as a
// struct of type d.
func CopyHeld(d *Desc, v Struct, n int, l nocopy.Limits, recycle bool) (*nocopy.Message, error) {
	return nocopy.X{}.CopyHeld(d, v, n, l, recycle)
}

// Disowned reports whether Release was called for a held message.
func Disowned(m *nocopy.Message) bool { return nocopy.X{}.Disowned(m) }

// EndHandles ends all handles of a held message, which may still be sent. Root returns a new one.
func EndHandles(m *nocopy.Message) { nocopy.X{}.EndHandles(m) }

// End gives the memory of a held message back.
func End(m *nocopy.Message) { nocopy.X{}.End(m) }

// Abandon leaves a held message to the garbage collector, since handlers may still be using it.
func Abandon(m *nocopy.Message) { nocopy.X{}.Abandon(m) }

// Prepend puts n bytes before the message, in the room that NewWithRoom left, and returns them to
// be filled; nil if there is no such room. They belong to the wire bytes from then on.
func Prepend(m *nocopy.Message, n int) []byte { return nocopy.X{}.Prepend(m, n) }

// AddTo adds the message's wire bytes to a batch, having finished it. With frame their length
// comes first. The message must not be changed or released before the batch is written.
func AddTo(m *nocopy.Message, b *chain.Batch, frame bool) { nocopy.X{}.AddTo(m, b, frame) }

// SetEnums sets field f of s, a list or set, to these elements. Duplicates in a set are left out.
func SetEnums[E ~int32](s Struct, f Field, d *Desc, v []E) { nocopy.XEnums[E](v).SetIn(s, f, d) }

// SetArm sets field f of s, a union that d describes, by one of the setters of Struct, and then
// removes the other arms: they are left if the setter panics.
func SetArm[T any](set func(Struct, Field, T), s Struct, f Field, d *Desc, v T) {
	set(s, f, v)
	s.Arm(f, d)
}

// NewArm is SetArm for NewBytes. It returns the bytes, to be filled.
func NewArm(s Struct, f Field, d *Desc, n int) []byte {
	b := s.NewBytes(f, n)
	s.Arm(f, d)
	return b
}

// SetMap sets field f of s, a map, to the pairs of v, in the order of the keys' wire bytes.
func SetMap[KC Codec[K], VC Codec[V], K comparable, V any](s Struct, f Field, d *Desc, v map[K]V) {
	nocopy.XPairs[K, V, KC, VC](v).SetIn(s, f, d)
}

// ParsePrefix parses the struct that b begins with and returns how many bytes it has. The message
// has a copy of these in memory of its own, so that b may change.
func ParsePrefix(d *Desc, b []byte) (Struct, int, error) { return nocopy.X{}.ParsePrefix(d, b) }

// AppendPieces appends to dst the parts of the message's wire bytes that are contiguous in
// memory, in wire order, having finished it. They must not be changed. They stay as they are when
// the message is changed, until Release if it recycles.
func AppendPieces(m *nocopy.Message, dst [][]byte) [][]byte { return nocopy.X{}.AppendPieces(m, dst) }

// Detach returns the message's wire bytes, having finished it, in pieces that stay as they are
// after Release, which must come next. Those of less than below bytes are copied together, as are
// those of the message's own memory of less than long; others are referred to. The message must
// not recycle.
func Detach(m *nocopy.Message, below, long int) [][]byte { return nocopy.X{}.Detach(m, below, long) }

// Reparse returns the root of a message of type d that has these wire bytes, which it takes over.
// They were put together from those of messages, whatever their size. Required fields may be
// missing. It returns the zero handle if structs are nested deeper than this.
func Reparse(d *Desc, wire []byte, depth int) Struct { return nocopy.X{}.Reparse(d, wire, depth) }

// ParseEncoded parses pieces of wire bytes that a message of type d has had, whatever its size,
// into a held message. It refers to the pieces and never changes them.
func ParseEncoded(d *Desc, pieces [][]byte) (*nocopy.Message, error) {
	return nocopy.X{}.ParseEncoded(d, pieces)
}

// Recycles reports whether the struct or container that s is a handle of is in a message whose
// memory is used again.
func Recycles(s Struct) bool { return nocopy.X{}.Recycles(s) }

// FastWrite puts the wire bytes of s, which d describes, into buf and returns how many they are:
// s.WireLen(d), for which buf must have room. Kitex calls it.
func FastWrite(s Struct, d *Desc, buf []byte) int { return len(s.AppendStruct(buf[:0], d)) }

// FastRead parses the struct that b begins with, sets *s to its root, and returns how many bytes
// it has. It is copied once, so that b may change. Kitex calls it.
func FastRead[S nocopy.View](s *S, d *Desc, b []byte) (int, error) {
	root, n, err := ParsePrefix(d, b)
	if err == nil {
		*s = S(root)
	}
	return n, err
}
