package doc

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"sync/atomic"

	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/idlfiles"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/shell"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/written"
	"github.com/nocopythrift/nocopythrift/gen/idl"
	"github.com/nocopythrift/nocopythrift/gen/schema"
	"github.com/nocopythrift/nocopythrift/internal/nocopyc"
)

// Command writes documentation.
type Command struct {
	Paths []string `arg:"" optional:"" help:".thrift files, and folders of them; those of nocopy.yaml without. What they include is documented, too."`

	Out     string   `short:"o" required:"" help:"Folder to write to." placeholder:"DIR"`
	Include []string `short:"I" help:"Folder in which to look for included files." sep:"none" placeholder:"DIR"`
	Format  string   `help:"Output: ${enum}." enum:"html,markdown" default:"html"`
	Title   string   `help:"Title of the documentation." default:"Thrift services"`
}

// Help is the end of the command's help text.
func (Command) Help() string {
	return `The HTML pages need nothing but their folder: open index.html, or serve the folder. They have a
search, links between types, and follow the system's colour scheme.

Exit codes: 0 done, 1 errors in files, or a file can't be written, 2 wrong command line.

Examples:
  nocopy doc -o site idl
  nocopy doc -format markdown -o docs/api -title Orders idl/orders.thrift`
}

// Run is called by the parser.
func (c *Command) Run(sh *shell.Shell) error {
	if len(c.Paths) == 0 {
		return shell.WithCode(shell.Usage, errors.New("no file or folder is given; see nocopy doc -h"))
	}
	paths, err := nocopyc.Expand(schema.Disk, c.Paths)
	if err != nil {
		return err
	}
	var steps atomic.Int64
	progress := sh.NewProgress("files read and written", 2*int64(len(paths)), steps.Load)
	defer progress.Done()
	set, err := schema.LoadFrom(counting{schema.Disk, &steps}, paths, c.Include)
	if err != nil {
		var list idl.ErrorList
		if errors.As(err, &list) {
			fmt.Fprintln(progress, shell.Printable(err.Error()))
			return shell.WithCode(shell.Failed, shell.ErrSilent)
		}
		return err
	}
	write := htmlOf
	if c.Format == "markdown" {
		write = markdownOf
	}
	files, err := write(c.Title, pagesOf(set))
	if err != nil {
		return err
	}
	names := slices.Sorted(maps.Keys(files))
	if err := sh.CheckOutputs(below(c.Out, names), idlfiles.PathsOf(set)); err != nil {
		return err
	}
	for _, name := range names {
		if err := written.Below(c.Out, name, files[name]); err != nil {
			return err
		}
		steps.Add(1)
	}
	return nil
}

// below returns the paths of files in a folder.
func below(dir string, names []string) (paths []string) {
	for _, name := range names {
		paths = append(paths, filepath.Join(dir, filepath.FromSlash(name)))
	}
	return paths
}

// counting counts the files that are read.
type counting struct {
	schema.Files
	n *atomic.Int64
}

func (c counting) ReadFile(path string) ([]byte, error) {
	c.n.Add(1)
	return c.Files.ReadFile(path)
}
