package rules

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/nocopythrift/nocopythrift/gen/golang/internal/names"
	"github.com/nocopythrift/nocopythrift/gen/schema"
	"github.com/nocopythrift/nocopythrift/internal/ruleexpr"
)

// An operand is a Go expression that a value is compared with. A constant has no type yet.
type operand struct {
	kind     ruleexpr.Kind
	code     string
	constant bool
}

// float returns a number as a float64.
func (o operand) float() operand {
	if o.kind == ruleexpr.Float && !o.constant {
		return o
	}
	return operand{kind: ruleexpr.Float, code: "float64(" + o.code + ")"}
}

// typed returns the operand with its Go type.
func (o operand) typed() operand {
	switch {
	case o.constant && o.kind == ruleexpr.Int:
		return operand{kind: o.kind, code: "int64(" + o.code + ")"}
	case o.constant && o.kind == ruleexpr.Float:
		return operand{kind: o.kind, code: "float64(" + o.code + ")"}
	}
	return o
}

// compared returns the condition that an int64 compares with a float64 by their exact values.
func compared(i operand, op string, f operand) string {
	return "validate.Compare(" + i.code + ", " + strconv.Quote(op) + ", " + f.code + ")"
}

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
	case ruleexpr.IsCall(text):
		o, err = c.function(text)
	default:
		o, err = c.literal(t, text)
	}
	if err != nil {
		return o, err
	}
	fits := o.kind.IsNumber()
	switch {
	case isText:
		fits = o.kind.IsText()
	case t.Kind == schema.Bool:
		fits = o.kind == ruleexpr.Bool
	case t.Kind == schema.EnumKind:
		fits = o.kind == ruleexpr.Int
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
		return operand{ruleexpr.Bool, strconv.FormatBool(b), true}, nil
	case schema.I8, schema.I16, schema.I32, schema.I64:
		bits := map[schema.Kind]int{schema.I8: 8, schema.I16: 16, schema.I32: 32, schema.I64: 64}[t.Kind]
		n, err := strconv.ParseInt(text, 0, bits)
		if errors.Is(err, strconv.ErrRange) {
			return operand{}, fmt.Errorf("%s does not fit in %s", text, t)
		} else if err != nil {
			return operand{}, fmt.Errorf("%q is not an integer", text)
		}
		return operand{ruleexpr.Int, strconv.FormatInt(n, 10), true}, nil
	case schema.Double:
		x, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
			return operand{}, fmt.Errorf("%q is not a number", text)
		}
		return operand{ruleexpr.Float, strconv.FormatFloat(x, 'g', -1, 64), true}, nil
	case schema.EnumKind:
		return c.enumLiteral(t.Enum, text)
	}
	return operand{ruleexpr.Text, strconv.Quote(text), true}, nil
}

// enumLiteral returns the number of a value of an enum, which is written NAME, ENUM.NAME,
// file.ENUM.NAME or as a number.
func (c subject) enumLiteral(e *schema.Enum, text string) (operand, error) {
	if n, err := strconv.ParseInt(text, 0, 32); err == nil {
		return operand{ruleexpr.Int, strconv.FormatInt(n, 10), true}, nil
	}
	dot := strings.LastIndexByte(text, '.')
	if dot >= 0 && !c.isEnum(e, text[:dot]) {
		return operand{}, fmt.Errorf("%s is not the enum %s", text[:dot], e.Name)
	}
	for _, v := range e.Values {
		if v.Name == text[dot+1:] {
			return operand{ruleexpr.Int, strconv.Itoa(int(v.Value)), true}, nil
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
		return operand{kind: ruleexpr.Bool, code: get}, nil
	case schema.I8, schema.I16, schema.I32, schema.EnumKind:
		return operand{kind: ruleexpr.Int, code: "int64(" + get + ")"}, nil
	case schema.I64:
		return operand{kind: ruleexpr.Int, code: get}, nil
	case schema.Double:
		return operand{kind: ruleexpr.Float, code: get}, nil
	case schema.String:
		return operand{kind: ruleexpr.Text, code: get}, nil
	case schema.Binary:
		return operand{kind: ruleexpr.Bytes, code: get}, nil
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

// function returns the result of a function's call, which is all of text.
func (c subject) function(text string) (operand, error) {
	arg, err := ruleexpr.Parse[argument](text, c)
	return arg.operand, err
}

// argument is an argument of a function: an operand, or the name of a field.
type argument struct {
	operand
	field, literal string // the name of a field; a text in quotes
}

// Field returns a field. One that has no value may be asked for its length.
func (c subject) Field(name string) (argument, error) {
	if _, _, err := c.getter(name); err != nil {
		return argument{}, err
	}
	o, _ := c.reference(name)
	return argument{operand: o, field: name}, nil
}

// Text returns a text that stands in quotes.
func (c subject) Text(text string) argument {
	return argument{operand: operand{ruleexpr.Text, strconv.Quote(text), true}, literal: text}
}

// Number returns a number.
func (c subject) Number(text string) (argument, error) {
	o, err := c.literal(&schema.Type{Kind: schema.I64}, text)
	if err != nil {
		o, err = c.literal(&schema.Type{Kind: schema.Double}, text)
	}
	return argument{operand: o}, err
}

// Apply returns the result of a function.
func (c subject) Apply(name string, args []argument) (argument, error) {
	kinds, fields := make([]ruleexpr.Kind, len(args)), make([]string, len(args))
	for i, arg := range args {
		kinds[i], fields[i] = arg.kind, arg.field
	}
	kind, err := ruleexpr.Result(name, kinds, fields)
	if err != nil {
		return argument{}, err
	}
	code := "validate.UnixNano()"
	switch name {
	case "len":
		code, err = c.length(args[0])
	case "sprintf":
		code, err = sprintf(args, kinds)
	case "mod":
		if b := args[1]; b.constant && b.code == "0" {
			err = errors.New("division by zero")
		}
		code = "validate.Mod(" + args[0].code + ", " + args[1].code + ")"
	case "equal":
		code = equal(args[0].operand, args[1].operand)
	case "add":
		a, b := alike(args[0].operand, args[1].operand)
		code = "validate.Sum(" + a.code + ", " + b.code + ")"
	}
	return argument{operand: operand{kind: kind, code: code}}, err
}

// equal returns whether a and b are equal.
func equal(a, b operand) string {
	switch {
	case a.kind == ruleexpr.Int && b.kind == ruleexpr.Float:
		return compared(a, "==", b)
	case a.kind == ruleexpr.Float && b.kind == ruleexpr.Int:
		return compared(b, "==", a)
	case a.kind != ruleexpr.Bool:
		a, b = alike(a, b)
	}
	return "(" + a.code + " == " + b.code + ")"
}

// alike returns two numbers or two texts as values of one Go type.
func alike(a, b operand) (operand, operand) {
	switch {
	case a.kind.IsText():
		return a.asText(), b.asText()
	case a.kind == ruleexpr.Int && b.kind == ruleexpr.Int:
		return a.typed(), b.typed()
	}
	return a.float(), b.float()
}

// asText returns a text as a string.
func (o operand) asText() operand {
	if o.kind == ruleexpr.Bytes {
		return operand{kind: ruleexpr.Text, code: "string(" + o.code + ")"}
	}
	return operand{kind: o.kind, code: o.code}
}

// length returns the length of a field.
func (c subject) length(arg argument) (string, error) {
	f, get, err := c.getter(arg.field)
	if err != nil {
		return "", err
	}
	switch f.Type.Kind {
	case schema.String, schema.Binary:
		return "int64(len(" + get + "))", nil
	case schema.List, schema.SetKind, schema.Map:
		return "int64(" + get + ".Len())", nil
	}
	return "", fmt.Errorf("$%s is a %s, which has no length", arg.field, f.Type)
}

// sprintf returns a formatted text. The format must fit the arguments.
func sprintf(args []argument, kinds []ruleexpr.Kind) (string, error) {
	if len(args) == 0 || !args[0].constant || args[0].kind != ruleexpr.Text {
		return "", errors.New("the first argument must be a text in quotes")
	}
	if err := ruleexpr.CheckFormat(args[0].literal, kinds[1:]); err != nil {
		return "", err
	}
	code := "validate.Sprintf(" + args[0].code
	for _, arg := range args[1:] {
		code += ", " + arg.typed().code
	}
	return code + ")", nil
}
