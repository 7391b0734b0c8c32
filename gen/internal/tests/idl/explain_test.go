package idl_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nocopythrift/nocopythrift/gen/idl"
)

// TestPlaces: an error is reported at the wrong word, not where the parser notices it. The wrong
// word is marked by «».
func TestPlaces(t *testing.T) {
	for src, want := range map[string]string{
		// Misspelt words before a type.
		"struct A {\n 1: «optionl» i32 a\n 2: i32 b\n}":                 `unexpected "optionl", did you mean "optional"?`,
		"struct A {\n 1: «optionl» i32 a,\n 2: i32 b\n}":                `unexpected "optionl", did you mean "optional"?`,
		"struct A {\n 1: «optionl» i32 a = 5\n 2: i32 b\n}":             `unexpected "optionl", did you mean "optional"?`,
		"struct A {\n 1: i32 a\n 2: «Optionnal» list<i32> b\n}":         `unexpected "Optionnal", did you mean "optional"?`,
		"struct A {\n 1: «requird» Foo a\n 2: i32 b\n}":                 `unexpected "requird", did you mean "required"?`,
		"struct A {\n 1: «requried» x.Foo a (b = 'c')\n 2: i32 b\n}":    `unexpected "requried", did you mean "required"?`,
		"struct A {\n 1: «optionl»\n i32 a\n}":                          `unexpected "optionl", did you mean "optional"?`,
		"struct A {\n «optionl» i32 a\n i32 b\n}":                       `unexpected "optionl", did you mean "optional"?`,
		"struct A {\n 1: «static» i32 a\n 2: i32 b\n}":                  `unexpected "static" before the type i32`,
		"union A {\n 1: i32 a\n 2: «optionl» map<i32,i32> b }":          `unexpected "optionl", did you mean "optional"?`,
		"exception A {\n 1: «reqired» string a\n}\nstruct B {}":         `unexpected "reqired", did you mean "required"?`,
		"service S {\n «onewy» void f()\n void g()\n}":                  `unexpected "onewy", did you mean "oneway"?`,
		"service S {\n void g()\n «asinc» void f()\n void g()\n}":       `unexpected "asinc", did you mean "async"?`,
		"service S {\n i32 f(1: «optinal» i32 a)\n void g()\n}":         `unexpected "optinal", did you mean "optional"?`,
		"service S {\n void f() «thows» (1: X x)\n void g()\n}":         `unexpected "thows", did you mean "throws"?`,
		"service S {\n void f() throws (1: «optinal» X x)\n}":           `unexpected "optinal", did you mean "optional"?`,
		"struct Optional {}\nstruct A {\n 1: Optional x\n 9 «i32» y\n}": `unexpected "i32", expected ":"`,
		// Misspelt words that begin a definition or continue its head.
		"struct B {}\n«strct» A {\n 1: i32 y\n}":              `unexpected "strct", did you mean "struct"?`,
		"«cnst» i32 A = 5":                                    `unexpected "cnst", did you mean "const"?`,
		"«inclde» 'x'\nnamespace go x":                        `unexpected "inclde", did you mean "include"?`,
		"const i32 A = 5\n«enm» E { A }\nstruct B {}":         `unexpected "enm", did you mean "enum"?`,
		"const i32 A = 5\n«enmu» E { A }\nstruct B {}":        `unexpected "enmu", did you mean "enum"?`,
		"service S «extnds» T {\n void g()\n}":                `unexpected "extnds", did you mean "extends"?`,
		"service S {}\n«servce» T {\n void g()\n}":            `unexpected "servce", did you mean "service"?`,
		"struct A {}\n«xyz» B {}":                             `unexpected "xyz"`,
		"struct A {\n 1: «lst»<i32> x\n}":                     `unexpected "lst" before "<", expected "list", "set" or "map"`,
		"struct A {\n 1: map<i32, «vector»<i32>> x\n}":        `unexpected "vector" before "<", expected "list", "set" or "map"`,
		"typedef «array»<i32> x":                              `unexpected "array" before "<", expected "list", "set" or "map"`,
		"struct A {\n 1: i32 x\n}\n«unoin» U {\n 1: i32 y\n}": `unexpected "unoin", did you mean "union"?`,
		// fbthrift's dialect.
		"struct P {\n 1: i32 x\n}\nconst P p = «P»{x = 3}":           `P{...} is fbthrift's dialect of the IDL, which is out of scope`,
		"struct P {\n 1: i32 x\n}\nconst list<P> p = [«P»{x = 3}]":   `P{...} is fbthrift's dialect of the IDL, which is out of scope`,
		"struct P {\n 1: list<P> p = [1, «x.P»{a = 1}]\n}":           `x.P{...} is fbthrift's dialect of the IDL, which is out of scope`,
		"struct P {\n 1: «terse» i32 x\n}":                           `"terse" is fbthrift's dialect of the IDL, which is out of scope`,
		"struct P {\n 1: i32 y\n 2: «terse» Foo x\n}":                `"terse" is fbthrift's dialect of the IDL, which is out of scope`,
		"struct A {}\n«safe» exception E {}":                         `"safe" before an exception is fbthrift's dialect of the IDL, which is out of scope`,
		"struct A {} «transient» client exception E {}\nstruct B {}": `"transient" before an exception is fbthrift's dialect of the IDL, which is out of scope`,
		"«safe» permanent server exception E {\n 1: string m\n}":     `"safe" before an exception is fbthrift's dialect of the IDL, which is out of scope`,
		"service S {\n i32, «sink»<i32, i32> f(),\n void g()\n}":     `sink<...> is fbthrift's dialect of the IDL, which is out of scope`,
		"service S {\n Foo, «stream»<i32> f()\n}":                    `stream<...> is fbthrift's dialect of the IDL, which is out of scope`,
		"enum E {\n A = 1\n «reserved» 3\n}":                         `"reserved" is fbthrift's dialect of the IDL, which is out of scope`,
		"struct S { «reserved» 3; 1: i32 a }":                        `"reserved" is fbthrift's dialect of the IDL, which is out of scope`,
		"service Q { «idempotent» void a() }":                        `"idempotent" is fbthrift's dialect of the IDL, which is out of scope`,
		"service Q {\n «readonly» void a() }":                        `"readonly" is fbthrift's dialect of the IDL, which is out of scope`,
		"enum E {\n «reserved» 'X', A\n}":                            `"reserved" is fbthrift's dialect of the IDL, which is out of scope`,
		"service Q { «performs» X; void a() }":                       `"performs" is fbthrift's dialect of the IDL, which is out of scope`,
		"service Q {\n void a()\n «performs» x.X\n void b()\n}":      `"performs" is fbthrift's dialect of the IDL, which is out of scope`,
		"service Q { void a(), «performs» X, }":                      `"performs" is fbthrift's dialect of the IDL, which is out of scope`,
		"service Q {\n X, «i32» a() }":                               `a second type before the name of a method is fbthrift's dialect of the IDL, which is out of scope`,
		"service Q {\n list<i32>, «Foo» a()\n void b() }":            `a second type before the name of a method is fbthrift's dialect of the IDL, which is out of scope`,
		"«hs_include» \"x.hs\"\nstruct A {}":                         `"hs_include" is fbthrift's dialect of the IDL, which is out of scope`,
		"include \"x.thrift\" «as» y\nstruct A {}":                   `"as" after an include is fbthrift's dialect of the IDL, which is out of scope`,
		"namespace hack «\"a.b\"\nstruct A {}":                       `a namespace in quotes is fbthrift's dialect of the IDL, which is out of scope`,
		"struct A { 1: i32 a (cpp.x = «1») }":                        `an annotation's value without quotes is fbthrift's dialect of the IDL, which is out of scope`,
		"struct A {} (a = «true», b)":                                `an annotation's value without quotes is fbthrift's dialect of the IDL, which is out of scope`,
		"struct A { 1: «hash_map»<i32, i32> a }":                     `hash_map<...> is fbthrift's dialect of the IDL, which is out of scope`,
		"struct A { 1: list<«hash_set»<i32>> a }":                    `hash_set<...> is fbthrift's dialect of the IDL, which is out of scope`,
		"const i32 a = «0b101»":                                      `the binary number 0b101 is fbthrift's dialect of the IDL, which is out of scope`,
		"struct A { 1: i32 a = «-0B1», 2: i32 b }":                   `the binary number -0B1 is fbthrift's dialect of the IDL, which is out of scope`,
		"const string s = «\"\"\"a\"b\nc\"\"\"\nstruct A {}":         `a string in triple quotes is fbthrift's dialect of the IDL, which is out of scope`,
		"struct A { 1: string s = «'''a'b\nc''' }":                   `a string in triple quotes is fbthrift's dialect of the IDL, which is out of scope`,
		"service Q { void a(1: i32«,» i32 b) }":                      `unexpected ",", expected a name`,
		"struct A { 1: i32«,» i32 b }":                               `unexpected ",", expected a name`,
		"struct P {\n x «=» 3\n}":                                    `unexpected "=", expected a name`,
		// Another IDL.
		"«syntax» = \"proto3\";\npackage a.b;\nmessage A {\n string b = 1;\n}":   `this is protobuf's IDL, not Thrift's`,
		"«import» \"x.proto\";\npackage a.b;":                                    `this is protobuf's IDL, not Thrift's`,
		"«package» a.b;\nenum A {\n B = 0;\n}":                                   `this is protobuf's IDL, not Thrift's`,
		"«option» java_package = \"a\";\nservice S {\n rpc F(A) returns (B);\n}": `this is protobuf's IDL, not Thrift's`,
		"/* c */ enum E { A = 0; }\n«message» A {\n map<string, B> m = 1;}":      `this is protobuf's IDL, not Thrift's`,
		// An extra word.
		"struct A {\n 1: i32 a «b»\n 2: i32 c\n}":           `unexpected "b" after "a"`,
		"struct A {\n 1: Foo a «b»\n 2: i32 c\n}":           `unexpected "b" after "a"`,
		"struct A {\n 1: i32 a = 5 «b»\n 2: i32 c\n}":       `unexpected "b" after "5"`,
		"struct A {\n 1: list<i32> a = [5] «b»\n}":          `unexpected "b" after "]"`,
		"struct A {\n 1: string a = 'x' «b»;\n 2: i32 c\n}": `unexpected "b" after 'x'`,
		"service S {\n void f() «now»\n}":                   `unexpected "now" after ")"`,
		// A missing token is reported at the end of its line.
		"struct A {\n 1: i32«»\n 2: i32 c\n}":            `expected a name after "i32"`,
		"struct A {\n 1: optional Foo«»\n 2: i32 c\n}":   `expected a name after "Foo"`,
		"struct A {\n 1:«»\n 2: i32 y}":                  `expected a type after ":"`,
		"struct A«»\n 1: i32 y}\nstruct B {}":            `expected "{" after "A"`,
		"service S {\n void f(1: i32 a«»\n void g()\n}":  `expected ")" after "a"`,
		"service S {\n void f«» // f\n\n void g()\n}":    `expected "(" after "f"`,
		"enum E {\n A =«» \n B = 2\n}":                   `expected an integer after "="`,
		"const i32 A«»\nconst i32 B = 1":                 `expected "=" after "A"`,
		"const string A =«»\nconst i32 B = 1":            `expected a value after "="`,
		"const map<i32,string> M = {1: 'a'\n, 2«»\n}":    `expected ":" after "2"`,
		"typedef i32«»\nstruct A {}":                     `expected a name after "i32"`,
		"include«»\nnamespace go x":                      `expected a string in quotes after "include"`,
		"namespace«» /* x */\nstruct A {}":               `expected a name after "namespace"`,
		"struct A {\n 1: i32 a (x =«»\n) }":              `expected a string in quotes after "="`,
		"struct A { 1: list<i32 «x» }":                   `unexpected "x", expected ">"`,
		"struct A {\n 1 «i32» x\n 2: i32 y}":             `unexpected "i32", expected ":"`,
		"struct A {\n 1: i32 y\n«struct» B {}":           `unexpected "struct", expected "}"`,
		"struct A {\n 1: i32 y\n«»":                      `unexpected end of file, expected "}"`,
		"struct A {}\ntypedef i32«»":                     `unexpected end of file, expected a name`,
		"struct A { 1: string s = «\"»abc\n 2: i32 b }":  `string not terminated`,
		"struct A { 1: i32 a } «/»* no end\n struct B {": `comment not terminated`,
		"struct A { 1: i32 Gr«ö»ße }":                    `unexpected character "ö", names consist of ASCII letters, digits and underscores`,
		"struct A { 1: i32 «'a\tb'» }":                   `unexpected 'a	b', expected a name`,
		"struct A { 1: i32 «'a\x07b'» }":                 `unexpected "'a\ab'", expected a name`,
	} {
		before, _, _ := strings.Cut(src, "«")
		line := 1 + strings.Count(before, "\n")
		column := len(before) - strings.LastIndexByte(before, '\n')
		_, err := idl.Parse("f", []byte(strings.NewReplacer("«", "", "»", "").Replace(src)))
		list, _ := err.(idl.ErrorList)
		if len(list) == 0 {
			t.Errorf("%q: no error", src)
			continue
		}
		if diff := cmp.Diff(want, list[0].Msg); diff != "" {
			t.Errorf("%q (-want +got):\n%s", src, diff)
		}
		if got := list[0].Pos; got.Line != line || got.Column != column {
			t.Errorf("%q: reported at %d:%d, want %d:%d", src, got.Line, got.Column, line, column)
		}
	}
}

// TestOneErrorAPiece: a misspelling in one definition hides no error in the next.
func TestOneErrorAPiece(t *testing.T) {
	_, err := idl.Parse("f", []byte("struct A {\n 1: optionl i32 a\n}\nstruct B {\n 1: i32 b c\n}\nconst i32 D\nunion E {\n 1: lst<i32> e }\n"))
	want := `f:2:5: unexpected "optionl", did you mean "optional"?
f:5:11: unexpected "c" after "b"
f:7:12: expected "=" after "D"
f:9:5: unexpected "lst" before "<", expected "list", "set" or "map"`
	if diff := cmp.Diff(want, err.Error()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
