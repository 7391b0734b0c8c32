package nocopythrift_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/testmode"
)

var (
	apiWrite   = flag.Bool("api.write", false, "TestAPI writes added names to api/next.txt")
	apiRelease = flag.String("api.release", "", "TestAPI writes api/`VERSION`.txt, with all names that no earlier one has, and empties next.txt")
)

// apiModules are the modules whose packages programs import, by folder.
var apiModules = []string{".", "hive", "hive/arrowhive", "kerberos", "kitex", "otel", "parquetmeta"}

// unpromised are the beginnings of the import paths of packages, after the module's, that make no
// promise: commands' parts, which other modules of this repository import, and examples.
var unpromised = []string{"gen/", "examples/", "interop/", "kitex/examples/", "hive/bench/"}

// TestAPI: the exported names are those of api/*.txt. Each release has a file with the names that
// it added, and next.txt has those of the next one. Released names stay as they are.
func TestAPI(t *testing.T) {
	released, next := map[string]bool{}, map[string]bool{}
	files, err := filepath.Glob("api/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		into := released
		switch filepath.Base(file) {
		case "next.txt":
			into = next
		case *apiRelease + ".txt":
			continue
		}
		for _, line := range apiLines(t, file) {
			into[undeprecated(line)] = true
		}
	}
	writing := *apiWrite || *apiRelease != ""
	now := map[string]bool{}
	for _, dir := range apiModules {
		t.Run(dir, func(t *testing.T) {
			if dir != "." && !testmode.Long && !writing {
				t.Skip("in the long form: it compiles what the module requires")
			}
			lines, all := apiOf(t, dir)
			found := map[string]bool{}
			for _, line := range lines {
				now[line], found[undeprecated(line)] = true, true
			}
			for line := range released {
				if apiModule(line) == dir && !all[line] {
					t.Errorf("changed or gone: %s\n\tprograms are compiled against it: see docs/upgrading.md", line)
				}
			}
			for _, line := range lines {
				// Programs have types that implement it, unless it has methods that are not exported.
				if of, _, is := strings.Cut(line, " interface, "); is && released[of+" interface"] &&
					!released[undeprecated(line)] && !released[of+" interface, unexported methods"] {
					t.Errorf("an interface of a release gets a method: %s", line)
				}
			}
			if writing {
				return
			}
			for line := range found {
				if !released[line] && !next[line] {
					t.Errorf("added: %s\n\tif it is meant to stay, run: make api", line)
				}
			}
			for line := range next {
				if apiModule(line) == dir && !found[line] {
					t.Errorf("api/next.txt has what is not there (not released yet, it may go): %s\n\trun: make api", line)
				}
			}
		})
	}
	if !writing || t.Failed() {
		return
	}
	var added []string
	for line := range now {
		if !released[undeprecated(line)] {
			added = append(added, line+"\n")
		}
	}
	slices.Sort(added)
	text := []byte(strings.Join(added, ""))
	if *apiRelease == "" {
		writeFile(t, "api/next.txt", text)
		return
	}
	if tags, err := exec.Command("git", "tag", "--list", *apiRelease+".0").Output(); err != nil || len(tags) > 0 {
		t.Fatalf("%s.0 is released, and its names are fixed (%v)", *apiRelease, err)
	}
	writeFile(t, "api/"+*apiRelease+".txt", text)
	writeFile(t, "api/next.txt", nil)
}

// undeprecated returns what a line promises: a name may become deprecated.
func undeprecated(line string) string { return strings.TrimSuffix(line, " //deprecated") }

func writeFile(t *testing.T, name string, text []byte) {
	if err := os.WriteFile(name, text, 0o666); err != nil {
		t.Fatal(err)
	}
	t.Logf("%s has %d lines", name, bytes.Count(text, []byte("\n")))
}

// apiLines returns the lines of a file, which must be sorted, without repetitions.
func apiLines(t *testing.T, file string) []string {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(bytes.ReplaceAll(text, []byte("\r"), nil)), "\n"), "\n")
	if len(text) == 0 {
		lines = nil
	}
	for i, line := range lines[min(1, len(lines)):] {
		if lines[i] >= line {
			t.Errorf("%s: not sorted: %s", file, line)
		}
	}
	return lines
}

// apiModule returns the folder of the module that a line is about.
func apiModule(line string) (dir string) {
	pkg, _, _ := strings.Cut(strings.TrimPrefix(line, "pkg "), ",")
	dir = "."
	for _, m := range apiModules {
		if (pkg + "/")[:min(len(pkg)+1, len(m)+1)] == m+"/" && len(m) > len(dir) {
			dir = m
		}
	}
	return dir
}

// listed is a package as go list describes it.
type listed struct {
	ImportPath, Name, Dir, Export string
	GoFiles                       []string
}

// goList returns the packages that the go command lists in the folder dir, in the form for Linux.
func goList(t *testing.T, dir string, args ...string) (list []listed) {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list", "-tags=", "-json=ImportPath,Name,Dir,Export,GoFiles"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list in %s: %v\n%s", dir, err, &stderr)
	}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := d.Decode(&p); err == io.EOF {
			return list
		} else if err != nil {
			t.Fatal(err)
		}
		list = append(list, p)
	}
}

// promised reports whether the names of a package are part of the API.
func promised(p listed) bool {
	rel, ours := strings.CutPrefix(p.ImportPath, module+"/")
	return ours && p.Name != "main" && len(p.GoFiles) > 0 && !isInternal(rel) && !isUnpromised(rel)
}

func isUnpromised(dir string) bool {
	return slices.ContainsFunc(unpromised, func(s string) bool { return strings.HasPrefix(dir+"/", s) })
}

// apiOf returns a line for each exported name that is promised of the module in the folder dir.
// The map also has those that nothing mentions, see byMention, since older code may; it has no
// marks of deprecation. It reads the types that the compiler has exported, which are the same on
// every machine.
func apiOf(t *testing.T, dir string) ([]string, map[string]bool) {
	t.Helper()
	var public []string
	docs := map[string]map[string]bool{} // by path: the deprecated names
	for _, p := range goList(t, dir, "./...") {
		if promised(p) && apiModule(strings.TrimPrefix(p.ImportPath, module+"/")) == dir {
			public = append(public, p.ImportPath)
			docs[p.ImportPath] = deprecated(t, p)
		}
	}
	exports := map[string]string{}
	var imported []string
	for _, p := range goList(t, dir, append([]string{"-export", "-deps"}, public...)...) {
		exports[p.ImportPath] = p.Export
		if promised(p) && !slices.Contains(public, p.ImportPath) {
			imported = append(imported, p.ImportPath)
		}
	}
	imp := importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	load := func(path string) *types.Package {
		pkg, err := imp.Import(path)
		if err != nil {
			t.Fatal(err)
		}
		return pkg
	}
	names := map[types.Object]string{} // public names of internal types
	slices.SortFunc(imported, byLength)
	slices.SortFunc(public, byLength)
	for _, p := range slices.Concat(imported, public) {
		addAliases(names, load(p))
	}
	lines, written, all := map[string]bool{}, map[types.Object]bool{}, map[string]bool{}
	var used map[types.Object]string
	if dir == "." {
		used = mentioned(t, imp)
		for p := range exports {
			if importable(p) {
				public = append(public, p)
			}
		}
	}
	for _, p := range public {
		w := &apiWriter{pkg: load(p), names: names, deprecated: docs[p], lines: lines, mentioned: used, written: written}
		w.prefix = "pkg " + strings.TrimPrefix(p, module+"/") + ", "
		w.all()
		w.everything, w.lines, w.written, w.deprecated = true, all, map[types.Object]bool{}, nil
		w.all()
	}
	for obj, file := range used {
		if p := obj.Pkg(); p != nil && strings.HasPrefix(p.Path(), module+"/nocopy/internal/") && obj.Exported() && !written[obj] {
			t.Errorf("%s mentions %s, which no public package names", file, obj)
		}
	}
	return slices.Sorted(maps.Keys(lines)), all
}

// byLength puts short paths first: nocopy's names are preferred to those of packages below it.
func byLength(a, b string) int {
	if len(a) != len(b) {
		return len(a) - len(b)
	}
	return strings.Compare(a, b)
}

func isInternal(pkg string) bool {
	return slices.Contains(strings.Split(pkg, "/"), "internal")
}

// addAliases notes the exported names of p for types of internal packages.
func addAliases(names map[types.Object]string, p *types.Package) {
	for _, name := range p.Scope().Names() {
		obj, ok := p.Scope().Lookup(name).(*types.TypeName)
		if !ok || !obj.Exported() || !obj.IsAlias() {
			continue
		}
		named, ok := types.Unalias(obj.Type()).(*types.Named)
		if ok && named.Obj().Pkg() != nil && isInternal(named.Obj().Pkg().Path()) && names[named.Obj()] == "" {
			names[named.Obj()] = path.Base(p.Path()) + "." + name
		}
	}
}

// deprecated returns the names in p, for methods and fields with the type's, that a paragraph of
// their comment calls deprecated.
func deprecated(t *testing.T, p listed) map[string]bool {
	found := map[string]bool{}
	note := func(name string, comments ...*ast.CommentGroup) {
		for _, c := range comments {
			if text := "\n" + c.Text(); strings.Contains(text, "\nDeprecated: ") {
				found[name] = true
			}
		}
	}
	for _, file := range p.GoFiles {
		src, err := os.ReadFile(filepath.Join(p.Dir, file))
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parse(src).Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				name := d.Name.Name
				if d.Recv != nil {
					name = receiver(d.Recv.List[0].Type) + "." + name
				}
				note(name, d.Doc)
			case *ast.GenDecl:
				for _, s := range d.Specs {
					switch s := s.(type) {
					case *ast.TypeSpec:
						note(s.Name.Name, d.Doc, s.Doc)
						if st, ok := s.Type.(*ast.StructType); ok {
							for _, f := range st.Fields.List {
								for _, n := range f.Names {
									note(s.Name.Name+"."+n.Name, f.Doc)
								}
							}
						}
					case *ast.ValueSpec:
						for _, n := range s.Names {
							note(n.Name, s.Doc)
							if !d.Lparen.IsValid() {
								note(n.Name, d.Doc)
							}
						}
					}
				}
			}
		}
	}
	return found
}

// receiver returns the name of a receiver's type.
func receiver(e ast.Expr) string {
	for {
		switch x := e.(type) {
		case *ast.StarExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.IndexListExpr:
			e = x.X
		case *ast.Ident:
			return x.Name
		default:
			return fmt.Sprintf("%T", e)
		}
	}
}

// TestDeprecated: go fix can replace each deprecated function, method and constant.
func TestDeprecated(t *testing.T) {
	found := 0
	check := func(name, what string, doc *ast.CommentGroup) {
		if doc == nil || !strings.Contains("\n"+doc.Text(), "\nDeprecated: ") {
			return
		}
		found++
		if !slices.ContainsFunc(doc.List, func(c *ast.Comment) bool { return c.Text == "//go:fix inline" }) {
			t.Errorf("%s: %s is deprecated, and has no line //go:fix inline", name, what)
		}
	}
	sources(t, ".", func(name string, src []byte) {
		if generated(src) || strings.HasSuffix(name, "_test.go") || strings.Contains(name, "/tests/") {
			return
		}
		for _, d := range parse(src).Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				check(name, d.Name.Name, d.Doc)
			case *ast.GenDecl:
				if d.Tok == token.CONST {
					check(name, "const", d.Doc)
				}
			}
		}
	})
	if found < 10 {
		t.Errorf("%d deprecated names", found)
	}
}
