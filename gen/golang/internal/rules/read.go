package rules

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/nocopythrift/nocopythrift/gen/golang/internal/names"
	"github.com/nocopythrift/nocopythrift/gen/idl"
	"github.com/nocopythrift/nocopythrift/gen/schema"
	"github.com/nocopythrift/nocopythrift/internal/ruleexpr"
)

// reader reads the rules of one file.
type reader struct {
	structs map[*schema.Struct]*structRules // where they go
	names   *names.Names                    // of the file's package
	errs    *idl.ErrorList
}

// isRule reports whether an annotation is a rule for values.
func isRule(a *idl.Annotation) bool { return a.Key == "vt" || strings.HasPrefix(a.Key, "vt.") }

// file reads the rules of a file's structs and of the arguments and results of its services.
func (v *reader) file(p *schema.Program) {
	structs := map[idl.Position]*idl.Struct{}
	fields := map[idl.Position]*idl.Field{}
	note := func(list []*idl.Field) {
		for _, f := range list {
			fields[f.Pos] = f
			v.misplacedInType(f.Type)
		}
	}
	for _, n := range p.AST.Namespaces {
		v.misplaced(n.Annotations)
	}
	for _, d := range p.AST.Definitions {
		switch d := d.(type) {
		case *idl.Const:
			v.misplacedInType(d.Type)
		case *idl.Typedef:
			v.misplaced(d.Annotations)
			v.misplacedInType(d.Type)
		case *idl.Enum:
			v.misplaced(d.Annotations)
			for _, value := range d.Values {
				v.misplaced(value.Annotations)
			}
		case *idl.Struct:
			structs[d.Name.Pos] = d
			note(d.Fields)
		case *idl.Service:
			v.misplaced(d.Annotations)
			for _, f := range d.Functions {
				v.misplaced(f.Annotations)
				v.misplacedInType(f.Result)
				note(f.Args)
				note(f.Throws)
			}
		}
	}
	add := func(s *schema.Struct, ast *idl.Struct) {
		if s == nil {
			return
		}
		c := ruleReader{subject: subject{p, s, v.names.Structs[s]}, v: v, out: &structRules{}}
		for i, f := range s.Fields {
			c.read(f, fields[f.Pos], i)
		}
		if ast != nil {
			c.asserts(ast.Annotations)
		}
		v.structs[s] = c.out
	}
	for _, s := range p.Structs {
		add(s, structs[s.Pos])
	}
	for _, s := range p.Services {
		for _, f := range s.Functions {
			add(f.Args, nil)
			add(f.Result, nil)
		}
	}
}

// misplaced adds errors for rules where they mean nothing.
func (v *reader) misplaced(list []*idl.Annotation) {
	for _, a := range list {
		if isRule(a) {
			v.errs.Add(a.Pos, "%s means nothing here: rules are for fields, arguments and structs", a.Key)
		}
	}
}

func (v *reader) misplacedInType(t *idl.Type) {
	if t == nil {
		return
	}
	v.misplaced(t.Annotations)
	switch {
	case t.List != nil:
		v.misplacedInType(t.List.Elem)
	case t.Set != nil:
		v.misplacedInType(t.Set.Elem)
	case t.Map != nil:
		v.misplacedInType(t.Map.Key)
		v.misplacedInType(t.Map.Value)
	}
}

// A ruleReader reads the rules of a struct.
type ruleReader struct {
	subject
	v     *reader
	out   *structRules
	field int    // the number of the field that is being read
	what  string // before what a rule wants, in errors: tells keys from values
}

// fail adds an error about an annotation.
func (c *ruleReader) fail(a *idl.Annotation, format string, args ...any) {
	c.v.errs.Add(a.Pos, "%s: %s", a.Key, fmt.Sprintf(format, args...))
}

// read reads the rules of a field, whose syntax is ast; nil for a method's success.
func (c *ruleReader) read(f *schema.Field, ast *idl.Field, number int) {
	r := &valueRules{}
	c.field = number
	c.out.fields = append(c.out.fields, r)
	if ast == nil {
		return
	}
	groups := map[*valueRules]map[string]int{} // of in and not_in, which may be given several times
	for _, a := range ast.Annotations {
		if isRule(a) {
			c.annotation(f.Type, r, a, groups)
		}
	}
}

// annotation reads one annotation of a field.
func (c *ruleReader) annotation(t *schema.Type, r *valueRules, a *idl.Annotation, groups map[*valueRules]map[string]int) {
	parts := strings.Split(a.Key, ".")[1:]
	if len(parts) == 0 {
		c.fail(a, "a rule is named vt.NAME")
		return
	}
	inside := false
	c.what = ""
	for len(parts) > 1 {
		next := &r.elem
		switch part := parts[0]; {
		case part == "elem" && (t.Kind == schema.List || t.Kind == schema.SetKind), part == "value" && t.Kind == schema.Map:
			t = t.Elem
			c.what = ""
		case part == "key" && t.Kind == schema.Map:
			next, t = &r.key, t.Key
			c.what = "as key "
		case part == "elem":
			c.fail(a, "elem is for lists and sets, not %s", t)
			return
		case part == "key" || part == "value":
			c.fail(a, "%s is for maps, not %s", part, t)
			return
		default:
			c.fail(a, "there is no rule %s", strings.Join(parts, "."))
			return
		}
		if *next == nil {
			*next = &valueRules{}
		}
		r, parts, inside = *next, parts[1:], true
	}
	c.rule(t, r, a, parts[0], inside, groups)
}

// The rules for the kinds of type, beside not_nil, and skip where there may be structs.
const (
	numberRules = "const lt le gt ge in not_in"
	textRules   = "const min_size max_size min_rune_size max_rune_size pattern prefix suffix contains not_contains in not_in"
	sizeRules   = "min_size max_size"
)

var rulesOf = map[schema.Kind][]string{
	schema.Bool: {"const"}, schema.StructKind: {"skip"},
	schema.I8: strings.Fields(numberRules), schema.I16: strings.Fields(numberRules), schema.I32: strings.Fields(numberRules),
	schema.I64: strings.Fields(numberRules), schema.Double: strings.Fields(numberRules),
	schema.String: strings.Fields(textRules), schema.Binary: strings.Fields(textRules),
	schema.EnumKind: strings.Fields("const defined_only in not_in"),
	schema.List:     strings.Fields(sizeRules + " skip"), schema.SetKind: strings.Fields(sizeRules + " skip"),
	schema.Map: strings.Fields(sizeRules + " no_sparse skip"),
}

// rule reads one rule for a value of type t.
func (c *ruleReader) rule(t *schema.Type, r *valueRules, a *idl.Annotation, name string, inside bool, groups map[*valueRules]map[string]int) {
	allowed := append(slices.Clip(rulesOf[t.Kind]), "not_nil")
	if !slices.Contains(allowed, name) {
		if name == "elem" || name == "key" || name == "value" {
			c.fail(a, "a rule must follow, as in %s.const", a.Key)
		} else if name == "assert" {
			c.fail(a, "is for structs, not for fields")
		} else {
			c.fail(a, "%s has no such rule; it has %s", t, strings.Join(allowed, ", "))
		}
		return
	}
	switch name {
	case "skip", "not_nil", "no_sparse", "defined_only":
		on, err := strconv.ParseBool(annotationText(a))
		if err != nil {
			c.fail(a, "%q is neither true nor false", annotationText(a))
			return
		}
		switch {
		case !on:
		case name == "skip":
			r.skip = true
		case name == "not_nil":
			r.notNil = !inside // elements, keys and values always are there
		case name == "defined_only":
			c.definedOnly(t.Enum, r)
		}
		return
	}
	if a.Value == nil {
		c.fail(a, "a value is needed: %s = \"…\"", a.Key)
		return
	}
	made, ok := c.condition(t, a, name, string(*a.Value))
	made.want = c.what + made.want
	if !ok {
		return
	}
	if name != "in" && name != "not_in" {
		r.rules = append(r.rules, made)
		return
	}
	if groups[r] == nil {
		groups[r] = map[string]int{}
	}
	if at, ok := groups[r][name]; ok { // one of several
		old := &r.rules[at]
		op := " || "
		if name == "not_in" {
			op = " && "
		}
		if slices.Contains(old.parts, made.cond) {
			return // go vet refuses what is said twice
		}
		old.parts = append(old.parts, made.cond)
		old.cond += op + made.cond
		_, value, _ := strings.Cut(made.want, " of ")
		old.want += ", " + value
		return
	}
	groups[r][name] = len(r.rules)
	made.parts = []string{made.cond}
	r.rules = append(r.rules, made)
}

// annotationText returns the value of an annotation, "1" if it has none.
func annotationText(a *idl.Annotation) string {
	if a.Value == nil {
		return "1"
	}
	return string(*a.Value)
}

// definedOnly adds the rule that an enum has the value.
func (c *ruleReader) definedOnly(e *schema.Enum, r *valueRules) {
	cases, seen := "", map[int32]bool{}
	for _, v := range e.Values {
		if !seen[v.Value] {
			seen[v.Value] = true
			cases += ", " + strconv.Itoa(int(v.Value))
		}
	}
	if cases != "" {
		cases = "case " + cases[2:] + ":\n"
	}
	r.rules = append(r.rules, rule{cond: cases, isSwitch: true, want: c.what + "a value of " + e.Name, report: "Value", got: "\x00"})
}

var comparisons = map[string]string{"const": "==", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "in": "==", "not_in": "!="}

// reversed are the comparisons whose sides are exchanged.
var reversed = map[string]string{"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}

// condition returns the rule that a value obeys name = text.
func (c *ruleReader) condition(t *schema.Type, a *idl.Annotation, name, text string) (rule, bool) {
	switch name {
	case "min_size", "max_size", "min_rune_size", "max_rune_size":
		return c.size(t, a, name, text)
	case "pattern":
		return c.pattern(t, a, text)
	}
	op := comparisons[name]
	want := map[string]string{"const": "", "in": "one of ", "not_in": "none of "}[name] + shown(t, text)
	switch t.Kind {
	case schema.Bool:
		o, ok := c.operand(t, a, text)
		return rule{cond: "\x00 == " + o.code, want: want, report: "Value", got: "\x00"}, ok
	case schema.String, schema.Binary:
		return c.text(t, a, name, text)
	}
	if name == "lt" || name == "le" || name == "gt" || name == "ge" {
		want = "a value " + op + " " + text
	}
	o, ok := c.operand(t, a, text)
	cond := "int64(\x00) " + op + " " + o.code
	switch {
	case o.constant || t.Kind == schema.Double && o.kind == ruleexpr.Float:
		cond = "\x00 " + op + " " + o.code
	case t.Kind == schema.Double:
		cond = compared(o, reversed[op], operand{code: "\x00"})
	case o.kind == ruleexpr.Float:
		cond = compared(operand{code: "int64(\x00)"}, op, o)
	}
	return rule{cond: cond, want: want, report: "Value", got: "\x00"}, ok
}

// operand is subject.operand, whose error it adds to those of the annotation.
func (c *ruleReader) operand(t *schema.Type, a *idl.Annotation, text string) (operand, bool) {
	o, err := c.subject.operand(t, text)
	if err != nil {
		c.fail(a, "%v", err)
	}
	return o, err == nil
}

// maxShown bounds the bytes of a rule's value in an error.
const maxShown = 100

// shown returns a rule's value as errors show it.
func shown(t *schema.Type, text string) string {
	if len(text) > maxShown {
		text = text[:maxShown] + "…"
	}
	if (t.Kind == schema.String || t.Kind == schema.Binary) && text[:min(len(text), 1)] != "$" && !ruleexpr.IsCall(text) {
		return strconv.Quote(text)
	}
	return strings.ToValidUTF8(text, "�")
}

// size returns the rule that compares the size of a value of type t, and whether the annotation is
// one.
func (c *ruleReader) size(t *schema.Type, a *idl.Annotation, name, text string) (rule, bool) {
	o, ok := c.operand(&schema.Type{Kind: schema.I64}, a, text)
	if n, err := strconv.ParseInt(text, 0, 64); ok && err == nil && n < 0 {
		c.fail(a, "a size is not negative")
		return rule{}, false
	}
	if o.kind == ruleexpr.Float {
		c.fail(a, "%s is not an integer", text)
		return rule{}, false
	}
	size, unit := "len(\x00)", "bytes"
	switch {
	case t.Kind == schema.List || t.Kind == schema.SetKind:
		size, unit = "\x00.Len()", "elements"
	case t.Kind == schema.Map:
		size, unit = "\x00.Len()", "pairs"
	case strings.Contains(name, "rune"):
		size, unit = "validate.Runes(\x00)", "characters"
		if t.Kind == schema.Binary {
			size = "validate.RunesOfBytes(\x00)"
		}
	}
	op, words := ">=", "at least "
	if strings.HasPrefix(name, "max") {
		op, words = "<=", "at most "
	}
	if text == "1" {
		unit = unit[:len(unit)-1]
	}
	return rule{cond: "int64(" + size + ") " + op + " " + o.code, want: words + text + " " + unit, report: "Size", got: size}, ok
}

// pattern returns the rule that a value of type t matches a regular expression, and whether the
// annotation is one.
func (c *ruleReader) pattern(t *schema.Type, a *idl.Annotation, text string) (rule, bool) {
	if _, err := regexp.Compile(text); err != nil {
		c.fail(a, "%v", err)
		return rule{}, false
	}
	name := c.v.names.Taken.Unique(names.Private(c.names.Type) + c.names.Fields[c.field].Go + "Pattern")
	c.out.patterns = append(c.out.patterns, patternVar{name, text})
	match := ".Match(\x00)"
	if t.Kind == schema.Binary {
		match = ".MatchBytes(\x00)"
	}
	return rule{cond: name + match, want: "text that matches " + shown(t, text), report: "Text"}, true
}

// text returns the rule that compares a value of type t, a string or binary, with another, and
// whether the annotation is one.
func (c *ruleReader) text(t *schema.Type, a *idl.Annotation, name, text string) (rule, bool) {
	o, ok := c.operand(t, a, text)
	code, value, contains := o.code, "\x00", "validate.Contains"
	if o.kind == ruleexpr.Bytes {
		code = "string(" + code + ")"
	}
	if t.Kind == schema.Binary {
		value, contains = "string(\x00)", "validate.ContainsBytes"
	}
	r := rule{report: "Text"}
	switch name {
	case "const", "in":
		r.cond = value + " == " + code
	case "not_in":
		r.cond = value + " != " + code
	case "prefix":
		r.cond = "validate.HasPrefix(\x00, " + code + ")"
	case "suffix":
		r.cond = "validate.HasSuffix(\x00, " + code + ")"
	case "contains":
		r.cond = contains + "(\x00, " + code + ")"
	case "not_contains":
		r.cond = "!" + contains + "(\x00, " + code + ")"
	}
	r.want = map[string]string{"in": "one of ", "not_in": "none of ", "prefix": "text that begins with ", "suffix": "text that ends with ",
		"contains": "text that contains ", "not_contains": "text that does not contain "}[name] + shown(t, text)
	return r, ok
}

// asserts reads the rules for the struct itself.
func (c *ruleReader) asserts(list []*idl.Annotation) {
	for _, a := range list {
		switch {
		case !isRule(a):
		case a.Key != "vt.assert":
			c.fail(a, "structs have the rule vt.assert only")
		case a.Value == nil || !strings.HasPrefix(string(*a.Value), "@"):
			c.fail(a, "a function is needed, as in \"@equal($a, 1)\"")
		default:
			text := string(*a.Value)
			o, err := c.function(text)
			if err != nil {
				c.fail(a, "%v", err)
				continue
			}
			ok := true
			if o.kind != ruleexpr.Bool {
				c.fail(a, "%s is not true or false: use @equal", text)
				ok = false
			}
			if ok {
				c.out.asserts = append(c.out.asserts, rule{cond: o.code, want: shown(&schema.Type{Kind: schema.I32}, text)})
			}
		}
	}
	c.out.needed = len(c.out.asserts) > 0
}
