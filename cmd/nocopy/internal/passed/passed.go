// Package passed has the subcommands that run nocopyc. It parses its arguments itself, so that the
// flags are the same.
package passed

import (
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/project"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/shell"
	"github.com/nocopythrift/nocopythrift/internal/nocopyc"
)

// Args are the arguments of a command.
type Args struct {
	Args []string `arg:"" optional:""`
}

// The commands.
type (
	Gen   struct{ Args }
	Check struct{ Args }
	Audit struct {
		Args
		use *project.Use // nil without a project file
	}
	Fmt struct{ Args }
)

// Run is called by the parser.
func (c *Gen) Run(sh *shell.Shell) error {
	return end(nocopyc.Nocopy.Generate(c.Args.Args, sh.Out, sh.Err))
}

// Run is called by the parser.
func (c *Check) Run(sh *shell.Shell) error {
	return end(nocopyc.Nocopy.Check(c.Args.Args, sh.Out, sh.Err))
}

// Take implements project.Taker.
func (c *Audit) Take(use *project.Use) { c.use = use }

// Run is called by the parser.
func (c *Audit) Run(sh *shell.Shell) error {
	return end(nocopyc.Nocopy.AuditWith(c.use.Auditing(sh.Ctx), c.Args.Args, sh.Out, sh.Err))
}

// Run is called by the parser.
func (c *Fmt) Run(sh *shell.Shell) error {
	return end(nocopyc.Nocopy.Fmt(c.Args.Args, sh.In, sh.Out, sh.Err))
}

// end returns the error for an exit code. The message has been printed.
func end(code int) error {
	if code == 0 {
		return nil
	}
	return shell.WithCode(code, shell.ErrSilent)
}
