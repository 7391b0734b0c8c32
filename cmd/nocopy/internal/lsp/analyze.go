package lsp

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	protocol "github.com/tliron/glsp/protocol_3_16"

	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/lint"
	"github.com/nocopythrift/nocopythrift/gen/idl"
)

// snapshot is what the editor has open at some time. It does not change.
type snapshot struct {
	docs  map[string]*document // by URI
	roots []string
	dirs  []string // for included files, besides those of the configuration
	disk  bool     // files on disk may have changed
}

// problem is a diagnostic with the edit that mends it, if there is one. guess is an edit that is
// perhaps what the user meant.
type problem struct {
	span
	severity   protocol.DiagnosticSeverity
	source     string
	code       string
	message    string
	fix, guess *edit
}

// edit replaces a range of a text.
type edit struct {
	span
	text string
}

// analyzer checks documents. It works on the newest snapshot in a goroutine of its own, so that
// requests need not wait for it.
type analyzer struct {
	tell  func(d *document, problems []problem)
	clear func(uri string) // the document is closed
	warn  func(message string)

	settings settings

	mu     sync.Mutex
	wake   *sync.Cond
	next   *snapshot
	closed bool
	done   map[string]result // by URI
	end    func()            // ends the audit at work

	// Only the goroutine uses these.
	overlay  *overlay
	dirty    map[string]bool            // URIs whose problems may be others
	audits   map[string]bool            // URIs that are to be audited
	needs    map[string]map[string]bool // the paths that were read for a URI
	seen     map[string]*file           // the analyzed one by URI
	baseline map[string]*baseline
	warned   string
}

// result is what was found in a document.
type result struct {
	file     *file
	problems []problem
}

func newAnalyzer() *analyzer {
	a := &analyzer{
		done: map[string]result{}, end: func() {}, dirty: map[string]bool{}, audits: map[string]bool{}, needs: map[string]map[string]bool{}, seen: map[string]*file{},
		overlay: &overlay{entries: map[string]*entry{}}, baseline: map[string]*baseline{},
	}
	a.wake = sync.NewCond(&a.mu)
	return a
}

// submit gives the analyzer a snapshot, instead of one that it has not begun with.
func (a *analyzer) submit(s *snapshot) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.next != nil {
		s.disk = s.disk || a.next.disk
	}
	a.next = s
	a.end()
	a.wake.Broadcast()
}

// stop ends run.
func (a *analyzer) stop() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.closed = true
	a.end()
	a.wake.Broadcast()
}

// of waits until a document, which was submitted, has been checked, or the context ends, and
// returns what was found.
func (a *analyzer) of(ctx context.Context, d *document) []problem {
	defer context.AfterFunc(ctx, func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.wake.Broadcast()
	})()
	a.mu.Lock()
	defer a.mu.Unlock()
	for !a.closed && a.done[d.uri].file != d.file {
		if ctx.Err() != nil {
			return nil
		}
		a.wake.Wait()
	}
	return a.done[d.uri].problems
}

// run checks snapshots until stop.
func (a *analyzer) run() {
	for {
		a.mu.Lock()
		for a.next == nil && !a.closed {
			a.wake.Wait()
		}
		s := a.next
		a.next = nil
		a.mu.Unlock()
		if s == nil {
			return
		}
		a.check(s)
	}
}

// outdated reports whether there is a newer snapshot.
func (a *analyzer) outdated() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.next != nil || a.closed
}

// check checks the documents of a snapshot that may have other findings than before: first those
// whose text has changed, then those that include them. Audits come last, since git may take its
// time. It stops if there is a newer snapshot.
func (a *analyzer) check(s *snapshot) {
	o := a.overlay
	o.docs, o.root = map[string]*file{}, ""
	if len(s.roots) > 0 {
		o.root = s.roots[0]
	}
	changed := map[string]bool{} // paths
	for uri, d := range s.docs {
		o.docs[d.file.path] = d.file
		if a.seen[uri] != d.file {
			a.seen[uri], a.dirty[uri], changed[d.file.path] = d.file, true, true
		}
	}
	for uri, f := range a.seen {
		if s.docs[uri] == nil {
			changed[f.path] = true
			delete(a.seen, uri)
			delete(a.dirty, uri)
			delete(a.audits, uri)
			delete(a.needs, uri)
			delete(a.baseline, f.path)
			a.mu.Lock()
			delete(a.done, uri)
			a.mu.Unlock()
			a.clear(uri)
		}
	}
	first := slices.Collect(maps.Keys(a.dirty))
	for uri := range s.docs {
		for name := range a.needs[uri] {
			if s.disk || changed[name] {
				a.dirty[uri] = true
			}
		}
	}
	cfg, dirs := a.configuration(s)
	for _, uri := range append(first, slices.Collect(maps.Keys(a.dirty))...) {
		d := s.docs[uri]
		if !a.dirty[uri] || d == nil {
			continue
		}
		if a.outdated() {
			return
		}
		o.read = map[string]bool{d.file.path: true}
		problems := a.safely(func() []problem { return a.problems(d.file, cfg, dirs) })
		a.needs[uri], a.audits[uri] = o.read, true
		a.found(d, problems)
		delete(a.dirty, uri)
	}
	for uri := range a.audits {
		ctx := a.untilNext()
		o.read = a.needs[uri]
		more := a.safely(func() []problem { return a.audit(ctx, s.docs[uri].file, dirs) })
		if ctx.Err() != nil {
			return
		}
		if more != nil {
			a.found(s.docs[uri], append(a.done[uri].problems, more...))
		}
		delete(a.audits, uri)
	}
	o.forget(func(name string) bool {
		for _, read := range a.needs {
			if read[name] {
				return true
			}
		}
		return false
	})
}

// untilNext returns a context that ends when there is a newer snapshot.
func (a *analyzer) untilNext() context.Context {
	ctx, end := context.WithCancel(context.Background())
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.end = end; a.next != nil || a.closed {
		end()
	}
	return ctx
}

// maxProblems is how many problems of a document are told.
const maxProblems = 1000

// found describes what was found in a document.
func (a *analyzer) found(d *document, problems []problem) {
	problems = problems[:min(len(problems), maxProblems)]
	a.mu.Lock()
	a.done[d.uri] = result{d.file, problems}
	a.wake.Broadcast()
	a.mu.Unlock()
	a.tell(d, problems)
}

// safely calls check. A panic, which is a mistake of a check, becomes a problem.
func (a *analyzer) safely(check func() []problem) (list []problem) {
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintf(os.Stderr, "nocopy lsp: panic, please report this: %v\n%s", p, debug.Stack())
			list = []problem{{severity: protocol.DiagnosticSeverityError, source: "nocopy", code: "panic", message: fmt.Sprint("a check has failed: ", p)}}
		}
	}()
	return check()
}

// configuration returns lint's configuration, of the project or else of the first folder, and all
// folders for included files.
func (a *analyzer) configuration(s *snapshot) (lint.Config, []string) {
	var cfg lint.Config
	dirs := slices.Clone(s.dirs)
	if a.settings.lint != nil { // its folders are in dirs
		return *a.settings.lint, dirs
	}
	if len(s.roots) == 0 {
		return cfg, dirs
	}
	if name := lint.FindConfig(s.roots[0]); name != "" {
		var err error
		if cfg, err = lint.ReadConfig(name); err == nil {
			_, err = cfg.Applies()
		}
		if err != nil {
			cfg = lint.Config{}
			if a.warned != err.Error() {
				a.warn(err.Error())
			}
			a.warned = err.Error()
		} else {
			a.warned = ""
		}
	}
	for _, dir := range cfg.Includes {
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(s.roots[0], dir)
		}
		dirs = append(dirs, dir)
	}
	return cfg, dirs
}

// wholeFile are the rules that are not applied to files with errors of syntax: they are about what
// is not there.
var wholeFile = map[string]bool{"IMPORT_USED": true, "format": true}

// problems returns what is wrong in a file: syntax, types, and what lint finds.
func (a *analyzer) problems(f *file, cfg lint.Config, dirs []string) (list []problem) {
	m := a.overlay.mended(f.path)
	told := map[string]bool{} // errors of syntax
	for _, e := range m.errors {
		told[e.Error()] = true
		list = append(list, problem{span: f.around(e.Pos.Offset), severity: protocol.DiagnosticSeverityError, source: "nocopy", code: "syntax", message: e.Msg, guess: f.meant(e.Pos.Offset, e.Msg)})
	}
	result, err := lint.Lint(lint.Input{Paths: []string{f.path}, Includes: dirs, Config: cfg, Files: a.overlay})
	if err != nil {
		return append(list, problem{severity: protocol.DiagnosticSeverityError, source: "nocopy", code: "file", message: err.Error()})
	}
	elsewhere := map[string][]string{}
	for _, found := range result.Findings {
		if found.Pos.Filename != f.path {
			if found.Severity == lint.Error {
				elsewhere[found.Pos.Filename] = append(elsewhere[found.Pos.Filename], fmt.Sprintf("%d:%d: %s", found.Pos.Line, found.Pos.Column, found.Message))
			}
			continue
		}
		if len(m.errors) > 0 && wholeFile[found.Rule] || told[(&idl.Error{Pos: found.Pos, Msg: found.Message}).Error()] {
			continue
		}
		p := problem{span: f.around(found.Pos.Offset), severity: protocol.DiagnosticSeverityError, source: "nocopy", code: found.Rule, message: found.Message, guess: f.meant(found.Pos.Offset, found.Message)}
		if found.Severity == lint.Warning {
			p.severity = protocol.DiagnosticSeverityWarning
		}
		if from, to, text, ok := found.Edit(); ok {
			p.fix = &edit{span{int32(from), int32(to)}, text}
		}
		list = append(list, p)
	}
	return append(append(list, a.included(f, elsewhere, dirs)...), f.reusedIDs()...)
}

var didYouMean = regexp.MustCompile(`^(?:unknown type|unexpected) "?([\w.]+)"?, did you mean "?([\w.]+)"?\?$`)

// meant returns the edit that writes what a message proposes instead of the name at an offset; nil
// if it proposes nothing.
func (f *file) meant(offset int, message string) *edit {
	m := didYouMean.FindStringSubmatch(message)
	if m == nil || offset > len(f.src) || !strings.HasPrefix(f.src[offset:], m[1]) {
		return nil
	}
	return &edit{span{int32(offset), int32(offset + len(m[1]))}, m[2]}
}

// included returns the errors in included files, at the lines that include them.
func (a *analyzer) included(f *file, elsewhere map[string][]string, dirs []string) (list []problem) {
	for _, n := range f.nodes {
		if n.kind != includeNode || len(elsewhere) == 0 {
			continue
		}
		for _, place := range places(f.path, f.included(n), dirs, nil) {
			if found := elsewhere[place]; len(found) > 0 {
				list = append(list, problem{span: n.name, severity: protocol.DiagnosticSeverityError, source: "nocopy", code: "include",
					message: fmt.Sprintf("%s has errors: %s", filepath.Base(place), strings.Join(found[:min(len(found), 3)], "; "))})
				break
			}
		}
	}
	return list
}

// around returns the range of the token at an offset or, if there is none, of the one before.
func (f *file) around(offset int) span {
	offset = max(0, min(offset, len(f.src)))
	tokens := f.allTokens()
	if i := tokenAt(tokens, offset); i >= 0 && tokens[i].kind != commentToken {
		if int(tokens[i].to) > offset {
			return tokens[i].span
		}
	}
	end := offset
	for end > 0 && strings.ContainsRune(" \t\r\n", rune(f.src[end-1])) {
		end--
	}
	if i := tokenAt(tokens, end); i >= 0 && end > 0 {
		return tokens[i].span
	}
	return span{int32(end), int32(end)}
}
