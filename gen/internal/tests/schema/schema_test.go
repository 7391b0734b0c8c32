package schema_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nocopythrift/nocopythrift/gen/schema"
)

// load loads a.thrift. text has several files, separated by lines of the form "-- name --". The
// text before the first such line is a.thrift.
func load(t *testing.T, text string, includeDirs ...string) (*schema.Set, string) {
	t.Helper()
	t.Chdir(t.TempDir())
	name, body := "a.thrift", ""
	flush := func() {
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(body), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for line := range strings.Lines(text) {
		if next, ok := strings.CutPrefix(line, "-- "); ok {
			flush()
			name, body = strings.TrimSuffix(strings.TrimSpace(next), " --"), ""
			continue
		}
		body += line
	}
	flush()
	set, err := schema.Load([]string{"a.thrift"}, includeDirs)
	if err != nil {
		return set, err.Error()
	}
	return set, ""
}

func TestErrors(t *testing.T) {
	for name, test := range map[string]struct{ src, want string }{
		"unknown type":          {"struct A { 1: B b, 2: list<C> c }", "a.thrift:1:15: unknown type B\na.thrift:1:28: unknown type C"},
		"unknown in map":        {"typedef map<K,V> M", "a.thrift:1:13: unknown type K\na.thrift:1:15: unknown type V"},
		"not included":          {"struct A { 1: x.B b }", "a.thrift:1:15: unknown type x.B: no file x.thrift is included"},
		"not in include":        {"include 'b.thrift'\nstruct A { 1: b.B b }\n-- b.thrift --\n", "a.thrift:2:15: unknown type b.B"},
		"base not included":     {"service S extends common.Base {}", "a.thrift:1:19: service S extends common.Base, which is unknown: no file common.thrift is included"},
		"base unknown":          {"include 'b.thrift'\nservice S extends b.Base {}\nservice T extends U {}\n-- b.thrift --\n", "a.thrift:2:19: service S extends b.Base, which is unknown\na.thrift:3:19: service T extends U, which is unknown"},
		"constant not included": {"const i32 A = b.X\nconst i32 B = b.E.X\nconst i32 C = X", "a.thrift:1:15: unknown constant b.X: there is no enum b, and no file b.thrift is included\na.thrift:2:15: unknown constant b.E.X: no file b.thrift is included\na.thrift:3:15: unknown constant X"},
		"not transitive":        {"include 'b.thrift'\nstruct A { 1: c.C c }\n-- b.thrift --\ninclude 'c.thrift'\n-- c.thrift --\nstruct C {}", "a.thrift:2:15: unknown type c.C: no file c.thrift is included"},
		"ambiguous":             {"include 'x/b.thrift'\ninclude 'y/b.thrift'\nstruct A { 1: b.B b }\n-- x/b.thrift --\nstruct B {}\n-- y/b.thrift --\nstruct B {}", "a.thrift:3:15: b.B is ambiguous: x/b.thrift and y/b.thrift both define it, rename one of the files"},
		"float":                 {"struct A { 1: float f }", "a.thrift:1:15: unknown type float: it is fbthrift's dialect of the IDL, which is out of scope; use double"},
		"foreign type":          {"struct A { 1: int32 a, 2: uint64 b, 3: Boolean c, 4: list<bytes> d }", "a.thrift:1:15: unknown type int32: use i32\na.thrift:1:27: unknown type uint64: use i64, there are no unsigned types\na.thrift:1:40: unknown type Boolean: use bool\na.thrift:1:59: unknown type bytes: use binary"},
		"misspelt type":         {"include 'b.thrift'\nstruct Person { 1: strng a, 2: Persn b, 3: b.Adress c, 4: boool d, 5: I32 e }\nservice Prson {}\n-- b.thrift --\nstruct Address {}", "a.thrift:2:20: unknown type strng, did you mean string?\na.thrift:2:32: unknown type Persn, did you mean Person?\na.thrift:2:44: unknown type b.Adress, did you mean b.Address?\na.thrift:2:59: unknown type boool, did you mean bool?\na.thrift:2:71: unknown type I32, did you mean i32?"},
		"bare containers":       {"struct A { 1: list a, 2: map b, 3: void c }", "a.thrift:1:15: unknown type list: the type of its elements is missing, as in list<string>\na.thrift:1:26: unknown type map: the types of its keys and values are missing, as in map<string, i64>\na.thrift:1:36: unknown type void"},
		"enum of a file":        {"include 'b.thrift'\nstruct A { 1: b.E e = X, 2: b.E f = 7, 3: b.E g = F.Y }\nenum F { Y }\n-- b.thrift --\nenum E { X }", "a.thrift:2:23: unknown constant X; a value of an enum is written b.E.X\na.thrift:2:37: enum b.E has no value 7\na.thrift:2:51: F.Y is not a value of enum b.E"},
		"slist":                 {"struct A { 1: slist f }", "a.thrift:1:15: unknown type slist: it is no longer part of the IDL; use string"},
		"service as type":       {"service S {} struct A { 1: S f }", "a.thrift:1:28: S is a service, not a type"},
		"missing include":       {"include 'b.thrift'\nstruct A { 1: b.B b }", "a.thrift:1:1: cannot find include file \"b.thrift\": give the directory that it is in with -I"},
		"include cycle":         {"include 'b.thrift'\n-- b.thrift --\ninclude 'sub/c.thrift'\n-- sub/c.thrift --\n\ninclude '../a.thrift'", "sub/c.thrift:2:1: include cycle: a.thrift → b.thrift → sub/c.thrift → a.thrift"},
		"self include":          {"include './a.thrift'", "a.thrift:1:1: include cycle: a.thrift → a.thrift"},
		"error in include":      {"include 'b.thrift'\nstruct A { 1: b.B b, 2: nope n }\n-- b.thrift --\nstruct B { 1: i32 }", "b.thrift:1:19: unexpected \"}\", expected a name\na.thrift:2:25: unknown type nope"},
		"duplicate id":          {"struct A { 1: i32 a, 1: i32 b }", "a.thrift:1:22: A: fields a and b have the same id 1"},
		"duplicate auto id":     {"struct A { -1: i32 a, 1: i32 c, -1: i32 b }", "a.thrift:1:33: A: fields a and b have the same id -1"},
		"duplicate field":       {"struct A { 1: i32 a, 2: i32 a }", "a.thrift:1:29: A has two fields named a"},
		"id too big":            {"struct A { 32768: i32 a, -32769: i32 b }", "a.thrift:1:12: id 32768 of field a is out of range (-32768 to 32767)\na.thrift:1:26: id -32769 of field b is out of range (-32768 to 32767)"},
		"id of an index":        {"struct A { -32000: i32 a, i32 b }", "a.thrift:1:12: id -32000 of field a is that of a message's own index (nocopy.WithIndex)"},
		"id wraps":              {"struct A { 1: i32 a, 65537: i32 b }", "a.thrift:1:22: id 65537 of field b is out of range (-32768 to 32767)"},
		"duplicate type":        {"struct A {}\nenum A { X }\nservice A {}", "a.thrift:2:6: A is already defined at 1:8\na.thrift:3:9: A is already defined at 1:8"},
		"duplicate const":       {"const i32 A = 1\nconst i32 A = 2", "a.thrift:2:11: constant A is already defined at 1:11"},
		"duplicate value":       {"enum E { A, B, A }", "a.thrift:1:16: enum E has two values named A"},
		"enum too big":          {"enum E { A = 2147483648, B, C = 2147483647, D }", "a.thrift:1:10: value 2147483648 of E.A does not fit in 32 bits\na.thrift:1:45: value 2147483648 of E.D does not fit in 32 bits"},
		"dotted name":           {"struct a.b { 1: i32 c.d }", "a.thrift:1:8: name a.b must not contain a dot\na.thrift:1:21: name c.d must not contain a dot"},
		"union defaults":        {"union U { 1: i32 a = 1, 2: i32 b = 2 }", "a.thrift:1:25: union U: both a and b have a default"},
		"typedef cycle":         {"typedef B A\ntypedef list<A> B\nstruct S { 1: A a }", "a.thrift:1:11: typedef A refers to itself"},
		"required cycle":        {"struct A { 1: required B b }\nstruct B { 1: required C c }\nstruct C { 1: optional A x, 2: required A a }", "a.thrift:3:29: required field a makes every A contain another A without end"},
		"oneway result":         {"service S { oneway i32 f() }", "a.thrift:1:24: oneway method f cannot return a value"},
		"oneway throws":         {"exception X {} service S { oneway void f() throws (1: X x) }", "a.thrift:1:40: oneway method f cannot throw exceptions"},
		"throws a struct":       {"struct X {} service S { void f() throws (1: X x, 2: i32 i) }", "a.thrift:1:45: X is thrown but is not an exception\na.thrift:1:53: i32 is thrown but is not an exception"},
		"two methods":           {"service S { void f(), i32 f() }", "a.thrift:1:27: service S has two methods named f"},
		"argument ids":          {"service S { void f(1: i32 a, 1: i32 b) }", "a.thrift:1:30: f_args: fields a and b have the same id 1"},
		"extends unknown":       {"service S extends T {}", "a.thrift:1:19: service S extends T, which is unknown"},
		"extends struct":        {"struct T {} service S extends T {}", "a.thrift:1:31: service S extends T, which is not a service"},
		"extends itself":        {"service S extends T {} service T extends S {}", "a.thrift:1:42: service T extends itself"},
		"bad defaults": {"struct A {\n1: i32 a = 'x'\n2: string b = 5\n3: i8 c = 128\n4: bool d = 1.5\n5: double e = 'y'\n6: list<i32> f = {1:2}\n7: map<i32,i32> g = [1]\n8: uuid h = 'z'\n9: i64 i = 2.0\n10: set<i8> j = [1, 200]\n11: binary k = 7\n12: A l = 3\n}",
			"a.thrift:2:12: cannot use the string \"x\" as i32\na.thrift:3:15: cannot use the integer 5 as string\na.thrift:4:11: 128 does not fit in i8\na.thrift:5:13: cannot use the number 1.5 as bool\na.thrift:6:15: cannot use the string \"y\" as double\na.thrift:7:18: cannot use a map as list<i32>\na.thrift:8:21: cannot use a list as map<i32,i32>\na.thrift:9:13: \"z\" is not a uuid\na.thrift:10:12: cannot use the number 2 as i64\na.thrift:11:21: 200 does not fit in i8\na.thrift:12:16: cannot use the integer 7 as binary\na.thrift:13:11: cannot use the integer 3 as A"},
		"enum defaults":     {"enum E { A = 1 } enum F { B = 2 }\nconst E a = 7\nconst E b = A\nconst E c = E.C\nconst E d = F.B\nconst E e = 'A'\nconst string s = E.A", "a.thrift:2:13: enum E has no value 7\na.thrift:3:13: unknown constant A; a value of an enum is written E.A\na.thrift:4:13: enum E has no value C\na.thrift:5:13: F.B is not a value of enum E\na.thrift:6:13: cannot use the string \"A\" as E\na.thrift:7:18: cannot use E.A as string"},
		"struct const":      {"struct P { 1: i32 x } union U { 1: i32 a, 2: i32 b }\nconst P p = {'y': 1}\nconst P q = {x: 1}\nconst P r = {'x': 'z'}\nconst U u = {'a': 1, 'b': 2}", "a.thrift:2:14: P has no field y\na.thrift:3:14: the name of a field of P must be a string, not x\na.thrift:4:19: cannot use the string \"z\" as i32\na.thrift:5:13: a value of union U sets one field, not 2"},
		"unknown const":     {"const i32 A = B\nconst i32 C = x.D\nconst list<i32> L = [A, E]", "a.thrift:1:15: unknown constant B\na.thrift:2:15: unknown constant x.D: there is no enum x, and no file x.thrift is included\na.thrift:3:25: unknown constant E"},
		"const cycle":       {"const i32 A = B\nconst i32 B = A", "a.thrift:2:15: constant A refers to itself"},
		"const of other":    {"const i64 A = 300\nconst i8 B = A\nconst string C = A", "a.thrift:2:14: 300 does not fit in i8\na.thrift:3:18: cannot use the integer 300 as string"},
		"default of self":   {"struct A { 1: A a = {} }", "a.thrift:1:12: the default of field a is too large or contains itself"},
		"several at once":   {"struct A { 1: B b, 1: i32 c }\nstruct D { 1: i32 }\nconst i32 E = 'x'", "a.thrift:1:15: unknown type B\na.thrift:1:20: A: fields b and c have the same id 1\na.thrift:2:19: unexpected \"}\", expected a name\na.thrift:3:15: cannot use the string \"x\" as i32"},
		"include in UTF-16": {"include 'b.thrift'\nstruct A { 1: b.B b, 2: list<b.C> c = b.D }\n-- b.thrift --\n\xff\xfes\x00", "b.thrift:1:1: the file is UTF-16, save it as UTF-8"},
		"include nested":    {"include 'b.thrift'\nstruct A { 1: b.B b }\n-- b.thrift --\nstruct B {}\nconst list<i32> c = " + strings.Repeat("[", 300), "b.thrift:2:221: nested more than 200 deep"},
		"broken is known":   {"struct A { 1: B b }\nstruct B { 1: i32 }", "a.thrift:2:19: unexpected \"}\", expected a name"},
	} {
		t.Run(name, func(t *testing.T) {
			_, got := load(t, test.src)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestMissingFile(t *testing.T) {
	_, err := schema.Load([]string{"nope.thrift"}, nil)
	if want := "nope.thrift:1:1: cannot read nope.thrift: no such file or directory"; err == nil || err.Error() != want {
		t.Errorf("error is %v, want %s", err, want)
	}
}

// TestExpansion doubles a list thirty times.
func TestExpansion(t *testing.T) {
	src := "struct S { 1: double d }\nconst list<i32> C0 = [1, 1]\nconst list<double> X = C0\n"
	typ := "list<i32>"
	for i := range 30 {
		typ = "list<" + typ + ">"
		prev := "C" + string(rune('0'+i%10)) + strings.Repeat("_", i/10)
		if i == 0 {
			prev = "C0"
		}
		next := i + 1
		src += "const " + typ + " C" + string(rune('0'+next%10)) + strings.Repeat("_", next/10) + " = [" + prev + ", " + prev + "]\n"
	}
	_, err := load(t, src)
	if !strings.Contains(err, "too large") {
		t.Errorf("error is %q", err)
	}
}

// TestExpansionOfMany: many constants, and defaults whose structs have many fields, can be too
// large together, even if each is not.
func TestExpansionOfMany(t *testing.T) {
	many := "const list<i32> A = [" + strings.Repeat("1,", 1000) + "]\nconst list<list<i32>> B = [" + strings.Repeat("A,", 100) + "]\n"
	wide := "struct W {"
	for i := range 1000 {
		wide += " optional i8 f" + strings.Repeat("x", i%10) + string(rune('a'+i/10%26)) + string(rune('a'+i/260)) + ","
	}
	wide += "}\nconst list<W> A = [" + strings.Repeat("{},", 100) + "]\nstruct S {} const i8 X = 1\n"
	for i := range 30 {
		name := string(rune('a'+i%26)) + string(rune('a'+i/26))
		many += "const list<list<i32>> C" + name + " = B\n"
		wide += "const list<W> C" + name + " = A\n"
	}
	for name, src := range map[string]string{"values": many, "fields": wide} {
		_, err := load(t, src)
		if !strings.Contains(err, "alone or with those before it") || strings.Count(err, "\n") > 0 {
			t.Errorf("%s: error is %q", name, err)
		}
	}
}

// TestFieldIDs: the ids are those of Apache's compiler 0.17 (thrift --gen json), with
// -allow-neg-keys if ids below 1 are explicit.
func TestFieldIDs(t *testing.T) {
	for src, want := range map[string][]int16{
		"i32 a, 5: i32 b, i32 c; 2: i32 d i32 e":                            {-1, 5, -2, 2, -3},
		"string a; string b":                                                {-1, -2},
		"-1: i32 a, i32 b, -3: i32 c, i32 d":                                {-1, -2, -3, -4},
		"-5: i32 a, i32 b, 0: i32 c, i32 d, 3: i32 e, i32 f":                {-5, -6, 0, -1, 3, -2},
		"i32 a, i32 b, 1: i32 c":                                            {-1, -2, 1},
		"32767: i32 a, -32768: i32 b":                                       {32767, -32768},
		"optional i32 a, required i32 b, 0x10: i32 c, optional list<i32> d": {-1, -2, 16, -3},
	} {
		set, err := load(t, "struct S { "+src+" }\nservice V { void f("+src+") }")
		if err != "" {
			t.Errorf("%s: %s", src, err)
			continue
		}
		p := set.Roots[0]
		for _, s := range []*schema.Struct{p.Structs[0], p.Services[0].Functions[0].Args} {
			var got []int16
			for _, f := range s.Fields {
				got = append(got, f.ID)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: %s (-want +got):\n%s", s.Name, src, diff)
			}
		}
	}
}

func TestValues(t *testing.T) {
	set, err := load(t, `include "sub/o.thrift"
typedef o.E Alias
typedef map<string, P> Ps
struct P { 1: required i32 x, 2: i32 y, 3: optional i32 z = 9, 4: string s = "d", 5: string t, 6: optional P p }
struct R { 1: required P p }
union U { 1: i32 a, 2: o.E e }
const bool C01 = true
const bool C02 = 0
const i8 C03 = -0x80
const i16 C04 = +300
const i64 C05 = o.BIG
const double C06 = 3
const double C07 = o.BIG
const string C08 = "a\n\"é'"
const uuid C09 = "{00112233-4455-6677-8899-aabbccddeeff}"
const o.E C10 = o.E.B
const Alias C11 = Alias.A
const o.E C12 = 7
const i32 C13 = o.E.B
const list<i32> C14 = [1; 2 C13,]
const set<string> C15 = ["a", "b", "a"]
const map<i32,string> C16 = {1: "a", 2: "b", 1: "c"}
const P C17 = {"y": 5, "x": 4}
const R C18 = {}
const U C19 = {"e": o.E.B}
const Ps C20 = {"k": {"x": 1, "p": {"x": 2}}}
const o.E C21 = C10
const list<double> C22 = C14
const map<string,i32> C23 = {}
-- sub/o.thrift --
enum E { A = -1, B = 7, C }
const i64 BIG = 4294967296
`)
	if err != "" {
		t.Fatal(err)
	}
	point := func(x, y string) string {
		return "\x08\x00\x01\x00\x00\x00" + x + "\x08\x00\x02\x00\x00\x00" + y + "\x0b\x00\x04\x00\x00\x00\x01d"
	}
	want := []string{
		"\x01", "\x00", "\x80", "\x01\x2c", "\x00\x00\x00\x01\x00\x00\x00\x00",
		"\x40\x08\x00\x00\x00\x00\x00\x00", "\x41\xf0\x00\x00\x00\x00\x00\x00",
		"\x00\x00\x00\x06a\n\"é'", "\x00\x11\x22\x33\x44\x55\x66\x77\x88\x99\xaa\xbb\xcc\xdd\xee\xff",
		"\x00\x00\x00\x07", "\xff\xff\xff\xff", "\x00\x00\x00\x07", "\x00\x00\x00\x07",
		"\x08\x00\x00\x00\x03\x00\x00\x00\x01\x00\x00\x00\x02\x00\x00\x00\x07",
		"\x0b\x00\x00\x00\x02\x00\x00\x00\x01a\x00\x00\x00\x01b",
		"\x08\x0b\x00\x00\x00\x02\x00\x00\x00\x01\x00\x00\x00\x01c\x00\x00\x00\x02\x00\x00\x00\x01b",
		point("\x04", "\x05") + "\x00",
		"\x0c\x00\x01" + point("\x00", "\x00") + "\x00\x00",
		"\x08\x00\x02\x00\x00\x00\x07\x00",
		"\x0b\x0c\x00\x00\x00\x01\x00\x00\x00\x01k" + point("\x01", "\x00") + "\x0c\x00\x06" + point("\x02", "\x00") + "\x00\x00",
		"\x00\x00\x00\x07",
		"\x04\x00\x00\x00\x03\x3f\xf0\x00\x00\x00\x00\x00\x00\x40\x00\x00\x00\x00\x00\x00\x00\x40\x1c\x00\x00\x00\x00\x00\x00",
		"\x0b\x08\x00\x00\x00\x00",
	}
	for i, c := range set.Roots[0].Consts {
		if diff := cmp.Diff([]byte(want[i]), []byte(c.Value.Wire)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.Name, diff)
		}
	}
}

func TestIncludes(t *testing.T) {
	set, err := load(t, `include "x/b.thrift"
include "x/../x/b.thrift"
include "c.thrift"
struct A { 1: b.B b, 2: c.C c }
service S extends b.Base { b.B f(1: c.C c) throws (1: b.X x) }
-- x/b.thrift --
include "d.thrift"
struct B { 1: d.D d }
exception X {}
service Base { void g() }
-- x/d.thrift --
struct D {}
-- inc/c.thrift --
struct C {}
`, "none", "inc")
	if err != "" {
		t.Fatal(err)
	}
	var paths []string
	for _, p := range set.Programs {
		paths = append(paths, filepath.ToSlash(p.Path))
	}
	if diff := cmp.Diff([]string{"x/d.thrift", "x/b.thrift", "inc/c.thrift", "a.thrift"}, paths); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	s := set.Roots[0].Services[0]
	if s.Extends == nil || s.Extends.Name != "Base" {
		t.Errorf("S extends %v", s.Extends)
	}
	var fields []string
	for _, f := range s.Functions[0].Result.Fields {
		fields = append(fields, f.Name+" "+f.Type.String())
	}
	if diff := cmp.Diff([]string{"success B", "x X"}, fields); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
}

func TestWarnings(t *testing.T) {
	set, err := load(t, "include 'b.thrift'\nenum E { A } enum F { A }\nstruct S { 0: i32 a, -7: i32 b }\nconst E e = F.A\n"+
		"union U { 1: required i32 a (k = 'x\ny') }\nconst b.G g = G.B\nstruct next { 1: i32 from (k = 'v'), 2: i32 list }\n"+
		"enum class { end, ok } typedef i32 in const i32 is = 1 service with { void set(1: i32 set) }\n-- b.thrift --\nenum G { B }")
	if err != "" {
		t.Fatal(err)
	}
	want := `a.thrift:3:12: field a keeps its id 0; Apache's compiler makes it -1 unless it is run with -allow-neg-keys
a.thrift:3:22: field b keeps its id -7; Apache's compiler makes it -1 unless it is run with -allow-neg-keys
a.thrift:4:13: F.A is taken for E.A
a.thrift:5:11: union U: field a cannot be required, the word is ignored
a.thrift:5:34: Apache's compiler refuses strings over several lines
a.thrift:7:15: G.B is taken for b.G.B
a.thrift:8:8: Apache's compiler refuses the name next, which it reserves
a.thrift:8:22: Apache's compiler refuses the name from, which it reserves
a.thrift:8:45: Apache's compiler refuses the name list, which it reserves
a.thrift:9:6: Apache's compiler refuses the name class, which it reserves
a.thrift:9:14: Apache's compiler refuses the name end, which it reserves
a.thrift:9:36: Apache's compiler refuses the name in, which it reserves
a.thrift:9:49: Apache's compiler refuses the name is, which it reserves
a.thrift:9:64: Apache's compiler refuses the name with, which it reserves
a.thrift:9:76: Apache's compiler refuses the name set, which it reserves
a.thrift:9:87: Apache's compiler refuses the name set, which it reserves`
	if diff := cmp.Diff(want, set.Warnings.Error()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestWorkingDirectory: an included file is looked for in the working directory, too, but last.
// (thriftgo looks there first.)
func TestWorkingDirectory(t *testing.T) {
	_, err := load(t, "\n-- idl/main.thrift --\ninclude 'idl/b.thrift'\ninclude 'c.thrift'\nstruct S { 1: b.B b, 2: c.C c }\n"+
		"-- idl/b.thrift --\nstruct B {}\n-- idl/c.thrift --\nstruct C {}\n-- c.thrift --\n")
	if err != "" {
		t.Fatal(err)
	}
	set, loadErr := schema.Load([]string{"idl/main.thrift"}, nil)
	if loadErr != nil {
		t.Fatal(loadErr)
	}
	want := "idl/main.thrift:1:1: idl/b.thrift is found in the working directory; Apache's compiler needs -I . for that"
	if got := set.Warnings.Error(); got != want {
		t.Errorf("warnings %s, want %s", got, want)
	}
}

// TestRedact: a field has the annotation nocopy.redact if its type or a part of the type has it,
// directly or through typedefs, unless the field's own annotation says otherwise. A return value
// has it if the method does.
func TestRedact(t *testing.T) {
	set, err := load(t, `include "b.thrift"
typedef Later Secret
typedef b.Key Key
typedef map<string, list<Secret>> Nested
typedef string Open (nocopy.redact = "false")
typedef string Later (nocopy.redact)
struct S {
  1: string a, 2: Secret b, 3: Key c, 4: set<Key> d, 5: map<i32, Nested> e, 6: list<string (nocopy.redact)> f,
  7: Secret g (nocopy.redact = "false"), 8: Open h, 9: string i (nocopy.redact), 10: S j
}
service V { Secret a(1: Secret x), string b() (nocopy.redact), string c(), string (nocopy.redact) d() }
-- b.thrift --
typedef binary Key (nocopy.redact)
`)
	if err != "" {
		t.Fatal(err)
	}
	p := set.Roots[0]
	var got []string
	add := func(f *schema.Field) {
		if v, ok := f.Annotations.Get("nocopy.redact"); ok {
			got = append(got, f.Name+"="+v)
		}
	}
	for _, f := range p.Structs[0].Fields {
		add(f)
	}
	for _, m := range p.Services[0].Functions {
		for _, f := range append(m.Args.Fields, m.Result.Fields...) {
			f.Name = m.Name + "." + f.Name
			add(f)
		}
	}
	want := []string{"b=1", "c=1", "d=1", "e=1", "f=1", "g=false", "i=1", "a.x=1", "a.success=1", "b.success=1", "d.success=1"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestEmpty: a type is refused if its empty message is too large. Required structs can double the
// size with each line.
func TestEmpty(t *testing.T) {
	doubling := func(n int) string {
		src := "struct S0 { 1: required list<i32> a }\n"
		for i := range n {
			src += fmt.Sprintf("struct S%d { 1: required S%d a, 2: required S%d b }\n", i+1, i, i)
		}
		return src
	}
	if _, err := load(t, doubling(12)); err != "" {
		t.Error(err)
	}
	_, err := load(t, doubling(40)+"service V { void f(1: S30 a, 2: required S30 b) }\n")
	if want := "a.thrift:17:8: an empty S16 takes more than 512 KiB, which required fields and defaults add up to"; err != want {
		t.Errorf("error is %q, want %q", err, want)
	}
	_, err = load(t, "struct S { 1: string a = '"+strings.Repeat("x", 240<<10)+"' }\nstruct T { 1: required S a, 2: required S b, 3: required S c }\n"+
		"service V { void f(1: required S a, 2: required S b, 3: required S c) }\nstruct U { 1: S a, 2: S b, 3: optional T t }\n")
	if !strings.HasPrefix(err, "a.thrift:2:8: an empty T takes") || !strings.Contains(err, "a.thrift:3:18: an empty f_args takes") || strings.Count(err, "\n") > 1 {
		t.Errorf("error is %q", err)
	}
}
