// Package nocopy reads, builds, edits and sends Thrift Binary messages. nocopyc generates getters
// and setters from a .thrift file. They work directly on the wire bytes: nothing is marshalled,
// and strings are not copied.
//
// A message is its wire bytes and an index of where each value is. Programs hold handles: small
// values that stand for a struct, list or map in a message. With package order generated from
//
//	struct Line  { 1: string article, 2: i32 count }
//	struct Order { 1: i64 id, 2: string customer, 3: list<Line> lines }
//
// a program builds and sends a message like this:
//
//	o := order.NewOrder()
//	o.SetCustomer("Ada")
//	lines := o.NewLines(1) // a list of one empty Line
//	lines.At(0).SetArticle("engine")
//	_, err := o.Message().WriteTo(conn) // or Bytes, AppendTo, WriteFrame
//	o.Release()                         // gives its memory back
//
// And it reads, edits and forwards one like this:
//
//	o, err := order.ParseOrder(b) // checks all bytes and copies none
//	if err != nil {
//		return err // an *Error: what is wrong, at which offset, in which field
//	}
//	defer o.Release()
//	for _, line := range o.GetLines().All() {
//		fmt.Println(line.GetArticle(), line.GetCount()) // getters can't fail
//	}
//	o.SetCustomer("Ada Lovelace") // b stays as it is
//	_, err = o.Message().WriteTo(conn)
//
// Unset fields read as their defaults; IsSetX tells the difference. Fields that the IDL does not
// know stay in the message and are sent with it.
//
// The guide is docs/messages.md; docs/internals.md draws the index and explains its terms.
//
// # Handles
//
//   - A handle ends when its message is released. Using it afterwards panics, with one exception:
//     Release does nothing on a handle that is absent or already released. It can be deferred
//     before an error is checked.
//   - The zero handle is absent: its fields read as their defaults, its lists and maps as empty.
//     Passing it to a setter sets an empty value. Calling a setter on it panics.
//   - SetX, NewX and UnsetX of a struct or container field replace its value, as do Set, NewAt,
//     Put, PutNew and Delete of an element. Older handles still read the old value. Changes made
//     through them are not sent.
//   - In a list of structs, a handle stands for the element's place. After Set it reads the new
//     element. Swap, SortFunc and Delete move elements together with their handles.
//   - A handle can be set only where the IDL declares its type. A list can also be set as a set,
//     and a set as a list. A list of lists and a list of sets have the same Go type: setting one
//     for the other panics and changes nothing. See [Struct] for handles that a program converts.
//   - A setter that panics has changed nothing. The message may still be used.
//   - A list or map may be changed while a loop over its All runs. Removed elements are not
//     yielded; only those of a list of structs may be. Added elements may be yielded. Each pair
//     that stays in a map is yielded once.
//   - If a loop's body releases the message, a loop over numbers, bools or enums goes on with the
//     old values (with [Recycle], with arbitrary ones). Other loops panic.
//   - Editing one message again and again does not grow it without bound. When replaced and
//     removed bytes are several times the rest, the message is compacted; see [Message.Repack].
//     After compaction, a handle to a removed value reads as absent. Later it may read as another
//     value of the same type.
//
// # Memory
//
//   - Strings and byte slices from getters alias the message's memory. They stay valid after
//     Release, except with [Recycle], where they end with it.
//   - A string or slice keeps memory of its message alive: 64 KiB, or 1 MiB if the message is
//     larger. It keeps all of the message's bytes if the message was received in one piece, was
//     compacted, or was made of plain values at once. If the message was parsed from a []byte, it
//     keeps that slice.
//   - A message parsed from a []byte refers to it. The bytes must not change while the message, or
//     anything read from it, is in use.
//   - A setter copies a []byte shorter than 4 KiB, and refers to any other, which must not change
//     until Release. The same holds for slices in structs of plain values.
//   - A struct or container that is set from another message may be linked. It outlives that
//     message.
//   - A [Message] variable of the program, filled by [ParseInto] and [NewInto], saves about
//     10 ns per message. Filling it again, [Message.Reset] and [Message.Release] end its contents.
//
// The build tag nocopydebug finds mistakes. Recycled memory becomes inaccessible on Release, and
// reading a stale string faults (on Linux; elsewhere it reads as conspicuous bytes). A second
// Release panics. [Leaked] lists where unreleased messages were made. Finishing a message panics
// if a required field was never set ([Message.Missing]). A write to a value that was replaced or
// removed panics, too. NOCOPYDEBUG=missing=0,removed=0 in the environment turns these two checks
// off.
//
// # Goroutines
//
// Any number of goroutines may read a parsed message, or send a finished one ([Message.Finish]),
// while none changes it. A message parsed with [Lazy] or [ByIndex] needs [Message.Index] first.
// Filling or resetting a Message variable is a change.
//
// # Errors
//
// Bad data gives an [*Error] with the offset and the path of the bad value. errors.Is finds its
// reason: io.ErrUnexpectedEOF, [ErrMissingRequired], [ErrLimit], [ErrType], [ErrNegative],
// [ErrTrailing], [ErrUTF8], [ErrIndex] or [ErrNotFound]. Errors of an io.Reader are returned
// unchanged. If the reader ends too early, the error is io.ErrUnexpectedEOF.
//
// A mistake in the program panics with a text that begins with "nocopy: ". An index or range
// outside a list panics with an [IndexError] or [BoundsError], which are runtime errors.
//
// # Options
//
// [Limits] bounds what a message may take. [Lazy] indexes only what is read. [Own] lets the
// message store into the bytes that it was parsed from. [Recycle] reuses memory after Release.
// [ValidUTF8] refuses invalid strings. [Compact] takes messages in Thrift's compact protocol.
// [WithIndex], [ByIndex] and [RequireIndex] write and use a wire index.
//
// # What things cost
//
// Parsing is one pass that checks and indexes. Getters of scalars are inlined, except in structs
// with more than 57 fields. A program that reads all fields of such a struct should ask IsSetX
// first, which is inlined. Getters of strings are not inlined; they copy nothing. [Column] reads a
// number of all elements of a long list in a third of the time of their getters.
//
// Setters of scalars store in place, unless the bytes belong to the caller or are shared: then
// they replace the value. Fields may be set in any order. The order of the IDL, depth first, is
// fastest.
//
// # Structs of plain values
//
// nocopyc -fields also generates, for each struct X that is no union, a Go struct XFields of plain
// values. NewXOf makes a message from one, and Set fills a struct of a message. For a list of
// structs, SetLinesOf(v) takes a slice and SetLinesBy(n, f) a callback. Building from plain values
// is faster than calling setters, above all for small messages, and does not allocate. The result
// is the same as with setters. docs/idl.md lists the Go types of fields, and the few fields that
// only setters can set.
//
// The callback f may use the message in every way, and change it: the list is set when f has
// returned all elements. If f panics, the field is unchanged.
//
// # Messages with an index of their own
//
// [WithIndex] adds a wire index to messages of 4 KiB or more, when they are finished. It is a
// binary field with the id -32000 at the end of the root. Every Thrift library skips it; no field
// of an IDL may have that id. [ByIndex] and [OpenIndexed] use it to find any field without a scan:
// reading three fields of a mapped file takes about 0.3 µs and touches two pages, whatever the
// size.
//
// The index takes at most 1/80 of the message, below 20 KiB at most 1/40. Making it takes 0.4 µs.
// From 256 KB on it takes a fifteenth of the time of a parse. Changing the message removes the
// index; with WithIndex, finishing makes a new one.
//
// [Message.Bytes], AppendTo and WriteTo include the index. Copies carry no index: a handle's
// AppendTo, a Clone, and a root that is set in another message omit it. There is one exception:
// AppendTo on the unchanged root of a message that arrived with an index includes it.
//
// Over sockets a wire index gains little: the receiver has all bytes in memory, and Lazy skips 20
// KB in about 2 µs. docs/security-notes.md describes what a wrong index can do, and who can
// forge one.
// examples/programs/archive stores such messages in a file.
//
// # Text and logs
//
// String and %v print a struct on one line, %+v indented. In log/slog a struct is a group of its
// fields, shortened to about 8 KiB. All of these omit the values of fields with the annotation
// nocopy.redact. Getters, wire bytes and JSON include them; see docs/logs.md.
package nocopy
