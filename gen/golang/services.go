package golang

import (
	"github.com/nocopythrift/nocopythrift/gen/golang/internal/names"
	"github.com/nocopythrift/nocopythrift/gen/schema"
)

type serviceView struct {
	Doc, IDLName, Info string
	// The IDL's name of the extended service, with its file, or ""
	Extends                                                 string
	Handler, Unimplemented, NewProcessor, Client, NewClient string
	Base                                                    *baseView // that of Extends, or nil
	Methods                                                 []methodView
	IDLFiles                                                string // the variable with its IDL, or ""
}

// baseView holds the names of an extended service's declarations, in the form for the extending
// service's file.
type baseView struct{ Handler, Unimplemented, NewProcessor, Client, NewClient string }

type methodView struct {
	Doc, IDLName, Info string
	names.Method
	Args, ArgsDesc     string
	Result, ResultDesc string // "" if the method is oneway
	Success            string // the constant of the result's field 0; "" if the method is void
	Throws             []throwsView
}

// throwsView describes a declared exception: Const is the constant of its field in the result.
type throwsView struct{ Type, Desc, Const string }

// serviceView returns the template's input for a service.
func (f *file) serviceView(s *schema.Service) serviceView {
	n := f.pkg.Services[s]
	view := serviceView{
		Doc: withDeprecation(s.Doc, s.Annotations), IDLName: s.Name, Info: info(s.Doc, s.Annotations),
		Handler: n.Handler, Unimplemented: n.Unimplemented, NewProcessor: n.NewProcessor, Client: n.Client, NewClient: n.NewClient,
		IDLFiles: f.reflectVar(),
	}
	if base := s.Extends; base != nil {
		view.Extends = base.Program.Name + "." + base.Name
		bn := f.g.packageOf[base.Program].Services[base]
		view.Base = &baseView{
			f.qualify(base.Program, bn.Handler), f.qualify(base.Program, bn.Unimplemented), f.qualify(base.Program, bn.NewProcessor),
			f.qualify(base.Program, bn.Client), f.qualify(base.Program, bn.NewClient),
		}
	}
	f.checkInherited(s)
	for i, fn := range s.Functions {
		view.Methods = append(view.Methods, f.methodView(fn, n.Methods[i]))
	}
	return view
}

// checkInherited adds an error for each method of s that has the name of one in a service that s
// extends: one Go method cannot take the arguments of both.
func (f *file) checkInherited(s *schema.Service) {
	if s.Extends == nil {
		return
	}
	own := make(map[string]*schema.Function, len(s.Functions))
	for _, fn := range s.Functions {
		own[fn.Name] = fn
	}
	for b := s.Extends; b != nil; b = b.Extends {
		for _, other := range b.Functions {
			if fn := own[other.Name]; fn != nil {
				f.g.errs.Add(fn.Pos, "service %s has method %s from %s already", s.Name, fn.Name, b.Name)
			}
		}
	}
}

// methodView returns the template's input for a method.
func (f *file) methodView(fn *schema.Function, names names.Method) methodView {
	args := f.pkg.Structs[fn.Args]
	m := methodView{
		Doc: withDeprecation(fn.Doc, fn.Annotations), IDLName: fn.Name, Info: info(fn.Doc, fn.Annotations), Method: names,
		Args: args.Type, ArgsDesc: args.Desc,
	}
	if fn.Result == nil {
		return m
	}
	result := f.pkg.Structs[fn.Result]
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

// results returns the result types of the client's method: an error, and the method's Result, if
// it has one.
func results(result string) string {
	if result == "" {
		return "error"
	}
	return "(" + result + ", error)"
}
