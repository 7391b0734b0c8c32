package golang

import (
	"path"
	"slices"
	"strings"

	"github.com/nocopythrift/nocopythrift/gen/golang/internal/names"
	"github.com/nocopythrift/nocopythrift/gen/idl"
	"github.com/nocopythrift/nocopythrift/gen/schema"
)

// Need is a Go file that generated code needs and that the same run does not generate.
type Need struct {
	Pos    idl.Position // of the include line that makes it necessary
	Source string       // the .thrift file to generate it from
	Path   string       // slash-separated, relative to the output directory
	// The import path of its package; "" if the code that needs it is in the same package
	Import string
}

// Needs returns the files that the code from Generate needs, but Generate does not return.
func Needs(set *schema.Set, opt Options) []Need {
	g := newGenerator(set, opt)
	seen := map[*schema.Program]bool{}
	for _, p := range g.programs {
		seen[p] = true
	}
	var list []Need
	var visit func(root, p *schema.Program)
	visit = func(root, p *schema.Program) {
		for _, q := range names.Uses(p) {
			if seen[q] {
				continue
			}
			seen[q] = true
			n := Need{g.includeOf(root, func(i *schema.Program) bool { return i == q }), q.Path, g.path(q), ""}
			if g.packageOf[q] != g.packageOf[root] {
				n.Import = g.importPath(g.packageOf[q])
			}
			list = append(list, n)
			visit(root, q)
		}
	}
	for _, p := range g.programs {
		visit(p, p)
	}
	return list
}

// path returns the name of the Go file for a .thrift file, relative to the output directory.
func (g *generator) path(p *schema.Program) string {
	return path.Join(g.packageOf[p].Dir, names.FileName(p.Name))
}

// checkPaths adds errors for files that would overwrite each other, and for packages
// whose names differ only in the case of letters.
func (g *generator) checkPaths() {
	files, folders := map[string]*schema.Program{}, map[string]*names.Package{}
	for _, p := range g.set.Programs {
		pkg := g.packageOf[p]
		if !pkg.Used {
			continue
		}
		at := p.NamespacePos("go")
		name := g.path(p)
		if other := files[strings.ToLower(name)]; other != nil {
			g.errs.Add(at, "%s would be generated from %s too: give each file a \"namespace go\" of its own, or rename one", name, other.Path)
		}
		files[strings.ToLower(name)] = p
		folder := strings.ToLower(pkg.Dir)
		if other := folders[folder]; other != nil && other != pkg {
			g.errs.Add(at, "packages %s and %s differ in the case of letters only, which Go refuses: change one \"namespace go\"", other.Dir, pkg.Dir)
		}
		folders[folder] = pkg
	}
}

// includeOf returns the position of the include line of p that includes, directly or indirectly, a
// file for which wanted returns true. If there is none, it returns the start of p.
func (g *generator) includeOf(p *schema.Program, wanted func(*schema.Program) bool) idl.Position {
	seen := map[*schema.Program]bool{}
	var reaches func(q *schema.Program) bool
	reaches = func(q *schema.Program) bool {
		if wanted(q) {
			return true
		}
		if seen[q] {
			return false
		}
		seen[q] = true
		return slices.ContainsFunc(q.Includes, func(i schema.Include) bool { return reaches(i.Program) })
	}
	for _, i := range p.Includes {
		if reaches(i.Program) {
			return i.Pos
		}
	}
	return idl.Position{Filename: p.Path, Line: 1, Column: 1}
}

// isIn returns a function that reports whether a file's code goes to pkg.
func (g *generator) isIn(pkg *names.Package) func(*schema.Program) bool {
	return func(p *schema.Program) bool { return g.packageOf[p] == pkg }
}

// importPath returns the import path of a package, or "" if it is unknown.
func (g *generator) importPath(pkg *names.Package) string {
	switch {
	case g.opt.PackagePrefix != "":
		return path.Join(g.opt.PackagePrefix, pkg.Dir)
	case pkg.Written && g.opt.ModulePath != "":
		return path.Join(g.opt.ModulePath, pkg.Dir)
	}
	return ""
}

// checkImport adds an error if Go does not allow p's code to import pkg, whose import path is at.
func (g *generator) checkImport(p *schema.Program, pkg *names.Package, at string) {
	include := g.includeOf(p, g.isIn(pkg))
	if prefix := strings.TrimSuffix(g.opt.PackagePrefix, "/"); prefix != "" && !validImport(prefix) {
		at = prefix
	}
	switch {
	case at == "" && g.opt.ModulePath != "":
		g.errs.Add(include, "the import path of package %s is needed: give -package-prefix, or -r to generate it too", pkg.Dir)
	case at == "":
		g.errs.Add(include, "the import path of package %s is needed: give -package-prefix", pkg.Dir)
	case !validImport(at):
		g.errs.Add(include, "%q is no import path that Go allows: give another -package-prefix or output directory", at)
	case !mayImport(g.packageOf[p].Dir, pkg.Dir):
		g.errs.Add(include, "Go does not let package %s import %s: rename the folder called internal in its \"namespace go\"", g.packageOf[p].Dir, pkg.Dir)
	}
}

// checkImportOnce is checkImport, but does not repeat an error that was reported before, for
// example for the file's other code.
func (g *generator) checkImportOnce(p *schema.Program, pkg *names.Package, at string) {
	known := len(g.errs)
	g.checkImport(p, pkg, at)
	for _, e := range g.errs[:known] {
		if len(g.errs) > known && *e == *g.errs[known] {
			g.errs = g.errs[:known]
		}
	}
}

// checkTwice adds an error if one of the others, or a file that will be generated later, has this
// name.
func (g *generator) checkTwice(p *schema.Program, name string, others []File) {
	twice := slices.ContainsFunc(others, func(f File) bool { return f.Path == name }) ||
		slices.ContainsFunc(g.programs, func(q *schema.Program) bool { return g.path(q) == name })
	if twice {
		g.errs.Add(idl.Position{Filename: p.Path, Line: 1, Column: 1}, "%s is made from two files: change the name of one", name)
	}
}

// validImport reports whether Go allows an import path.
func validImport(at string) bool {
	for part := range strings.SplitSeq(at, "/") {
		if part == "" || strings.HasPrefix(part, ".") || strings.HasSuffix(part, ".") {
			return false
		}
	}
	return !strings.HasPrefix(at, "-") && !strings.ContainsFunc(at, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("/-._~+", r))
	})
}

// mayImport reports whether code in the folder from may import the package in the folder dir.
// Packages below a folder called internal are only for code below that folder's parent.
func mayImport(from, dir string) bool {
	around := "/" + dir + "/"
	i := strings.LastIndex(around, "/internal/")
	return i < 0 || strings.HasPrefix("/"+from+"/", around[:i+1])
}

// checkCycles adds errors for Go packages that would import each other. This can happen even if no
// .thrift file includes itself.
func (g *generator) checkCycles() {
	uses := map[*names.Package][]*names.Package{}
	where := map[[2]*names.Package]*schema.Program{}
	for _, p := range g.set.Programs {
		for _, pkg := range g.packageOf.Imports(p) {
			from := g.packageOf[p]
			if !slices.Contains(uses[from], pkg) {
				uses[from] = append(uses[from], pkg)
				where[[2]*names.Package{from, pkg}] = p
			}
		}
	}
	const underway, done = 1, 2
	state := map[*names.Package]int{}
	var stack []*names.Package
	var visit func(pkg *names.Package)
	visit = func(pkg *names.Package) {
		state[pkg] = underway
		stack = append(stack, pkg)
		for _, next := range uses[pkg] {
			switch state[next] {
			case 0:
				visit(next)
			case underway:
				p := where[[2]*names.Package{pkg, next}]
				g.errs.Add(g.includeOf(p, g.isIn(next)), "Go packages would import each other: %s", cycleText(stack, next))
			}
		}
		stack = stack[:len(stack)-1]
		state[pkg] = done
	}
	for _, p := range g.set.Programs {
		if state[g.packageOf[p]] == 0 {
			visit(g.packageOf[p])
		}
	}
}

// cycleText returns a cycle of packages as text: the part of stack from first on, and first again.
func cycleText(stack []*names.Package, first *names.Package) string {
	var names []string
	for _, pkg := range stack[slices.Index(stack, first):] {
		names = append(names, pkg.Dir)
	}
	return strings.Join(append(names, first.Dir), " → ")
}
