package engine

import (
	"io"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/linkbuf"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/index"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/keytable"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/parse"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// Message is one Thrift struct with everything in it: its wire bytes and an index of them. Package
// nocopy documents it and its methods.
type Message struct {
	//lint:ignore U1000 builds with the tag nocopydebug use it
	origin
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
	root    uint32 // its entry
	flags   Flags
	home    home    // where it waits once it is released
	pending pending // what the next change must do first, see settle
	frozen  bool    // may not be changed: a default, a constant, or empty
	guarded bool    // changes are not simply made, see beforeChange
	absent  bool    // it stands for something that is not there
}

// builder is the values that have been begun and are not complete.
type builder struct {
	// openHandle is the handle of the innermost struct that is being built, at the tail; 0 if none.
	// Its fields are appended without further ado.
	openHandle uint64
	open       []frame // the values that are being built, outermost first
	listFill   listFill
	mapFill    mapFill
}

// lease is who may use a message, and what those may have who used it before.
type lease struct {
	own    *Message       // itself if it is kept: copies are found out
	claims atomic.Uint64  // who owns it, see lease.go
	noted  atomic.Uint32  // how users of a held message have used it, see lease.go
	since  uint32         // all contents from this generation to the current one were of type past
	past   *schema.Struct // the type of the contents before the current ones
}

// home is the number of the pool in which a message waits for its next contents; 0 if it is kept
// by the program, see lease.go. Each kind of messages keeps memory that the others can't use. A
// held message stays held.
type home uint8

const (
	builtHome  home = 1 // and up to 3 more, see pool
	parsedHome home = builtHome + 4
)

var pools [parsedHome + 4]sync.Pool

// newMessage returns a message to be filled with received bytes.
func newMessage(d *schema.Struct, flags Flags, limits Limits) *Message {
	m := takeParsed(d, flags, limits)
	m.buf.Reset(flags&Recycle != 0)
	return m
}

// takeParsed returns a message to be filled with received bytes, whose Buffer is still to be
// reset.
func takeParsed(d *schema.Struct, flags Flags, limits Limits) *Message {
	m := fromPool(parsedHome + pool(flags))
	m.expect(d, flags, limits)
	return m
}

// expect prepares m to be filled with received bytes.
func (m *Message) expect(d *schema.Struct, flags Flags, limits Limits) {
	m.desc, m.flags = d, flags
	m.limit(limits)
	m.ix.Used, m.ix.Zeroed = index.First, 0
}

// limit sets the limits of m, which are the usual ones until then.
func (m *Message) limit(l Limits) {
	if l != m.limits {
		m.ownSeldom()
		m.limits = l
	}
}

// pool returns the number of the pool for messages with these flags: 1 if they recycle, else 0,
// and 2 more if they are held.
func pool(f Flags) home { return home(f & (Recycle | held) / Recycle) }

// fromPool returns a message with the usual limits. The caller resets its Buffer and sets its
// type, flags and words.
func fromPool(h home) *Message { return pools[h].Get().(*Message) }

func init() {
	for i := builtHome; int(i) < len(pools); i++ {
		pools[i].New = func() any { return makeMessage(i) }
	}
}

func makeMessage(h home) *Message {
	m := &Message{state: state{home: h}}
	m.init()
	if debugging {
		m.track()
	}
	return m
}

// noEdits is Message.edits until there are some: number 0 is unused.
var noEdits [1]edit

// init makes a Message that is zero ready for its first contents.
func (m *Message) init() {
	m.gen, m.edits, m.seldom = 1, noEdits[:], &noSeldom
	m.ix.Begin((*owner)(m))
}

func (m *Message) handle(e uint32) Struct { return Struct{m, m.gen<<32 | uint64(e)} }

// New returns the root of a new message. (Neither it nor Parse is generic: the
// compiler would not know in other packages that they don't keep opts, and allocate them.)
func New(d *schema.Struct, opts ...Option) Struct {
	flags := builtFlags(opts)
	s := beginMessage(d, flags, headroom)
	if flags&limited != 0 {
		s.m.limit(limitsOf(opts))
	}
	return s
}

// beginMessage returns the root of a new message that has room for n bytes before it.
func beginMessage(d *schema.Struct, flags Flags, n int) Struct {
	return fromPool(builtHome+pool(flags)).begin(d, flags, n)
}

// begin makes m a new message that has room for n bytes before it, and returns its root.
func (m *Message) begin(d *schema.Struct, flags Flags, n int) Struct {
	m.desc, m.flags, m.ix.Used = d, flags, index.First
	m.buf.Begin(flags&Recycle != 0, n)
	m.root = m.ix.Alloc(d.Words())
	m.beginStruct(d, m.root)
	return m.handle(m.root)
}

// NewWithRoom is like New, with room for n bytes before the message and no option but
// Recycle.
func NewWithRoom(d *schema.Struct, n int, recycle bool) Struct {
	checkRoom(n)
	return beginMessage(d, flagIf(recycle, Recycle), n)
}

// NewIn is like NewWithRoom of a message that recycles, built in the memory of c; held if l is not
// nil.
func NewIn(d *schema.Struct, c chain.Chunk, n int, l *Limits) *Message {
	checkRoom(n)
	flags := Recycle
	if l != nil {
		flags |= held
	}
	m := fromPool(builtHome + pool(flags))
	m.desc, m.flags, m.ix.Used = d, flags, index.First
	if l != nil && *l != (Limits{}) {
		m.flags |= limited
		m.limit(l.orElse(usualLimits))
	}
	m.buf.BeginIn(c, n)
	m.root = m.ix.Alloc(d.Words())
	m.beginStruct(d, m.root)
	return m
}

// flagIf returns f if yes, else no flag.
func flagIf(yes bool, f Flags) Flags {
	if yes {
		return f
	}
	return 0
}

// headroom is the room before a message for a frame's length and the like.
const headroom = 8

// Root returns the handle of the message's root, for conversion to its type.
func (m *Message) Root() Struct {
	m.mustBeFilled()
	if m.own != nil && m.own != m {
		panic(panicCopied)
	}
	return Struct(m.handle(m.root))
}

// Shown returns the root for texts and logs: the zero handle if the message is empty or nil.
func (m *Message) Shown() Struct {
	if m == nil || m.ix.Used == 0 {
		return Struct{}
	}
	return m.Root()
}

// Finish completes the values that are being built.
func (m *Message) Finish() {
	if !m.buf.Sealed() || m.ix.Used == 0 {
		if err := m.Check(); err != nil {
			panic("nocopy: message can't be finished: " + strings.TrimPrefix(err.Error(), "nocopy: "))
		}
	}
}

// Check does what Finish does, but returns an *Error if structs are nested too deeply.
func (m *Message) Check() error {
	m.mustBeFilled()
	if m.buf.Sealed() {
		return nil
	}
	if debugging {
		m.mustHaveAll()
	}
	if len(m.open) > 0 {
		m.closeAll()
	}
	if err := m.checkNesting(); err != nil {
		return err
	}
	if m.flags&WithIndex != 0 {
		m.addWireIndex()
	}
	m.buf.Seal()
	if m.ix.More && len(m.handouts) > 0 {
		m.dropHandouts()
	}
	return nil
}

// Len finishes the message and returns its length on the wire, in bytes. After a change it goes
// through all pieces of the message: don't call it after each of many changes.
func (m *Message) Len() int {
	m.Finish()
	return m.buf.Len()
}

// Bytes finishes the message and returns the wire bytes of the whole message.
func (m *Message) Bytes() []byte {
	m.Finish()
	if b, ok := m.buf.Bytes(); ok {
		m.buf.Lend()
		m.buf.Freeze()
		return b
	}
	return m.buf.AppendTo(make([]byte, 0, m.buf.Len()))
}

// AppendTo finishes the message and appends a copy of its wire bytes to dst.
func (m *Message) AppendTo(dst []byte) []byte {
	m.Finish()
	return m.buf.AppendTo(dst)
}

// WriteTo finishes the message and writes its wire bytes to w, by writev if w is a connection that
// supports it.
func (m *Message) WriteTo(w io.Writer) (int64, error) {
	if w == nil {
		panic("nocopy: WriteTo of a nil Writer")
	}
	if err := m.Check(); err != nil {
		return 0, err
	}
	return m.buf.WriteTo(w)
}

// WriteFrame writes the message as a frame of Thrift's framed transport: its length as a
// big-endian i32, then its bytes.
func (m *Message) WriteFrame(w io.Writer) (linkbuf.Stats, error) {
	if w == nil {
		panic("nocopy: WriteFrame of a nil Writer")
	}
	if err := m.Check(); err != nil {
		return linkbuf.Stats{}, err
	}
	stats, err := m.buf.WriteFrame(w)
	return linkbuf.Stats(stats), err
}

// AddTo adds the message's wire bytes to a batch, having finished it. With frame their length
// comes first. The message must not be changed or released before the batch is written.
func (m *Message) AddTo(b *chain.Batch, frame bool) {
	m.Finish()
	b.Add(&m.buf, frame)
}

// Prepend puts n bytes before the message, in the room that NewWithRoom left, and returns them to
// be filled; nil if there is no such room. They belong to the wire bytes from then on.
func (m *Message) Prepend(n int) []byte {
	checkRoom(n)
	return m.buf.Prepend(n)
}

// Nodes returns the number of values that are not stored in line: values that were changed after
// they were complete, and large ones that are referred to.
func (m *Message) Nodes() int { return m.buf.NodeCount() }

// Release ends the message.
func (m *Message) Release() {
	switch {
	case m == nil || m.absent:
		return
	case m.flags&held != 0:
		m.disown()
		return
	case m.ix.Used == 0:
		if m.home != 0 { // a program's own is empty
			releasedTwice()
		}
		return
	case m.frozen:
		panic(panicNotRoot)
	case m.own != nil && m.own != m:
		panic(panicCopied)
	}
	if m.claims.Load()>>32 == m.gen && !m.unclaim() {
		return
	}
	m.release()
}

// releasedTwice is called by a second Release. It panics if the tag nocopydebug is set.
func releasedTwice() {
	if debugging {
		panic(panicTwice)
	}
}

// release ends a message that nobody retains.
func (m *Message) release() {
	m.end()
	if !debugging && m.home != 0 {
		pools[m.home].Put(m)
	}
}

// end empties a message that nobody uses any more and makes it ready for reuse.
func (m *Message) end() {
	m.EndHandles()
	m.buf.Free()
	m.ix.End()
	m.root = 0
	m.open = m.open[:0]
	m.edits = m.edits[:1]
	if m.ix.More || m.guarded || m.flags&limited != 0 || debugging {
		m.endMore()
	}
}

// endMore empties what few messages have.
func (m *Message) endMore() {
	if debugging {
		mustBeUntouched()
	}
	if debugging && !(m.ix.More || m.guarded) && (m.ix.HasMore() || m.keys.HasTables() || m.dead.used() || m.liveSets != nil || cap(m.copied) > keepCopied ||
		len(m.shadows.all)|len(m.looseNodes)|len(m.handouts)|len(m.filled) > 0) {
		panic("nocopy: internal error: more is not noted")
	}
	m.keys.End(m.guarded)
	if m.p != nil {
		m.dropParser()
	}
	if s := m.seldom; s != &noSeldom {
		m.endSeldom(s)
	}
	if m.ix.EndMore() {
		m.open, m.edits = nil, noEdits[:]
		m.keys.DropSpare()
		m.buf.Shrink()
	}
	m.guarded, m.pending = false, 0
	if m.flags&limited != 0 {
		m.limit(usualLimits)
	}
	if debugging {
		m.untrack()
		m.dropNotes()
	}
}

// EndHandles makes all handles stale, also those that are known without looking at their
// generation.
func (m *Message) EndHandles() {
	m.openHandle, m.mapFill.handle = 0, 0
	if m.past != m.desc {
		m.past, m.since = m.desc, uint32(m.gen)
	}
	m.noteEnd()
	if m.gen++; m.gen>>32 != 0 {
		m.gen = 1
	}
}

// keepCopied is the most bytes that wait for the next copied value.
const keepCopied = 64 << 10

// keepShadows is the most notes on fields that came twice that wait for the next message.
const keepShadows = 4 << 10

// mostBefore is the most bytes that there may be room for before a message.
const mostBefore = 1 << 20

func checkRoom(n int) {
	if n < 0 || n > mostBefore {
		panic("nocopy: room for " + strconv.Itoa(n) + " bytes before a message")
	}
}

// seldom has the state that few messages need. Most only read noSeldom, which all messages share
// until they need one of their own. Code that stores into it calls ownSeldom first.
type seldom struct {
	// Left by edits
	liveSets   []keytable.Set // see edit.live
	shadows    shadows        // fields that came twice
	handouts   []handout      // memory for binaries, handed out since the message was last finished
	dead       deadEntries    // entries in the index whose values are no longer in the message
	looseNodes []uint32       // words of texts that no loose element has any more, see arrange.go

	// Memory for copies, which waits for more
	copied     []byte      // for a value that is copied from another message
	spentRange chain.Range // has memory for the pieces of the next Range, see source
	scratch    []byte      // for a zero value that is encoded before it is appended

	// Required fields that were filled in, see default.go
	fillings int
	filled   []filled

	// An index on the wire
	landing   *landing     // of a message that is read by its index, see landing.go
	late      error        // the first that was found in what Lazy left for later
	indexNode chain.NodeID // with the index that finishing added

	limits Limits

	absentIn *schema.Field // the field that is absent; nil if that is not known
}

// noSeldom is only read.
var noSeldom = *newSeldom()

func newSeldom() *seldom {
	return &seldom{limits: usualLimits}
}

// ownSeldom makes seldom the message's own, if it is not.
func (m *Message) ownSeldom() {
	if m.seldom == &noSeldom {
		m.seldom = newSeldom()
	}
}

// mustBeUntouched panics if something was stored into noSeldom.
func mustBeUntouched() {
	if !reflect.DeepEqual(&noSeldom, newSeldom()) {
		panic("nocopy: internal error: stored into what all messages read")
	}
}

// endSeldom empties s. It keeps some of its memory for the next message.
func (m *Message) endSeldom(s *seldom) {
	if len(s.shadows.all) > 0 || s.shadows.found.Len() > 0 {
		if cap(s.shadows.all) > keepShadows {
			s.shadows.all = nil
		}
		s.shadows = shadows{all: s.shadows.all[:0]}
	}
	if cap(s.copied) > keepCopied {
		s.copied = nil
	}
	s.looseNodes = s.looseNodes[:0]
	if s.fillings > 0 {
		s.filled, s.fillings = s.filled[:0], 0
	}
	if len(s.handouts) > 0 {
		m.dropHandouts()
	}
	if s.dead.used() {
		s.dead.reset()
	}
	if s.liveSets != nil || s.late != nil {
		s.liveSets, s.late = nil, nil
	}
	if m.guarded && s.landing != nil {
		s.landing.reset()
	}
}
