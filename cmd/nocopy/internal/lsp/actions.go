package lsp

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	protocol "github.com/tliron/glsp/protocol_3_16"
)

// fixAll is the kind of the action that mends all that lint can mend.
const fixAll = "source.fixAll"

func (s *server) codeActions(p *protocol.CodeActionParams) (any, error) {
	f, err := s.file(p.TextDocument.URI)
	if err != nil {
		return nil, err
	}
	a := &actions{server: s, f: f, uri: p.TextDocument.URI, table: f.lines(), list: []protocol.CodeAction{}}
	a.in = a.table.spanOf(p.Range)
	if d := s.open[a.uri]; d != nil {
		s.submit() // it may not know the document yet
		a.fixes(s.analyzer.of(s.ctx, d))
	}
	a.missing()
	a.reserve()
	if only := p.Context.Only; only != nil {
		a.list = slices.DeleteFunc(a.list, func(c protocol.CodeAction) bool {
			return !slices.ContainsFunc(only, func(kind string) bool { return *c.Kind == kind || strings.HasPrefix(*c.Kind, kind+".") })
		})
	}
	return a.list, nil
}

// actions collects what can be done about a range.
type actions struct {
	*server
	f     *file
	uri   string
	table *lines
	in    span
	list  []protocol.CodeAction
}

func (a *actions) add(kind, title string, of *problem, edits ...protocol.TextEdit) {
	action := protocol.CodeAction{Title: title, Kind: &kind, Edit: &protocol.WorkspaceEdit{Changes: map[string][]protocol.TextEdit{a.uri: edits}}}
	if of != nil {
		action.Diagnostics = []protocol.Diagnostic{of.diagnostic(a.table)}
	}
	a.list = append(a.list, action)
}

// touches reports whether a range and that of the request have something in common, or meet.
func (a *actions) touches(s span) bool { return s.from <= a.in.to && a.in.from <= s.to }

func (a *actions) edit(s span, text string) protocol.TextEdit {
	return protocol.TextEdit{Range: a.table.rangeOf(s), NewText: text}
}

// fixes adds what lint can mend, and what audit misses.
func (a *actions) fixes(problems []problem) {
	var all []protocol.TextEdit
	end := int32(0)
	fixable := slices.DeleteFunc(slices.Clone(problems), func(p problem) bool { return p.fix == nil })
	slices.SortStableFunc(fixable, func(x, y problem) int { return int(x.fix.from) - int(y.fix.from) })
	for _, p := range fixable {
		edit := a.edit(p.fix.span, p.fix.text)
		if a.touches(p.span) {
			a.add(protocol.CodeActionKindQuickFix, "Fix: "+p.message, &p, edit)
		}
		if p.fix.from >= end && !(p.fix.from == 0 && int(p.fix.to) == len(a.f.src) && len(fixable) > 1) {
			all, end = append(all, edit), p.fix.to
		}
	}
	if all != nil {
		a.add(fixAll, "Fix all that nocopy lint can fix", nil, all...)
	}
	for _, p := range problems {
		if p.guess != nil && (a.touches(p.span) || a.touches(p.guess.span)) {
			a.add(protocol.CodeActionKindQuickFix, "Write "+p.guess.text, &p, a.edit(p.guess.span, p.guess.text))
		}
		id, ok := removedField(p)
		top := a.f.at(int(p.from))
		if !ok || top == nil || !a.touches(p.span) {
			continue
		}
		if top = top.top(); top.hasFields() && top.body.from < top.body.to {
			at := span{top.body.from + 1, top.body.from + 1}
			field, _, _ := strings.Cut(p.message, " removed")
			a.add(protocol.CodeActionKindQuickFix, "Reserve this id: "+id, &p, a.edit(at, a.f.newline()+"  // reserved "+id+": "+field))
		}
	}
}

// missing adds an action for each file that has a type which is not declared here.
func (a *actions) missing() {
	for _, r := range a.f.refs {
		if !a.touches(r.span) || a.parts(a.f, r) != nil {
			continue
		}
		name := a.f.text(r.span)
		if r.use == valueUse { // of E.A, the enum
			dot := strings.LastIndexByte(name, '.')
			if dot < 0 {
				continue
			}
			name = name[:dot]
		}
		left, last := "", name
		if dot := strings.LastIndexByte(name, '.'); dot >= 0 {
			left, last = name[:dot], name[dot+1:]
		}
		for _, g := range a.all() {
			n := g.byName[last]
			if g == a.f || n == nil || !(n.isType() || n.kind == r.use.kind()) || left != "" && left != prefix(g.path) {
				continue
			}
			var edits []protocol.TextEdit
			title := fmt.Sprintf("Include %q", a.pathTo(a.f, g))
			if !a.includes(a.f, g) {
				edits = append(edits, a.includeEdit(a.f, g))
			} else {
				title = fmt.Sprintf("Write %s.%s", prefix(g.path), last)
			}
			if left == "" {
				edits = append(edits, a.edit(span{r.from, r.from}, prefix(g.path)+"."))
			}
			if edits != nil {
				a.add(protocol.CodeActionKindQuickFix, title, nil, edits...)
			}
		}
	}
}

// kind returns the kind of node that only this use has.
func (u use) kind() nodeKind {
	if u == serviceUse {
		return serviceNode
	}
	return structNode
}

// includes reports whether one file includes another.
func (w *workspace) includes(f, g *file) bool {
	for inc := range w.included(f) {
		if inc == g {
			return true
		}
	}
	return false
}

// pathTo returns the path by which one file can include another: from its folder or, if that is
// shorter, from a folder for included files.
func (w *workspace) pathTo(f, g *file) string {
	best, err := filepath.Rel(filepath.Dir(f.path), g.path)
	if err != nil {
		best = g.path
	}
	for _, dir := range w.dirs {
		name, err := filepath.Rel(dir, g.path)
		if err == nil && !strings.HasPrefix(name, "..") && (len(name) < len(best) || strings.HasPrefix(best, "..")) {
			best = name
		}
	}
	return filepath.ToSlash(best)
}

// includeEdit returns the edit by which one file includes another: after its other includes, or
// before its first definition.
func (w *workspace) includeEdit(f, g *file) protocol.TextEdit {
	newline := f.newline()
	line := fmt.Sprintf("include %q%s", w.pathTo(f, g), newline)
	at := 0
	for _, n := range f.nodes {
		if n.kind == includeNode {
			at = f.afterLine(int(n.to))
		}
	}
	if at == 0 && len(f.nodes) > 0 {
		at = f.beforeComments(f.nodes[0])
		if f.nodes[0].kind != namespaceNode {
			line += newline
		}
	}
	if at > 0 && f.src[at-1] != '\n' {
		line = newline + strings.TrimSuffix(line, newline)
	}
	where := f.lines().position(at)
	return protocol.TextEdit{Range: protocol.Range{Start: where, End: where}, NewText: line}
}

// newline returns the end of the file's lines.
func (t *tree) newline() string {
	if strings.Contains(t.src, "\r\n") {
		return "\r\n"
	}
	return "\n"
}

// afterLine returns the offset of the line after the one that an offset is in.
func (f *file) afterLine(at int) int {
	if i := strings.IndexByte(f.src[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(f.src)
}

// beforeComments returns the offset of the line on which a node or the comment above it begins.
func (f *file) beforeComments(n *node) int {
	at := int(n.from)
	for _, t := range slices.Backward(f.allTokens()) {
		if int(t.to) <= at && t.kind == commentToken && strings.Count(f.src[t.to:at], "\n") <= 1 {
			at = int(t.from)
		}
	}
	return strings.LastIndexByte(f.src[:at], '\n') + 1
}

// reserve adds the action that removes a field and keeps others from its id.
func (a *actions) reserve() {
	var n *node
	for _, top := range a.f.nodes {
		if i := slices.IndexFunc(top.children, func(c *node) bool { return a.touches(c.span) }); i >= 0 && top.hasFields() && n == nil {
			n = top.children[i]
		}
	}
	if n == nil {
		return
	}
	id, ok := a.f.number(n)
	if !ok {
		return
	}
	text := fmt.Sprintf("// reserved %d: %s %s", id, a.f.typeText(n.typ), a.f.text(n.name))
	to := n.to
	if next := a.f.src[to:]; strings.TrimLeft(next, " \t") != "" && !strings.ContainsRune("\r\n", rune(strings.TrimLeft(next, " \t")[0])) {
		text += a.f.newline() // something else is on the line
	}
	a.add(protocol.CodeActionKindRefactor, fmt.Sprintf("Reserve this id: %d, and remove %s", id, a.f.text(n.name)), nil, a.edit(span{n.from, to}, text))
}
