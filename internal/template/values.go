package template

import (
	"fmt"
	"reflect"
	"text/template/parse"
)

// builtins are functions that all templates may call.
var builtins = Functions{
	"and": func(first any, more ...any) any { return choose(false, first, more) },
	"or":  func(first any, more ...any) any { return choose(true, first, more) },
	"not": func(v any) bool { return !isTrue(valueOf(v)) },
	"eq": func(a any, others ...any) bool {
		for _, b := range others {
			if equal(valueOf(a), valueOf(b)) {
				return true
			}
		}
		return false
	},
	"printf": fmt.Sprintf,
}

// choose returns the first value whose truth is as asked, or else the last one.
func choose(truth bool, v any, more []any) any {
	for _, next := range more {
		if isTrue(valueOf(v)) == truth {
			break
		}
		v = next
	}
	return v
}

// equal reports whether two values are the same number or text, whichever types they have.
func equal(a, b reflect.Value) bool {
	switch {
	case a.CanInt() && b.CanInt():
		return a.Int() == b.Int()
	case a.Kind() == reflect.String && b.Kind() == reflect.String:
		return a.String() == b.String()
	}
	return a.IsValid() && b.IsValid() && a.Comparable() && a.Type() == b.Type() && a.Equal(b)
}

// isTrue reports whether a value is other than its type's zero, and not empty. Structs are true.
func isTrue(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Invalid:
		return false
	case reflect.Slice, reflect.Map, reflect.String, reflect.Array:
		return v.Len() > 0
	case reflect.Struct:
		return true
	}
	return !v.IsZero()
}

func valueOf(v any) reflect.Value { return inner(reflect.ValueOf(v)) }

// inner returns the value that an interface holds, and others unchanged.
func inner(v reflect.Value) reflect.Value {
	if v.Kind() == reflect.Interface {
		return v.Elem()
	}
	return v
}

// apply calls a function.
func (x *execution) apply(n parse.Node, name string, args []reflect.Value) reflect.Value {
	f := x.functions[name]
	if f == nil {
		f = builtins[name]
	}
	fn := reflect.ValueOf(f)
	t := fn.Type()
	fixed := t.NumIn()
	if t.IsVariadic() {
		fixed--
	}
	if len(args) < fixed || len(args) > fixed && !t.IsVariadic() {
		x.fail(n, "%s takes %d arguments, not %d", name, fixed, len(args))
	}
	for i, arg := range args {
		to := t.In(min(i, t.NumIn()-1))
		if i >= fixed {
			to = to.Elem()
		}
		v, ok := converted(arg, to)
		if !ok {
			x.fail(n, "argument %d of %s is not of type %s", i+1, name, to)
		}
		args[i] = v
	}
	results := fn.Call(args)
	if len(results) == 2 && !results[1].IsNil() {
		x.fail(n, "%s: %w", name, results[1].Interface())
	}
	return inner(results[0])
}

// converted returns v as a value of type t. Numbers become others if none of them changes.
func converted(v reflect.Value, t reflect.Type) (reflect.Value, bool) {
	if !v.IsValid() {
		return reflect.Zero(t), t.Kind() == reflect.Interface || t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map
	}
	if v.Type().AssignableTo(t) {
		return v, true
	}
	if !isNumber(v.Type()) || !isNumber(t) {
		return v, false
	}
	c := v.Convert(t)
	return c, c.Convert(v.Type()).Equal(v) && (!v.CanInt() || !c.CanUint() || v.Int() >= 0)
}

func isNumber(t reflect.Type) bool {
	return t.Kind() >= reflect.Int && t.Kind() <= reflect.Float64 && t.Kind() != reflect.Uintptr
}
