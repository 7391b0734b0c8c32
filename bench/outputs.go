package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/nocopythrift/nocopythrift/bench/data"
	"github.com/nocopythrift/nocopythrift/bench/peer"
	"github.com/nocopythrift/nocopythrift/bench/report"
)

// outputs holds the files to be written besides the tables; "" means none.
type outputs struct {
	json, html, save, compare string
	old                       report.Baseline // what to compare with
}

// prepare checks that all files can be written and compared before anything is measured. It does
// not change existing files.
func (o *outputs) prepare(workloads []data.Workload, s selection) (err error) {
	if o.compare != "" {
		if o.old, err = report.LoadBaseline(o.compare); err != nil {
			return err
		}
		if !slices.ContainsFunc(workloads, func(w data.Workload) bool {
			return slices.ContainsFunc(s.ops(w), func(op peer.Op) bool { return o.old.Has(w.Name, string(op)) })
		}) {
			return fmt.Errorf("the baseline %s has nothing of what is selected", o.compare)
		}
	}
	files := []string{o.json, o.html}
	if o.save != "" {
		file, err := report.PrepareBaseline(o.save)
		if err != nil {
			return err
		}
		files = append(files, file)
	}
	for _, f := range files {
		if f != "" {
			if err := writable(f); err != nil {
				return err
			}
		}
	}
	return nil
}

// writable returns an error if file cannot be written.
func writable(file string) error {
	f, err := os.OpenFile(file, os.O_WRONLY, 0)
	if !errors.Is(err, fs.ErrNotExist) {
		if err != nil {
			return err
		}
		return f.Close()
	}
	if f, err = os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644); err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(file))
}

// write writes all files, also if writing some of them fails.
func (o *outputs) write(w io.Writer, r report.Report) error {
	var errs []error
	if o.compare != "" {
		errs = append(errs, r.Compare(w, o.old, o.compare))
	}
	if o.save != "" {
		file, err := report.SaveBaseline(o.save, r)
		if err == nil {
			wrote(file)
			fmt.Fprintln(w, "\nSaved; compare with it by  -compare", o.save)
		}
		errs = append(errs, err)
	}
	if o.json != "" {
		errs = append(errs, create(o.json, r.JSON))
	}
	if o.html != "" {
		errs = append(errs, create(o.html, r.HTML))
	}
	return errors.Join(errs...)
}

// create writes file at once, when all of its contents are known.
func create(file string, write func(io.Writer) error) error {
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
		return err
	}
	wrote(file)
	return nil
}

// wrote prints the absolute path of a file to standard error, since the user's shell may be in
// another folder, as with go run -C. It returns the path.
func wrote(file string) string {
	if abs, err := filepath.Abs(file); err == nil {
		file = abs
	}
	fmt.Fprintln(os.Stderr, "Wrote", file)
	return file
}
