package lsp

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// outline returns a tree as text, a line for each node.
func outline(t *tree) string {
	var b strings.Builder
	t.all(func(n *node) {
		depth := 0
		for in := n.parent; in != nil; in = in.parent {
			depth++
		}
		fmt.Fprintf(&b, "%s%d %s %s", strings.Repeat("  ", depth), n.kind, t.text(n.name), t.typeText(n.typ))
		if n.broken {
			b.WriteString(" broken")
		}
		b.WriteString("\n")
	})
	return b.String()
}

func TestRecovery(t *testing.T) {
	const fine = "struct A {\n  1: i32 a\n  2: list<B> b = [],\n}\nenum E { X = 1, Y }\nservice S extends o.T {\n  void f(1: A a) throws (1: Z z)\n  oneway void g()\n}\n"
	for _, broken := range []string{"  1: i32", "  1:", "  1", "  : x", "  1: i32 a b", "  2: list<", "  2: list<B> b = [", "  2: map<string> x", "  )", "  @x", "  \"", "  1: required", "  x = ="} {
		src := strings.Replace(fine, "  1: i32 a", broken, 1)
		got := outline(parse(src))
		for _, want := range []string{"  10 b list<B>\n", "4 E \n", "  9 X \n", "8 S \n", "  11 f \n", "    10 a A\n", "    10 z Z\n", "  11 g \n"} {
			if !strings.Contains(got, want) {
				t.Errorf("with %q, %q is missing:\n%s", broken, want, got)
			}
		}
	}
	for _, broken := range []string{"  void f(", "  void f(1: A", "  void", "  void f", "  f()", "  void f() throws"} {
		src := strings.Replace(fine, "  void f(1: A a) throws (1: Z z)", broken, 1)
		if got := outline(parse(src)); !strings.Contains(got, "11 g \n") {
			t.Errorf("with %q, g is missing:\n%s", broken, got)
		}
	}
	src := strings.Replace(fine, "}\nenum", "enum", 1)
	if got := outline(parse(src)); !strings.Contains(got, "\n4 E \n  9 X \n") {
		t.Errorf("without a brace, E is missing:\n%s", got)
	}
}

// TestAnyText parses texts cut and changed at random: it ends, and ranges are in the text.
func TestAnyText(t *testing.T) {
	const fine = "include \"a.thrift\"\nnamespace go x\n/** doc */ struct A { 1: i32 a = 1 (x = \"y\"); 2: map<string, list<B>> b = {\"a\": [1, -2.5e-3, X.Y]} }\nenum E { X = 1, Y }\nconst A c = {\"a\": 1}\ntypedef i32 T\nservice S extends o.T { void f(1: A a, 2: i8 é) throws (1: Z z), oneway void g() }\n"
	r := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		b := []byte(fine)
		for range 1 + r.IntN(4) {
			i := r.IntN(len(b))
			switch r.IntN(3) {
			case 0:
				b = append(b[:i], b[min(len(b), i+1+r.IntN(9)):]...)
			case 1:
				b[i] = "{}()<>[]:,;=\"'\n\\/*#x1\x80\xff"[r.IntN(23)]
			case 2:
				b = b[:i+1]
			}
			if len(b) == 0 {
				break
			}
		}
		tree := parse(string(b))
		var check func(list []*node, in span)
		check = func(list []*node, in span) {
			for _, n := range list {
				for _, s := range []span{n.span, n.name, n.id, n.value, n.body} {
					if s.from > s.to || s.from < 0 || int(s.to) > len(b) {
						t.Fatalf("range %v of %q", s, b)
					}
				}
				if n.from < in.from || n.to > in.to {
					t.Fatalf("%v is not in %v of %q", n.span, in, b)
				}
				check(n.children, n.span)
			}
		}
		check(tree.nodes, span{0, int32(len(b))})
	}
}
