package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sourcegraph/jsonrpc2"
	protocol "github.com/tliron/glsp/protocol_3_16"
)

// inDocument fails the test if a result has a range that is not in the documents' texts.
func (e *editor) inDocument(method, name string, result json.RawMessage) {
	e.Helper()
	var tree any
	if err := json.Unmarshal(result, &tree); err != nil {
		e.Fatal(method, err)
	}
	table := linesOf(e.texts[name])
	var walk func(v any, uri string)
	walk = func(v any, uri string) {
		switch v := v.(type) {
		case []any:
			for _, x := range v {
				walk(x, uri)
			}
		case map[string]any:
			if s, ok := v["uri"].(string); ok {
				uri = s
			}
			if location, ok := v["location"].(map[string]any); ok {
				walk(location, uri)
				return
			}
			if v["start"] != nil && uri == e.uri(name) {
				var r protocol.Range
				b, _ := json.Marshal(v)
				if err := json.Unmarshal(b, &r); err != nil || table.rangeOf(table.spanOf(r)) != r {
					e.Fatalf("%s: range %s is not in %q", method, b, e.texts[name])
				}
			}
			for key, x := range v {
				if strings.HasPrefix(key, "file:") {
					walk(x, key)
				} else {
					walk(x, uri)
				}
			}
		}
	}
	walk(tree, e.uri(name))
}

// notInternal fails the test if an error is a panic's.
func (e *editor) notInternal(method string, err error) {
	e.Helper()
	var r *jsonrpc2.Error
	if err != nil && (!errors.As(err, &r) || r.Code == jsonrpc2.CodeInternalError) {
		e.Fatal(method, err)
	}
}

// requests are all methods that ask for something.
func requests() []string {
	list := slices.DeleteFunc(slices.Sorted(maps.Keys(methods)), func(m string) bool {
		return strings.HasPrefix(m, "initial") || m == "shutdown" || strings.HasPrefix(m, "textDocument/did") || strings.HasPrefix(m, "workspace/did")
	})
	return append(list, "nothing/atAll", "")
}

// TestWrongRequests sends parameters that no editor should.
func TestWrongRequests(t *testing.T) {
	e := newEditor(t, twoFiles)
	e.open("shop.thrift", shop)
	var docs []any
	for _, uri := range []string{e.uri("shop.thrift"), e.uri("money.thrift"), e.uri("gone.thrift"), e.uri(""), "", "file:", "file:///%00", "file://%zz", "http://x/y", "untitled:A", "file:///dev/zero", "file:///proc/self/mem", strings.Repeat("x", 1<<16)} {
		docs = append(docs, map[string]any{"uri": uri})
	}
	docs = append(docs, nil, 1, "x", []any{}, map[string]any{"uri": 5})
	var positions []any
	for _, p := range [][2]any{{0, 0}, {1 << 31, 1 << 31}, {uint32(1<<32 - 1), uint32(1<<32 - 1)}, {-1, -1}, {1e300, 0}, {0.5, 0}, {"a", nil}, {3, 1000}, {1000, 3}} {
		positions = append(positions, map[string]any{"line": p[0], "character": p[1]})
	}
	positions = append(positions, nil, "x")
	for _, method := range requests() {
		for i, doc := range docs {
			few := positions
			if i > 0 {
				few = positions[:1]
			}
			for _, at := range few {
				params := map[string]any{"textDocument": doc, "position": at, "range": map[string]any{"start": at, "end": positions[0]}, "newName": "x", "query": "a",
					"context": map[string]any{"includeDeclaration": true, "diagnostics": []any{}}}
				result, err := e.try(method, params)
				e.notInternal(method, err)
				if err == nil && i == 0 {
					e.inDocument(method, "shop.thrift", result)
				}
			}
		}
		for _, params := range []any{nil, 1, "x", []any{}, []any{1, 2}, map[string]any{}, json.RawMessage(strings.Repeat("[", 5000) + strings.Repeat("]", 5000))} {
			_, err := e.try(method, params)
			e.notInternal(method, err)
		}
	}
	for _, method := range []string{"textDocument/didOpen", "textDocument/didChange", "textDocument/didClose", "textDocument/didSave", "workspace/didChangeWatchedFiles", "workspace/didChangeWorkspaceFolders", "$/cancelRequest", "nothing/atAll", "$/x"} {
		for _, doc := range docs {
			for _, at := range positions {
				e.notify(method, map[string]any{"textDocument": doc, "id": at, "changes": []any{doc}, "event": map[string]any{"added": []any{doc}, "removed": []any{doc}},
					"contentChanges": []any{map[string]any{"range": map[string]any{"start": at, "end": at}, "text": ""}, doc}})
			}
		}
	}
	e.open("shop.thrift", shop)
	if got := e.labels(e.change("shop.thrift", "|")); !slices.Contains(got, "struct") {
		t.Errorf("afterwards there is %q", got)
	}
}

// TestAnyDocument asks everything everywhere in documents that are cut and changed at random.
func TestAnyDocument(t *testing.T) {
	e := newEditor(t, twoFiles)
	e.open("shop.thrift", shop)
	r := rand.New(rand.NewPCG(1, 2))
	for range 60 {
		text := []rune(shop)
		for range r.IntN(8) {
			i, j := r.IntN(len(text)), r.IntN(len(text))
			switch r.IntN(4) {
			case 0:
				text = slices.Delete(text, min(i, j), min(max(i, j), min(i, j)+20))
			case 1:
				text[i] = []rune("{}()<>[]:,;=\"'\r\n\\/*#x1é😀\u2028\x00")[r.IntN(25)]
			case 2:
				text = slices.Insert(text, i, []rune("\"/*")[r.IntN(3)])
			case 3:
				text = text[:i+1]
			}
		}
		src := strings.ReplaceAll(string(text), "|", "")
		e.change("shop.thrift", src)
		for _, method := range requests() {
			at := linesOf(src).position(r.IntN(len(src) + 1))
			to := linesOf(src).position(r.IntN(len(src) + 1))
			result, err := e.try(method, map[string]any{"textDocument": map[string]any{"uri": e.uri("shop.thrift")}, "position": at, "range": map[string]any{"start": at, "end": to},
				"newName": "x", "query": "a", "context": map[string]any{"includeDeclaration": true, "diagnostics": []any{}}})
			e.notInternal(method, err)
			if err == nil {
				e.inDocument(method, "shop.thrift", result)
			}
		}
		if got := e.problems("shop.thrift", anything); strings.Contains(got, "panic") {
			t.Fatalf("%s in %q", got, src)
		}
	}
}

// TestIncrementalChanges changes a document in pieces. The server has the same text in the end.
func TestIncrementalChanges(t *testing.T) {
	e := newEditor(t, "")
	src := "struct A {\r\n  1: string é😀 = \"é😀\"\n\r}"
	e.open("a.thrift", src)
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		table := linesOf(src)
		var changes []any
		for range 1 + r.IntN(3) {
			i, j := r.IntN(len(src)+1), r.IntN(len(src)+1)
			s := table.spanOf(protocol.Range{Start: table.position(min(i, j)), End: table.position(max(i, j))})
			text := []string{"", "x", "é", "😀", "\n", "\r\n", "struct B {}"}[r.IntN(7)]
			if s.to-s.from > 12 {
				s.to = table.spanOf(table.rangeOf(span{s.from, s.from + 12})).to
			}
			changes = append(changes, map[string]any{"range": table.rangeOf(s), "text": text})
			src = src[:s.from] + text + src[s.to:]
			table = linesOf(src)
		}
		e.versions["a.thrift"]++
		e.notify("textDocument/didChange", map[string]any{"textDocument": map[string]any{"uri": e.uri("a.thrift"), "version": e.versions["a.thrift"]}, "contentChanges": changes})
	}
	e.texts["a.thrift"] = src
	e.notify("textDocument/didChange", map[string]any{"textDocument": map[string]any{"uri": e.uri("a.thrift"), "version": 999},
		"contentChanges": []any{map[string]any{"range": lineRange(1, 1<<30), "text": strings.ReplaceAll(src, "\x00", "") + "\nstruct Z {}\n"}}})
	e.versions["a.thrift"] = 999
	if got := e.labels(map[string]any{"textDocument": map[string]any{"uri": e.uri("a.thrift")}, "position": map[string]any{"line": 1 << 30, "character": 0}}); got == nil {
		t.Error("no answer")
	}
	e.problems("a.thrift", anything)
}

// TestPositions converts positions in texts with characters of two units, and all ends of lines.
func TestPositions(t *testing.T) {
	table := linesOf("a😀é\r\nb\rc\n")
	for _, c := range []struct{ line, character, offset, backLine, backCharacter uint32 }{
		{0, 0, 0, 0, 0}, {0, 1, 1, 0, 1}, {0, 2, 5, 0, 3}, {0, 3, 5, 0, 3}, {0, 4, 7, 0, 4}, {0, 99, 7, 0, 4},
		{1, 0, 9, 1, 0}, {1, 1, 10, 1, 1}, {1, 2, 10, 1, 1}, {2, 0, 11, 2, 0}, {3, 0, 13, 3, 0}, {3, 5, 13, 3, 0}, {4, 0, 13, 3, 0}, {1<<32 - 1, 1<<32 - 1, 13, 3, 0},
	} {
		at := table.offset(protocol.Position{Line: c.line, Character: c.character})
		if back := table.position(at); at != int(c.offset) || back.Line != c.backLine || back.Character != c.backCharacter {
			t.Errorf("%d:%d: %d, %v", c.line, c.character, at, back)
		}
	}
}

// TestLongLines compares positions in lines of many blocks with counts.
func TestLongLines(t *testing.T) {
	var b strings.Builder
	r := rand.New(rand.NewPCG(1, 2))
	for b.Len() < 10*block {
		b.WriteString([]string{"a", "é", "😀", "\u2028", "\n", "\xff", strings.Repeat("x", 700), strings.Repeat("é", 600)}[r.IntN(8)])
	}
	src := b.String()
	table := linesOf(src)
	line, character := uint32(0), uint32(0)
	for i, c := range src {
		if got := table.position(i); got.Line != line || got.Character != character {
			t.Fatalf("offset %d: %v, want %d:%d", i, got, line, character)
		}
		if back := table.offset(protocol.Position{Line: line, Character: character}); back != i {
			t.Fatalf("%d:%d: offset %d, want %d", line, character, back, i)
		}
		if character += unitsOf(c); c == '\n' {
			line, character = line+1, 0
		}
	}
}

// TestFilesThatChange deletes, links and encircles files.
func TestFilesThatChange(t *testing.T) {
	e := newEditor(t, "-- a.thrift --\ninclude \"b.thrift\"\nstruct A { 1: b.B b }\n-- b.thrift --\ninclude \"a.thrift\"\nstruct B { 1: a.A a }\n-- c.thrift --\ninclude \"c.thrift\"\nstruct C {}\n")
	for link, to := range map[string]string{"link.thrift": "b.thrift", "loop.thrift": "loop.thrift", "up": ".", "null.thrift": "/dev/null", "zero.thrift": "/dev/zero", "nowhere.thrift": "gone.thrift"} {
		if err := os.Symlink(to, e.path(link)); err != nil {
			t.Skip(err)
		}
	}
	if err := os.Mkdir(e.path("folder.thrift"), 0o777); err != nil {
		t.Fatal(err)
	}
	const src = "include \"b.thrift\"\nstruct A { 1: b.B b, 2: link.B c, 3: zero.X d }\n"
	e.open("a.thrift", src)
	if got := e.problems("a.thrift", func(s string) bool { return s != "" }); !strings.Contains(got, "include cycle") {
		t.Error(got)
	}
	e.open("c.thrift", "include \"c.thrift\"\nstruct C {}\n")
	e.problems("c.thrift", func(s string) bool { return strings.Contains(s, "cycle") })
	e.change("a.thrift", "include \"loop.thrift\"\ninclude \"zero.thrift\"\ninclude \"folder.thrift\"\ninclude \"up/up/link.thrift\"\ninclude \"nowhere.thrift\"\ninclude \"\"\ninclude \"/\"\ninclude \"\\0\"\nstruct A { 1: link.B c, 3: zero.X d, 4: loop.Y e, 5: folder.Z f }\n")
	if got := e.problems("a.thrift", anything); !strings.Contains(got, "loop.thrift") || strings.Contains(got, "link.B") {
		t.Error(got)
	}
	at := e.change("a.thrift", "include \"up/up/link.thrift\"\nstruct A { 1: link.B| c }\n")
	if got := e.where(ask[protocol.Location](e, "textDocument/definition", at)); got != "b.thrift:2:8-9" {
		t.Error(got)
	}
	if err := os.Remove(e.path("b.thrift")); err != nil {
		t.Fatal(err)
	}
	for _, method := range requests() {
		result, err := e.try(method, with(with(at, "newName", "x"), "range", lineRange(1, 9)))
		e.notInternal(method, err)
		if err == nil {
			e.inDocument(method, "a.thrift", result)
		}
	}
	e.notify("workspace/didChangeWatchedFiles", map[string]any{"changes": []any{map[string]any{"uri": e.uri("b.thrift"), "type": 3}}})
	e.problems("a.thrift", func(s string) bool { return strings.Contains(s, "link.thrift") })
	e.notify("textDocument/didClose", map[string]any{"textDocument": map[string]any{"uri": e.uri("a.thrift")}})
	if err := os.RemoveAll(e.dir); err != nil {
		t.Fatal(err)
	}
	e.call("workspace/symbol", map[string]any{"query": ""})
}

// TestCancel cancels requests that wait, that are answered, and that never were.
func TestCancel(t *testing.T) {
	e := newEditor(t, twoFiles)
	e.open("shop.thrift", shop)
	for i := range 50 {
		id := jsonrpc2.ID{Num: uint64(i) + 1<<60}
		w, err := e.conn.DispatchCall(context.Background(), "workspace/symbol", map[string]any{"query": ""}, jsonrpc2.PickID(id))
		if err != nil {
			t.Fatal(err)
		}
		e.notify("$/cancelRequest", map[string]any{"id": id})
		e.notify("$/cancelRequest", map[string]any{"id": "never"})
		var r *jsonrpc2.Error
		if err := w.Wait(context.Background(), nil); err != nil && !(errors.As(err, &r) && r.Code == codeCancelled) {
			t.Fatal(err)
		}
		e.notify("$/cancelRequest", map[string]any{"id": id})
	}
}

// TestCancelledInTime cancels a request before it is handled.
func TestCancelledInTime(t *testing.T) {
	s := newServer(settings{})
	ready := make(chan struct{})
	close(ready)
	s.initialized = true
	id, params := jsonrpc2.ID{Num: 7}, json.RawMessage(`{"id": 7}`)
	request := &jsonrpc2.Request{ID: id, Method: "workspace/symbol", Params: &params}
	reader{s, ready}.Handle(context.Background(), nil, request)
	reader{s, ready}.Handle(context.Background(), nil, &jsonrpc2.Request{Method: "$/cancelRequest", Params: &params, Notif: true})
	s.ctx = s.ctxs[id]
	if _, err := s.answer(<-s.queue); err != errCancelled {
		t.Error(err)
	}
}

// TestWrongStreams starts servers on bytes that are no messages: each ends.
func TestWrongStreams(t *testing.T) {
	message := func(s string) string { return fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(s), s) }
	initialize := message(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`)
	for _, in := range []string{
		"", "\r\n", "x", "Content-Length: 5\r\n\r\n", "Content-Length: -5\r\n\r\n{}", "Content-Length: 99999999999999999999\r\n\r\n{}", "Content-Length: 4294967295\r\n\r\n{}",
		"Content-Length: 2\r\n\r\n{}}}}}", "Content-Length: 3\r\n\r\n{}" + initialize, "Content-Length: 0\r\n\r\n", "Content-Length: x\r\n\r\n{}", strings.Repeat("x", 1<<20),
		message("{}"), message("[]"), message("null"), message("1"), message(`{"id":1}`), message(`{"method":1}`), message(`{"jsonrpc":"2.0","method":"exit"}`),
		message(`{"jsonrpc":"2.0","id":99999999999999999999999,"method":"initialize"}`), message(`{"jsonrpc":"2.0","id":-1,"method":"initialize"}`), message(`{"jsonrpc":"2.0","id":{},"method":"initialize"}`),
		message(`{"jsonrpc":"2.0","id":1,"method":"textDocument/hover","params":{}}`), message(strings.Repeat("[", 1<<20)),
		initialize + initialize, initialize + message(`{"jsonrpc":"2.0","id":1,"result":{}}`), initialize + message(`{"jsonrpc":"2.0","id":"x","error":{}}`),
		initialize + message(`{"jsonrpc":"2.0","id":2,"method":"shutdown"}`) + message(`{"jsonrpc":"2.0","id":3,"method":"shutdown"}`),
		message("\xff\xfe"), message(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"rootUri":"file:///nowhere","rootPath":7,"workspaceFolders":[{"uri":"x"}],"capabilities":3}}`),
	} {
		ended := make(chan bool)
		var out strings.Builder
		go func() {
			serve(context.Background(), strings.NewReader(in), &out, settings{})
			close(ended)
		}()
		select {
		case <-ended:
			if strings.Contains(out.String(), "panic") {
				t.Errorf("%.100q: %s", in, &out)
			}
		case <-time.After(aMinute):
			t.Fatalf("%.100q does not end", in)
		}
	}
}

// TestShutdown ends servers as editors do, and as they should not.
func TestShutdown(t *testing.T) {
	for _, orderly := range []bool{true, false} {
		e := newEditor(t, "")
		if orderly {
			e.call("shutdown", nil)
			if _, err := e.try("textDocument/hover", nil); err == nil {
				t.Error("an answer after shutdown")
			}
			e.notify("exit", nil)
		} else {
			e.conn.Close()
		}
		if got := <-e.done; got != orderly {
			t.Errorf("serve returns %v, want %v", got, orderly)
		}
		e.done <- true
	}
}
