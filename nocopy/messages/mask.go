package messages

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/impl"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// Mask selects parts of messages of one type. It is immutable. NewMask makes one; the zero Mask is
// for no type.
type Mask struct {
	desc *thriftimpl.Desc
	root *node
}

// node is a place in messages that a mask selects, or that contains selected places.
type node struct {
	all    bool          // all of it is selected; the other fields are then empty
	fields map[int]*node // of a struct, by number
	order  []int         // the numbers in fields, ascending; NewMask sets it last
	each   *node         // of a list, set or map: [*]
	at     map[int]*node // of a list: [3]
	keys   map[string]*keyNode
	only   selection // consists of this node; NewMask sets it last
}

// keyNode is the node of the value of one map key.
type keyNode struct {
	key impl.Value
	node
}

// MaskError describes an error in the text of a mask.
type MaskError struct {
	Text   string // the path, or several paths that were given as one text
	Offset int    // of the error in Text, in bytes
	Path   string // of the struct or container that lacks the name or index; "" is the message
	Reason string
}

// Error returns the reason, the text and the place in it.
func (e *MaskError) Error() string {
	return fmt.Sprintf("mask %q, offset %d: %s", e.Text, e.Offset, e.Reason)
}

// NewMask returns the mask that selects these paths in messages of type d.
//
// A path consists of field names, joined by dots. A list's name may be followed by [*], for all
// elements, or by an index such as [3]. A map's name may be followed by [*] or by a key: a Go
// string in quotation marks, a number, true or false, the name of an enum's value, or a uuid in
// quotation marks. After a set, only [*] may follow, at the end of the path. A path may end
// anywhere, and selects everything in the value there. lines and lines[*] differ for Drop: the
// latter removes only the elements.
//
// Each text may hold several paths, joined by commas, as String returns them, or none. The error
// is a *MaskError.
func NewMask(d *nocopy.Desc, paths ...string) (*Mask, error) {
	if d == nil {
		panic("nocopy: NewMask for no type")
	}
	m := &Mask{d, &node{}}
	for _, text := range paths {
		p := maskParser{text: text}
		for p.i < len(text) {
			if err := p.path(m); err != nil {
				return nil, err
			}
			if p.i == len(text) {
				break
			}
			if text[p.i] != ',' {
				return nil, p.fail("a dot, [ or a comma must come here")
			}
			if p.i++; p.i == len(text) {
				return nil, p.fail("a path must come after the comma")
			}
		}
	}
	m.root.complete()
	return m, nil
}

// complete sets order and only in n and in all nodes below it.
func (n *node) complete() {
	n.only = selection{n}
	n.order = slices.Sorted(maps.Keys(n.fields))
	for _, c := range n.fields {
		c.complete()
	}
	if n.each != nil {
		n.each.complete()
	}
	for _, c := range n.at {
		c.complete()
	}
	for _, k := range n.keys {
		k.complete()
	}
}

// MustMask is NewMask for paths that are known to be correct. It panics where NewMask returns an
// error.
func MustMask(d *nocopy.Desc, paths ...string) *Mask {
	m, err := NewMask(d, paths...)
	if err != nil {
		panic("nocopy: " + err.Error())
	}
	return m
}

// maskParser parses paths.
type maskParser struct {
	text  string
	i     int
	start int // of the path
	parts int
}

// mostParts bounds the names, indexes and keys of a path.
const mostParts = 256

// fail returns a *MaskError for the place that the parser is at.
func (p *maskParser) fail(reason string, args ...any) error { return p.failAt(p.i, reason, args...) }

// failAt returns a *MaskError for the mask's byte i, with the path as far as it was read.
func (p *maskParser) failAt(i int, reason string, args ...any) error {
	return &MaskError{p.text, i, strings.TrimSuffix(p.text[p.start:min(i, p.i)], "."), fmt.Sprintf(reason, args...)}
}

// path parses a path and adds it to m.
func (p *maskParser) path(m *Mask) error {
	p.start, p.parts = p.i, 0
	t, n := thriftimpl.StructOf(m.desc), m.root
	var err error
	for first := true; ; first = false {
		if p.parts++; p.parts > mostParts {
			return p.fail("more than %d names and indexes", mostParts)
		}
		if n.all {
			n = &node{} // all of it is already selected: ignore the rest of the path
		}
		switch {
		case first || p.i < len(p.text) && p.text[p.i] == '.':
			if !first {
				p.i++
			}
			t, n, err = p.field(t, n)
		case p.i < len(p.text) && p.text[p.i] == '[':
			t, n, err = p.index(t, n)
		default:
			*n = node{all: true}
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// field parses the name of a field of t, and returns its type and node.
func (p *maskParser) field(t *thriftimpl.Type, n *node) (*thriftimpl.Type, *node, error) {
	from := p.i
	for p.i < len(p.text) && strings.IndexByte(".,[", p.text[p.i]) < 0 {
		p.i++
	}
	name := p.text[from:p.i]
	d := t.Struct()
	switch {
	case name == "":
		return nil, nil, p.fail("the name of a field must come here")
	case d == nil && isHandle(t):
		return nil, nil, p.failAt(from, "field %q of a %s: [*], or an index or key, must come before it", name, t)
	case d == nil:
		return nil, nil, p.failAt(from, "field %q of a %s, which has none", name, t)
	}
	i := d.NumberByName(name)
	if i < 0 {
		return nil, nil, p.failAt(from, "%s has no field %q", d.Name(), name)
	}
	return d.FieldDesc(i).Type, child(&n.fields, i), nil
}

// child returns the node of a key. It makes one if there is none.
func child[K comparable](nodes *map[K]*node, key K) *node {
	if *nodes == nil {
		*nodes = map[K]*node{}
	}
	c := (*nodes)[key]
	if c == nil {
		c = &node{}
		(*nodes)[key] = c
	}
	return c
}

// index parses [*], an index or a key, and returns the type and node of the selected value.
func (p *maskParser) index(t *thriftimpl.Type, n *node) (*thriftimpl.Type, *node, error) {
	elem := t.Elem()
	if elem == nil {
		return nil, nil, p.fail("an index of a %s, which is no list or map", t)
	}
	p.i++
	var c *node
	if strings.HasPrefix(p.text[p.i:], "*") {
		p.i++
		if n.each == nil {
			n.each = &node{}
		}
		c = n.each
	} else {
		var err error
		if c, err = p.named(t, n); err != nil {
			return nil, nil, err
		}
	}
	if !strings.HasPrefix(p.text[p.i:], "]") {
		return nil, nil, p.fail("] must come here")
	}
	p.i++
	if t.Wire() == nocopy.WireSet && p.i < len(p.text) && p.text[p.i] != ',' {
		return nil, nil, p.fail("nothing can be selected in the elements of a set")
	}
	return elem, c, nil
}

// named parses an index of a list or a key of a map.
func (p *maskParser) named(t *thriftimpl.Type, n *node) (*node, error) {
	from := p.i
	if t.Wire() == nocopy.WireSet {
		return nil, p.fail("the elements of a set have no index: only [*] can come here")
	}
	if t.Wire() == nocopy.WireList {
		word := p.word()
		i, err := strconv.ParseUint(word, 10, 31)
		if err != nil || strconv.FormatUint(i, 10) != word {
			return nil, p.failAt(from, "%q is no index of a list", word)
		}
		return child(&n.at, int(i)), nil
	}
	key, err := p.key(t.Key())
	if err != nil {
		return nil, err
	}
	encoded, _ := impl.AppendKey(nil, key)
	if n.keys == nil {
		n.keys = map[string]*keyNode{}
	}
	k := n.keys[string(encoded)]
	if k == nil {
		k = &keyNode{key: key}
		n.keys[string(encoded)] = k
	}
	return &k.node, nil
}

// word returns the text up to the next bracket.
func (p *maskParser) word() string {
	from := p.i
	for p.i < len(p.text) && p.text[p.i] != ']' {
		p.i++
	}
	return p.text[from:p.i]
}

// key parses a key of type t.
func (p *maskParser) key(t *thriftimpl.Type) (v impl.Value, err error) {
	from, text := p.i, ""
	switch {
	case impl.IsQuoted(t):
		quoted, err := strconv.QuotedPrefix(p.text[from:])
		if err != nil {
			return v, p.fail("a key in quotation marks must come here")
		}
		text, _ = strconv.Unquote(quoted)
		p.i += len(quoted)
	case t.Wire() == nocopy.WireDouble || isHandle(t):
		return v, p.fail("keys of type %s have no names: only [*] can come here", t)
	default:
		text = p.word()
	}
	if v, err = impl.ParseKey(t, text); err != nil {
		return v, p.failAt(from, "%q is no %s", text, t)
	}
	return v, nil
}

// String returns the paths of the mask, joined by commas. Their order depends only on what the
// mask selects. NewMask makes the same mask from them.
func (m *Mask) String() string {
	if m.desc == nil {
		return ""
	}
	var paths []string
	m.root.paths("", thriftimpl.StructOf(m.desc), func(path string) { paths = append(paths, path) })
	return strings.Join(paths, ",")
}

// paths calls yield with the paths that n selects. path leads to n, which is of type t.
func (n *node) paths(path string, t *thriftimpl.Type, yield func(string)) {
	if n.all {
		yield(path)
		return
	}
	for _, i := range n.order {
		f := t.Struct().FieldDesc(i)
		name := f.Name
		if path != "" {
			name = path + "." + name
		}
		n.fields[i].paths(name, f.Type, yield)
	}
	if n.each != nil {
		n.each.paths(path+"[*]", t.Elem(), yield)
	}
	for _, i := range slices.Sorted(maps.Keys(n.at)) {
		n.at[i].paths(path+"["+strconv.Itoa(i)+"]", t.Elem(), yield)
	}
	for _, k := range slices.Sorted(maps.Keys(n.keys)) {
		n.keys[k].paths(path+"["+keyText(n.keys[k].key)+"]", t.Elem(), yield)
	}
}

// keyText returns a key in the syntax of masks.
func keyText(v impl.Value) string {
	text := impl.KeyText(v)
	if impl.IsQuoted(v.Type()) {
		return strconv.Quote(text)
	}
	return text
}
