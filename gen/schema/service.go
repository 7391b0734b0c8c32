package schema

import "github.com/nocopythrift/nocopythrift/gen/idl"

// services makes the functions of a file's services.
func (c *checker) services(p *Program) {
	for _, s := range p.Services {
		c.extends(p, s)
		seen := map[string]bool{}
		for _, f := range s.ast.Functions {
			c.checkName(f.Name.Text, f.Name.Pos, false)
			if seen[f.Name.Text] {
				c.errs.Add(f.Name.Pos, "service %s has two methods named %s", s.Name, f.Name.Text)
			}
			seen[f.Name.Text] = true
			s.Functions = append(s.Functions, c.function(p, s, f))
		}
	}
}

// extends sets the service that s extends.
func (c *checker) extends(p *Program, s *Service) {
	base := s.ast.Extends
	if base == nil {
		return
	}
	n, broken := c.lookup(p, base.Text, base.Pos)
	switch {
	case n == nil && !broken:
		c.errs.Add(base.Pos, "service %s extends %s, which is unknown%s", s.Name, base.Text, notIncluded(p, base.Text))
	case n != nil && n.service == nil:
		c.errs.Add(base.Pos, "service %s extends %s, which is not a service", s.Name, base.Text)
	case n != nil:
		for b := n.service; b != nil; b = b.Extends {
			if b == s {
				c.errs.Add(base.Pos, "service %s extends itself", s.Name)
				return
			}
		}
		s.Extends = n.service
	}
}

// function returns the model of a method of s.
func (c *checker) function(p *Program, s *Service, f *idl.Function) *Function {
	fn := &Function{Name: f.Name.Text, Doc: f.Doc, Pos: f.Name.Pos, Oneway: f.Oneway, Annotations: annotations(f.Annotations)}
	fn.Args = &Struct{Program: p, Name: f.Name.Text + "_args", Pos: f.Name.Pos}
	fn.Args.Fields = c.fields(p, fn.Args, f.Args)
	c.defaults(p, fn.Args, f.Args)
	for _, a := range fn.Args.Fields {
		if a.Req == Optional {
			a.Req = DefaultReq // Apache's compiler ignores the word in argument lists
		}
	}
	if f.Result != nil {
		fn.Returns = c.typ(p, f.Result)
	}
	result := &Struct{Program: p, Name: f.Name.Text + "_result", Pos: f.Name.Pos}
	throws := c.fields(p, result, f.Throws)
	c.checkThrows(throws, f.Throws)
	if f.Oneway {
		if f.Result != nil {
			c.errs.Add(f.Name.Pos, "oneway method %s cannot return a value", f.Name.Text)
		}
		if len(throws) > 0 {
			c.errs.Add(f.Name.Pos, "oneway method %s cannot throw exceptions", f.Name.Text)
		}
		return fn
	}
	if fn.Returns != nil {
		success := &Field{ID: 0, Name: "success", Pos: f.Name.Pos, Req: Optional, Type: fn.Returns}
		if v, ok := fn.Annotations.Get(redact); ok {
			success.Annotations = Annotations{{redact, v}}
		}
		success.Annotations = c.withRedact(p, f.Result, success.Annotations)
		result.Fields = append(result.Fields, success)
	}
	for _, t := range throws {
		if fn.Returns != nil && (t.ID == 0 || t.Name == "success") {
			c.errs.Add(t.Pos, "exception %s collides with the result's field 0, success", t.Name)
		}
		t.Req = Optional
	}
	result.Fields = append(result.Fields, throws...)
	fn.Result = result
	return fn
}

// checkThrows adds errors for declared exceptions that are not exceptions.
func (c *checker) checkThrows(fields []*Field, list []*idl.Field) {
	for i, f := range fields {
		if f.Type != nil && (f.Type.Kind != StructKind || f.Type.Struct.Shape != IsException) {
			c.errs.Add(list[i].Type.Pos, "%s is thrown but is not an exception", f.Type)
		}
	}
}

// checkCycles adds errors for required fields that would make a struct contain itself.
func (c *checker) checkCycles() {
	state := map[*Struct]evalState{}
	var visit func(s *Struct)
	visit = func(s *Struct) {
		state[s] = underway
		for _, f := range s.Fields {
			if f.Req != Required || f.Type == nil || f.Type.Kind != StructKind {
				continue
			}
			switch inner := f.Type.Struct; state[inner] {
			case untouched:
				visit(inner)
			case underway:
				c.errs.Add(f.Pos, "required field %s makes every %s contain another %s without end", f.Name, inner.Name, inner.Name)
			}
		}
		state[s] = done
	}
	for _, p := range c.set.Programs {
		for _, s := range p.Structs {
			if state[s] == untouched {
				visit(s)
			}
		}
	}
}
