package nocopythrift_test

import (
	"go/ast"
	"regexp"
	"testing"
)

// TestCommentsNameWhatIsThere: a name in a comment of the library with the name of one of its
// packages before it, such as memory.Receiver or chain.Buffer.Sync, is one that the package has.
func TestCommentsNameWhatIsThere(t *testing.T) {
	// By the name of a package, or of several packages: what they declare, Type.Name for methods
	// and fields.
	has := map[string]map[string]bool{}
	examples := regexp.MustCompile(`^nocopy/(tests|validate/internal)/|_test\.go$`)
	each := func(f func(src *ast.File, name string)) {
		for _, dir := range []string{"linkbuf", "nocopy", "internal"} {
			sources(t, dir, func(name string, src []byte) { f(parse(src), name) })
		}
	}
	each(func(file *ast.File, name string) {
		if pkg := file.Name.Name; !examples.MatchString(name) && pkg != "main" {
			if has[pkg] == nil {
				has[pkg] = map[string]bool{}
			}
			declared(file, has[pkg])
		}
	})
	mention := regexp.MustCompile(`(?:^|[\s(*&\[\]"])([a-z][a-z0-9]*)\.([A-Z]\w*)(\.[A-Z]\w*)?`)
	found := 0
	each(func(file *ast.File, name string) {
		for _, group := range file.Comments {
			for _, m := range mention.FindAllStringSubmatch(group.Text(), -1) {
				names := has[m[1]]
				if names == nil {
					continue
				}
				found++
				if !names[m[2]] || m[3] != "" && !names[m[2]+m[3]] {
					t.Errorf("%s: a comment names %s.%s%s, which is not there", name, m[1], m[2], m[3])
				}
			}
		}
	})
	if found < 100 {
		t.Errorf("found only %d names", found)
	}
}

// declared adds the names that a file declares.
func declared(file *ast.File, names map[string]bool) {
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				names[d.Name.Name] = true
			} else {
				names[receiverOf(d)+"."+d.Name.Name] = true
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.ValueSpec:
					for _, id := range spec.Names {
						names[id.Name] = true
					}
				case *ast.TypeSpec:
					names[spec.Name.Name] = true
					fields(spec, names)
				}
			}
		}
	}
}

// fields adds the fields of a struct and the methods of an interface.
func fields(spec *ast.TypeSpec, names map[string]bool) {
	var list *ast.FieldList
	switch t := spec.Type.(type) {
	case *ast.StructType:
		list = t.Fields
	case *ast.InterfaceType:
		list = t.Methods
	default:
		return
	}
	for _, f := range list.List {
		for _, id := range f.Names {
			names[spec.Name.Name+"."+id.Name] = true
		}
	}
}

// receiverOf returns the name of the type that d is a method of.
func receiverOf(d *ast.FuncDecl) (name string) {
	ast.Inspect(d.Recv.List[0].Type, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && name == "" {
			name = id.Name
		}
		return name == ""
	})
	return name
}
