package golang_test

import (
	"os"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/gen/golang"
	"github.com/nocopythrift/nocopythrift/gen/schema"
)

// TestReflect: with Reflect, the processors of a file's services know its text; other code is the
// same as without. A file without services has no text.
func TestReflect(t *testing.T) {
	t.Chdir(t.TempDir())
	text := "include \"b.thrift\"\n// a ` comment \\ \"\nservice S extends b.B { void f() }\nservice T {}\nconst i32 idlOfa_b = 1\n"
	for name, text := range map[string]string{"a-b.thrift": text, "b.thrift": "service B {}", "c.thrift": "struct C {}"} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	generate := func(opt golang.Options) map[string]string {
		set, err := schema.Load([]string{"a-b.thrift", "b.thrift", "c.thrift"}, nil)
		if err != nil {
			t.Fatal(err)
		}
		opt.PackagePrefix = "x"
		files, err := golang.Generate(set, opt)
		if err != nil {
			t.Fatal(err)
		}
		all := map[string]string{}
		for _, f := range files {
			all[f.Path] = string(f.Source)
		}
		return all
	}
	without, with := generate(golang.Options{}), generate(golang.Options{Reflect: true})
	added := 0
	for path, src := range with {
		before, ok := without[path]
		if !ok {
			added++
			continue
		}
		calls := strings.Count(src, ".WithIDL(")
		for _, call := range []string{`.WithIDL("S", idlOfa_b...)`, `.WithIDL("T", idlOfa_b...)`, `.WithIDL("B", idlOfb...)`} {
			src = strings.Replace(src, call, "", 1)
		}
		if src != before || strings.HasSuffix(path, "c.go") == (calls > 0) {
			t.Errorf("%s has %d calls of WithIDL, and other changes: %v", path, calls, src != before)
		}
	}
	if added != 2 {
		t.Errorf("%d files are added, want 2", added)
	}
}
