//go:build unix

package lsp

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// pipe replaces a file by a pipe: who opens it waits for ever.
func (e *editor) pipe(name string) {
	e.Helper()
	_ = os.Remove(e.path(name))
	if err := syscall.Mkfifo(e.path(name), 0o666); err != nil {
		e.Skip(err)
	}
}

// TestGitHangs opens files in repositories for which git does not end. All but the comparison with
// the last commit goes on.
func TestGitHangs(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git")
	}
	for _, name := range []string{"HEAD", "config"} {
		t.Run(name, func(t *testing.T) {
			e := newEditor(t, "-- x/a.thrift --\nstruct A {}\n-- b.thrift --\nstruct B {}\n")
			if out, err := exec.Command("git", "-C", e.path("x"), "init", "-q").CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			e.pipe("x/.git/" + name)
			e.open("x/a.thrift", "struct A {}\n")
			e.problems("x/a.thrift", anything)
			for range 3 {
				e.change("x/a.thrift", "struct A { 1: B b }\n")
				e.problems("x/a.thrift", func(s string) bool { return strings.Contains(s, "unknown type B") })
				e.actions("x/a.thrift", 1, 1)
			}
			e.open("b.thrift", "struct B { 1: C c }\n")
			e.problems("b.thrift", func(s string) bool { return strings.Contains(s, "unknown type C") })
		})
	}
}

// TestConfigurationIsPipe opens a folder whose configuration can't be read to its end.
func TestConfigurationIsPipe(t *testing.T) {
	e := newEditor(t, "-- a.thrift --\nstruct A {}\n")
	e.pipe(".nocopylint.toml")
	e.open("a.thrift", "struct A { 1: B b }\n")
	e.notify("textDocument/didSave", textDocument(e, "a.thrift"))
	e.problems("a.thrift", func(s string) bool { return strings.Contains(s, "unknown type B") })
}
