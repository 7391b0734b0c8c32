package lsp

import (
	"io/fs"
	"maps"
	"path/filepath"
	"strings"

	"github.com/nocopythrift/nocopythrift/gen/idl"
	"github.com/nocopythrift/nocopythrift/gen/schema"
)

// overlay has the files that checks read: those open in the editor, mended, and those on disk. It
// keeps syntax trees, so that files are parsed again only if they have changed.
type overlay struct {
	root    string           // to which relative paths are relative; "" is none
	docs    map[string]*file // the open ones, by path
	entries map[string]*entry
	read    map[string]bool // what was read since it was made
	parsed  int             // how many texts were parsed, for tests
}

// entry is what is kept of a file.
type entry struct {
	src    string
	name   string // in positions
	cache  idl.Cache
	broken map[string]bool // as the parser left it
	err    error
	mended // text is src, unless the file is open
}

// maxKept bounds the texts of files that are not open and whose trees are kept. A tree takes some
// 30 times as much memory as its text.
const maxKept = 1 << 20

// abs returns the path by which a file is known.
func (o *overlay) abs(name string) (string, error) {
	if o.docs[name] != nil {
		return name, nil
	}
	if !filepath.IsAbs(name) {
		if o.root == "" {
			return "", &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
		}
		name = filepath.Join(o.root, name)
	}
	if o.docs[name] != nil {
		return name, nil
	}
	return filepath.EvalSymlinks(name)
}

// Canonical implements schema.Files.
func (o *overlay) Canonical(name string) (string, error) { return o.abs(name) }

// IsFile implements schema.Files.
func (o *overlay) IsFile(name string) bool {
	if strings.ContainsRune(name, 0) {
		return false
	}
	name, err := o.abs(name)
	return err == nil && (o.docs[name] != nil || schema.Disk.IsFile(name))
}

// ReadFile implements schema.Files.
func (o *overlay) ReadFile(name string) ([]byte, error) {
	key, err := o.abs(name)
	if err != nil {
		return nil, err
	}
	o.read[key] = true
	if o.docs[key] != nil {
		return []byte(o.mended(key).text), nil
	}
	return schema.Disk.ReadFile(key)
}

// Parse implements schema.Parser.
func (o *overlay) Parse(name string, src []byte) (*idl.File, error) {
	key, err := o.abs(name)
	if err != nil {
		return nil, err
	}
	e := o.entries[key]
	if o.docs[key] != nil {
		e = o.mended(key)
	} else if e == nil || e.src != string(src) || e.name != name {
		e = &entry{src: string(src), name: name}
		o.entries[key] = e
		o.parsed++
		e.ast, e.err = idl.Parse(name, src)
		e.broken = maps.Clone(e.ast.Broken)
	}
	ast := *e.ast
	ast.Broken = maps.Clone(e.broken)
	return &ast, e.err
}

// mended returns what is kept of an open file.
func (o *overlay) mended(key string) *entry {
	f, e := o.docs[key], o.entries[key]
	if e == nil {
		e = &entry{}
		o.entries[key] = e
	}
	if e.src != f.src || e.name != f.path {
		e.src, e.name, e.err = f.src, f.path, nil
		o.parsed++
		e.mended = mend(f, &e.cache)
		e.broken = maps.Clone(e.ast.Broken)
		if len(e.errors) > 0 { // the checks then know that something may be missing
			e.err = e.errors
		}
	}
	return e
}

// forget drops what is kept of files that are not needed any more, or are too many.
func (o *overlay) forget(needed func(name string) bool) {
	kept := 0
	for key, e := range o.entries {
		switch {
		case !needed(key):
			delete(o.entries, key)
		case o.docs[key] == nil:
			if kept += len(e.src); kept > maxKept {
				delete(o.entries, key)
			}
		}
	}
}
