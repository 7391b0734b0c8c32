// Package thriftimpl is for generated code and for package rpc: it has descriptors, constructors,
// accessors and codecs. Programs should call generated code. This package may change with any
// version.
//
// It gives names to internal functions of package nocopy, which has the implementation. There,
// getters can be inlined and handles can have unexported fields.
package thriftimpl

import (
	"runtime"

	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/internal/entry"
	"github.com/nocopythrift/nocopythrift/internal/memory"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/parse"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// Generated code names the oldest version of the library that it needs: with an older one the
// compiler reports the name of this constant as undefined. If a nocopyc of version 1.y writes
// something that 1.x of the library did not have, its code refers to another constant,
// NeedsNocopythriftV1_y, which is added here. This one stays.
const NeedsNocopythriftV1 = 1

// Each of these makes code that a version before 1.0 generated fail to compile: 0.2.0 and 0.3.0.
// The compiler reports that it is not a constant, and names its type, which says what to do.
var GeneratedV2, GeneratedV3 engine.GenerateThisCodeAgainWithNocopyc

// The descriptors.
type (
	Desc         = schema.Struct
	Type         = schema.Type
	Field        = schema.Ref
	FieldDesc    = schema.FieldDesc
	Requiredness = schema.Requiredness
	Const        = engine.Const
	Enum         = schema.Enum
	EnumValue    = schema.EnumValue
	Info         = schema.Info
	Annotation   = schema.Annotation
	File         = schema.File
	ConstDesc    = schema.Const
	Service      = schema.Service
	Method       = schema.Method
)

// Value is a value of any type.
type Value = engine.Value

// The requirednesses of the IDL. DefaultReq is for a field that is declared neither required nor
// optional.
const (
	DefaultReq = schema.DefaultReq
	Required   = schema.Required
	Optional   = schema.Optional
)

// Struct is the handle of a struct with all accessors.
type Struct = engine.Struct

// Wide is the handle of a wide struct, with the getters of one field.
type Wide = engine.Wide

// Scanner finds the end of a struct while its bytes arrive.
type Scanner = parse.Scanner

// New returns the root of a new message.
func New(d *Desc, opts ...nocopy.Option) Struct { return engine.New(d, opts...) }

// NewWithRoom returns the root of a new message with room for n bytes before it. Its only option
// is Recycle.
func NewWithRoom(d *Desc, n int, recycle bool) Struct {
	return engine.NewIn(d, memory.Chunk{}, n, nocopy.Limits{}, flagsOf(recycle, false)).Root()
}

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
	return engine.ParseChunk(d, c, l, flagsOf(recycle, lazy))
}

// flagsOf returns the options that are chosen.
func flagsOf(recycle, lazy bool) (f engine.Flags) {
	if recycle {
		f |= nocopy.Recycle
	}
	if lazy {
		f |= nocopy.Lazy
	}
	return f
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

// Define completes a descriptor with its fields in declaration order. It uses the descriptor's
// method DefineWide if the struct has enough fields to be wide, and otherwise its method Define.
func Define(d *Desc, fields []FieldDesc) {
	if len(fields) > entry.MaxDirect {
		d.DefineWide(fields...)
		return
	}
	d.Define(fields...)
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

// Files returns the IDL files of all generated packages in the program.
func Files() []*File { return schema.Files() }

// ValueOfBytes returns v as a value of type t, string or binary, and refers to v.
func ValueOfBytes(t *Type, v []byte) Value { return engine.ValueOfBytes(t, v) }

// ValueOfStruct returns the handle s as a value. t is its type: a struct, list, set or map.
func ValueOfStruct(t *Type, s Struct) Value { return engine.ValueOfStruct(t, s) }

// ValueOf returns the value with these wire bytes. Its type t is neither a struct nor a container.
func ValueOf(t *Type, wire string) Value { return engine.ValueOf(t, wire) }

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
	return (*nocopy.Message)(engine.NewIn(d, memory.Chunk{}, n, l, engine.OfCall|flagsOf(recycle, false)))
}

// NewIn returns a new message that recycles, with room for n bytes before it. As long as it fits,
// it is built in the memory of c, which is from memory.HoldOwned. It is of a call if l is not nil.
func NewIn(d *Desc, c memory.Chunk, n int, l *nocopy.Limits) *nocopy.Message {
	if l == nil {
		return (*nocopy.Message)(engine.NewIn(d, c, n, nocopy.Limits{}, nocopy.Recycle))
	}
	return (*nocopy.Message)(engine.NewIn(d, c, n, *l, engine.OfCall|nocopy.Recycle))
}

// OwnPiece finishes the message and returns its place in the memory that NewIn was given: n bytes
// from byte at, and the owner of that memory. It returns nil if part of the message is elsewhere.
func OwnPiece(m *nocopy.Message) (owner memory.Owner, at, n int) {
	return engine.OwnPiece((*engine.Message)(m))
}

// ParseForCall checks that received bytes are exactly one struct of the type and returns a message
// of a call, message of them. It takes the bytes over, even if that fails. See ParseChunk.
func ParseForCall(d *Desc, c memory.Chunk, l nocopy.Limits, recycle, lazy bool) (*nocopy.Message, error) {
	m, err := engine.ParseForCall(d, c, l, flagsOf(recycle, lazy))
	return (*nocopy.Message)(m), err
}

// CopyForCall returns a message of a call with a copy of v and room for n bytes before it. v may
// be part of any message. CopyForCall finishes that message and otherwise only reads it. It
// returns an error if v can't be sent as a struct of type d.
func CopyForCall(d *Desc, v Struct, n int, l nocopy.Limits, recycle bool) (*nocopy.Message, error) {
	m, err := engine.CopyForCall(d, v, n, l, flagsOf(recycle, false))
	return (*nocopy.Message)(m), err
}

// IndexSize returns how many bytes the index of a message has.
func IndexSize(m *nocopy.Message) int { return 4 * engine.IndexWords((*engine.Message)(m)) }

// Disowned reports whether Release was called for a message of a call.
func Disowned(m *nocopy.Message) bool { return (*engine.Message)(m).IsDisowned() }

// EndHandles ends all handles of a message of a call. The message may still be sent. Root returns
// a new handle.
func EndHandles(m *nocopy.Message) { (*engine.Message)(m).EndHandles() }

// End returns the memory of a message of a call.
func End(m *nocopy.Message) { (*engine.Message)(m).EndOfCall() }

// Abandon leaves a message of a call to the garbage collector, because handlers may still use it.
func Abandon(m *nocopy.Message) { (*engine.Message)(m).Abandon() }

// Prepend puts n bytes before the message, in the room that NewWithRoom left, and returns them to
// be filled. From then on they belong to the wire bytes. It returns nil if there is no such room.
func Prepend(m *nocopy.Message, n int) []byte { return (*engine.Message)(m).Prepend(n) }

// AddTo finishes the message and adds its wire bytes to a batch, with frame after their length.
// The message must not be changed or released before the batch is written.
func AddTo(m *nocopy.Message, b *chain.Batch, frame bool) {
	(*engine.Message)(m).AddTo(b, frame)
}

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

// ParsePrefix parses the struct at the beginning of b and returns its length in bytes. The message
// has its own copy of these bytes; b may change afterwards.
func ParsePrefix(d *Desc, b []byte) (Struct, int, error) { return engine.ParsePrefix(d, b) }

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

// Reparse returns the root of a message of type d that has these wire bytes, which it takes over.
// The bytes come from messages, and may have any size. Required fields may be missing. If structs
// are nested deeper than depth, Reparse returns the zero handle.
func Reparse(d *Desc, wire []byte, depth int) Struct { return engine.Reparse(d, wire, depth) }

// ParseEncoded parses pieces of wire bytes, which came from a message of type d, into a message of
// a call, message of any size. The message refers to the pieces and never changes them.
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
	root, n, err := ParsePrefix(d, b)
	if err == nil {
		*s = S(root)
	}
	return n, err
}
