package schema

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nocopythrift/nocopythrift/gen/idl"
)

// Load reads files and the files that they include. Included files are looked for in the folder of
// the including file, then in includeDirs, then by their own paths, in the working directory. The
// error is an idl.ErrorList; there is a Set in any case.
func Load(files, includeDirs []string) (*Set, error) { return LoadFrom(Disk, files, includeDirs) }

// LoadFrom is Load with another source of files.
func LoadFrom(from Files, files, includeDirs []string) (*Set, error) {
	l := loader{from: from, dirs: includeDirs, byPath: map[string]*Program{}, set: &Set{}}
	for _, file := range files {
		pos := idl.Position{Filename: file, Line: 1, Column: 1}
		p := l.file(file, pos)
		if p != nil && !slices.Contains(l.set.Roots, p) {
			l.set.Roots = append(l.set.Roots, p)
		}
	}
	c := checker{set: l.set, errs: &l.errs, bytes: l.bytes}
	c.check()
	var order []string
	for _, p := range l.set.Programs {
		order = append(order, p.Path)
	}
	l.errs.Sort(order...)
	l.set.Warnings.Sort(order...)
	return l.set, l.errs.Err()
}

type loader struct {
	from   Files
	dirs   []string
	byPath map[string]*Program
	stack  []*Program // the files that are being read, each included by the previous one
	set    *Set
	errs   idl.ErrorList
	bytes  int // total size of the files that were read
}

// file loads a file, unless it was loaded before. from is the position for an error. It returns
// nil if the file can't be read or includes itself.
func (l *loader) file(path string, from idl.Position) *Program {
	key, err := l.from.Canonical(path)
	if err != nil {
		l.errs.Add(from, "cannot read %s: %s", path, ioReason(err))
		return nil
	}
	if p := l.byPath[key]; p != nil {
		if i := slices.Index(l.stack, p); i >= 0 {
			l.errs.Add(from, "include cycle: %s", cycleText(l.stack[i:]))
			return nil
		}
		return p
	}
	src, err := l.from.ReadFile(path)
	if err != nil {
		l.errs.Add(from, "cannot read %s: %s", path, ioReason(err))
		return nil
	}
	l.bytes += len(src)
	p := &Program{Path: path, Source: src, canonical: key, Name: programName(path)}
	l.byPath[key] = p
	p.AST, err = Parse(l.from, path, src)
	var list idl.ErrorList
	if errors.As(err, &list) {
		l.errs = append(l.errs, list...)
	}
	l.set.Warnings = append(l.set.Warnings, p.AST.Warnings...)
	l.stack = append(l.stack, p)
	for _, inc := range p.AST.Includes {
		l.include(p, inc)
	}
	l.stack = l.stack[:len(l.stack)-1]
	l.set.Programs = append(l.set.Programs, p)
	return p
}

// include loads a file that p includes.
func (l *loader) include(p *Program, inc *idl.Include) {
	name := string(inc.Path)
	places := []string{filepath.Join(filepath.Dir(p.Path), name)}
	for _, dir := range l.dirs {
		places = append(places, filepath.Join(dir, name))
	}
	places = append(places, filepath.Clean(name)) // from the working directory, as in thriftgo
	if filepath.IsAbs(name) {
		places = []string{name}
	}
	for i, place := range places {
		if !l.from.IsFile(place) {
			continue
		}
		if i > len(l.dirs) {
			l.set.Warnings.AddAbout(idl.Apache, inc.Pos, "%s is found in the working directory; Apache's compiler needs -I . for that", name)
		}
		q := l.file(place, inc.Pos)
		if q == nil || len(q.AST.Definitions) == 0 && l.errs.In(q.Path) {
			p.AST.Broken[programName(name)+"."] = true
		}
		if q != nil {
			l.addInclude(p, q, inc.Pos)
		}
		return
	}
	p.AST.Broken[programName(name)+"."] = true
	l.errs.Add(inc.Pos, "cannot find include file %q: give the directory that it is in with -I", name)
}

// addInclude adds q to the files that p includes, unless it is one of them.
func (l *loader) addInclude(p, q *Program, pos idl.Position) {
	known := false
	for _, i := range p.Includes {
		known = known || i.Program == q
		if i.Name != q.Name {
			continue
		}
		if name := definedTwice(i.AST, q.AST); name != "" {
			l.set.Warnings.AddAbout(idl.Apache, pos, "Apache's compiler refuses to include %s twice, since %s.%s is defined twice then", q.Name, q.Name, name)
			break
		}
	}
	if !known {
		p.Includes = append(p.Includes, Include{q, pos})
	}
}

// programName returns the name by which including files refer to a file.
func programName(path string) string {
	base := filepath.Base(path)
	return strings.TrimSuffix(base, filepath.Ext(base))
}

// cycleText returns a circle of includes as text.
func cycleText(stack []*Program) string {
	var b strings.Builder
	for _, p := range stack {
		b.WriteString(p.Path + " → ")
	}
	return b.String() + stack[0].Path
}

// ioReason returns the text of an I/O error without the path, which the message contains anyway.
func ioReason(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err.Error()
	}
	return err.Error()
}
