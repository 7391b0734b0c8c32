// Package written writes files that commands make: completely or not at all, and below the folder
// that the user has named.
package written

import (
	"fmt"
	"os"
	"path/filepath"
)

// Replace replaces the text of a file at once. It keeps the file's permissions, and symbolic links
// to it.
func Replace(name string, text []byte) error {
	final, err := filepath.EvalSymlinks(name)
	if err != nil {
		return err
	}
	info, err := os.Stat(final)
	if err != nil {
		return err
	}
	return put(final, text, info.Mode().Perm())
}

// Below writes a file below a folder, which it makes. name has slashes; one that leads out of the
// folder, by ".." or by symbolic links, is an error.
func Below(dir, name string, text []byte) error {
	local := filepath.FromSlash(name)
	if !filepath.IsLocal(local) {
		return fmt.Errorf("%q is not below %s", name, dir)
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.MkdirAll(filepath.Dir(local), 0o777); err != nil {
		return err
	}
	return root.WriteFile(local, text, 0o666)
}

// put writes a new file, and then renames it.
func put(final string, text []byte, mode os.FileMode) error {
	f, err := os.CreateTemp(filepath.Dir(final), ".nocopy-*")
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err == nil {
		err = f.Chmod(mode)
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(f.Name(), final)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}
