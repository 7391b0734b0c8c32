package schema

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/nocopythrift/nocopythrift/gen/idl"
)

// Files is a source of .thrift files. Paths are those of package filepath.
type Files interface {
	// Canonical returns the same path for all paths of a file. It returns an error if there is no
	// such file.
	Canonical(path string) (string, error)
	// IsFile reports whether path is an existing file, not a folder.
	IsFile(path string) bool
	ReadFile(path string) ([]byte, error)
}

// Parser may be implemented by Files that keep syntax trees. Parse is idl.Parse for a text that
// ReadFile has returned. LoadFrom adds to the Broken of its result.
type Parser interface {
	Parse(path string, src []byte) (*idl.File, error)
}

// Parse parses a text by from's Parse, if it is a Parser, and by idl.Parse otherwise.
func Parse(from Files, path string, src []byte) (*idl.File, error) {
	if p, ok := from.(Parser); ok {
		return p.Parse(path, src)
	}
	return idl.Parse(path, src)
}

// disk implements Disk.
type disk struct{}

// Disk is the Files of the operating system. It reads regular files of up to MaxFile bytes.
var Disk Files = disk{}

func (disk) Canonical(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(abs)
}

func (disk) IsFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}

func (disk) ReadFile(path string) ([]byte, error) {
	f, err := OpenRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadAll(f)
}

// MaxFile is the largest size of a .thrift file in bytes.
const MaxFile = 16 << 20

// ErrTooLarge is the error for a file of more than MaxFile bytes.
var ErrTooLarge = fmt.Errorf("larger than %d MiB", MaxFile>>20)

// ReadAll reads a .thrift file of up to MaxFile bytes. The error may be ErrTooLarge.
func ReadAll(r io.Reader) ([]byte, error) {
	src, err := io.ReadAll(io.LimitReader(r, MaxFile+1))
	if err == nil && len(src) > MaxFile {
		return nil, ErrTooLarge
	}
	return src, err
}

// OpenRegular opens a file. It returns an error if it is not a regular file: reading a pipe or a
// device might never end.
func OpenRegular(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return nil, &os.PathError{Op: "open", Path: path, Err: errors.New("a folder, not a file: name the .thrift files in it")}
	}
	if !info.Mode().IsRegular() {
		return nil, &os.PathError{Op: "open", Path: path, Err: errors.New("not a regular file")}
	}
	return os.Open(path)
}
