package engine

import (
	"bytes"
	"math"
	"slices"

	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/internal/entry"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// New returns the root of a new message.
func New(d *schema.Struct, opts ...Option) Struct { return newStruct(d, opts...) }

// NewWithRoom returns the root of a new message with room for n bytes before it. Its only option
// is Recycle.
func NewWithRoom(d *schema.Struct, n int, recycle bool) Struct {
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
func Parse(d *schema.Struct, b []byte, opts ...Option) (Struct, error) {
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
func ParseChunk(d *schema.Struct, c chain.Chunk, l Limits, recycle, lazy bool) (Struct, error) {
	return parseReceived(d, c, l, recycle, lazy)
}

// Absent returns the handle of an absent struct: its getters return zero values, its setters
// panic.
func Absent() Struct { return Struct(emptyHandle()) }

// Define completes a descriptor with its fields in declaration order. It uses DefineWide if the
// struct has enough fields to be wide, and otherwise the descriptor's method Define.
func Define(d *schema.Struct, fields []schema.FieldDesc) {
	if len(fields) > entry.MaxDirect {
		d.DefineWide(fields...)
		return
	}
	d.Define(fields...)
}

// ValueOfBool returns a value of type bool.
func ValueOfBool(v bool) Value { return valueOfBool(v) }

// ValueOfInt returns v as a value of type t, an i8, i16, i32, i64 or enum. It cuts off bits that t
// does not have.
func ValueOfInt(t *schema.Type, v int64) Value { return valueOfInt(t, v) }

// ValueOfFloat returns a value of type double.
func ValueOfFloat(v float64) Value {
	return Value{typ: schema.TypeDouble, bits: math.Float64bits(v)}
}

// ValueOfUUID returns a value of type uuid.
func ValueOfUUID(v [16]byte) Value { return Value{typ: schema.TypeUUID, text: v[:]} }

// ValueOfBytes returns v as a value of type t, string or binary, and refers to v.
func ValueOfBytes(t *schema.Type, v []byte) Value { return valueOfBytes(t, v) }

// ValueOfStruct returns the handle s as a value. t is its type: a struct, list, set or map.
func ValueOfStruct(t *schema.Type, s Struct) Value { return valueOfStruct(t, s) }

// ValueOf returns the value with these wire bytes. Its type t is neither a struct nor a container.
func ValueOf(t *schema.Type, wire string) Value { return valueOfWire(t, wire) }

// NewConst returns the constant of type t with these wire bytes.
func NewConst(t *schema.Type, wire string) *Const { return newConst(t, wire) }

// NewHeld returns a new held message, to which the limits apply, with room for n bytes before it.
// Its Root is its only handle.
func NewHeld(d *schema.Struct, n int, l Limits, recycle bool) *Message {
	checkRoom(n)
	return newHeld(d, n, l, recycle)
}

// NewIn returns a new message that recycles, with room for n bytes before it. As long as it fits,
// it is built in the memory of c, which is from chain.HoldOwned. It is held if l is not nil.
func NewIn(d *schema.Struct, c chain.Chunk, n int, l *Limits) *Message {
	checkRoom(n)
	return newIn(d, c, n, l)
}

// OwnPiece finishes the message and returns its place in the memory that NewIn was given: n bytes
// from byte at, and the owner of that memory. It returns nil if part of the message is elsewhere.
func OwnPiece(m *Message) (owner chain.Owner, at, n int) {
	m.Finish()
	return m.buf.OwnPiece()
}

// ParseHeld checks that received bytes are exactly one struct of the type and returns a held
// message of them. It takes the bytes over, even if that fails. See ParseChunk.
func ParseHeld(d *schema.Struct, c chain.Chunk, l Limits, recycle, lazy bool) (*Message, error) {
	return parseHeld(d, c, l, recycle, lazy)
}

// CopyHeld returns a held message with a copy of v and room for n bytes before it. v may be part
// of any message. CopyHeld finishes that message and otherwise only reads it. It returns an error
// if v can't be sent as a struct of type d.
func CopyHeld(d *schema.Struct, v Struct, n int, l Limits, recycle bool) (*Message, error) {
	checkRoom(n)
	return copyHeld(d, v, n, l, recycle)
}

// Disowned reports whether Release was called for a held message.
func Disowned(m *Message) bool { return m.isDisowned() }

// EndHandles ends all handles of a held message, which may still be sent. Root returns a new
// handle.
func EndHandles(m *Message) { m.endHandles() }

// End returns the memory of a held message.
func End(m *Message) { m.endHeld() }

// Abandon leaves a held message to the garbage collector, because handlers may still use it.
func Abandon(m *Message) { m.abandon() }

// Prepend puts n bytes before the message, in the room that NewWithRoom left, and returns them to
// be filled. From then on they belong to the wire bytes. It returns nil if there is no such room.
func Prepend(m *Message, n int) []byte {
	checkRoom(n)
	return m.prepend(n)
}

// AddTo finishes the message and adds its wire bytes to a batch, with frame after their length.
// The message must not be changed or released before the batch is written.
func AddTo(m *Message, b *chain.Batch, frame bool) { m.addTo(b, frame) }

// GenerateThisCodeAgainWithNocopyc appears in the compiler's error for code
// that an older version generated.
type GenerateThisCodeAgainWithNocopyc struct{}

// Pairs are pairs for a map.
type Pairs[K comparable, V any, KC Codec[K], VC Codec[V]] map[K]V

// SetIn sets field f of s, a map, to copies of these pairs, in the order of the keys' wire bytes.
// Of several keys with the same wire bytes, such as NaNs, one is kept.
func (v Pairs[K, V, KC, VC]) SetIn(s Struct, f schema.Ref, d *schema.Struct) {
	type pair struct {
		wire  encoded
		key   K
		value V
	}
	var kc KC
	var vc VC
	s.Changeable()
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
		PutPair[K, V, KC, VC](c, pairs[i].key, pairs[i].value)
	}
}
