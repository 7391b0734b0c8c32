package lsp

import (
	"errors"
	"path/filepath"
	"runtime/debug"
	"slices"

	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/lint"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/project"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/shell"
	"github.com/nocopythrift/nocopythrift/gen/audit"
)

// gcPercent is lower than usual: an editor has many programs of this kind beside each other, and
// what they keep matters more than their time.
const gcPercent = 50

// Command serves an editor.
type Command struct {
	Include []string `name:"I" short:"I" help:"Folder in which to look for included files, after that of the including file and the configuration's; may be repeated." placeholder:"DIR" sep:"none"`

	project *project.Project // nil if there is none
}

// settings are what a server gets from its command line and the project file.
type settings struct {
	dirs    []string     // for included files
	lint    *lint.Config // nil: that of the first folder
	audit   audit.Options
	matters func([]audit.Finding) []audit.Finding // leaves those that matter; nil: all do
}

// Help is the end of the command's help text.
func (Command) Help() string {
	return `An editor starts the command and speaks the Language Server Protocol 3.16 with it, on standard input
and output. docs/editors.md has the settings of editors. The sections
lint and audit of nocopy.yaml apply as they are at the start. Without a section lint, a file
.nocopylint.toml in the first folder that the editor has open does.

Example, of Neovim:
  lua vim.lsp.start({name = 'nocopy', cmd = {'nocopy', 'lsp', '-I', 'idl'}, root_dir = vim.fn.getcwd()})`
}

// Take implements project.Taker.
func (c *Command) Take(use *project.Use) { c.project = use.Project }

// Run is called by the parser.
func (c *Command) Run(sh *shell.Shell) error {
	set, err := c.settings()
	if err != nil {
		return err
	}
	debug.SetGCPercent(gcPercent)
	if !serve(sh.Ctx, sh.In, sh.Out, set) {
		return shell.WithCode(shell.Failed, errors.New("the editor has ended the connection without a shutdown"))
	}
	return nil
}

// settings returns what the command line and the project file say.
func (c *Command) settings() (set settings, err error) {
	dirs := c.Include
	if c.project != nil {
		set.lint = c.project.Lint
		if set.audit, set.matters, err = c.project.AuditSettings(); err != nil {
			return set, err
		}
		more, err := c.project.LintFolders()
		if err != nil {
			return set, err
		}
		dirs = slices.Concat(dirs, more)
	}
	for _, dir := range dirs {
		abs, err := filepath.Abs(dir)
		if err != nil {
			return set, err
		}
		set.dirs = append(set.dirs, abs)
	}
	return set, nil
}
