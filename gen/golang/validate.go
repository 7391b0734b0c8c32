package golang

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/nocopythrift/nocopythrift/gen/idl"
	"github.com/nocopythrift/nocopythrift/gen/schema"
)

// Validate methods come from annotations whose names begin with "vt.". vtrules.go reads these,
// vtexpr.go what their values refer to; this file writes the methods.

// validation holds what the Validate methods of all structs check.
type validation struct {
	g       *generator
	structs map[*schema.Struct]*structRules
	errs    *idl.ErrorList // of the file that is being read
}

// structRules are what a struct's Validate method checks.
type structRules struct {
	fields   []*valueRules // in the order of the fields
	asserts  []rule
	patterns []patternVar
	needed   bool // there is something to check, here or in a field's type
}

// valueRules are what is checked of a value.
type valueRules struct {
	rules     []rule
	skip      bool // what structs in the value demand is not checked
	notNil    bool // the field must be set
	key, elem *valueRules
}

// A rule is a condition in Go, in which \x00 stands for the value, and what it demands in words.
type rule struct {
	cond, want string
	report     string   // "Value", "Size" or "Text": the function that makes the error
	got        string   // its last argument, if there is one
	isSwitch   bool     // cond is the cases of a switch
	parts      []string // the conditions that cond joins, of several in or not_in
}

// patternVar is a variable that holds a regular expression.
type patternVar struct{ Name, Expr string }

// newValidation reads the annotations of all files. Errors in those that are generated are added
// to g.errs.
func (g *generator) newValidation() *validation {
	v := &validation{g: g, structs: map[*schema.Struct]*structRules{}}
	for _, p := range g.set.Programs {
		var elsewhere idl.ErrorList
		v.errs = &elsewhere
		if slices.Contains(g.programs, p) {
			v.errs = &g.errs
		}
		v.file(p)
	}
	// A struct needs the method if the type of a field does.
	for changed := true; changed; {
		changed = false
		for s, r := range v.structs {
			for i := 0; i < len(s.Fields) && !r.needed; i++ {
				r.needed = v.needs(s.Fields[i].Type, r.fields[i])
				changed = changed || r.needed
			}
		}
	}
	return v
}

// needs reports whether there is something to check of a value.
func (v *validation) needs(t *schema.Type, r *valueRules) bool {
	if r != nil && (len(r.rules) > 0 || r.notNil) {
		return true
	}
	switch t.Kind {
	case schema.StructKind:
		return (r == nil || !r.skip) && v.structs[t.Struct] != nil && v.structs[t.Struct].needed
	case schema.Map:
		return v.needs(t.Key, r.part(true)) || v.needs(t.Elem, r.part(false))
	case schema.List, schema.SetKind:
		return v.needs(t.Elem, r.part(false))
	}
	return false
}

// part returns the rules for the keys of a map, or for the elements of a container. What skips a
// container skips what is in it.
func (r *valueRules) part(key bool) *valueRules {
	if r == nil {
		return nil
	}
	inner := r.elem
	if key {
		inner = r.key
	}
	if r.skip {
		if inner == nil {
			return &valueRules{skip: true}
		}
		with := *inner
		with.skip = true
		return &with
	}
	return inner
}

// validators returns the declarations of the Validate methods of a file's structs, those of its
// services included.
func (f *file) validators() []string {
	var out []string
	list := slices.Clone(f.p.Structs)
	for _, s := range f.p.Services {
		for _, fn := range s.Functions {
			list = append(list, fn.Args, fn.Result)
		}
	}
	for _, s := range list {
		r := f.g.validation.structs[s]
		if r == nil || !r.needed {
			continue
		}
		w := methodWriter{v: f.g.validation, names: f.pkg.names.structs[s]}
		w.method(s, r)
		out = append(out, w.out.String())
		f.needs["validate"] = true
	}
	return out
}

// A methodWriter writes a Validate method.
type methodWriter struct {
	v     *validation
	names *structNames
	out   strings.Builder
	depth int // how many containers are around what is written
}

func (w *methodWriter) printf(format string, args ...any) { fmt.Fprintf(&w.out, format+"\n", args...) }

// method writes the method and the variables that it needs.
func (w *methodWriter) method(s *schema.Struct, r *structRules) {
	for _, p := range r.patterns {
		w.printf("\nvar %s = validate.NewPattern(%s)", p.Name, strconv.Quote(p.Expr))
	}
	w.printf("\n// Validate returns nil if all values are as the IDL demands, else a *validate.Error that tells the\n// first one that is not.")
	w.printf("func (s %s) Validate() error {", w.names.Type)
	for i, field := range s.Fields {
		w.field(field, r.fields[i], w.names.Fields[i].Go, s.Annotations.Redacts() || field.Annotations.Redacts())
	}
	for _, a := range r.asserts {
		w.printf("if !(%s) {\nreturn validate.Text(\"\", %s)\n}", a.cond, strconv.Quote(a.want))
	}
	w.printf("return nil\n}")
}

// field writes the checks of a field; name is its name in Go. Errors about one that is hidden show
// nothing of its value.
func (w *methodWriter) field(field *schema.Field, r *valueRules, name string, hidden bool) {
	if !w.v.needs(field.Type, r) {
		return
	}
	if r != nil && r.notNil {
		w.printf("if !s.IsSet%s() {\nreturn validate.Text(%q, \"to be set\")\n}", name, field.Name)
		bare := *r
		bare.notNil = false
		if r = &bare; !w.v.needs(field.Type, r) {
			return
		}
	}
	switch {
	case field.Req == schema.Optional && (r == nil || !r.notNil):
		w.printf("if s.IsSet%s() {", name)
	default:
		w.printf("{")
	}
	w.printf("v := s.Get%s()", name)
	w.value(field.Type, r, "v", func(leaf func(string) string) string {
		path := strconv.Quote(field.Name)
		if hidden {
			return "validate.Hidden(" + path + ", " + leaf(path) + ")"
		}
		return leaf(path)
	})
	w.printf("}")
}

// value writes the checks of the value v. around returns the expression of an error, of which leaf
// makes the innermost part for a path.
func (w *methodWriter) value(t *schema.Type, r *valueRules, v string, around func(leaf func(path string) string) string) {
	if r != nil {
		for _, rule := range r.rules {
			w.rule(rule, v, around)
		}
	}
	switch t.Kind {
	case schema.StructKind:
		if w.v.needs(t, &valueRules{skip: r != nil && r.skip}) {
			w.printf("if %s.Valid() {\nif err := %s.Validate(); err != nil {\nreturn %s\n}\n}", v, v, around(func(path string) string {
				if path == `""` {
					return "err"
				}
				return "validate.In(" + path + ", err)"
			}))
		}
	case schema.List, schema.SetKind, schema.Map:
		w.container(t, r, v, around)
	}
}

// rule writes the check of one rule.
func (w *methodWriter) rule(r rule, v string, around func(leaf func(path string) string) string) {
	fill := func(text string) string { return strings.ReplaceAll(text, "\x00", v) }
	fail := around(func(path string) string {
		args := path + ", " + strconv.Quote(r.want)
		if r.got != "" {
			args += ", " + fill(r.got)
		}
		return "validate." + r.report + "(" + args + ")"
	})
	if r.isSwitch {
		w.printf("switch %s {\n%sdefault:\nreturn %s\n}", v, r.cond, fail)
		return
	}
	broken, negated := strings.CutPrefix(r.cond, "!") // of a call: linters refuse two negations
	if !negated {
		broken = "!(" + r.cond + ")"
	}
	w.printf("if %s {\nreturn %s\n}", fill(broken), fail)
}

// container writes the checks of what is in a list, set or map.
func (w *methodWriter) container(t *schema.Type, r *valueRules, v string, around func(leaf func(path string) string) string) {
	keys := t.Key != nil && w.v.needs(t.Key, r.part(true))
	elems := w.v.needs(t.Elem, r.part(false))
	if !keys && !elems {
		return
	}
	w.depth++
	index, elem := fmt.Sprintf("i%d", w.depth), fmt.Sprintf("e%d", w.depth)
	at := "validate.At"
	switch {
	case t.Kind != schema.Map:
		w.printf("for %s := range %s.Len() {\n%s := %s.At(%s)", index, v, elem, v, index)
	case elems:
		index, at = fmt.Sprintf("k%d", w.depth), "validate.Key"
		w.printf("for %s, %s := range %s.All() {", index, elem, v)
	default:
		index, at = fmt.Sprintf("k%d", w.depth), "validate.Key"
		w.printf("for %s := range %s.All() {", index, v)
	}
	inner := func(leaf func(string) string) string {
		return around(func(path string) string { return at + "(" + path + ", " + index + ", " + leaf(`""`) + ")" })
	}
	if keys {
		w.value(t.Key, r.part(true), index, inner)
	}
	if elems {
		w.value(t.Elem, r.part(false), elem, inner)
	}
	w.printf("}")
	w.depth--
}
