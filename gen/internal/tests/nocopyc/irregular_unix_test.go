//go:build unix

package nocopyc_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/nocopythrift/nocopythrift/gen/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/dynamic"
)

// TestIrregularFiles: all commands that read .thrift files refuse pipes, devices and files that
// are too large.
func TestIrregularFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := syscall.Mkfifo("pipe.thrift", 0o666); err != nil {
		t.Fatal(err)
	}
	writeFile(t, "large.thrift", "struct S {}\n")
	if err := os.Truncate("large.thrift", schema.MaxFile+1); err != nil {
		t.Fatal(err)
	}
	writeFile(t, "good.thrift", "struct S {}\n")
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for name, reason := range map[string]string{
		"pipe.thrift": "not a regular file", "/dev/zero": "not a regular file", "large.thrift": "larger than 16 MiB",
	} {
		writeFile(t, "main.thrift", "include '"+name+"'\nstruct S {}\n")
		for _, args := range [][]string{
			{"-check", name}, {"-check", "main.thrift"}, {"fmt", name}, {"fmt", "-w", name},
			{"-audit", "good.thrift", name}, {"-audit", "main.thrift", "good.thrift"},
		} {
			code, out, stderr := nocopyc(args...)
			if code == 0 || out != "" || !strings.Contains(stderr, name+": "+reason) {
				t.Errorf("nocopyc %q: exit code %d, %q, %s", args, code, out, stderr)
			}
		}
		if name == "large.thrift" {
			continue // Loader.MaxBytes bounds these
		}
		for _, file := range []string{name, "main.thrift"} {
			if _, err := dynamic.Load(file); err == nil || !strings.Contains(err.Error(), reason) {
				t.Errorf("dynamic.Load(%s): %v", file, err)
			}
			if filepath.IsAbs(name) {
				continue
			}
			if _, err := (dynamic.Loader{FS: os.DirFS(dir)}).Load(file); err == nil || !strings.Contains(err.Error(), reason) {
				t.Errorf("Load(%s) of a file system: %v", file, err)
			}
		}
	}
}

// TestFolders: a folder stands for the .thrift files below it, and must have some.
func TestFolders(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.Mkdir("idl", 0o777); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"-check", "idl"}, {"-o", "out", "idl"}} {
		code, out, stderr := nocopyc(args...)
		if code != 1 || out != "" || !strings.Contains(stderr, "nocopyc: idl has no .thrift files") {
			t.Errorf("nocopyc %q: exit code %d, %q, %s", args, code, out, stderr)
		}
	}
	for name, text := range map[string]string{"idl/a.thrift": "struct A {}", "idl/sub/b.thrift": "struct B { 1: C c }", "idl/.git/c.thrift": "struct"} {
		writeFile(t, name, text)
	}
	if code, _, stderr := nocopyc("-check", "idl"); code != 1 || stderr != "idl/sub/b.thrift:1:15: unknown type C\n" {
		t.Errorf("exit code %d, %s", code, stderr)
	}
	writeFile(t, "idl/sub/b.thrift", "struct B {}")
	if code, _, stderr := nocopyc("-o", "out", "idl"); code != 0 || stderr != "" {
		t.Errorf("exit code %d, %s", code, stderr)
	}
	if got := tree(t, "out"); len(got) != 2 {
		t.Errorf("out has %q", got)
	}
}
