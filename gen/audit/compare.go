package audit

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/nocopythrift/nocopythrift/gen/idl"
	"github.com/nocopythrift/nocopythrift/gen/schema"
)

// Options says which differences are allowed.
type Options struct {
	// OptionalRemoval allows removing optional fields.
	OptionalRemoval bool
	// RequiredToDefault allows changing required fields to default requiredness.
	RequiredToDefault bool
	// Ignores are findings that Compare leaves out, and counts in them.
	Ignores []*Ignore
}

// Compare returns a Finding for each difference between old and new that may break something,
// sorted by place.
func Compare(old, new *Version, opt Options) []Finding {
	c := &comparer{
		opt: opt, old: old, new: new, pairs: pair(old, new),
		own: map[*schema.Service]map[string]*schema.Function{}, verdicts: map[[2]any]*verdict{}, real: map[string]string{},
	}
	for _, f := range c.pairs.files {
		c.file(f)
	}
	return sortFindings(c.findings)
}

// file compares the definitions of a file.
func (c *comparer) file(f filePair) {
	if f.new != nil {
		f.lack = idl.Position{Filename: f.new.Path, Line: 1, Column: 1}
		c.namespaces(f)
	}
	gone := f.new == nil && f.lack.Filename == "" // no findings for definitions without a pair
	for _, s := range f.old.Structs {
		to := c.pairs.structs[s]
		at := change{symbol: s.Name, old: s.Pos, new: f.lack}
		if to == nil && gone {
			continue
		} else if to == nil {
			c.add(Error, "struct-removed", Source, at, "%s %s removed", shapeWord(s), s.Name)
			continue
		}
		at.new = to.Pos
		c.moved(at, f, to.Program, shapeWord(s))
		c.structs(at, s, to)
	}
	for _, e := range f.old.Enums {
		to := c.pairs.enums[e]
		at := change{symbol: e.Name, old: e.Pos, new: f.lack}
		if to == nil && gone {
			continue
		} else if to == nil {
			c.add(Warning, "enum-removed", Source, at, "enum %s removed", e.Name)
			continue
		}
		at.new = to.Pos
		c.moved(at, f, to.Program, "enum")
		c.enum(e, to)
	}
	if !gone {
		c.consts(f)
		c.typedefs(f)
	}
	for _, s := range f.old.Services {
		to := c.pairs.services[s]
		at := change{symbol: s.Name, old: s.Pos, new: f.lack}
		if to == nil && gone {
			continue
		} else if to == nil {
			c.add(Error, "service-removed", Wire|Source, at, "service %s removed", s.Name)
			continue
		}
		at.new = to.Pos
		c.moved(at, f, to.Program, "service")
		c.service(s, to)
	}
}

// shapeWord returns the keyword that defines s.
func shapeWord(s *schema.Struct) string {
	return [...]string{schema.IsStruct: "struct", schema.IsUnion: "union", schema.IsException: "exception"}[s.Shape]
}

// moved adds a finding if a definition has moved to a file that is not the pair of its old file.
// Code for Go and Java that uses it stays as it is if both files have the same namespaces.
func (c *comparer) moved(at change, f filePair, to *schema.Program, word string) {
	if to == f.new {
		return
	}
	breaks := File
	if goPackage(f.old) != goPackage(to) || f.old.Namespace("java") != to.Namespace("java") {
		breaks = Source
	}
	c.add(Warning, "moved", breaks, at, "%s %s moved to another file", word, at.symbol)
}

// goPackage returns the namespace of a file's Go code. Without one, its package is named after the
// file.
func goPackage(p *schema.Program) string {
	return cmp.Or(p.Namespace("go"), strings.ToLower(p.Name))
}

// structs compares a struct, union or exception.
func (c *comparer) structs(at change, old, new *schema.Struct) {
	c.shape(at, old, new)
	c.fields(old, new, fieldsOf{name: old.Name, union: old.Shape == schema.IsUnion, program: old.Program, key: old.Name})
}

// shape compares the kinds: struct, union or exception.
func (c *comparer) shape(at change, old, new *schema.Struct) {
	if old.Shape == new.Shape {
		return
	}
	breaks := Source
	if old.Shape == schema.IsUnion || new.Shape == schema.IsUnion {
		breaks |= Wire | JSON
	}
	c.add(Error, "struct-kind-changed", breaks, at, "%s changed from %s to %s", old.Name, shapeWord(old), shapeWord(new))
}

// namespaces compares the namespaces of a file.
func (c *comparer) namespaces(f filePair) {
	before, next := map[string]bool{}, map[string]*idl.Namespace{}
	for _, n := range f.new.AST.Namespaces {
		next[n.Scope] = n
	}
	for _, n := range f.old.AST.Namespaces {
		before[n.Scope] = true
		to := next[n.Scope]
		at := change{symbol: "namespace " + n.Scope, old: n.Pos, new: f.lack}
		switch {
		case to == nil:
			c.add(Warning, "namespace-removed", Source, at, "namespace %s %s removed", n.Scope, n.Name.Text)
		case to.Name.Text != n.Name.Text:
			at.new = to.Pos
			c.add(Warning, "namespace-changed", Source, at, "namespace %s changed from %s to %s", n.Scope, n.Name.Text, to.Name.Text)
		}
	}
	for _, n := range f.new.AST.Namespaces {
		lang := n.Scope
		if lang == "*" {
			lang = "go"
		}
		was, is := f.old.Namespace(lang), f.new.Namespace(lang)
		if was == "" && lang == "go" && !strings.EqualFold(f.old.Name, is) {
			was = f.old.Name // a Go package without a namespace is named after its file
		}
		if !before[n.Scope] && was != "" && was != is {
			at := change{symbol: "namespace " + n.Scope, old: idl.Position{Filename: f.old.Path, Line: 1, Column: 1}, new: n.Pos}
			c.add(Warning, "namespace-added", Source, at, "namespace %s %s added: %s code moves from %s to %s", n.Scope, n.Name.Text, lang, was, is)
		}
	}
}

// enum compares the values of an enum.
func (c *comparer) enum(old, new *schema.Enum) {
	byName, byNumber := map[string]*schema.EnumValue{}, map[int32][]*schema.EnumValue{}
	for _, v := range new.Values {
		byName[v.Name] = v
		byNumber[v.Value] = append(byNumber[v.Value], v)
	}
	for _, v := range old.Values {
		at := change{symbol: old.Name + "." + v.Name, old: v.Pos, new: new.Pos}
		to := byName[v.Name]
		same := byNumber[v.Value]
		switch {
		case to != nil && to.Value == v.Value:
		case to != nil:
			at.new = to.Pos
			c.add(Error, "enum-value-changed", Wire, at, "value %s of enum %s changed from %d to %d", v.Name, old.Name, v.Value, to.Value)
		case len(same) > 0:
			at.new = same[0].Pos
			c.add(Warning, "enum-value-renamed", Source|JSON, at, "value %d of enum %s renamed from %s to %s", v.Value, old.Name, v.Name, same[0].Name)
		default:
			c.add(Error, "enum-value-removed", Wire|Source|JSON, at, "value %s = %d of enum %s removed", v.Name, v.Value, old.Name)
		}
	}
}

// consts compares the constants of a file.
func (c *comparer) consts(f filePair) {
	for _, k := range f.old.Consts {
		to := c.pairs.consts[k]
		at := change{symbol: k.Name, old: k.Pos, new: f.lack}
		if to == nil {
			c.add(Warning, "const-removed", Source, at, "constant %s removed", k.Name)
			continue
		}
		at.new = to.Pos
		c.moved(at, f, c.new.programs[to.Pos.Filename], "constant")
		switch {
		case !c.same(k.Type, to.Type):
			was, is := c.typeTexts(k.Type, to.Type)
			c.add(Warning, "const-type-changed", Source, at, "type of constant %s changed from %s to %s", k.Name, was, is)
		case canonical(k.Value) != canonical(to.Value):
			c.add(Warning, "const-value-changed", 0, at, "value of constant %s changed%s", k.Name, fromTo(k.Value, to.Value))
		}
	}
}

// typedefs compares the typedefs of a file.
func (c *comparer) typedefs(f filePair) {
	for _, t := range f.old.Typedefs {
		to := c.pairs.typedefs[t]
		at := change{symbol: t.Name, old: t.Pos, new: f.lack}
		if to == nil {
			c.add(Warning, "typedef-removed", Source, at, "typedef %s removed", t.Name)
			continue
		}
		at.new = to.Pos
		c.moved(at, f, c.new.programs[to.Pos.Filename], "typedef")
		if c.same(t.Type, to.Type) {
			continue
		}
		breaks, severity := c.typeBreaks(t.Type, to.Type), Warning
		if breaks&Wire != 0 {
			severity = Error
		}
		was, is := c.typeTexts(t.Type, to.Type)
		c.add(severity, "typedef-changed", breaks, at, "typedef %s changed from %s to %s", t.Name, was, is)
	}
}

// canonical returns a text that is the same for equal values. The order of pairs, of the fields of
// structs, and of a set's elements does not matter.
func canonical(v *schema.Value) string {
	if v == nil {
		return ""
	}
	var parts []string
	switch v.Type.Kind {
	case schema.StructKind:
		for _, f := range v.Fields {
			parts = append(parts, quote(strconv.Itoa(int(f.Field.ID)))+quote(canonical(f.Value)))
		}
		slices.Sort(parts)
	case schema.Map:
		last := map[string]string{} // if a key is given twice, the last value counts
		for i, k := range v.Keys {
			last[canonical(k)] = canonical(v.Elems[i])
		}
		for k, e := range last {
			parts = append(parts, quote(k)+quote(e))
		}
		slices.Sort(parts)
	case schema.List, schema.SetKind:
		for _, e := range v.Elems {
			parts = append(parts, quote(canonical(e)))
		}
		if v.Type.Kind == schema.SetKind {
			slices.Sort(parts)
			parts = slices.Compact(parts)
		}
	case schema.EnumKind:
		return "=" + strconv.FormatInt(v.Int, 10) // by number, not by name
	default:
		return "=" + scalarText(v)
	}
	return "(" + strings.Join(parts, "")
}

// quote returns text in a form with a visible end: text that follows can't be taken for a part of
// it.
func quote(text string) string { return strconv.Itoa(len(text)) + ":" + text }

// scalarText returns a scalar value in the form for messages, and "" for other values.
func scalarText(v *schema.Value) string {
	switch v.Type.Kind {
	case schema.Bool:
		return strconv.FormatBool(v.Int != 0)
	case schema.Double:
		return strconv.FormatFloat(v.Double, 'g', -1, 64)
	case schema.I8, schema.I16, schema.I32, schema.I64:
	case schema.StructKind, schema.List, schema.SetKind, schema.Map:
		return ""
	case schema.EnumKind:
		for _, e := range v.Type.Enum.Values {
			if int64(e.Value) == v.Int {
				return e.Name
			}
		}
	default:
		return strconv.Quote(v.Text)
	}
	return strconv.FormatInt(v.Int, 10)
}

// fromTo returns " from A to B" for values that fit on a line, and "" for others.
func fromTo(old, new *schema.Value) string {
	text := func(v *schema.Value) string {
		if v == nil {
			return "none"
		}
		return short(scalarText(v))
	}
	a, b := text(old), text(new)
	if a == b && old.Type.Kind == schema.EnumKind { // the same name with another number
		a, b = fmt.Sprintf("%s (%d)", a, old.Int), fmt.Sprintf("%s (%d)", b, new.Int)
	}
	if a == "" || b == "" || a == b {
		return ""
	}
	return fmt.Sprintf(" from %s to %s", a, b)
}
