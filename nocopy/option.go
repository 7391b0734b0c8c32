package nocopy

import "github.com/nocopythrift/nocopythrift/internal/chain"

// Option changes how a message is made or parsed: [Lazy], [Own], [Recycle], [ValidUTF8],
// [WithIndex], [ByIndex], [RequireIndex], [Compact], or a [Limits].
//
// Options can be combined in any way and order. Some turn others off: WithIndex turns off Lazy,
// ByIndex and RequireIndex; ByIndex and RequireIndex turn off Lazy. RequireIndex implies ByIndex,
// as OpenIndexed does. If several Limits set the same field, the last one counts.
//
// NewX, NewInto and NewXOf accept all options, but only Recycle, WithIndex and Limits have an
// effect there; the others concern received bytes. Own has no effect on Read and Decoders, whose
// messages have their own memory.
type Option interface{ option() }

type flag uint16

func (flag) option() {}

const (
	// Lazy makes Parse skip most of the message: it indexes only the top level and small structs in
	// it. Everything else is indexed when it is first read. Until Message.Index has been called, only
	// one goroutine at a time may read the message. A container whose index might exceed the limit is
	// indexed at once.
	//
	// Skipping does not check everything. Only Message.Index checks required fields of inner structs,
	// the depth of their unknown fields and, with ValidUTF8, their strings. Lazy concerns received
	// bytes: values that the program sets are indexed at once, including parts of other messages.
	Lazy flag = 1 << iota

	// Own gives the bytes passed to Parse to the message, which stores into them when fields of fixed
	// size are set. The caller must not use them any more.
	Own

	// Recycle lets the message take memory from pools and return it on Release. Strings, byte slices
	// and handles from the message end with Release.
	Recycle

	// held marks messages of package rpc, see held.go. It stands next to Recycle for the sake of
	// pool.
	held

	// ValidUTF8 makes Parse refuse strings (not binaries) that are not UTF-8. Without it they are
	// kept unchanged.
	ValidUTF8

	// limited is set when there are Limits.
	limited

	// WithIndex adds an index to messages of 4 KiB or more when they are finished. The index is a
	// field that every Thrift library skips. A reader with ByIndex uses it to find any field without
	// looking at the rest. It takes at most 1/80 of the message, below 20 KiB at most 1/40. After a
	// change, finishing the message copies it into one piece and makes a new index. A union never
	// gets one.
	//
	// Parse with WithIndex adds an index, or replaces the one in the message, and indexes everything
	// at once; Lazy, ByIndex and RequireIndex have no effect then.
	//
	// Message.Bytes, AppendTo and WriteTo include the index. A handle's AppendTo does not.
	WithIndex

	// ByIndex makes Parse use the index in a message. Parse then looks only at the fields of the
	// root, and skips large ones. They are checked when they are read; invalid ones read as absent.
	// Message.Index checks everything. If the message has no index, or one that does not fit, Parse
	// checks everything at once, as without ByIndex.
	//
	// Until Message.Index has been called, only one goroutine at a time may read the message. These
	// operations call it themselves: changing the message, comparing it, linking parts of it, sending
	// it in a call, and Unknown. A setter panics if it returns an error. Validate does not call it.
	//
	// Use ByIndex only for trusted sources that write their messages with WithIndex. If an index is
	// forged, readers that skip it may see other values. In a message without an index, whoever
	// chooses the last values can forge one.
	ByIndex

	// RequireIndex is ByIndex for messages that must have an index. If there is none, or it does not
	// fit, Parse returns an error in which errors.Is finds ErrIndex. Parts that are later found not
	// to fit read as absent. No index fits a message whose root has a field twice.
	RequireIndex

	// Compact makes Parse, ParseInto, Read and Decoders take messages in Thrift's compact protocol.
	// They become Thrift Binary once, in memory of their own: nothing refers to the bytes that were
	// passed, and all else is as with other messages. Limits hold for the compact bytes and for
	// what they become, which can be 8 times as much. Offsets in errors are in the compact bytes,
	// except in those of Message.Index, which are in what they became.
	// Message.AppendCompact and WriteCompact give a message in the compact protocol.
	//
	// The protocol does not tell the types of an empty map. It gets those of the IDL, or 0 where
	// the field is unknown.
	Compact

	// anySize, for tests, makes WithIndex and ByIndex be for messages of any size, with entries for
	// small values.
	anySize
)

// Limits bounds what Parse accepts. A zero field means its default. For new messages only MaxDepth
// counts, and only values above 64.
type Limits struct {
	MaxBytes int // of the message: 100 MiB
	// Levels of structs in structs, and of containers in a skipped field: 64, at most 65,536; see
	// Message.Finish
	MaxDepth int
	// Bytes of index: 16 MiB plus 64 per byte of the message. Only messages of many empty structs
	// need more: a struct of 15 to 57 fields takes 4 bytes for each field, set or not
	MaxIndex int
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
