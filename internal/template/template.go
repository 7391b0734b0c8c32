// Package template executes templates in the syntax of text/template on plain data: fields, maps,
// slices and functions.
//
// Templates can't call methods. text/template looks methods up by names that are known only at run
// time, and the linker therefore keeps the exported methods of all types: nocopyc would have 10.7
// MB instead of 8.2. Of text/template's functions this package has and, eq, not, or and printf;
// {{break}} and {{continue}} are missing.
package template

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"text/template/parse"
)

// Functions are what templates call, by name. Each is a Go function with one result, or with a
// result and an error.
type Functions map[string]any

// Set is a set of templates, which may call each other. Any number of goroutines may execute them.
type Set struct {
	trees     map[string]*parse.Tree
	functions Functions
	escape    func(string) string // what values that are written go through
}

// New returns an empty Set. All values that its templates write go through escape; nil is none.
func New(functions Functions, escape func(string) string) *Set {
	return &Set{map[string]*parse.Tree{}, functions, escape}
}

// Add parses a template and those that it defines, and adds them. Adding must be complete before
// templates are executed.
func (s *Set) Add(name, text string) error {
	trees, err := parse.Parse(name, text, "", "", s.functions, builtins)
	maps.Copy(s.trees, trees)
	return err
}

// FromFiles returns a Set with a template for each file that matches a pattern. It is called as
// the file.
func FromFiles(files fs.FS, pattern string, functions Functions) (*Set, error) {
	s := New(functions, nil)
	names, err := fs.Glob(files, pattern)
	for _, name := range names {
		text, readErr := fs.ReadFile(files, name)
		err = errors.Join(err, readErr, s.Add(path.Base(name), string(text)))
	}
	return s, err
}

// With returns a Set of the same templates that calls other functions of the same names.
func (s *Set) With(functions Functions) *Set { return &Set{s.trees, functions, s.escape} }

// Execute writes a template's text for data. After an error, a part of it may have been written.
func (s *Set) Execute(w io.Writer, name string, data any) (err error) {
	defer func() {
		if v := recover(); v != nil {
			f, ok := v.(failure)
			if !ok {
				panic(v)
			}
			err = f.error
		}
	}()
	x := &execution{Set: s, out: w}
	x.call(nil, name, valueOf(data))
	return nil
}

// failure is what an execution panics with to end itself.
type failure struct{ error }

// fail ends the execution. n is where.
func (x *execution) fail(n parse.Node, format string, args ...any) {
	at := ""
	if n != nil {
		place, _ := x.tree.ErrorContext(n)
		at = place + ": "
	}
	panic(failure{fmt.Errorf("template: %s"+format, append([]any{at}, args...)...)})
}
