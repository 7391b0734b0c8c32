package rules

import (
	"slices"

	"github.com/nocopythrift/nocopythrift/gen/golang/internal/names"
	"github.com/nocopythrift/nocopythrift/gen/idl"
	"github.com/nocopythrift/nocopythrift/gen/schema"
)

// Rules are the rules that the Validate methods of all structs check.
type Rules struct {
	structs map[*schema.Struct]*structRules
}

// Read reads the annotations of all files of set. Errors in those that are generated are added to
// errs.
func Read(set *schema.Set, generated []*schema.Program, in names.Packages, errs *idl.ErrorList) *Rules {
	v := &Rules{structs: map[*schema.Struct]*structRules{}}
	for _, p := range set.Programs {
		var elsewhere idl.ErrorList
		r := reader{structs: v.structs, names: in[p].Names, errs: &elsewhere}
		if slices.Contains(generated, p) {
			r.errs = errs
		}
		r.file(p)
	}
	// A struct needs the method if the type of a field does.
	for changed := true; changed; {
		changed = false
		for s, r := range v.structs {
			for i := 0; i < len(s.Fields) && !r.needed; i++ {
				r.needed = v.needs(s.Fields[i].Type, r.fields[i])
				changed = changed || r.needed
			}
		}
	}
	return v
}

// needs reports whether there is something to check of a value.
func (v *Rules) needs(t *schema.Type, r *valueRules) bool {
	if r != nil && (len(r.rules) > 0 || r.notNil) {
		return true
	}
	switch t.Kind {
	case schema.StructKind:
		return (r == nil || !r.skip) && v.structs[t.Struct] != nil && v.structs[t.Struct].needed
	case schema.Map:
		return v.needs(t.Key, r.part(true)) || v.needs(t.Elem, r.part(false))
	case schema.List, schema.SetKind:
		return v.needs(t.Elem, r.part(false))
	}
	return false
}

// Methods returns the declarations of the Validate methods of a file's structs, those of its
// services included. of has the names of its package.
func (v *Rules) Methods(p *schema.Program, of *names.Names) []string {
	var out []string
	list := slices.Clone(p.Structs)
	for _, s := range p.Services {
		for _, fn := range s.Functions {
			list = append(list, fn.Args, fn.Result)
		}
	}
	for _, s := range list {
		r := v.structs[s]
		if r == nil || !r.needed {
			continue
		}
		w := methodWriter{needs: v.needs, names: of.Structs[s]}
		w.method(s, r)
		out = append(out, w.out.String())
	}
	return out
}
