package golang_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/gen/golang"
	"github.com/nocopythrift/nocopythrift/gen/internal/gocheck"
	"github.com/nocopythrift/nocopythrift/gen/schema"
)

// withFields generates code with Options.Fields. The last file is the one passed to nocopyc; it
// may include the others. withFields checks that the code is good Go, and returns the sources by
// name.
func withFields(t *testing.T, files ...string) map[string]string {
	t.Helper()
	dir := t.TempDir()
	name := ""
	for i, text := range files {
		name = filepath.Join(dir, string(rune('a'+i))+".thrift")
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	set, err := schema.Load([]string{name}, nil)
	if err != nil {
		t.Fatal(err)
	}
	out, err := golang.Generate(set, golang.Options{Fields: true, Recursive: true, PackagePrefix: "m"})
	if err != nil {
		t.Fatal(err)
	}
	c, err := gocheck.New()
	if err != nil {
		t.Fatal(err)
	}
	sources, texts := map[string][]byte{}, map[string]string{}
	for _, f := range out {
		sources[f.Path] = f.Source
		texts[f.Path] = strings.Join(strings.Fields(string(f.Source)), " ")
	}
	if err := c.Check("m", sources); err != nil {
		t.Fatalf("%v\n%s", err, texts)
	}
	return texts
}

func wantAll(t *testing.T, src string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(src, w) {
			t.Errorf("%q is missing in\n%.4000s", w, src)
		}
	}
}

// TestFieldsNames: names from the IDL stay unchanged.
func TestFieldsNames(t *testing.T) {
	src := withFields(t, `
struct User { 1: i32 a = 1, 2: list<User> of, 3: list<User> Of, 4: list<User> x, 5: i32 xOf, 6: i32 xBy, 7: i32 _id, 8: i32 X_id, 9: i32 ThriftAppend, 10: i32 format, 11: i32 logValue, 12: i32 parse, 13: i32 appendTo, 14: i32 to }
struct UserFields { 1: i32 b }
const i32 DefaultUserFields = 1
struct User_Of {}
struct _hidden { 1: i32 c }
service V { User get(1: User user) throws (1: E e) }
exception E { 1: string why }
`)["a/fields-a.go"]
	wantAll(t, src, "type UserFields_ struct { A int32", "type UserFieldsFields struct { B int32", "func DefaultUserFields_() UserFields_ {",
		"func NewUserOf(", "X_id int32", "XID int32", "ThriftAppend_ int32", "Format_ int32", "LogValue_ int32", "Parse_ int32", "AppendTo_ int32", "To int32", "func ParseUserFields_(", ") SetXOf_(v []UserFields_)", ") SetXBy_(n int",
		"type VGetArgsFields struct { User UserFields_ }", "type VGetResultFields struct { Success nocopy.Opt[UserFields_] E nocopy.Opt[EFields] }", "type X_hiddenFields struct { C int32 }")
}

// TestFieldsOfOtherPackages: the code refers to the types of included files.
func TestFieldsOfOtherPackages(t *testing.T) {
	src := withFields(t, `
namespace go e
struct Point { 1: i32 x = 3, 2: i32 y }
union U { 1: i32 a }
enum Color { RED }
`, `
namespace go at
include "a.thrift"
struct Line { 1: a.Point from_, 2: optional a.Point to, 3: list<a.Point> points, 4: a.U u, 5: a.Color color = a.Color.RED, 6: list<a.Color> colors }
union V { 1: list<a.Point> points }
`, `
namespace go f
include "b.thrift"
struct Lines { 1: list<b.Line> lines }
`)
	wantAll(t, src["at/fields-b.go"], `e_ "m/e"`, "From_ e_.PointFields", "To nocopy.Opt[e_.PointFields]", "Points []e_.PointFields", "Colors []e_.Color",
		"From_: e_.DefaultPointFields(),", "v.From_.ThriftAppend(w, w.Struct(at, lineFrom_))", "func (s V) SetPointsBy(n int, f func(i int) e_.PointFields) {")
	wantAll(t, src["f/fields-c.go"], `at_ "m/at"`, "Lines []at_.LineFields")
	if strings.Contains(src["f/fields-c.go"], `"m/e"`) {
		t.Error("an import is not used")
	}
}

// TestFieldsByPointer: structs that contain themselves, are large, or have a default are pointers,
// so that every type is finite and unset fields can be recognised.
func TestFieldsByPointer(t *testing.T) {
	wide := "struct Wide {\n"
	for i := range 70 {
		wide += "  string s" + strings.Repeat("y", i) + "\n"
	}
	src := withFields(t, wide+`}
struct A { 1: optional B b, 2: list<A> list, 3: Leaf leaf, 4: Leaf preset = {"n": 2} }
struct B { 1: A a, 2: Wide wide, 3: optional Wide maybe }
struct Leaf { 1: i32 n }
struct D0 { 1: Leaf a, 2: Leaf b, 3: Leaf c, 4: Leaf d }
struct D1 { 1: D0 a, 2: D0 b, 3: D0 c, 4: D0 d, 5: optional D0 e }
struct D2 { 1: D1 a, 2: D1 b, 3: D1 c, 4: D1 d, 5: D1 e, 6: D1 f, 7: D1 g }
struct D3 { 1: D2 a, 2: D2 b, 3: D2 c }
`)["a/fields-a.go"]
	wantAll(t, src, "type AFields struct { B *BFields List []AFields Leaf LeafFields Preset *LeafFields }",
		"type BFields struct { A *AFields Wide *WideFields Maybe *WideFields }", "type D1Fields struct { A D0Fields", "E nocopy.Opt[D0Fields] }",
		"type D3Fields struct { A *D2Fields")
}

// TestFieldsFile: without the option nothing changes. With it there is one more file, with a
// unique name.
func TestFieldsFile(t *testing.T) {
	const idl = "namespace go user\nstruct User { 1: i64 id, 2: bool active, 3: double score = 1.5 }\n"
	name := filepath.Join(t.TempDir(), "fields-user.thrift")
	other := filepath.Join(filepath.Dir(name), "user.thrift")
	for _, n := range []string{name, other} {
		if err := os.WriteFile(n, []byte(strings.Replace(idl, "User", "User"+strings.Repeat("X", len(n)-len(other)), 1)), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	set, err := schema.Load([]string{other}, nil)
	if err != nil {
		t.Fatal(err)
	}
	without, err := golang.Generate(set, golang.Options{})
	if err != nil || len(without) != 1 {
		t.Fatal(len(without), err)
	}
	with, err := golang.Generate(set, golang.Options{Fields: true})
	if err != nil || len(with) != 2 || with[0].Path != "user/fields-user.go" || string(with[1].Source) != string(without[0].Source) {
		t.Fatalf("%v, %v", with, err)
	}
	if n := strings.Count(string(with[0].Source), "\n"); n > 100 {
		t.Errorf("three scalar fields make %d more lines", n)
	}
	if set, err = schema.Load([]string{name, other}, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := golang.Generate(set, golang.Options{Fields: true}); err == nil || !strings.Contains(err.Error(), "is made from two files") {
		t.Errorf("two files of one name: %v", err)
	}
	if _, err := golang.Generate(set, golang.Options{}); err != nil {
		t.Error(err)
	}
}
