package lsp

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/nocopythrift/nocopythrift/gen/schema"
)

// file is a .thrift file with its tree, as it is on the disk or in the editor. It does not change.
type file struct {
	*tree
	path  string // canonical: the same for all paths that lead to it
	table *lines // nil if the file is not open
	mod   time.Time
	size  int64
}

// lines returns the file's lines.
func (f *file) lines() *lines {
	if f.table != nil {
		return f.table
	}
	return linesOf(f.src)
}

// The bounds of what is read, so that a workspace can be any folder.
const (
	maxFile  = schema.MaxFile
	maxFiles = 20_000
	maxLooks = 200_000   // files of any kind that are looked at to find them
	maxBytes = 256 << 20 // of all files together
)

// workspace has the files of an editor's session. One goroutine uses it.
type workspace struct {
	roots  []string // folders that the editor has open
	dirs   []string // in which included files are looked for
	open   map[string]*document
	files  map[string]*file // by path
	bytes  int64            // of files
	listed bool             // rest was made
	rest   []string         // files that are not yet read, see index
	parsed int              // how many texts were parsed, for tests

	// known has the results of load since the last message: a file is looked at once for each.
	known map[string]*file
}

func newWorkspace() *workspace {
	return &workspace{open: map[string]*document{}, files: map[string]*file{}, known: map[string]*file{}}
}

// canonical returns the path by which a file is known.
func canonical(name string) string {
	if real, err := filepath.EvalSymlinks(name); err == nil {
		return real
	}
	return filepath.Clean(name)
}

// set gives an open document a text.
func (w *workspace) set(uri string, version int32, src string) *document {
	name := pathOf(uri)
	if name == "" {
		name = uri
	} else {
		name = canonical(name)
	}
	d := &document{uri: uri, version: version, file: &file{tree: parse(src), path: name, table: linesOf(src)}}
	w.parsed++
	w.open[uri] = d
	w.keep(d.file)
	return d
}

// close forgets the editor's text of a document.
func (w *workspace) close(uri string) {
	d := w.open[uri]
	if d == nil {
		return
	}
	delete(w.open, uri)
	w.drop(d.file.path)
	for _, other := range w.open { // the same file by another URI
		if other.file.path == d.file.path {
			w.keep(other.file)
		}
	}
}

func (w *workspace) keep(f *file) {
	w.drop(f.path)
	clear(w.known)
	w.files[f.path] = f
	w.bytes += int64(len(f.src))
}

func (w *workspace) drop(name string) {
	if f := w.files[name]; f != nil {
		w.bytes -= int64(len(f.src))
		delete(w.files, name)
		clear(w.known)
	}
}

// load returns the file at a path, as the editor or else the disk has it; nil if there is none.
func (w *workspace) load(name string) *file {
	f, ok := w.known[name]
	if !ok {
		f = w.look(name)
		w.known[name] = f
	}
	return f
}

// look is load without known.
func (w *workspace) look(name string) *file {
	if f := w.files[name]; f != nil && f.table != nil {
		return f
	}
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() {
		w.drop(name)
		return nil
	}
	name = canonical(name)
	f := w.files[name]
	if f != nil && (f.table != nil || f.mod.Equal(info.ModTime()) && f.size == info.Size()) {
		return f
	}
	src, err := schema.Disk.ReadFile(name)
	if err != nil || w.bytes+int64(len(src)) > maxBytes {
		w.drop(name)
		return nil
	}
	f = &file{tree: parse(string(src)).compact(), path: name, mod: info.ModTime(), size: info.Size()}
	w.parsed++
	w.keep(f)
	return f
}

// places returns the paths at which an included file may be, as package schema looks for it.
func places(from, name string, dirs, roots []string) []string {
	name = filepath.FromSlash(name)
	if filepath.IsAbs(name) {
		return []string{filepath.Clean(name)}
	}
	list := []string{filepath.Join(filepath.Dir(from), name)}
	for _, dir := range slices.Concat(dirs, roots) {
		list = append(list, filepath.Join(dir, name))
	}
	return list
}

// include returns the file that a line includes, nil if there is none.
func (w *workspace) include(f *file, n *node) *file {
	name := f.included(n)
	if n.kind != includeNode || name == "" || strings.ContainsRune(name, 0) {
		return nil
	}
	for _, place := range places(f.path, name, w.dirs, w.roots) {
		if g := w.load(place); g != nil {
			return g
		}
	}
	return nil
}

// find lists the .thrift files of the workspace, to be read by index.
func (w *workspace) find() {
	w.rest, w.listed = nil, true
	looks := 0
	for _, root := range w.roots {
		_ = filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
			switch looks++; {
			case err != nil:
				return nil // a folder that can't be read has no files for us
			case len(w.rest) >= maxFiles || looks > maxLooks:
				return filepath.SkipAll
			case d.IsDir() && name != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules"):
				return filepath.SkipDir
			case !d.IsDir() && strings.HasSuffix(name, ".thrift"):
				w.rest = append(w.rest, name)
			}
			return nil
		})
	}
}

// index reads one of the files that find has listed, and reports whether there are more.
func (w *workspace) index() bool {
	if !w.listed {
		w.find()
	}
	if n := len(w.rest); n > 0 {
		w.load(w.rest[n-1])
		w.rest = w.rest[:n-1]
	}
	return len(w.rest) > 0
}

// all returns all files of the workspace that there are now, by path.
func (w *workspace) all() []*file {
	for w.index() {
	}
	var list []*file
	for name := range w.files {
		if f := w.load(name); f != nil {
			list = append(list, f)
		}
	}
	slices.SortFunc(list, func(a, b *file) int { return strings.Compare(a.path, b.path) })
	return list
}

// uri returns the URI of a file: the editor's own, if it is open.
func (w *workspace) uri(f *file) string {
	for uri, d := range w.open {
		if d.file == f {
			return uri
		}
	}
	return uriOf(f.path)
}
