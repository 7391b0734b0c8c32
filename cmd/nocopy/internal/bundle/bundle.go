// Package bundle is the command that writes .thrift files to one file, from which a server in any
// language returns them.
package bundle

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/idlfiles"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/shell"
	"github.com/nocopythrift/nocopythrift/gen/schema"
	"github.com/nocopythrift/nocopythrift/internal/description"
)

// Command writes a bundle.
type Command struct {
	Files []string `arg:"" optional:"" help:".thrift files, and folders of them; those of nocopy.yaml without."`

	Out     string   `short:"o" required:"" help:"File to write; its name ends with .bundle." placeholder:"FILE"`
	Include []string `short:"I" help:"Folder in which to look for included files." sep:"none" placeholder:"DIR"`
	Service []string `help:"A service of the server; NAME:SERVICE if it is registered as NAME for multiplexing. May be repeated; without, all of the files." placeholder:"SERVICE" sep:"none"`
}

// Help is the end of the command's help text.
func (Command) Help() string {
	return `A bundle has the services of a server and the .thrift files that declare them. Servers in Java, Python,
Node, C++ and Go return it to clients: see docs/reflection.md. It may also stand for -idl FILE, and for
the value of audit -against. The same files give the same bytes.

Exit codes: 0 done, 1 errors in files, or more than clients accept (1 MiB), 2 wrong command line.

Examples:
  nocopy bundle shop.thrift -o shop.bundle
  nocopy bundle idl -service Shop:Shop -service bills:Billing -o shop.bundle
  nocopy describe shop.bundle`
}

// Run is called by the parser.
func (c *Command) Run(sh *shell.Shell) error {
	switch {
	case len(c.Files) == 0:
		return shell.WithCode(shell.Usage, errors.New("no file is given; see nocopy bundle -h"))
	case !idlfiles.IsBundle(c.Out):
		return shell.WithCode(shell.Usage, fmt.Errorf("-o %s: the name of a bundle ends with .bundle", c.Out))
	}
	set, err := idlfiles.Compile(sh, c.Files, c.Include)
	if err != nil {
		return err
	}
	if err := sh.CheckOutputs([]string{c.Out}, idlfiles.PathsOf(set)); err != nil {
		return err
	}
	b, err := c.bundle(set)
	if err != nil {
		return err
	}
	return os.WriteFile(c.Out, b, 0o666)
}

// bundle returns the bytes of a bundle, which clients accept.
func (c *Command) bundle(set *schema.Set) ([]byte, error) {
	sources, err := set.Bundle(set.Roots...)
	if err != nil {
		return nil, err
	}
	texts := map[string]string{}
	for _, f := range sources {
		switch {
		case !filepath.IsLocal(filepath.FromSlash(f.Path)):
			return nil, fmt.Errorf("a file is included as %q: include it by a relative path, or use -I", f.Path)
		case !utf8.ValidString(f.Text):
			return nil, fmt.Errorf("%s is not UTF-8", f.Path)
		}
		texts[f.Path] = f.Text
	}
	var files []description.File
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		files = append(files, description.File{Path: name, Text: texts[name]})
	}
	told, err := idlfiles.ParseBundle(description.Append(nil, nil, files))
	if err != nil {
		return nil, fmt.Errorf("clients would refuse it: %w", err)
	}
	services, err := c.services(set, told)
	if err != nil {
		return nil, err
	}
	return description.Append(nil, services, files), checkNames(services)
}

// checkNames returns an error if services of two files have the same name: commands tell them
// apart by their names.
func checkNames(services []description.Service) error {
	files := map[string]string{}
	for _, s := range services {
		if other, known := files[s.Service]; known && other != s.File {
			return fmt.Errorf("%s and %s both have a service %s, and clients could not tell them apart: rename one, or leave it out with -service", other, s.File, s.Service)
		}
		files[s.Service] = s.File
	}
	return nil
}

// services returns the services that the server has. told is the IDL as clients read it.
func (c *Command) services(set *schema.Set, told *idlfiles.IDL) (services []description.Service, err error) {
	names := c.Service
	if len(names) == 0 {
		for _, p := range set.Roots {
			for _, s := range p.Services {
				names = append(names, p.Name+"."+s.Name)
			}
		}
	}
	if len(names) == 0 {
		return nil, errors.New("the IDL has no service")
	}
	for _, text := range names {
		name, service, registered := strings.Cut(text, ":")
		if !registered {
			name, service = "", text
		}
		if strings.ContainsFunc(text, unicode.IsControl) || !utf8.ValidString(text) {
			return nil, fmt.Errorf("-service %q: names have no control characters, and are UTF-8", text)
		}
		s, err := told.Service(service)
		if err != nil {
			return nil, err
		}
		services = append(services, description.Service{Name: name, Service: s.Name(), File: told.FileOf(s)})
	}
	if len(c.Service) == 0 { // the order of the arguments means nothing
		slices.SortStableFunc(services, func(a, b description.Service) int { return strings.Compare(a.File, b.File) })
	}
	return services, nil
}
