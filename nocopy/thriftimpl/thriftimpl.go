// Package thriftimpl is for generated code and for package rpc: it has descriptors, constructors,
// accessors and codecs. Programs should call generated code. This package may change with any
// version.
//
// It gives names to internal functions of package nocopy, which has the implementation. There,
// getters can be inlined and handles can have unexported fields.
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

// NewWithRoom returns the root of a new message with room for n bytes before it. Its only option
// is Recycle.
func NewWithRoom(d *Desc, n int, recycle bool) Struct { return nocopy.X{}.NewWithRoom(d, n, recycle) }

// Parse checks that b is exactly one struct of the type and returns its handle. The message refers
// to b, which must not change while the message, or anything read from it, is in use. Nothing
// writes to b, except with the option Own. The error is an *Error.
func Parse(d *Desc, b []byte, opts ...nocopy.Option) (Struct, error) {
	return nocopy.X{}.Parse(d, b, opts...)
}

// ParseChunk checks that received bytes are exactly one struct of the type and returns its handle.
// The message takes the bytes over, even if that fails, and may store into them. With recycle, the
// chunk may be recycled memory, which goes back on Release. A MaxBytes of 0 means no limit here:
// the caller has bounded what it received. With lazy, a chunk of one piece is parsed as with the
// option Lazy.
func ParseChunk(d *Desc, c chain.Chunk, l nocopy.Limits, recycle, lazy bool) (Struct, error) {
	return nocopy.X{}.ParseChunk(d, c, l, recycle, lazy)
}

// Absent returns the handle of an absent struct: its getters return zero values, its setters
// panic.
func Absent() nocopy.Struct { return nocopy.X{}.Absent() }

// NewDesc returns the descriptor of a struct. It must be completed by Define before use.
func NewDesc(name string, info ...Info) *Desc { return nocopy.X{}.NewDesc(name, info...) }

// NewUnionDesc returns the descriptor of a union.
func NewUnionDesc(name string, info ...Info) *Desc { return nocopy.X{}.NewUnionDesc(name, info...) }

// NewExceptionDesc returns the descriptor of an exception.
func NewExceptionDesc(name string, info ...Info) *Desc {
	return nocopy.X{}.NewExceptionDesc(name, info...)
}

// Define completes a descriptor with its fields in declaration order. It uses the descriptor's
// method DefineWide if the struct has enough fields to be wide, and otherwise its method Define.
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

// Files returns the IDL files of all generated packages in the program.
func Files() []*File { return nocopy.X{}.Files() }

// ValueOfBool returns a value of type bool.
func ValueOfBool(v bool) Value { return nocopy.X{}.ValueOfBool(v) }

// ValueOfInt returns v as a value of type t, an i8, i16, i32, i64 or enum. It cuts off bits that t
// does not have.
func ValueOfInt(t *Type, v int64) Value { return nocopy.X{}.ValueOfInt(t, v) }

// ValueOfFloat returns a value of type double.
func ValueOfFloat(v float64) Value { return nocopy.X{}.ValueOfFloat(v) }

// ValueOfUUID returns a value of type uuid.
func ValueOfUUID(v nocopy.UUID) Value { return nocopy.X{}.ValueOfUUID(v) }

// ValueOfBytes returns v as a value of type t, string or binary, and refers to v.
func ValueOfBytes(t *Type, v []byte) Value { return nocopy.X{}.ValueOfBytes(t, v) }

// ValueOfStruct returns the handle s as a value. t is its type: a struct, list, set or map.
func ValueOfStruct(t *Type, s Struct) Value { return nocopy.X{}.ValueOfStruct(t, s) }

// ValueOf returns the value with these wire bytes. Its type t is neither a struct nor a container.
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
// Its Root is its only handle.
func NewHeld(d *Desc, n int, l nocopy.Limits, recycle bool) *nocopy.Message {
	return nocopy.X{}.NewHeld(d, n, l, recycle)
}

// NewIn returns a new message that recycles, with room for n bytes before it. As long as it fits,
// it is built in the memory of c, which is from chain.HoldOwned. It is held if l is not nil.
func NewIn(d *Desc, c chain.Chunk, n int, l *nocopy.Limits) *nocopy.Message {
	return nocopy.X{}.NewIn(d, c, n, l)
}

// OwnPiece finishes the message and returns its place in the memory that NewIn was given: n bytes
// from byte at, and the owner of that memory. It returns nil if part of the message is elsewhere.
func OwnPiece(m *nocopy.Message) (owner chain.Owner, at, n int) { return nocopy.X{}.OwnPiece(m) }

// ParseHeld checks that received bytes are exactly one struct of the type and returns a held
// message of them. It takes the bytes over, even if that fails. See ParseChunk.
func ParseHeld(d *Desc, c chain.Chunk, l nocopy.Limits, recycle, lazy bool) (*nocopy.Message, error) {
	return nocopy.X{}.ParseHeld(d, c, l, recycle, lazy)
}

// CopyHeld returns a held message with a copy of v and room for n bytes before it. v may be part
// of any message. CopyHeld finishes that message and otherwise only reads it. It returns an error
// if v can't be sent as a struct of type d.
func CopyHeld(d *Desc, v Struct, n int, l nocopy.Limits, recycle bool) (*nocopy.Message, error) {
	return nocopy.X{}.CopyHeld(d, v, n, l, recycle)
}

// Disowned reports whether Release was called for a held message.
func Disowned(m *nocopy.Message) bool { return nocopy.X{}.Disowned(m) }

// EndHandles ends all handles of a held message, which may still be sent. Root returns a new
// handle.
func EndHandles(m *nocopy.Message) { nocopy.X{}.EndHandles(m) }

// End returns the memory of a held message.
func End(m *nocopy.Message) { nocopy.X{}.End(m) }

// Abandon leaves a held message to the garbage collector, because handlers may still use it.
func Abandon(m *nocopy.Message) { nocopy.X{}.Abandon(m) }

// Prepend puts n bytes before the message, in the room that NewWithRoom left, and returns them to
// be filled. From then on they belong to the wire bytes. It returns nil if there is no such room.
func Prepend(m *nocopy.Message, n int) []byte { return nocopy.X{}.Prepend(m, n) }

// AddTo finishes the message and adds its wire bytes to a batch, with frame after their length.
// The message must not be changed or released before the batch is written.
func AddTo(m *nocopy.Message, b *chain.Batch, frame bool) { nocopy.X{}.AddTo(m, b, frame) }

// SetEnums sets field f of s, a list or set, to these elements. Duplicates in a set are left out.
func SetEnums[E ~int32](s Struct, f Field, d *Desc, v []E) { nocopy.XEnums[E](v).SetIn(s, f, d) }

// SetArm sets field f of s, a union that d describes, by one of the setters of Struct, and then
// removes the other arms: they are left if the setter panics.
func SetArm[T any, S nocopy.View](set func(Struct, Field, T), s S, f Field, d *Desc, v T) {
	set(Struct(s), f, v)
	Struct(s).Arm(f, d)
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

// ParsePrefix parses the struct at the beginning of b and returns its length in bytes. The message
// has its own copy of these bytes; b may change afterwards.
func ParsePrefix(d *Desc, b []byte) (Struct, int, error) { return nocopy.X{}.ParsePrefix(d, b) }

// AppendPieces finishes the message and appends its pieces to dst: the parts of its wire bytes
// that are contiguous in memory, in wire order. They must not be changed. They keep their contents
// when the message is changed, until Release if it recycles.
func AppendPieces(m *nocopy.Message, dst [][]byte) [][]byte { return nocopy.X{}.AppendPieces(m, dst) }

// Detach finishes the message and returns its wire bytes in pieces that outlive Release. The
// caller must call Release next. Detach copies pieces shorter than below together, and pieces in
// the message's own memory that are shorter than long. It refers to the others. The message must
// not recycle.
func Detach(m *nocopy.Message, below, long int) [][]byte { return nocopy.X{}.Detach(m, below, long) }

// Reparse returns the root of a message of type d that has these wire bytes, which it takes over.
// They were put together from those of messages, whatever their size. Required fields may be
// missing. It returns the zero handle if structs are nested deeper than this.
func Reparse(d *Desc, wire []byte, depth int) Struct { return nocopy.X{}.Reparse(d, wire, depth) }

// ParseEncoded parses pieces of wire bytes, which came from a message of type d, into a held
// message of any size. The message refers to the pieces and never changes them.
func ParseEncoded(d *Desc, pieces [][]byte) (*nocopy.Message, error) {
	return nocopy.X{}.ParseEncoded(d, pieces)
}

// Recycles reports whether s is a handle in a message whose memory is recycled.
func Recycles(s Struct) bool { return nocopy.X{}.Recycles(s) }

// FastWrite puts the wire bytes of s, which d describes, into buf and returns their number,
// s.WireLen(d). buf must be long enough. Kitex calls it.
func FastWrite(s Struct, d *Desc, buf []byte) int { return len(s.AppendStruct(buf[:0], d)) }

// FastRead parses the struct at the beginning of b, sets *s to its root, and returns its length in
// bytes. It copies the bytes once; b may change afterwards. Kitex calls it.
func FastRead[S nocopy.View](s *S, d *Desc, b []byte) (int, error) {
	root, n, err := ParsePrefix(d, b)
	if err == nil {
		*s = S(root)
	}
	return n, err
}
