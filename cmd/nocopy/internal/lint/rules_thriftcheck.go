package lint

import (
	"maps"
	"math"
	"path/filepath"
	"slices"

	"github.com/danwakefield/fnmatch"

	"github.com/nocopythrift/nocopythrift/gen/idl"
)

func constantRef(f *file) {
	for _, v := range f.values {
		if v.Ref != nil && *v.Ref != "true" && *v.Ref != "false" && !f.isDefined(f.prog, *v.Ref) && !mayBeDefined(f.prog, *v.Ref) {
			f.report(v.Pos, "%q is neither a constant nor a value of an enum", *v.Ref)
		}
	}
}

func enumSize(f *file) {
	most := f.cfg.Checks.Enum.Size
	for _, e := range f.enums {
		switch n := len(e.Values); {
		case most.Error > 0 && n > most.Error:
			f.reportAs(Error, e.Pos, "enum %q has %d values, more than %d", e.Name.Text, n, most.Error)
		case most.Warning > 0 && n > most.Warning:
			f.reportAs(Warning, e.Pos, "enum %q has %d values, more than %d", e.Name.Text, n, most.Warning)
		}
	}
}

func fieldDocMissing(f *file) {
	for _, field := range f.fields {
		if f.docs[field.Pos.Offset] == "" {
			f.report(field.Pos, "field %q has no documentation", field.Name.Text)
		}
	}
}

func fieldIDMissing(f *file) {
	for _, field := range f.fields {
		if field.ID == nil {
			f.report(field.Pos, "field %q has no id", field.Name.Text)
		}
	}
}

func fieldIDNegative(f *file) {
	for _, field := range f.fields {
		if field.ID != nil && *field.ID < 0 {
			f.report(field.Pos, "field %q has the negative id %d", field.Name.Text, *field.ID)
		}
	}
}

func fieldIDZero(f *file) {
	for _, field := range f.fields {
		if field.ID != nil && *field.ID == 0 {
			f.report(field.Pos, "field %q has the id 0", field.Name.Text)
		}
	}
}

func fieldOptional(f *file) {
	for _, field := range f.fields {
		if field.Requirement != "optional" {
			f.report(field.Pos, "field %q is not optional", field.Name.Text)
		}
	}
}

func fieldRequiredness(f *file) {
	for _, field := range f.fields {
		if field.Requirement == "" {
			f.report(field.Pos, "field %q is neither required nor optional", field.Name.Text)
		}
	}
}

func includePath(f *file) {
	for _, inc := range f.prog.AST.Includes {
		name := string(inc.Path)
		places := []string{name}
		if !filepath.IsAbs(name) {
			places = []string{filepath.Join(filepath.Dir(f.prog.Path), name)}
			for _, dir := range f.dirs {
				places = append(places, filepath.Join(dir, name))
			}
		}
		if !slices.ContainsFunc(places, f.files.IsFile) {
			f.report(inc.Pos, "included file %q is not found", name)
		}
	}
}

func includeRestricted(f *file) {
	restricted := f.cfg.Checks.Include.Restricted
	for _, inc := range f.prog.AST.Includes {
		for _, pattern := range slices.Sorted(maps.Keys(restricted)) {
			if fnmatch.Match(pattern, f.prog.Path, fnmatch.FNM_NOESCAPE) && restricted[pattern].MatchString(string(inc.Path)) {
				f.report(inc.Pos, "files like %q must not include %q", pattern, string(inc.Path))
				break
			}
		}
	}
}

func int64bit(f *file) {
	for _, v := range f.values {
		if v.Int != nil && (*v.Int < math.MinInt32 || *v.Int > math.MaxInt32) {
			f.report(v.Pos, "the integer %d needs 64 bits, which not all languages have", *v.Int)
		}
	}
}

// checkType reports a type that the configuration does not allow. what is its use, as a
// word, and pos the position to report. A type that does not exist is an error of its own.
func (f *file) checkType(what string, pos idl.Position, t *idl.Type, types TypeLists) {
	have := f.kinds(f.prog, t)
	if len(have) == 0 {
		return
	}
	in := func(list []string) bool {
		return slices.ContainsFunc(list, func(k string) bool { return slices.Contains(have, k) })
	}
	if in(types.DisallowedTypes) || len(types.AllowedTypes) > 0 && !in(types.AllowedTypes) {
		f.reportAs(Error, pos, "%s %q is not allowed", what, text(t))
	}
}

// checkHashed reports types of keys and of elements of sets that the configuration does not
// allow. If it says nothing about them, types other than base types and enums are warnings, which
// name what fails, and errors if generated code does not compile.
func (f *file) checkHashed(what string, pos idl.Position, t *idl.Type, types TypeLists) {
	configured := len(types.AllowedTypes)+len(types.DisallowedTypes) > 0
	if len(types.AllowedTypes) == 0 {
		types.AllowedTypes = []string{"base", "enum"}
	}
	if configured || f.cfg.Thriftcheck {
		f.checkType(what, pos, t, types)
		return
	}
	have, key := f.kinds(f.prog, t), what == "map key type"
	const fails = "%s %q fails in some languages: Python can't hash it"
	switch {
	case len(have) == 0: // a type that does not exist, which is an error of its own
	case have[0] == "base" || have[0] == "enum":
	case !key:
		f.report(pos, fails, what, text(t))
	case have[0] != "list" && have[0] != "set" && have[0] != "map":
		f.report(pos, fails+", JavaScript turns it into a text, Go compares addresses", what, text(t))
	case slices.Contains(f.cfg.Compilers, string(idl.Thriftgo)):
		f.reportAs(Error, pos, "%s %q: thriftgo writes Go code that does not compile", what, text(t))
	default:
		f.report(pos, fails+", JavaScript turns it into a text", what, text(t))
	}
}

func mapKeyType(f *file) {
	for _, t := range f.types {
		if t.Map != nil {
			f.checkHashed("map key type", t.Pos, t.Map.Key, f.cfg.Checks.Map.Key)
		}
	}
}

func mapValueType(f *file) {
	for _, t := range f.types {
		if t.Map != nil {
			f.checkType("map value type", t.Pos, t.Map.Value, f.cfg.Checks.Map.Value)
		}
	}
}

func setValueType(f *file) {
	for _, t := range f.types {
		if t.Set != nil {
			f.checkHashed("set value type", t.Pos, t.Set.Elem, f.cfg.Checks.Set)
		}
	}
}

func typesAllowed(f *file) {
	for _, t := range f.types {
		f.checkType("type", t.Pos, t, f.cfg.Checks.Types)
	}
	for _, s := range f.structs {
		if slices.Contains(f.cfg.Checks.Types.DisallowedTypes, s.Kind) {
			f.report(s.Pos, "type %q is not allowed", s.Name.Text)
		}
	}
	for _, e := range f.enums {
		if slices.Contains(f.cfg.Checks.Types.DisallowedTypes, "enum") {
			f.report(e.Pos, "type %q is not allowed", e.Name.Text)
		}
	}
}

func namesReserved(f *file) {
	for _, n := range f.names {
		if slices.Contains(f.cfg.Checks.Names.Reserved, n.Text) {
			f.report(n.Pos, "the name %q is reserved", n.Text)
		}
	}
}

func namespacePatterns(f *file) {
	for _, n := range f.prog.AST.Namespaces {
		if p, ok := f.cfg.Checks.Namespace.Patterns[n.Scope]; ok && !p.MatchString(n.Name.Text) {
			f.report(n.Pos, "the %q namespace %q does not match %q", n.Scope, n.Name.Text, p)
		}
	}
}
