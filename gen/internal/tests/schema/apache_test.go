package schema_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/gen/idl"
)

// orders are files with the warnings about Apache's compiler, after "a.thrift:". It accepts those
// without.
var orders = []struct{ src, want string }{
	// Exceptions in throws
	{"service S { A f(1: A a) throws (1: Ex e) }\nstruct A { 1: i32 a }\nexception Ex {}", "1:36: Apache's compiler refuses exception Ex here: it is defined further down, at 3:11"},
	{"service S { void f() throws (1: T e) }\nexception Ex {}\ntypedef Ex T", "1:33: Apache's compiler refuses typedef T here: it is defined further down, at 3:12"},
	{"typedef Ex T\nservice S { void f() throws (1: T e) }\nexception Ex {}", "2:33: Apache's compiler refuses exception Ex here: it is defined further down, at 3:11"},
	{"exception Ex {}\nservice S { void f() throws (1: Ex e) }", ""},
	// Types of fields, arguments, results and typedefs
	{"service S { A f(1: E e, 2: list<U> u) }\nstruct A { 1: E e, 2: T t }\ntypedef E T\nenum E { X }\nunion U { 1: A a }", ""},
	// Services
	{"service S extends Base {}\nservice Base {}", "1:19: Apache's compiler refuses service Base here: it is defined further down, at 2:9"},
	{"service Base {}\nservice S extends Base {}", ""},
	// Constants
	{"const i32 B = A\nconst i32 A = 1", "1:15: Apache's compiler refuses constant A here: it is defined further down, at 2:11"},
	{"const list<i32> B = [1, A]\nstruct S { 1: i32 a = A }\nservice V { void f(1: i32 a = A) }\nconst i32 A = 1", "1:25: Apache's compiler refuses constant A here: it is defined further down, at 4:11\n" +
		"2:23: Apache's compiler refuses constant A here: it is defined further down, at 4:11\n3:31: Apache's compiler refuses constant A here: it is defined further down, at 4:11"},
	{"const T A = 1\ntypedef i32 T", "1:13: Apache's compiler refuses typedef T here: it is defined further down, at 2:13"},
	{"const i32 A = E.X\nenum E { X }", "1:15: Apache's compiler refuses enum E here: it is defined further down, at 2:6"},
	{"const map<E, i32> A = {1: 1}\nconst list<E> B = []\nenum E { X = 1 }", "1:24: Apache's compiler refuses enum E here: it is defined further down, at 3:6"},
	{"const S A = {'a': 1}\nstruct S { 1: i32 a }", "1:13: Apache's compiler refuses struct S here: it is defined further down, at 2:8"},
	{"struct S { 1: E e, 2: i32 i }\nconst S A = {'i': 1}\nconst S B = {'e': 1}\nenum E { X = 1 }", "3:19: Apache's compiler refuses enum E here: it is defined further down, at 4:6"},
	{"struct B { 1: A a, 2: list<E> e, 3: E d = E.X }\nstruct A {}\nenum E { X }", "1:43: Apache's compiler refuses enum E here: it is defined further down, at 3:6"},
	{"union A { 1: i32 i, 2: A x = {'i': 1} }", "1:30: Apache's compiler refuses union A here: its definition has not ended"},
	// Constants as values
	{"enum E { X }\nconst E A = E.X\nconst E B = A", "3:13: Apache's compiler does not take a constant for the value of an enum"},
	{"enum E { X }\ntypedef E T\nconst T A = E.X\nconst i32 B = A\nstruct S { 1: list<double> d = [A] }", "4:15: Apache's compiler does not take constant A, whose type is an enum, for a number\n5:33: Apache's compiler does not take constant A, whose type is an enum, for a number"},
	{"const list<i32> A = [1]\nconst list<i32> B = A", "2:21: Apache's compiler does not take a constant for the value of a list, set or map"},
	{"struct S {}\nconst S A = {}\nconst S B = A\nconst S C = []", "3:13: Apache's compiler does not take a constant for the value of a struct\n4:13: Apache's compiler refuses [] for the value of a struct, write {}"},
	{"enum E { X }\ntypedef E T\nconst T A = T.X\nconst i32 B = T.X", "4:15: Apache's compiler does not find T.X, since T is a typedef of enum E"},
	{"const i32 A = 1\nconst i64 B = A\nconst double C = A\nconst bool D = true\nconst bool F = D", ""},
	{"enum E { X = 1 }\nconst i32 N = 1\nstruct S { 1: E e }\nexception A { 1: E e = E.X, 2: i32 n = N, 3: list<S> l }\nconst A B = {'e': E.X}\nstruct D { 1: A a = {'n': N} }\nconst A C = {'e': 1, 'n': 2}\nconst list<A> L = [{'l': [{'e': E.X}]}]",
		"5:19: Apache's compiler finds no names, such as E.X, in a value of an exception's type\n6:27: Apache's compiler finds no names, such as N, in a value of an exception's type\n7:19: Apache's compiler refuses values of enums in a value of an exception's type\n8:33: Apache's compiler finds no names, such as E.X, in a value of an exception's type"},
	{"struct S { 1: i32 i, 2: bool b, 3: string s }\nexception A { 1: S s, 2: bool b }\nconst A B = {'s': {'i': 1, 'b': true, 's': 'x'}, 'b': false}", ""},
	// Annotations of types
	{"struct S {}\nservice V { S (a = 'b') f(1: S (a = 'b') x, 2: list<S (a)> y) }", "2:16: Apache's compiler refuses annotations of S here: only base types and containers have some\n" +
		"2:33: Apache's compiler refuses annotations of S here: only base types and containers have some\n2:56: Apache's compiler refuses annotations of S here: only base types and containers have some"},
	{"typedef i32 (a) T (b)\nstruct S { 1: list<i32 (a)> (b) x (c) } (d)", ""},
	// Included files
	{"include 'b.thrift'\ninclude 'b.thrift'\nstruct S { 1: b.E e }\n-- b.thrift --\nenum E { X }", "2:1: Apache's compiler refuses to include b twice, since b.E.X is defined twice then"},
	{"include 'b.thrift'\ninclude './b.thrift'\n-- b.thrift --\nconst i32 K = 1", "2:1: Apache's compiler refuses to include b twice, since b.K is defined twice then"},
	{"include 'b.thrift'\ninclude 'x/b.thrift'\n-- b.thrift --\nconst i32 K = 1\n-- x/b.thrift --\nconst i64 K = 2", "2:1: Apache's compiler refuses to include b twice, since b.K is defined twice then"},
	{"include 'b.thrift'\ninclude 'b.thrift'\n-- b.thrift --\nstruct S {}", ""},
	{"include 'b.thrift'\ninclude 'c.thrift'\n-- b.thrift --\nenum E { X }\n-- c.thrift --\ninclude 'b.thrift'", ""},
	{"include 'b.thrift'\nconst i32 A = b.K\nconst b.E B = b.E.X\nservice S extends b.V { void f() throws (1: b.X x) }\n-- b.thrift --\nconst i32 K = 1\nenum E { X }\nexception X {}\nservice V {}", ""},
	{"include 'b.thrift'\nstruct S { 1: b.S s }\nenum E { X }\n-- b.thrift --\nservice E {}\ntypedef i32 S", "2:8: Apache's compiler refuses the name S, which b.thrift has, too, with the same namespaces\n" +
		"3:6: Apache's compiler refuses the name E, which b.thrift has, too, with the same namespaces"},
	{"include 'b.thrift'\nnamespace go a\nnamespace * b\nstruct S {}\n-- b.thrift --\nnamespace go a\nnamespace py b\nnamespace * b\nstruct S {}", "4:8: Apache's compiler refuses the name S, which b.thrift has, too, with the same namespaces"},
	{"include 'b.thrift'\nnamespace go a\nnamespace py b\nstruct S {}\n-- b.thrift --\nnamespace go a\nstruct S {}", ""},
	// Keywords
	{"namespace go list\nstruct S { 1: i32 a (map = 'x', b = 'y') }", "1:14: Apache's compiler refuses the name list, which it reserves\n2:22: Apache's compiler refuses the name map, which it reserves"},
}

// youngs are like orders, for what depends on the compiler's version.
var youngs = []struct{ src, want string }{
	{"struct A { 1: uuid a, 2: list<uuid> b, 3: uuid (c = 'd') e }", "1:15: Apache's compiler knows the type uuid since 0.18, and some of its languages since 0.23"},
	{"struct A { 1: list cpp_type 'v' <i32> a, 2: list<i32> cpp_type 'v' b, 3: set cpp_type 's' <i32> c, 4: map cpp_type 'm' <i32, i32> d }",
		"1:15: Apache's compiler 0.17 refuses cpp_type before a list's <: there it comes after >"},
	{"struct uuid { 1: i32 uuid }\nenum E { uuid }\nservice S { void uuid(1: uuid uuid) }", "1:8: Apache's compiler refuses the name uuid since 0.18, in which it is a type\n" +
		"2:10: Apache's compiler refuses the name uuid since 0.18, in which it is a type\n3:18: Apache's compiler refuses the name uuid since 0.18, in which it is a type"},
}

// TestApacheRefuses: there is a warning wherever Apache's compiler refuses a file, and none where
// it accepts one. The compiler itself is asked, too, if there is one.
func TestApacheRefuses(t *testing.T) {
	compiler, missing := exec.LookPath("thrift")
	for i, c := range append(orders, youngs...) {
		set, err := load(t, c.src)
		if err != "" {
			t.Errorf("%s\n%s", c.src, err)
			continue
		}
		have := strings.ReplaceAll(set.Warnings.Error(), "a.thrift:", "")
		if have != c.want {
			t.Errorf("%s\nwarnings %s\nwant     %s", c.src, have, c.want)
		}
		if got := set.Warnings.For([]idl.Compiler{idl.Thriftgo}); len(got) > 0 {
			t.Errorf("%s\n%v is said to be about thriftgo", c.src, got)
		}
		if missing != nil || i >= len(orders) {
			continue
		}
		out, failed := exec.Command(compiler, "--gen", "json", "-o", ".", "a.thrift").CombinedOutput()
		if (failed != nil) != (c.want != "") {
			t.Errorf("%s\nApache's compiler: %v %s", c.src, failed, out)
		}
	}
}
