package nocopy

import (
	"bytes"
	"math"
	"runtime"
	"slices"

	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/internal/entry"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// For generated code and package rpc. X holds the functions that they call, by the names of
// package thriftimpl. Programs call generated code instead. All names of this package that are not
// for programs begin with X.
type X struct{}

// New returns the root of a new message.
func (X) New(d *XDesc, opts ...Option) XStruct { return newStruct(d, opts...) }

// NewWithRoom returns the root of a new message with room for n bytes before it. Its only option
// is Recycle.
func (X) NewWithRoom(d *XDesc, n int, recycle bool) XStruct {
	checkRoom(n)
	return newWithRoom(d, n, recycle)
}

// mostBefore is the most bytes that there may be room for before a message.
const mostBefore = 1 << 20

func checkRoom(n int) {
	if n < 0 || n > mostBefore {
		panic("nocopy: room for " + itoa(n) + " bytes before a message")
	}
}

// Parse checks that b is exactly one struct of the type and returns its handle. The message refers
// to b, which must not change while the message, or anything read from it, is in use. Parse and
// later changes never write to b, except with the option Own. The error is an *Error.
func (X) Parse(d *XDesc, b []byte, opts ...Option) (XStruct, error) {
	flags := flagsOf(opts)
	if unusual(d, b, flags) {
		flags, limits := configOf(opts)
		return parseWith(d, b, flags, limits)
	}
	return fromPool(parsedHome+pool(flags)).parse(d, b, flags)
}

// ParseChunk checks that received bytes are exactly one struct of the type and returns its handle.
// The message takes the bytes over, even if that fails, and may store into them. With recycle, the
// chunk may be recycled memory, which goes back on Release. A MaxBytes of 0 means no limit here:
// the caller has bounded what it received. With lazy, a chunk of one piece is parsed as with the
// option Lazy.
func (X) ParseChunk(d *XDesc, c chain.Chunk, l Limits, recycle, lazy bool) (XStruct, error) {
	return parseReceived(d, c, l, recycle, lazy)
}

// Absent returns the handle of an absent struct: its getters return zero values, its setters
// panic.
func (X) Absent() Struct { return Struct(emptyHandle()) }

// NewDesc returns the descriptor of a struct. It must be completed by Define before use.
func (X) NewDesc(name string, info ...XInfo) *XDesc { return schema.NewStruct(name, info...) }

// NewUnionDesc returns the descriptor of a union.
func (X) NewUnionDesc(name string, info ...XInfo) *XDesc { return schema.NewUnion(name, info...) }

// NewExceptionDesc returns the descriptor of an exception.
func (X) NewExceptionDesc(name string, info ...XInfo) *XDesc {
	return schema.NewException(name, info...)
}

// Define completes a descriptor with its fields in declaration order. It uses DefineWide if the
// struct has enough fields to be wide, and otherwise the descriptor's method Define.
func (X) Define(d *XDesc, fields []XFieldDesc) {
	if len(fields) > entry.MaxDirect {
		d.DefineWide(fields...)
		return
	}
	d.Define(fields...)
}

// BaseType returns the type of a bool, number, string or uuid.
func (X) BaseType(t WireType) *XType { return schema.BaseType(t) }

// BinaryType returns the type of a binary.
func (X) BinaryType() *XType { return schema.TypeBinary }

// NewEnum returns the descriptor of an enum with these values.
func (X) NewEnum(name string, values []XEnumValue, info ...XInfo) *XEnum {
	return schema.NewEnum(name, values, info)
}

// EnumOf returns the type of an enum.
func (X) EnumOf(e *XEnum) *XType { return e.Type() }

// ValueOfBool returns a value of type bool.
func (X) ValueOfBool(v bool) XValue { return valueOfBool(v) }

// ValueOfInt returns v as a value of type t, an i8, i16, i32, i64 or enum. It cuts off bits that t
// does not have.
func (X) ValueOfInt(t *XType, v int64) XValue { return valueOfInt(t, v) }

// ValueOfFloat returns a value of type double.
func (X) ValueOfFloat(v float64) XValue {
	return XValue{typ: schema.TypeDouble, bits: math.Float64bits(v)}
}

// ValueOfUUID returns a value of type uuid.
func (X) ValueOfUUID(v UUID) XValue { return XValue{typ: schema.TypeUUID, text: v[:]} }

// ValueOfBytes returns v as a value of type t, string or binary, and refers to v.
func (X) ValueOfBytes(t *XType, v []byte) XValue { return valueOfBytes(t, v) }

// ValueOfStruct returns the handle s as a value. t is its type: a struct, list, set or map.
func (X) ValueOfStruct(t *XType, s XStruct) XValue { return valueOfStruct(t, s) }

// ValueOf returns the value with these wire bytes. Its type t is neither a struct nor a container.
func (X) ValueOf(t *XType, wire string) XValue { return valueOfWire(t, wire) }

// StructOf returns the type of the struct, union or exception that d describes.
func (X) StructOf(d *XDesc) *XType { return schema.StructOf(d) }

// ListOf returns the type of a list.
func (X) ListOf(elem *XType) *XType { return schema.ListOf(elem) }

// SetOf returns the type of a set.
func (X) SetOf(elem *XType) *XType { return schema.SetOf(elem) }

// MapOf returns the type of a map.
func (X) MapOf(key, value *XType) *XType { return schema.MapOf(key, value) }

// Register adds a file to the result of Files.
func (X) Register(f *XFile) {
	var caller [1]uintptr
	runtime.Callers(3, caller[:])
	schema.Register(f, caller[0])
}

// Files returns the IDL files of all generated packages in the program.
func (X) Files() []*XFile { return schema.Files() }

// NewConst returns the constant of type t with these wire bytes.
func (X) NewConst(t *XType, wire string) *XConst { return newConst(t, wire) }

// NewHeld returns a new held message, to which the limits apply, with room for n bytes before it.
// Its Root is its only handle.
func (X) NewHeld(d *XDesc, n int, l Limits, recycle bool) *Message {
	checkRoom(n)
	return newHeld(d, n, l, recycle)
}

// NewIn returns a new message that recycles, with room for n bytes before it. As long as it fits,
// it is built in the memory of c, which is from chain.HoldOwned. It is held if l is not nil.
func (X) NewIn(d *XDesc, c chain.Chunk, n int, l *Limits) *Message {
	checkRoom(n)
	return newIn(d, c, n, l)
}

// OwnPiece finishes the message and returns its place in the memory that NewIn was given: n bytes
// from byte at, and the owner of that memory. It returns nil if part of the message is elsewhere.
func (X) OwnPiece(m *Message) (owner chain.Owner, at, n int) {
	m.Finish()
	return m.buf.OwnPiece()
}

// ParseHeld checks that received bytes are exactly one struct of the type and returns a held
// message of them. It takes the bytes over, even if that fails. See ParseChunk.
func (X) ParseHeld(d *XDesc, c chain.Chunk, l Limits, recycle, lazy bool) (*Message, error) {
	return parseHeld(d, c, l, recycle, lazy)
}

// CopyHeld returns a held message with a copy of v and room for n bytes before it. v may be part
// of any message. CopyHeld finishes that message and otherwise only reads it. It returns an error
// if v can't be sent as a struct of type d.
func (X) CopyHeld(d *XDesc, v XStruct, n int, l Limits, recycle bool) (*Message, error) {
	checkRoom(n)
	return copyHeld(d, v, n, l, recycle)
}

// Disowned reports whether Release was called for a held message.
func (X) Disowned(m *Message) bool { return m.isDisowned() }

// EndHandles ends all handles of a held message, which may still be sent. Root returns a new
// handle.
func (X) EndHandles(m *Message) { m.endHandles() }

// End returns the memory of a held message.
func (X) End(m *Message) { m.endHeld() }

// Abandon leaves a held message to the garbage collector, because handlers may still use it.
func (X) Abandon(m *Message) { m.abandon() }

// Prepend puts n bytes before the message, in the room that NewWithRoom left, and returns them to
// be filled. From then on they belong to the wire bytes. It returns nil if there is no such room.
func (X) Prepend(m *Message, n int) []byte {
	checkRoom(n)
	return m.prepend(n)
}

// AddTo finishes the message and adds its wire bytes to a batch, with frame after their length.
// The message must not be changed or released before the batch is written.
func (X) AddTo(m *Message, b *chain.Batch, frame bool) { m.addTo(b, frame) }

// For generated code. Code of version 0.1.0 refers to GeneratedV1. The compiler reports that it is
// not a constant, and names its type, which says what to do. Later versions refer to package
// thriftimpl.
var GeneratedV1 XGenerateThisCodeAgainWithNocopyc

// For generated code. XGenerateThisCodeAgainWithNocopyc appears in the compiler's error for code
// that an older version generated.
type XGenerateThisCodeAgainWithNocopyc struct{}

// For generated code. XPairs are pairs for a map.
type XPairs[K comparable, V any, KC XCodec[K], VC XCodec[V]] map[K]V

// SetIn sets field f of s, a map, to copies of these pairs, in the order of the keys' wire bytes.
// Of several keys with the same wire bytes, such as NaNs, one is kept.
func (v XPairs[K, V, KC, VC]) SetIn(s XStruct, f XField, d *XDesc) {
	type pair struct {
		wire  encoded
		key   K
		value V
	}
	var kc KC
	var vc VC
	s.changeable()
	pairs, room := make([]pair, 0, len(v)), textRoom{m: s.m}
	for key, value := range v {
		k, size := kc.encode(key), len(vc.encode(value).text)
		checkLen(size) // before anything is written
		checkLen(len(k.text))
		room.add(size)
		room.add(len(k.text))
		pairs = append(pairs, pair{k, key, value})
	}
	s.changeableBy(room.bytes())
	slices.SortFunc(pairs, func(a, b pair) int { return bytes.Compare(a.wire.bytes(), b.wire.bytes()) })
	c := s.NewChild(f, d, len(pairs))
	for i := range pairs {
		putPair[K, V, KC, VC](c, pairs[i].key, pairs[i].value)
	}
}
