package golang_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nocopythrift/nocopythrift/gen/golang"
	"github.com/nocopythrift/nocopythrift/gen/schema"
)

// TestKitexFresh compares the committed code for Kitex, which is in another module, with newly
// generated code.
func TestKitexFresh(t *testing.T) {
	const dir = "../../../../kitex/internal/"
	for file, count := range map[string]int{"shop/shop.thrift": 5, "names/names.thrift": 7} {
		set, err := schema.Load([]string{dir + file}, nil)
		if err != nil {
			t.Fatal(err)
		}
		files, err := golang.Generate(set, golang.Options{Kitex: true, ModulePath: "github.com/nocopythrift/nocopythrift/kitex/internal"})
		if err != nil {
			t.Fatal(err)
		}
		if len(files) != count {
			t.Errorf("%s makes %d files, want %d", file, len(files), count)
		}
		for _, f := range files {
			have, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(f.Path)))
			if err != nil {
				t.Error(err)
			}
			if diff := cmp.Diff(string(f.Source), string(have)); diff != "" {
				t.Errorf("%s is stale, run kitex/generate.sh (-would be generated +is there):\n%s", f.Path, diff)
			}
		}
	}
}

// TestKitexErrors: IDL for which no Kitex code can be generated is reported with its position.
func TestKitexErrors(t *testing.T) {
	const s = "struct S { 1: string s }\n"
	for _, test := range []struct{ text, want string }{
		{s + "service V { S f(1: i32 i) (streaming.mode = \"client\") }", "a.thrift:2:15: method f streams: it must have one argument, a struct"},
		{s + "service V { S f() (streaming.mode = \"server\") }", "a.thrift:2:15: method f streams"},
		{s + "service V { void f(1: S s) (streaming.mode = \"bidirectional\") }", "method f streams"},
		{s + "exception E {}\nservice V { S f(1: S s) throws (1: E e) (streaming.mode = \"client\") }", "method f streams"},
		{s + "service V { oneway void f(1: S s) (streaming.mode = \"client\") }", "method f streams"},
		{s + "service V { S f(1: S s) (streaming.mode = \"sideways\") }", `unknown streaming.mode "sideways"`},
		{"service V {}\nservice v {}", "the package for service V is that of service v, too"},
		{"namespace go a\nservice B {}", ""},
	} {
		path := filepath.Join(t.TempDir(), "a.thrift")
		if err := os.WriteFile(path, []byte(test.text), 0o666); err != nil {
			t.Fatal(err)
		}
		set, err := schema.Load([]string{path}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := golang.Generate(set, golang.Options{}); err != nil {
			t.Errorf("%q without Kitex: %v", test.text, err)
		}
		_, err = golang.Generate(set, golang.Options{Kitex: true, PackagePrefix: "example.com/m"})
		if test.want == "" && err == nil {
			_, err = golang.Generate(set, golang.Options{Kitex: true})
			test.want = "the import path of package a is needed: give -package-prefix, or an output directory in a module"
		}
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q: error %v, want %q", test.text, err, test.want)
		}
	}
	// A package that is neither generated nor found: one error, at the include
	dir := t.TempDir()
	for name, text := range map[string]string{
		"base.thrift": "namespace go base\nstruct S {}\nservice B {}",
		"main.thrift": "namespace go a\ninclude \"base.thrift\"\nservice V extends base.B { void f(1: base.S s) }\nservice W extends base.B { void f(1: base.S s) }",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	set, err := schema.Load([]string{filepath.Join(dir, "main.thrift")}, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = golang.Generate(set, golang.Options{Kitex: true, ModulePath: "example.com/m"})
	want := filepath.Join(dir, "main.thrift") + ":2:1: the import path of package base is needed: give -package-prefix, or -r to generate it too"
	if err == nil || err.Error() != want {
		t.Errorf("error %v, want %q", err, want)
	}
	// Two files of one package, and a service whose package is another file's
	dir = t.TempDir()
	for name, text := range map[string]string{
		"x.thrift": "namespace go a\nstruct X {}", "k-x.thrift": "namespace go a\nstruct Y {}", "b.thrift": "namespace go a.v\nstruct Z {}",
		"main.thrift": "namespace go a\ninclude \"x.thrift\"\ninclude \"k-x.thrift\"\ninclude \"b.thrift\"\nservice V {}",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	set, err = schema.Load([]string{filepath.Join(dir, "main.thrift")}, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = golang.Generate(set, golang.Options{Kitex: true, Recursive: true, PackagePrefix: "example.com/m"})
	for _, want := range []string{"main.thrift:5:9: the package for service V is that of", "a/k-x.go is made from two files"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}
