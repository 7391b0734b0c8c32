package lsp

import (
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/gen/idl"
)

// TestMend breaks files in several places: each is told once, and all else is there.
func TestMend(t *testing.T) {
	for _, c := range []struct{ src, errors, defs string }{
		{"struct A {\n 1: i32 a\n}\n", "", "A"},
		{"struct A {\n 1: i32\n 2: i32 b\n}\nstruct B {}\n", "2", "A B"},
		{"struct A {\n 1: i32\n 2: i32 b\n 3: list< c\n 4: i32 d\n}\nstruct B {\n 1: x y z\n 2: i32 k }\n", "2 4 8", "A B"},
		{"struct A {\n 1: i32 a\nstruct B {}\n", "3", "B"},
		{"struct {\n 1: i32 a\n}\nstruct B {}\n", "1", "B"},
		{"foo bar\nstruct B {}\n", "1", "B"},
		{"struct B {}\nfoo bar\n", "2", "B"},
		{"service S {\n void f(1: i32)\n void g(\n void h()\n}\nstruct B {}\n", "2 3", "S B"},
		{"enum E { A = x\n B }\nenum F { C }\n", "1", "F"},
		{"struct A {\n 1: string a = \"x\n 2: i32 b\n}\nstruct B {}\n", "2", "A B"},
		{"struct A {\n 1: i32 é\n 2: i32 b\n}\nstruct B {}\n", "2", "A B"},
		{"struct A {}\nnamespace go x\nstruct B {}\n", "2", "A B"},
		{"include\nstruct A {}\n", "1", "A"},
		{"const i32 x =\nstruct A {}\n", "1", "A"},
		{"struct A {}\nconst i32 x = \"", "2", "A"},
		{"struct A {}\n/* ", "2", "A"},
		{"", "", ""},
		{"struct A {\n 1: i32\n 2: i32\n 3: i32\n 4: i32\n 5: i32\n 6: i32\n 7: i32\n 8: i32 a\n}\nstruct B {}\n", "2 3 4 5 6 7 8", "A B"},
	} {
		f := &file{tree: parse(c.src), path: "x.thrift"}
		m := mend(f, &idl.Cache{})
		if !m.ast.Complete {
			t.Errorf("%q is not mended: %q", c.src, m.text)
		}
		table := linesOf(c.src)
		var lines, defs []string
		for _, e := range m.errors {
			lines = append(lines, string(rune('1'+table.position(e.Pos.Offset).Line)))
		}
		for _, d := range m.ast.Definitions {
			defs = append(defs, d.DefName().Text)
		}
		if got := strings.Join(lines, " "); got != c.errors {
			t.Errorf("%q: errors in lines %s, want %s: %v", c.src, got, c.errors, m.errors)
		}
		if got := strings.Join(defs, " "); got != c.defs {
			t.Errorf("%q: definitions %s, want %s: %q", c.src, got, c.defs, m.text)
		}
	}
}
