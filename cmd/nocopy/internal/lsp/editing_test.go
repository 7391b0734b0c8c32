package lsp

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	protocol "github.com/tliron/glsp/protocol_3_16"

	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/project"
)

func textDocument(e *editor, name string) map[string]any {
	return map[string]any{"textDocument": map[string]any{"uri": e.uri(name)}, "options": map[string]any{"tabSize": 2, "insertSpaces": true}}
}

// lines returns the range of some lines, counted from 1.
func lineRange(from, to int) map[string]any {
	return map[string]any{"start": map[string]any{"line": from - 1, "character": 0}, "end": map[string]any{"line": to, "character": 0}}
}

func TestFormatting(t *testing.T) {
	e := newEditor(t, "")
	const src = "struct A {\n1: i32 a\n    2:   i32  b // é\n\n\n3: i32 c }\nenum E {\n  X,Y\n}\n"
	e.open("a.thrift", src)
	all := edited(e, src, ask[[]protocol.TextEdit](e, "textDocument/formatting", textDocument(e, "a.thrift")))
	if want := "struct A {\n  1: i32 a\n  2: i32 b // é\n\n  3: i32 c\n}\n\nenum E {\n  X,\n  Y\n}\n"; all != want {
		t.Errorf("%q, want %q", all, want)
	}
	for _, c := range []struct {
		from, to int
		want     string
	}{
		{2, 2, "struct A {\n  1: i32 a\n    2:   i32  b // é\n\n\n3: i32 c }\nenum E {\n  X,Y\n}\n"},
		{2, 3, "struct A {\n  1: i32 a\n  2: i32 b // é\n\n\n3: i32 c }\nenum E {\n  X,Y\n}\n"},
		{6, 6, "struct A {\n1: i32 a\n    2:   i32  b // é\n\n\n  3: i32 c\n}\nenum E {\n  X,Y\n}\n"},
		{8, 9, "struct A {\n1: i32 a\n    2:   i32  b // é\n\n\n3: i32 c }\nenum E {\n  X,\n  Y\n}\n"},
		{1, 1, src},
		{1, 99, all},
	} {
		got := edited(e, src, ask[[]protocol.TextEdit](e, "textDocument/rangeFormatting", with(textDocument(e, "a.thrift"), "range", lineRange(c.from, c.to))))
		if got != c.want {
			t.Errorf("lines %d to %d: %q, want %q", c.from, c.to, got, c.want)
		}
	}
	e.change("a.thrift", "struct A {\r\n1: i32 a\r\n}\r\n")
	edits := ask[[]protocol.TextEdit](e, "textDocument/formatting", textDocument(e, "a.thrift"))
	if len(edits) != 1 || edits[0].NewText != "  1: i32 a\r\n" {
		t.Errorf("edits of a text with CRLF: %v", edits)
	}
	e.change("a.thrift", "struct A { 1: }")
	if result, err := e.try("textDocument/formatting", textDocument(e, "a.thrift")); err == nil {
		t.Errorf("a file with errors: %s", result)
	}
}

func TestFolding(t *testing.T) {
	e := newEditor(t, "")
	e.open("a.thrift", "include \"a\"\ninclude \"b\"\n// one\n// two\nstruct A {\n  1: i32 a\n  /* c\n  d */\n  2: i32 b\n}\nservice S {\n  void f(\n    1: i32 a\n  )\n}\n")
	var got []string
	for _, r := range ask[[]protocol.FoldingRange](e, "textDocument/foldingRange", textDocument(e, "a.thrift")) {
		kind := ""
		if r.Kind != nil {
			kind = *r.Kind
		}
		got = append(got, fmt.Sprintf("%d-%d%s", r.StartLine+1, r.EndLine+1, kind))
	}
	if got, want := strings.Join(got, " "), "1-2imports 3-4comment 5-9 7-8comment 11-14 12-14"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestSemanticTokens(t *testing.T) {
	e := newEditor(t, "")
	const src = "// é 😀\nstruct A { 1: required o.B b = o.E.X (vt.gt = \"1\"), 2: list<A> c }\n/* a\nb */ enum E { X = 1 }\n"
	e.open("a.thrift", src)
	var got []string
	line, column := uint32(0), uint32(0)
	table := linesOf(src)
	data := ask[protocol.SemanticTokens](e, "textDocument/semanticTokens/full", textDocument(e, "a.thrift")).Data
	for i := 0; i < len(data); i += 5 {
		if data[i] > 0 {
			column = 0
		}
		line, column = line+data[i], column+data[i+1]
		s := table.spanOf(protocol.Range{Start: protocol.Position{Line: line, Character: column}, End: protocol.Position{Line: line, Character: column + data[i+2]}})
		got = append(got, s.in(src)+":"+legend.TokenTypes[data[i+3]])
	}
	want := "// é 😀:comment struct:keyword A:struct 1:number required:keyword o:namespace B:type b:property o.E:enum X:variable vt.gt:decorator \"1\":string 2:number list:type A:struct c:property /* a:comment b */:comment enum:keyword E:enum X:enumMember 1:number"
	if got := strings.Join(got, " "); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// actions returns the titles of actions for lines, and the texts after each, by title.
func (e *editor) actions(name string, from, to int) map[string]map[string]string {
	e.Helper()
	params := with(with(textDocument(e, name), "range", lineRange(from, to)), "context", map[string]any{"diagnostics": []any{}})
	all := map[string]map[string]string{}
	for _, a := range ask[[]protocol.CodeAction](e, "textDocument/codeAction", params) {
		all[a.Title] = e.apply(*a.Edit)
	}
	return all
}

func TestCodeActions(t *testing.T) {
	e := newEditor(t, twoFiles+"-- sub/more.thrift --\nstruct Amount {}\nstruct Deep {}\nenum D { X }\n-- .nocopylint.toml --\n[checks]\nenabled = [\"default\", \"enum.value.implicit\", \"type.byte\"]\n")
	e.open("a.thrift", "")
	for _, c := range []struct {
		src         string
		line        int
		title, want string
	}{
		{"include \"money.thrift\"\nstruct A { 1: i32 a }\n", 1, `Fix: "money.thrift" is included but not used`, "struct A { 1: i32 a }\n"},
		{"enum E { A, B }\n", 1, "Fix: \"B\" of enum \"E\" has no number, it is 1", "enum E { A, B = 1 }\n"},
		{"enum E { A, B }\nstruct S { 1: byte b }", 1, "Fix all that nocopy lint can fix", "enum E { A = 0, B = 1 }\nstruct S { 1: i8 b }"},
		{"struct A {\n  1: i32 a\n  2: i32 b\n}\n", 3, "Reserve this id: 2, and remove b", "struct A {\n  1: i32 a\n  // reserved 2: i32 b\n}\n"},
		{"struct A { 1: i32 a, 2: i32 b }\n", 1, "Reserve this id: 1, and remove a", ""},
		{"struct A { 1: Deep a }\n", 1, `Include "sub/more.thrift"`, "include \"sub/more.thrift\"\n\nstruct A { 1: more.Deep a }\n"},
		{"struct A { 1: Amount a }\n", 1, `Include "money.thrift"`, "include \"money.thrift\"\n\nstruct A { 1: money.Amount a }\n"},
		{"struct A { 1: more.Amount a }\n", 1, `Include "sub/more.thrift"`, "include \"sub/more.thrift\"\n\nstruct A { 1: more.Amount a }\n"},
		{"include \"money.thrift\"\nstruct A { 1: Amount a }\n", 2, `Write money.Amount`, "include \"money.thrift\"\nstruct A { 1: money.Amount a }\n"},
		{"include \"money.thrift\"\nstruct A { 1: money.Amount a, 2: i32 d = D.X }\n", 2, `Include "sub/more.thrift"`, "include \"money.thrift\"\ninclude \"sub/more.thrift\"\nstruct A { 1: money.Amount a, 2: i32 d = more.D.X }\n"},
		{"include \"money.thrift\"\nstruct A { 1: money.Amuont a }\n", 2, "Write money.Amount", "include \"money.thrift\"\nstruct A { 1: money.Amount a }\n"},
		{"struct A { 1: strin a }\n", 1, "Write string", "struct A { 1: string a }\n"},
		{"strcut A { 1: i32 a }\n", 1, "Write struct", "struct A { 1: i32 a }\n"},
		{"service S extends Base {}\n", 1, `Include "money.thrift"`, "include \"money.thrift\"\n\nservice S extends money.Base {}\n"},
	} {
		e.change("a.thrift", c.src)
		all := e.actions("a.thrift", c.line, c.line)
		if c.want != "" && all[c.title]["a.thrift"] != c.want {
			t.Errorf("%q: %q, want %q of %q", c.src, all[c.title]["a.thrift"], c.want, all)
		}
	}
}

// TestAudit changes a committed file.
func TestAudit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git")
	}
	const src = "struct A {\n  1: string a\n  2: i32 b\n}\n"
	e := newEditor(t, "-- idl/a.thrift --\n"+src)
	git := func(args ...string) { e.git(args...) }
	git("init", "-q")
	git("add", ".")
	git("commit", "-q", "-m", "a")
	e.open("idl/a.thrift", src)
	e.problems("idl/a.thrift", func(s string) bool { return s == "" })
	e.change("idl/a.thrift", "struct A {\n  1: i64 a\n}\n")
	got := e.problems("idl/a.thrift", func(s string) bool { return strings.Contains(s, "removed") })
	want := "1:8-9 field-removed: field 2 b of A removed (breaks json, source)\n2:3-4 field-type-changed: "
	if !strings.HasPrefix(got, want) {
		t.Errorf("%s, want %s", got, want)
	}
	const reserve = "Reserve this id: 2"
	all := e.actions("idl/a.thrift", 1, 1)
	if got, want := all[reserve]["idl/a.thrift"], "struct A {\n  // reserved 2: field 2 b of A\n  1: i64 a\n}\n"; got != want {
		t.Errorf("%q, want %q of %q", got, want, all)
	}
	e.change("idl/a.thrift", "struct A {\n  // reserved 2: i32 b\n  1: string a\n  2: i32 b\n}\n")
	if got, want := e.problems("idl/a.thrift", anything), "4:3-4 reserved: id 2 is reserved by a comment\n"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	e.change("idl/a.thrift", "struct A {\n  1: string a\n}\n") // and that is committed
	e.problems("idl/a.thrift", func(s string) bool { return strings.Contains(s, "removed") })
	e.write("idl/a.thrift", "struct A {\n  1: string a\n}\n")
	git("commit", "-q", "-a", "-m", "b")
	e.notify("textDocument/didSave", textDocument(e, "idl/a.thrift"))
	e.problems("idl/a.thrift", func(s string) bool { return s == "" })
	if slices.Contains(e.labels(e.open("b.thrift", "|")), "") {
		t.Error("an empty label")
	}
}

// git runs git in the editor's folder.
func (e *editor) git(args ...string) {
	e.Helper()
	cmd := exec.Command("git", append([]string{"-C", e.dir, "-c", "user.name=x", "-c", "user.email=x@example.org"}, args...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		e.Fatalf("git %s: %v: %s", args, err, out)
	}
}

// TestProject: what the project file says of lint and audit holds in an editor, too.
func TestProject(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git")
	}
	t.Chdir(t.TempDir())
	const file = "lint: {checks: {enabled: [default, enum.value.implicit]}, includes: [deep]}\n" +
		"audit: {policy: WIRE_JSON, ignore: [{path: A.b, rule: field-removed, reason: nobody reads it}]}\n"
	if err := os.WriteFile("nocopy.yaml", []byte(file), 0o666); err != nil {
		t.Fatal(err)
	}
	p, err := project.Load()
	if err != nil {
		t.Fatal(err)
	}
	set, err := (&Command{Include: []string{"idl"}, project: p}).settings()
	if err != nil || len(set.dirs) != 2 || !filepath.IsAbs(set.dirs[0]) || filepath.Base(set.dirs[1]) != "deep" {
		t.Fatalf("%v, %v", set.dirs, err)
	}
	const src = "struct A {\n  1: string a\n  2: i32 b\n  3: i32 c = 1\n}\nenum E { X }\n"
	e := newEditorWith(t, set, "-- a.thrift --\n"+src)
	e.git("init", "-q")
	e.git("add", ".")
	e.git("commit", "-q", "-m", "a")
	e.open("a.thrift", src)
	got := e.problems("a.thrift", anything)
	if want := "6:10-11 enum.value.implicit: "; !strings.HasPrefix(got, want) {
		t.Errorf("%s, want %s", got, want)
	}
	e.change("a.thrift", "struct A {\n  1: i64 a\n  3: i32 c = 2\n}\nenum E { X = 0 }\n")
	got = e.problems("a.thrift", func(s string) bool { return strings.Contains(s, "changed") })
	if strings.Count(got, "\n") != 1 || !strings.HasPrefix(got, "2:3-4 field-type-changed: ") {
		t.Errorf("%s", got)
	}
}
