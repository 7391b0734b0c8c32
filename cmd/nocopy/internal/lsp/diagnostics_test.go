package lsp

import "testing"

func TestDiagnostics(t *testing.T) {
	e := newEditor(t, "-- money.thrift --\nstruct Amount { 1: i64 cents }\n")
	const fine = "include \"money.thrift\"\n\nstruct Item {\n  1: string name\n  2: money.Amount price\n}\n"
	for _, c := range []struct{ src, want string }{
		{fine, ""},
		{"include \"money.thrift\"\n\nstruct Item {\n  1: string name\n  2: money.Amount price\n  3: Colour colour\n}\n",
			"6:6-12 compile: unknown type Colour\n"},
		{"include \"money.thrift\"\n\nstruct Item {\n  1: string\n  2: money.Amount price\n  3: Colour colour\n}\nstruct Other { 1: Nothing x }\n",
			"4:6-12 syntax: expected a name after \"string\"\n6:6-12 compile: unknown type Colour\n8:19-26 compile: unknown type Nothing\n"},
		{"include \"nothing.thrift\"\nstruct A { 1: nothing.X x }\n", "1:1-8 include.path: included file \"nothing.thrift\" is not found\n"},
		{"include \"money.thrift\"\nstruct A { 1: i32 a }\n", "1:1-8 IMPORT_USED: \"money.thrift\" is included but not used\n"},
		{"struct É { 1: i32 a }\nstruct B { 1: X x }\n", "1:8-9 syntax: unexpected character \"É\", names consist of ASCII letters, digits and underscores\n2:15-16 compile: unknown type X\n"},
		{fine, ""},
	} {
		if e.versions["shop.thrift"] == 0 {
			e.open("shop.thrift", c.src)
		} else {
			e.change("shop.thrift", c.src)
		}
		if got := e.problems("shop.thrift", anything); got != c.want {
			t.Errorf("%q: %s, want %s", c.src, got, c.want)
		}
	}
	e.open("money.thrift", "struct Amounts { 1: i64 c }\n")
	e.problems("shop.thrift", func(s string) bool { return s != "" })
	e.change("money.thrift", "struct Amount { 1: i64 c }\n")
	e.problems("shop.thrift", func(s string) bool { return s == "" })
}
