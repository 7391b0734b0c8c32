package lsp

import (
	"context"
	"strings"

	protocol "github.com/tliron/glsp/protocol_3_16"

	"github.com/nocopythrift/nocopythrift/gen/audit"
)

// baseline is a file as it is in the last commit.
type baseline struct {
	ctx     context.Context // of version, which reads the file's history when that is needed
	end     func()
	commit  string
	loaded  bool
	version *audit.Version // nil if the file is not there
}

// audit returns what a file breaks in programs with its last committed version. There is nothing
// to compare with outside of git, in a new file, and while there are errors. The result is wrong
// if the context has ended.
func (a *analyzer) audit(ctx context.Context, f *file, dirs []string) (list []problem) {
	commit, err := audit.Commit(ctx, "HEAD", f.path)
	if err != nil {
		delete(a.baseline, f.path)
		return nil
	}
	b := a.baseline[f.path]
	if b == nil || b.commit != commit || b.ctx.Err() != nil {
		b = &baseline{commit: commit}
		b.ctx, b.end = context.WithCancel(context.Background())
		a.baseline[f.path] = b
	}
	defer context.AfterFunc(ctx, b.end)()
	if !b.loaded {
		b.loaded = true
		b.version, _ = audit.Committed(b.ctx, "HEAD", f.path, dirs)
	}
	if b.version == nil || len(a.overlay.mended(f.path).errors) > 0 {
		return nil
	}
	now, err := audit.Edited(a.overlay, f.path, dirs)
	if err != nil {
		return nil
	}
	findings := audit.Compare(b.version, now, a.settings.audit)
	if a.settings.matters != nil {
		findings = a.settings.matters(findings)
	}
	for _, found := range findings {
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
