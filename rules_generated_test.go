package nocopythrift_test

import (
	"crypto/sha256"
	"fmt"
	"go/ast"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
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

// TestReleased: nobody has changed the code that released versions generated, or its tests. There
// is a folder for each version from 1.0 on that CHANGELOG.md has.
func TestReleased(t *testing.T) {
	for _, root := range []string{"gen/internal/released", "kitex/internal/released"} {
		folders, err := filepath.Glob(root + "/v[0-9]*")
		if err != nil || len(folders) == 0 {
			t.Fatalf("%s has no released version (%v)", root, err)
		}
		for _, folder := range folders {
			sums, err := os.ReadFile(folder + "/sums.txt")
			if err != nil {
				t.Fatal(err)
			}
			var has strings.Builder // as sha256sum writes it
			err = fs.WalkDir(os.DirFS(folder), ".", func(name string, d fs.DirEntry, err error) error {
				if err != nil || d.IsDir() || name == "sums.txt" {
					return err
				}
				b, err := os.ReadFile(filepath.Join(folder, name))
				fmt.Fprintf(&has, "%x  %s\n", sha256.Sum256(b), name)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			if got, want := sortedLines(has.String()), sortedLines(string(sums)); !slices.Equal(got, want) {
				t.Errorf("%s is not as it was released: see git log, and undo it\nit is\n%s\nit was\n%s", folder,
					strings.Join(got, ""), strings.Join(want, ""))
			}
		}
		changes, err := os.ReadFile("CHANGELOG.md")
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?m)^## \[?(v?[1-9]\d*\.\d+\.\d+[-.\w]*)`).FindAllStringSubmatch(string(changes), -1) {
			if folder := root + "/v" + strings.TrimPrefix(m[1], "v"); !slices.Contains(folders, folder) {
				t.Errorf("%s is missing: make freeze VERSION=v%s", folder, strings.TrimPrefix(m[1], "v"))
			}
		}
	}
}

func sortedLines(text string) []string { return slices.Sorted(strings.Lines(text)) }
