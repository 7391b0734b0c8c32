package nocopyc

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"

	"github.com/nocopythrift/nocopythrift/gen/golang"
	"github.com/nocopythrift/nocopythrift/gen/schema"
	"github.com/nocopythrift/nocopythrift/internal/command"
)

// write writes files that were made from set into the folder out, and nowhere else: symbolic
// links in it that lead out of it are errors. It first writes each file under a temporary name in
// the same folder, and renames them when all are complete. It does not write files that would not
// change, which keeps their times.
func write(out string, files []golang.File, set *schema.Set) (err error) {
	var outputs, inputs []string
	for _, f := range files {
		outputs = append(outputs, filepath.Join(out, filepath.FromSlash(f.Path)))
	}
	for _, p := range set.Programs {
		inputs = append(inputs, p.Path)
	}
	if err := command.CheckOutputs(outputs, inputs); err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o777); err != nil {
		return err
	}
	root, err := os.OpenRoot(out)
	if err != nil {
		return err
	}
	defer root.Close()
	type pending struct{ temp, final string }
	var list []pending
	defer func() {
		for _, p := range list {
			root.Remove(p.temp) // has no effect after the rename
		}
	}()
	for _, f := range files {
		final := filepath.FromSlash(f.Path)
		if old, err := root.ReadFile(final); err == nil && bytes.Equal(old, f.Source) {
			continue
		}
		temp := filepath.Join(filepath.Dir(final), ".nocopyc-"+rand.Text())
		list = append(list, pending{temp, final})
		if err := writeNew(root, temp, f.Source); err != nil {
			return fmt.Errorf("%s: %w", filepath.Join(out, final), err)
		}
	}
	for _, p := range list {
		if err := root.Rename(p.temp, p.final); err != nil {
			return fmt.Errorf("%s: %w", filepath.Join(out, p.final), err)
		}
	}
	return nil
}

// writeNew writes src to a new file below root.
func writeNew(root *os.Root, name string, src []byte) error {
	if err := root.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return err
	}
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(src)
	if err == nil {
		err = f.Chmod(0o644)
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}
