package engine

import (
	"fmt"
	"os"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/nocopythrift/nocopythrift/internal/hashmap"
	"github.com/nocopythrift/nocopythrift/internal/memory"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/index"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// With the tag nocopydebug a Message is never used again after Release: a second Release is always
// noticed. Until Release it knows where it was made. In other builds nothing here is called, and
// the linker leaves it out.

// debugging reports whether the program was built with the tag nocopydebug.
const debugging = memory.Debugging

// origin is where a message was made. Only builds with the tag nocopydebug fill it.
type origin struct {
	made  *making
	ended *making // where Release was called
	debugNotes
}

// findWhere returns the end of a panic's text.
func findWhere() string {
	if debugging {
		return ""
	}
	return " (build with -tags nocopydebug to find where)"
}

// making is the stack that made or released a message.
type making struct {
	pcs [24]uintptr
	n   int
}

var unreleased = struct {
	sync.Mutex
	all      map[*making]struct{}
	reported map[making]bool
}{all: map[*making]struct{}{}, reported: map[making]bool{}}

// track notes where the message is made.
func (m *Message) track() {
	mk := here(5)
	m.origin.made = mk
	unreleased.Lock()
	unreleased.all[mk] = struct{}{}
	unreleased.Unlock()
	runtime.AddCleanup(m, reportLeak, mk)
}

// here returns the stack without the skip innermost frames. runtime.Callers counts as one.
func here(skip int) *making {
	mk := new(making)
	mk.n = runtime.Callers(skip, mk.pcs[:])
	return mk
}

// noteEnd notes where the contents are released.
func (m *Message) noteEnd() {
	if debugging && (m.home == 0 || m.origin.ended == nil) { // one that is not kept has no others
		m.origin.ended = here(4)
	}
}

// whereEnded returns where the contents of that generation were made and released, if that is
// known.
func (m *Message) whereEnded(gen uint64) (text string) {
	if !debugging || m.origin.ended == nil || m.home == 0 && gen+1 != m.gen {
		return ""
	}
	if m.origin.made != nil { // it is not kept
		text = "; made at\n" + m.origin.made.stack()
	}
	return text + "; released at\n" + m.origin.ended.stack()
}

// untrack notes that the message has been released, or never will be.
func (m *Message) untrack() {
	if debugging {
		unreleased.Lock()
		delete(unreleased.all, m.origin.made)
		unreleased.Unlock()
	}
}

// reportLeak reports where an unreachable message was made, unless it was released. It reports
// one message per place.
func reportLeak(mk *making) {
	unreleased.Lock()
	defer unreleased.Unlock()
	if _, leaked := unreleased.all[mk]; !leaked {
		return
	}
	if !unreleased.reported[*mk] {
		unreleased.reported[*mk] = true
		fmt.Fprintf(os.Stderr, "nocopy: message never released, made at\n%s\n", mk.stack())
	}
}

// stack returns the stack as text, two lines for each function.
func (mk *making) stack() string {
	var b strings.Builder
	frames := runtime.CallersFrames(mk.pcs[:mk.n])
	for {
		f, more := frames.Next()
		fmt.Fprintf(&b, "\t%s\n\t\t%s:%d\n", f.Function, f.File, f.Line)
		if !more {
			return b.String()
		}
	}
}

// Leaked returns where the messages were made that have not been released, as one stack each. It
// works only in builds with the tag nocopydebug; in others it returns nil.
func Leaked() []string {
	unreleased.Lock()
	defer unreleased.Unlock()
	var stacks []string
	for mk := range unreleased.all {
		stacks = append(stacks, mk.stack())
	}
	slices.Sort(stacks)
	return stacks
}

// With the tag nocopydebug a message knows which required numbers of new structs were set, and
// which structs and containers are no longer part of it.

// debugNotes are a message's notes on its entries.
type debugNotes struct {
	unset   hashmap.Map[uint32, []schema.Ref]   // required numbers of new structs that nobody has set
	removed hashmap.Map[uint32, *schema.Type]   // entries of replaced and removed values
	structs hashmap.Map[uint32, *schema.Struct] // by entry: the types of new structs
}

// The environment variable NOCOPYDEBUG turns checks off: missing=0 the check of required fields,
// removed=0 the check of writes to values that were removed from their message.
var (
	checksMissing = debugging && !strings.Contains(os.Getenv("NOCOPYDEBUG"), "missing=0")
	checksRemoved = debugging && !strings.Contains(os.Getenv("NOCOPYDEBUG"), "removed=0")
)

// knowsUnset reports whether some required numbers are known to be unset.
func (m *Message) knowsUnset() bool { return debugging && m.origin.unset.Len() > 0 }

// noteTemplate notes that entry e belongs to a new struct.
func (m *Message) noteTemplate(d *schema.Struct, e uint32) {
	m.origin.structs.Put(e, d)
	m.noteAllSet(e)
	if d.IsUnion() {
		return
	}
	for _, f := range d.Required() {
		if f.Kind() == schema.Fixed && f.Default == "" {
			m.origin.unset.Put(e, append(m.origin.unset.Get(e), f.Ref()))
		}
	}
}

// noteAllSet notes that all numbers of the struct of entry e are set.
func (m *Message) noteAllSet(e uint32) {
	if m.origin.unset.Get(e) != nil {
		m.origin.unset.Put(e, nil)
	}
}

// noteSet notes that field f, a number of the struct of entry e, is about to be set. It panics as
// checkPart does.
func (m *Message) noteSet(e uint32, f schema.Ref) {
	m.checkPart(e)
	if fields := m.origin.unset.Get(e); len(fields) > 0 {
		m.origin.unset.Put(e, slices.DeleteFunc(fields, func(g schema.Ref) bool { return g == f }))
	}
}

func (m *Message) isUnset(e uint32, f schema.Ref) bool {
	return debugging && slices.Contains(m.origin.unset.Get(e), f)
}

// noteRemoved notes that the struct or container of type t and entry e is about to be removed from
// the message, with all values in it.
func (m *Message) noteRemoved(t *schema.Type, e uint32) {
	if t.Kind() < schema.Record || !index.Word(e).HasEntry() || m.origin.removed.Get(e) != nil {
		return
	}
	m.origin.removed.Put(e, t)
	for p := range m.parts(t, e) {
		m.noteRemoved(p.t, uint32(p.word))
	}
}

// noteRemovedField does the same for the struct of entry e, which is in a field. It does nothing
// if its type is not known, since the struct was received.
func (m *Message) noteRemovedField(e uint32) {
	if d := m.origin.structs.Get(e); d != nil {
		m.noteRemoved(d.Type(), e)
	}
}

// noteReused notes that n words from entry e on are used for other values.
func (m *Message) noteReused(e, n uint32) {
	for i := range n {
		m.noteAllSet(e + i)
		if m.origin.removed.Get(e+i) != nil {
			m.origin.removed.Put(e+i, nil)
		}
		if m.origin.structs.Get(e+i) != nil {
			m.origin.structs.Put(e+i, nil)
		}
	}
}

// checkPart panics if the struct or container of entry e is no longer part of the message: the
// change that is about to be made would be lost.
func (m *Message) checkPart(e uint32) {
	if t := m.origin.removed.Get(e); t != nil && checksRemoved {
		panic("nocopy: setter called on a " + t.String() + " that is no longer in its message: it was replaced or removed")
	}
}

func (m *Message) dropNotes() { m.origin.debugNotes = debugNotes{} }

// mustHaveNoted panics if the message, which ends, has what only few messages have but End is not
// told to empty it, or if something was stored into what all messages read.
func (m *Message) mustHaveNoted() {
	if noEdits != [1]edit{} || !reflect.DeepEqual(&noSeldom, &seldom{limits: usualLimits}) {
		panic("nocopy: internal error: stored into what all messages read")
	}
	if m.ix.More || m.needsBeforeChange {
		return
	}
	if m.ix.HasMore() || m.keys.HasTables() || !m.dead.isEmpty() || m.liveSets != nil || cap(m.copied) > keepCopied ||
		len(m.duplicates)|len(m.handouts)|len(m.filled) > 0 {
		panic("nocopy: internal error: more is not noted")
	}
}
