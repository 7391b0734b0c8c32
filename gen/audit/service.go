package audit

import (
	"slices"

	"github.com/nocopythrift/nocopythrift/gen/schema"
)

// service compares a service. Inherited methods are compared here, too, unless the comparison of
// the extended service finds their changes.
func (c *comparer) service(old, new *schema.Service) {
	for _, f := range old.Functions {
		at := change{symbol: old.Name + "." + f.Name, old: f.Pos, new: new.Pos}
		g, in := c.method(new, f.Name)
		if g == nil {
			c.add(Error, "method-removed", Wire|Source, at, "method %s of service %s removed", f.Name, old.Name)
			continue
		}
		at.new = g.Pos
		if in != new {
			c.add(Warning, "method-moved", Source, at, "method %s of service %s moved to %s, which it extends", f.Name, old.Name, in.Name)
		}
		c.function(old, f, g, at)
	}
	switch {
	case old.Extends == nil:
	case c.pairs.services[old.Extends] == new.Extends:
		c.overrides(old, new)
	default:
		c.extends(old, new)
	}
}

// overrides compares the methods that a service inherited before and now defines itself.
func (c *comparer) overrides(old, new *schema.Service) {
	own := c.methods(old)
	for _, g := range new.Functions {
		if own[g.Name] != nil {
			continue
		}
		if f, from := c.method(old.Extends, g.Name); f != nil {
			c.function(from, f, g, change{symbol: old.Name + "." + f.Name, old: f.Pos, new: g.Pos})
		}
	}
}

// extends adds the finding that a service extends another service than before, and compares the
// methods that it inherited.
func (c *comparer) extends(old, new *schema.Service) {
	breaks, seen := Source, map[string]bool{}
	for name := range c.methods(old) {
		seen[name] = true
	}
	for from := old.Extends; from != nil; from = from.Extends {
		for _, f := range from.Functions {
			if seen[f.Name] {
				continue
			}
			seen[f.Name] = true
			g, in := c.method(new, f.Name)
			switch {
			case g == nil:
				breaks |= Wire
			case c.pairs.services[from] != in:
				c.function(from, f, g, change{symbol: old.Name + "." + f.Name, old: f.Pos, new: g.Pos})
			}
		}
	}
	was, is := texts(
		func(l label) string { return l(c.old, old.Extends.Program, old.Extends.Name) },
		func(l label) string {
			if new.Extends == nil {
				return "none"
			}
			return l(c.new, new.Extends.Program, new.Extends.Name)
		})
	c.add(Error, "extends-changed", breaks, change{symbol: old.Name, old: old.Pos, new: new.Pos}, "service %s extended %s, now %s", old.Name, was, is)
}

// method returns a service's own or inherited method with a name, and the service that defines it,
// or nil.
func (c *comparer) method(s *schema.Service, name string) (*schema.Function, *schema.Service) {
	for ; s != nil; s = s.Extends {
		if f := c.methods(s)[name]; f != nil {
			return f, s
		}
	}
	return nil, nil
}

// methods returns a service's own methods by name.
func (c *comparer) methods(s *schema.Service) map[string]*schema.Function {
	byName := c.own[s]
	if byName == nil {
		byName = map[string]*schema.Function{}
		for _, f := range s.Functions {
			byName[f.Name] = f
		}
		c.own[s] = byName
	}
	return byName
}

// function compares a method, which the old service from defines.
func (c *comparer) function(from *schema.Service, f, g *schema.Function, at change) {
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
		was, is := c.typeTexts(f.Returns, g.Returns)
		c.add(Error, "return-type-changed", breaks, at, "type that method %s returns changed from %s to %s", f.Name, was, is)
	} else if old, new := c.old.functions[f.Pos], c.new.functions[g.Pos]; old != nil && new != nil {
		c.typedefName(old.Result, new.Result, at, "what method %s returns", f.Name)
	}
	args := fieldsOf{name: f.Name + "_args", program: from.Program, key: from.Name + "." + f.Name + "_args"}
	c.fields(f.Args, g.Args, args)
	c.signature(f, g, at)
	c.routes(f, g, at)
	exceptions := fieldsOf{name: f.Name + "_exception", throws: true, program: from.Program, key: from.Name + "." + f.Name + "_exception"}
	c.fields(throws(f), throws(g), exceptions)
}

// signature adds a finding if the arguments of a method are more, or in another order. Generated
// methods of Apache's and Kitex's compilers have them in that order. It is a finding of its own
// that an argument is gone or has another id.
func (c *comparer) signature(f, g *schema.Function, at change) {
	before, wasName := lookups(f.Args.Fields)
	after, _ := lookups(g.Args.Fields)
	var was, is []int16
	for _, a := range f.Args.Fields {
		if after[a.ID] != nil {
			was = append(was, a.ID)
		}
	}
	for _, a := range g.Args.Fields {
		switch {
		case before[a.ID] != nil:
			is = append(is, a.ID)
		case wasName[a.Name] == nil && a.Req != schema.Required:
			c.add(Warning, "arguments-changed", Source, at, "method %s has a new argument: %s", f.Name, a.Name)
		}
	}
	if !slices.Equal(was, is) {
		c.add(Warning, "arguments-changed", Source, at, "arguments of method %s are in another order", f.Name)
	}
}

// throws returns a struct whose fields are the declared exceptions of a method.
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
