package complete

import (
	_ "embed"
	"io"

	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/shell"
)

// Scripts prints the script for a shell.
type Scripts struct {
	Shell string `arg:"" help:"The shell: ${enum}." enum:"bash,zsh,fish"`
}

// The scripts.
var (
	//go:embed scripts/nocopy.bash
	bash string
	//go:embed scripts/nocopy.zsh
	zsh string
	//go:embed scripts/nocopy.fish
	fish string
)

// Help is the end of the command's help text.
func (Scripts) Help() string {
	return `Commands, flags, targets of nocopy.yaml, methods and fields are completed: methods and fields by the
IDL of the target or of -idl, else by that which the server tells, which is then connected to.

Examples:
  source <(nocopy completion bash)            in ~/.bashrc
  source <(nocopy completion zsh)             in ~/.zshrc, after compinit
  nocopy completion fish > ~/.config/fish/completions/nocopy.fish`
}

// Run is called by the parser.
func (s *Scripts) Run(sh *shell.Shell) error {
	_, err := io.WriteString(sh.Out, map[string]string{"bash": bash, "zsh": zsh, "fish": fish}[s.Shell])
	return err
}
