package nocopy

import "github.com/nocopythrift/nocopythrift/internal/chain"

// Option changes how a message is made or parsed: [Lazy], [Own], [Recycle], [ValidUTF8],
// [WithIndex], [ByIndex], [RequireIndex], or a [Limits].
//
// Options can be combined in any way and order. NewX, NewInto and NewXOf take all of them, but
// Recycle, WithIndex and Limits only mean something there: the others are about received bytes and
// do nothing. WithIndex turns Lazy, ByIndex and RequireIndex off; ByIndex and RequireIndex turn
// Lazy off; RequireIndex implies ByIndex, as OpenIndexed does. Own does nothing where the message
// has memory of its own anyway: with Read and Decoders. Of several Limits, the last that sets a
// field decides on it.
type Option interface{ option() }

type flag uint16

func (flag) option() {}

const (
	// Lazy makes Parse validate by skipping and index only the top level, with small structs in it;
	// anything else is indexed when it is first touched. Until Message.Index has been called, reading
	// is for one goroutine at a time. A container whose index might exceed the limit is indexed at
	// once. What skipping can't see is not checked, but by Message.Index: required fields of inner
	// structs, how deep their unknown fields are and, with ValidUTF8, their strings. Lazy is about
	// received bytes: what the program sets is indexed at once, also parts of other messages.
	Lazy flag = 1 << iota

	// Own gives the bytes passed to Parse to the message: it stores into them when fields of fixed
	// size are set. The caller must not use them any more.
	Own

	// Recycle lets the message take its memory from pools and give it back on Release. Strings, byte
	// slices and handles got from it die with it.
	Recycle

	// held marks messages of package rpc, see held.go. It stands next to Recycle for the sake of
	// pool.
	held

	// ValidUTF8 makes Parse refuse strings that are not UTF-8 (not binary fields). Without it they
	// are kept as they are.
	ValidUTF8

	// limited is set when there are Limits.
	limited

	// WithIndex makes finishing add an index to a message of 4 KiB or more: a field that every
	// Thrift library skips, and by which a reader with ByIndex finds any field without looking at the
	// rest. It takes 1/80 of the message at most (below 20 KiB, 1/40), and is made anew when the
	// message is changed and finished again. An edited message is copied into one piece then. Parse
	// with WithIndex adds one, or replaces the one that there is, and indexes all at once: Lazy,
	// ByIndex and RequireIndex have no effect beside it. A union never gets one. It is in what
	// Message.Bytes, AppendTo and WriteTo give, not in what a handle's AppendTo does.
	WithIndex

	// ByIndex makes Parse use the index in a message: it looks at the fields of the root only, and
	// at what is large among them not before it is read. What is read is checked then, and reads
	// as absent if it is not valid; Message.Index checks all. Without an index, or with one that
	// does not fit, Parse checks everything at once, as without ByIndex. Until Message.Index has
	// been called reading is for one goroutine at a time, and what changes the message, compares
	// it, links parts of it, sends it in a call or asks for Unknown fields calls Message.Index first;
	// a setter panics on its error. Validate does not call it.
	//
	// Another reader, which skips the index, may see another message if an index lies: take ByIndex
	// for sources only that are trusted as far as that, and that make their messages WithIndex. In a
	// message without one, whoever chooses the values at its end can forge what looks like an index.
	ByIndex

	// RequireIndex is ByIndex, but makes Parse return an error in which errors.Is finds ErrIndex if
	// there is no index or it does not fit; what turns out later not to fit reads as absent. None
	// fits a message in which a field of the root comes twice.
	RequireIndex

	// anySize, for tests, makes WithIndex and ByIndex be for messages of any size, with entries for
	// small values.
	anySize

	// alwaysSparse, for tests, makes the message sparse, see far.go.
	alwaysSparse
)

// Limits bounds what Parse accepts. Zero means the default. With New, only MaxDepth counts, from
// 64 upwards.
type Limits struct {
	MaxBytes int // of the message: 100 MiB
	// Of structs in structs, and of containers in a field that is skipped: 64, at most 65,536; see
	// Message.Finish
	MaxDepth int
	MaxIndex int // bytes of index: 16 MiB and 64 for each byte of the message
}

func (Limits) option() {}

const (
	defaultMaxBytes = 100 << 20
	defaultMaxDepth = 64
	mostDepth       = 1 << 16 // more takes too much stack
	indexPerByte    = 64
	indexFloor      = 16 << 20 // no index below is refused
)

// usualLimits are those of messages without others.
var usualLimits = Limits{defaultMaxBytes, defaultMaxDepth, 0}

// flagsOf returns the flags among the options, and limited if there are Limits.
func flagsOf(opts []Option) flag {
	var flags flag
	for _, o := range opts {
		if f, ok := o.(flag); ok {
			flags |= f
		} else {
			flags |= limited
		}
	}
	return flags
}

// forBuilding is the flags that mean something to a message that is built. The others are about
// received bytes.
const forBuilding = Recycle | held | limited | WithIndex | anySize

// builtFlags is flagsOf for a message that is built.
func builtFlags(opts []Option) flag { return flagsOf(opts) & forBuilding }

// settled returns flags of which none contradicts another: of those that put off indexing and
// WithIndex, which needs all, one is left.
func (f flag) settled() flag {
	switch {
	case f&WithIndex != 0:
		return f &^ (Lazy | ByIndex | RequireIndex)
	case f&RequireIndex != 0:
		f |= ByIndex
	}
	if f&ByIndex != 0 {
		f &^= Lazy
	}
	return f
}

// configOf returns the flags among the options, and the limits.
func configOf(opts []Option) (flag, Limits) {
	flags := flagsOf(opts).settled()
	if flags&limited == 0 {
		return flags, usualLimits
	}
	return flags, limitsOf(opts)
}

// limitsOf returns the Limits among the options.
func limitsOf(opts []Option) Limits {
	limits := usualLimits
	for _, o := range opts {
		if l, ok := o.(Limits); ok {
			limits = l.orElse(limits)
		}
	}
	return limits
}

// orElse returns the limits with those of other for what they leave to the default.
func (l Limits) orElse(other Limits) Limits {
	if l.MaxBytes > 0 {
		other.MaxBytes = min(l.MaxBytes, chain.MaxSize)
	}
	if l.MaxDepth > 0 {
		other.MaxDepth = min(l.MaxDepth, mostDepth)
	}
	if l.MaxIndex > 0 {
		other.MaxIndex = l.MaxIndex
	}
	return other
}

// maxIndex returns how many words the index of a message of n bytes may have.
func (l *Limits) maxIndex(n int) uint32 {
	limit := uint64(l.MaxIndex)
	if l.MaxIndex <= 0 {
		limit = indexPerByte*uint64(n) + indexFloor
	}
	return uint32(min(limit/4, maxWords))
}
