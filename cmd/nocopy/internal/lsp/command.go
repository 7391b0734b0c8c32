package lsp

import (
	"errors"
	"path/filepath"
	"runtime/debug"

	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/shell"
)

// gcPercent is lower than usual: an editor has many programs of this kind beside each other, and
// what they keep matters more than their time.
const gcPercent = 50

// Command serves an editor.
type Command struct {
	Include []string `name:"I" short:"I" help:"Folder in which to look for included files, after that of the including file and the configuration's; may be repeated." placeholder:"DIR" sep:"none"`
}

// Help is the end of the command's help text.
func (Command) Help() string {
	return `An editor starts the command and speaks the Language Server Protocol 3.16 with it, on standard input
and output. docs/editors.md has the settings of editors. In the first folder that the editor has
open, lint's configuration (.nocopylint.toml) chooses rules and names folders for included files.

Example, of Neovim:
  lua vim.lsp.start({name = 'nocopy', cmd = {'nocopy', 'lsp', '-I', 'idl'}, root_dir = vim.fn.getcwd()})`
}

// Run is called by the parser.
func (c *Command) Run(sh *shell.Shell) error {
	var dirs []string
	for _, dir := range c.Include {
		dir, err := filepath.Abs(dir)
		if err != nil {
			return err
		}
		dirs = append(dirs, dir)
	}
	debug.SetGCPercent(gcPercent)
	if !serve(sh.Ctx, sh.In, sh.Out, dirs) {
		return shell.WithCode(shell.Failed, errors.New("the editor has ended the connection without a shutdown"))
	}
	return nil
}
