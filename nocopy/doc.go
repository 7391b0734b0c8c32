// Package nocopy reads and writes Thrift Binary messages in place. Programs use the accessors that
// gen/nocopyc makes from a .thrift file, and [Message]; what begins with X is for generated code,
// see package thriftimpl.
//
// # A message and its index
//
// A message is its wire bytes (package internal/chain) and an index of 32-bit words over them. A
// struct's entry is two words for where it begins and where its STOP is, and one word for each
// field: the position of its value, or the entry of the struct or container that it is; 0 if it is
// not set.
//
//	struct User { 1: i64 id, 2: string name, 3: list<i64> scores }
//
//	wire   0a 0001 0000000000001267   0b 0002 00000003 "Ada"   0f 0003 0a 00000002 …16 bytes 00
//	       ↑position 0  ↑3                     ↑14                        ↑29                   ↑45
//	index  entry of the User:    0, 45, 3, 14, →entry of the list
//	       entry of the list:   29, 45, 2, …
//
// A struct of more than 57 fields, of which mostly few are set, has a table of those that are
// instead, so that the index is in proportion to them: wide.go draws it. One of 15 to 57 has two
// words more, see far.go.
//
// # What things cost
//
// A getter of a scalar is inlined: it compares the handle's generation, loads the field's word,
// and loads the value through the table of segments. An unset field's word is 0, and position 0
// reads as zero: no branch. (Getters of a struct of more than 57 fields are calls, but IsSetX is
// inlined: a program that reads all fields of such a struct asks it first.) A string's getter
// is a call that also loads the length; it copies nothing. A setter of a scalar stores in place;
// where it may not (bytes of the caller's, or shared), the first one makes a node. A setter of a
// string appends it while its struct is being built, and makes a node afterwards. In a received
// message of up to 2 KiB neither does: a node would cost more than copying the message with the
// new value in it. Parsing is one pass that checks and indexes; afterwards no getter can fail.
//
// # Building and editing
//
// The struct that was made last is open: what is set in it is appended. Setting something in a
// struct around it completes it. A complete struct, built or received, is changed by nodes, and
// opened again at its end for fields that it lacks. So filling structs in depth-first order is
// plain appending, and any other order is right too. Lists and maps are filled alike. A list of
// texts costs little more in any other order: its elements wait in memory of their own, and are
// copied together when it is complete.
//
// # Whole structs
//
// With the flag -fields nocopyc makes, for each struct X but unions, a Go struct XFields of plain
// values, and what makes messages of these: NewXOf makes a message, Set fills a struct, and in a
// list of structs SetLinesOf(v) takes a slice and SetLinesBy(n, f) a function. All are complete at
// once. That is faster than a setter a field, mostly in small messages and small structs, and
// allocates nothing itself. What is built so is as if it had been built by setters: handles, later
// changes, sharing and the rules of required fields are the same. docs/idl.md says which Go type a
// field has, and what is left to setters.
//
// f may read the message by getters, make others, and panic: then the field is as it was. It must
// not change the message, nor do what completes it while it is being built: send, compare or clone
// it, make JSON of it, or copy parts of it into others. What has been changed stays, the field is
// as it was, and SetLinesBy panics; where no bytes were added, it may not notice, and sets the
// field.
//
// # Lifetimes
//
//   - Handles are 16-byte values. They die with [Message.Release] and panic when used afterwards,
//     always. The exception is Release itself: of a handle that is absent, or was released before,
//     it does nothing, so that a program may defer it before it looks at an error.
//   - The zero handle reads as absent: fields have their defaults, lists and maps no elements; as
//     a value it is an empty one. Setting something in it panics.
//   - After SetX, NewX or UnsetX of a struct or container field, and after Set, NewAt, Put, PutNew
//     or Delete of an element, handles of what was there before give the old value; what is
//     changed through them is not sent. But a handle of an element of a list of structs is of the
//     element's place: after Set it is that of the new one. Swap, SortFunc and Delete move
//     elements with their handles.
//   - A message that is edited again and again is compacted: once what has been replaced or
//     removed is several times as much as the rest, it is rewritten. Other handles and what was
//     read stay good, but those of what is gone read as absent then, and later perhaps as a value
//     of the same type that has come in their place. See [Message.Compact].
//   - A handle can be set only where its type is declared; a list also as a set, and the other way
//     round. Go's types do not tell a list of lists from a list of sets: setting one for the other
//     panics, having changed nothing. See [Struct] for handles that a program converts.
//   - A setter that panics has changed nothing: the message is as it was, and may be used.
//   - Lists and maps may be changed while All is under way. What is removed is yielded no more,
//     but for elements of a list of structs, which may be; what is added may be; all other pairs
//     of a map are, once each.
//   - A loop over a list of numbers, bools or enums goes on over what they were if the message is
//     released meanwhile; with [Recycle], over whatever is in that memory then. Other loops panic.
//   - Strings and bytes that were read alias the message's memory and stay valid for ever, but for
//     [Recycle]. Each keeps its memory alive: a slab of 64 KiB; of a larger message one of
//     1 MiB, or as much as was received in one piece, or compacted, which is the message at most;
//     what is parsed from a []byte keeps that.
//   - A []byte passed to a setter, or in a struct of plain values, is copied below 4 KiB, else
//     referred to until Release; strings cannot change anyway.
//   - A message outlives those that parts of it came from.
//   - A [Message] of the program's own, which [ParseInto] and [NewInto] fill, spares some 12 ns a
//     message: it waits in no pool. Filling it again, [Message.Reset] and [Message.Release] end
//     what is in it.
//   - The build tag nocopydebug finds mistakes: recycled memory becomes inaccessible on Release,
//     so that a stale string faults where it is read (on Linux; elsewhere it reads as striking
//     bytes); a second Release panics; [Leaked] tells where messages were made that were never
//     released. Required fields that were never set panic when a message is finished
//     ([Message.Missing]), and so does a write to what was replaced or removed;
//     NOCOPYDEBUG=missing=0,removed=0 in the environment turns these two off.
//
// # Threads
//
// A parsed message may be read by any number of goroutines, and a finished one sent by any number
// ([Message.Finish]), while nobody changes it. With [Lazy] or [ByIndex] only after
// [Message.Index]. Filling or resetting a kept message changes it.
//
// # A message with its own index
//
// [WithIndex] makes finishing add a wire index to the bytes of a message of 4 KiB or more, in a
// binary field with the id -32000 at the end of the root, which every Thrift library skips; no
// field of an IDL may have that id. Parse with [ByIndex], or [OpenIndexed], then finds any field
// without a scan: in a file that is mapped, of a message of any size, three fields cost 0.2 to 0.3
// µs and two pages. The index takes at most 1/80 of the message, 1/40 below 20 KiB. Changing the
// message removes it or, with WithIndex, makes it anew; making it takes 0.4 µs, or a fifteenth of
// a parse from 256 KB on. It goes out with the whole message, by [Message.Bytes], AppendTo and
// WriteTo. What a handle's AppendTo appends, a value that is set to the root of another message,
// and a Clone have none; but AppendTo of the root of a message that came with one, and was not
// changed, appends it as it came. Over sockets it pays little: the receiver of a message has all
// of its bytes in memory, and Lazy passes over 20 KB in some 2 µs. What a wrong index can do, and
// who can forge one, is in SECURITY.md; examples/archive is a file of such messages.
//
// # Errors
//
// Bad data is an [*Error] with the offset and the path of what is wrong, in which errors.Is finds
// io.ErrUnexpectedEOF or one of [ErrMissingRequired], [ErrLimit], [ErrType], [ErrNegative],
// [ErrTrailing], [ErrUTF8], [ErrIndex] and [ErrNotFound]. A Reader's errors are returned as they
// are; what ends too early is io.ErrUnexpectedEOF. Bad programs panic with a text that begins with
// "nocopy: "; an index or range that a list does not have, with an [IndexError] or [BoundsError],
// which are runtime errors.
//
// # Text and logs
//
// String and %v are a struct on one line, %+v indented; a struct in a log of log/slog is a group
// of its fields, shortened to some 8 KiB. None of these has the values of fields with the
// annotation nocopy.redact, which getters, wire bytes and JSON have: docs/logs.md.
//
// # Terms
//
// Field, struct, list, set, map, union, exception, key, wire type and STOP are Thrift's. Besides:
//
//   - position: a number for a place in the message's bytes; it stays while others are added or
//     removed.
//   - field header: a field's wire type and id, 3 bytes before its value.
//   - element: what is in a list or set; in a map there are pairs of a key and a value.
//   - container: a list, set or map.
//   - text: a string or binary.
//   - index: the entries of a message; an entry is the words for one struct or container. The wire
//     index is another one, in the bytes of a message.
//   - word: 32 bits of an entry, for a field, an element or a number of them.
//   - handle: what programs hold of a struct or container: its message, a generation and its
//     entry.
//   - generation: a number that Release increments, which tells handles from before it.
//   - root: the struct that the whole message is.
//   - absent: of a struct or container that is not set, and reads as its default or as empty.
//   - node: what stands in the place of some of the bytes, with contents of its own.
//   - open: of a struct or container that is being built at the message's end; complete is the
//     opposite.
//   - owed: of a field that finishing adds, since it is required or has a default.
//   - alias: to be the same memory, as strings that getters return.
//   - link: to refer to bytes of another message, which stays as it was.
//   - graft: to set a struct or container of another message, by linking or copying it.
//   - held: of a message that package rpc shows to handlers and that only it gives back.
//   - kept: of a message that is a variable of the program's own.
//   - compact: to rewrite an edited message without what was replaced or removed.
//
// Read next: struct.go for getters and setters, parse.go for how the index comes about, build.go
// and edit.go for how messages come about and change; then package internal/chain.
package nocopy
