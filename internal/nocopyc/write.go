package nocopyc

import (
	"bytes"
	"os"
	"path/filepath"

	"github.com/nocopythrift/nocopythrift/gen/golang"
)

// write writes files into the folder out. It first writes each file under a temporary name in the
// same folder, and renames them when all are complete. It does not write files that would not
// change, which keeps their times.
func write(out string, files []golang.File) (err error) {
	type pending struct{ temp, final string }
	var list []pending
	defer func() {
		for _, p := range list {
			os.Remove(p.temp) // has no effect after the rename
		}
	}()
	for _, f := range files {
		final := filepath.Join(out, filepath.FromSlash(f.Path))
		if old, err := os.ReadFile(final); err == nil && bytes.Equal(old, f.Source) {
			continue
		}
		temp, err := writeTemp(final, f.Source)
		if temp != "" {
			list = append(list, pending{temp, final})
		}
		if err != nil {
			return err
		}
	}
	for _, p := range list {
		if err := os.Rename(p.temp, p.final); err != nil {
			return err
		}
	}
	return nil
}

// writeTemp writes src to a new file in the directory of final and returns its name. It returns
// the name even with an error if the file exists and must be removed.
func writeTemp(final string, src []byte) (string, error) {
	if err := os.MkdirAll(filepath.Dir(final), 0o777); err != nil {
		return "", err
	}
	f, err := os.CreateTemp(filepath.Dir(final), ".nocopyc-*")
	if err != nil {
		return "", err
	}
	_, err = f.Write(src)
	if err == nil {
		err = f.Chmod(0o644)
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return f.Name(), err
}
