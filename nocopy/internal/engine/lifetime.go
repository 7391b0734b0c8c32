package engine

import (
	"strconv"
	"sync"

	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/internal/memory"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/index"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/parse"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// This file makes messages, with their options, and takes them back to a pool.

const (
	builtHome  home = 1 // and up to 3 more, see pool
	parsedHome home = builtHome + 4
)

var pools [parsedHome + 4]sync.Pool

// newMessage returns a message to be filled with received bytes.
func newMessage(d *schema.Struct, flags Flags, limits Limits) *Message {
	m := expecting(nil, d, flags, limits)
	m.buf.Reset(flags&Recycle != 0)
	return m
}

// A Message variable of a program is filled again and again by ParseInto and NewInto. No pool
// knows it: its home is nil.

// Reset empties a Message variable of the program; see Message.
func (m *Message) Reset() {
	if m == nil || m.own != m {
		m.adopt()
	}
	if m.ix.Used != 0 {
		m.end()
	}
}

// adopt makes a Message that is zero a variable of the program. It panics if m can't be one.
func (m *Message) adopt() {
	switch {
	case m == nil:
		panic("nocopy: nil instead of a Message")
	case m.home != 0 || m.frozen:
		panic(panicNotVariable)
	case m.own != nil:
		panic(panicCopied)
	}
	m.own = m
	m.init()
}

// expecting returns m, or a message from the pool if m is nil, to be filled with received bytes.
// Its Buffer is still to be reset.
func expecting(m *Message, d *schema.Struct, flags Flags, limits Limits) *Message {
	if m == nil {
		m = fromPool(parsedHome + pool(flags))
	}
	m.desc, m.flags = d, flags
	m.limit(limits)
	m.ix.Used, m.ix.Zeroed = index.First, 0
	return m
}

// fromPool returns a message with the usual limits. The caller resets its Buffer and sets its
// type, flags and words.
func fromPool(h home) *Message { return pools[h].Get().(*Message) }

// pool returns the number of the pool for messages with these flags: 1 if they recycle, else 0,
// and 2 more for messages of calls.
func pool(f Flags) home { return home(f & (Recycle | OfCall) / Recycle) }

// limit sets the limits of m, which are the usual ones until then.
func (m *Message) limit(l Limits) {
	if l != m.limits {
		m.ownSeldom()
		m.limits = l
	}
}

func init() {
	for i := builtHome; int(i) < len(pools); i++ {
		pools[i].New = func() any { return makeMessage(i) }
	}
}

// headroom is the room before a message for a frame's length and the like.
const headroom = 8

// New returns the root of a new message. (Neither it nor Parse is generic: the
// compiler would not know in other packages that they don't keep opts, and allocate them.)
func New(d *schema.Struct, opts ...Option) Struct { return building(opts, nil).beginRoot(d) }

// NewInto begins a struct that d describes in m, a message of the program, and returns its
// root. The previous contents of m end.
func NewInto(d *schema.Struct, m *Message, opts []Option) Struct {
	m.Reset()
	return building(opts, m).beginRoot(d)
}

// building returns m, or a message from the pool if m is nil, to be built with these options. Its
// Buffer has begun.
func building(opts []Option, m *Message) *Message {
	flags := flagsOf(opts) & forBuilding
	if m == nil {
		m = fromPool(builtHome + pool(flags))
	}
	m.flags = flags
	m.buf.Begin(flags&Recycle != 0, headroom)
	if flags&limited != 0 {
		_, limits := ConfigOf(opts)
		m.limit(limits)
	}
	return m
}

// NewIn is New for other packages of the library: with these flags and limits, and room for n
// bytes before the message. It recycles and is built in the memory of c, unless c is zero.
func NewIn(d *schema.Struct, c memory.Chunk, n int, l Limits, flags Flags) *Message {
	checkRoom(n)
	m := fromPool(builtHome + pool(flags))
	if c.Mem != nil {
		m.buf.BeginIn(c, n)
	} else {
		m.buf.Begin(flags&Recycle != 0, n)
	}
	if l != (Limits{}) {
		flags |= limited
		m.limit(l.orElse(usualLimits))
	}
	m.flags = flags
	m.beginRoot(d)
	return m
}

// beginRoot begins the root of a message whose Buffer has begun, and returns it.
func (m *Message) beginRoot(d *schema.Struct) Struct {
	m.desc, m.ix.Used = d, index.First
	m.root = m.ix.Alloc(d.Words())
	m.beginStruct(d, m.root)
	return m.handle(m.root)
}

func makeMessage(h home) *Message {
	m := &Message{state: state{home: h}}
	m.init()
	if debugging {
		m.track()
	}
	return m
}

// init makes a Message that is zero ready for its first contents.
func (m *Message) init() {
	m.gen, m.edits, m.seldom = 1, noEdits[:], &noSeldom
	if debugging { // for its notes
		m.ownSeldom()
	}
	m.ix.Begin((*owner)(m))
}

// Release ends the message.
func (m *Message) Release() {
	switch {
	case m == nil || m.absent:
		return
	case m.flags&OfCall != 0:
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

// disown is Release of a message of a call, called by a program to which it was shown.
func (m *Message) disown() {
	if m.ix.Used != 0 {
		m.noted.Or(disowned)
		m.EndHandles()
	}
}

// The arguments of a client's call are used by several parties: the call owns the message, and
// each connection that writes it retains it. Release by the owner takes effect once nobody
// retains the message any more.
//
// Message.claims holds the message's generation: a stale handle changes nothing. Below that it has
// the flags, and the number of holders that retain the message. It is 0 if the message was never
// offered.

const (
	isOffered   = 1 << 31     // Claim makes its caller the owner
	isClaiming  = 1 << 30     // a caller of Claim is about to become the owner
	isOwned     = 1 << 29     // the message has an owner
	retainCount = isOwned - 1 // the bits of the number of those that retain the message
)

// unclaim ends the ownership of a message that was offered or claimed. It reports whether it has
// done so and nobody retains the message.
func (m *Message) unclaim() bool {
	for {
		h := m.claims.Load()
		if h&(isOffered|isOwned) == 0 {
			releasedTwice()
			return false
		}
		left := h &^ (isOffered | isOwned)
		if m.claims.CompareAndSwap(h, left) {
			return left&retainCount == 0
		}
	}
}

// release ends a message that nobody retains, or that nobody has seen since parsing failed.
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
	if m.ix.More || m.needsBeforeChange || m.flags&limited != 0 || debugging {
		m.endMore()
	}
}

// EndHandles makes all handles stale, also those that are known without looking at their
// generation.
func (m *Message) EndHandles() {
	m.openHandle = 0
	if m.past != m.desc {
		m.past, m.since = m.desc, uint32(m.gen)
	}
	m.noteEnd()
	if m.gen++; m.gen>>32 != 0 {
		m.gen = 1
	}
}

// keepCopied bounds the memory that is kept for the next copied value, in bytes.
const keepCopied = 64 << 10

// endMore empties what few messages have.
func (m *Message) endMore() {
	if debugging {
		m.mustHaveNoted()
	}
	m.keys.End()
	m.dropParser()
	if s := m.seldom; s != &noSeldom {
		m.endSeldom(s)
	}
	if m.ix.EndMore() {
		m.open, m.edits = nil, noEdits[:]
		m.keys.DropSpare()
		m.buf.Shrink()
	}
	m.needsBeforeChange, m.pending = false, 0
	if m.flags&limited != 0 {
		m.limit(usualLimits)
	}
	if debugging {
		m.untrack()
		m.dropNotes()
	}
}

// dropParser gives the message's parser up, if it has one.
func (m *Message) dropParser() {
	if m.p != nil {
		m.p.Drop()
		m.p = nil
	}
}

// endSeldom empties s. It keeps some of its memory for the next message.
func (m *Message) endSeldom(s *seldom) {
	clear(s.handouts)
	clear(s.dead.values)
	if cap(s.duplicates)+cap(s.handouts)+cap(s.dead.values)+cap(s.dead.fields) > keepNotes {
		s.duplicates, s.handouts, s.dead.values, s.dead.fields = nil, nil, nil, nil
	}
	s.dead = deadEntries{values: s.dead.values[:0], fields: s.dead.fields[:0]}
	s.duplicates, s.handouts, s.filled, s.liveSets = s.duplicates[:0], s.handouts[:0], s.filled[:0], nil
	if cap(s.copied) > keepCopied {
		s.copied = nil
	}
	if m.needsBeforeChange && s.landing != nil {
		s.landing.reset()
	}
}

// reset makes l ready for the next message.
func (l *landing) reset() {
	l.absent.Clear()
	*l = landing{absent: l.absent}
}

// dropHandouts forgets all handouts.
func (m *Message) dropHandouts() {
	clear(m.handouts)
	m.handouts = m.handouts[:0]
}

// EndOfCall releases the memory of a message of a call.
func (m *Message) EndOfCall() {
	m.end()
	noted := m.noted.Load()
	switch {
	case debugging:
		return
	case noted&shown != 0:
		m.buf.Retire()
		return
	}
	if noted != 0 {
		m.noted.Store(0)
	}
	pools[m.home].Put(m)
}

// Abandon leaves a message of a call to the garbage collector, since handlers may still be using
// it.
func (m *Message) Abandon() {
	if debugging {
		m.untrack()
	}
}

// releasedTwice is called by a second Release. It panics if the tag nocopydebug is set.
func releasedTwice() {
	if debugging {
		panic(panicTwice)
	}
}

// beginStruct appends the template of a new struct and pushes a frame for it. e is its entry.
func (m *Message) beginStruct(d *schema.Struct, e uint32) { m.startStruct(d, e, 0, 0) }

// startStruct is beginStruct for the value of a field: it appends the high lead bytes of header
// before the template.
func (m *Message) startStruct(d *schema.Struct, e uint32, header uint64, lead int) {
	p := m.buf.Tail()
	if template := d.Template(); m.buf.Fits(len(template)) { // without another call
		m.buf.AppendShort(header, lead, template)
	} else {
		p = m.buf.AppendWithHead(header, lead, template)
	}
	p += uint32(lead)
	if d.IsWide() {
		m.ix.PutTemplate(d, e, p)
	}
	m.ix.PutNearTemplate(d, e, p)
	if debugging {
		m.noteTemplate(d, e)
	}
	m.push(d.Type(), e, 0).lead = uint8(lead)
	m.openHandle = m.gen<<32 | uint64(e)
}

func checkRoom(n int) {
	if n < 0 || n > mostBefore {
		panic("nocopy: room for " + strconv.Itoa(n) + " bytes before a message")
	}
}

// keepNotes is for how many duplicates, handouts and dead values memory waits for the next
// message.
const keepNotes = 16 << 10

// mostBefore bounds the room before a message, in bytes.
const mostBefore = 1 << 20

func (Flags) option() {}

// JSONOption is an option of package nocopyjson.
type JSONOption uint8

func (JSONOption) option() {}

func (Limits) option() {}

// RefuseOption panics because of an option that has no meaning, unless it is nil. Go also takes a
// pointer to an option, and a struct that embeds one: limits that are not applied would be worse.
//
//go:noinline
func RefuseOption(o Option) {
	switch o.(type) {
	case nil:
	case JSONOption:
		panic(panicJSONOption)
	default:
		panic(panicOption)
	}
}

// flagsOf returns the flags among the options, and limited if there are Limits. A nil means
// nothing.
func flagsOf(opts []Option) Flags {
	var flags Flags
	for _, o := range opts {
		switch o := o.(type) {
		case Flags:
			flags |= o
		case Limits:
			flags |= limited
		case nil:
		case JSONOption: // not by RefuseOption: flagsOf is inlined
			panic(panicJSONOption)
		default:
			panic(panicOption)
		}
	}
	return flags
}

// forBuilding is the flags that mean something to a message that is built. The others are about
// received bytes.
const forBuilding = Recycle | OfCall | limited | WithIndex | AnySize

// settled returns flags that do not contradict each other: it leaves one of those that put off
// indexing and WithIndex, which needs everything indexed.
func (f Flags) settled(l Limits) Flags {
	switch {
	case f&WithIndex != 0:
		return f &^ (Lazy | ByIndex | RequireIndex)
	case f&RequireIndex != 0:
		f |= ByIndex
	}
	if f&(ByIndex|ValidUTF8) != 0 || l.MaxIndex > 0 {
		f &^= Lazy
	}
	return f
}

// ConfigOf returns the flags among the options, and the limits.
func ConfigOf(opts []Option) (Flags, Limits) {
	limits := usualLimits
	for _, o := range opts {
		if l, ok := o.(Limits); ok {
			limits = l.orElse(limits)
		}
	}
	return flagsOf(opts).settled(limits), limits
}

// orElse returns l, with other's values for the fields that l leaves to the default.
func (l Limits) orElse(other Limits) Limits {
	if l.MaxBytes > 0 {
		other.MaxBytes = min(l.MaxBytes, chain.MaxSize)
	}
	if l.MaxDepth > 0 {
		other.MaxDepth = min(l.MaxDepth, parse.MostDepth)
	}
	if l.MaxIndex > 0 {
		other.MaxIndex = l.MaxIndex
	}
	return other
}

// TooLong returns the error of a message of n bytes that are more than most.
func TooLong(d *schema.Struct, n int64, most int) *wire.Error {
	return &wire.Error{Path: d.Name(), Err: wire.LimitError("message of " + strconv.FormatInt(n, 10) + " bytes, more than Limits.MaxBytes = " + strconv.Itoa(most))}
}
