package audit_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nocopythrift/nocopythrift/gen/audit"
	"github.com/nocopythrift/nocopythrift/internal/testmode"
)

// compareFolders returns the findings about files in two folders, one per line, as "severity kind
// symbol: breaks". old and new alternate names and texts.
func compareFolders(t *testing.T, old, new []string, files ...string) string {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "old"), old...)
	write(t, filepath.Join(dir, "new"), new...)
	var lines []string
	for _, f := range load(t, audit.Input{Old: dir + "/old", New: dir + "/new", Files: files}, audit.Options{}) {
		lines = append(lines, fmt.Sprintf("%s %s %s: %s", f.Severity, f.Kind, f.Symbol, f.Breaks))
	}
	return strings.Join(lines, "\n")
}

// TestIncludeDropped: if one file no longer includes a file but another one does, it is compared
// as the latter includes it, even if no other path leads to it.
func TestIncludeDropped(t *testing.T) {
	old := []string{
		"first.thrift", "include 'parts/money.thrift'\nstruct First { 1: i32 n }",
		"second.thrift", "include 'parts/money.thrift'\nstruct Second { 1: money.Price p }\nservice V { void pay(1: money.Price p) }",
		"parts/money.thrift", "const i32 Digits = 2\nstruct Price { 1: i64 cents }",
	}
	new := []string{
		"first.thrift", "struct First { 1: i32 n }", "second.thrift", old[3],
		"parts/money.thrift", "const i32 Digits = 3\nstruct Price { 1: double cents }",
	}
	want := "warning const-value-changed Digits: compatible\nerror field-type-changed Price.cents: breaks wire, json, source"
	for _, files := range [][]string{{"first.thrift", "second.thrift"}, {"second.thrift"}, nil} {
		if diff := cmp.Diff(want, compareFolders(t, old, new, files...)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", files, diff)
		}
	}
	if got := compareFolders(t, old, new, "first.thrift"); got != "" {
		t.Errorf("first.thrift alone: %s", got)
	}
	// The include line may have another path, and the file may be found in an include folder.
	for i := range old {
		old[i], new[i] = strings.ReplaceAll(old[i], "'parts/", "'"), strings.ReplaceAll(new[i], "'parts/", "'")
	}
	dir := t.TempDir()
	write(t, dir+"/old", old...)
	write(t, dir+"/new", new...)
	found := load(t, audit.Input{Old: dir + "/old", New: dir + "/new", Files: []string{"first.thrift", "second.thrift"},
		OldDirs: []string{dir + "/old/parts"}, NewDirs: []string{dir + "/new/parts"}}, audit.Options{})
	if len(found) != 2 || found[1].Symbol != "Price.cents" {
		t.Error(found)
	}
}

// TestSameBareNames: definitions of the same name in different files are different ones.
func TestSameBareNames(t *testing.T) {
	for _, test := range []struct {
		what           string
		old, new, want string // for each file its name, a new line, and its text
	}{
		{
			"a struct of another file, and the old one is gone",
			"m\ninclude 'left.thrift' include 'right.thrift' struct M { 1: left.Item i }\nleft\nstruct Item { 1: i32 n }\nright\nstruct Item { 1: string n }",
			"m\ninclude 'left.thrift' include 'right.thrift' struct M { 1: right.Item i }\nleft\nstruct Other {}\nright\nstruct Item { 1: string n }",
			"error struct-removed Item: breaks source\nerror field-type-changed M.i: breaks wire, json, source",
		},
		{
			"the same, alike on the wire",
			"m\ninclude 'left.thrift' include 'right.thrift' struct M { 1: list<left.Item> i }\nleft\nstruct Item { 1: i32 n }\nright\nstruct Item { 1: i32 n 2: i32 m }",
			"m\ninclude 'left.thrift' include 'right.thrift' struct M { 1: list<right.Item> i }\nleft\nstruct Item { 1: i32 n }\nright\nstruct Item { 1: i32 n 2: i32 m }",
			"error field-type-changed M.i: breaks source",
		},
		{
			"its file is not included any more",
			"m\ninclude 'left.thrift' include 'right.thrift' struct M { 1: left.Item i }\nleft\nstruct Item { 1: i32 n }\nright\nstruct Item { 1: string n }",
			"m\ninclude 'right.thrift' struct M { 1: right.Item i }\nleft\nstruct Item { 1: i32 n }\nright\nstruct Item { 1: string n }",
			"error field-type-changed M.i: breaks wire, json, source",
		},
		{
			"an enum",
			"m\ninclude 'left.thrift' include 'right.thrift' service V { left.Kind k() }\nleft\nenum Kind { OLD = 1 }\nright\nenum Kind { OLD = 2 }",
			"m\ninclude 'right.thrift' service V { right.Kind k() }\nleft\nstruct Other {}\nright\nenum Kind { OLD = 2 }",
			"warning enum-removed Kind: breaks source\nerror return-type-changed V.k: breaks wire, source",
		},
		{
			"a service that is extended",
			"m\ninclude 'left.thrift' include 'right.thrift' service V extends left.Base {}\nleft\nservice Base { i32 f() }\nright\nservice Base { i64 f() }",
			"m\ninclude 'left.thrift' include 'right.thrift' service V extends right.Base {}\nleft\nservice Base { i32 f() }\nright\nservice Base { i64 f() }",
			"error extends-changed V: breaks source\nerror return-type-changed V.f: breaks wire, json, source",
		},
	} {
		split := func(text string) (files []string) {
			lines := strings.Split(text, "\n")
			for i := 0; i < len(lines); i += 2 {
				files = append(files, lines[i]+".thrift", lines[i+1])
			}
			return files
		}
		old, new := split(test.old), split(test.new)
		if diff := cmp.Diff(test.want, compareFolders(t, old, new)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.what, diff)
		}
	}
}

// TestSameBareNameMessages: messages distinguish definitions with the same name.
func TestSameBareNameMessages(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "old/m.thrift", "include 'a/x.thrift'\ninclude 'y.thrift'\nstruct S { 1: x.P p }\nservice V extends x.B {}",
		"new/m.thrift", "include 'a/x.thrift'\ninclude 'y.thrift'\ninclude 'b/x.thrift'\nstruct S { 1: y.P p }\nservice V extends x.C {}\nstruct T { 1: x.D d }")
	const text = "struct P {}\nservice B {}\n"
	write(t, dir, "old/a/x.thrift", text, "new/a/x.thrift", text, "old/y.thrift", text, "new/y.thrift", text, "old/b/x.thrift", text,
		"new/b/x.thrift", "struct D {}\nservice C {}")
	var got []string
	for _, f := range load(t, audit.Input{Old: dir + "/old", New: dir + "/new", Files: []string{"m.thrift"}}, audit.Options{}) {
		got = append(got, f.Message)
	}
	want := []string{"type of field 1 p of S changed from x.P to y.P", "service V extended B, now C"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	write(t, dir, "new/m.thrift", "include 'b/x.thrift'\ninclude 'a/x.thrift'\nstruct S { 1: x.P p }\nservice V {}", "new/a/x.thrift", "", "new/b/x.thrift", text)
	found := load(t, audit.Input{Old: dir + "/old", New: dir + "/new", Files: []string{"m.thrift"}}, audit.Options{})
	for i, f := range found {
		if strings.Contains(f.Message, "P to P") {
			t.Errorf("%d: %s", i, f)
		}
	}
}

// TestReplaced: changing a type breaks the same, on the wire and in JSON, as replacing it by
// another type where it is used.
func TestReplaced(t *testing.T) {
	for _, test := range []struct{ old, new string }{ // definitions of X
		{"enum X { A = 1, B = 2 }", "enum X { B = 1, A = 2 }"},
		{"enum X { A = 1, B = 2 }", "enum X { A = 1, C = 2 }"},
		{"enum X { A = 1, B = 2 }", "enum X { A = 1 }"},
		{"enum X { A = 1 }", "enum X { A = 1, B = 2 }"},
		{"union X { 1: i32 a, 2: i64 b }", "union X { 1: i32 a }"},
		{"union X { 1: i32 a }", "union X { 1: i32 a, 2: i64 b }"},
		{"union X { 1: i32 a }", "struct X { 1: optional i32 a }"},
		{"struct X { 1: i32 low, 2: i32 high }", "struct X { 1: i32 high, 2: i32 low }"},
		{"struct X { 1: i32 low, 2: i32 high }", "struct X { 1: i32 high }"},
		{"struct X { 1: i32 a }", "struct X { 1: i32 b }"},
		{"struct X { 1: i32 a }", "struct X { 1: required i32 a }"},
		{"struct X { 1: i32 a }", "struct X { 1: optional i32 a }"},
		{"struct X { 1: required i32 a }", "struct X {}"},
		{"struct X { 1: i32 a }", "struct X { 1: i32 a, 2: i32 b, 5: required i32 c }"},
		{"struct X { 1: i32 a }", "struct X { 1: i32 a, 2: i32 b }"},
		{"struct X { 1: i32 a }", "struct X {}"},
		{"struct X { 1: list<i32> a }", "struct X { 1: set<i32> a }"},
		{"struct X { 1: map<string, bool> a }", "struct X { 1: map<binary, bool> a }"},
		{"struct X { 1: i32 a, 2: X x }", "struct X { 1: i64 a, 2: X x }"},
		{"struct X { 1: string a, 2: map<string, X> x }", "struct X { 1: binary a, 2: map<string, X> x }"},
	} {
		breaks := func(old, new string) (all audit.Breaks) {
			dir := t.TempDir()
			write(t, dir, "old.thrift", old, "new.thrift", new)
			for _, f := range load(t, audit.Input{Old: dir + "/old.thrift", New: dir + "/new.thrift"}, audit.Options{}) {
				all |= f.Breaks &^ audit.Source
			}
			return all
		}
		for _, use := range []string{"struct S { 1: %s x }", "struct S { 1: map<string, list<%s>> x }", "service V { %s f() }", "service V { void f(1: %s x) }",
			"struct R { 1: optional %s x, 2: optional R r } struct S { 1: R r }", "union U { 1: set<%s> x }"} {
			// As Y, the new definition exists in both versions.
			other := strings.NewReplacer(" X ", " Y ", " X>", " Y>").Replace(test.new)
			both := test.old + "\n" + other + "\n"
			old, new := both+fmt.Sprintf(use, "X"), both+fmt.Sprintf(use, "Y")
			if inPlace, replaced := breaks(test.old, test.new), breaks(old, new); inPlace != replaced {
				t.Errorf("%s → %s: %v; but as the type in %s: %v", test.old, test.new, inPlace, use, replaced)
			}
		}
	}
}

// TestCircles: a break in one of several structs that contain each other is a break in all of
// them.
func TestCircles(t *testing.T) {
	const old = "struct A { 1: B n } struct B { 1: C n } struct C { 1: A n, 2: D d } struct D { 1: %s v, 2: C c }\n"
	one, two := fmt.Sprintf(old, "i32"), fmt.Sprintf(old, "i64")
	for _, name := range []string{"A", "B", "C", "D"} {
		two = strings.ReplaceAll(strings.ReplaceAll(two, "struct "+name+" ", "struct "+name+"2 "), ": "+name+" ", ": "+name+"2 ")
	}
	use := func(suffix string) string {
		return one + two + strings.ReplaceAll("struct S { 1: C# c, 2: D# d, 3: list<A#> a, 4: map<i32, B#> b }", "#", suffix)
	}
	want := strings.TrimSuffix(strings.Repeat("error field-type-changed S.#: breaks wire, json, source\n", 4), "\n")
	for _, field := range []string{"c", "d", "a", "b"} {
		want = strings.Replace(want, "#", field, 1)
	}
	if diff := cmp.Diff(want, compare(t, use(""), use("2"), audit.Options{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestInherited: inherited methods are compared, once, wherever they come from afterwards.
func TestInherited(t *testing.T) {
	const bases = "service One { i32 f(1: i32 x) void g() }\nservice Two { string f(1: string x) void g() }\nservice Three { i32 f(1: i32 x) }\n"
	const changed = "error field-type-changed f_args.x: breaks wire, json, source\nerror return-type-changed V.f: breaks wire, json, source"
	for _, test := range []struct{ old, new, want string }{
		{"service V extends One {}", "service V extends Two {}", "error extends-changed V: breaks source\n" + changed},
		{"service V extends One {}", "service V extends Three {}", "error extends-changed V: breaks wire, source"},
		{"service V extends One {}", "service V { i32 f(1: i32 x) void g() }", "error extends-changed V: breaks source"},
		{"service V extends One {}", "service V { string f(1: string x) void g() }", "error extends-changed V: breaks source\n" + changed},
		{"service V extends One {}", "service V { i32 f(1: i32 x) oneway void g() }",
			"error extends-changed V: breaks source\nerror oneway-changed V.g: breaks wire, source"},
		{"service V extends One {}", "service V extends One { string f(1: string x) }", changed},
		{"service V extends One {}", "service V extends One { i32 f(1: i32 x) }", ""},
		{"service V extends One { string f(1: string x) }", "service V extends One {}",
			"warning method-moved V.f: breaks source\nerror field-type-changed f_args.x: breaks wire, json, source\nerror return-type-changed V.f: breaks wire, json, source"},
		{"service W extends One {}\nservice V extends W {}", "service W extends Two {}\nservice V extends W {}",
			"error extends-changed W: breaks source\n" + strings.ReplaceAll(changed, "V.", "W.")},
		{"service V {}", "service V extends Two {}", ""},
	} {
		got := compare(t, bases+test.old, bases+test.new, audit.Options{})
		sort := func(s string) []string { return slices.Sorted(strings.SplitSeq(s, "\n")) }
		if diff := cmp.Diff(sort(test.want), sort(got)); diff != "" {
			t.Errorf("%s → %s (-want +got):\n%s", test.old, test.new, diff)
		}
	}
}

// TestNamespaces: a new namespace is reported if it moves generated code.
func TestNamespaces(t *testing.T) {
	for _, test := range []struct{ old, new, want string }{
		{"", "namespace go a.b", "warning namespace-added namespace go: breaks source"},
		{"", "namespace go OLD", ""}, // the file's name
		{"", "namespace * a.b", "warning namespace-added namespace *: breaks source"},
		{"", "namespace java a.b", ""}, // perhaps the first program in Java
		{"namespace * a.b", "namespace * a.b\nnamespace go c", "warning namespace-added namespace go: breaks source"},
		{"namespace * a.b", "namespace * a.b\nnamespace go a.b", ""},
		{"namespace * a.b", "namespace * a.b\nnamespace py c", "warning namespace-added namespace py: breaks source"},
		{"namespace go a.b", "namespace * c\nnamespace go a.b", ""},
	} {
		if got := compare(t, test.old+"\nstruct S {}", test.new+"\nstruct S {}", audit.Options{}); got != test.want {
			t.Errorf("%q → %q: %s, want %s", test.old, test.new, got, test.want)
		}
	}
}

// TestEnumDefaults: a default that is an enum value counts as its number. Renamed values are
// reported for the enum.
func TestEnumDefaults(t *testing.T) {
	for _, test := range []struct{ old, new, want string }{
		{"enum E { A = 1 } struct S { 1: E e = E.A }", "enum E { B = 1 } struct S { 1: E e = E.B }", "value 1 of enum E renamed from A to B"},
		{"enum E { A = 1, B = 2 } struct S { 1: E e = E.A }", "enum E { A = 2, B = 1 } struct S { 1: E e = E.A }",
			"value A of enum E changed from 1 to 2; value B of enum E changed from 2 to 1; default of field 1 e of S changed from A (1) to A (2)"},
		{"enum E { A = 1 } const list<E> L = [E.A]", "enum E { A = 3 } const list<E> L = [E.A]",
			"value A of enum E changed from 1 to 3; value of constant L changed"},
	} {
		dir := t.TempDir()
		write(t, dir, "old.thrift", test.old, "new.thrift", test.new)
		var got []string
		for _, f := range load(t, audit.Input{Old: dir + "/old.thrift", New: dir + "/new.thrift"}, audit.Options{}) {
			got = append(got, f.Message)
		}
		if diff := cmp.Diff(strings.Split(test.want, "; "), got); diff != "" {
			t.Errorf("%s → %s (-want +got):\n%s", test.old, test.new, diff)
		}
	}
}

// TestManyChanges: time is proportional to the number of changes. It was quadratic: 13 s for the
// fields.
func TestManyChanges(t *testing.T) {
	n := testmode.Of(2000, 32767)
	many := func(n int, head, each, tail string) string {
		var b strings.Builder
		b.WriteString(head)
		for i := range n {
			fmt.Fprintf(&b, each, i+1)
		}
		return b.String() + tail
	}
	for _, test := range []struct {
		head, old, new, tail string
		n, want              int
	}{
		{"struct S {", "%[1]d: i32 a%[1]d\n", "%[1]d: i32 b%[1]d\n", "}", 32767, 32767},
		{"enum E {", "A%[1]d = %[1]d\n", "B%[1]d = %[1]d\n", "}", n, n},
		{"service V {", "void a%[1]d()\n", "void b%[1]d()\n", "}", n, n},
		{"service B { void f() } service V extends B {", "void a%[1]d()\n", "void a%[1]d()\n", "}", n, 0},
		{"", "struct A%[1]d {}\n", "struct B%[1]d {}\n", "", n, n},
		{"struct A { 1: B b } struct B { 1: A a, 2: i32 x } struct C { 1: D d } struct D { 1: C c, 2: i64 x } struct S {", "%[1]d: A a%[1]d\n", "%[1]d: C a%[1]d\n", "}", n, n},
	} {
		dir := t.TempDir()
		write(t, dir, "old.thrift", many(test.n, test.head, test.old, test.tail), "new.thrift", many(test.n, test.head, test.new, test.tail))
		if found := load(t, audit.Input{Old: dir + "/old.thrift", New: dir + "/new.thrift"}, audit.Options{}); len(found) != test.want {
			t.Errorf("%s%s: %d findings", test.head, test.old, len(found))
		}
	}
}

// TestTypedefs: typedefs are also identified by file and name. A typedef that moves is the same;
// one of another file is not.
func TestTypedefs(t *testing.T) {
	types := "typedef i32 T\ntypedef list<T> L"
	for _, test := range []struct{ what, old, new, left, want string }{
		{"of another file", "struct S { 1: left.T a }", "struct S { 1: right.T a }", types,
			"field 1 a of S changed from left.T to right.T, which is the same type"},
		{"in a container", "struct S { 1: map<i32, left.T> a }", "struct S { 1: map<i32, right.T> a }", types,
			"field 1 a of S changed from map<i32,left.T> to map<i32,right.T>, which is the same type"},
		{"of what a method returns", "service V { left.L f() }", "service V { right.L f() }", types,
			"what method f returns changed from left.L to right.L, which is the same type"},
		{"the same", "struct S { 1: left.T a, 2: left.L b }", "struct S { 1: left.T a, 2: left.L b }", types, ""},
		{"none in its place", "struct S { 1: left.L a }", "struct S { 1: list<i32> a }", types, "field 1 a of S changed from L to list<i32>, which is the same type"},
		{"another one in it", "struct S { 1: list<i32> a }", "struct S { 1: list<left.T> a }", types,
			"field 1 a of S changed from list<i32> to list<T>, which is the same type"},
		{"moved", "struct S { 1: left.M a }", "struct S { 1: M a }\ntypedef i32 M", types + "\ntypedef i32 M", "typedef M moved to another file"},
	} {
		dir := t.TempDir()
		const head = "include 'left.thrift'\ninclude 'right.thrift'\n"
		for _, folder := range []string{"old", "new"} {
			write(t, dir+"/"+folder, "left.thrift", types, "right.thrift", types)
		}
		write(t, dir, "old/left.thrift", test.left, "old/m.thrift", head+test.old, "new/m.thrift", head+test.new)
		var got []string
		for _, f := range load(t, audit.Input{Old: dir + "/old", New: dir + "/new"}, audit.Options{}) {
			got = append(got, f.Message)
		}
		if text := strings.Join(got, "; "); text != test.want {
			t.Errorf("%s: %s, want %s", test.what, text, test.want)
		}
	}
}

// TestManyVerdicts: two circles of structs make as many pairs as the product of their lengths.
// Above a limit, pairs count as broken without comparison.
func TestManyVerdicts(t *testing.T) {
	var b strings.Builder
	for _, n := range []int{259, 260} {
		for i := range n {
			fmt.Fprintf(&b, "struct C%d_%d { 1: C%d_%d next }\n", n, i, n, (i+1)%n)
		}
	}
	old := b.String() + "struct S { 1: C259_0 a, 2: list<C259_1> b }"
	want := "error field-type-changed S.a: breaks wire, json, source\nerror field-type-changed S.b: breaks wire, json, source"
	if got := compare(t, old, strings.NewReplacer("S { 1: C259", "S { 1: C260", "<C259", "<C260").Replace(old), audit.Options{}); got != want {
		t.Error(got)
	}
	if got := compare(t, old, strings.Replace(old, "S { 1: C259_0", "S { 1: C259_9", 1), audit.Options{}); got != "error field-type-changed S.a: breaks source" {
		t.Error(got)
	}
}
