package nocopythrift_test

import (
	"go/ast"
	"path"
	"regexp"
	"strings"
	"testing"
)

// TestForGeneratedCode: what begins with X in package nocopy says whom it is for, and only
// thriftimpl says nocopy.X…, and the packages that it imports.
func TestForGeneratedCode(t *testing.T) {
	sources(t, ".", func(name string, src []byte) {
		dir := path.Dir(name)
		if m := regexp.MustCompile(`\bnocopy\.X\w*`).Find(src); m != nil && dir != "nocopy/thriftimpl" && dir != "nocopy/internal/plain" && dir != "nocopy/nocopyjson" &&
			name != "rules_generated_test.go" && name != "nocopy/inline_test.go" && dir != "nocopy/tests/model" && dir != "nocopy/tests/nocopy" && dir != "nocopy/tests/compact" {
			t.Errorf("%s says %s, of which package thriftimpl has another name", name, m)
		}
		if dir != "nocopy" || strings.HasSuffix(name, "_test.go") {
			return
		}
		for _, d := range parse(src).Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, spec := range g.Specs {
				s, ok := spec.(*ast.TypeSpec)
				if !ok || !regexp.MustCompile(`^X([A-Z]|$)`).MatchString(s.Name.Name) {
					continue
				}
				if doc := g.Doc.Text() + s.Doc.Text(); !strings.HasPrefix(doc, "For generated code") && !strings.HasPrefix(doc, "For package rpc") && !strings.HasPrefix(doc, "For package nocopyjson") {
					t.Errorf("%s: the comment of %s does not say whom it is for", name, s.Name)
				}
			}
		}
	})
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
