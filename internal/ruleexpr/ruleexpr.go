// Package ruleexpr reads the functions in rules for values, such as @add($low, 1). The generator
// makes Go code of them, and package valuerules values. docs/idl.md describes them.
package ruleexpr

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// Kind is the type of a value in a rule.
type Kind uint8

// The kinds. None is that of fields that only @len takes, such as lists.
const (
	None Kind = iota
	Int
	Float
	Text
	Bytes
	Bool
)

// IsNumber reports whether values are numbers.
func (k Kind) IsNumber() bool { return k == Int || k == Float }

// IsText reports whether values are texts.
func (k Kind) IsText() bool { return k == Text || k == Bytes }

// A Builder makes values of type V of what stands in an expression.
type Builder[V any] interface {
	Field(name string) (V, error) // $name
	Text(text string) V           // "text", without its quotes
	Number(text string) (V, error)
	Apply(function string, args []V) (V, error)
}

// callHead is how a function's call begins.
var callHead = regexp.MustCompile(`^@[A-Za-z_][A-Za-z0-9_.]*\s*\(`)

// IsCall reports whether a text begins as a function's call does.
func IsCall(text string) bool { return callHead.MatchString(text) }

// MaxCalls is how deep calls of functions may be nested.
const MaxCalls = 20

// Parse makes a value of a text that is a function's call.
func Parse[V any](text string, b Builder[V]) (V, error) {
	p := parser[V]{b: b, rest: text}
	v, err := p.call(0)
	if err == nil && p.rest != "" {
		err = fmt.Errorf("unexpected %q after the function", p.rest)
	}
	return v, err
}

type parser[V any] struct {
	b    Builder[V]
	rest string
}

func (p *parser[V]) space() { p.rest = strings.TrimLeft(p.rest, " \t\r\n") }

// call parses "@name(arguments)".
func (p *parser[V]) call(depth int) (none V, err error) {
	head := callHead.FindString(p.rest)
	switch {
	case head == "":
		return none, fmt.Errorf("%q is not a function's call: expected @NAME(...)", p.rest)
	case depth > MaxCalls:
		return none, fmt.Errorf("functions are nested more than %d deep", MaxCalls)
	}
	p.rest = p.rest[len(head):]
	name := strings.TrimRight(head[1:len(head)-1], " \t\r\n")
	var args []V
	for p.space(); !strings.HasPrefix(p.rest, ")"); p.space() {
		if p.rest == "" {
			return none, fmt.Errorf("@%s( has no )", name)
		}
		arg, err := p.argument(depth)
		if err != nil {
			return none, err
		}
		args = append(args, arg)
		if p.space(); p.rest != "" && (p.rest[0] == ',' || p.rest[0] == ';') {
			p.rest = p.rest[1:]
		}
	}
	p.rest = p.rest[1:]
	v, err := p.b.Apply(name, args)
	if err != nil {
		err = fmt.Errorf("@%s: %w", name, err)
	}
	return v, err
}

var (
	numberWord = regexp.MustCompile(`^[+-]?[0-9.][0-9A-Za-z.]*([eE][+-][0-9]+)?`)
	fieldWord  = regexp.MustCompile(`^\$[A-Za-z_][A-Za-z0-9_.]*`)
	quotedWord = regexp.MustCompile(`^(?s:"(\\["']|[^"])*"|'(\\["']|[^'])*')`)
)

// argument parses one argument.
func (p *parser[V]) argument(depth int) (none V, err error) {
	take := func(word *regexp.Regexp) string {
		found := word.FindString(p.rest)
		p.rest = p.rest[len(found):]
		return found
	}
	if strings.HasPrefix(p.rest, "@") {
		return p.call(depth + 1)
	}
	if name := take(fieldWord); name != "" {
		return p.b.Field(name[1:])
	}
	if text := take(quotedWord); text != "" {
		return p.b.Text(strings.NewReplacer(`\"`, `"`, `\'`, `'`).Replace(text[1 : len(text)-1])), nil
	}
	if number := take(numberWord); number != "" {
		return p.b.Number(number)
	}
	return none, fmt.Errorf("unexpected %q: expected a number, a text in quotes, a $field or a @function", p.rest)
}

// Result returns the kind of a function's result for arguments of these kinds, except of @len,
// which takes a field. fields has the names of arguments that are fields.
func Result(function string, args []Kind, fields []string) (Kind, error) {
	counts := map[string]int{"len": 1, "equal": 2, "mod": 2, "add": 2, "now_unix_nano": 0, "sprintf": len(args)}
	n, known := counts[function]
	switch {
	case !known:
		return None, errors.New("there is no such function; there are add, equal, len, mod, now_unix_nano and sprintf, none of one's own")
	case n != len(args):
		return None, fmt.Errorf("%d arguments were expected, not %d", n, len(args))
	case function == "len" && fields[0] == "":
		return None, errors.New("a field is needed, as in @len($a)")
	case function == "len":
		return Int, nil
	}
	for i, k := range args {
		if k == None {
			return None, fmt.Errorf("of $%s only @len can be used", fields[i])
		}
	}
	switch function {
	case "now_unix_nano":
		return Int, nil
	case "sprintf":
		return Text, nil
	case "mod":
		if args[0] != Int || args[1] != Int {
			return None, errors.New("two integers are needed")
		}
		return Int, nil
	}
	both, ok := common(args[0], args[1])
	switch {
	case !ok || both == Bool && function == "add":
		return None, errors.New("the arguments have different types")
	case function == "equal":
		return Bool, nil
	}
	return both, nil
}

// common returns the kind as which two values are compared or added.
func common(a, b Kind) (Kind, bool) {
	switch {
	case a == Int && b == Int:
		return Int, true
	case a.IsNumber() && b.IsNumber():
		return Float, true
	case a.IsText() && b.IsText():
		return Text, true
	}
	return Bool, a == Bool && b == Bool
}

var verb = regexp.MustCompile(`(?s)%[-0]?[0-9]{0,3}(\.[0-9]{1,3})?(.?)`)

// CheckFormat returns an error if a format of @sprintf does not fit arguments of these kinds.
func CheckFormat(format string, args []Kind) error {
	allowed := map[Kind]string{Int: "dvxXob", Float: "fFeEgGv", Text: "svqxX", Bytes: "svqxX", Bool: "v"}
	for _, m := range verb.FindAllStringSubmatch(format, -1) {
		switch {
		case m[2] == "%":
			continue
		case len(args) == 0:
			return fmt.Errorf("%s has no argument", m[0])
		case m[2] == "" || !strings.Contains(allowed[args[0]], m[2]):
			return fmt.Errorf("%s does not fit its argument", m[0])
		}
		args = args[1:]
	}
	if len(args) > 0 {
		return errors.New("there are more arguments than the format has room for")
	}
	return nil
}
