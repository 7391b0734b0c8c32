//go:build nocopydebug

package engine

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
)

// With the tag nocopydebug a Message is never used again after Release, so that a second
// Release is always noticed; and where it was made is known until then.

const debugging = true

// origin is where a message was made.
type origin struct {
	made  *making
	ended *making // where Release was called
	debugNotes
}

// findWhere ends the text of a panic.
const findWhere = ""

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
	if m.home == 0 || m.origin.ended == nil { // one that is not kept has no others
		m.origin.ended = here(4)
	}
}

// whereEnded returns where the contents of that generation were made and released, if that is
// known.
func (m *Message) whereEnded(gen uint64) (text string) {
	if m.origin.ended == nil || m.home == 0 && gen+1 != m.gen {
		return ""
	}
	if m.origin.made != nil { // it is not kept
		text = "; made at\n" + m.origin.made.stack()
	}
	return text + "; released at\n" + m.origin.ended.stack()
}

// untrack notes that the message has been released, or never will be.
func (m *Message) untrack() {
	unreleased.Lock()
	delete(unreleased.all, m.origin.made)
	unreleased.Unlock()
}

// reportLeak writes where a message was made that nobody refers to any more, unless it was
// released. Of messages that were made at the same place one is reported.
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
