package audit

import (
	"github.com/nocopythrift/nocopythrift/gen/schema"
)

// service compares a service.
func (c *comparer) service(old, new *schema.Service) {
	at := change{old.Name, old.Pos, new.Pos}
	if old.Extends != nil && (new.Extends == nil || old.Extends.Name != new.Extends.Name) {
		breaks := Source
		for base := old.Extends; base != nil; base = base.Extends {
			for _, f := range base.Functions {
				if g, _ := method(new, f.Name); g == nil {
					breaks |= Wire
				}
			}
		}
		to := "none"
		if new.Extends != nil {
			to = new.Extends.Name
		}
		c.add(Error, "extends-changed", breaks, at, "service %s extended %s, now %s", old.Name, old.Extends.Name, to)
	}
	for _, f := range old.Functions {
		at := change{old.Name + "." + f.Name, f.Pos, new.Pos}
		g, in := method(new, f.Name)
		if g == nil {
			c.add(Error, "method-removed", Wire|Source, at, "method %s of service %s removed", f.Name, old.Name)
			continue
		}
		at.new = g.Pos
		if in != new {
			c.add(Warning, "method-moved", Source, at, "method %s of service %s moved to %s, which it extends", f.Name, old.Name, in.Name)
		}
		c.function(f, g, at)
	}
}

// method returns the method of a service with a name, which it may have from one that it extends,
// and the service that has it; nil if there is none.
func method(s *schema.Service, name string) (*schema.Function, *schema.Service) {
	for ; s != nil; s = s.Extends {
		for _, f := range s.Functions {
			if f.Name == name {
				return f, s
			}
		}
	}
	return nil, nil
}

// function compares a method.
func (c *comparer) function(f, g *schema.Function, at change) {
	if f.Oneway != g.Oneway {
		text := "no longer oneway"
		if g.Oneway {
			text = "oneway now"
		}
		c.add(Error, "oneway-changed", Wire|Source, at, "method %s is %s", f.Name, text)
	}
	if !c.same(f.Returns, g.Returns) {
		breaks := Wire | Source | JSON
		if f.Returns != nil && g.Returns != nil {
			breaks = c.typeBreaks(f.Returns, g.Returns)
		}
		c.add(Error, "return-type-changed", breaks, at, "type that method %s returns changed from %s to %s", f.Name, typeText(f.Returns), typeText(g.Returns))
	} else if old, new := c.old.functions[f.Pos], c.new.functions[g.Pos]; old != nil && new != nil {
		c.typedefName(old.Result, new.Result, at, "what method %s returns", f.Name)
	}
	c.fields(f.Args, g.Args, fieldsOf{name: f.Name + "_args", old: c.old.fields, new: c.new.fields})
	c.fields(throws(f), throws(g), fieldsOf{name: f.Name + "_exception", throws: true, old: c.old.fields, new: c.new.fields})
}

// throws returns the exceptions that a method declares as a struct.
func throws(f *schema.Function) *schema.Struct {
	s := &schema.Struct{Pos: f.Pos}
	if f.Result != nil {
		s.Fields = f.Result.Fields
		if f.Returns != nil {
			s.Fields = s.Fields[1:]
		}
	}
	return s
}
