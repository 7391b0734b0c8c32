package descriptor

import (
	"errors"
	"fmt"
	"iter"
	"path"
	"strings"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/impl"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// ErrNotFound is wrapped by the error of a search for a name that no generated package has.
var ErrNotFound = errors.New("not found")

// An AmbiguousError reports a name that two packages of the program define. They were generated
// from IDL files with the same name, such as two versions of one IDL.
type AmbiguousError struct {
	Name     string
	Packages []string // the import paths of the Go packages
}

// Error names the packages.
func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("%s is defined by several Go packages: %s", e.Name, strings.Join(e.Packages, ", "))
}

// FindStruct returns the struct, union or exception with this name. Names begin with the IDL file:
// "order.Line" is struct Line of order.thrift. The error is ErrNotFound or an *AmbiguousError.
func FindStruct(name string) (Struct, error) {
	d, err := find(name, func(f *thriftimpl.File, name string) *thriftimpl.Desc {
		for _, d := range f.Structs {
			if d.Name() == name {
				return d
			}
		}
		return nil
	})
	return StructOfDesc(d), err
}

// FindEnum returns the enum with this name, as FindStruct does.
func FindEnum(name string) (Enum, error) {
	e, err := find(name, func(f *thriftimpl.File, name string) *thriftimpl.Enum {
		for _, e := range f.Enums {
			if e.TypeName() == name {
				return e
			}
		}
		return nil
	})
	return EnumOf(e), err
}

// FindService returns the service with this name, as FindStruct does.
func FindService(name string) (Service, error) {
	s, err := find(name, func(f *thriftimpl.File, name string) *thriftimpl.Service {
		for i := range f.Services {
			if f.Services[i].Name == name {
				return &f.Services[i]
			}
		}
		return nil
	})
	return ServiceOf(s), err
}

// FindConst returns the constant with this name, as FindStruct does.
func FindConst(name string) (Const, error) {
	c, err := find(name, func(f *thriftimpl.File, name string) *thriftimpl.ConstDesc {
		for i := range f.Consts {
			if f.Consts[i].Name == name {
				return &f.Consts[i]
			}
		}
		return nil
	})
	return ConstOf(c), err
}

// find calls in for each file that the first part of name identifies, and returns the only result.
func find[T any](name string, in func(f *thriftimpl.File, name string) *T) (*T, error) {
	var found *T
	var packages []string
	for f := range files() {
		if rest, ok := strings.CutPrefix(name, f.prefix); ok {
			if x := in(f.File, rest); x != nil {
				found, packages = x, append(packages, f.GoPackage())
			}
		}
	}
	switch len(packages) {
	case 0:
		return nil, fmt.Errorf("%s: %w in the generated packages of the program", name, ErrNotFound)
	case 1:
		return found, nil
	}
	return nil, &AmbiguousError{name, packages}
}

type file struct {
	*thriftimpl.File
	prefix string // the file's name and a dot
}

func files() iter.Seq[file] {
	return func(yield func(file) bool) {
		for _, f := range impl.Files() {
			if !yield(file{f, strings.TrimSuffix(f.Name, path.Ext(f.Name)) + "."}) {
				return
			}
		}
	}
}

// Structs iterates over all structs, unions and exceptions of the program's generated packages:
// their names, with their IDL files, and their descriptions.
func Structs() iter.Seq2[string, Struct] {
	return func(yield func(string, Struct) bool) {
		for f := range files() {
			for _, d := range f.Structs {
				if !yield(f.prefix+d.Name(), StructOfDesc(d)) {
					return
				}
			}
		}
	}
}

// Enums iterates over all enums, as Structs does.
func Enums() iter.Seq2[string, Enum] {
	return func(yield func(string, Enum) bool) {
		for f := range files() {
			for _, e := range f.Enums {
				if !yield(f.prefix+e.TypeName(), EnumOf(e)) {
					return
				}
			}
		}
	}
}

// Consts iterates over all constants, as Structs does.
func Consts() iter.Seq2[string, Const] {
	return func(yield func(string, Const) bool) {
		for f := range files() {
			for i := range f.Consts {
				if c := ConstOf(&f.Consts[i]); !yield(f.prefix+c.Name(), c) {
					return
				}
			}
		}
	}
}

// Services iterates over all services, as Structs does.
func Services() iter.Seq2[string, Service] {
	return func(yield func(string, Service) bool) {
		for f := range files() {
			for i := range f.Services {
				if s := ServiceOf(&f.Services[i]); !yield(f.prefix+s.Name(), s) {
					return
				}
			}
		}
	}
}
