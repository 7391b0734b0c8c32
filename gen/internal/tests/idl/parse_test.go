package idl_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nocopythrift/nocopythrift/gen/idl"
)

func TestErrors(t *testing.T) {
	for _, test := range []struct{ src, want string }{
		{"struct A { 1: i32 a,\n 2: string }\nstruct B { 1 i32 }", `f:2:12: unexpected "}", expected a name
f:3:14: unexpected "i32", expected ":"`},
		{"struct A { 1: i32 a\nstruct B {1: i32 x}\nenum {", `f:2:1: unexpected "struct", expected "}"
f:3:6: unexpected "{", expected a name`},
		{"const i32 x = {1:2", `f:1:19: unexpected end of file, expected "}"`},
		{"const i32 x = ", `f:1:15: unexpected end of file, expected a value`},
		{"foo", `f:1:1: unexpected "foo", expected a definition`},
		{"struct A {} foo", `f:1:13: unexpected "foo"`},
		{"struct A {};", `f:1:12: unexpected ";"`},
		{"struct A {}}", `f:1:12: unexpected "}"`},
		{"enum E { x = y }", `f:1:14: unexpected "y", expected an integer`},
		{"typedef list<i32>", `f:1:18: unexpected end of file, expected a name`},
		{"struct A { 1: list<i32 x }", `f:1:24: unexpected "x", expected ">"`},
		{"struct A { 1: map<i32> x }", `f:1:22: unexpected ">", expected ","`},
		{"service S { void f(1: i32) }", `f:1:26: unexpected ")", expected a name`},
		{"include foo", `f:1:9: unexpected "foo", expected a string in quotes`},
		{"struct A {}\ninclude \"x\"\nnamespace go x", `f:2:1: include must stand before the first definition
f:3:1: namespace must stand before the first definition`},
		{"const string a = \"x\nconst i32 b = 5 5", `f:1:18: string not terminated
f:2:17: unexpected "5"`},
		{"const i64 a = 9223372036854775808", `f:1:15: integer 9223372036854775808 does not fit in 64 bits`},
		{"const i64 a = 0xFFFFFFFFFFFFFFFF", `f:1:15: integer 0xFFFFFFFFFFFFFFFF does not fit in 64 bits`},
		{"const double a = 1e999", `f:1:18: number 1e999 does not fit in a double`},
		{"const double a = -", "f:1:18: unexpected character '-'"},
		{"const i32 a = 1 $ \x00", "f:1:17: unexpected character '$'\nf:1:19: unexpected character \"\\x00\""},
		{"/* struct", `f:1:1: comment not terminated`},
		{"@Foo struct A {}", `f:1:1: @ annotations are fbthrift's dialect of the IDL, which is out of scope`},
		{"package a.b", `f:1:1: "package" is fbthrift's dialect of the IDL, which is out of scope`},
		{"service S { stream<i32> f() }", `f:1:19: stream<...> is fbthrift's dialect of the IDL, which is out of scope`},
		{"php_namespace x\nsenum S { 'a' }", `f:1:1: "php_namespace" is no longer part of the IDL, use "namespace php"
f:2:1: "senum" is no longer part of the IDL, use "enum" or "string"`},
		{"const list<i32> a = " + strings.Repeat("[", 1_000_000), `f:1:221: nested more than 200 deep`},
	} {
		_, err := idl.Parse("f", []byte(test.src))
		got := ""
		if err != nil {
			got = err.Error()
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%.60q (-want +got):\n%s", test.src, diff)
		}
	}
}

const everything = `
namespace * all (a)
namespace go a.b.c (x = "y", z)
cpp_include "<x>"
include 'other.thrift'
/* before */
/** The doc. */

typedef string (a = "b") T ( c = 'd'; e )
typedef list< T (x)> (y) L;
# hash
// slash
enum E { // beside the brace
  A = -0x10, B (x); C = +3 D, /** d */ F
} (q = "")
struct S xsd_all {
  i32 a
  -5: required T & b (cpp.ref) ; // after b
  3: optional map cpp_type "m" <i32, list<set cpp_type "s" <i64>> cpp_type "l"> struct = {1: [2, 3; 4]}, /* after struct */
  4: uuid uuid = '{x}' xsd_optional xsd_nillable xsd_attrs { 1: string inner } (z)
  /* on the line */ 5: binary required
}(s)
union U {} exception X { 1: string m }
service V extends other.V {
  // does f
  oneway void f(1: i32 a, T b = "q\"\\\n\t'") (deprecated),
  async void g();
  list<i32> (x) h() throws (1: X x) (y = "z")
} (v)
const double D = -1.5e-3
const double P = .5;
const bool Y = true,
const E R = other.E.A
const string Q = 'it\'s "q"'`

func TestEverything(t *testing.T) {
	f, err := idl.Parse("f", []byte(everything))
	if err != nil {
		t.Fatal(err)
	}
	var names, docs []string
	note := func(name, doc string) { names, docs = append(names, name), append(docs, doc) }
	for _, d := range f.Definitions {
		name := d.DefName().Text
		switch d := d.(type) {
		case *idl.Typedef:
			note(name, d.Doc)
		case *idl.Enum:
			note(name, d.Doc)
			for _, v := range d.Values {
				note(v.Name.Text, v.Doc)
			}
		case *idl.Struct:
			note(name, d.Doc)
			for _, v := range d.Fields {
				note(v.Name.Text, v.Doc)
			}
		case *idl.Service:
			note(name, d.Doc)
			for _, v := range d.Functions {
				note(v.Name.Text, v.Doc)
			}
		case *idl.Const:
			note(name, d.Doc)
		}
	}
	want := strings.Fields("T L E A B C D F S a b struct uuid required U X m V f g h D P Y R Q")
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	wantDocs := make([]string, len(want))
	wantDocs[0], wantDocs[2], wantDocs[7] = "The doc.", "hash\nslash", "d"
	wantDocs[10], wantDocs[11], wantDocs[13], wantDocs[18] = "after b", "after struct", "on the line", "does f"
	if diff := cmp.Diff(wantDocs, docs); diff != "" {
		t.Errorf("docs (-want +got):\n%s", diff)
	}
	last := f.Definitions[len(f.Definitions)-1].(*idl.Const)
	if got := string(*last.Value.Text); got != `it's "q"` {
		t.Errorf("string literal reads %q", got)
	}
	if got := last.Name.Pos.String(); got != "f:34:14" {
		t.Errorf("Q is at %s", got)
	}
}

func TestComments(t *testing.T) {
	for _, test := range []struct{ src, want string }{
		{"// a\n// b\nstruct S {}", "a\nb"},
		{"// far\n\n// near\nstruct S {}", "near"},
		{"// far\n\nstruct S {}", ""},
		{"/** far */\n\nstruct S {}", "far"},
		{"/**\n * one\n *\n *   two\n */\nstruct S {}", "one\n\n  two"},
		{"/*\n   one\n     two\n*/\nstruct S {}", "one\n  two"},
		{"/**/ struct S {}", ""},
		{"/***/\nstruct S {}", ""},
		{"#!a\nstruct S {}", "!a"},
		{"struct S {} // beside", "beside"},
		{"struct S { // beside\n}", "beside"},
		{"// above\nstruct S {} // beside", "above"},
		{"struct R {} // R's\nstruct S {}", ""},
	} {
		f, err := idl.Parse("f", []byte(test.src))
		if err != nil {
			t.Fatal(err)
		}
		s := f.Definitions[len(f.Definitions)-1].(*idl.Struct)
		if diff := cmp.Diff(test.want, s.Doc); diff != "" {
			t.Errorf("%q (-want +got):\n%s", test.src, diff)
		}
	}
}

// TestKeywordsAsFields tests every keyword that Apache's compiler accepts as a field's name.
func TestKeywordsAsFields(t *testing.T) {
	words := strings.Fields(`namespace cpp_include include void bool byte i8 i16 i32 i64 double string binary
		uuid map list set oneway async typedef struct union exception extends throws service enum const required optional`)
	for _, word := range words {
		src := "struct S { 1: i32 " + word + ", 2: required string " + word + "; i64 " + word + " = 5 }\n" +
			"service V { void f(i32 " + word + ") throws (X " + word + ") }"
		if _, err := idl.Parse("f", []byte(src)); err != nil {
			t.Errorf("%s: %v", word, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(everything))
	// Small seeds: the fuzzer spends its time on making large ones smaller.
	for definition := range strings.SplitSeq(everything, "\n}") {
		f.Add([]byte(definition + "\n}"))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		start := time.Now()
		file, err := idl.Parse("f", src)
		if file == nil {
			t.Fatal("no file")
		}
		if list, ok := err.(idl.ErrorList); err != nil && (!ok || len(list) == 0) {
			t.Fatalf("error %#v", err)
		}
		// Generous, since the machine may be busy; what matters is that the time
		// does not grow faster than the input.
		if took := time.Since(start); took > time.Minute+time.Duration(len(src))*100*time.Microsecond {
			t.Fatalf("%d bytes took %v", len(src), took)
		}
	})
}
