package impl

import (
	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/internal/memory"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
)

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

// CopyForCall returns a message of a call with a copy of v and room for n bytes before it. v may
// be part of any message. CopyForCall finishes that message and otherwise only reads it. It
// returns an error if v can't be sent as a struct of type d.
func CopyForCall(d *Desc, v Struct, n int, l nocopy.Limits, recycle bool) (*nocopy.Message, error) {
	m, err := engine.CopyForCall(d, v, n, l, FlagsOf(recycle, false))
	return (*nocopy.Message)(m), err
}

// IndexSize returns how many bytes the index of a message has.
func IndexSize(m *nocopy.Message) int { return 4 * engine.IndexWords((*engine.Message)(m)) }

// Abandon leaves a message of a call to the garbage collector, because handlers may still use it.
func Abandon(m *nocopy.Message) { (*engine.Message)(m).Abandon() }

// Prepend puts n bytes before the message, in the room that NewIn left, and returns them to
// be filled. From then on they belong to the wire bytes. It returns nil if there is no such room.
func Prepend(m *nocopy.Message, n int) []byte { return (*engine.Message)(m).Prepend(n) }

// AddTo finishes the message and adds its wire bytes to a batch, with frame after their length.
// The message must not be changed or released before the batch is written.
func AddTo(m *nocopy.Message, b *chain.Batch, frame bool) {
	(*engine.Message)(m).AddTo(b, frame)
}

// Reparse returns the root of a message of type d that has these wire bytes, which it takes over.
// The bytes come from messages, and may have any size. Required fields may be missing. If structs
// are nested deeper than depth, Reparse returns the zero handle.
func Reparse(d *Desc, wire []byte, depth int) Struct { return engine.Reparse(d, wire, depth) }

// FlagsOf returns the options that are chosen.
func FlagsOf(recycle, lazy bool) (f engine.Flags) {
	if recycle {
		f |= nocopy.Recycle
	}
	if lazy {
		f |= nocopy.Lazy
	}
	return f
}
