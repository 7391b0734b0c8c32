package schema

import (
	"math"

	"github.com/nocopythrift/nocopythrift/gen/idl"
	"github.com/nocopythrift/nocopythrift/internal/entry"
)

// A checker makes the model from the syntax trees. It works in passes over all files, since names
// may be used before they are defined.
type checker struct {
	set       *Set
	errs      *idl.ErrorList
	ambiguous map[idl.Position]bool // places at which a name was reported as ambiguous
	young     map[*Program]bool     // files that have a warning about a young type
	budget    int                   // how many more values constants may expand to
	bytes     int                   // size of the files
	room      int                   // how many more encoded values constants and defaults may have
	full      bool                  // an error has reported that there is no more room
	guesses   int                   // see nearestType
}

// check makes the model and adds the errors.
func (c *checker) check() {
	c.ambiguous, c.young = map[idl.Position]bool{}, map[*Program]bool{}
	c.budget = c.maxValues()
	for _, p := range c.set.Programs {
		c.declare(p)
	}
	for _, p := range c.set.Programs {
		c.types(p)
	}
	for _, p := range c.set.Programs {
		c.constants(p)
	}
	for _, p := range c.set.Programs {
		c.services(p)
	}
	for _, p := range c.set.Programs {
		c.warnOfUses(p)
	}
	c.checkCycles()
	if len(*c.errs) == 0 {
		c.encodeAll()
		c.checkEmpty()
	}
}

// declare adds the definitions of a file to its model, and their names to its scopes.
func (c *checker) declare(p *Program) {
	p.types, p.consts = map[string]*definition{}, map[string]*Const{}
	for _, d := range p.AST.Definitions {
		name := d.DefName()
		c.checkName(name.Text, name.Pos, false)
		n := &definition{in: p, name: name.Text, pos: name.Pos}
		switch d := d.(type) {
		case *idl.Const:
			c.declareConst(p, d)
			continue
		case *idl.Typedef:
			td := &Typedef{Name: name.Text, Doc: d.Doc, Pos: name.Pos, Annotations: annotations(d.Annotations)}
			p.Typedefs = append(p.Typedefs, td)
			n.typedef = &typedef{Typedef: td, ast: d, in: p}
			p.typedefs = append(p.typedefs, n.typedef)
		case *idl.Enum:
			n.enum = c.enum(p, d)
			p.Enums = append(p.Enums, n.enum)
		case *idl.Struct:
			n.strct = &Struct{Program: p, Name: name.Text, Doc: d.Doc, Pos: name.Pos, ast: d, Annotations: annotations(d.Annotations)}
			n.strct.Shape = map[string]Shape{"struct": IsStruct, "union": IsUnion, "exception": IsException}[d.Kind]
			p.Structs = append(p.Structs, n.strct)
		case *idl.Service:
			n.service = &Service{Program: p, Name: name.Text, Doc: d.Doc, Pos: name.Pos, ast: d, Annotations: annotations(d.Annotations)}
			p.Services = append(p.Services, n.service)
		}
		if old := p.types[name.Text]; old != nil {
			c.errs.Add(name.Pos, "%s is already defined at %d:%d", name.Text, old.pos.Line, old.pos.Column)
			continue
		}
		p.types[name.Text] = n
	}
}

// declareConst adds a constant to the program, or an error if the name is taken.
func (c *checker) declareConst(p *Program, d *idl.Const) {
	k := &Const{Program: p, Name: d.Name.Text, Doc: d.Doc, Pos: d.Name.Pos, ast: d}
	p.Consts = append(p.Consts, k)
	if old := p.consts[k.Name]; old != nil {
		c.errs.Add(k.Pos, "constant %s is already defined at %d:%d", k.Name, old.Pos.Line, old.Pos.Column)
		return
	}
	p.consts[k.Name] = k
}

// enum returns the model of an enum. A value without a number gets that of the previous value plus
// 1.
func (c *checker) enum(p *Program, d *idl.Enum) *Enum {
	e := &Enum{Program: p, Name: d.Name.Text, Doc: d.Doc, Pos: d.Name.Pos, Annotations: annotations(d.Annotations)}
	seen := map[string]bool{}
	next := int64(0)
	for _, v := range d.Values {
		c.checkName(v.Name.Text, v.Name.Pos, false)
		if seen[v.Name.Text] {
			c.errs.Add(v.Name.Pos, "enum %s has two values named %s", e.Name, v.Name.Text)
		}
		seen[v.Name.Text] = true
		if v.Value != nil {
			next = int64(*v.Value)
		}
		if next != int64(int32(next)) {
			c.errs.Add(v.Name.Pos, "value %d of %s.%s does not fit in 32 bits", next, e.Name, v.Name.Text)
			next = 0
		}
		e.Values = append(e.Values, &EnumValue{Name: v.Name.Text, Doc: v.Doc, Pos: v.Name.Pos, Value: int32(next), Annotations: annotations(v.Annotations)})
		next++
	}
	return e
}

// types resolves the types of typedefs, fields and constants.
func (c *checker) types(p *Program) {
	for _, td := range p.typedefs {
		c.typedef(td)
	}
	for _, s := range p.Structs {
		s.Fields = c.fields(p, s, s.ast.Fields)
		c.checkUnion(s)
	}
	for _, k := range p.Consts {
		k.Type = c.typ(p, k.ast.Type)
	}
}

// fields returns the fields of a struct or an argument list with ids and types. Defaults are
// evaluated later, when all structs are known.
func (c *checker) fields(p *Program, s *Struct, list []*idl.Field) []*Field {
	ids, names := map[int64]string{}, map[string]bool{}
	var fields []*Field
	auto := int64(-1)
	for _, f := range list {
		c.checkName(f.Name.Text, f.Name.Pos, true)
		id := c.fieldID(f, &auto)
		if other, ok := ids[id]; ok {
			c.errs.Add(f.Pos, "%s: fields %s and %s have the same id %d", s.Name, other, f.Name.Text, id)
		}
		if names[f.Name.Text] {
			c.errs.Add(f.Name.Pos, "%s has two fields named %s", s.Name, f.Name.Text)
		}
		ids[id], names[f.Name.Text] = f.Name.Text, true
		fields = append(fields, &Field{
			ID: int16(id), Name: f.Name.Text, Doc: f.Doc, Pos: f.Pos,
			Req:         map[string]Requirement{"required": Required, "optional": Optional}[f.Requirement],
			Type:        c.typ(p, f.Type),
			Annotations: c.withRedact(p, f.Type, annotations(f.Annotations)),
		})
	}
	return fields
}

// fieldID returns a field's id as Apache's compiler does. Fields without an id count down from −1,
// or from below the last explicit id that is not positive. auto is the next such id.
func (c *checker) fieldID(f *idl.Field, auto *int64) int64 {
	id := *auto
	if f.ID != nil {
		id = int64(*f.ID)
		if id <= 0 && id != *auto {
			c.warn(f.Pos, "field %s keeps its id %d; Apache's compiler makes it %d unless it is run with -allow-neg-keys",
				f.Name.Text, id, *auto)
		}
	}
	if id < math.MinInt16 || id > math.MaxInt16 {
		c.errs.Add(f.Pos, "id %d of field %s is out of range (%d to %d)", id, f.Name.Text, math.MinInt16, math.MaxInt16)
	}
	if id == entry.IndexID {
		c.errs.Add(f.Pos, "id %d of field %s is that of a message's own index (nocopy.WithIndex)", id, f.Name.Text)
	}
	if id <= 0 {
		*auto = id - 1
	}
	return id
}

// checkUnion makes all fields of a union optional, and adds errors for those that can't be.
func (c *checker) checkUnion(s *Struct) {
	if s.Shape != IsUnion {
		return
	}
	first := ""
	for i, f := range s.Fields {
		if f.Req == Required {
			c.set.Warnings.Add(f.Pos, "union %s: field %s cannot be required, the word is ignored", s.Name, f.Name)
		}
		f.Req = Optional
		if s.ast.Fields[i].Default != nil {
			if first != "" {
				c.errs.Add(f.Pos, "union %s: both %s and %s have a default", s.Name, first, f.Name)
			}
			first = f.Name
		}
	}
}
