package engine

import (
	"slices"
	"strconv"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/index"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// Finishing a message fills in the required fields that nobody has set, see Finish. Missing finds
// them: a text, container or struct is noted when it is filled in, which happens only in programs
// that have made the mistake. Numbers are in a new struct from the beginning; only with
// the tag nocopydebug is it known whether they were set, see debug.go.

// filled is a required field that was filled in: word is its word since then.
type filled struct {
	e    uint32
	word index.Word
	f    schema.Ref
}

// mostMissing bounds the fields that are noted, and that Missing returns.
const mostMissing = 100

// noteFilled notes that field f of the struct of entry e, which nobody has set, was filled in. Of
// many the last are kept, since the first may have been replaced.
func (m *Message) noteFilled(e uint32, f *schema.Field) {
	if f.Req != schema.Required || f.Default != "" || f.Kind() == schema.Fixed {
		return
	}
	m.ownSeldom()
	if len(m.filled) == mostMissing {
		m.filled = slices.Delete(m.filled, 0, 1)
	}
	m.filled = append(m.filled, filled{e, m.ix.At(e, f.Ref()), f.Ref()})
	m.ix.More = true
}

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
	case m.absent || m.desc == nil || !m.ix.HasValue(m.root): // it has no index
		return nil
	case len(m.open) == 0 && len(m.filled) == 0 && len(m.edits) <= 1 && !m.knowsUnset():
		return nil // as it was received, or complete
	}
	w := missingWalk{m: m, most: most}
	w.path = append(w.path, m.desc.Name()...)
	w.value(m.desc.Type(), m.root, 0)
	return w.found
}

// mustHaveAll panics if a required field was never set.
func (m *Message) mustHaveAll() {
	if checksMissing {
		if all := m.missing(1); len(all) > 0 {
			panic("nocopy: " + all[0].String())
		}
	}
}

// missingWalk looks for missing fields.
type missingWalk struct {
	m     *Message
	most  int
	path  []byte // of the value that is being looked at
	found []missingField
}

// value looks at the struct or container of type t and entry e.
func (w *missingWalk) value(t *schema.Type, e uint32, depth int) {
	if depth > w.m.limits.MaxDepth {
		return
	}
	if t.Kind() == schema.Record && !t.Struct().IsUnion() {
		for _, f := range t.Struct().Required() {
			if len(w.found) < w.most && w.isMissing(e, f) {
				w.found = append(w.found, missingField{string(w.path) + "." + f.Name, t.Struct().GoName()})
			}
		}
	}
	n := len(w.path)
	for p := range w.m.parts(t, e) {
		switch {
		case len(w.found) >= w.most:
			return
		case p.word.IsLazy():
			continue
		case p.f == nil:
			w.path = append(strconv.AppendInt(append(w.path, '['), int64(p.i), 10), ']')
		case !w.isFilled(e, p.f.Ref(), p.word):
			w.path = append(append(w.path, '.'), p.f.Name...)
		default:
			continue
		}
		w.value(p.t, p.word.Entry(), depth+1)
		w.path = w.path[:n]
	}
}

// isMissing reports whether the required field f of the struct of entry e was never set.
func (w *missingWalk) isMissing(e uint32, f *schema.Field) bool {
	m := w.m
	if !m.ix.HasValue(e) {
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
		if slices.ContainsFunc(m.open, func(o frame) bool { return o.e == word.Entry() }) {
			return false // it was set anew, and has no end yet
		}
		return string(m.wire(word.Entry(), f.Type)) == string(schema.AppendZero(nil, f.Type))
	}
	return m.ix.List(word.Entry()).Count() == 0
}

// isFilled reports whether field f of the struct of entry e, of this word, was filled in.
func (w *missingWalk) isFilled(e uint32, f schema.Ref, word index.Word) bool {
	return len(w.m.filled) > 0 && slices.Contains(w.m.filled, filled{e, word, f})
}
