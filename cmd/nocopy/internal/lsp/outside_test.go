package lsp

import (
	"strings"
	"testing"

	protocol "github.com/tliron/glsp/protocol_3_16"
)

// TestFormattingStaysInRange formats all ranges of lines: those outside stay as they are.
func TestFormattingStaysInRange(t *testing.T) {
	e := newEditor(t, "")
	for _, src := range []string{
		"include   'b.thrift'\nstruct   A{1:string a,\n2:   i32   b=1;   // é 😀\n/* x */   3:list< i32 >  c }\nenum E{A=1,B}\n\n\n\nservice S{void a(1:i32 x)\n\n\n  throws(1:b.X e)\n\n}\nstruct B\n{\n}\n\n\n",
		"\n\n\n// a\n\n\nstruct A {\n\n\n}\n\n",
	} {
		for _, src := range []string{src, strings.ReplaceAll(src, "\n", "\r\n")} {
			e.open("a.thrift", src)
			lines := strings.SplitAfter(src, "\n")
			for from := range lines {
				for to := from + 1; to < len(lines); to++ {
					in := map[string]any{"start": map[string]any{"line": from, "character": 0}, "end": map[string]any{"line": to, "character": 0}}
					got := edited(e, src, ask[[]protocol.TextEdit](e, "textDocument/rangeFormatting", with(textDocument(e, "a.thrift"), "range", in)))
					if !strings.HasPrefix(got, strings.Join(lines[:from], "")) || !strings.HasSuffix(got, strings.Join(lines[to:], "")) {
						t.Fatalf("lines %d to %d of %q: %q", from, to, src, got)
					}
				}
			}
		}
	}
}

// TestKindsAcrossFiles colours names of an included file by what they are there.
func TestKindsAcrossFiles(t *testing.T) {
	e := newEditor(t, "-- b.thrift --\nconst i32 K = 1\nstruct S {}\nenum E { V }\ntypedef E F\n")
	const src = "include \"b.thrift\"\nstruct A { 1: b.S s, 2: i32 i = b.K, 3: b.E e = b.E.V, 4: b.F f = b.F.V }"
	e.open("a.thrift", src)
	data := ask[protocol.SemanticTokens](e, "textDocument/semanticTokens/full", textDocument(e, "a.thrift")).Data
	var got []string
	for i := 0; i < len(data); i += 5 {
		if kind := data[i+3]; kind != tokKeyword && kind != tokNumber && kind != tokString && data[i+4] == 0 {
			got = append(got, legend.TokenTypes[kind])
		}
	}
	want := "namespace struct namespace variable namespace enum namespace enum enumMember namespace type namespace type enumMember"
	if got := strings.Join(got, " "); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestManySyntaxErrors checks a text with more errors than can be compared with each other.
func TestManySyntaxErrors(t *testing.T) {
	e := newEditor(t, "")
	e.open("a.thrift", strings.Repeat("!", 200_000))
	if got := e.problems("a.thrift", anything); strings.Count(got, "unexpected character") != maxProblems {
		t.Errorf("%.1000s", got)
	}
}

// TestRemovedFolder closes a folder: its files are not the workspace's any more.
func TestRemovedFolder(t *testing.T) {
	e := newEditor(t, "")
	other := &editor{TB: t, dir: canonical(t.TempDir())}
	other.write("o.thrift", "struct Other {}\n")
	folder := []any{map[string]any{"uri": uriOf(other.dir), "name": "other"}}
	for _, c := range []struct {
		event string
		want  int
	}{{"added", 1}, {"removed", 0}} {
		e.notify("workspace/didChangeWorkspaceFolders", map[string]any{"event": map[string]any{c.event: folder}})
		if got := ask[[]protocol.SymbolInformation](e, "workspace/symbol", map[string]any{"query": "Other"}); len(got) != c.want {
			t.Errorf("%s: %v", c.event, got)
		}
	}
}

// TestRenameToUUID: the name of a base type would change what fields are.
func TestRenameToUUID(t *testing.T) {
	e := newEditor(t, "")
	at := e.open("a.thrift", "struct A| {}\nstruct B { 1: A a }\n")
	if _, err := e.try("textDocument/rename", with(at, "newName", "uuid")); err == nil {
		t.Error("a struct is called uuid")
	}
}

// TestActionsKeepLineEnds applies actions to a text with CRLF.
func TestActionsKeepLineEnds(t *testing.T) {
	e := newEditor(t, "-- t.thrift --\nstruct T {}\n")
	e.open("a.thrift", "struct A {\r\n  1: T t, 2: i32 b\r\n}\r\n")
	for title, texts := range e.actions("a.thrift", 1, 3) {
		if text := texts["a.thrift"]; strings.Count(text, "\n") != strings.Count(text, "\r\n") {
			t.Errorf("%s: %q", title, text)
		}
	}
}

// TestRenameOfMethods: services inherit methods, also from other files.
func TestRenameOfMethods(t *testing.T) {
	e := newEditor(t, "-- b.thrift --\nservice Base { void one() }\nservice Other { void four() }\n"+
		"-- d.thrift --\ninclude \"m.thrift\"\nservice Derived extends m.Mid { void three() }\nservice Loop extends Loop { void five() }\n")
	at := e.open("m.thrift", "include \"b.thrift\"\nservice Mid extends b.Base { void t|wo() }\n")
	for name, want := range map[string]bool{"one": false, "three": false, "four": true, "five": true, "two": true} {
		if _, err := e.try("textDocument/rename", with(at, "newName", name)); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestUsesOfBrokenDefinitions: a mistake in a definition is told there, not where it is used.
func TestUsesOfBrokenDefinitions(t *testing.T) {
	const included = "struct S {}\nenum F { X = 1 }\nconst i32 K = 1\ntypedef i32 T\n"
	e := newEditor(t, "-- b.thrift --\n"+included)
	const src = "include \"b.thrift\"\nenum E {\n  A = 1,\n  B\n}\nconst i32 K = 2\nstruct A {\n  1: E e = E.A\n  2: b.F f = b.F.X\n  3: i32 k = b.K\n  4: i32 l = K\n  5: set<b.F> m\n  6: map<b.T, i32> n\n}\n"
	e.open("a.thrift", src)
	e.problems("a.thrift", func(s string) bool { return s == "" })
	for _, c := range [][2]string{{"A = 1,", "A = ,"}, {"A = 1,", "A = 1 @,"}, {"enum E {", "enum E { ("}, {"K = 2", "K = "}, {"\"b.thrift\"", "b.thrift\""}, {"\"b.thrift\"", "\"b.thrift"}} {
		e.change("a.thrift", strings.Replace(src, c[0], c[1], 1))
		for line := range strings.Lines(e.problems("a.thrift", anything)) {
			if !strings.Contains(line, " syntax: ") {
				t.Errorf("%q instead of %q: %s", c[1], c[0], line)
			}
		}
	}
	e.change("a.thrift", src)
	e.open("b.thrift", included)
	for _, c := range [][2]string{{"X = 1", "X = "}, {"typedef i32 T", "typedef list<i32 T"}, {"typedef i32", "typedef i31"}, {"enum", "enmu"}} {
		e.change("b.thrift", included)
		e.problems("a.thrift", func(s string) bool { return s == "" })
		e.change("b.thrift", strings.Replace(included, c[0], c[1], 1))
		got := e.problems("a.thrift", func(s string) bool { return s != "" })
		if strings.Count(got, "\n") != 1 || !strings.Contains(got, "b.thrift has errors") {
			t.Errorf("%q: %s", c[1], got)
		}
	}
}
