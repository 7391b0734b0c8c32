package golang

import (
	"slices"
	"strings"

	"github.com/nocopythrift/nocopythrift/gen/golang/internal/rules"
	"github.com/nocopythrift/nocopythrift/gen/schema"
)

// Generate returns the Go files for the roots of set, or for all its files if
// opt.Recursive. An error is an idl.ErrorList, and comes without files.
func Generate(set *schema.Set, opt Options) ([]File, error) {
	return newGenerator(set, opt).generate()
}

// Check returns the error that Generate would return. Most of Generate's time goes into
// formatting, which is not done.
func Check(set *schema.Set, opt Options) error {
	g := newGenerator(set, opt)
	g.checking = true
	_, err := g.generate()
	return err
}

func (g *generator) generate() ([]File, error) {
	g.checkPaths()
	g.checkCycles()
	g.rules = rules.Read(g.set, g.programs, g.packageOf, &g.errs)
	var files []File
	for _, p := range g.programs {
		f := g.newFile(p)
		src, err := f.source()
		if err != nil && len(g.errs) == 0 {
			g.bug(p, err)
		}
		files = append(files, File{g.path(p), src})
		if g.opt.Fields {
			files = append(files, f.fieldsFile(files)...)
		}
		files = append(files, f.reflectFile(files)...)
		if g.opt.Kitex {
			files = append(files, g.kitexFiles(p, files)...)
		}
	}
	if len(g.errs) > 0 {
		var order []string
		for _, p := range g.programs {
			order = append(order, p.Path)
		}
		g.errs.Sort(order...)
		return nil, g.errs
	}
	slices.SortStableFunc(files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return files, nil
}
