package main

import (
	"bytes"
	"os"
	"path/filepath"

	"github.com/nocopythrift/nocopythrift/gen/golang"
)

// write writes files into the folder out. It writes each under a temporary name in its
// folder first, and renames them when all are complete. Files that would not change are
// not written, so that their times stay.
func write(out string, files []golang.File) (err error) {
	type pending struct{ temp, final string }
	var list []pending
	defer func() {
		for _, p := range list {
			os.Remove(p.temp) // has no effect on files that were renamed
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

// writeTemp writes src to a new file in the directory of final and returns its name; on
// error too if the file exists and must be removed.
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
