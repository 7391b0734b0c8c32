package engine

import (
	"reflect"
	"sync/atomic"

	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/internal/entry"
	"github.com/nocopythrift/nocopythrift/internal/hashmap"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/index"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/keytable"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/parse"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wireindex"
)

// This file has a Message and its parts, which are what each feature remembers of a message, and
// the handle. What the features do is in files of their own: lifetime.go makes and releases
// messages, settle.go prepares them to be changed or sent.

// Message is one Thrift struct with everything in it: its wire bytes and an index of them. Package
// nocopy documents it and its methods. What it contains goes through these states:
//
//	state     it shows by         entered by
//	empty     ix.Used is 0        end, when the contents are released or can't be parsed
//	building  open has frames     beginRoot, and setters that begin a value or append to one
//	complete  open has none       closeAll; setters that store into what is complete stay here
//	finished  buf is sealed       Check, and parsing
//
// Three kinds of messages differ in who may end them. One of a pool has a home. One in a variable
// of the program has no home, and its field own is itself. One of a call, with the flag OfCall,
// belongs to package rpc. A frozen one (a default, a constant, an absent struct) never changes.
// What a lease says about offered and owned messages is explained at its methods.
type Message struct {
	buf     chain.Buffer
	ix      index.Index // of buf
	gen     uint64      // of 32 bits; counts Release: a handle of another generation is stale
	builder             // what is being built
	edits   []edit      // of entries; [0] is unused
	desc    *schema.Struct
	keys    keytable.Finder // of maps
	p       *parse.Parser   // nil unless it was needed, see parser
	*seldom                 // what few messages need
	lease                   // who may use it
	state
}

// state is the small things, next to each other.
type state struct {
	root              uint32 // its entry
	flags             Flags
	home              home    // where it waits once it is released
	pending           pending // what the next change must do first, see settle
	frozen            bool    // may not be changed: a default, a constant, or empty
	needsBeforeChange bool    // each change must first call beforeChange
	absent            bool    // it stands for something that is not there
}

// Struct is the handle of a struct, list, set or map of any type, with all accessors. The
// parameter f of an accessor identifies a field, and d describes the struct. A generated getter is
// one call of these methods, and is inlined.
//
// It consists of a message, the message's generation and an entry of its index. The handles of
// package nocopy and of generated code have Struct as their underlying type.
type Struct struct {
	m *Message
	k uint64 // generation<<32 | entry
}

// View is the constraint that every handle satisfies: handles of generated structs and of
// containers.
type View interface {
	~struct {
		m *Message
		k uint64
	}
}

// builder is the values that have been begun and are not complete.
type builder struct {
	// openHandle is the handle of the innermost struct that is being built, at the tail; 0 if none.
	// Its fields are appended without further ado.
	openHandle uint64
	open       []frame // the values that are being built, outermost first
}

// frame is a struct, list or map that is being built at the tail: a struct without its STOP, or
// a list without all of its elements. Message.open has the frames, each nested in the one
// before it; all are in the same run.
type frame struct {
	typ      *schema.Type
	e        uint32
	next     uint32 // list or map: how many elements or pairs are on the wire
	end      uint32 // list of structs: those before this one nextElement may begin; else 0
	lead     uint8  // how many bytes of a field header come before the value
	reopened bool   // it was complete before: bytes are added to the node at its end
	staged   bool   // list of texts: some of those from next on may have been staged
}

// lease is who may use a message, and what those may have who used it before.
type lease struct {
	own    *Message       // itself if it is a variable of the program: copies are found out
	claims atomic.Uint64  // who owns it, see lifetime.go
	noted  atomic.Uint32  // how users of a message of a call have used it, see lifetime.go
	since  uint32         // all contents from this generation to the current one were of type past
	past   *schema.Struct // the type of the contents before the current ones
}

// home is the number of the pool in which a message waits for its next contents; 0 if it is kept
// by the program, see lifetime.go. Each kind of messages keeps memory that the others can't use. A
// message of a call stays one.
type home uint8

// edit holds the state of a struct or container that was changed after it was complete. The first
// change makes it.
type edit struct {
	end       uint32       // position of the STOP, or after the last element
	valueNode chain.NodeID // the node that holds the value, which replaces an earlier one; or 0
	tailNode  chain.NodeID // the node at the end, with added values; or 0
	// Struct: index of a word for each of the entry, with the node that replaces the field; of a wide
	// one the number of a table with such words
	fieldNodes uint32
	countNode  uint32 // container: the node that replaces the count on the wire, or 0
	dead       uint32 // map: how many pairs were deleted
	// Map: the number in Message.liveSets of the set of pairs that All yields; 0 if there is none
	liveSet uint32
	// Map: number+1 of a deleted pair, or 0. Its word for the value has the next one's number+1.
	free uint32
	// List of fixed-size elements: how many bytes its node has after the last element
	spare uint32
	gap   uint32 // list: how many words before the first slot are free
	// List: its elements, except those that were added since, are parts of tailNode
	arranged bool
}

// noEdits is Message.edits until there are some: number 0 is unused.
var noEdits [1]edit

// pending says what must be done before a message is changed: its wire index, which a change
// would make wrong, must be removed.
type pending uint8

// landing is the state of a message that is read by its index.
type landing struct {
	x          wireindex.Index
	b          []byte // the message
	base       uint32 // position of its first byte
	mostUsed   uint32 // bounds the words of its index
	left       int    // how many more bytes may be read, see mostRead
	next       int    // entry of the wire index for the value that comes next
	passedOver int    // bytes passed over by the wire index in the last struct
	err        error  // the first error found when values were touched
	checked    error  // what Message.Index has returned
	// Entries of values that are not valid
	absent hashmap.Map[*schema.Type, uint32]
}

// duplicate is where an occurrence of a field on the wire is that does not count, since the same
// field comes again later in the struct.
type duplicate struct{ at, end uint32 }

// handout is memory that NewBytes returned for a binary field, to be filled by the program. e is
// the entry of the struct, word the word that the field had then. See isField.
type handout struct {
	e     uint32
	field schema.Ref
	word  index.Word
	mem   []byte
}

// The entries of values that were replaced or removed stay in the index, since there may be
// handles of them, until the message is compacted. Then they are made zero, and used again for
// values of the same type. So a handle of such a value reads as absent, or as another value of
// its type.

// deadEntries holds the entries of values that were replaced or removed.
type deadEntries struct {
	values      []deadValue
	fields      []deadField
	byStruct    hashmap.Map[uint32, []deadField] // by deadField.in; filled to compact
	everyChange bool                             // for tests: it compacts at every change
}

// isEmpty reports whether nothing was noted as dead since the message was compacted last.
func (d *deadEntries) isEmpty() bool { return len(d.values)+len(d.fields) == 0 }

// deadValue is a struct or container that was replaced or removed: its type and its entry. With
// inBlock it was an element whose entry is in the block of a list: its words stay the block's.
// Together with an element go those of the more entries that follow its own.
type deadValue struct {
	t       *schema.Type
	e       uint32
	more    uint16
	inBlock bool
}

// deadField is a struct that was replaced in a field: in is the entry of the struct that the field
// is in, word the number of the field's word, e the entry of the replaced struct.
type deadField struct{ in, word, e uint32 }

// seldom has the state that few messages need. Most only read noSeldom, which all messages share
// until they need one of their own. Code that stores into it calls ownSeldom first.
type seldom struct {
	// Left by edits
	liveSets   []keytable.Set // see edit.liveSet
	duplicates []duplicate    // fields that came twice
	handouts   []handout      // memory for binaries, handed out since the message was last finished
	dead       deadEntries    // entries in the index whose values are no longer in the message

	// Memory for copies, which waits for more
	copied     []byte      // for a value that is copied from another message
	spentRange chain.Range // has memory for the pieces of the next Range, see source
	scratch    []byte      // for a zero value that is encoded before it is appended

	filled []filled // required fields that were filled in, see missing.go

	// An index on the wire
	landing   *landing     // of a message that is read by its index, see landing.go
	indexNode chain.NodeID // with the index that finishing added

	limits Limits

	absentIn *schema.Field // the field that is absent; nil if that is not known

	origin // see debug.go
}

// noSeldom is only read.
var noSeldom = seldom{limits: usualLimits}

// ownSeldom makes seldom the message's own, if it is not.
func (m *Message) ownSeldom() {
	if m.seldom == &noSeldom {
		m.seldom = &seldom{limits: usualLimits}
	}
}

// owner is a message as its index, its parser and its tables of keys know it.
type owner Message

// Value is a value of any type, for code that knows types only by
// descriptors. For structs, lists, sets and maps it is a handle. Strings and binaries alias the
// message that they were read from.
type Value struct {
	typ  *schema.Type
	bits uint64 // a bool, number or enum: its bits, sign-extended
	text []byte // a string or binary, or the bytes of a uuid
	s    Struct
}

// Option changes how a message is made or parsed: a flag or Limits. Package nocopy describes them.
type Option interface{ option() }

// Flags are the options that are on or off.
type Flags uint16

// The flags. Those with a capital are options of package nocopy.
const (
	Lazy Flags = 1 << iota
	Own
	Recycle
	OfCall // of package rpc, see lifetime.go. It stands next to Recycle for the sake of pool
	ValidUTF8
	limited // there are Limits
	WithIndex
	ByIndex
	RequireIndex
	Compact
	// AnySize, for tests, makes WithIndex and ByIndex be for messages of any size, with entries for
	// small values.
	AnySize
)

// Limits bounds what Parse accepts. A zero field means its default. For new messages only MaxDepth
// counts, and only values above 64.
type Limits struct {
	MaxBytes int // of the message: 100 MiB, at most 1 GiB
	// Levels of structs in structs, and of containers in a skipped field: 64, at most 65,536; see
	// Message.Finish
	MaxDepth int
	// Bytes of index: 16 MiB plus 64 per byte of the message. Only messages of many empty structs
	// need more: a struct of 15 to 57 fields takes 4 bytes for each field, set or not
	MaxIndex int
}

// maxIndex returns how many words the index of a message of n bytes may have.
func (l *Limits) maxIndex(n int) uint32 { return index.Limit(l.MaxIndex, n) }

func (m *Message) handle(e uint32) Struct { return Struct{m, m.gen<<32 | uint64(e)} }

// usualLimits are the limits of messages without others.
var usualLimits = Limits{wire.DefaultMaxBytes, wire.DefaultMaxDepth, 0}

// isRoot reports whether k is the root's handle and d its type.
func (m *Message) isRoot(k uint64, d *schema.Struct) bool {
	return !m.frozen && uint32(k) == m.root && m.desc == d
}

// push adds a frame for entry e, of type t, which becomes the innermost. next is how many of
// its elements are on the wire.
func (m *Message) push(t *schema.Type, e, next uint32) *frame {
	n := len(m.open)
	if n == cap(m.open) {
		m.open = append(m.open, frame{})
	}
	m.open = m.open[:n+1]
	f := &m.open[n]
	if f.typ != t { // often it is the same as last time: that spares a write barrier
		f.typ = t
	}
	f.e, f.next, f.end, f.lead, f.reopened, f.staged = e, next, 0, 0, false, false
	return f
}

// typ returns the type of a list, set or map.
func (s Struct) typ() *schema.Type { return s.m.ix.List(uint32(s.k)).Type() }

// unindex forgets the index of a message that is about to be parsed again.
func (m *Message) unindex() {
	m.ix.Used = index.First
	m.dropDuplicates(0)
}

// dropDuplicates forgets all duplicates but the first n.
func (m *Message) dropDuplicates(n int) {
	if len(m.duplicates) > n {
		m.duplicates = m.duplicates[:n]
	}
}

// beginTrusted prepares the parser for bytes that have been checked before. They begin at
// position p, or the caller sets them if p is 0. The caller then calls EndTrusted.
func (m *Message) beginTrusted(p uint32) *parse.Parser {
	m.ix.Zeroed = 0 // since the parser does not update it
	m.ix.NoteGrowth()
	m.parser().Trust()
	if p != 0 {
		m.p.B, m.p.Base = m.buf.At(p), p
	}
	return m.p
}

// parser returns the message's parser.
func (m *Message) parser() *parse.Parser {
	if m.p == nil {
		m.p, m.ix.More = parse.New(&m.ix, &m.buf, (*owner)(m)), true
	}
	return m.p
}

// indexFrom indexes the root, which begins at the parser's window, and returns the index after it,
// or failed.
func (m *Message) indexFrom(p *parse.Parser) int {
	m.root = index.First
	return p.Root(m.desc)
}

// PanicChangedAtOnce implements index.Owner.
//
//go:noinline
func (m *owner) PanicChangedAtOnce() {
	name := "message"
	if m.desc != nil {
		name = m.desc.GoName()
	}
	panic("nocopy: " + name + " was changed by several goroutines at once")
}

// resetParser returns the message's parser, reset for n bytes of the message, which it does not
// have yet.
func (m *Message) resetParser(n int) *parse.Parser {
	p := m.parser()
	p.Reset(n, parse.Settings{MaxDepth: m.limits.MaxDepth, MaxIndex: m.limits.MaxIndex, Lazy: m.flags&Lazy != 0, UTF8: m.flags&ValidUTF8 != 0})
	return p
}

// entry returns the handle's entry.
func (s Struct) entry() uint32 { return uint32(s.k) }

// alive panics if the handle, which must not be zero, is of a message that was released.
func (s Struct) alive() {
	if s.k>>32 != s.m.gen {
		panic(staleUse(s))
	}
}

// ListLen returns the number of elements.
func (s Struct) ListLen() (n int) {
	if s.m != nil {
		if s.k>>32 != s.m.gen {
			panic(staleUse(s))
		}
		n = int(s.m.ix.Words[uint32(s.k)+entry.ListCount]) // as it is, to be inlined
	}
	return
}

// ZeroText is the zero handle as text. Parse returns a zero handle with an error.
const ZeroText = "<none>"

// The fixed texts of panics about wrong use.
const (
	panicEmpty   = "nocopy: empty Message used: ParseInto or NewInto fills it"
	panicAbsent  = "nocopy" + setterOnAbsent + "NewX first"
	panicConst   = "nocopy: setter called on a constant of the IDL, which never changes: change a copy of it"
	panicTwice   = "nocopy: message released twice"
	panicGone    = "nocopy: setter called on a struct or container that is no longer in its message"
	panicNotRoot = "nocopy: Release called on a handle that is not its message's root"

	panicNotVariable = "nocopy: ParseInto, NewInto and Reset take a Message variable of your own, not a handle's message"
	panicCopied      = "nocopy: copy of a Message used"
	panicOption      = "nocopy: an Option is a pointer, or a struct around an option: pass Limits, Lazy and so on as they are"

	panicJSONOption = "nocopy: an option of package nocopyjson given to a function that reads no JSON"

	setterOnAbsent = ": setter called on an absent struct or container: use "
)

// GenerateThisCodeAgainWithNocopyc appears in the compiler's error for code that an older version
// generated: the constant that such code refers to is a variable of this type.
type GenerateThisCodeAgainWithNocopyc struct{}

// A message of a call belongs to package rpc, which shows it to handlers and interceptors: the
// arguments and results of a server's calls. Release does not give its memory back; it ends the
// handles and is noted. So a handler that uses the message too late can't harm another message.

// Notes on a message of a call.
const (
	shown    = 1 << iota // a *Message was handed out and may be kept: it is not used again
	disowned             // Release was called
)

// staleUse is the panic of a handle that is used after the Release of its message. Getters are
// inlined and can't afford a call: they panic with the handle, and its text is made when somebody
// reads it.
type staleUse Struct

const (
	carriesIndex pending = 1 << iota // the root has a wire index among its unknown fields
	placedIndex                      // finishing has added a wire index, in Message.indexNode
	byIndex                          // the message is read by its wire index, see landing

	// innerIndex: structs other than the root have an index among their fields, since each was a
	// message. It stays there under all changes. Copies of such a struct, which may become
	// messages, are made without it.
	innerIndex
)

// packagePath is the prefix of the names of this package's functions.
var packagePath = reflect.TypeFor[Message]().PkgPath() + "."

// panicFull is the panic's text of package chain when it has no positions left.
const panicFull = "nocopy: message larger than its address space of 2 GiB"
