// Package migrate rewrites Go packages from the structs of Apache Thrift's compiler or Kitex to
// the accessors that nocopyc generates from the same IDL.
//
// rewrite.go renders syntax trees anew, literal.go composite literals, assign.go statements.
// types.go says what corresponds to what in the old and in the new package. Code that it can't
// rewrite stays, with a TODO comment that says why.
package migrate

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"os"
	"reflect"
	"strconv"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/packages"
)

// Result is the result of Packages.
type Result struct {
	Files  map[string][]byte // the new texts, by the names of files
	Old    map[string][]byte // the texts before
	TODOs  []string          // file:line:col: reason
	Errors []string          // of the compiler, in the new texts
}

// Packages rewrites the packages that patterns match. pairs has the import paths of new packages
// by those of old ones. Nothing is written.
func Packages(dir string, patterns []string, tests bool, pairs map[string]string) (*Result, error) {
	const mode = packages.LoadSyntax
	cfg := &packages.Config{Mode: mode, Dir: dir, Tests: tests}
	all := append([]string(nil), patterns...)
	for _, path := range pairs {
		all = append(all, path)
	}
	loaded, err := packages.Load(cfg, all...)
	if err != nil {
		return nil, err
	}
	chosen, targets, err := chosenOf(loaded, pairs)
	if err != nil {
		return nil, err
	}
	if len(chosen) == 0 {
		return nil, fmt.Errorf("no package matches %s", strings.Join(patterns, " "))
	}
	r := &Result{Files: map[string][]byte{}, Old: map[string][]byte{}}
	if err := r.rewrite(chosen, analyzer(pairs, targets)); err != nil {
		return nil, err
	}
	cfg.Overlay = r.Files
	cfg.Mode = packages.LoadSyntax
	again, err := packages.Load(cfg, patterns...)
	if err != nil {
		return nil, err
	}
	r.addErrors(again)
	return r, nil
}

// chosenOf returns the loaded packages that are to be rewritten, and the new packages that they
// will import, by their import paths.
func chosenOf(loaded []*packages.Package, pairs map[string]string) (chosen []*packages.Package, targets map[string]*types.Package, err error) {
	targets = map[string]*types.Package{}
	isNew := map[string]bool{}
	for _, path := range pairs {
		isNew[path] = true
	}
	for _, p := range loaded {
		if isNew[p.PkgPath] {
			targets[p.PkgPath] = p.Types
		}
		if !isNew[p.PkgPath] && pairs[p.PkgPath] == "" {
			chosen = append(chosen, p)
			if len(p.Errors) > 0 {
				return nil, nil, fmt.Errorf("%s does not compile: %v", p.PkgPath, p.Errors[0])
			}
		}
	}
	for old, path := range pairs {
		if t := targets[path]; t == nil || t.Scope().Len() == 0 {
			return nil, nil, fmt.Errorf("there is no package %s, for %s: generate it with nocopy gen", path, old)
		}
	}
	return chosen, targets, nil
}

// rewrite adds the new texts of packages, and what is left to do in them.
func (r *Result) rewrite(chosen []*packages.Package, a *analysis.Analyzer) error {
	seen := map[string]bool{} // a package and its variant for tests have files in common
	for _, p := range chosen {
		// Package checker would do the same for analyses that need others, with half a megabyte of code.
		result, err := a.Run(&analysis.Pass{Analyzer: a, Fset: p.Fset, Files: p.Syntax, Pkg: p.Types, TypesInfo: p.TypesInfo, TypesSizes: p.TypesSizes})
		if err != nil {
			return err
		}
		made := result.(*Result)
		for name, text := range made.Files {
			r.Files[name], r.Old[name] = text, made.Old[name]
		}
		for _, todo := range made.TODOs {
			if !seen[todo] {
				seen[todo] = true
				r.TODOs = append(r.TODOs, todo)
			}
		}
	}
	return nil
}

// addErrors adds the compiler's errors in packages that were rewritten, each once.
func (r *Result) addErrors(again []*packages.Package) {
	seen := map[string]bool{}
	for _, p := range again {
		for _, e := range p.Errors {
			// Errors that the go command prints have names of files that it has made.
			if text := e.Error(); !seen[text] && (e.Kind == packages.TypeError || e.Kind == packages.ParseError) {
				seen[text] = true
				r.Errors = append(r.Errors, text)
			}
		}
	}
}

// analyzer returns the analysis that rewrites a package. Its result is a *Result.
func analyzer(pairs map[string]string, targets map[string]*types.Package) *analysis.Analyzer {
	return &analysis.Analyzer{
		Name: "migrate", Doc: "rewrites uses of generated structs to accessors", ResultType: reflect.TypeFor[*Result](),
		Run: func(pass *analysis.Pass) (any, error) {
			r := &Result{Files: map[string][]byte{}, Old: map[string][]byte{}}
			for _, file := range pass.Files {
				name := pass.Fset.File(file.FileStart).Name()
				src, err := os.ReadFile(name)
				if err != nil || ast.IsGenerated(file) {
					continue // a file that the go command has made, as of tests; or one of a generator
				}
				w := &rewriter{
					fset: pass.Fset, info: pass.TypesInfo, src: src, start: file.FileStart, scope: pass.TypesInfo.Scopes[file], pairs: pairs, targets: targets,
				}
				text, err := w.file(file)
				if err != nil {
					return nil, fmt.Errorf("%s: %w", name, err)
				}
				r.TODOs = append(r.TODOs, w.report...)
				if !bytes.Equal(text, src) {
					r.Files[name], r.Old[name] = text, src
				}
			}
			return r, nil
		},
	}
}

// imports rewrites the import declarations, and keeps the names by which the file calls packages.
func (w *rewriter) imports(s *ast.ImportSpec) (string, bool) {
	path, err := strconv.Unquote(s.Path.Value)
	if err != nil || w.pairs[path] == "" {
		return "", false
	}
	name := ""
	if s.Name != nil {
		name = s.Name.Name
	} else if p, ok := w.info.Implicits[s].(*types.PkgName); ok && p.Imported().Name() != w.targets[w.pairs[path]].Name() {
		name = p.Imported().Name()
	}
	return strings.TrimSpace(name + " " + strconv.Quote(w.pairs[path])), true
}

func (w *rewriter) position(pos token.Pos) string { return w.fset.Position(pos).String() }
