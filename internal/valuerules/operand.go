package valuerules

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/nocopythrift/nocopythrift/internal/ruleexpr"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/descriptor"
	"github.com/nocopythrift/nocopythrift/nocopy/reflection"
	"github.com/nocopythrift/nocopythrift/nocopy/validate"
)

// scalar is a number, text or bool, whose kind is known.
type scalar struct {
	i int64
	f float64
	s string
	b bool
}

// operand is what a value is compared with.
type operand struct {
	kind  ruleexpr.Kind
	value func(c *check) scalar

	field   string // its name, if it is a field
	literal bool   // it is a text in quotes, whose value is quoted
	quoted  string
}

func constant(kind ruleexpr.Kind, v scalar) operand {
	return operand{kind: kind, value: func(*check) scalar { return v }}
}

// kindOf returns the kind of values of a type.
func kindOf(t descriptor.Type) ruleexpr.Kind {
	switch t.WireType() {
	case nocopy.WireBool:
		return ruleexpr.Bool
	case nocopy.WireI8, nocopy.WireI16, nocopy.WireI32, nocopy.WireI64:
		return ruleexpr.Int
	case nocopy.WireDouble:
		return ruleexpr.Float
	case nocopy.WireString:
		if t.IsBinary() {
			return ruleexpr.Bytes
		}
		return ruleexpr.Text
	}
	return ruleexpr.None
}

// scalarOf returns a value of a kind.
func scalarOf(kind ruleexpr.Kind, v reflection.Value) scalar {
	switch kind {
	case ruleexpr.Bool:
		return scalar{b: v.Bool()}
	case ruleexpr.Int:
		return scalar{i: v.Int()}
	case ruleexpr.Float:
		return scalar{f: v.Float()}
	}
	return scalar{s: v.Text()}
}

// subject is the struct whose fields an expression may name.
type subject struct{ descriptor.Struct }

// operand returns what values of type t are compared with.
func (s subject) operand(t descriptor.Type, text string) (operand, error) {
	return s.operandOf(kindOf(t), t.Enum(), text)
}

// operandOf returns what values of a kind are compared with, which may be those of an enum.
func (s subject) operandOf(kind ruleexpr.Kind, enum descriptor.Enum, text string) (o operand, err error) {
	switch {
	case strings.HasPrefix(text, "$"):
		o, err = s.Field(text[1:])
	case ruleexpr.IsCall(text):
		o, err = ruleexpr.Parse[operand](text, s)
	default:
		o, err = literal(kind, enum, text)
	}
	if err != nil {
		return o, err
	}
	fits := kind.IsText() && o.kind.IsText() || kind == o.kind || kind.IsNumber() && o.kind.IsNumber() && !enum.Valid()
	if !fits || kind == ruleexpr.None {
		return o, fmt.Errorf("the value can't be compared with %s", text)
	}
	return o, nil
}

// literal returns a constant for values of a kind, which may be those of an enum.
func literal(kind ruleexpr.Kind, enum descriptor.Enum, text string) (operand, error) {
	switch kind {
	case ruleexpr.Bool:
		b, err := strconv.ParseBool(text)
		return constant(kind, scalar{b: b}), err
	case ruleexpr.Int:
		n, err := strconv.ParseInt(text, 0, 64)
		if err != nil && enum.Valid() {
			v, ok := enum.ByName(text[strings.LastIndexByte(text, '.')+1:])
			if !ok {
				return operand{}, fmt.Errorf("enum %s has no value %s", enum.Name(), text)
			}
			n, err = int64(v.Number()), nil
		}
		return constant(kind, scalar{i: n}), err
	case ruleexpr.Float:
		x, err := strconv.ParseFloat(text, 64)
		if err == nil && (math.IsNaN(x) || math.IsInf(x, 0)) {
			err = fmt.Errorf("%q is not a number", text)
		}
		return constant(kind, scalar{f: x}), err
	}
	return constant(ruleexpr.Text, scalar{s: text}), nil
}

// Field returns a field. One that has no value may be asked for its length.
func (s subject) Field(name string) (operand, error) {
	f, ok := s.ByName(name)
	if !ok {
		return operand{}, fmt.Errorf("%s has no field %q", s.Name(), name)
	}
	kind := kindOf(f.Type())
	return operand{kind: kind, field: name, value: func(c *check) scalar {
		v, _ := c.in.GetByID(f.ID())
		return scalarOf(kind, v)
	}}, nil
}

// Text returns a text that stands in quotes.
func (s subject) Text(text string) operand {
	o := constant(ruleexpr.Text, scalar{s: text})
	o.literal, o.quoted = true, text
	return o
}

// Number returns a number.
func (s subject) Number(text string) (operand, error) {
	if n, err := strconv.ParseInt(text, 0, 64); err == nil {
		return constant(ruleexpr.Int, scalar{i: n}), nil
	}
	x, err := strconv.ParseFloat(text, 64)
	return constant(ruleexpr.Float, scalar{f: x}), err
}

// Apply returns the result of a function.
func (s subject) Apply(name string, args []operand) (operand, error) {
	kinds, fields := make([]ruleexpr.Kind, len(args)), make([]string, len(args))
	for i, arg := range args {
		kinds[i], fields[i] = arg.kind, arg.field
	}
	kind, err := ruleexpr.Result(name, kinds, fields)
	if err != nil {
		return operand{}, err
	}
	o := operand{kind: kind}
	switch name {
	case "len":
		o.value, err = s.length(fields[0])
	case "now_unix_nano":
		o.value = func(*check) scalar { return scalar{i: validate.UnixNano()} }
	case "mod":
		o.value = func(c *check) scalar { return scalar{i: validate.Mod(args[0].value(c).i, args[1].value(c).i)} }
	case "equal":
		o.value = func(c *check) scalar { return scalar{b: args[0].compare(c, "==", args[1])} }
	case "add":
		o.value = func(c *check) scalar { return add(c, kind, args[0], args[1]) }
	case "sprintf":
		if len(args) == 0 || !args[0].literal {
			return o, errors.New("the first argument must be a text in quotes")
		}
		err = ruleexpr.CheckFormat(args[0].quoted, kinds[1:])
		o.value = func(c *check) scalar { return sprintf(c, args[0].quoted, args[1:]) }
	}
	return o, err
}

// length returns the length of a field.
func (s subject) length(field string) (func(c *check) scalar, error) {
	f, _ := s.ByName(field)
	var size func(v reflection.Value) int
	switch f.Type().WireType() {
	case nocopy.WireString:
		size = func(v reflection.Value) int { return len(v.Text()) }
	case nocopy.WireList, nocopy.WireSet:
		size = func(v reflection.Value) int { return v.List().Len() }
	case nocopy.WireMap:
		size = func(v reflection.Value) int { return v.Map().Len() }
	default:
		return nil, fmt.Errorf("$%s is a %s, which has no length", field, f.Type())
	}
	return func(c *check) scalar {
		v, _ := c.in.GetByID(f.ID())
		return scalar{i: int64(size(v))}
	}, nil
}

// compare reports whether o op with holds. op is that of validate.Compare.
func (o operand) compare(c *check, op string, with operand) bool {
	a, b := o.value(c), with.value(c)
	switch {
	case o.kind == ruleexpr.Bool:
		return ordered(op, 0, 0) == (a.b == b.b)
	case o.kind.IsText():
		c.step((len(a.s) + len(b.s)) / charactersPerStep)
		return ordered(op, strings.Compare(a.s, b.s), 0)
	case o.kind == ruleexpr.Int && with.kind == ruleexpr.Int:
		return ordered(op, a.i, b.i)
	case o.kind == ruleexpr.Float && with.kind == ruleexpr.Float:
		return ordered(op, a.f, b.f)
	case o.kind == ruleexpr.Int:
		return validate.Compare(a.i, op, b.f)
	}
	return validate.Compare(b.i, reversed[op], a.f)
}

// reversed are the comparisons whose sides are exchanged.
var reversed = map[string]string{"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}

// ordered reports whether a op b holds.
func ordered[T int | int64 | float64](op string, a, b T) bool {
	switch op {
	case "==":
		return a == b
	case "!=":
		return a != b
	case "<":
		return a < b
	case "<=":
		return a <= b
	case ">":
		return a > b
	}
	return a >= b
}

// add returns the sum of two numbers, or one text after the other.
func add(c *check, kind ruleexpr.Kind, a, b operand) scalar {
	x, y := a.value(c), b.value(c)
	switch kind {
	case ruleexpr.Int:
		return scalar{i: x.i + y.i}
	case ruleexpr.Float:
		return scalar{f: a.float(x) + b.float(y)}
	}
	if !c.mayAllocate(len(x.s) + len(y.s)) {
		return scalar{}
	}
	return scalar{s: x.s + y.s}
}

// float returns a number of the operand's kind as a float64.
func (o operand) float(v scalar) float64 {
	if o.kind == ruleexpr.Int {
		return float64(v.i)
	}
	return v.f
}

// sprintf returns a formatted text.
func sprintf(c *check, format string, args []operand) scalar {
	values, size := make([]any, len(args)), 0
	for i, arg := range args {
		v := arg.value(c)
		switch arg.kind {
		case ruleexpr.Int:
			values[i] = v.i
		case ruleexpr.Float:
			values[i] = v.f
		case ruleexpr.Bool:
			values[i] = v.b
		default:
			values[i], size = v.s, size+len(v.s)
		}
	}
	if !c.mayAllocate(size) {
		return scalar{}
	}
	return scalar{s: fmt.Sprintf(format, values...)}
}
