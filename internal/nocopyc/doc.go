// Package nocopyc has the commands that generate, compare and format: nocopyc's, which the tool
// nocopy has, too.
package nocopyc

import "strings"

// Tool is by which names the commands are called.
type Tool struct {
	Name      string // before "audit" and "fmt", and in messages
	Generator string // of the command that generates
}

// The tools that have the commands.
var (
	Nocopyc = Tool{"nocopyc", "nocopyc"}
	Nocopy  = Tool{"nocopy", "nocopy gen"}
)

// text returns a help text with the tool's names.
func (t Tool) text(help string) string {
	if t == Nocopyc {
		return help
	}
	return strings.NewReplacer("go tool nocopyc -", t.Generator+" -", "nocopyc -", t.Generator+" -", "nocopyc ", t.Name+" ").Replace(help)
}
