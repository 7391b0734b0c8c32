package schema

import (
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
)

// Source is a .thrift file: the path by which other files include it, and its text.
type Source struct{ Path, Text string }

// Bundle returns the texts of programs of the set and of all that they include, the programs
// first. Their paths say nothing of where they are on the disk, except the names of folders that
// include lines go up through. LoadFrom, with nothing but the bundle, finds the same files. It
// returns an error if that is impossible, since include lines name one file in ways that have no
// common path.
func (s *Set) Bundle(programs ...*Program) ([]Source, error) {
	b := bundle{names: map[*Program]bundleName{}}
	for _, p := range programs {
		b.root(p)
	}
	var files []Source
	texts := Texts{}
	for _, p := range b.order {
		name := b.path(p)
		if _, twice := texts[name]; twice {
			return nil, fmt.Errorf("%s: another file would have the name %s, too", p.Path, name)
		}
		texts[name] = string(p.Source)
		files = append(files, Source{name, string(p.Source)})
	}
	var names []string
	for _, f := range files {
		names = append(names, f.Path)
	}
	if set, err := LoadFrom(texts, names, nil); err != nil {
		return nil, fmt.Errorf("files that find each other where they are do not in a bundle: %w", err)
	} else if len(set.Programs) != len(files) {
		return nil, fmt.Errorf("a bundle of %d files loads %d", len(files), len(set.Programs))
	}
	return files, nil
}

// bundle collects the files of a bundle.
type bundle struct {
	order []*Program
	names map[*Program]bundleName
	dir   string // the folder of the first file, to which names are relative
	up    int    // how many folders above it the names begin
}

// bundleName is where a file is. A fixed name is not relative to the folder of the first file.
type bundleName struct {
	path  string
	fixed bool
}

// root adds a program that no other one has to include.
func (b *bundle) root(p *Program) {
	name := filepath.Base(p.Path)
	if len(b.order) == 0 {
		b.dir = filepath.Dir(p.Path)
	} else if rel, err := filepath.Rel(b.dir, p.Path); err == nil {
		name = filepath.ToSlash(rel)
	}
	b.add(p, bundleName{name, false})
}

// add adds a program, and those that it includes.
func (b *bundle) add(p *Program, name bundleName) {
	if _, known := b.names[p]; known {
		return
	}
	b.names[p] = name
	b.order = append(b.order, p)
	if !name.fixed {
		b.up = max(b.up, strings.Count(name.path, "../"))
	}
	for _, inc := range p.Includes {
		for _, line := range p.AST.Includes {
			if line.Pos != inc.Pos {
				continue
			}
			text := string(line.Path)
			switch slashed := filepath.ToSlash(text); {
			case filepath.IsAbs(text):
				b.add(inc.Program, bundleName{path.Clean(slashed), true})
			case inc.Path == filepath.Join(filepath.Dir(p.Path), text):
				b.add(inc.Program, bundleName{path.Join(path.Dir(name.path), slashed), name.fixed})
			default: // found by -I: the loader looks for it by its own path last
				b.add(inc.Program, bundleName{path.Clean(slashed), true})
			}
		}
	}
}

// path returns the path of a program in the bundle, when all names are known.
func (b *bundle) path(p *Program) string {
	name := b.names[p]
	if name.fixed || b.up == 0 {
		return name.path
	}
	abs, err := filepath.Abs(b.dir)
	if err != nil {
		return name.path
	}
	parts := strings.Split(strings.Trim(filepath.ToSlash(abs), "/"), "/")
	return path.Join(path.Join(parts[max(len(parts)-b.up, 0):]...), name.path)
}

// Texts are files in memory, by their paths with slashes.
type Texts map[string]string

// Canonical returns the path by which the file is known. That need not be a clean one.
func (t Texts) Canonical(name string) (string, error) {
	for _, key := range []string{name, path.Clean(filepath.ToSlash(name))} {
		if _, ok := t[key]; ok {
			return key, nil
		}
	}
	return "", fs.ErrNotExist
}

// IsFile reports whether there is the file.
func (t Texts) IsFile(name string) bool { _, err := t.Canonical(name); return err == nil }

// ReadFile returns the file's text.
func (t Texts) ReadFile(name string) ([]byte, error) {
	key, err := t.Canonical(name)
	return []byte(t[key]), err
}
