package dynamic

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/nocopythrift/nocopythrift/nocopy/descriptor"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/impl"
	"github.com/nocopythrift/nocopythrift/nocopy/reflection"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// Schema holds the definitions of .thrift files. It is immutable. Any number of goroutines may use
// it. The garbage collector frees it when nothing refers to it, except for its types, which stay.
//
// Its methods find definitions by name. "order.Line" is Line of a file order.thrift. "Line" is the
// one in a file that was passed to Load, or, if these have none, in an included file. The errors
// wrap descriptor.ErrNotFound. A name that several files define is also an error.
type Schema struct {
	files []*file
}

// file holds the definitions of one .thrift file.
type file struct {
	path     string // the path from which it was loaded
	prefix   string // prefix of names: the file's name and a dot
	root     bool   // it was passed to Load
	structs  []*thriftimpl.Desc
	enums    []*thriftimpl.Enum
	consts   []thriftimpl.ConstDesc
	services []*service
}

type service struct {
	thriftimpl.Service
	base  *service // the extended service, or nil
	calls []*rpc.Method
	index map[string]int // of calls and Methods, by name
}

// schema makes the Schema from the types that were made. The caller holds the lock on interned.
func (b *builder) schema() (*Schema, error) {
	s := &Schema{}
	services := map[any]*service{}
	for _, p := range b.set.Programs {
		f := &file{path: strings.Clone(p.Path), prefix: strings.Clone(p.Name) + ".", root: slices.Contains(b.set.Roots, p)}
		s.files = append(s.files, f)
		for _, x := range p.Structs {
			f.structs = append(f.structs, b.structs[x])
		}
		for _, x := range p.Enums {
			e, err := b.enum(x)
			if err != nil {
				return nil, err
			}
			f.enums = append(f.enums, e)
		}
		for _, x := range p.Consts {
			t, err := b.typ(x.Type, x.Pos)
			if err != nil {
				return nil, err
			}
			f.consts = append(f.consts, thriftimpl.ConstDesc{Name: strings.Clone(x.Name), Type: t, Wire: x.Value.Wire, Info: infoOf(x.Doc, nil)})
		}
		for _, x := range p.Services {
			made := &service{Service: thriftimpl.Service{Name: strings.Clone(x.Name), Info: infoOf(x.Doc, x.Annotations)}, index: map[string]int{}}
			services[x] = made
			for _, fn := range x.Functions {
				m, err := b.method(x, fn)
				if err != nil {
					return nil, err
				}
				made.index[m.Name] = len(made.calls)
				made.calls = append(made.calls, m)
				made.Methods = append(made.Methods, thriftimpl.Method{Name: m.Name, Args: m.Args, Result: m.Result, Info: infoOf(fn.Doc, fn.Annotations)})
			}
			f.services = append(f.services, made)
		}
	}
	for _, p := range b.set.Programs {
		for _, x := range p.Services {
			if base := x.Extends; base != nil {
				services[x].base, services[x].Extends = services[base], base.Program.Name+"."+base.Name
			}
		}
	}
	return s, nil
}

// find returns the X with a name. all returns the Xs of a file, and named the name of an X in its
// file. what is the kind of X, for errors.
func find[X any](s *Schema, what, name string, all func(*file) []X, named func(X) string) (found X, err error) {
	var none X
	for _, root := range []bool{true, false} {
		in := []string{}
		for _, f := range s.files {
			for _, x := range all(f) {
				if n := named(x); name == n && f.root == root || root && name == f.prefix+n {
					found, in = x, append(in, f.path)
				}
			}
		}
		switch len(in) {
		case 0:
			continue
		case 1:
			return found, nil
		}
		return none, fmt.Errorf("%s %s is defined by several files: %s", what, name, strings.Join(in, ", "))
	}
	return none, fmt.Errorf("%s %s: %w", what, name, descriptor.ErrNotFound)
}

// each iterates over the Xs that all returns for the files, in the order of Structs, with their
// full names.
func each[X, Y any](s *Schema, all func(*file) []X, named func(X) string, as func(X) Y) iter.Seq2[string, Y] {
	return func(yield func(string, Y) bool) {
		for _, f := range s.files {
			for _, x := range all(f) {
				if !yield(f.prefix+named(x), as(x)) {
					return
				}
			}
		}
	}
}

func structsOf(f *file) []*thriftimpl.Desc       { return f.structs }
func enumsOf(f *file) []*thriftimpl.Enum         { return f.enums }
func constsOf(f *file) []*thriftimpl.ConstDesc   { return pointers(f.consts) }
func servicesOf(f *file) []*service              { return f.services }
func nameOfConst(c *thriftimpl.ConstDesc) string { return c.Name }
func nameOfService(s *service) string            { return s.Name }

func pointers[X any](list []X) []*X {
	all := make([]*X, len(list))
	for i := range list {
		all[i] = &list[i]
	}
	return all
}

// Struct returns the struct, union or exception with this name.
func (s *Schema) Struct(name string) (Type, error) {
	d, err := find(s, "struct", name, structsOf, (*thriftimpl.Desc).Name)
	return typeOf(d), err
}

// Structs iterates over all structs, unions and exceptions: their names, with their files, and
// their descriptions. They come file by file, included files first, and in the order of each file.
func (s *Schema) Structs() iter.Seq2[string, Type] {
	return each(s, structsOf, (*thriftimpl.Desc).Name, typeOf)
}

// Enum returns the enum with this name.
func (s *Schema) Enum(name string) (descriptor.Enum, error) {
	e, err := find(s, "enum", name, enumsOf, (*thriftimpl.Enum).TypeName)
	return descriptor.EnumOf(e), err
}

// Enums iterates over all enums, as Structs does.
func (s *Schema) Enums() iter.Seq2[string, descriptor.Enum] {
	return each(s, enumsOf, (*thriftimpl.Enum).TypeName, descriptor.EnumOf)
}

// Const returns the constant with this name.
func (s *Schema) Const(name string) (Const, error) {
	c, err := find(s, "const", name, constsOf, nameOfConst)
	return Const{descriptor.ConstOf(c)}, err
}

// Consts iterates over all constants, as Structs does.
func (s *Schema) Consts() iter.Seq2[string, Const] {
	return each(s, constsOf, nameOfConst, func(c *thriftimpl.ConstDesc) Const { return Const{descriptor.ConstOf(c)} })
}

// Service returns the service with this name.
func (s *Schema) Service(name string) (Service, error) {
	found, err := find(s, "service", name, servicesOf, nameOfService)
	return serviceOf(found), err
}

// Services iterates over all services, as Structs does.
func (s *Schema) Services() iter.Seq2[string, Service] {
	return each(s, servicesOf, nameOfService, serviceOf)
}

// Const is a constant with its description.
type Const struct{ descriptor.Const }

// Value returns the constant's value, which can't be changed.
func (c Const) Value() reflection.Value {
	if !c.Valid() {
		return reflection.Value{}
	}
	t, wire := c.Type().Desc(), c.Wire()
	if isHandle(t) {
		return reflection.ValueOf(impl.ValueOfStruct(t, thriftimpl.NewConst(t, wire).View()))
	}
	return reflection.ValueOf(impl.ValueOf(t, wire))
}
