package valuerules

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/nocopythrift/nocopythrift/internal/ruleexpr"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/descriptor"
	"github.com/nocopythrift/nocopythrift/nocopy/reflection"
)

// The bounds of what is read: bytes of a rule, rules for a value, instructions of a pattern and of
// all patterns, and errors.
const (
	maxText         = 4 << 10
	maxRules        = 1000
	maxInstructions = 10_000
	maxPatterns     = 1_000_000
	maxErrors       = 100
)

// reader reads the annotations of types.
type reader struct {
	rules        *Rules
	errs         []error
	instructions int // of all patterns
}

func (r *reader) fail(where, rule string, err error) {
	if len(r.errs) < maxErrors {
		r.errs = append(r.errs, fmt.Errorf("%s: %.200s: %w", where, rule, err))
	}
}

// structure reads the rules of a struct.
func (r *reader) structure(s descriptor.Struct) *structRules {
	out := &structRules{}
	hidden := Redacts(s)
	for f := range s.Fields() {
		v := &valueRules{hidden: hidden || Redacts(f)}
		groups := map[string]*group{}
		n := 0
		for a := range f.Annotations() {
			if !isRule(a.Name) {
				continue
			}
			err := errors.New("the field has too many rules")
			if n++; n <= maxRules {
				err = r.annotation(subject{s}, f.Type(), v, a, groups)
			}
			if err != nil {
				r.fail(s.Name()+"."+f.Name(), a.Name, err)
			}
		}
		if n == 0 && len(structsIn(nil, f.Type())) == 0 {
			v = nil
		}
		r.rules.any = r.rules.any || n > 0
		out.fields = append(out.fields, v)
	}
	for a := range s.Annotations() {
		if !isRule(a.Name) {
			continue
		}
		o, err := subject{s}.assertion(a)
		if err != nil {
			r.fail(s.Name(), a.Name, err)
			continue
		}
		r.rules.any = true
		out.asserts = append(out.asserts, &rule{text: shown(a), holds: func(c *check, _ reflection.Value) bool { return o.value(c).b }})
	}
	return out
}

func isRule(name string) bool { return name == "vt" || strings.HasPrefix(name, "vt.") }

// Redacts reports whether nothing of the values of a field, or of all fields of a struct, may be
// shown.
func Redacts(d interface{ Annotation(string) (string, bool) }) bool {
	v, ok := d.Annotation("nocopy.redact")
	return ok && v != "0" && v != "false"
}

// shown returns a rule as the IDL has it.
func shown(a descriptor.Annotation) string {
	const most = 100
	value := a.Value
	if len(value) > most {
		value = strings.ToValidUTF8(value[:most], "") + "…"
	}
	return a.Name + " = " + strconv.Quote(value)
}

// assertion returns the operand of the rule of a struct.
func (s subject) assertion(a descriptor.Annotation) (operand, error) {
	if a.Name != "vt.assert" {
		return operand{}, errors.New("structs have the rule vt.assert only")
	}
	if len(a.Value) > maxText {
		return operand{}, errTooLong
	}
	o, err := ruleexpr.Parse[operand](a.Value, s)
	if err == nil && o.kind != ruleexpr.Bool {
		err = errors.New("it is not true or false: use @equal")
	}
	return o, err
}

var (
	errTooLong = fmt.Errorf("it has more than %d bytes", maxText)
	errNone    = errors.New("there is no such rule for this type")
)

// annotation reads one rule of a field.
func (r *reader) annotation(s subject, t descriptor.Type, v *valueRules, a descriptor.Annotation, groups map[string]*group) error {
	if len(a.Value) > maxText || len(a.Name) > maxText {
		return errTooLong
	}
	path, name := "", ""
	parts := strings.Split(a.Name, ".")[1:]
	for i, part := range parts {
		if name = part; i == len(parts)-1 {
			break
		}
		next, isMap := &v.elem, t.WireType() == nocopy.WireMap
		isList := t.WireType() == nocopy.WireList || t.WireType() == nocopy.WireSet
		switch {
		case part == "elem" && isList, part == "value" && isMap:
			t = t.Elem()
		case part == "key" && isMap:
			next, t = &v.key, t.Key()
		default:
			return errNone
		}
		if *next == nil {
			*next = &valueRules{}
		}
		v, path = *next, path+part+"."
	}
	switch name {
	case "skip", "not_nil", "no_sparse", "defined_only":
		return v.flag(t, name, path != "", a)
	case "in", "not_in":
		return v.member(s, t, name, path, a, groups)
	}
	made, err := r.rule(s, t, name, a)
	if err == nil {
		v.rules = append(v.rules, made)
	}
	return err
}

// flag reads a rule that is true or false.
func (v *valueRules) flag(t descriptor.Type, name string, inside bool, a descriptor.Annotation) error {
	on, err := strconv.ParseBool(a.Value)
	if err != nil || !on {
		return err
	}
	switch {
	case name == "skip":
		v.skip = true
	case name == "not_nil" && !inside: // elements, keys and values always are there
		v.notNil = &rule{text: a.Name}
	case name == "defined_only":
		if !t.Enum().Valid() {
			return errNone
		}
		enum := t.Enum()
		v.rules = append(v.rules, &rule{text: a.Name, got: shownValue(t), holds: func(_ *check, v reflection.Value) bool {
			_, ok := enum.ByNumber(int32(v.Int()))
			return ok
		}})
	}
	return nil
}

// group are the values of several rules in or not_in.
type group struct {
	*rule
	values []operand
}

// member reads a rule in or not_in, which may be one of several.
func (v *valueRules) member(s subject, t descriptor.Type, name, path string, a descriptor.Annotation, groups map[string]*group) error {
	kind := kindOf(t)
	if kind == ruleexpr.None || kind == ruleexpr.Bool {
		return errNone
	}
	o, err := s.operand(t, a.Value)
	if err != nil {
		return err
	}
	if g := groups[path+name]; g != nil {
		g.values = append(g.values, o)
		if len(g.text) < maxText {
			g.text += ", " + shown(a)
		}
		return nil
	}
	g := &group{values: []operand{o}}
	g.rule = &rule{text: shown(a), got: shownValue(t), holds: func(c *check, v reflection.Value) bool {
		c.step(len(g.values))
		for _, o := range g.values {
			if valueOf(kind, v).compare(c, "==", o) {
				return name == "in"
			}
		}
		return name == "not_in"
	}}
	groups[path+name] = g
	v.rules = append(v.rules, g.rule)
	return nil
}

// valueOf returns a value as an operand.
func valueOf(kind ruleexpr.Kind, v reflection.Value) operand {
	return constant(kind, scalarOf(kind, v))
}

// shownValue returns the function that shows values of a type; nil for texts.
func shownValue(t descriptor.Type) func(v reflection.Value) string {
	switch {
	case t.Enum().Valid():
		return func(v reflection.Value) string {
			if name := v.EnumName(); name != "" {
				return name
			}
			return strconv.FormatInt(v.Int(), 10)
		}
	case kindOf(t).IsText():
		return nil
	}
	return func(v reflection.Value) string { return fmt.Sprint(v.Interface()) }
}

// rule reads a rule that has a value.
func (r *reader) rule(s subject, t descriptor.Type, name string, a descriptor.Annotation) (*rule, error) {
	made := &rule{text: shown(a), got: shownValue(t)}
	var err error
	switch kind := kindOf(t); {
	case strings.HasSuffix(name, "_size"):
		made.got, err = sizeRule(made, s, t, name, a.Value)
	case kind.IsText():
		err = r.text(made, s, t, name, a.Value)
	default:
		op := map[string]string{"const": "==", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}[name]
		if kind == ruleexpr.None || op == "" || op != "==" && (kind == ruleexpr.Bool || t.Enum().Valid()) {
			return nil, errNone
		}
		var o operand
		o, err = s.operand(t, a.Value)
		made.holds = func(c *check, v reflection.Value) bool { return valueOf(kind, v).compare(c, op, o) }
	}
	return made, err
}

// sizeRule completes the rule for the size of a value, and returns what shows that.
func sizeRule(made *rule, s subject, t descriptor.Type, name, text string) (func(v reflection.Value) string, error) {
	var size func(v reflection.Value) int
	switch t.WireType() {
	case nocopy.WireString:
		size = func(v reflection.Value) int { return len(v.Text()) }
	case nocopy.WireList, nocopy.WireSet:
		size = func(v reflection.Value) int { return v.List().Len() }
	case nocopy.WireMap:
		size = func(v reflection.Value) int { return v.Map().Len() }
	}
	switch name {
	case "min_size", "max_size":
	case "min_rune_size", "max_rune_size":
		if t.WireType() != nocopy.WireString {
			return nil, errNone
		}
		size = func(v reflection.Value) int { return utf8.RuneCountInString(v.Text()) }
		made.cost = textCost
	default:
		size = nil
	}
	if size == nil {
		return nil, errNone
	}
	o, err := s.operandOf(ruleexpr.Int, descriptor.Enum{}, text)
	if err == nil && o.kind != ruleexpr.Int {
		err = fmt.Errorf("%s is not an integer", text)
	}
	op := ">="
	if strings.HasPrefix(name, "max") {
		op = "<="
	}
	made.holds = func(c *check, v reflection.Value) bool { return ordered(op, int64(size(v)), o.value(c).i) }
	return func(v reflection.Value) string { return "size " + strconv.Itoa(size(v)) }, err
}

// In a step, so many bytes of texts are compared, or so many instructions of a pattern tried.
const (
	charactersPerStep   = 64
	instructionsPerStep = 8
)

func textCost(v reflection.Value) int { return len(v.Text()) / charactersPerStep }

// text completes a rule for a text.
func (r *reader) text(made *rule, s subject, t descriptor.Type, name, text string) error {
	if name == "pattern" {
		return r.pattern(made, text)
	}
	test := map[string]func(text, other string) bool{
		"const": func(text, other string) bool { return text == other }, "prefix": strings.HasPrefix, "suffix": strings.HasSuffix,
		"contains": strings.Contains, "not_contains": func(text, other string) bool { return !strings.Contains(text, other) },
	}[name]
	if test == nil {
		return errNone
	}
	o, err := s.operand(t, text)
	made.cost = textCost
	made.holds = func(c *check, v reflection.Value) bool { return test(v.Text(), o.value(c).s) }
	return err
}

// pattern completes a rule for a text that a regular expression has to match.
func (r *reader) pattern(made *rule, text string) error {
	if r.instructions > maxPatterns {
		return errors.New("the patterns before it are too large")
	}
	parsed, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return err
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return err
	}
	n := len(program.Inst)
	if r.instructions += n; n > maxInstructions {
		return errors.New("the pattern is too large")
	}
	re, err := regexp.Compile(text)
	made.cost = func(v reflection.Value) int { return len(v.Text()) * n / instructionsPerStep }
	made.holds = func(_ *check, v reflection.Value) bool { return re.MatchString(v.Text()) }
	return err
}
