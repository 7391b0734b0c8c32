package engine

import (
	"math"
	"runtime"
	"strings"

	"github.com/nocopythrift/nocopythrift/internal/entry"
	"github.com/nocopythrift/nocopythrift/internal/memory"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/index"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// This file has handles, the getters of texts, and what unset structs and containers read as.

// empty is the message of absent structs, lists and maps: all values in it read as zero. Each
// field has one of its own: a panic can name the field. Their handle is entry 0 of generation 0:
// the zero Struct differs from it only in its message.
var empty = makeEmpty(nil)

// makeEmpty returns a message as empty is, for what field f reads as; for any if f is nil.
func makeEmpty(f *schema.Field) *Message {
	m := &Message{seldom: &seldom{absentIn: f}, state: state{frozen: true, needsBeforeChange: true, absent: true}}
	m.ix.Used = uint32(len(zeroWords))
	m.openHandle = staleHandle
	m.buf.Reset(false)
	m.buf.Seal()
	m.ix.Words = zeroWords
	m.edits = append(m.edits, edit{})
	return m
}

// isEmpty reports whether m stands for a struct or container that is absent and has no default.
func (m *Message) isEmpty() bool { return m.absent && m.root == 0 }

// zeroWords is the index of all messages that are empty, which are only read. It has the word of
// any constant, even of one that is made up.
var zeroWords = make([]uint32, math.MaxUint16+entry.Displacement+1)

// staleHandle is a generation and entry that no handle has.
const staleHandle = math.MaxUint64

// Absent returns the handle of a struct that is not there: its getters return zero values,
// its setters panic.
func Absent() Struct { return Struct{m: empty} }

// orAbsent returns s, or the handle of an absent struct or container if s is zero or gone.
func (s Struct) orAbsent() Struct {
	if s.m == nil {
		return Absent()
	}
	if s.alive(); s.gone() {
		return Absent()
	}
	return s
}

// gone reports whether the struct or container was replaced or removed, and its message compacted
// since.
func (s Struct) gone() bool { return !s.m.ix.HasValue(uint32(s.k)) }

// word checks that the handle is alive and returns the field's word in the index: its position, if
// it is of fixed size. The struct must be near, and s not zero.
func (s Struct) word(f schema.Ref) uint32 {
	if s.k>>32 != s.m.gen {
		panic(staleUse(s))
	}
	return s.m.ix.Words[uint32(s.k)+uint32(f>>entry.NumberShift)+entry.Displacement] // to be inlined
}

// Message returns the message of the struct. It must not be used after Release. For an absent
// struct, or the zero handle, it is an empty message that can't be changed.
func (s Struct) Message() *Message {
	if s.m == nil {
		return empty
	}
	s.alive()
	if s.m.flags&OfCall != 0 {
		s.m.noted.Or(shown)
	}
	return s.m
}

// Valid reports whether the struct is present. It is false for the handle of an absent struct and
// for the zero handle.
func (s Struct) Valid() bool {
	if s.m == nil {
		return false
	}
	s.alive()
	return !s.m.absent && !s.gone()
}

// released reports whether the message of the handle was released. Another goroutine may have its
// memory by now and change gen at the same time. That is harmless: gen never becomes again what it
// was for this handle.
//
//go:norace
func (s Struct) released() bool { return s.k>>32 != s.m.gen }

// HasField reports whether the field is set. It works for structs of any size.
func (s Struct) HasField(f schema.Ref) bool {
	if !f.Wide() || s.m == nil {
		return s.Has(f)
	}
	s.alive()
	return s.m.ix.At(s.entry(), f) != 0
}

// Has reports whether the field is set. Has, and the getters of one field that follow, are for
// fields of near structs; Wide has those for wide structs.
func (s Struct) Has(f schema.Ref) bool { return s.m != nil && s.word(f) != 0 }

// Text returns a string field, or "" if it is not set. The string aliases the message and stays
// valid after Release, unless the message was made with Recycle.
func (s Struct) Text(f schema.Ref) string {
	if s.m == nil {
		return ""
	}
	word := s.word(f)
	if text, ok := s.m.buf.FlatText(word); ok {
		return text
	}
	return s.m.lendText(index.Word(word))
}

// TextString returns the string that a word of the index stands for.
func (m *Message) TextString(word index.Word) string {
	if text, ok := m.buf.FlatText(uint32(word)); ok {
		return text
	}
	return m.lendText(word)
}

// lendText returns the string that a word of the index stands for, and notes that it aliases the
// message. FlatText has not returned it.
func (m *Message) lendText(word index.Word) string {
	m.buf.Lend()
	if word.IsNode() {
		return memory.String(m.textBytes(word))
	}
	return m.buf.Text(uint32(word))
}

// Bytes returns a binary field, or nil if it is not set. It aliases the message as Text does, and
// must not be changed.
func (s Struct) Bytes(f schema.Ref) []byte {
	if !s.Has(f) {
		return nil
	}
	return s.m.LentBytes(index.Word(s.word(f)))
}

// setterOfZero returns the text of the panic of a setter that was called on a handle that knows no
// type. The stack does: methods of generated types call this library.
//
//go:noinline
func setterOfZero() string {
	var pcs [16]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	var setter string
	for more := true; more; {
		var frame runtime.Frame
		frame, more = frames.Next()
		if setter = frame.Function; !isBelowSetters(setter) {
			break
		}
	}
	library := strings.HasPrefix(setter, strings.TrimSuffix(libraryPath, "/"))
	setter = strings.ReplaceAll(setter, "[...]", "") // of a generic type
	setter = setter[strings.LastIndexByte(setter, '/')+1:]
	parts := strings.Split(setter, ".") // package, type, setter; or package, function, func1
	switch {
	case len(parts) != 3 || !isCapital(parts[1]) || !isCapital(parts[2]):
		return panicAbsent
	case library: // its lists and maps are made by methods of what contains them
		return "nocopy: " + setter + setterOnAbsent + "NewX, or NewAt of a list of containers, first"
	}
	return "nocopy: " + setter + setterOnAbsent + "New" + parts[1] + " first"
}

// libraryPath is the prefix of the paths of the library's packages that are below package nocopy.
var libraryPath = strings.TrimSuffix(packagePath, "internal/engine.")

// isBelowSetters reports whether a function is one that setters call.
func isBelowSetters(function string) bool {
	name, ok := strings.CutPrefix(function, libraryPath)
	return ok && (strings.HasPrefix(name, "internal/") || strings.HasPrefix(name, "thriftimpl."))
}

// isCapital reports whether a name begins with a capital, as names of generated types and setters
// do.
func isCapital(name string) bool { return name != "" && name[0] >= 'A' && name[0] <= 'Z' }

// wire returns the wire bytes of the struct or container of entry e: an alias if they are in
// one piece, which is good until the next change, else a copy.
func (m *Message) wire(e uint32, t *schema.Type) []byte {
	if m.isEmpty() {
		return schema.AppendZero([]byte{}, t)
	}
	if b, ok := m.flat(e, t); ok {
		return b
	}
	return m.rangeOf(e, t).AppendTo([]byte{})
}

// Wide is the handle of a wide struct, which has more than entry.MaxDirect
// fields. It has the getters of one field. Struct has all other accessors.
type Wide Struct

// word returns the field's word in the index, having checked that the handle is alive; 0 if the
// field is not set.
func (s Wide) word(f schema.Ref) index.Word {
	if s.m == nil {
		return 0
	}
	t := s.table()
	if s.lacks(t, f) {
		return 0
	}
	return s.m.ix.TableAt(t, f)
}

// table returns the number of the struct's table, having checked that the handle is alive. It must
// not be zero.
func (s Wide) table() uint32 {
	if s.k>>32 != s.m.gen {
		panic(staleUse(s))
	}
	return s.m.ix.Table(uint32(s.k))
}

// lacks reports whether the field is not in table t. Getters ask this first, since most fields are
// not set, and it is inlined.
func (s Wide) lacks(t uint32, f schema.Ref) bool {
	n := f.Word() // the group as it is, to be inlined
	return t == 0 || s.m.ix.Words[t+entry.TableGroups+n>>entry.GroupLog*entry.GroupWords]>>(n&entry.GroupMask)&1 == 0
}

// Has reports whether the field is set. It is inlined.
func (s Wide) Has(f schema.Ref) bool {
	if s.m == nil {
		return false
	}
	if s.k>>32 != s.m.gen {
		panic(staleUse(s))
	}
	return !s.lacks(s.m.ix.Words[uint32(s.k)+entry.Table], f) // as it is, to be inlined
}

// Text returns a string field, or "" if it is not set. The string aliases the message and stays
// valid after Release, unless the message was made with Recycle.
func (s Wide) Text(f schema.Ref) string {
	if s.m == nil {
		return ""
	}
	t := s.table()
	if s.lacks(t, f) {
		return ""
	}
	return s.m.TextString(s.m.ix.TableAt(t, f))
}

// Bytes returns a binary field, or nil if it is not set. It aliases the message as Text does, and
// must not be changed.
func (s Wide) Bytes(f schema.Ref) []byte {
	if word := s.word(f); word != 0 {
		return s.m.LentBytes(word)
	}
	return nil
}

// NextField returns the number of the first field from field i on that may be set in s, or
// d.NumFields(). d describes s.
func (s Struct) NextField(d *schema.Struct, i int) int {
	if s.m == nil {
		return i
	}
	s.alive()
	if d.IsWide() {
		return s.m.ix.NextWide(d, s.entry(), i)
	}
	return s.m.ix.NextNear(d, s.entry(), i)
}

// absentOf returns what an unset struct or container field reads as: its IDL default or an empty
// value.
func absentOf(f *schema.Field) Struct {
	s := f.Absent.Load()
	if s == nil {
		f.Absent.CompareAndSwap(nil, makeAbsent(f))
		s = f.Absent.Load()
	}
	return *(*s).(*Struct)
}

func makeAbsent(f *schema.Field) *any {
	s := Struct{}
	if f.Default == "" {
		s.m = makeEmpty(f)
	} else {
		s = frozen(f.Type, f.Default)
		s.m.ownSeldom()
		s.m.absent, s.m.absentIn = true, f
	}
	value := any(&s)
	return &value
}

// notThere is the text of the panic of a setter that was called on a struct or container of m,
// which is frozen.
func (m *Message) notThere() string {
	f := m.absentIn
	switch {
	case !m.absent:
		return panicConst
	case f == nil:
		return setterOfZero()
	}
	var name strings.Builder // as nocopyc writes it, without its initialisms
	for part := range strings.SplitSeq(f.Name, "_") {
		if part != "" {
			name.WriteString(strings.ToUpper(part[:1]) + part[1:])
		}
	}
	return "nocopy: " + f.Of().GoName() + "." + f.Name + setterOnAbsent + "New" + name.String() + " first"
}

// frozen returns the handle of a struct or container, given as its wire bytes, that can't be
// changed.
func frozen(t *schema.Type, wire string) Struct {
	t.MustBeDefined()
	m := newMessage(nil, 0, usualLimits)
	b := []byte(wire)
	p := m.buf.AddForeign(b, false)
	m.buf.AddRoot(p, p+uint32(len(b)))
	m.root = m.indexAt(t, p, 0).Entry()
	m.buf.Seal()
	m.frozen, m.needsBeforeChange = true, true
	m.untrack()
	return m.handle(m.root)
}

// Const is an IDL constant whose value is a struct or container.
type Const struct{ view Struct }

// NewConst returns the constant of type t with these wire bytes.
func NewConst(t *schema.Type, wire string) *Const { return &Const{frozen(t, wire)} }

// View returns the constant's handle, for conversion to its type. Any number of goroutines may
// read it; it can't be changed.
func (c *Const) View() Struct { return c.view }

// mustBeFilled panics if m is empty.
func (m *Message) mustBeFilled() {
	if m.ix.Used == 0 {
		panic(m.emptyText())
	}
}

// emptyText returns the text of a panic for the use of a Message that is empty.
func (m *Message) emptyText() string {
	if m.home == 0 || m.past == nil {
		return panicEmpty
	}
	return m.staleText(m.past.GoName(), m.gen-1)
}

// staleText returns the text of a panic for the use of contents of that generation.
func (m *Message) staleText(what string, gen uint64) string {
	text := "nocopy: " + what + " used after Release"
	if where := m.whereEnded(gen); where != "" {
		return text + where
	}
	return text + findWhere()
}
