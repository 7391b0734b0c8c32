package lsp

import (
	"strings"

	protocol "github.com/tliron/glsp/protocol_3_16"

	"github.com/nocopythrift/nocopythrift/gen/audit"
)

// baseline is a file as it is in the last commit.
type baseline struct {
	commit  string
	version *audit.Version // nil if the file is not there
}

// audit returns what a file breaks in programs with its last committed version. There is nothing
// to compare with outside of git, in a new file, and while there are errors.
func (a *analyzer) audit(f *file, dirs []string) (list []problem) {
	commit, err := audit.Commit("HEAD", f.path)
	if err != nil {
		delete(a.baseline, f.path)
		return nil
	}
	b := a.baseline[f.path]
	if b == nil || b.commit != commit {
		b = &baseline{commit: commit}
		a.baseline[f.path] = b
		b.version, _ = audit.Committed("HEAD", f.path, dirs)
	}
	if b.version == nil || len(a.overlay.mended(f.path).errors) > 0 {
		return nil
	}
	now, err := audit.Edited(a.overlay, f.path, dirs)
	if err != nil {
		return nil
	}
	for _, found := range audit.Compare(b.version, now, audit.Options{}) {
		if found.New.Filename != f.path {
			continue
		}
		p := problem{span: f.around(found.New.Offset), severity: protocol.DiagnosticSeverityError, source: "nocopy audit", code: found.Kind, message: found.Message}
		if found.Breaks != 0 {
			p.message += " (" + found.Breaks.String() + ")"
		}
		if found.Severity == audit.Warning {
			p.severity = protocol.DiagnosticSeverityWarning
		}
		list = append(list, p)
	}
	return list
}

// removedField matches the message about a field that is gone.
func removedField(p problem) (id string, ok bool) {
	if p.code != "field-removed" {
		return "", false
	}
	words := strings.Fields(p.message)
	for i, w := range words {
		if w == "field" && i+1 < len(words) {
			return words[i+1], true
		}
	}
	return "", false
}
