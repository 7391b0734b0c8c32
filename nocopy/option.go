package nocopy

import "github.com/nocopythrift/nocopythrift/nocopy/internal/engine"

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
//
// A nil Option has no effect. A pointer to an option, such as &Limits{…}, panics.
type Option = engine.Option

// The options, except [Limits].
const (
	// Lazy makes Parse skip most of the message. It indexes only the top level, small structs in
	// it, and lists of structs, without the containers in these structs. Skipped parts are indexed
	// when they are first read. Until Message.Index has been called, only one goroutine at a time
	// may read the message.
	//
	// Lazy refuses what Parse refuses without it, with the same error. Two kinds of fields are
	// indexed at once: those that contain structs of more than 12 fields, and those with values that
	// are not as the IDL says, such as unknown fields. With ValidUTF8 or Limits.MaxIndex Lazy has no
	// effect. Values that the program sets are indexed at once, including parts of other messages.
	Lazy = engine.Lazy

	// Own gives the bytes passed to Parse to the message, which stores into them when fields of fixed
	// size are set. The caller must not use them any more.
	Own = engine.Own

	// Recycle lets the message take memory from pools and return it on Release. Strings, byte slices
	// and handles from the message end with Release.
	Recycle = engine.Recycle

	// ValidUTF8 makes Parse refuse strings (not binaries) that are not UTF-8. Without it they are
	// kept unchanged.
	ValidUTF8 = engine.ValidUTF8

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
	WithIndex = engine.WithIndex

	// ByIndex makes Parse use the index in a message. Parse then looks only at the fields of the
	// root, and skips large ones. They are checked when they are read. Values that are invalid, or
	// that the index says wrongly, read as absent. Elements that follow an invalid one may, too.
	// Message.Index checks everything. If the message has no index, or one that does not fit, Parse
	// checks everything at once, as without ByIndex.
	//
	// Until Message.Index has been called, only one goroutine at a time may read the message. These
	// operations call it themselves: changing the message, comparing it, linking parts of it, sending
	// it in a call, and Unknown. A setter panics if it returns an error. Validate does not call it.
	//
	// Use ByIndex only for trusted sources that write their messages with WithIndex. If an index
	// is forged, readers that skip it may see other values. In a message without an index, a peer
	// that chooses the last values can forge one.
	ByIndex = engine.ByIndex

	// RequireIndex is ByIndex for messages that must have an index. If there is none, or it does not
	// fit, Parse returns an error in which errors.Is finds ErrIndex. Parts that are later found not
	// to fit read as absent. No index fits a message whose root has a field twice. Structs of plain
	// values are read whole: their Parse checks everything, including the index.
	RequireIndex = engine.RequireIndex

	// Compact makes Parse, ParseInto, Read and Decoders take messages in Thrift's compact
	// protocol. They become Thrift Binary once, in memory of their own: nothing refers to the
	// bytes that were passed, and all else is as with other messages. Limits hold for the compact
	// bytes and for the converted bytes, which can be 8 times as many. Offsets in errors are in
	// the compact bytes; those in errors of Message.Index are in the converted bytes.
	// Message.AppendCompact and WriteCompact give a message in the compact protocol.
	//
	// The protocol does not return the types of an empty map. It gets those of the IDL, or 0 where
	// the field is unknown.
	Compact = engine.Compact
)

// Limits is an option that bounds what Parse accepts. A zero field means its default. For new
// messages only MaxDepth counts, and only values above 64. Limits is a struct:
//
//	type Limits struct {
//		MaxBytes int // of the message: 100 MiB, at most 1 GiB
//		// Levels of structs in structs, and of containers in a skipped field: 64, at most 65,536;
//		// see Message.Finish
//		MaxDepth int
//		// Bytes of index: 16 MiB plus 64 per byte of the message. Only messages of many empty
//		// structs need more: a struct of 15 to 57 fields takes 4 bytes for each field, set or not
//		MaxIndex int
//	}
type Limits = engine.Limits
