package template

import (
	"cmp"
	"fmt"
	"io"
	"reflect"
	"slices"
	"text/template/parse"
)

// maxDepth is how many templates may be called in each other.
const maxDepth = 1000

// An execution is one call of Execute.
type execution struct {
	*Set
	out       io.Writer
	tree      *parse.Tree // the one that is being executed
	variables []variable  // the innermost last
	depth     int
}

type variable struct {
	name  string
	value reflect.Value
}

// call executes a template. n is what calls it.
func (x *execution) call(n parse.Node, name string, dot reflect.Value) {
	tree := x.trees[name]
	if tree == nil {
		x.fail(n, "there is no template %q", name)
	}
	if x.depth++; x.depth > maxDepth {
		x.fail(n, "more than %d templates call each other", maxDepth)
	}
	outer, variables := x.tree, x.variables
	x.tree, x.variables = tree, []variable{{"$", dot}}
	x.walk(dot, tree.Root)
	x.tree, x.variables = outer, variables
	x.depth--
}

// walk executes a node.
func (x *execution) walk(dot reflect.Value, n parse.Node) {
	scope := len(x.variables)
	switch n := n.(type) {
	case *parse.ListNode:
		if n != nil {
			for _, n := range n.Nodes {
				x.walk(dot, n)
			}
		}
	case *parse.TextNode:
		x.write(n, n.Text)
	case *parse.CommentNode:
	case *parse.ActionNode:
		if v := x.pipe(dot, n.Pipe); len(n.Pipe.Decl) == 0 {
			x.print(n, v)
		}
	case *parse.IfNode:
		if isTrue(x.pipe(dot, n.Pipe)) {
			x.walk(dot, n.List)
		} else {
			x.walk(dot, n.ElseList)
		}
		x.leave(scope)
	case *parse.WithNode:
		if v := x.pipe(dot, n.Pipe); isTrue(v) {
			x.walk(v, n.List)
		} else {
			x.walk(dot, n.ElseList)
		}
		x.leave(scope)
	case *parse.RangeNode:
		x.repeat(dot, n)
		x.leave(scope)
	case *parse.TemplateNode:
		var v reflect.Value
		if n.Pipe != nil {
			v = x.pipe(dot, n.Pipe)
		}
		x.call(n, n.Name, v)
	default:
		x.fail(n, "%s can't be used here", n)
	}
}

// leave ends the scope that began with so many variables. It is not deferred: after a failure,
// variables can be those of another template.
func (x *execution) leave(n int) { x.variables = x.variables[:n] }

// repeat executes a range. Maps are in the order of their keys, which are texts.
func (x *execution) repeat(dot reflect.Value, n *parse.RangeNode) {
	over := x.pipe(dot, n.Pipe)
	scope := len(x.variables)
	once := func(key, elem reflect.Value) {
		// The pipe has declared its variables with the value of the whole.
		if decl := n.Pipe.Decl; len(decl) > 0 {
			x.set(decl[len(decl)-1], elem)
			if len(decl) > 1 {
				x.set(decl[0], key)
			}
		}
		x.walk(elem, n.List)
		x.leave(scope)
	}
	switch over.Kind() {
	case reflect.Slice, reflect.Array:
		for i := range over.Len() {
			once(reflect.ValueOf(i), inner(over.Index(i)))
		}
	case reflect.Map:
		keys := over.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return cmp.Compare(a.String(), b.String()) })
		for _, key := range keys {
			once(key, inner(over.MapIndex(key)))
		}
	case reflect.Invalid:
	default:
		x.fail(n, "range can't go through %s", over.Type())
	}
	if !over.IsValid() || over.Len() == 0 {
		x.walk(dot, n.ElseList)
	}
}

// pipe evaluates a pipeline and declares its variables.
func (x *execution) pipe(dot reflect.Value, pipe *parse.PipeNode) (v reflect.Value) {
	for i, c := range pipe.Cmds {
		v = x.command(dot, c, v, i > 0)
	}
	for _, d := range pipe.Decl {
		if pipe.IsAssign {
			x.set(d, v)
		} else {
			x.variables = append(x.variables, variable{d.Ident[0], v})
		}
	}
	return v
}

// set gives a variable another value.
func (x *execution) set(d *parse.VariableNode, v reflect.Value) {
	for i := len(x.variables) - 1; i >= 0; i-- {
		if x.variables[i].name == d.Ident[0] {
			x.variables[i].value = v
			return
		}
	}
	x.fail(d, "there is no variable %s", d.Ident[0])
}

// command evaluates a command. If hasLast is set, the value before it in the pipeline is the last
// argument.
func (x *execution) command(dot reflect.Value, c *parse.CommandNode, last reflect.Value, hasLast bool) reflect.Value {
	name, isCall := c.Args[0].(*parse.IdentifierNode)
	if !isCall {
		if len(c.Args) > 1 || hasLast {
			x.fail(c, "%s is no function", c.Args[0])
		}
		return x.value(dot, c.Args[0])
	}
	var args []reflect.Value
	for _, n := range c.Args[1:] {
		args = append(args, x.value(dot, n))
	}
	if hasLast {
		args = append(args, last)
	}
	return x.apply(c, name.Ident, args)
}

// value evaluates an operand.
func (x *execution) value(dot reflect.Value, n parse.Node) reflect.Value {
	switch n := n.(type) {
	case *parse.DotNode:
		return dot
	case *parse.NilNode:
		return reflect.Value{}
	case *parse.BoolNode:
		return reflect.ValueOf(n.True)
	case *parse.StringNode:
		return reflect.ValueOf(n.Text)
	case *parse.NumberNode:
		switch {
		case n.IsInt:
			return reflect.ValueOf(n.Int64)
		case n.IsUint:
			return reflect.ValueOf(n.Uint64)
		case n.IsFloat:
			return reflect.ValueOf(n.Float64)
		}
	case *parse.FieldNode:
		return x.fields(n, dot, n.Ident)
	case *parse.ChainNode:
		return x.fields(n, x.value(dot, n.Node), n.Field)
	case *parse.VariableNode:
		for i := len(x.variables) - 1; i >= 0; i-- {
			if x.variables[i].name == n.Ident[0] {
				return x.fields(n, x.variables[i].value, n.Ident[1:])
			}
		}
	case *parse.PipeNode:
		scope := len(x.variables)
		v := x.pipe(dot, n)
		x.leave(scope)
		return v
	case *parse.IdentifierNode:
		return x.apply(n, n.Ident, nil)
	}
	x.fail(n, "%s can't be used here", n)
	return reflect.Value{}
}

// fields returns v.names[0].names[1] and so on.
func (x *execution) fields(n parse.Node, v reflect.Value, names []string) reflect.Value {
	for _, name := range names {
		of := v
		if v.Kind() == reflect.Pointer {
			v = v.Elem()
		}
		if v.Kind() == reflect.Struct {
			v = v.FieldByName(name)
		} else {
			v = reflect.Value{}
		}
		if !v.IsValid() || !v.CanInterface() {
			kind := "nil"
			if of.IsValid() {
				kind = of.Type().String()
			}
			x.fail(n, "there is no field %s in %s", name, kind)
		}
		v = inner(v)
	}
	return v
}

// print writes a value.
func (x *execution) print(n parse.Node, v reflect.Value) {
	text := "<no value>"
	if v.IsValid() {
		text = fmt.Sprint(v.Interface())
	}
	if x.escape != nil {
		text = x.escape(text)
	}
	x.write(n, []byte(text))
}

func (x *execution) write(n parse.Node, text []byte) {
	if _, err := x.out.Write(text); err != nil {
		x.fail(n, "%w", err)
	}
}

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
