package audit_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nocopythrift/nocopythrift/gen/audit"
)

// ruled are changes that have a finding of each rule but field-id-reused, which needs a history.
var ruled = []struct{ old, new, want string }{
	{"service V { void f() }", "service V { void f(1: i32 a) }", "arguments-changed SOURCE"},
	{"service V { void f(1: i32 a, 2: i32 b) }", "service V { void f(2: i32 b, 1: i32 a) }", "arguments-changed SOURCE"},
	{"const i32 A = 1", "", "const-removed SOURCE"},
	{"const i32 A = 1", "const i64 A = 1", "const-type-changed SOURCE"},
	{"const i32 A = 1", "const i32 A = 2", "const-value-changed FILE"},
	{"struct S { 1: i32 a = 1 }", "struct S { 1: i32 a = 2 }", "default-changed FILE"},
	{"enum E { A }", "enum F { A }", "enum-removed SOURCE"},
	{"enum E { A, B }", "enum E { A, B = 2 }", "enum-value-changed WIRE"},
	{"enum E { A, B }", "enum E { A }", "enum-value-removed WIRE"},
	{"enum E { A }", "enum E { B }", "enum-value-renamed WIRE_JSON"},
	{"exception X {} service V { void f() }", "exception X {} service V { void f() throws (1: X x) }", "exception-added WIRE"},
	{"service A { void f() } service V extends A {}", "service A { void f() } service V {}", "extends-changed WIRE"},
	{"service A {} service V extends A {}", "service A {} service V {}", "extends-changed SOURCE"},
	{"struct S { 1: i32 a, 3: i32 c }", "struct S { 1: i32 a, 2: i32 b, 3: i32 c }", "field-added-between FILE"},
	{"struct S { 1: i32 a }", "struct S { 2: i32 a }", "field-id-changed WIRE"},
	{"struct S { 1: required i32 a }", "struct S {}", "field-removed WIRE"},
	{"struct S { 1: optional i32 a }", "struct S {}", "field-removed WIRE_JSON"},
	{"struct S { 1: i32 a }", "struct S { 1: i32 b }", "field-renamed WIRE_JSON"},
	{"service V { void f(1: i32 a) }", "service V { void f(1: i32 b) }", "field-renamed WIRE_JSON"},
	{"struct S { 1: i32 a }", "struct S { 1: i32 b (json.name = 'a') }", "field-renamed SOURCE"},
	{"struct S { 1: i32 a }", "struct S { 1: i64 a }", "field-type-changed WIRE"},
	{"struct S { 1: string a }", "struct S { 1: binary a }", "field-type-changed WIRE_JSON"},
	{"enum E { A } enum F { A, B } struct S { 1: E a }", "enum E { A } enum F { A, B } struct S { 1: F a }", "field-type-changed SOURCE"},
	{"struct S { 1: i32 a (api.query = 'a') }", "struct S { 1: i32 a (api.query = 'b') }", "http-place-changed WIRE_JSON"},
	{"struct S { 1: i32 a (vt.gt = '1', api.vd = 'x') }", "struct S { 1: i32 a (go.tag = 'x:\"y\"') }", ""},
	{"struct S { 1: i32 a }", "struct S { 1: i32 a (json.name = 'b') }", "json-name-changed WIRE_JSON"},
	{"struct S { 1: i32 a }", "struct S { 1: i32 a (go.tag = 'json:\"b,omitempty\"') }", "json-name-changed WIRE_JSON"},
	{"struct S { 1: i32 a }", "struct S { 1: i32 a (go.tag = 'json:\"-\"') }", "json-name-changed WIRE_JSON"},
	{"struct S { 1: i32 a }", "struct S { 1: i32 a (go.tag = 'json:\"a,string\"') }", "json-name-changed WIRE_JSON"},
	{"struct S { 1: i32 a }", "struct S { 1: i32 a (json.name = 'a', go.tag = 'json:\"b\"') }", ""},
	{"service V { void f() (api.get = '/a', api.post = '/a') }", "service V { void f() (api.post = '/a', api.get = '/b') }", "route-removed WIRE_JSON"},
	{"service V { void f() (api.get = '/a') }", "service V { void f() (api.get = '/a', api.get = '/b') }", ""},
	{"service A { } service V extends A { void f() }", "service A { void f() } service V extends A {}", "method-moved SOURCE"},
	{"service V { void f() }", "service V { void g() }", "method-removed WIRE"},
	{"namespace go a", "namespace go b", "namespace-changed SOURCE"},
	{"namespace py a", "", "namespace-removed SOURCE"},
	{"", "namespace go shop", "namespace-added SOURCE"},
	{"service V { void f() }", "service V { oneway void f() }", "oneway-changed WIRE"},
	{"struct S {}", "struct S { 1: required i32 b }", "required-field-added WIRE"},
	{"struct S { 1: required i32 a }", "struct S { 1: i32 a }", "requiredness-changed WIRE"},
	{"struct S { 1: i32 a }", "struct S { 1: optional i32 a }", "requiredness-changed SOURCE"},
	{"service V { i32 f() }", "service V { i64 f() }", "return-type-changed WIRE"},
	{"service V { string f() }", "service V { binary f() }", "return-type-changed WIRE_JSON"},
	{"struct A {} struct B {} service V { A f() }", "struct A {} struct B {} service V { B f() }", "return-type-changed SOURCE"},
	{"service V {}", "service W {}", "service-removed WIRE"},
	{"union U { 1: i32 a }", "struct U { 1: optional i32 a }", "struct-kind-changed WIRE"},
	{"struct U { 1: i32 a }", "exception U { 1: i32 a }", "struct-kind-changed SOURCE"},
	{"struct S { 1: i32 a }", "struct T { 1: i32 a }", "struct-removed SOURCE"},
	{"typedef i32 T", "typedef i64 T", "typedef-changed WIRE"},
	{"typedef string T", "typedef binary T", "typedef-changed WIRE_JSON"},
	{"struct A {} struct B {} typedef A T", "struct A {} struct B {} typedef B T", "typedef-changed SOURCE"},
	{"typedef i32 T\nstruct S { 1: i32 a }", "typedef i32 T\nstruct S { 1: T a }", "typedef-name-changed SOURCE"},
	{"typedef i32 T", "typedef i32 U", "typedef-removed SOURCE"},
	{"union U { 1: i32 a }", "union U { 1: i32 a, 2: i32 b }", "union-field-added WIRE"},
}

// TestPolicies: each change has one rule, and the policy of that rule. Each policy has all of the
// one before it.
func TestPolicies(t *testing.T) {
	// TestHistory and TestMovedPolicies have these.
	found := map[string]bool{"field-id-reused WIRE": true, "moved FILE": true, "moved SOURCE": true}
	dir := t.TempDir()
	for _, c := range ruled {
		write(t, dir, "old.thrift", c.old, "new.thrift", c.new)
		var got []string
		for _, f := range load(t, audit.Input{Old: dir + "/old.thrift", New: dir + "/new.thrift"}, audit.Options{}) {
			got = append(got, f.Kind+" "+string(f.Policy()))
			for i, p := range audit.Policies {
				if p.Has(f.Policy()) != (i >= slices.Index(audit.Policies, f.Policy())) {
					t.Errorf("%s has %s", p, f.Policy())
				}
			}
		}
		if text := strings.Join(got, ", "); text != c.want {
			t.Errorf("%s → %s: %s, want %s", c.old, c.new, text, c.want)
		}
		if c.want != "" {
			found[c.want] = true
		}
	}
	known := map[string]bool{}
	for _, r := range audit.Rules {
		known[r.Kind+" "+string(r.Policy)] = true
	}
	if diff := cmp.Diff(known, found); diff != "" {
		t.Errorf("rules without a change, or changes without a rule (-rules +changes):\n%s", diff)
	}
}

// TestMovedPolicies: code of Go and Java stays as it is if both files have the same namespaces.
func TestMovedPolicies(t *testing.T) {
	for _, c := range []struct{ head, other, want string }{
		{"namespace go a\n", "namespace go a\n", "moved FILE"},
		{"namespace go a\nnamespace java a\n", "namespace go a\nnamespace java b\n", "moved SOURCE"},
		{"", "", "moved SOURCE"},
	} {
		for _, definition := range []string{"struct S {}", "enum E { A }", "service V {}", "typedef i32 T"} {
			dir := t.TempDir()
			write(t, dir, "old/a.thrift", c.head+definition, "old/b.thrift", c.other, "new/a.thrift", c.head, "new/b.thrift", c.other+definition)
			list := load(t, audit.Input{Old: dir + "/old", New: dir + "/new"}, audit.Options{})
			if len(list) != 1 || list[0].Kind+" "+string(list[0].Policy()) != c.want {
				t.Errorf("%q, %q, %s: %v", c.head, c.other, definition, list)
			}
		}
	}
}

// TestRulesPage: the page has the policies of each rule.
func TestRulesPage(t *testing.T) {
	page, err := os.ReadFile("../../../../docs/idl.md")
	if err != nil {
		t.Fatal(err)
	}
	shown, want := map[string]string{}, map[string]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| (`[a-z-]+`.*?) \\| [^|]+ \\| ([^|]+) \\|").FindAllStringSubmatch(string(page), -1) {
		for _, kind := range regexp.MustCompile("`([a-z-]+)`").FindAllStringSubmatch(row[1], -1) {
			if policies := regexp.MustCompile("WIRE_JSON|WIRE|SOURCE|FILE").FindAllString(row[2], -1); len(policies) > 0 {
				shown[kind[1]] = strings.Join(policies, " ")
			}
		}
	}
	for _, r := range audit.Rules {
		want[r.Kind] = strings.TrimSpace(want[r.Kind] + " " + string(r.Policy))
	}
	if diff := cmp.Diff(want, shown); diff != "" {
		t.Errorf("docs/idl.md (-rules +page):\n%s", diff)
	}
}

// TestIgnores: an Ignore leaves out what is at its path, and what is in it.
func TestIgnores(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "old/v1/a.thrift", "namespace go x\nstruct S { 1: i32 a, 2: i32 b }\nstruct Sa { 1: i32 a }\nservice V { void f(1: i32 a) }",
		"new/v1/a.thrift", "namespace go y\nstruct S { 1: i32 x, 2: i64 b }\nstruct Sa { 1: i32 x }\nservice V { void f(1: i32 x) }")
	in := audit.Input{Old: dir + "/old", New: dir + "/new"}
	for _, c := range []struct {
		path, rule string
		left       int // of 5
	}{
		{"new/v1/a.thrift", "", 0}, {"new/", "", 0}, {"new/v1", "field-renamed", 2}, {"old/v1/a.thrift", "", 0}, {"./new/v1/a.thrift:S", "", 3},
		{"a.thrift", "", 5}, {"new/v", "", 5}, {"S", "", 3}, {"S.a", "", 4}, {"S.a", "field-removed", 5}, {"V", "", 4}, {"V.f", "", 4}, {"f_args.a", "", 4},
		{"V.f_args.a", "", 4}, {"namespace go", "", 4}, {"new/v1/a.thrift:Sa.a", "field-renamed", 4}, {"other.thrift:S", "", 5}, {"s", "", 5},
	} {
		g := &audit.Ignore{Path: c.path, Rule: c.rule, Reason: "because", Dir: dir}
		if err := g.Check(); err != nil {
			t.Error(err)
		}
		found := load(t, in, audit.Options{Ignores: []*audit.Ignore{g}})
		if len(found) != c.left || g.Matched != 5-c.left {
			t.Errorf("%s %s: %d left, %d matched, want %d: %v", c.path, c.rule, len(found), g.Matched, c.left, found)
		}
	}
	for _, c := range []struct {
		g    audit.Ignore
		want string
	}{
		{audit.Ignore{Path: "S", Reason: " "}, "needs a reason"}, {audit.Ignore{Reason: "r"}, "needs a path"}, {audit.Ignore{Path: "a.thrift:", Reason: "r"}, "is neither a file"},
		{audit.Ignore{Path: "S", Rule: "field-remove", Reason: "r"}, "did you mean field-removed?"},
	} {
		if err := c.g.Check(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %s", c.g, err, c.want)
		}
	}
}

// TestTold: files that a server tells belong to those whose paths end like theirs.
func TestTold(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "idl/v1/shop.thrift", "include 'common.thrift'\nstruct S { 1: common.C c }", "third/common.thrift", "struct C { 1: i64 x }", "idl/other.thrift", "struct O {}")
	for _, c := range []struct {
		told map[string]string
		new  string
		want string // symbols, or an error
	}{
		{map[string]string{"shop.thrift": "include 'common.thrift'\nstruct S { 1: common.C c }", "common.thrift": "struct C { 1: i32 x }"}, "idl", "C.x"},
		{map[string]string{"v1/shop.thrift": "struct S {} struct T {}"}, "idl", "T"},
		{map[string]string{"a/idl/v1/shop.thrift": "struct T {}"}, "idl/v1/shop.thrift", "T"},
		{map[string]string{"/x/shop.thrift": "struct T {}"}, "idl", "T"},
		{map[string]string{"./shop.thrift": "struct T {}"}, "idl", "T"},
		{map[string]string{"shop.thrift": "struct S {}", "gone.thrift": "struct G {}"}, "idl", "G"},
		{map[string]string{"x.thrift": "struct T {}"}, "idl/other.thrift", "T"},
		{map[string]string{"x.thrift": "struct S {}"}, "idl", "no file in common"},
		{map[string]string{"../../../../etc/passwd": "struct S {}"}, "idl", "no file in common"},
		{map[string]string{"shop.thrift": "include '/etc/passwd'"}, "idl", "prod:shop.thrift:1:"},
		{map[string]string{"shop.thrift": "struct"}, "idl", "prod:shop.thrift:1:7"},
	} {
		old, new, err := audit.Load(audit.Input{Old: "prod", New: filepath.Join(dir, c.new), Told: c.told, NewDirs: []string{dir + "/third"}})
		got := ""
		if err != nil {
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v: %v, want %s", c.told, err, c.want)
			}
			continue
		}
		for _, f := range audit.Compare(old, new, audit.Options{}) {
			got += f.Symbol + " "
		}
		if strings.TrimSpace(got) != c.want {
			t.Errorf("%v: %s, want %s", c.told, got, c.want)
		}
	}
}

// TestToldWrong: a server does not hide what a file breaks by a second one of the same path, and
// its paths are bounded.
func TestToldWrong(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.thrift", "struct A { 1: i32 a }")
	for _, c := range []struct {
		told map[string]string
		want string
	}{
		{map[string]string{"a.thrift": "struct A { 1: i64 a }", "x/../a.thrift": "struct A {}"}, "prod has two files a.thrift"},
		{map[string]string{strings.Repeat("d/", 5000) + "a.thrift": "struct A { 1: i64 a }"}, "prod has a file whose path has 10008 bytes, of at most 4096: d/d/"},
		{map[string]string{}, "prod has no files"},
	} {
		if _, _, err := audit.Load(audit.Input{Old: "prod", New: dir, Told: c.told}); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}
