package golang

import (
	"fmt"
	"slices"

	"github.com/nocopythrift/nocopythrift/gen/schema"
)

type serviceView struct {
	Doc, IDLName                             string
	Handler, NewProcessor, Client, NewClient string
	Base                                     *baseView // nil without
	Methods                                  []methodView
}

// baseView is how the service that another extends is called from there.
type baseView struct{ Handler, NewProcessor, Client, NewClient, Field string }

type methodView struct {
	Doc, IDLName string
	methodNames
	Args, ArgsDesc     string
	Result, ResultDesc string // "" of a oneway method
	Success            string // the constant of the result's field 0, "" of a void method
	Throws             []throwsView
}

// throwsView is a declared exception: its type and the constant of its field in the result.
type throwsView struct{ Type, Desc, Const string }

func (f *file) serviceView(s *schema.Service) serviceView {
	n := f.pkg.names.services[s]
	view := serviceView{
		Doc: withDeprecation(s.Doc, s.Annotations), IDLName: s.Name,
		Handler: n.Handler, NewProcessor: n.NewProcessor, Client: n.Client, NewClient: n.NewClient,
	}
	if base := s.Extends; base != nil {
		bn := f.g.of[base.Program].names.services[base]
		view.Base = &baseView{
			f.qualify(base.Program, bn.Handler), f.qualify(base.Program, bn.NewProcessor),
			f.qualify(base.Program, bn.Client), f.qualify(base.Program, bn.NewClient), bn.Client,
		}
	}
	for i, fn := range s.Functions {
		f.checkInherited(s, fn)
		view.Methods = append(view.Methods, f.methodView(fn, n.Methods[i]))
	}
	return view
}

// checkInherited reports a method that a service has from the one that it
// extends: one Go method cannot take either's arguments.
func (f *file) checkInherited(s *schema.Service, fn *schema.Function) {
	for b := s.Extends; b != nil; b = b.Extends {
		if slices.ContainsFunc(b.Functions, func(other *schema.Function) bool { return other.Name == fn.Name }) {
			f.g.errs.Add(fn.Pos, "service %s has method %s from %s already", s.Name, fn.Name, b.Name)
		}
	}
}

func (f *file) methodView(fn *schema.Function, names methodNames) methodView {
	args := f.pkg.names.structs[fn.Args]
	m := methodView{
		Doc: withDeprecation(fn.Doc, fn.Annotations), IDLName: fn.Name, methodNames: names,
		Args: args.Type, ArgsDesc: args.Desc,
	}
	if fn.Result == nil {
		return m
	}
	result := f.pkg.names.structs[fn.Result]
	m.Result, m.ResultDesc = result.Type, result.Desc
	for i, field := range fn.Result.Fields {
		if fn.Returns != nil && i == 0 {
			m.Success = result.Fields[i].Const
			continue
		}
		m.Throws = append(m.Throws, throwsView{
			f.goType(field.Type), f.descOf(field.Type.Struct), result.Fields[i].Const,
		})
	}
	return m
}

// descOf is the descriptor of a struct as seen from this file.
func (f *file) descOf(s *schema.Struct) string {
	return f.qualify(s.Program, f.g.of[s.Program].names.structs[s].Desc)
}

// Signature is a method's result and error, as Go has it.
func (m methodView) Signature() string {
	if m.Result == "" {
		return "error"
	}
	return fmt.Sprintf("(%s, error)", m.Result)
}
