package nocopy

import (
	"fmt"
	"io"
	"log/slog"

	"github.com/nocopythrift/nocopythrift/linkbuf"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/render"
)

// Message is one Thrift struct with everything in it: its wire bytes and an index of them. NewX
// and ParseX of a generated type X make one and return the handle of its root.
//
// Any number of goroutines may read a parsed message, or send a finished one. Only one goroutine
// may change a message, while no other uses it.
//
// After Release, do not use a *Message: its memory may hold another message. Handles panic then. A
// pointer gives access to the other message.
//
// A program that handles one message after another may keep a Message variable of its own, zero at
// first. [ParseInto] and [NewInto] fill it, as often as needed. Each of them ends the previous
// contents, as [Message.Reset] and [Message.Release] do: older handles panic when used. An empty
// Message has no Root; reading or sending it panics. Strings read from such a message, and parts
// linked into others, live as long as those of other messages. The variable keeps some memory for
// the next contents. It works best for one purpose, parsing or building, with one set of options.
// It must not be copied.
type Message engine.Message

// Root returns the handle of the message's root, for conversion to its type.
func (m *Message) Root() Struct { return Struct((*engine.Message)(m).Root()) }

// Format implements fmt.Formatter: a message prints as its root does, without redacted values.
func (m *Message) Format(f fmt.State, verb rune) {
	s := (*engine.Message)(m).Shown()
	if d := s.RootDesc(); d != nil {
		render.Format(f, verb, s, d)
		return
	}
	io.WriteString(f, s.UnknownText())
}

// LogValue returns the root for package slog.
func (m *Message) LogValue() slog.Value { return Struct((*engine.Message)(m).Shown()).LogValue() }

// Finish completes what is being built. It ends every struct, and adds fields that were never set:
// required fields, and fields of default requiredness that have an IDL default. (Numbers, enums
// and uuids of default requiredness are present from the beginning. Optional fields, and strings
// and containers without a default, are sent only if they were set.) Afterwards sending and
// reading change nothing until the next setter; several goroutines may do both. Finish may be
// called any number of times.
//
// Finish panics if structs are nested too deeply: more than 64 levels, which Parse accepts by
// default, or more than the MaxDepth in the Limits of the message or of a message that parts of it
// came from. It also panics if the message is larger than 1 GiB, the most that can be received.
// Check returns an error instead. [Message.Missing] lists the required fields that were
// filled in; with the build tag nocopydebug Finish panics if there are any.
func (m *Message) Finish() { (*engine.Message)(m).Finish() }

// Check does what Finish does, but returns an *Error if structs are nested too deeply, or if the
// message is larger than 1 GiB; errors.Is finds ErrLimit in both. Received
// messages may be as deep as Parse accepts. A program that puts them into messages of its own
// should call Check before sending, or parse them with a smaller MaxDepth.
func (m *Message) Check() error { return (*engine.Message)(m).Check() }

// Missing returns the paths of required fields that were never set, or were unset, such as
// "Order.lines[3].sku": at most 100 of them, or nil. Peers refuse a message that lacks them.
// [Message.Finish] therefore fills them in, empty, and peers can't notice. Fields with an IDL
// default are never missing.
//
// Missing changes nothing. It may be called before or after the message is finished. It sees
// strings, binaries, structs and containers. Numbers, bools, enums and uuids are zero from the
// beginning; only builds with the tag nocopydebug know whether they were set. With that tag,
// finishing a message with missing fields panics; package rpctest reports them as errors of the
// test. Fields that were copied from another message count as set.
func (m *Message) Missing() []string { return (*engine.Message)(m).Missing() }

// Len finishes the message and returns its length on the wire, in bytes. After a change it goes
// through all pieces of the message: don't call it after each of many changes.
func (m *Message) Len() int { return (*engine.Message)(m).Len() }

// Bytes finishes the message and returns its wire bytes: those of the whole message. (A handle's
// AppendTo gives the bytes of one struct.) They alias the message if it is in one piece. Editing a
// message, or setting large values that it refers to, splits it into pieces; then they are a copy.
// They must not be changed. They keep their contents when the message is changed, until Release if
// it recycles.
func (m *Message) Bytes() []byte { return (*engine.Message)(m).Bytes() }

// AppendTo finishes the message and appends a copy of its wire bytes to dst.
func (m *Message) AppendTo(dst []byte) []byte { return (*engine.Message)(m).AppendTo(dst) }

// WriteTo finishes the message and writes its wire bytes to w, by writev if w is a connection that
// supports it. It returns the number of bytes written. Where Finish would panic, WriteTo writes
// nothing and returns the error of Check.
func (m *Message) WriteTo(w io.Writer) (int64, error) { return (*engine.Message)(m).WriteTo(w) }

// WriteFrame writes the message as a frame of Thrift's framed transport: its length as a
// big-endian i32, then its bytes. It returns what it wrote and how. Its errors are those of
// WriteTo.
func (m *Message) WriteFrame(w io.Writer) (linkbuf.Stats, error) {
	return (*engine.Message)(m).WriteFrame(w)
}

// Nodes returns the number of values that are not stored in line: values that were changed after
// they were complete, and large ones that are referred to. It shows how much of a message was
// changed; other versions of this package may count differently.
func (m *Message) Nodes() int { return (*engine.Message)(m).Nodes() }

// Index indexes everything that Lazy skipped. Afterwards any number of goroutines may read the
// message. Index finishes the message, and returns the error of Check if that is not possible.
//
// In a message parsed with ByIndex, Index checks everything, including the index. If it returns
// nil, a reader without the index would have read the same values. Otherwise it returns an *Error.
// errors.Is finds ErrIndex in it if only the index is wrong.
func (m *Message) Index() error { return (*engine.Message)(m).Index() }

// Repack rewrites the message into one piece of memory, without the values that were replaced or
// removed. Setters call it when such values take several times as much memory as the rest. A
// message that is edited again and again therefore stays within a few times its size. Repack
// completes what is being built.
//
// A program that keeps small messages calls Repack when they are complete: a message that is
// built, or parsed from the compact protocol, takes a slab of 64 KiB, and moves into memory of its
// own size. Later changes take a slab again. Small messages from Read or Clone have parts of
// slabs. Repack moves them out of these, too, so that a few that are kept do not keep the slabs
// of others.
//
// Handles and values that were read stay valid, with one exception: do not use handles of values
// that were replaced or removed. They read as absent at first. Later, when their entries are used
// again, they may read as other values of their type.
//
// Bytes that NewX(n) or NewBytes returned for a binary field may still be filled until the message
// is finished, if there are at most 16 such binaries.
func (m *Message) Repack() { (*engine.Message)(m).Compact() }

// Compact is Repack.
//
// Deprecated: Use Repack. The other names with Compact are about Thrift's compact protocol.
//
//go:fix inline
func (m *Message) Compact() { m.Repack() }

// Reset empties a Message variable of the program; see Message. Its handles end, and panic
// when used. The message drops the bytes that it was parsed from, the bytes that it links, and its
// pooled memory. Strings and bytes that were read from it stay valid, unless it was filled with
// Recycle. Reset does nothing for an empty message. It panics if m was made by NewX, ParseX or the
// like.
func (m *Message) Reset() { (*engine.Message)(m).Reset() }

// Release ends the message. Its handles panic when used afterwards. The memory of m is used for
// other messages; a Message variable of the program becomes empty. Strings and bytes that
// were read from the message stay valid, unless it was made with Recycle. Not calling Release
// costs speed, not memory.
//
// Release does nothing for an absent, empty or already released message. With the build tag
// nocopydebug a second Release panics. A second Release of a handle is always safe. A second
// Release of a *Message is not: it may end another message that uses the memory by then.
func (m *Message) Release() { (*engine.Message)(m).Release() }

// Leaked returns where the messages were made that have not been released, as one stack each. It
// works only in builds with the tag nocopydebug; in others it returns nil.
func Leaked() []string { return engine.Leaked() }
