package audit_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/nocopythrift/nocopythrift/gen/audit"
)

// write writes files below a folder. list alternates names and texts.
func write(t *testing.T, dir string, list ...string) {
	t.Helper()
	for i := 0; i < len(list); i += 2 {
		name := filepath.Join(dir, list[i])
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(list[i+1]), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

func load(t *testing.T, in audit.Input, opt audit.Options) []audit.Finding {
	t.Helper()
	old, new, err := audit.Load(in)
	if err != nil {
		t.Fatal(err)
	}
	return audit.Compare(old, new, opt)
}

// compare returns the findings about two files, one per line, as "severity kind symbol: breaks".
func compare(t *testing.T, old, new string, opt audit.Options) string {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, "old.thrift", old, "new.thrift", new)
	var lines []string
	for _, f := range load(t, audit.Input{Old: filepath.Join(dir, "old.thrift"), New: filepath.Join(dir, "new.thrift")}, opt) {
		lines = append(lines, fmt.Sprintf("%s %s %s: %s", f.Severity, f.Kind, f.Symbol, f.Breaks))
		if f.Old.Line < 1 || f.New.Line < 1 || filepath.Base(f.Old.Filename) != "old.thrift" || filepath.Base(f.New.Filename) != "new.thrift" {
			t.Errorf("places of %s", f)
		}
	}
	return strings.Join(lines, "\n")
}

// TestCompare tests each kind of finding. The first 21 are the errors and warnings of Apache's
// audit.
func TestCompare(t *testing.T) {
	for _, test := range []struct{ old, new, want string }{
		{"enum E { A, B }", "enum E { A }", "error enum-value-removed E.B: breaks wire, json, source"},
		{"struct S { 1: i32 a }", "struct S { 1: i64 a }", "error field-type-changed S.a: breaks wire, json, source"},
		{"struct S { 1: required i32 a }", "struct S { 1: i32 a }", "error requiredness-changed S.a: breaks wire, json"},
		{"struct S { 1: i32 a, 2: i32 b }", "struct S { 1: i32 a }", "error field-removed S.b: breaks json, source"},
		{"struct S { 1: i32 a }", "struct S { 1: i32 a, 2: required i32 b }", "error required-field-added S.b: breaks wire, json"},
		{"struct S { 1: i32 a, 3: i32 c }", "struct S { 1: i32 a, 2: i32 b, 3: i32 c }", "warning field-added-between S.b: compatible"},
		{"struct S {} struct T {}", "struct T {}", "error struct-removed S: breaks source"},
		{"service V { void f() }", "service V { oneway void f() }", "error oneway-changed V.f: breaks wire, source"},
		{"service V { i32 f() }", "service V { i64 f() }", "error return-type-changed V.f: breaks wire, json, source"},
		{"service V { void f() void g() }", "service V { void g() }", "error method-removed V.f: breaks wire, source"},
		{"service V {} service W {}", "service W {}", "error service-removed V: breaks wire, source"},
		{"service A { void f() } service V extends A {}", "service A { void f() } service V {}", "error extends-changed V: breaks wire, source"},
		{"namespace go a\nnamespace py b", "namespace py b", "warning namespace-removed namespace go: breaks source"},
		{"namespace go a", "namespace go b", "warning namespace-changed namespace go: breaks source"},
		{"enum E { A }", "enum E { B }", "warning enum-value-renamed E.A: breaks json, source"},
		{"enum E { A }", "enum F { A }", "warning enum-removed E: breaks source"},
		{"struct S { 1: i32 a = 1 }", "struct S { 1: i32 a = 2 }", "warning default-changed S.a: compatible"},
		{"struct S { 1: i32 a }", "struct S { 1: i32 b }", "warning field-renamed S.a: breaks json, source"},
		{"const i32 A = 1", "", "warning const-removed A: breaks source"},
		{"const i32 A = 1", "const i64 A = 1", "warning const-type-changed A: breaks source"},
		{"const i32 A = 1", "const i32 A = 2", "warning const-value-changed A: compatible"},
		// Beyond Apache's.
		{"enum E { A, B }", "enum E { A, B = 2 }", "error enum-value-changed E.B: breaks wire"},
		{"enum E { A = 1, B = 1 }", "enum E { A = 1, C = 1 }", "warning enum-value-renamed E.B: breaks json, source"},
		{"enum E { A }", "enum E { A, B }", ""},
		{"struct S { 1: optional i32 a }", "struct S {}", "error field-removed S.a: breaks json, source"},
		{"struct S { 1: required i32 a }", "struct S {}", "error field-removed S.a: breaks wire, json, source"},
		{"struct S { 1: i32 a }", "struct S { 1: optional i32 a }", "warning requiredness-changed S.a: breaks source"},
		{"struct S { 1: optional i32 a }", "struct S { 1: required i32 a }", "error requiredness-changed S.a: breaks wire, json, source"},
		{"struct S { 1: i32 a }", "struct S { 2: i32 a }", "error field-id-changed S.a: breaks wire"},
		{"struct S { 1: i32 a, 2: i32 b }", "struct S { 1: i32 b, 2: i32 a }", "error field-id-changed S.a: breaks wire\nerror field-id-changed S.b: breaks wire"},
		{"struct S { 1: i32 a, 2: i32 b }", "struct S { 1: i32 b }", "warning field-renamed S.a: breaks json, source\nerror field-id-changed S.b: breaks wire"},
		{"struct S { 1: i32 a, 3: i32 c }", "struct S { 2: i32 a, 3: i32 c }", "error field-id-changed S.a: breaks wire"},
		{"struct S { 2: i32 a, 255: i32 z }", "struct S { 2: i32 a, 3: required i32 b, 255: i32 z }",
			"warning field-added-between S.b: compatible\nerror required-field-added S.b: breaks wire, json"},
		{"struct S { 1: string a }", "struct S { 1: binary a }", "error field-type-changed S.a: breaks json, source"},
		{"enum E { A } struct S { 1: E a }", "enum E { A } struct S { 1: i32 a }", "error field-type-changed S.a: breaks json, source"},
		{"enum E { A } enum F { A, B } struct S { 1: E a }", "enum E { A } enum F { A, B } struct S { 1: F a }", "error field-type-changed S.a: breaks source"},
		{"struct S { 1: list<i32> a }", "struct S { 1: set<i32> a }", "error field-type-changed S.a: breaks wire, source"},
		{"struct S { 1: byte a }", "struct S { 1: i8 a }", ""},
		{"struct A { 1: i32 a } struct B { 1: i32 a, 2: i32 b } struct S { 1: A a }", "struct A { 1: i32 a } struct B { 1: i32 a, 2: i32 b } struct S { 1: B a }",
			"error field-type-changed S.a: breaks source"},
		{"struct A { 1: A n } struct B { 1: B n } struct S { 1: A a }", "struct A { 1: A n } struct B { 1: B n } struct S { 1: B a }", "error field-type-changed S.a: breaks source"},
		{"struct A { 1: A n, 2: i32 v } struct B { 1: B n, 2: bool v } struct S { 1: A a }", "struct A { 1: A n, 2: i32 v } struct B { 1: B n, 2: bool v } struct S { 1: B a }",
			"error field-type-changed S.a: breaks wire, json, source"},
		{"typedef i32 T\nstruct S { 1: i32 a }", "typedef i32 T\nstruct S { 1: T a }", "warning typedef-name-changed S.a: breaks source"},
		{"typedef i32 T\nstruct S { 1: T a }", "typedef i64 T\nstruct S { 1: T a }", "error typedef-changed T: breaks wire, json, source\nerror field-type-changed S.a: breaks wire, json, source"},
		{"typedef string T", "typedef binary T", "warning typedef-changed T: breaks json, source"},
		{"typedef i32 T", "", "warning typedef-removed T: breaks source"},
		{"union U { 1: i32 a }", "union U { 1: i32 a, 2: i32 b }", "warning union-field-added U.b: breaks wire, json"},
		{"union U { 1: i32 a, 2: i32 b }", "union U { 1: i32 a }", "error field-removed U.b: breaks wire, json, source"},
		{"union U { 1: i32 a }", "struct U { 1: optional i32 a }", "error struct-kind-changed U: breaks wire, json, source"},
		{"struct U { 1: i32 a }", "exception U { 1: i32 a }", "error struct-kind-changed U: breaks source"},
		{"exception X {} service V { void f() }", "exception X {} service V { void f() throws (1: X x) }", "warning exception-added f_exception.x: breaks wire, json"},
		{"exception X {} service V { void f() throws (1: X x) }", "exception X {} service V { void f() }", "error field-removed f_exception.x: breaks wire, json, source"},
		{"service V { i32 f() }", "service V { void f() }", "error return-type-changed V.f: breaks wire, json, source"},
		{"service V { void f(1: i32 a) }", "service V { void f(1: i32 a, 2: i32 b) }", "warning arguments-changed V.f: breaks source"},
		{"service V { void f(i32 a) }", "service V { void f(i32 a, i32 b) }", "warning arguments-changed V.f: breaks source"},
		{"service V { void f(1: required i32 a) }", "service V { void f(1: i32 a) }", "error requiredness-changed f_args.a: breaks wire, json"},
		{"service A { } service V extends A { void f() }", "service A { void f() } service V extends A {}", "warning method-moved V.f: breaks source"},
		{"service A { } service B extends A {} service V extends A { void f() }", "service A { } service B extends A {} service V extends B { void f() }", "error extends-changed V: breaks source"},
		{"const map<i32,i32> M = {1: 2, 3: 4}", "const map<i32,i32> M = {3: 4, 1: 2}", ""},
		{"const list<i32> M = [1, 2]", "const list<i32> M = [2, 1]", "warning const-value-changed M: compatible"},
		{"const set<i32> M = [1, 2]", "const set<i32> M = [2, 1, 1]", ""},
		{"struct P { 1: i32 a, 2: i32 b } const P M = {'a': 1, 'b': 2}", "struct P { 1: i32 a, 2: i32 b } const P M = {'b': 2, 'a': 1}", ""},
		{"enum E { A, B } struct S { 1: E e = E.A }", "enum E { A, B } struct S { 1: E e = E.B }", "warning default-changed S.e: compatible"},
		{"struct S { 1: i32 a, // x\n}", "/** doc */ struct S { 1: i32 a (k = 'v') }", ""},
	} {
		if diff := cmp.Diff(test.want, compare(t, test.old, test.new, audit.Options{})); diff != "" {
			t.Errorf("%s → %s (-want +got):\n%s", test.old, test.new, diff)
		}
		if got := compare(t, test.old, test.old, audit.Options{}); got != "" {
			t.Errorf("%s against itself: %s", test.old, got)
		}
	}
}

func TestOptions(t *testing.T) {
	optional, toDefault := audit.Options{OptionalRemoval: true}, audit.Options{RequiredToDefault: true}
	for _, test := range []struct {
		old, new string
		opt      audit.Options
		want     string // the beginning
	}{
		{"struct S { 1: optional i32 a }", "struct S {}", optional, "warning field-removed"},
		{"struct S { 1: i32 a }", "struct S {}", optional, "error field-removed"},
		{"struct S { 1: required i32 a }", "struct S {}", optional, "error field-removed"},
		{"union U { 1: i32 a }", "union U {}", optional, "error field-removed"},
		{"struct S { 1: required i32 a }", "struct S { 1: i32 a }", toDefault, "warning requiredness-changed"},
		{"struct S { 1: required i32 a }", "struct S { 1: optional i32 a }", toDefault, "error requiredness-changed"},
		{"struct S { 1: i32 a }", "struct S { 1: required i32 a }", toDefault, "error requiredness-changed"},
		{"service V { void f(1: required i32 a) }", "service V { void f(1: i32 a) }", toDefault, "warning requiredness-changed"},
	} {
		if got := compare(t, test.old, test.new, test.opt); !strings.HasPrefix(got, test.want) {
			t.Errorf("%s → %s: %s", test.old, test.new, got)
		}
	}
}

// TestFolders: files are paired by path, included files by their include lines. Definitions that
// move to another file are found there.
func TestFolders(t *testing.T) {
	dir := t.TempDir()
	write(t, dir,
		"old/a.thrift", "include 'sub/b.thrift'\nstruct A { 1: b.B b }\nstruct Moves { 1: i32 a }\nconst i32 MOVES = 1",
		"old/sub/b.thrift", "struct B { 1: i32 x }", "old/gone.thrift", "struct G {}\nenum E { X }\nservice V {}\nconst i32 C = 1\ntypedef i32 T",
		"old/.hidden/c.thrift", "struct", "old/note.txt", "struct",
		"new/a.thrift", "include 'sub/b.thrift'\nstruct A { 1: b.B b }",
		"new/sub/b.thrift", "struct B { 1: i64 x }", "new/added.thrift", "struct Moves { 1: i64 a }\nconst i32 MOVES = 2")
	var got []string
	for _, f := range load(t, audit.Input{Old: dir + "/old", New: dir + "/new"}, audit.Options{}) {
		got = append(got, strings.ReplaceAll(f.String(), dir+"/", ""))
	}
	want := []string{
		"new/added.thrift:1:8: warning: struct Moves moved to another file [moved; breaks source; old: old/a.thrift:3:8]",
		"new/added.thrift:1:16: error: type of field 1 a of Moves changed from i32 to i64 [field-type-changed; breaks wire, json, source; old: old/a.thrift:3:16]",
		"new/added.thrift:2:11: warning: value of constant MOVES changed from 1 to 2 [const-value-changed; compatible; old: old/a.thrift:4:11]",
		"new/added.thrift:2:11: warning: constant MOVES moved to another file [moved; breaks source; old: old/a.thrift:4:11]",
		"new/gone.thrift:1:1: error: struct G removed [struct-removed; breaks source; old: old/gone.thrift:1:8]",
		"new/gone.thrift:1:1: warning: enum E removed [enum-removed; breaks source; old: old/gone.thrift:2:6]",
		"new/gone.thrift:1:1: error: service V removed [service-removed; breaks wire, source; old: old/gone.thrift:3:9]",
		"new/gone.thrift:1:1: warning: constant C removed [const-removed; breaks source; old: old/gone.thrift:4:11]",
		"new/gone.thrift:1:1: warning: typedef T removed [typedef-removed; breaks source; old: old/gone.thrift:5:13]",
		"new/sub/b.thrift:1:12: error: type of field 1 x of B changed from i32 to i64 [field-type-changed; breaks wire, json, source; old: old/sub/b.thrift:1:12]",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("folders (-want +got):\n%s", diff)
	}
	// A single file: its included files are compared, too.
	found := load(t, audit.Input{Old: dir + "/old/a.thrift", New: dir + "/new/a.thrift"}, audit.Options{})
	if len(found) != 3 || found[0].Kind != "struct-removed" || found[1].Kind != "const-removed" || found[2].Kind != "field-type-changed" {
		t.Errorf("a.thrift: %v", found)
	}
	found = load(t, audit.Input{Old: dir + "/old", New: dir + "/new", Files: []string{"sub"}}, audit.Options{})
	if len(found) != 1 || found[0].Symbol != "B.x" {
		t.Errorf("sub: %v", found)
	}
}

// TestLongNames: findings are short, even for long names and values.
func TestLongNames(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	old := "struct S" + long + " { 1: string " + long + " = '" + strings.Repeat("é", 1<<17) + "' } enum E { " + long + " } service V" + long + " { void " + long + "() }"
	dir := t.TempDir()
	write(t, dir, "old.thrift", old, "new.thrift", "struct S"+long+" { 1: i32 y } enum E { Y } service V"+long+" {}")
	found := load(t, audit.Input{Old: dir + "/old.thrift", New: dir + "/new.thrift"}, audit.Options{})
	if len(found) != 5 {
		t.Errorf("%d findings", len(found))
	}
	for _, f := range found {
		if text := f.String(); len(text)+len(f.Symbol) > 2000 || !utf8.ValidString(text) {
			t.Errorf("%d bytes: %.300s", len(text), text)
		}
	}
}

// TestNoLongerIncluded: definitions that have moved out of a file that is no longer included are
// compared.
func TestNoLongerIncluded(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "old/a.thrift", "include 'b.thrift'\nstruct A { 1: b.B b }", "old/b.thrift", "struct B { 1: i32 x } struct Unused {}",
		"new/a.thrift", "struct A { 1: B b }\nstruct B { 1: i64 x }")
	var kinds []string
	for _, f := range load(t, audit.Input{Old: dir + "/old/a.thrift", New: dir + "/new/a.thrift"}, audit.Options{}) {
		kinds = append(kinds, f.Kind+" "+f.Symbol)
	}
	if got := strings.Join(kinds, ", "); got != "moved B, field-type-changed B.x" {
		t.Error(got)
	}
}

func TestLoadErrors(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.thrift", "struct A {}", "bad.thrift", "struct", "cycle.thrift", "include 'cycle2.thrift'", "cycle2.thrift", "include 'cycle.thrift'",
		"missing.thrift", "include 'no.thrift'", "empty/x.txt", "", "d/a.thrift", "struct A {}")
	t.Chdir(dir)
	for _, test := range []struct {
		in   audit.Input
		want string
	}{
		{audit.Input{Old: "no.thrift", New: "a.thrift"}, "no.thrift: there is no such file or folder, and no git revision of that name"},
		{audit.Input{Old: "a.thrift", New: "a\nb"}, "there is no such file"},
		{audit.Input{Old: "a.thrift", New: "x:a.thrift"}, "x:a.thrift: git"},
		{audit.Input{Old: "bad.thrift", New: "a.thrift"}, "bad.thrift:1:7: unexpected end of file, expected a name"},
		{audit.Input{Old: "a.thrift", New: "cycle.thrift"}, "cycle2.thrift:1:1: include cycle"},
		{audit.Input{Old: "a.thrift", New: "missing.thrift"}, `missing.thrift:1:1: cannot find include file "no.thrift"`},
		{audit.Input{Old: "a.thrift", New: "d"}, "must both be files, or both folders"},
		{audit.Input{Old: "empty", New: "d"}, "there are no .thrift files in empty"},
		{audit.Input{Old: "d", New: "d", Files: []string{"no.thrift"}}, "no.thrift is neither in d nor in d"},
		{audit.Input{Old: "a.thrift", New: "a.thrift", Files: []string{"a.thrift"}}, "neither in"},
	} {
		if _, _, err := audit.Load(test.in); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: %v, want %s", test.in, err, test.want)
		}
	}
}

// TestLargeTypes: a few typedefs that stand for a huge type give an error, in bounded time.
func TestLargeTypes(t *testing.T) {
	var b strings.Builder
	b.WriteString("typedef i32 T0\n")
	for i := range 60 {
		fmt.Fprintf(&b, "typedef map<T%d, T%d> T%d\n", i, i, i+1)
	}
	dir := t.TempDir()
	write(t, dir, "a.thrift", b.String())
	name := filepath.Join(dir, "a.thrift")
	if _, _, err := audit.Load(audit.Input{Old: name, New: name}); err == nil || !strings.Contains(err.Error(), "a.thrift:10:9: the type is made of more than 1000 types") {
		t.Error(err)
	}
}
