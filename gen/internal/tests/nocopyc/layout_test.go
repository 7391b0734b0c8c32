package nocopyc_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestNeeds: includes whose code is not generated are reported, wherever they are, until their
// code exists.
func TestNeeds(t *testing.T) {
	idl := []string{
		"deep/deep.thrift", "namespace go x.deep\nstruct D {}",
		"inner.thrift", "include 'deep.thrift'\nnamespace go x.inner\nstruct I { 1: deep.D d }\nenum E { A }",
		"same.thrift", "namespace go x.outer\nstruct S {}",
		"unused.thrift", "namespace go x.unused\nstruct U {}",
		"outer.thrift", "include 'unused.thrift'\ninclude 'same.thrift'\n\n  include 'inner.thrift'\nnamespace go x.outer\nstruct O { 1: list<inner.I> i, 2: same.S s }",
	}
	const (
		run   = "nocopyc -o out -I deep -package-prefix h.org/m "
		same  = `outer.thrift:2:1: warning: the code needs x/outer/same.go, which is not in out: run "` + run + `same.thrift" too, or give -r` + "\n"
		inner = `outer.thrift:4:3: warning: the code needs x/inner/inner.go, which is not in out: run "` + run + `inner.thrift" too, or give -r` + "\n"
		deep  = `outer.thrift:4:3: warning: the code needs x/deep/deep.go, which is not in out: run "` + run + `deep/deep.thrift" too, or give -r` + "\n"
	)
	inners := strings.ReplaceAll(deep, "outer.thrift:4:3", "inner.thrift:1:1")
	steps := func(list ...string) []string { return list }
	for name, list := range map[string][]string{ // alternating commands and their output
		"outer first": steps("outer.thrift", inner+deep+same, "deep/deep.thrift", "", "outer.thrift", inner+same, "same.thrift", "",
			"inner.thrift", "", "outer.thrift", ""),
		"inner first":  steps("deep/deep.thrift", "", "inner.thrift", "", "same.thrift", "", "outer.thrift", ""),
		"at once":      steps("outer.thrift inner.thrift", inners+same, "outer.thrift inner.thrift same.thrift deep/deep.thrift", ""),
		"recursively":  steps("-r outer.thrift", "", "outer.thrift", ""),
		"one by one":   steps("inner.thrift", inners),
		"of one alone": steps("same.thrift", "", "outer.thrift", inner+deep),
	} {
		t.Run(name, func(t *testing.T) {
			files(t, idl...)
			for i := 0; i < len(list); i += 2 {
				code, _, stderr := nocopyc(append([]string{"-o", "out", "-I", "deep", "-package-prefix", "h.org/m"}, strings.Fields(list[i])...)...)
				if diff := cmp.Diff(sortedLines(list[i+1]), sortedLines(stderr)); diff != "" || code != 0 {
					t.Errorf("%s: exit code %d (-want +got):\n%s", list[i], code, diff)
				}
			}
		})
	}
}

func sortedLines(text string) []string {
	lines := strings.Split(text, "\n")
	slices.Sort(lines)
	return lines
}

// TestNeedsElsewhere: packages that the module finds under the prefix need not be below the output
// directory.
func TestNeedsElsewhere(t *testing.T) {
	files(t, "go.mod", "module h.org/m\n", "gen/x/inner/anything.go", "package inner\n",
		"inner.thrift", "namespace go x.inner\nstruct I {}", "none.thrift", "namespace go x.none\nstruct N {}",
		"outer.thrift", "include 'inner.thrift'\ninclude 'none.thrift'\nnamespace go outer\nstruct O { 1: inner.I i, 2: none.N n }")
	code, _, stderr := nocopyc("-o", "out", "-package-prefix", "h.org/m/gen", "outer.thrift")
	want := `outer.thrift:2:1: warning: the code needs x/none/none.go, which is not in out: run "nocopyc -o out -package-prefix h.org/m/gen none.thrift" too, or give -r` + "\n"
	if diff := cmp.Diff(want, stderr); diff != "" || code != 0 {
		t.Errorf("exit code %d (-want +got):\n%s", code, diff)
	}
}

// TestLayoutErrors: layouts that Go would refuse are refused, with advice.
func TestLayoutErrors(t *testing.T) {
	const advice = `give each file a "namespace go" of its own, or rename one`
	for name, test := range map[string]struct {
		files, args []string
		want        string
	}{
		"two includes of one name": {[]string{"x/c.thrift", "struct A {}", "y/c.thrift", "\nstruct B {}", "root.thrift", "include 'x/c.thrift'\ninclude 'y/c.thrift'\nstruct R { 1: c.A a, 2: c.B b }"},
			[]string{"-r", "-package-prefix", "m", "root.thrift"}, "y/c.thrift:1:1: c/c.go would be generated from x/c.thrift too: " + advice},
		"not recursively": {[]string{"x/c.thrift", "struct A {}", "y/c.thrift", "\nstruct B {}", "root.thrift", "include 'x/c.thrift'\ninclude 'y/c.thrift'\nstruct R { 1: c.A a, 2: c.B b }"},
			[]string{"-package-prefix", "m", "root.thrift"}, "y/c.thrift:1:1: c/c.go would be generated from x/c.thrift too: " + advice},
		"one of them with a namespace": {[]string{"x/c.thrift", "namespace go c\nstruct A {}", "y/c.thrift", "struct B {}", "root.thrift", "include 'x/c.thrift'\ninclude 'y/c.thrift'\nstruct R { 1: c.A a, 2: c.B b }"},
			[]string{"-package-prefix", "m", "root.thrift"}, "y/c.thrift:1:1: c/c.go would be generated from x/c.thrift too: " + advice},
		"both in one namespace": {[]string{"x/c.thrift", "namespace go p\nstruct A {}", "y/c.thrift", "struct Z {}\n", "y/d/C.thrift", "namespace py q\nnamespace go p\nstruct B {}"},
			[]string{"x/c.thrift", "y/c.thrift", "y/d/C.thrift"}, "y/d/C.thrift:2:14: p/C.go would be generated from x/c.thrift too: " + advice},
		"far apart": {[]string{"x/c.thrift", "struct A {}", "y/c.thrift", "\nstruct B {}", "x.thrift", "namespace go x\ninclude 'x/c.thrift'\nstruct X { 1: c.A a }",
			"root.thrift", "include 'x.thrift'\ninclude 'y/c.thrift'\nstruct R { 1: x.X a, 2: c.B b }"},
			[]string{"-package-prefix", "m", "root.thrift"}, "y/c.thrift:1:1: c/c.go would be generated from x/c.thrift too: " + advice},
		"case only": {[]string{"a.thrift", "namespace go a.b\nstruct A {}", "b.thrift", "namespace go a.B\nstruct B {}"},
			[]string{"a.thrift", "b.thrift"}, `b.thrift:1:14: packages a/b and a/B differ in the case of letters only, which Go refuses: change one "namespace go"`},
		"internal": {[]string{"a.thrift", "namespace go a.internal.b\nstruct A {}", "b.thrift", "namespace go b\n\n include 'a.thrift'\nstruct B { 1: a.A a }"},
			[]string{"-package-prefix", "m", "b.thrift"}, `b.thrift:3:2: Go does not let package b import a/internal/b: rename the folder called internal in its "namespace go"`},
		"internal twice": {[]string{"a.thrift", "namespace go a.internal.b.internal\nstruct A {}", "b.thrift", "namespace go a.internal\ninclude 'a.thrift'\nstruct B { 1: a.A a }"},
			[]string{"-r", "-package-prefix", "m", "b.thrift"}, `b.thrift:2:1: Go does not let package a/internal import a/internal/b/internal: rename the folder called internal in its "namespace go"`},
		"prefix with a space": {[]string{"a.thrift", "struct A {}", "b.thrift", "include 'a.thrift'\nstruct B { 1: a.A a }"},
			[]string{"-r", "-package-prefix", "my gen", "b.thrift"}, `b.thrift:1:1: "my gen" is no import path that Go allows: give another -package-prefix or output directory`},
		"prefix with a quote": {[]string{"a.thrift", "struct A {}", "b.thrift", "include 'a.thrift'\nstruct B { 1: a.A a }"},
			[]string{"-r", "-package-prefix", "m\"\n", "b.thrift"}, `b.thrift:1:1: "m\"\n" is no import path that Go allows: give another -package-prefix or output directory`},
		"no prefix": {[]string{"go.mod", "module h.org/m", "a.thrift", "struct A {}", "b.thrift", "\n include 'a.thrift'\nstruct B { 1: a.A a }"},
			[]string{"b.thrift"}, "b.thrift:2:2: the import path of package a is needed: give -package-prefix, or -r to generate it too"},
		"relative prefix": {[]string{"a.thrift", "struct A {}", "b.thrift", "include 'a.thrift'\nstruct B { 1: a.A a }"},
			[]string{"-r", "-package-prefix", "./gen/..", "b.thrift"}, `b.thrift:1:1: "./gen/.." is no import path that Go allows: give another -package-prefix or output directory`},
	} {
		t.Run(name, func(t *testing.T) {
			files(t, test.files...)
			code, _, stderr := nocopyc(append([]string{"-o", "out"}, test.args...)...)
			want := test.want + "\n"
			if diff := cmp.Diff(want, stderr); diff != "" || code != 1 {
				t.Errorf("exit code %d (-want +got):\n%s", code, diff)
			}
			if _, err := os.Stat("out"); err == nil {
				t.Error("something was written")
			}
		})
	}
}
