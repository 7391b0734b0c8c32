package nocopyc_test

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestOthers: files that can't be in one package, or that replace each other, are reported when
// they are generated one after another. Other files are not.
func TestOthers(t *testing.T) {
	const (
		again = "which another run has generated, declares "
		gone  = "all of that code is lost"
	)
	idl := []string{
		"go.mod", "module h.org/m\n",
		"a.thrift", "namespace go x\nstruct User {}\nstruct A {}\nservice Shop { void get() }",
		"b.thrift", "namespace go x\nstruct User { 1: i32 id }\nstruct B {}",
		"c.thrift", "namespace go x\nstruct C {}\nconst i32 N = 5\nenum E { ONE }",
		"e.thrift", "include 'a.thrift'\nnamespace go x\nstruct Uses { 1: a.User user }",
		"v1/user.thrift", "struct User {}", "v2/user.thrift", "struct Account {}", "v3/user.thrift", "struct Account { 1: i32 id }\nstruct User {}",
		"others/a.thrift", "namespace go x\nenum User { ONE }\nstruct A {}",
	}
	steps := func(list ...string) []string { return list }
	for name, list := range map[string][]string{ // alternating commands and their reports
		"one name":                     steps("a.thrift", "", "b.thrift", "out/x/a.go, "+again+"User, ", "a.thrift", "out/x/b.go, "+again+"User, "),
		"different names":              steps("a.thrift", "", "c.thrift", "", "-fields a.thrift", "", "c.thrift", ""),
		"again":                        steps("-fields a.thrift", "", "-fields a.thrift", "", "a.thrift", "with -fields; it may", "-fields -golint a.thrift", ""),
		"in one run":                   steps("a.thrift c.thrift", "", "c.thrift a.thrift", "", "c.thrift", ""),
		"included":                     steps("a.thrift", "", "e.thrift", "", "-r e.thrift", "", "a.thrift e.thrift", ""),
		"one file name":                steps("v1/user.thrift", "", "v2/user.thrift", "this replaces a file with User, UserDesc, NewUser and 2 more names; "+gone, "v2/user.thrift", "", "v3/user.thrift", "", "v1/user.thrift", ""),
		"changed":                      steps("a.thrift", "", "others/a.thrift", "", "a.thrift", ""),
		"a constant":                   steps("c.thrift", "", "consts/d.thrift", "out/x/c.go, "+again+"N, too"),
		"code that is not generated":   steps("own/a.thrift", ""),
		"with the old file":            steps("a.thrift", "", "renamed/z.thrift", "remove the file if its .thrift file is gone"),
		"with a folder's strange name": steps("-package-prefix p -o out/[x]* a.thrift", "", "-package-prefix p -o out/[x]* b.thrift", again+"User, "),
	} {
		t.Run(name, func(t *testing.T) {
			files(t, idl...)
			writeFile(t, "consts/d.thrift", "namespace go x\nconst string N = ''")
			writeFile(t, "renamed/z.thrift", idl[3])
			writeFile(t, "own/a.thrift", "namespace go own\nstruct User {}")
			writeFile(t, "out/own/own.go", "package own\n\ntype User int\n")
			writeFile(t, "out/own/broken.go", "package own\n\ntype User")
			for i := 0; i < len(list); i += 2 {
				code, _, stderr := nocopyc(append([]string{"-o", "out"}, strings.Fields(list[i])...)...)
				if want := filepath.FromSlash(list[i+1]); code != 0 || (want == "") != (stderr == "") || !strings.Contains(stderr, want) || strings.Count(stderr, "\n") > 1 {
					t.Errorf("%s: exit code %d, %q, want %q", list[i], code, stderr, want)
				}
			}
		})
	}
}
