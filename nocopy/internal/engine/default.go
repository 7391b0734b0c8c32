package engine

import (
	"slices"
	"strconv"
	"strings"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/index"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// absentOf returns what an unset struct or container field reads as: its IDL default or an empty
// value.
func absentOf(f *schema.Field) Struct {
	kept := f.Absent.Load()
	if kept == nil {
		f.Absent.CompareAndSwap(nil, makeAbsent(f))
		kept = f.Absent.Load()
	}
	return *(*kept).(*Struct)
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
	kept := any(&s)
	return &kept
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
	return "nocopy: " + f.Of().Name() + "." + f.Name + setterOnAbsent + "New" + name.String() + " first"
}

// frozen returns the handle of a struct or container, given as its wire bytes, that can't be
// changed.
func frozen(t *schema.Type, wire string) Struct {
	t.MustBeDefined()
	m := newMessage(nil, 0, usualLimits)
	b := []byte(wire)
	p := m.buf.AddForeign(b, false)
	m.buf.AddRoot(p, p+uint32(len(b)))
	m.root = m.indexAt(t, p, 0)
	m.buf.Seal()
	m.frozen, m.guarded = true, true
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

// Finishing a message fills in the required fields that nobody has set, see Finish. This file
// finds them: a text, container or struct is noted when it is filled in, which happens only in
// programs that have made the mistake. Numbers are in a new struct from the beginning; only with
// the tag nocopydebug is it known whether they were set, see debug_on.go.

// missingField is a required field that was never set.
type missingField struct {
	path string
	in   string // the type that declares it
}

// String describes the fault.
func (f missingField) String() string {
	return f.path + ", a required field of " + f.in + ", was never set"
}

// Missing returns the paths of required fields that were never set, or were unset, such as
// "Order.lines[3].sku": at most 100 of them, or nil.
func (m *Message) Missing() []string {
	var paths []string
	for _, f := range m.missing(mostMissing) {
		paths = append(paths, f.path)
	}
	return paths
}

// Missing returns a text for each required field of the message of s that was never set: its path
// and the fault. It returns up to 10, and notes no use of a *Message.
func (s Struct) Missing() []string {
	if s.m == nil || s.released() {
		return nil
	}
	var texts []string
	for _, f := range s.m.missing(10) {
		texts = append(texts, f.String())
	}
	return texts
}

// missing returns the first required fields that were never set, at most that many.
func (m *Message) missing(most int) []missingField {
	m.mustBeFilled()
	switch {
	case m.absent || m.desc == nil || m.ix.Words[m.root] == 0: // it has no index
		return nil
	case len(m.open) == 0 && len(m.filled) == 0 && len(m.edits) <= 1 && !m.knowsUnset():
		return nil // as it was received, or complete
	}
	w := missingWalk{m: m, most: most}
	w.value(m.desc.Type(), m.root, m.desc.Name(), 0)
	return w.found
}

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
	return m.staleText(m.past.Name(), m.gen-1)
}

// staleText returns the text of a panic for the use of contents of that generation.
func (m *Message) staleText(what string, gen uint64) string {
	text := "nocopy: " + what + " used after Release"
	if where := m.whereEnded(gen); where != "" {
		return text + where
	}
	return text + findWhere
}

// missingWalk looks for missing fields.
type missingWalk struct {
	m     *Message
	most  int
	found []missingField
}

// value looks at the struct or container of type t and entry e, which has this path.
func (w *missingWalk) value(t *schema.Type, e uint32, path string, depth int) {
	if depth > w.m.limits.MaxDepth {
		return
	}
	if t.Kind() == schema.Record && !t.Struct().IsUnion() {
		for _, f := range t.Struct().Required() {
			if len(w.found) < w.most && w.isMissing(e, f) {
				w.found = append(w.found, missingField{path + "." + f.Name, t.Struct().Name()})
			}
		}
	}
	for p := range w.m.parts(t, e) {
		switch {
		case len(w.found) >= w.most:
			return
		case p.e&index.NotIndexed != 0:
		case p.f == nil:
			w.value(p.t, p.e, path+"["+strconv.Itoa(int(p.i))+"]", depth+1)
		case !w.isFilled(e, p.f.Ref(), p.e):
			w.value(p.t, p.e, path+"."+p.f.Name, depth+1)
		}
	}
}

// isMissing reports whether the required field f of the struct of entry e was never set.
func (w *missingWalk) isMissing(e uint32, f *schema.Field) bool {
	m := w.m
	if m.ix.Words[e] == 0 {
		return f.Default == "" && (f.Kind() != schema.Fixed || debugging)
	}
	word := m.ix.At(e, f.Ref())
	switch {
	case word == 0: // it is going to be filled in, or was removed
		return f.Default == "" || m.fieldNode(e, f.Ref()) != 0
	case f.Kind() == schema.Fixed:
		return m.isUnset(e, f.Ref())
	case !w.isFilled(e, f.Ref(), word):
		return false
	}
	switch f.Kind() { // something may have been added since
	case schema.Text:
		return len(m.textBytes(word)) == 0
	case schema.Record:
		return string(m.wire(word, f.Type)) == string(schema.AppendZero(nil, f.Type))
	}
	return m.ix.Words[word+listCount] == 0
}

// isFilled reports whether field f of the struct of entry e, of this word, was filled in.
func (w *missingWalk) isFilled(e uint32, f schema.Ref, word uint32) bool {
	return len(w.m.filled) > 0 && slices.Contains(w.m.filled, filled{e, word, f})
}
