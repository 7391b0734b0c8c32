package dynamic_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/nocopythrift/nocopythrift/nocopy/descriptor"
	"github.com/nocopythrift/nocopythrift/nocopy/dynamic"
)

const shapesFile = "../../../gen/internal/shapes/shapes.thrift"

func mustLoad(t testing.TB, files ...string) *dynamic.Schema {
	t.Helper()
	s, err := dynamic.Load(files...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func mustStruct(t testing.TB, s *dynamic.Schema, name string) dynamic.Type {
	t.Helper()
	typ, err := s.Struct(name)
	if err != nil {
		t.Fatal(err)
	}
	return typ
}

func text(t testing.TB, src string) *dynamic.Schema {
	t.Helper()
	s, err := dynamic.LoadText(map[string]string{"a.thrift": src})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestConstValues(t *testing.T) {
	s := mustLoad(t, shapesFile)
	for name, want := range map[string]string{"PRIMES": "[2, 3, 5, 7]", "LIMIT": "7", "WORDS": `["one", "hello"]`, "COLORS": "[RED, BLUE]"} {
		c, err := s.Const(name)
		if err != nil || c.Value().String() != want {
			t.Errorf("%s: %v, %v", name, c.Value(), err)
		}
	}
}

// TestSameNames: files of the same name in two folders are distinguished unless they are equal.
func TestSameNames(t *testing.T) {
	texts := map[string]string{
		"x/a.thrift": "struct A { 1: i32 v }\nstruct B { 1: A a }", "y/a.thrift": "struct A { 1: i64 v }\nstruct B { 1: A a }",
		"z/a.thrift": "struct A { 1: i64 v }", "b.thrift": "include 'x/a.thrift'\nstruct C { 1: a.B b }",
	}
	s, err := dynamic.LoadText(texts)
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Struct("A")
	if err == nil || !strings.Contains(err.Error(), "x/a.thrift, y/a.thrift, z/a.thrift") {
		t.Error(err)
	}
	c := mustStruct(t, s, "b.C").New()
	b, _ := c.New("b")
	if a, _ := b.Message().New("a"); a.Message().Set("v", int64(1<<40)) == nil {
		t.Error("v of x/a.thrift is an i64")
	}
}

func TestNames(t *testing.T) {
	s, err := dynamic.LoadText(map[string]string{"a.thrift": "include 'b.thrift'\nstruct A {}", "b.thrift": "struct B {}"})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"", ".", "a", "a.", "A.", "a.B", "b.A", "a.thrift.A", "C"} {
		typ, err := s.Struct(name)
		if !errors.Is(err, descriptor.ErrNotFound) || typ.Valid() {
			t.Errorf("struct %q: %v", name, err)
		}
		if _, err := s.Enum(name); !errors.Is(err, descriptor.ErrNotFound) {
			t.Errorf("enum %q: %v", name, err)
		}
		if _, err := s.Const(name); !errors.Is(err, descriptor.ErrNotFound) {
			t.Errorf("const %q: %v", name, err)
		}
		if sv, err := s.Service(name); !errors.Is(err, descriptor.ErrNotFound) || sv.Valid() {
			t.Errorf("service %q: %v", name, err)
		}
	}
}

// TestWhere: files are found on disk, in include folders, in an fs.FS and in texts, and nowhere
// else.
func TestWhere(t *testing.T) {
	dir := t.TempDir()
	write := func(name, src string) {
		t.Helper()
		name = filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(src), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	write("idl/a.thrift", "include 'near.thrift'\ninclude 'far.thrift'\nstruct A { 1: near.N n, 2: far.F f }")
	write("idl/near.thrift", "struct N {}")
	write("inc/far.thrift", "struct F {}")
	write("secret.thrift", "struct Secret {}")
	write("idl/evil.thrift", "include '../secret.thrift'\nstruct E { 1: secret.Secret s }")
	inc := filepath.Join(dir, "inc")
	for name, load := range map[string]func() (*dynamic.Schema, error){
		"disk": func() (*dynamic.Schema, error) {
			return dynamic.Loader{Include: []string{inc}}.Load(filepath.Join(dir, "idl", "a.thrift"))
		},
		"FS": func() (*dynamic.Schema, error) {
			return dynamic.Loader{FS: os.DirFS(dir), Include: []string{"inc"}}.Load("idl/a.thrift")
		},
		"MapFS": func() (*dynamic.Schema, error) {
			return dynamic.Loader{FS: fstest.MapFS{
				"a.thrift":    {Data: []byte("include 'near.thrift'\ninclude 'far.thrift'\nstruct A { 1: near.N n, 2: far.F f }")},
				"near.thrift": {Data: []byte("struct N {}")}, "x/y/far.thrift": {Data: []byte("struct F {}")},
			}, Include: []string{"x/y"}}.Load("./a.thrift")
		},
	} {
		s, err := load()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		mustStruct(t, s, "a.A")
		mustStruct(t, s, "F")
	}
	within, err := fs.Sub(os.DirFS(dir), "idl")
	if err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{
		"out of an FS": second(dynamic.Loader{FS: within}.Load("evil.thrift")),
		"absolute":     second(dynamic.Loader{FS: within}.Load("/a.thrift")),
		"in a text":    second(dynamic.LoadText(map[string]string{"a.thrift": "include '" + filepath.Join(dir, "secret.thrift") + "'"})),
		"none":         second(dynamic.LoadText(map[string]string{"a.thrift": "include '../../../../etc/passwd'"})),
		"a folder":     second(dynamic.Load(dir)),
		"a device":     second(dynamic.Load("/dev/zero")),
		"no file":      second(dynamic.Load("nothing.thrift")),
	} {
		var list dynamic.Errors
		if !errors.As(err, &list) || list[0].Line != 1 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func second[A any](_ A, err error) error { return err }
