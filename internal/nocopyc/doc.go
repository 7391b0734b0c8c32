// Package nocopyc has the commands that generate, compare and format: nocopyc's, which the tool
// nocopy has, too.
package nocopyc

import (
	"strconv"
	"strings"
)

// Tool is by which names the commands are called.
type Tool struct {
	Name      string // before "audit" and "fmt", and in messages
	Generator string // of the command that generates
	// The exit codes of audit and of fmt -check that have found something, and of both if they fail.
	Found, Failed int
}

// The tools that have the commands.
var (
	Nocopyc = Tool{"nocopyc", "nocopyc", 1, 2}
	Nocopy  = Tool{"nocopy", "nocopy gen", 100, 1}
)

// text returns a help text with the tool's names and exit codes.
func (t Tool) text(help string) string {
	help = strings.NewReplacer("FOUND", strconv.Itoa(t.Found), "FAILED", strconv.Itoa(t.Failed)).Replace(help)
	if t == Nocopyc {
		return help
	}
	return strings.NewReplacer("go tool nocopyc -", t.Generator+" -", "nocopyc -", t.Generator+" -", "nocopyc ", t.Name+" ").Replace(help)
}
