// Package bundle is the command that writes .thrift files to one file, from which a server in any
// language returns them.
package bundle

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/idlfiles"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/shell"
	"github.com/nocopythrift/nocopythrift/gen/idl"
	"github.com/nocopythrift/nocopythrift/gen/schema"
	"github.com/nocopythrift/nocopythrift/internal/description"
	"github.com/nocopythrift/nocopythrift/internal/nocopyc"
)

// Command writes a bundle.
type Command struct {
	Files []string `arg:"" optional:"" help:".thrift files, and folders of them; those of nocopy.yaml without. What they include is added."`

	Out     string   `short:"o" required:"" help:"File to write; its name ends with .bundle." placeholder:"FILE"`
	Include []string `short:"I" help:"Folder in which to look for included files." sep:"none" placeholder:"DIR"`
	Service []string `help:"A service that the server has; NAME:SERVICE if a multiplexing server has registered it as NAME. May be repeated; without, all services of the files." placeholder:"SERVICE" sep:"none"`
}

// Help is the end of the command's help text.
func (Command) Help() string {
	return `A bundle is one file with all that clients need to know of a server: its services, and the .thrift files
that declare them, with comments. Servers in Java, Python, Node, C++ and Go return it to clients that ask;
docs/reflection.md has the few lines. A bundle can also stand for -idl FILE, and for the old files of
nocopy audit -against. The same files give the same bytes.

Exit codes: 0 done, 1 errors in files, or the bundle would be too large for clients (1 MiB, 1000 files),
2 wrong command line.

Examples:
  nocopy bundle shop.thrift -o shop.bundle
  nocopy bundle idl -service Shop:Shop -service billing:BillingService -o src/main/resources/shop.bundle
  nocopy describe shop.bundle`
}

// Run is called by the parser.
func (c *Command) Run(sh *shell.Shell) error {
	switch {
	case len(c.Files) == 0:
		return shell.WithCode(shell.Usage, errors.New("no file or folder is given; see nocopy bundle -h"))
	case !idlfiles.IsBundle(c.Out):
		return shell.WithCode(shell.Usage, fmt.Errorf("-o %s: the name of a bundle ends with .bundle", c.Out))
	}
	names, err := nocopyc.Expand(schema.Disk, c.Files)
	if err != nil {
		return err
	}
	set, err := schema.Load(names, c.Include)
	if err != nil {
		var list idl.ErrorList
		if errors.As(err, &list) {
			fmt.Fprintln(sh.Err, shell.Printable(err.Error()))
			return shell.WithCode(shell.Failed, shell.ErrSilent)
		}
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
	var files []description.File
	for _, f := range sources {
		switch {
		case !filepath.IsLocal(filepath.FromSlash(f.Path)):
			return nil, fmt.Errorf("a file is included as %q, which a client could not save: include it by a relative path, or use -I", f.Path)
		case !utf8.ValidString(f.Text):
			return nil, fmt.Errorf("%s is not UTF-8", f.Path)
		}
		files = append(files, description.File(f))
	}
	slices.SortFunc(files, func(a, b description.File) int { return strings.Compare(a.Path, b.Path) })
	services, err := c.services(set, sources)
	if err != nil {
		return nil, err
	}
	b := description.Append(nil, services, files)
	if _, err := idlfiles.ParseBundle(b); err != nil {
		return nil, fmt.Errorf("clients would refuse the bundle: %w", err)
	}
	return b, nil
}

// services returns the services that the server has.
func (c *Command) services(set *schema.Set, sources []schema.Source) (services []description.Service, err error) {
	for _, p := range set.Roots {
		for _, s := range p.Services {
			services = append(services, serviceOf("", s, sources))
		}
	}
	switch {
	case len(c.Service) == 0 && len(services) == 0:
		return nil, errors.New("the files have no service")
	case len(c.Service) == 0:
		return services, nil
	}
	services = nil
	for _, text := range c.Service {
		name, service, registered := strings.Cut(text, ":")
		if !registered {
			name, service = "", text
		}
		s, err := find(set, service)
		if err != nil {
			return nil, err
		}
		services = append(services, serviceOf(name, s, sources))
	}
	return services, nil
}

// find returns the service with a name, such as Shop or file.Shop.
func find(set *schema.Set, name string) (found *schema.Service, err error) {
	var all []string
	for _, p := range set.Programs {
		for _, s := range p.Services {
			full := p.Name + "." + s.Name
			switch all = append(all, s.Name); {
			case s.Name != name && full != name:
			case found != nil:
				return nil, fmt.Errorf("%s and %s have a service %s; say which as in %s", found.Program.Path, p.Path, name, full)
			default:
				found = s
			}
		}
	}
	if found == nil {
		return nil, fmt.Errorf("there is no service %s%s", name, idlfiles.Instead(name, "the IDL", "service", all))
	}
	return found, nil
}

// serviceOf returns a service that clients call by a name.
func serviceOf(name string, s *schema.Service, sources []schema.Source) description.Service {
	texts := map[string]string{}
	for _, f := range sources {
		texts[f.Path] = f.Text
	}
	return description.Service{Name: name, Service: s.Name, File: idlfiles.PathOf(s.Program, texts)}
}
