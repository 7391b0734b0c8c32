package schema

import (
	"slices"
	"strings"

	"github.com/nocopythrift/nocopythrift/gen/idl"
)

// reference returns the value of type t that v names: a constant or a value of an enum. If there
// is none, it adds an error and returns nil.
func (c *checker) reference(in evalContext, t *Type, v *idl.Value) *Value {
	e, enum, k, broken := c.findValue(in.program, *v.Ref, v.Pos)
	if k != nil {
		return c.constReference(in, t, v, k)
	}
	if t.Kind == EnumKind && t.Enum != enum {
		if val := c.lastPartValue(in, t, v); val != nil {
			return val
		}
	}
	switch {
	case e != nil:
		return c.enumReference(in, t, v, e, enum)
	case broken:
	case enum != nil:
		c.errs.Add(in.errorPos(v), "enum %s has no value %s", enum.Name, (*v.Ref)[strings.LastIndexByte(*v.Ref, '.')+1:])
	case t.Kind == EnumKind && t.Enum.value(*v.Ref) != nil:
		c.errs.Add(in.errorPos(v), "unknown constant %s; a value of an enum is written %s.%s", *v.Ref, t.nameIn(v.Pos), *v.Ref)
	default:
		c.errs.Add(in.errorPos(v), "unknown constant %s%s", *v.Ref, c.unknownBefore(in.program, *v.Ref))
	}
	return nil
}

// unknownBefore returns the end of a message about an unknown constant: that what is before the
// last dot is unknown, if that is the reason.
func (c *checker) unknownBefore(p *Program, name string) string {
	dot := strings.LastIndexByte(name, '.')
	if dot < 0 || includes(p, name[:dot]) {
		return ""
	}
	if strings.Contains(name[:dot], ".") {
		return notIncluded(p, name[:dot])
	}
	return ": there is no enum " + name[:dot] + ", and no file " + name[:dot] + ".thrift is included"
}

// lastPartValue returns the value NAME of enum t for a name like Other.NAME or file.NAME, with a
// warning, or nil. Apache's compiler looks only at the last part of a name, and existing files
// rely on it.
func (c *checker) lastPartValue(in evalContext, t *Type, v *idl.Value) *Value {
	dot := strings.LastIndexByte(*v.Ref, '.')
	e := t.Enum.value((*v.Ref)[dot+1:])
	if dot < 0 || e == nil {
		return nil
	}
	at := in.errorPos(v)
	c.set.Warnings.Add(at, "%s is taken for %s.%s", *v.Ref, t.nameIn(at), e.Name)
	return &Value{Type: t, Int: int64(e.Value)}
}

// enumReference returns the enum value e, which v names, as a value of type t. If it does not fit,
// it adds an error and returns nil.
func (c *checker) enumReference(in evalContext, t *Type, v *idl.Value, e *EnumValue, enum *Enum) *Value {
	switch t.Kind {
	case EnumKind:
		if t.Enum != enum {
			c.errs.Add(in.errorPos(v), "%s is not a value of enum %s", *v.Ref, t.nameIn(in.errorPos(v)))
			return nil
		}
		return &Value{Type: t, Int: int64(e.Value)}
	case Bool, I8, I16, I32, I64, Double:
		n := idl.Int(e.Value)
		return c.evalScalar(in, t, &idl.Value{Pos: v.Pos, Int: &n})
	}
	return c.mismatch(in, t, v)
}

// constReference returns the constant k, which v names, as a value of type t. If it does not fit,
// it adds an error and returns nil.
func (c *checker) constReference(in evalContext, t *Type, v *idl.Value, k *Const) *Value {
	if k.state == underway {
		c.errs.Add(in.errorPos(v), "constant %s refers to itself", k.Name)
		return nil
	}
	val := c.constant(k)
	if val == nil {
		return nil // the error was added where the constant is defined
	}
	if sameType(k.Type, t) {
		return val
	}
	at := in.errorPos(v)
	return c.eval(evalContext{k.Program, &at}, t, k.ast.Value)
}

// findValue looks up a name in a constant value. "A" is a constant of the file, "a.B" a constant
// of an included file or a value of an enum (or of a typedef of one), "a.B.C" a value of an
// included file's enum. If only enum is set, the enum has no such value. broken reports that the
// name may be defined in text that did not parse.
func (c *checker) findValue(p *Program, name string, pos idl.Position) (e *EnumValue, enum *Enum, k *Const, broken bool) {
	if k = p.consts[name]; k != nil {
		return nil, nil, k, false
	}
	dot := strings.LastIndexByte(name, '.')
	if dot < 0 {
		return nil, nil, nil, p.AST.Broken[name]
	}
	left, last := name[:dot], name[dot+1:]
	n, broken := c.lookup(p, left, pos)
	if n != nil && n.enum != nil {
		enum = n.enum
	}
	if n != nil && n.typedef != nil {
		if t := c.typedef(n.typedef); t != nil && t.Kind == EnumKind {
			enum = t.Enum
		}
	}
	if enum != nil {
		if e = enum.value(last); e != nil {
			return e, enum, nil, false
		}
	}
	broken = broken || p.AST.Broken[left+"."]
	for _, q := range p.Includes {
		if q.Name == left {
			broken = broken || q.AST.Broken[last]
			if k = q.consts[last]; k != nil {
				return nil, nil, k, false
			}
		}
	}
	return nil, enum, nil, broken
}

// value returns the value with a name, or nil.
func (e *Enum) value(name string) *EnumValue {
	if e.byName == nil {
		e.byName = map[string]*EnumValue{}
		for _, v := range slices.Backward(e.Values) { // the first of a name counts
			e.byName[v.Name] = v
		}
	}
	return e.byName[name]
}

// has reports whether a value of the enum has the number n.
func (e *Enum) has(n int64) bool {
	if e.numbers == nil {
		e.numbers = map[int64]bool{}
		for _, v := range e.Values {
			e.numbers[int64(v.Value)] = true
		}
	}
	return e.numbers[n]
}
