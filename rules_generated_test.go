package nocopythrift_test

import (
	"go/ast"
	"path"
	"regexp"
	"strings"
	"testing"
)

// TestPeoplesNames: package nocopy has no names that are only for generated code (they began with
// X in the past), and at most 25 files.
func TestPeoplesNames(t *testing.T) {
	files := 0
	sources(t, "nocopy", func(name string, src []byte) {
		if path.Dir(name) != "nocopy" || strings.HasSuffix(name, "_test.go") {
			return
		}
		files++
		for _, d := range parse(src).Decls {
			var names []*ast.Ident
			switch d := d.(type) {
			case *ast.FuncDecl:
				names = append(names, d.Name)
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					switch s := spec.(type) {
					case *ast.TypeSpec:
						names = append(names, s.Name)
					case *ast.ValueSpec:
						names = append(names, s.Names...)
					}
				}
			}
			for _, n := range names {
				if regexp.MustCompile(`^X([A-Z]|$)`).MatchString(n.Name) {
					t.Errorf("%s: %s", name, n.Name)
				}
			}
			if text := textOf(src, d); strings.Contains(text, "For generated code") {
				t.Errorf("%s has something for generated code: %s", name, strings.SplitN(text, "\n", 2)[0])
			}
		}
	})
	if files < 10 || files > 25 {
		t.Errorf("package nocopy has %d files", files)
	}
}

// TestExamplesCanBeCopied: programs outside of this repository can't import its internal packages,
// so an example that does can't be copied.
func TestExamplesCanBeCopied(t *testing.T) {
	for _, root := range []string{"examples", "kitex/examples"} {
		sources(t, root, func(name string, src []byte) {
			for _, imported := range imports(src) {
				if internal, ok := strings.CutPrefix(imported, module); ok && strings.Contains(internal+"/", "/internal/") && !strings.HasPrefix(internal, "/examples/") {
					t.Errorf("%s imports %s", name, imported)
				}
			}
		})
	}
}
