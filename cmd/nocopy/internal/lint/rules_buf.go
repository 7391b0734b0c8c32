package lint

import (
	"path/filepath"
	"regexp"
	"strings"

	"github.com/nocopythrift/nocopythrift/gen/idl"
)

func commentEnum(f *file) {
	for _, e := range f.enums {
		f.commented("enum", e.Name, e.Doc)
	}
}

func commentEnumValue(f *file) {
	for _, e := range f.enums {
		for _, v := range e.Values {
			f.commented("value", v.Name, v.Doc)
		}
	}
}

func commentField(f *file) {
	for _, s := range f.structs {
		for _, field := range s.Fields {
			f.commented("field", idl.Ident(field.Name), field.Doc)
		}
	}
}

func commentMessage(f *file) {
	for _, s := range f.structs {
		f.commented(s.Kind, s.Name, s.Doc)
	}
}

func commentRPC(f *file) {
	for _, fn := range f.functions {
		f.commented("method", fn.Name, fn.Doc)
	}
}

func commentService(f *file) {
	for _, s := range f.services {
		f.commented("service", s.Name, s.Doc)
	}
}

func (f *file) commented(what string, name idl.Ident, doc string) {
	if strings.TrimSpace(doc) == "" {
		f.report(name.Pos, "%s %q has no comment", what, name.Text)
	}
}

// numbers calls each with all values of an enum and their numbers.
func numbers(e *idl.Enum, each func(i int, v *idl.EnumValue, n int64)) {
	next := int64(0)
	for i, v := range e.Values {
		if v.Value != nil {
			next = int64(*v.Value)
		}
		each(i, v, next)
		next++
	}
}

func enumFirstValueZero(f *file) {
	for _, e := range f.enums {
		numbers(e, func(i int, v *idl.EnumValue, n int64) {
			if i == 0 && n != 0 {
				f.report(v.Pos, "%q, the first value of enum %q, is %d, not 0", v.Name.Text, e.Name.Text, n)
			}
		})
	}
}

func enumNoAlias(f *file) {
	for _, e := range f.enums {
		seen := map[int64]string{}
		numbers(e, func(_ int, v *idl.EnumValue, n int64) {
			if other, ok := seen[n]; ok {
				f.report(v.Pos, "%q and %q of enum %q are both %d", other, v.Name.Text, e.Name.Text, n)
			} else {
				seen[n] = v.Name.Text
			}
		})
	}
}

var (
	pascalCase = regexp.MustCompile(`^[A-Z][A-Za-z0-9]*$`)
	upperSnake = regexp.MustCompile(`^[A-Z][A-Z0-9]*(_[A-Z0-9]+)*$`)
	lowerSnake = regexp.MustCompile(`^[a-z][a-z0-9]*(_[a-z0-9]+)*$`)
)

func (f *file) inCase(pattern *regexp.Regexp, form, what string, name idl.Ident) {
	if !pattern.MatchString(name.Text) {
		f.report(name.Pos, "%s %q is not in %s", what, name.Text, form)
	}
}

func enumPascalCase(f *file) {
	for _, e := range f.enums {
		f.inCase(pascalCase, "PascalCase", "enum", e.Name)
	}
}

func enumValueUpperSnakeCase(f *file) {
	for _, e := range f.enums {
		for _, v := range e.Values {
			f.inCase(upperSnake, "UPPER_SNAKE_CASE", "value", v.Name)
		}
	}
}

func fieldLowerSnakeCase(f *file) {
	for _, field := range f.fields {
		f.inCase(lowerSnake, "lower_snake_case", "field", idl.Ident(field.Name))
	}
}

func fieldNotRequired(f *file) {
	for _, field := range f.fields {
		if field.Requirement == "required" {
			f.report(field.Pos, "field %q is required: programs without it can no longer read the struct once it is removed", field.Name.Text)
		}
	}
}

func fileLowerSnakeCase(f *file) {
	name := filepath.Base(f.prog.Path)
	f.inCase(lowerSnake, "lower_snake_case", "file", idl.Ident{Pos: f.begin(), Text: strings.TrimSuffix(name, filepath.Ext(name))})
}

func (f *file) begin() idl.Position { return idl.Position{Filename: f.prog.Path, Line: 1, Column: 1} }

func messagePascalCase(f *file) {
	for _, s := range f.structs {
		f.inCase(pascalCase, "PascalCase", s.Kind, s.Name)
	}
}

func packageDefined(f *file) {
	if len(f.prog.AST.Namespaces) == 0 {
		f.report(f.begin(), "the file has no namespace")
	}
}

func packageLowerSnakeCase(f *file) {
	for _, n := range f.prog.AST.Namespaces {
		for part := range strings.SplitSeq(n.Name.Text, ".") {
			if !lowerSnake.MatchString(part) {
				f.report(n.Name.Pos, "namespace %q is not in lower_snake_case", n.Name.Text)
				break
			}
		}
	}
}

func servicePascalCase(f *file) {
	for _, s := range f.services {
		f.inCase(pascalCase, "PascalCase", "service", s.Name)
	}
}

func serviceSuffix(f *file) {
	for _, s := range f.services {
		if !strings.HasSuffix(s.Name.Text, "Service") {
			f.report(s.Name.Pos, "service %q does not end with Service", s.Name.Text)
		}
	}
}

// importUsed finds includes that are not used. One that is not found is include.path's.
func importUsed(f *file) {
	used := map[string]bool{}
	use := func(name string) {
		for {
			dot := strings.LastIndexByte(name, '.')
			if dot < 0 {
				return
			}
			name = name[:dot] // of a value of an enum the file's name is before two dots
			used[name] = true
		}
	}
	for _, t := range f.types {
		use(t.Name)
	}
	for _, v := range f.values {
		if v.Ref != nil {
			use(*v.Ref)
		}
	}
	for _, s := range f.services {
		if s.Extends != nil {
			use(s.Extends.Text)
		}
	}
	seen := map[string]bool{}
	for _, inc := range f.prog.AST.Includes {
		path := string(inc.Path)
		name := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
		clean := filepath.Clean(path)
		switch {
		case seen[clean]:
			f.report(inc.Pos, "%q is included twice", path).fix = f.removeLine(inc.Pos.Offset)
		case !used[name]:
			f.report(inc.Pos, "%q is included but not used", path).fix = f.removeLine(inc.Pos.Offset)
		}
		seen[clean] = true
	}
}
