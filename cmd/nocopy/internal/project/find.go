package project

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

const (
	// FileName is the name of the project file.
	FileName = "nocopy.yaml"
	// Variable is the environment variable that names another project file. It may be "off".
	Variable = "NOCOPY_PROJECT"

	maxBytes = 1 << 20 // of the file
)

// A source is a project file that was found.
type source struct {
	shown string // the file's name in messages
	dir   string // its folder, absolute
	base  string // its folder, as the working directory sees it
	text  []byte
}

// find returns the project file that applies: that of the variable NOCOPY_PROJECT, or else the
// nearest one in the working directory and above. It returns nil if there is none.
func find() (*source, error) {
	if name, ok := os.LookupEnv(Variable); ok && name != "" {
		if name == "off" {
			return nil, nil
		}
		dir, err := filepath.Abs(filepath.Dir(name))
		if err != nil {
			return nil, err
		}
		return open(dir, filepath.Base(name))
	}
	wd, err := os.Getwd()
	if err != nil {
		return nil, nil // the folder is gone, and commands that need no file do their work
	}
	for dir := wd; ; dir = filepath.Dir(dir) {
		info, err := os.Lstat(filepath.Join(dir, FileName))
		switch {
		case err == nil:
			if who := stranger(info, wd); who != "" {
				return nil, fmt.Errorf("%s belongs to another user (%s): it is not read. %s=FILE names a file that is, and %[3]s=off none", shownAs(filepath.Join(dir, FileName)), who, Variable)
			}
			return open(dir, FileName)
		case !errors.Is(err, fs.ErrNotExist):
			return nil, err
		case dir == filepath.Dir(dir):
			return nil, nil
		}
	}
}

// open reads a file in a folder. A symbolic link may lead to a file in the folder only.
func open(dir, name string) (*source, error) {
	s := &source{shown: shownAs(filepath.Join(dir, name)), dir: dir, base: shownAs(dir)}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	// A pipe would be waited for.
	info, err := root.Stat(name)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s can't be read: %w", s.shown, reason(err))
	case info.IsDir():
		return nil, fmt.Errorf("%s is a folder: the project file is a file", s.shown)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is no regular file", s.shown)
	case info.Size() > maxBytes:
		return nil, fmt.Errorf("%s is larger than %d bytes", s.shown, maxBytes)
	}
	f, err := root.Open(name)
	if err != nil {
		return nil, fmt.Errorf("%s can't be read: %w", s.shown, reason(err))
	}
	defer f.Close()
	s.text, err = io.ReadAll(io.LimitReader(f, maxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("%s can't be read: %w", s.shown, reason(err))
	}
	if len(s.text) > maxBytes { // it grew meanwhile
		return nil, fmt.Errorf("%s is larger than %d bytes", s.shown, maxBytes)
	}
	return s, nil
}

// reason returns what is wrong with a file, without its name.
func reason(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		if at.Err.Error() == "path escapes from parent" {
			return errors.New("it is a symbolic link that leaves its folder")
		}
		return at.Err
	}
	return err
}

// shownAs returns a path relative to the working directory if that is short.
func shownAs(path string) string {
	wd, err := os.Getwd()
	if err != nil {
		return path
	}
	if rel, err := filepath.Rel(wd, path); err == nil && len(rel) < len(path) {
		return rel
	}
	return path
}

// exists reports whether there is a file, a folder or a symbolic link of that name.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// isLink reports whether there is a symbolic link of that name.
func isLink(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}
