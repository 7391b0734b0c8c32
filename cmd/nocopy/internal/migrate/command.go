package migrate

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/shell"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/written"
	"github.com/nocopythrift/nocopythrift/gen/idlfmt"
	"github.com/nocopythrift/nocopythrift/internal/command"
)

// Command rewrites Go packages.
type Command struct {
	Packages []string `arg:"" help:"Packages, as the go command names them."`

	Replace []string `required:"" help:"Import path of a package that Apache's compiler or Kitex has generated, =, and that of nocopyc's for the same IDL." placeholder:"OLD=NEW" sep:"none"`
	Write   bool     `short:"w" help:"Write the files; without it, a diff is printed."`
	Skip    bool     `name:"skip-tests" help:"Leave tests as they are."`
	Dir     string   `help:"Folder in which the go command runs." default:"." placeholder:"DIR"`

	shell.Format
}

// summary is what -format json prints.
type summary struct {
	Files  []change `json:"files"`
	TODOs  []string `json:"todos"`
	Errors []string `json:"errors"` // of the compiler
}

// change is a file that is rewritten.
type change struct {
	Name string `json:"name"`
	Diff string `json:"diff"`
}

// Help is the end of the command's help text.
func (Command) Help() string {
	return `Generate the new package first (nocopy gen, into another folder). Composite literals become New and
setters, reads of fields getters, writes setters, appends list operations, pointers to structs handles.
What can't be rewritten stays, after a comment "// TODO(nocopy migrate): reason". The result is
compiled; errors are printed. Memory differs: release messages that are parsed, and see
docs/coming-from.md.

Exit codes: 0 done, 1 the packages can't be loaded or written, 2 wrong command line, 100 something is
left to do: TODOs, or errors of the compiler.

Examples:
  nocopy migrate -replace example.com/old/shop=example.com/new/shop ./...
  nocopy migrate -w -replace example.com/kitex_gen/shop=example.com/shop ./handler`
}

// Run is called by the parser.
func (c *Command) Run(sh *shell.Shell) error {
	pairs := map[string]string{}
	for _, pair := range c.Replace {
		old, now, ok := strings.Cut(pair, "=")
		if !ok || old == "" || now == "" || old == now {
			return shell.WithCode(shell.Usage, fmt.Errorf("-replace is OLD=NEW, not %q", pair))
		}
		pairs[old] = now
	}
	progress := sh.NewProgress("compiling", -1, func() int64 { return 0 })
	r, err := Packages(c.Dir, c.Packages, !c.Skip, pairs)
	progress.Done()
	if err != nil {
		return err
	}
	dir, err := filepath.Abs(c.Dir)
	if err != nil {
		return err
	}
	sum := summary{Files: []change{}, TODOs: append([]string{}, r.TODOs...), Errors: append([]string{}, r.Errors...)}
	for _, name := range slices.Sorted(maps.Keys(r.Files)) {
		shown := name
		if rel, err := filepath.Rel(dir, name); err == nil {
			shown = rel
		}
		diff := idlfmt.Diff(filepath.ToSlash(shown), string(r.Old[name]), string(r.Files[name]))
		sum.Files = append(sum.Files, change{filepath.ToSlash(shown), diff})
		if c.Write {
			if err := written.Replace(name, r.Files[name]); err != nil {
				return err
			}
			diff = shell.Printable(shown) + "\n"
		}
		if !c.JSON() {
			fmt.Fprint(command.PrintingText(sh.Out), diff)
		}
	}
	if c.JSON() {
		if err := sh.WriteJSON(sum); err != nil {
			return err
		}
		r.TODOs, r.Errors = nil, nil // are in it
	}
	for _, todo := range r.TODOs {
		fmt.Fprintln(sh.Err, shell.Paint(sh.ErrColor, shell.Yellow, "TODO"), shell.Printable(todo))
	}
	for _, e := range r.Errors {
		fmt.Fprintln(sh.Err, shell.Paint(sh.ErrColor, shell.Red, "does not compile:"), shell.Printable(e))
	}
	if len(sum.TODOs)+len(sum.Errors) > 0 {
		return shell.WithCode(shell.Findings, shell.ErrSilent)
	}
	return nil
}
