package nocopyc_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nocopythrift/nocopythrift/internal/testmode"
)

// TestSeen: for any names of namespaces and files, and any comments, the go command sees the
// generated code, and go vet finds nothing.
func TestSeen(t *testing.T) {
	dir := newModule(t, "m")
	var list []string
	add := func(name, text string) { list = append(list, name+".thrift", text) }
	// One struct per namespace; all of them are imported.
	all, n := "namespace go all\n", 0
	for _, ns := range strings.Fields(`_ _a a._ a._b.c testdata a.testdata.b vendor a.vendor internal internal.a main a.main type go.func
		a.init x.string error nocopy rpc context documentation a.documentation foo_test builtin unsafe C cmd std all.x con a.AUX lpt1.x v2 x.v2 linux a.amd64 test`) {
		n++
		base := "n" + strings.ReplaceAll(strings.ReplaceAll(ns, ".", "x"), "_", "u")
		add(base, "namespace go "+ns+"\n// +build ignore\nstruct S { 1: i32 a\n}\nservice V {\n//go:build ignore\nvoid readByte() }\nenum E { A = 1 }")
		all = "include '" + base + ".thrift'\n" + all + "struct S" + base + " { 1: " + base + ".S s, 2: list<" + base + ".E> e }\n"
	}
	add("all", all)
	// Files without a namespace, one package each.
	for _, base := range strings.Fields(`a_test b_linux c_windows_amd64 d_js_test _e .f -g -h_linux con nul.i go j.k l..m c++ a+build größe UPPER documentation testdata main
		init _ __ 1a prn_linux`) {
		n++
		add("w/"+base, "// +build ignore\n\n//line x.go:1\nstruct S {\n/* //go:build ignore */ 1: i32 a // +build x\xff\n}")
	}
	// Many files in one package.
	for _, base := range strings.Fields(`a_test a_linux b_LINUX linux windows x_arm64 _ _x _linux .x doc -x con aux.b cgo a_unix`) {
		add("one/"+base, "namespace go one\n// +build ignore\nconst i32 C"+strings.NewReplacer("-", "m", ".", "d").Replace(base)+" = 1")
	}
	t.Chdir(dir)
	for i := 0; i < len(list); i += 2 {
		writeFile(t, filepath.Join("idl", list[i]), list[i+1])
	}
	var inputs []string
	for i := 0; i < len(list); i += 2 {
		inputs = append(inputs, "idl/"+list[i])
	}
	code, _, stderr := nocopyc(append([]string{"-o", "gen"}, inputs...)...)
	for line := range strings.Lines(stderr) { // of names that are chosen for these files
		if !strings.Contains(line, " in Go: ") {
			t.Error(line)
		}
	}
	if code != 0 {
		t.Fatalf("exit code %d, %s", code, stderr)
	}
	generated := tree(t, "gen")
	if len(generated) != len(inputs) {
		t.Errorf("%d files from %d", len(generated), len(inputs))
	}
	var seen []string
	for line := range strings.Lines(goCommand(t, ".", "list", "-mod=mod", "-f", `{{$d := .ImportPath}}{{range .GoFiles}}{{$d}}/{{.}}{{"\n"}}{{end}}`, "./...")) {
		if line = strings.TrimSpace(line); line != "" {
			seen = append(seen, strings.TrimPrefix(line, "m/gen/"))
		}
	}
	slices.Sort(seen)
	slices.Sort(generated)
	if diff := cmp.Diff(generated, seen); diff != "" {
		t.Errorf("files that were generated, and that go list ./... sees (-generated +seen):\n%s", diff)
	}
	if !testmode.Long {
		typeCheck(t, "gen", "m/gen")
		return
	}
	goCommand(t, ".", "vet", "-mod=mod", "./...")
}
