// The client that the tests of this package have.
package lsp

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sourcegraph/jsonrpc2"
	protocol "github.com/tliron/glsp/protocol_3_16"
)

// editor is a client that speaks JSON-RPC with a server over pipes.
type editor struct {
	testing.TB
	dir  string
	conn *jsonrpc2.Conn
	done chan bool // what serve has returned

	mu       sync.Mutex
	changed  *sync.Cond
	told     map[string]published // by URI
	versions map[string]int32
	texts    map[string]string
}

// a minute is how long an answer may take before a test fails.
const aMinute = time.Minute

// newEditor starts a server for a folder with these files: lines "-- name --" and their texts.
func newEditor(t testing.TB, files string) *editor { return newEditorWith(t, settings{}, files) }

// newEditorWith returns an editor whose server has settings.
func newEditorWith(t testing.TB, set settings, files string) *editor {
	t.Helper()
	e := &editor{TB: t, dir: canonical(t.TempDir()), told: map[string]published{}, versions: map[string]int32{}, texts: map[string]string{}, done: make(chan bool, 1)}
	e.changed = sync.NewCond(&e.mu)
	for part := range strings.SplitSeq(files, "-- ") {
		if name, text, ok := strings.Cut(part, " --\n"); ok {
			e.write(name, text)
		}
	}
	fromEditor, toServer := io.Pipe()
	fromServer, toEditor := io.Pipe()
	go func() {
		e.done <- serve(context.Background(), fromEditor, toEditor, set)
		toEditor.Close()
	}()
	stream := jsonrpc2.NewBufferedStream(pipes{fromServer, toServer}, jsonrpc2.VSCodeObjectCodec{})
	e.conn = jsonrpc2.NewConn(context.Background(), stream, e, jsonrpc2.SetLogger(log.New(io.Discard, "", 0)))
	t.Cleanup(func() {
		e.conn.Close()
		select {
		case <-e.done:
		case <-time.After(aMinute):
			t.Error("the server does not end")
		}
	})
	e.call("initialize", map[string]any{"rootUri": uriOf(e.dir), "capabilities": map[string]any{}})
	e.notify("initialized", struct{}{})
	return e
}

// published is protocol.PublishDiagnosticsParams, whose codes cannot be decoded.
type published struct {
	URI         string
	Version     *uint32
	Diagnostics []struct {
		Range         protocol.Range
		Severity      int
		Code, Message string
	}
}

type pipes struct {
	io.ReadCloser
	w io.WriteCloser
}

func (p pipes) Write(b []byte) (int, error) { return p.w.Write(b) }
func (p pipes) Close() error {
	p.w.Close()
	return p.ReadCloser.Close()
}

// Handle implements jsonrpc2.Handler.
func (e *editor) Handle(_ context.Context, _ *jsonrpc2.Conn, m *jsonrpc2.Request) {
	var p published
	if m.Method == "textDocument/publishDiagnostics" && json.Unmarshal(*m.Params, &p) == nil {
		e.mu.Lock()
		e.told[p.URI] = p
		e.changed.Broadcast()
		e.mu.Unlock()
	}
}

func (e *editor) path(name string) string { return filepath.Join(e.dir, filepath.FromSlash(name)) }
func (e *editor) uri(name string) string  { return uriOf(e.path(name)) }

// write writes a file on the disk.
func (e *editor) write(name, text string) {
	e.Helper()
	if err := os.MkdirAll(filepath.Dir(e.path(name)), 0o777); err != nil {
		e.Fatal(err)
	}
	if err := os.WriteFile(e.path(name), []byte(text), 0o666); err != nil {
		e.Fatal(err)
	}
}

func (e *editor) notify(method string, params any) {
	e.Helper()
	if err := e.conn.Notify(context.Background(), method, params); err != nil {
		e.Fatal(method, err)
	}
}

// try calls a method and returns its result, or the error.
func (e *editor) try(method string, params any) (json.RawMessage, error) {
	ctx, cancel := context.WithTimeout(context.Background(), aMinute)
	defer cancel()
	var result json.RawMessage
	err := e.conn.Call(ctx, method, params, &result)
	return result, err
}

func (e *editor) call(method string, params any) json.RawMessage {
	e.Helper()
	result, err := e.try(method, params)
	if err != nil {
		e.Fatal(method, err)
	}
	return result
}

// ask calls a method and decodes its result.
func ask[T any](e *editor, method string, params any) (result T) {
	e.Helper()
	if err := json.Unmarshal(e.call(method, params), &result); err != nil {
		e.Fatal(method, err)
	}
	return result
}

// open opens a document. A "|" in the text is removed; at is its place.
func (e *editor) open(name, text string) (at map[string]any) {
	e.Helper()
	text, at = e.cursor(name, text)
	e.versions[name], e.texts[name] = 1, text
	e.notify("textDocument/didOpen", map[string]any{"textDocument": map[string]any{"uri": e.uri(name), "languageId": "thrift", "version": 1, "text": text}})
	return at
}

// change replaces all of a document's text, like open.
func (e *editor) change(name, text string) (at map[string]any) {
	e.Helper()
	text, at = e.cursor(name, text)
	e.versions[name]++
	e.texts[name] = text
	e.notify("textDocument/didChange", map[string]any{
		"textDocument": map[string]any{"uri": e.uri(name), "version": e.versions[name]}, "contentChanges": []any{map[string]any{"text": text}}})
	return at
}

// cursor removes the "|" of a text, and returns parameters for its place.
func (e *editor) cursor(name, text string) (string, map[string]any) {
	before, after, _ := strings.Cut(text, "|")
	text = before + after
	return text, map[string]any{"textDocument": map[string]any{"uri": e.uri(name)}, "position": linesOf(text).position(len(before))}
}

// with returns parameters with more of them.
func with(params map[string]any, key string, value any) map[string]any {
	all := map[string]any{key: value}
	for k, v := range params {
		all[k] = v
	}
	return all
}

// problems waits for the diagnostics of a document's newest text for which is is true, and returns
// them as lines of text.
func (e *editor) problems(name string, is func(string) bool) string {
	e.Helper()
	timer := time.AfterFunc(aMinute, func() { e.changed.Broadcast() })
	defer timer.Stop()
	e.mu.Lock()
	defer e.mu.Unlock()
	for end := time.Now().Add(aMinute); ; e.changed.Wait() {
		p, ok := e.told[e.uri(name)]
		var b strings.Builder
		for _, d := range p.Diagnostics {
			fmt.Fprintf(&b, "%d:%d-%d %v: %s\n", d.Range.Start.Line+1, d.Range.Start.Character+1, d.Range.End.Character+1, d.Code, d.Message)
		}
		if ok && p.Version != nil && *p.Version == uint32(e.versions[name]) && is(b.String()) {
			return b.String()
		}
		if time.Now().After(end) {
			e.Fatalf("no such diagnostics of %s: %s", name, &b)
		}
	}
}

func anything(string) bool { return true }

// apply returns the texts after edits, by names of files.
func (e *editor) apply(edits protocol.WorkspaceEdit) map[string]string {
	e.Helper()
	out := map[string]string{}
	for uri, list := range edits.Changes {
		name, err := filepath.Rel(e.dir, pathOf(uri))
		if err != nil {
			e.Fatal(err)
		}
		name = filepath.ToSlash(name)
		src, open := e.texts[name]
		if !open {
			b, err := os.ReadFile(e.path(name))
			if err != nil {
				e.Fatal(err)
			}
			src = string(b)
		}
		out[name] = edited(e, src, list)
	}
	return out
}

// edited returns a text after edits, which are in it and do not overlap.
func edited(e *editor, src string, list []protocol.TextEdit) string {
	e.Helper()
	table := linesOf(src)
	slices.SortStableFunc(list, func(a, b protocol.TextEdit) int { return table.offset(b.Range.Start) - table.offset(a.Range.Start) })
	end := len(src)
	for _, edit := range list {
		s := table.spanOf(edit.Range)
		if table.rangeOf(s) != edit.Range || int(s.to) > end {
			e.Fatalf("edit %v is not in the text, or in another one", edit)
		}
		end = int(s.from)
		src = src[:s.from] + edit.NewText + src[s.to:]
	}
	return src
}
