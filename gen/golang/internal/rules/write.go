package rules

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/nocopythrift/nocopythrift/gen/golang/internal/names"
	"github.com/nocopythrift/nocopythrift/gen/schema"
)

// A methodWriter writes a Validate method.
type methodWriter struct {
	needs func(*schema.Type, *valueRules) bool // whether there is something to check of a value
	names *names.Struct
	out   strings.Builder
	depth int // how many containers are around what is written
}

func (w *methodWriter) printf(format string, args ...any) { fmt.Fprintf(&w.out, format+"\n", args...) }

// method writes the method and the variables that it needs.
func (w *methodWriter) method(s *schema.Struct, r *structRules) {
	for _, p := range r.patterns {
		w.printf("\nvar %s = validate.NewPattern(%s)", p.Name, strconv.Quote(p.Expr))
	}
	w.printf("\n// Validate returns nil if all values are as the IDL demands, else a *validate.Error that describes the\n// first one that is not.")
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
	if !w.needs(field.Type, r) {
		return
	}
	if r != nil && r.notNil {
		w.printf("if !s.IsSet%s() {\nreturn validate.Text(%q, \"to be set\")\n}", name, field.Name)
		bare := *r
		bare.notNil = false
		if r = &bare; !w.needs(field.Type, r) {
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

// value writes the checks of the value v. around returns the expression of an error. leaf makes
// its innermost part for a path.
func (w *methodWriter) value(t *schema.Type, r *valueRules, v string, around func(leaf func(path string) string) string) {
	if r != nil {
		for _, rule := range r.rules {
			w.rule(rule, v, around)
		}
	}
	switch t.Kind {
	case schema.StructKind:
		if w.needs(t, &valueRules{skip: r != nil && r.skip}) {
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
	keys := t.Key != nil && w.needs(t.Key, r.part(true))
	elems := w.needs(t.Elem, r.part(false))
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
