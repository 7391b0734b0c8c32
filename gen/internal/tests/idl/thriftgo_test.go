package idl_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nocopythrift/nocopythrift/gen/idl"
)

// TestThriftgo tests text that thriftgo accepts and Apache's compiler refuses, with the warnings.
func TestThriftgo(t *testing.T) {
	for src, want := range map[string]string{
		"const string a = \"x\ny\"\r\nconst string b = 'p\r\n\nq' struct S { 1: i32 a (k = \"{\n  m: 'n'\n}\") }": "f:1:18: Apache's compiler refuses strings over several lines\n" +
			"f:3:18: Apache's compiler refuses strings over several lines\n" +
			"f:5:29: Apache's compiler refuses strings over several lines",
		`const string a = "x\y\\\d"`:            `f:1:20: Apache's compiler refuses the escape sequence \y, which stands for itself; write \\ for a backslash` + "\n" + `f:1:24: Apache's compiler refuses the escape sequence \d, which stands for itself; write \\ for a backslash`,
		"const string a = \"x\\\n\\é\"":         "f:1:18: Apache's compiler refuses strings over several lines\nf:1:20: Apache's compiler refuses the escape sequence \"\\\\\\n\", which stands for itself; write \\\\ for a backslash\nf:2:1: Apache's compiler refuses the escape sequence \\é, which stands for itself; write \\\\ for a backslash",
		"const i32 a = 0o17 \v const i32 b = 1": "f:1:15: Apache's compiler refuses the octal number 0o17\nf:1:20: Apache's compiler refuses vertical tabs",
		"const i32 a = 017, const i32 b = 00 struct S { 01: i32 c = -010 }": "f:1:15: 017 is 17, as for Apache's compiler; thriftgo takes it for an octal number\n" +
			"f:1:60: -010 is -10, as for Apache's compiler; thriftgo takes it for an octal number",
		"const i32 a = 1 (k = 'v')\nconst i32 b = 2; (k = 'v')": "f:1:18: Apache's compiler refuses annotations of constants\nf:2:19: Apache's compiler refuses annotations of constants",
	} {
		f, err := idl.Parse("f", []byte(src))
		if err != nil {
			t.Errorf("%q: %v", src, err)
			continue
		}
		if diff := cmp.Diff(want, f.Warnings.Error()); diff != "" {
			t.Errorf("%q (-want +got):\n%s", src, diff)
		}
	}
}

// TestThriftgoValues: text that only thriftgo accepts has the same meaning as there.
func TestThriftgoValues(t *testing.T) {
	f, err := idl.Parse("f", []byte("const string a = \"x\r\n\ty\\d\\\"\\\n\\n\"\nconst i32 b = 0o17"))
	if err != nil {
		t.Fatal(err)
	}
	if got := *f.Definitions[0].(*idl.Const).Value.Text; got != "x\r\n\ty\\d\"\\\n\n" {
		t.Errorf("a is %q", got)
	}
	if got := *f.Definitions[1].(*idl.Const).Value.Int; got != 15 {
		t.Errorf("b is %d", got)
	}
}

// TestKeywordsAsNames: as in thriftgo, keywords may be names wherever the grammar leaves no doubt.
func TestKeywordsAsNames(t *testing.T) {
	words := strings.Fields(`namespace cpp_include include void bool byte i8 i16 i32 i64 double string binary
		uuid map list set oneway async typedef struct union exception extends throws service enum const required optional
		xsd_all xsd_optional xsd_nillable xsd_attrs`)
	for _, word := range words {
		for _, src := range []string{
			"struct W {}", "union W {}", "exception W { 1: i32 a }", "enum W { A }", "service W { void f() }",
			"enum E { A, W, B }", "enum E { W = 5 (k = 'v') }", "service S { void W(1: i32 a), i32 W() }",
			"const i32 W = 1", "typedef i32 W", "typedef list<i32> W (k = 'v')", "namespace go W", "service S extends W {}",
		} {
			src = "struct Before { 1: i32 a }\n" + strings.ReplaceAll(src, "W", word) + "\nstruct After { 1: i32 b }\n"
			f, err := idl.Parse("f", []byte(src))
			if strings.Contains(src, "namespace go") && err != nil && strings.Contains(err.Error(), "before the first definition") {
				err = nil
			}
			if err != nil {
				t.Errorf("%s: %v", src, err)
			} else if last := f.Definitions[len(f.Definitions)-1].DefName().Text; last != "After" {
				t.Errorf("%s: %d definitions, the last is %s", src, len(f.Definitions), last)
			}
		}
	}
	for _, word := range strings.Fields("map list set async throws xsd_all extends enum") {
		src := "struct S { 1: required " + word + " a; 2: list<" + word + "> b }"
		f, err := idl.Parse("f", []byte(src))
		if err != nil {
			t.Errorf("%s: %v", src, err)
			continue
		}
		if got := f.Definitions[0].(*idl.Struct).Fields[0].Type.Name; got != word {
			t.Errorf("%s: the type is %q", src, got)
		}
	}
}

// TestForgottenQuote: a forgotten quote is reported at the beginning of the string, although the
// string could continue to the next quote.
func TestForgottenQuote(t *testing.T) {
	for src, want := range map[string]string{
		"const string a = \"x\nconst string b = \"y\"\n":                                          `f:1:18: string not terminated`,
		"struct S {\n 1: string a (vt.pattern = \"^[0-9]+)\n 2: string b (k = \"v\")\n}\n":        `f:2:28: string not terminated`,
		"include \"a.thrift\ninclude \"b.thrift\"\nstruct S {}":                                   `f:1:9: string not terminated`,
		"const string a = \"x\ny\"\nconst string b = 'z\nconst string c = 'w'":                    `f:3:18: string not terminated`,
		"const string a = 'x\ny'\nstruct S { 1: i32 }":                                            `f:3:19: unexpected "}", expected a name`,
		"const string a = \"" + strings.Repeat("\\\"\n", 20_000) + strings.Repeat("\"\n", 20_001): `f:20002:1: string not terminated`,
		"const string a = " + strings.Repeat("'\\'\n", 20_000):                                    `f:1:18: string not terminated`,
		strings.Repeat("const string a = \"\n\\\"", 10_000):                                       `f:1:18: string not terminated`,
	} {
		_, err := idl.Parse("f", []byte(src))
		if err == nil {
			t.Errorf("%.80q: no error", src)
			continue
		}
		if got := err.(idl.ErrorList)[0].Error(); got != want {
			t.Errorf("%.80q: %s\nwant %s", src, got, want)
		}
	}
}
