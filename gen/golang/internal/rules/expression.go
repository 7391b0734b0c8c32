package rules

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/nocopythrift/nocopythrift/gen/golang/internal/names"
	"github.com/nocopythrift/nocopythrift/gen/schema"
)

// operandKind is the Go type of an operand.
type operandKind uint8

const (
	noOperand    operandKind = iota
	intOperand               // int64
	floatOperand             // float64
	textOperand              // string
	bytesOperand             // []byte
	boolOperand
)

// An operand is a Go expression that a value is compared with. A constant has no type yet.
type operand struct {
	kind     operandKind
	code     string
	constant bool
}

// float returns a number as a float64.
func (o operand) float() operand {
	if o.kind == floatOperand && !o.constant {
		return o
	}
	return operand{kind: floatOperand, code: "float64(" + o.code + ")"}
}

// typed returns the operand with its Go type.
func (o operand) typed() operand {
	switch {
	case o.constant && o.kind == intOperand:
		return operand{kind: o.kind, code: "int64(" + o.code + ")"}
	case o.constant && o.kind == floatOperand:
		return operand{kind: o.kind, code: "float64(" + o.code + ")"}
	}
	return o
}

// compared returns the condition that an int64 compares with a float64 by their exact values.
func compared(i operand, op string, f operand) string {
	return "validate.Compare(" + i.code + ", " + strconv.Quote(op) + ", " + f.code + ")"
}

func (o operand) isNumber() bool { return o.kind == intOperand || o.kind == floatOperand }
func (o operand) isText() bool   { return o.kind == textOperand || o.kind == bytesOperand }

// call is the form of a function's call.
var call = regexp.MustCompile(`^@[A-Za-z_][A-Za-z0-9_.]*\s*\(`)

// subject is the struct whose fields an expression may name.
type subject struct {
	p     *schema.Program // its file
	s     *schema.Struct
	names *names.Struct
}

// operand returns what a value of type t is compared with: a constant, a field of the struct
// ($name) or the result of a function (@name(...)).
func (c subject) operand(t *schema.Type, text string) (o operand, err error) {
	isText := t.Kind == schema.String || t.Kind == schema.Binary
	switch {
	case strings.HasPrefix(text, "$"):
		o, err = c.reference(text[1:])
	case call.MatchString(text):
		o, err = c.function(text)
	default:
		o, err = c.literal(t, text)
	}
	if err != nil {
		return o, err
	}
	fits := o.isNumber()
	switch {
	case isText:
		fits = o.isText()
	case t.Kind == schema.Bool:
		fits = o.kind == boolOperand
	case t.Kind == schema.EnumKind:
		fits = o.kind == intOperand
	}
	if !fits {
		return o, fmt.Errorf("%s cannot be compared with %s", t, text)
	}
	return o, nil
}

// literal returns a constant for a value of type t.
func (c subject) literal(t *schema.Type, text string) (operand, error) {
	switch t.Kind {
	case schema.Bool:
		b, err := strconv.ParseBool(text)
		if err != nil {
			return operand{}, fmt.Errorf("%q is neither true nor false", text)
		}
		return operand{boolOperand, strconv.FormatBool(b), true}, nil
	case schema.I8, schema.I16, schema.I32, schema.I64:
		bits := map[schema.Kind]int{schema.I8: 8, schema.I16: 16, schema.I32: 32, schema.I64: 64}[t.Kind]
		n, err := strconv.ParseInt(text, 0, bits)
		if errors.Is(err, strconv.ErrRange) {
			return operand{}, fmt.Errorf("%s does not fit in %s", text, t)
		} else if err != nil {
			return operand{}, fmt.Errorf("%q is not an integer", text)
		}
		return operand{intOperand, strconv.FormatInt(n, 10), true}, nil
	case schema.Double:
		x, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
			return operand{}, fmt.Errorf("%q is not a number", text)
		}
		return operand{floatOperand, strconv.FormatFloat(x, 'g', -1, 64), true}, nil
	case schema.EnumKind:
		return c.enumLiteral(t.Enum, text)
	}
	return operand{textOperand, strconv.Quote(text), true}, nil
}

// enumLiteral returns the number of a value of an enum, which is written NAME, ENUM.NAME,
// file.ENUM.NAME or as a number.
func (c subject) enumLiteral(e *schema.Enum, text string) (operand, error) {
	if n, err := strconv.ParseInt(text, 0, 32); err == nil {
		return operand{intOperand, strconv.FormatInt(n, 10), true}, nil
	}
	dot := strings.LastIndexByte(text, '.')
	if dot >= 0 && !c.isEnum(e, text[:dot]) {
		return operand{}, fmt.Errorf("%s is not the enum %s", text[:dot], e.Name)
	}
	for _, v := range e.Values {
		if v.Name == text[dot+1:] {
			return operand{intOperand, strconv.Itoa(int(v.Value)), true}, nil
		}
	}
	return operand{}, fmt.Errorf("enum %s has no value %s", e.Name, text[dot+1:])
}

// isEnum reports whether a name in the file is that of an enum, or of a typedef of it.
func (c subject) isEnum(e *schema.Enum, name string) bool {
	in := []*schema.Program{c.p}
	if dot := strings.LastIndexByte(name, '.'); dot >= 0 {
		in = nil
		for _, i := range c.p.Includes {
			if i.Name == name[:dot] {
				in = append(in, i.Program)
			}
		}
		name = name[dot+1:]
	}
	for _, p := range in {
		if p == e.Program && name == e.Name {
			return true
		}
		for _, t := range p.Typedefs {
			if t.Name == name && t.Type != nil && t.Type.Enum == e {
				return true
			}
		}
	}
	return false
}

// reference returns the value of a field of the struct.
func (c subject) reference(name string) (operand, error) {
	f, get, err := c.getter(name)
	if err != nil {
		return operand{}, err
	}
	switch f.Type.Kind {
	case schema.Bool:
		return operand{kind: boolOperand, code: get}, nil
	case schema.I8, schema.I16, schema.I32, schema.EnumKind:
		return operand{kind: intOperand, code: "int64(" + get + ")"}, nil
	case schema.I64:
		return operand{kind: intOperand, code: get}, nil
	case schema.Double:
		return operand{kind: floatOperand, code: get}, nil
	case schema.String:
		return operand{kind: textOperand, code: get}, nil
	case schema.Binary:
		return operand{kind: bytesOperand, code: get}, nil
	}
	return operand{}, fmt.Errorf("$%s is a %s: only its @len can be used", name, f.Type)
}

// getter returns a field of the struct and the expression that reads it.
func (c subject) getter(name string) (*schema.Field, string, error) {
	for i, f := range c.s.Fields {
		if f.Name == name {
			return f, "s.Get" + c.names.Fields[i].Go + "()", nil
		}
	}
	return nil, "", fmt.Errorf("%s has no field %q", c.s.Name, name)
}

// maxCalls is how deep calls of functions may be nested.
const maxCalls = 20

// function returns the result of a function's call, which is all of text.
func (c subject) function(text string) (operand, error) {
	p := callParser{c: c, rest: text}
	o, err := p.call(0)
	if err == nil && p.rest != "" {
		err = fmt.Errorf("unexpected %q after the function", p.rest)
	}
	return o, err
}

// A callParser parses calls of functions.
type callParser struct {
	c    subject
	rest string
}

// argument is an argument of a function: an operand, or the name of a field.
type argument struct {
	operand
	field, literal string // the name of a field; a text in quotes
}

func (p *callParser) space() { p.rest = strings.TrimLeft(p.rest, " \t\r\n") }

// call parses "@name(arguments)".
func (p *callParser) call(depth int) (operand, error) {
	head := call.FindString(p.rest)
	switch {
	case head == "":
		return operand{}, fmt.Errorf("%q is not a function's call: expected @NAME(...)", p.rest)
	case depth > maxCalls:
		return operand{}, fmt.Errorf("functions are nested more than %d deep", maxCalls)
	}
	p.rest = p.rest[len(head):]
	name := strings.TrimRight(head[1:len(head)-1], " \t\r\n")
	var args []argument
	for p.space(); !strings.HasPrefix(p.rest, ")"); p.space() {
		if p.rest == "" {
			return operand{}, fmt.Errorf("@%s( has no )", name)
		}
		arg, err := p.argument(depth)
		if err != nil {
			return operand{}, err
		}
		args = append(args, arg)
		if p.space(); p.rest != "" && (p.rest[0] == ',' || p.rest[0] == ';') {
			p.rest = p.rest[1:]
		}
	}
	p.rest = p.rest[1:]
	o, err := p.c.apply(name, args)
	if err != nil {
		err = fmt.Errorf("@%s: %w", name, err)
	}
	return o, err
}

var (
	numberWord = regexp.MustCompile(`^[+-]?[0-9.][0-9A-Za-z.]*([eE][+-][0-9]+)?`)
	fieldWord  = regexp.MustCompile(`^\$[A-Za-z_][A-Za-z0-9_.]*`)
	quotedWord = regexp.MustCompile(`^(?s:"(\\["']|[^"])*"|'(\\["']|[^'])*')`)
)

// argument parses one argument.
func (p *callParser) argument(depth int) (argument, error) {
	take := func(word *regexp.Regexp) string {
		found := word.FindString(p.rest)
		p.rest = p.rest[len(found):]
		return found
	}
	if strings.HasPrefix(p.rest, "@") {
		o, err := p.call(depth + 1)
		return argument{operand: o}, err
	}
	if name := take(fieldWord); name != "" {
		o, err := p.c.reference(name[1:])
		if _, _, missing := p.c.getter(name[1:]); missing == nil {
			err = nil // what has no value may be asked for its length
		}
		return argument{operand: o, field: name[1:]}, err
	}
	if text := take(quotedWord); text != "" {
		text = strings.NewReplacer(`\"`, `"`, `\'`, `'`).Replace(text[1 : len(text)-1])
		return argument{operand: operand{textOperand, strconv.Quote(text), true}, literal: text}, nil
	}
	if number := take(numberWord); number != "" {
		o, err := p.c.literal(&schema.Type{Kind: schema.I64}, number)
		if err != nil {
			o, err = p.c.literal(&schema.Type{Kind: schema.Double}, number)
		}
		return argument{operand: o}, err
	}
	return argument{}, fmt.Errorf("unexpected %q: expected a number, a text in quotes, a $field or a @function", p.rest)
}

// apply returns the result of a function.
func (c subject) apply(name string, args []argument) (operand, error) {
	counts := map[string]int{"len": 1, "equal": 2, "mod": 2, "add": 2, "now_unix_nano": 0, "sprintf": len(args)}
	n, known := counts[name]
	switch {
	case !known:
		return operand{}, errors.New("there is no such function; there are add, equal, len, mod, now_unix_nano and sprintf, none of one's own")
	case n != len(args):
		return operand{}, fmt.Errorf("%d arguments were expected, not %d", n, len(args))
	}
	if name == "len" {
		return c.length(args[0])
	}
	for _, arg := range args {
		if arg.kind == noOperand {
			return operand{}, fmt.Errorf("of $%s only @len can be used", arg.field)
		}
	}
	switch name {
	case "now_unix_nano":
		return operand{kind: intOperand, code: "validate.UnixNano()"}, nil
	case "sprintf":
		return sprintf(args)
	case "mod":
		return remainder(args[0].operand, args[1].operand)
	case "equal":
		return equal(args[0].operand, args[1].operand)
	}
	return sum(args[0].operand, args[1].operand)
}

// remainder returns the remainder of a divided by b.
func remainder(a, b operand) (operand, error) {
	switch {
	case a.kind != intOperand || b.kind != intOperand:
		return operand{}, errors.New("two integers are needed")
	case b.constant && b.code == "0":
		return operand{}, errors.New("division by zero")
	}
	return operand{kind: intOperand, code: "validate.Mod(" + a.code + ", " + b.code + ")"}, nil
}

// equal returns whether a and b are equal.
func equal(a, b operand) (operand, error) {
	switch {
	case a.kind == intOperand && b.kind == floatOperand:
		return operand{kind: boolOperand, code: compared(a, "==", b)}, nil
	case a.kind == floatOperand && b.kind == intOperand:
		return operand{kind: boolOperand, code: compared(b, "==", a)}, nil
	case a.kind == boolOperand && b.kind == boolOperand:
	default:
		var err error
		if a, b, err = alike(a, b); err != nil {
			return operand{}, err
		}
	}
	return operand{kind: boolOperand, code: "(" + a.code + " == " + b.code + ")"}, nil
}

// sum returns the sum of two numbers, or one text after the other.
func sum(a, b operand) (operand, error) {
	a, b, err := alike(a, b)
	if err != nil {
		return operand{}, err
	}
	return operand{kind: a.kind, code: "validate.Sum(" + a.code + ", " + b.code + ")"}, nil
}

// alike returns two numbers or two texts as values of one Go type.
func alike(a, b operand) (operand, operand, error) {
	switch {
	case a.kind == intOperand && b.kind == intOperand:
		return a.typed(), b.typed(), nil
	case a.isNumber() && b.isNumber():
		return a.float(), b.float(), nil
	case a.isText() && b.isText():
		return a.asText(), b.asText(), nil
	}
	return a, b, errors.New("the arguments have different types")
}

// asText returns a text as a string.
func (o operand) asText() operand {
	if o.kind == bytesOperand {
		return operand{kind: textOperand, code: "string(" + o.code + ")"}
	}
	return operand{kind: o.kind, code: o.code}
}

// length returns the length of a field.
func (c subject) length(arg argument) (operand, error) {
	if arg.field == "" {
		return operand{}, errors.New("a field is needed, as in @len($a)")
	}
	f, get, err := c.getter(arg.field)
	if err != nil {
		return operand{}, err
	}
	switch f.Type.Kind {
	case schema.String, schema.Binary:
		return operand{kind: intOperand, code: "int64(len(" + get + "))"}, nil
	case schema.List, schema.SetKind, schema.Map:
		return operand{kind: intOperand, code: "int64(" + get + ".Len())"}, nil
	}
	return operand{}, fmt.Errorf("$%s is a %s, which has no length", arg.field, f.Type)
}

var verb = regexp.MustCompile(`(?s)%[-0]?[0-9]{0,3}(\.[0-9]{1,3})?(.?)`)

// sprintf returns a formatted text. The format must fit the arguments.
func sprintf(args []argument) (operand, error) {
	if len(args) == 0 || !args[0].constant || args[0].kind != textOperand {
		return operand{}, errors.New("the first argument must be a text in quotes")
	}
	allowed := map[operandKind]string{intOperand: "dvxXob", floatOperand: "fFeEgGv", textOperand: "svqxX", bytesOperand: "svqxX", boolOperand: "v"}
	rest := args[1:]
	code := "validate.Sprintf(" + args[0].code
	for _, m := range verb.FindAllStringSubmatch(args[0].literal, -1) {
		switch {
		case m[2] == "%":
			continue
		case len(rest) == 0:
			return operand{}, fmt.Errorf("%s has no argument", m[0])
		case m[2] == "" || !strings.Contains(allowed[rest[0].kind], m[2]):
			return operand{}, fmt.Errorf("%s does not fit its argument", m[0])
		}
		code += ", " + rest[0].typed().code
		rest = rest[1:]
	}
	if len(rest) > 0 {
		return operand{}, errors.New("there are more arguments than the format has room for")
	}
	return operand{kind: textOperand, code: code + ")"}, nil
}
