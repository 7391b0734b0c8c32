package lsp

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	protocol "github.com/tliron/glsp/protocol_3_16"

	"github.com/nocopythrift/nocopythrift/internal/testmode"
)

var bigIDL = flag.String("lsp.idl", "", "a file for the benchmarks, instead of one that is made up")

// big returns a file of 3,000 lines in the manner of Hive's metastore, with 20 includes.
func big() string {
	if *bigIDL != "" {
		src, err := os.ReadFile(*bigIDL)
		if err != nil {
			panic(err)
		}
		return string(src)
	}
	var b strings.Builder
	for i := range 20 {
		fmt.Fprintf(&b, "include \"part%d.thrift\"\n", i)
	}
	for i := range 250 {
		fmt.Fprintf(&b, "\n// A request of the metastore: number %d.\nstruct Request%d {\n  1: required string dbName,\n  2: optional list<string> names = [],\n  3: optional map<string, part%d.Part> parts, // by name\n"+
			"  4: i64 writeId = -1,\n  5: optional part%d.Kind kind = part%d.Kind.TABLE\n}\n", i, i, i%20, i%20, i%20)
	}
	b.WriteString("\nservice Metastore {\n")
	for i := range 350 {
		fmt.Fprintf(&b, "  Request%d get_%d(1: string name, 2: Request%d request) throws (1: part%d.Failed o1)\n", i%250, i, (i+7)%250, i%20)
		if i%2 == 0 {
			b.WriteString("  // deprecated\n")
		}
	}
	b.WriteString("}\n")
	return b.String()
}

// parts returns the files that big includes.
func parts() string {
	var b strings.Builder
	for i := range 20 {
		fmt.Fprintf(&b, "-- part%d.thrift --\nenum Kind { TABLE, VIEW }\nexception Failed { 1: string message }\n", i)
		b.WriteString("struct Part {\n")
		for j := range 100 {
			fmt.Fprintf(&b, "  %d: optional string field%d // the field %d\n", j+1, j, j)
		}
		b.WriteString("}\n")
	}
	return b.String()
}

// TestKeystroke counts what is done after a change: one text is parsed, and one definition of it.
func TestKeystroke(t *testing.T) {
	e := newEditor(t, parts())
	w, a := newWorkspace(), newAnalyzer()
	a.tell, a.clear, a.warn = func(*document, []problem) {}, func(string) {}, func(string) {}
	src := big()
	check := func(src string) {
		t.Helper()
		d := w.set(e.uri("big.thrift"), 1, src)
		a.check(&snapshot{docs: map[string]*document{d.uri: d}, roots: []string{e.dir}})
		if got := a.done[d.uri].problems; len(got) > 4 {
			t.Fatal(got)
		}
	}
	check(src)
	if a.overlay.parsed != 21 || w.parsed != 1 {
		t.Fatalf("%d files are parsed for checks, %d for the tree", a.overlay.parsed, w.parsed)
	}
	cache := &a.overlay.entries[e.path("big.thrift")].cache
	for _, change := range []struct{ from, to string }{
		{"Request7 {", "Requests7 {\n"}, {"number 9.", "\nnumber 9."}, {"struct Request3 {", "struct Request3 {\n  6: i32 more\n"}, {"struct Request3 {", "struct Request3 {\n  6: i32"},
		{"{ 1", "{ 1"}, {"include \"part19.thrift\"\n", "include \"part19.thrift\"\n\n\n"},
	} {
		check(src)
		a.overlay.parsed, w.parsed, cache.Parsed = 0, 0, 0
		check(strings.Replace(src, change.from, change.to, 1))
		if a.overlay.parsed > 1 || w.parsed != 1 || cache.Parsed > 3 {
			t.Errorf("%q: %d files are parsed for checks, %d for the tree, %d definitions", change.to, a.overlay.parsed, w.parsed, cache.Parsed)
		}
	}
}

// TestMemory opens a folder of 1,000 files.
func TestMemory(t *testing.T) {
	if !testmode.InOwnProcess(t) {
		return
	}
	e := newEditor(t, "")
	src := big()
	for i := range 1000 { // each a tenth of the large one
		e.write(fmt.Sprintf("f%d/file.thrift", i), src[:len(src)/10])
	}
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	w := newWorkspace()
	w.roots = []string{e.dir}
	w.find()
	if n := len(w.all()); n != 1000 {
		t.Fatal(n)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	mb := float64(after.HeapAlloc-before.HeapAlloc) / 1e6
	t.Logf("1,000 files of %d bytes: %.1f MB", len(src)/10, mb)
	if mb > 60 {
		t.Errorf("1,000 files take %.1f MB", mb)
	}
	runtime.KeepAlive(w)
}

// session opens the large file.
func session(b *testing.B) (e *editor, src string) {
	e = newEditor(b, parts())
	src = big()
	e.open("big.thrift", src)
	e.problems("big.thrift", anything)
	return e, src
}

// BenchmarkDiagnostics measures from a keystroke to the diagnostics.
func BenchmarkDiagnostics(b *testing.B) {
	e, src := session(b)
	for b.Loop() {
		e.key(src)
		e.problems("big.thrift", anything)
	}
}

// key types or deletes a letter in the middle of the file.
func (e *editor) key(src string) {
	name := "big.thrift"
	e.versions[name]++
	at := linesOf(src).position(strings.Index(src, "struct Request") + len("struct Request"))
	if *bigIDL != "" {
		at = linesOf(src).position(strings.Index(src, "struct ") + len("struct X"))
	}
	end, text := at, "x"
	if e.versions[name]%2 == 1 {
		end.Character, text = end.Character+1, ""
	}
	e.notify("textDocument/didChange", map[string]any{"textDocument": map[string]any{"uri": e.uri(name), "version": e.versions[name]},
		"contentChanges": []any{map[string]any{"range": protocol.Range{Start: at, End: end}, "text": text}}})
}

// BenchmarkHover and BenchmarkCompletion measure requests right after a keystroke.
func BenchmarkHover(b *testing.B) { benchmarkRequest(b, "textDocument/hover", "string dbName") }

func BenchmarkCompletion(b *testing.B) {
	benchmarkRequest(b, "textDocument/completion", "string dbName")
}

func benchmarkRequest(b *testing.B, method, where string) {
	e, src := session(b)
	i := max(strings.LastIndex(src, where), strings.LastIndex(src, ": string"))
	at := map[string]any{"textDocument": map[string]any{"uri": e.uri("big.thrift")}, "position": linesOf(src).position(i + 2)}
	for b.Loop() {
		e.key(src)
		e.call(method, at)
	}
}

// TestWorkspaceBounds reads no more than it should.
func TestWorkspaceBounds(t *testing.T) {
	e := newEditor(t, "-- a/.hidden/x.thrift --\n-- node_modules/x.thrift --\n-- a/b.thrift --\nstruct B {}\n")
	if err := os.Truncate(e.path("a/b.thrift"), maxFile+1); err != nil {
		t.Fatal(err)
	}
	w := newWorkspace()
	w.roots = []string{e.dir}
	w.find()
	if len(w.rest) != 1 || filepath.Base(w.rest[0]) != "b.thrift" {
		t.Error(w.rest)
	}
	if all := w.all(); len(all) != 0 {
		t.Error("a file that is too large is read")
	}
}
