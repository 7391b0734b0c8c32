// Package idlfiles loads the IDL that commands are given, or that a server returns.
package idlfiles

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/shell"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/target"
	"github.com/nocopythrift/nocopythrift/gen/idl"
	"github.com/nocopythrift/nocopythrift/gen/schema"
	"github.com/nocopythrift/nocopythrift/internal/nocopyc"
	"github.com/nocopythrift/nocopythrift/nocopy/descriptor"
	"github.com/nocopythrift/nocopythrift/nocopy/dynamic"
	"github.com/nocopythrift/nocopythrift/nocopy/inspect"
)

// Files are the flags of commands that take IDL.
type Files struct {
	IDL     []string `name:"idl" help:"A .thrift file, a folder of them, or a bundle; may be repeated." placeholder:"FILE" sep:"none" env:"NOCOPY_IDL" group:"IDL"`
	Include []string `name:"I" short:"I" help:"Folder in which to look for included files, after that of the including file; may be repeated." placeholder:"DIR" sep:"none" env:"NOCOPY_INCLUDE" group:"IDL"`
}

// IDL is the contents of .thrift files.
type IDL struct {
	Schema *dynamic.Schema
	Names  func() *inspect.IDL // for dumps; made at the first call
	Set    func() *schema.Set  // all files, with typedefs and values; made at the first call
	Files  map[string]string   // texts by path, as dynamic.LoadText takes them
	// Services are all services, those of the files that were named first. The first one is meant if
	// none is named and there are several.
	Services []dynamic.Service
	// Multiplexed has the names by which multiplexing clients call services, by their own names. Only
	// a server or a bundle tells them.
	Multiplexed map[string]string
}

// maxBytes bounds the IDL from disk, in bytes.
const maxBytes = 64 << 20

// Load loads the files that flags name; nil if they name none.
func (f *Files) Load() (*IDL, error) {
	if slices.ContainsFunc(f.IDL, IsBundle) {
		if len(f.IDL) > 1 {
			return nil, errors.New("a bundle goes with no other -idl")
		}
		return LoadBundle(f.IDL[0])
	}
	files, err := f.files()
	if err != nil || len(files) == 0 {
		return nil, err
	}
	set, err := schema.Load(files, f.Include)
	if err != nil {
		return nil, err
	}
	s, err := dynamic.Loader{Include: f.Include, MaxBytes: maxBytes}.Load(files...)
	if err != nil {
		return nil, err
	}
	bundle, err := set.Bundle(set.Roots...)
	if err != nil {
		bundle = nil // only servers of this tool need it
	}
	all := &IDL{Schema: s, Set: func() *schema.Set { return set }, Names: sync.OnceValue(func() *inspect.IDL { return inspect.IDLOf(set) }), Files: map[string]string{}}
	for _, b := range bundle {
		all.Files[b.Path] = b.Text
	}
	all.findServices(set)
	return all, nil
}

// Paths returns the names of the files that flags name and, if they were loaded as IDL, of those
// that they include.
func (f *Files) Paths(all *IDL) []string {
	paths := slices.Clone(f.IDL)
	if all != nil {
		paths = append(paths, PathsOf(all.Set())...)
	}
	return paths
}

// PathsOf returns the paths of all files that were loaded.
func PathsOf(set *schema.Set) (paths []string) {
	for _, p := range set.Programs {
		paths = append(paths, p.Path)
	}
	return paths
}

// files returns the files that flags name, with those in the folders that they name.
func (f *Files) files() ([]string, error) {
	var files []string
	for _, name := range f.IDL {
		info, err := os.Stat(name)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			files = append(files, name)
			continue
		}
		found, err := filepath.Glob(filepath.Join(name, "*.thrift"))
		if err == nil && len(found) == 0 {
			err = fmt.Errorf("%s has no .thrift files", name)
		}
		if err != nil {
			return nil, err
		}
		files = append(files, found...)
	}
	return files, nil
}

// Compile loads .thrift files, and those in folders, with what they include. It prints mistakes in
// them; the error then says no more.
func Compile(sh *shell.Shell, paths, include []string) (*schema.Set, error) {
	names, err := nocopyc.Expand(schema.Disk, paths)
	if err != nil {
		return nil, err
	}
	set, err := schema.Load(names, include)
	if list := (idl.ErrorList)(nil); errors.As(err, &list) {
		fmt.Fprintln(sh.Err, shell.Printable(err.Error()))
		err = shell.WithCode(shell.Failed, shell.ErrSilent)
	}
	return set, err
}

// Of returns the IDL of a server's description. It does not trust the server.
func Of(d *dynamic.Description) (*IDL, error) {
	i, err := described(d, "the server does not tell it")
	if err != nil {
		return nil, fmt.Errorf("the IDL that the server tells: %w", err)
	}
	return i, nil
}

// described returns the IDL of a description. lacking is what to say of included files that it
// does not have.
func described(d *dynamic.Description, lacking string) (*IDL, error) {
	s, err := dynamic.LoadText(d.Files)
	var mistakes dynamic.Errors
	if errors.As(err, &mistakes) {
		for i := range mistakes { // no flag would help
			mistakes[i].Message = strings.Replace(mistakes[i].Message, "give the directory that it is in with -I", lacking, 1)
		}
	}
	if err != nil {
		return nil, err
	}
	var names []string
	for name := range d.Files {
		names = append(names, name)
	}
	slices.Sort(names)
	// Most commands need no more than s. The files have been loaded once, and Texts finds them as
	// LoadText does: there is no error.
	set := sync.OnceValue(func() *schema.Set {
		set, _ := schema.LoadFrom(schema.Texts(d.Files), names, nil)
		return set
	})
	told := &IDL{Schema: s, Set: set, Names: sync.OnceValue(func() *inspect.IDL { return inspect.IDLOf(set()) }), Files: d.Files, Multiplexed: map[string]string{}}
	for _, of := range d.Services {
		service, err := s.Service(of.Service)
		if err != nil {
			return nil, err
		}
		at := slices.IndexFunc(told.Services, func(s dynamic.Service) bool { return s.Name() == service.Name() })
		if at >= 0 && told.Services[at] != service {
			return nil, fmt.Errorf("it has two services with the name %s, in %s and %s, and the tool could not tell them apart: give the files of one with -idl", service.Name(), told.FileOf(told.Services[at]), told.FileOf(service))
		}
		if at >= 0 { // it can also be called in the way that was told first
			continue
		}
		told.Services = append(told.Services, service)
		if of.Name != "" {
			told.Multiplexed[service.Name()] = of.Name
		}
	}
	if len(d.Services) == 0 {
		told.findServices(set())
	}
	return told, nil
}

// Told returns the IDL that a server has told when it was connected to.
func Told(s *target.Server) (*IDL, error) {
	if s.Description == nil {
		return nil, fmt.Errorf("which types are there? Give the IDL with -idl FILE, or call with -raw (%w)", s.NotDescribed)
	}
	return Of(s.Description)
}

// findServices sets Services to those of the roots, then all others.
func (i *IDL) findServices(set *schema.Set) {
	add := func(programs []*schema.Program, roots bool) {
		for _, p := range programs {
			if slices.Contains(set.Roots, p) != roots {
				continue
			}
			for _, s := range p.Services {
				if found, err := i.Schema.Service(p.Name + "." + s.Name); err == nil {
					i.Services = append(i.Services, found)
				}
			}
		}
	}
	add(set.Roots, true)
	add(set.Programs, false)
}

// FileOf returns the path in Files of the file that declares a service; "" if it is not known.
func (i *IDL) FileOf(s dynamic.Service) string {
	for _, p := range i.Set().Programs {
		for _, declared := range p.Services {
			if found, err := i.Schema.Service(p.Name + "." + declared.Name); err == nil && found == s {
				return i.pathOf(p)
			}
		}
	}
	return ""
}

// pathOf returns the path that a program has in Files; "" if it is not in them.
func (i *IDL) pathOf(p *schema.Program) string {
	for _, name := range slices.Sorted(maps.Keys(i.Files)) {
		if path.Base(name) == filepath.Base(p.Path) && i.Files[name] == string(p.Source) {
			return name
		}
	}
	return ""
}

// Service finds a service by its name, with or without its file's.
func (i *IDL) Service(name string) (dynamic.Service, error) {
	service, err := i.Schema.Service(name)
	if errors.Is(err, descriptor.ErrNotFound) {
		err = fmt.Errorf("%w%s", err, Instead(name, "the IDL", "service", i.serviceNames()))
	}
	return service, err
}

// Method finds a method by "Service.method", "file.Service.method", "Service:method" or, if only
// one service has it, "method". With a colon, the name may be another one than the IDL's, by which
// a server has registered the service.
func (i *IDL) Method(name string) (dynamic.Service, descriptor.Method, error) {
	at := strings.LastIndexAny(name, ".:/")
	if at < 0 {
		return i.bareMethod(name)
	}
	service, err := i.Service(name[:at])
	if err != nil && name[at] == ':' {
		return i.registered(name[:at], name[at+1:])
	}
	if err != nil {
		return service, descriptor.Method{}, err
	}
	for m := range service.AllMethods() {
		if m.Name() == name[at+1:] {
			return service, m, nil
		}
	}
	return service, descriptor.Method{}, fmt.Errorf("method %s: %w%s", name, descriptor.ErrNotFound, Instead(name[at+1:], "the service", "method", methodNames(service)))
}

// registered finds a method of a service that a server has registered by a name of its own: the
// service that the server or bundle calls so, or the one whose name differs in capital letters
// only, else the only one with such a method.
func (i *IDL) registered(name, method string) (service dynamic.Service, found descriptor.Method, err error) {
	for _, s := range i.Services {
		if i.Multiplexed[s.Name()] == name {
			return i.Method(s.Name() + "." + method)
		}
	}
	for _, s := range i.Services {
		if strings.EqualFold(s.Name(), name) {
			return i.Method(s.Name() + "." + method)
		}
	}
	service, found, err = i.bareMethod(method)
	if err != nil {
		err = fmt.Errorf("the IDL has no service %s; %w. If a server has registered one by this name, call Service.%s with -multiplexed %s", name, err, method, name)
	}
	return service, found, err
}

// bareMethod finds a method by its name alone. A service that extends others counts for these.
func (i *IDL) bareMethod(name string) (service dynamic.Service, method descriptor.Method, err error) {
	var in []dynamic.Service
	for _, s := range i.Services {
		for m := range s.AllMethods() {
			if m.Name() == name {
				in = append(in, s)
				break
			}
		}
	}
	in = slices.DeleteFunc(in, func(s dynamic.Service) bool {
		return slices.ContainsFunc(in, func(other dynamic.Service) bool { return other != s && extends(other, s) })
	})
	if len(in) == 0 {
		var all []string
		for _, s := range i.Services {
			for _, m := range methodNames(s) {
				if !slices.Contains(all, m) {
					all = append(all, m)
				}
			}
		}
		return service, method, fmt.Errorf("method %s: %w%s", name, descriptor.ErrNotFound, Instead(name, "the IDL", "method", all))
	}
	if len(in) > 1 {
		return service, method, fmt.Errorf("%s and %s have a method %s; say which as in %s.%s", in[0].Name(), in[1].Name(), name, in[0].Name(), name)
	}
	for m := range in[0].AllMethods() {
		if m.Name() == name {
			return in[0], m, nil
		}
	}
	panic("unreachable")
}

// extends reports whether s extends base, perhaps through others.
func extends(s, base dynamic.Service) bool {
	for in, ok := s.Base(); ok; in, ok = in.Base() {
		if in == base {
			return true
		}
	}
	return false
}

func (i *IDL) serviceNames() (names []string) {
	for _, s := range i.Services {
		names = append(names, s.Name())
	}
	return names
}

func methodNames(s dynamic.Service) (names []string) {
	for m := range s.AllMethods() {
		names = append(names, m.Name())
	}
	return names
}

// Instead returns which names there are instead of one that there is not: ", did you mean …?" if
// one is like it, and a list. They belong to where and are of a kind, such as "method".
func Instead(name, where, kind string, names []string) string {
	text := "; "
	if meant := Nearest(name, names); meant != "" {
		text = ", did you mean " + meant + "? "
		where = strings.ToUpper(where[:1]) + where[1:]
	}
	return text + where + " has " + list(kind, names)
}

// Nearest returns the one of names that a misspelt name probably stands for, "" if there is none.
func Nearest(name string, names []string) string { return idl.Nearest(name, names) }

// list returns some names of a kind as text.
func list(kind string, names []string) string {
	switch len(names) {
	case 0:
		return "no " + kind + "s"
	case 1:
		return "the " + kind + " " + names[0]
	}
	return "the " + kind + "s " + Listed(names)
}

// Listed returns the first of some names as text, and how many there are besides.
func Listed(names []string) string {
	const most = 40
	if n := len(names); n > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), n-most)
	}
	return strings.Join(names, ", ")
}
