package thriftimpl

import (
	"runtime"

	"github.com/nocopythrift/nocopythrift/internal/memory"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/impl"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/parse"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// Generated code names the oldest version of the library that it needs: with an older one the
// compiler reports the name of this constant as undefined, and shows the line, whose comment has
// the command that helps. If a nocopyc of version 1.y writes something that 1.x of the library did
// not have, its code refers to another constant, which is added here: UpgradeNocopythriftToV1_y,
// whose name says what to do. This one stays.
const NeedsNocopythriftV1 = 1

// Each of these makes code that a version before 1.0 generated fail to compile: 0.2.0 and 0.3.0.
// The compiler reports that it is not a constant, and names its type, which says what to do.
var GeneratedV2, GeneratedV3 engine.GenerateThisCodeAgainWithNocopyc

// The descriptors.
type (
	Desc       = schema.Struct
	Type       = schema.Type
	Field      = schema.Ref
	FieldDesc  = schema.FieldDesc
	Const      = engine.Const
	Enum       = schema.Enum
	EnumValue  = schema.EnumValue
	Info       = schema.Info
	Annotation = schema.Annotation
	File       = schema.File
	ConstDesc  = schema.Const
	Service    = schema.Service
	Method     = schema.Method
)

// The requirednesses of the IDL that are not the default.
const (
	Required = schema.Required
	Optional = schema.Optional
)

// Struct is the handle of a struct with all accessors.
type Struct = engine.Struct

// Wide is the handle of a wide struct, with the getters of one field.
type Wide = engine.Wide

// Scanner finds the end of a struct while its bytes arrive.
type Scanner = parse.Scanner

// New returns the root of a new message.
func New(d *Desc, opts ...nocopy.Option) Struct { return engine.New(d, opts...) }

// Parse checks that b is exactly one struct of the type and returns its handle. The message refers
// to b, which must not change while the message, or anything read from it, is in use. Nothing
// writes to b, except with the option Own. The error is an *Error.
func Parse(d *Desc, b []byte, opts ...nocopy.Option) (Struct, error) {
	return engine.ParseIn(d, b, opts, nil)
}

// ParseChunk checks that received bytes are exactly one struct of the type and returns its handle.
// The message takes the bytes over, even if that fails, and may store into them. With recycle, the
// chunk may be recycled memory, which goes back on Release. A MaxBytes of 0 means no limit here:
// the caller has bounded what it received. With lazy, a chunk of one piece is parsed as with the
// option Lazy.
func ParseChunk(d *Desc, c memory.Chunk, l nocopy.Limits, recycle, lazy bool) (Struct, error) {
	return engine.ParseChunk(d, c, l, impl.FlagsOf(recycle, lazy))
}

// Absent returns the handle of an absent struct: its getters return zero values, its setters
// panic.
func Absent() nocopy.Struct { return nocopy.Struct(engine.Absent()) }

// NewDesc returns the descriptor of a struct. It must be completed by Define before use.
func NewDesc(name string, info ...Info) *Desc { return schema.NewStruct(name, info...) }

// NewUnionDesc returns the descriptor of a union.
func NewUnionDesc(name string, info ...Info) *Desc { return schema.NewUnion(name, info...) }

// NewExceptionDesc returns the descriptor of an exception.
func NewExceptionDesc(name string, info ...Info) *Desc {
	return schema.NewException(name, info...)
}

// NewEnum returns the descriptor of an enum with these values.
func NewEnum(name string, values []EnumValue, info ...Info) *Enum {
	return schema.NewEnum(name, values, info)
}

// EnumOf returns the type of an enum.
func EnumOf(e *Enum) *Type { return e.Type() }

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
func Register(f *File) {
	var caller [1]uintptr
	runtime.Callers(2, caller[:])
	schema.Register(f, caller[0])
}

// StructOf returns the type of the struct, union or exception that d describes.
func StructOf(d *Desc) *Type { return schema.StructOf(d) }

// ListOf returns the type of a list.
func ListOf(elem *Type) *Type { return schema.ListOf(elem) }

// SetOf returns the type of a set.
func SetOf(elem *Type) *Type { return schema.SetOf(elem) }

// MapOf returns the type of a map.
func MapOf(key, value *Type) *Type { return schema.MapOf(key, value) }

// NewConst returns the constant of type t with these wire bytes.
func NewConst(t *Type, wire string) *Const { return engine.NewConst(t, wire) }

// NewForCall returns a new message of a call, to which the limits apply, with room for n bytes
// before it. Its Root is its only handle.
func NewForCall(d *Desc, n int, l nocopy.Limits, recycle bool) *nocopy.Message {
	return (*nocopy.Message)(engine.NewIn(d, memory.Chunk{}, n, l, engine.OfCall|impl.FlagsOf(recycle, false)))
}

// ParseForCall checks that received bytes are exactly one struct of the type and returns a message
// of a call, message of them. It takes the bytes over, even if that fails. See ParseChunk.
func ParseForCall(d *Desc, c memory.Chunk, l nocopy.Limits, recycle, lazy bool) (*nocopy.Message, error) {
	m, err := engine.ParseForCall(d, c, l, impl.FlagsOf(recycle, lazy))
	return (*nocopy.Message)(m), err
}

// Disowned reports whether Release was called for a message of a call.
func Disowned(m *nocopy.Message) bool { return (*engine.Message)(m).IsDisowned() }

// EndHandles ends all handles of a message of a call. The message may still be sent. Root returns
// a new handle.
func EndHandles(m *nocopy.Message) { (*engine.Message)(m).EndHandles() }

// End returns the memory of a message of a call.
func End(m *nocopy.Message) { (*engine.Message)(m).EndOfCall() }

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
	engine.Pairs[K, V, KC, VC](v).SetIn(s, f, d)
}

// AppendPieces finishes the message and appends its pieces to dst: the parts of its wire bytes
// that are contiguous in memory, in wire order. They must not be changed. They keep their contents
// when the message is changed, until Release if it recycles.
func AppendPieces(m *nocopy.Message, dst [][]byte) [][]byte {
	return (*engine.Message)(m).AppendPieces(dst)
}

// Detach finishes the message and returns its wire bytes in pieces that outlive Release. The
// caller must call Release next. Detach copies pieces shorter than below together, and pieces in
// the message's own memory that are shorter than long. It refers to the others. The message must
// not recycle.
func Detach(m *nocopy.Message, below, long int) [][]byte {
	return (*engine.Message)(m).Detach(below, long)
}

// ParseEncoded parses pieces of wire bytes, which came from a message of type d, into a message
// of a call. It may be of any size. It refers to the pieces and never changes them.
func ParseEncoded(d *Desc, pieces [][]byte) (*nocopy.Message, error) {
	m, err := engine.ParseEncoded(d, pieces)
	return (*nocopy.Message)(m), err
}

// Recycles reports whether s is a handle in a message whose memory is recycled.
func Recycles(s Struct) bool { return engine.Recycles(s) }

// FastWrite puts the wire bytes of s, which d describes, into buf and returns their number,
// s.WireLen(d). buf must be long enough. Kitex calls it.
func FastWrite(s Struct, d *Desc, buf []byte) int { return len(s.AppendStruct(buf[:0], d)) }

// FastRead parses the struct at the beginning of b, sets *s to its root, and returns its length in
// bytes. It copies the bytes once; b may change afterwards. Kitex calls it.
func FastRead[S nocopy.View](s *S, d *Desc, b []byte) (int, error) {
	root, n, err := engine.ParsePrefix(d, b)
	if err == nil {
		*s = S(root)
	}
	return n, err
}
