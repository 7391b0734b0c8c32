package dynamic

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nocopythrift/nocopythrift/gen/idl"
	"github.com/nocopythrift/nocopythrift/gen/schema"
)

// Loader finds .thrift files. The zero Loader reads those of the operating system.
type Loader struct {
	// FS holds the files. Its paths use slashes, and nothing outside of it is read. Nil means the
	// operating system's files; an include line can then name any of them.
	FS fs.FS
	// Include lists the folders for included files. The folder of the including file comes first.
	// nocopyc has the flag -I for it.
	Include []string
	// MaxBytes limits the bytes of all files together. Each file counts as 256 bytes more. 0 means 1
	// MiB. It bounds the memory and the time of loading; see SECURITY.md.
	MaxBytes int
}

const (
	defaultMaxBytes = 1 << 20
	bytesPerFile    = 256
)

// Load reads .thrift files of the operating system, and the files that they include. Included
// files are looked for in the folder of the including file. The error is of type Errors.
func Load(files ...string) (*Schema, error) { return Loader{}.Load(files...) }

// LoadText loads .thrift files from texts, keyed by file name. It loads all of them. They may
// include each other, and no other files. The errors are those of Load.
func LoadText(texts map[string]string) (*Schema, error) {
	return load(textFiles(texts), slices.Sorted(maps.Keys(texts)), nil, defaultMaxBytes)
}

// Load reads files and the files that they include. The error is of type Errors.
func (l Loader) Load(files ...string) (*Schema, error) {
	most := l.MaxBytes
	if most <= 0 {
		most = defaultMaxBytes
	}
	if l.FS == nil {
		return load(diskFiles{}, files, l.Include, most)
	}
	return load(fsFiles{l.FS}, files, l.Include, most)
}

// load reads files of at most maxBytes in total.
func load(from opener, files, include []string, maxBytes int) (*Schema, error) {
	set, err := schema.LoadFrom(&bounded{from, maxBytes, maxBytes}, files, include)
	if err != nil {
		return nil, errorsOf(err)
	}
	return build(set)
}

// Error is a mistake in a .thrift file. Line and Column count from 1; columns count bytes.
type Error struct {
	File         string
	Line, Column int
	Message      string
}

// Error returns "file:line:column: message".
func (e Error) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Message)
}

// Errors are the first 100 mistakes in .thrift files.
type Errors []Error

// Error returns all mistakes, one per line.
func (l Errors) Error() string {
	lines := make([]string, len(l))
	for i, e := range l {
		lines[i] = e.Error()
	}
	return strings.Join(lines, "\n")
}

const maxErrors = 100

func errorsOf(err error) error {
	var list idl.ErrorList
	if !errors.As(err, &list) {
		return err
	}
	var all Errors
	for _, e := range list[:min(len(list), maxErrors)] {
		all = append(all, errorAt(e.Pos, e.Msg))
	}
	return all
}

// maxMessage bounds the length of an error message, which may quote the file.
const maxMessage = 1 << 10

func errorAt(pos idl.Position, message string) Error {
	if len(message) > maxMessage {
		message = message[:maxMessage] + "…"
	}
	return Error{strings.Clone(pos.Filename), pos.Line, pos.Column, strings.ToValidUTF8(strings.Clone(message), "\uFFFD")}
}

// opener opens files, by paths as package schema makes them.
type opener interface {
	canonical(path string) (string, error)
	isFile(path string) bool
	open(path string) (io.ReadCloser, error)
}

// bounded implements schema.Files. It reads up to left bytes.
type bounded struct {
	opener
	left, most int
}

func (b *bounded) Canonical(path string) (string, error) { return b.canonical(path) }
func (b *bounded) IsFile(path string) bool               { return b.isFile(path) }

func (b *bounded) ReadFile(path string) ([]byte, error) {
	tooLarge := fmt.Errorf("the files are larger than %d bytes together", b.most)
	if b.left -= bytesPerFile; b.left < 0 {
		return nil, tooLarge
	}
	f, err := b.open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	src, err := io.ReadAll(io.LimitReader(f, int64(b.left)+1))
	if err == nil && len(src) > b.left {
		err = tooLarge
	}
	b.left -= min(len(src), b.left)
	return src, err
}

type diskFiles struct{}

func (diskFiles) canonical(path string) (string, error) { return schema.Disk.Canonical(path) }

func (diskFiles) isFile(path string) bool                 { return schema.Disk.IsFile(path) }
func (diskFiles) open(path string) (io.ReadCloser, error) { return schema.OpenRegular(path) }

type fsFiles struct{ fs fs.FS }

// name returns the path as package fs has it.
func (f fsFiles) name(name string) string { return path.Clean(filepath.ToSlash(name)) }

func (f fsFiles) canonical(path string) (string, error) {
	name := f.name(path)
	_, err := fs.Stat(f.fs, name)
	return name, err
}

func (f fsFiles) isFile(path string) bool {
	info, err := fs.Stat(f.fs, f.name(path))
	return err == nil && !info.IsDir()
}

func (f fsFiles) open(path string) (io.ReadCloser, error) {
	info, err := fs.Stat(f.fs, f.name(path))
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("not a regular file") // a pipe might never end
	}
	if err != nil {
		return nil, err
	}
	return f.fs.Open(f.name(path))
}

type textFiles map[string]string

func (f textFiles) find(name string) (key string, ok bool) {
	if _, ok := f[name]; ok {
		return name, true
	}
	name = path.Clean(filepath.ToSlash(name))
	_, ok = f[name]
	return name, ok
}

func (f textFiles) canonical(path string) (string, error) {
	name, ok := f.find(path)
	if !ok {
		return "", fs.ErrNotExist
	}
	return name, nil
}

func (f textFiles) isFile(path string) bool { _, ok := f.find(path); return ok }

func (f textFiles) open(path string) (io.ReadCloser, error) {
	name, ok := f.find(path)
	if !ok {
		return nil, fs.ErrNotExist
	}
	return io.NopCloser(strings.NewReader(f[name])), nil
}
