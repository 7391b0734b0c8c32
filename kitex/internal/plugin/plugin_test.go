// Package plugin compares what thrift-gen-nocopy makes, run by thriftgo and by Kitex's generator,
// with what nocopyc makes.
package plugin

import (
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// tools builds the generators, ours and the real ones, and returns the folder that they are in.
func tools(t *testing.T) string {
	t.Helper()
	bin := t.TempDir()
	cmd := exec.Command("go", "build", "-o", bin+"/", "github.com/nocopythrift/nocopythrift/gen/nocopyc",
		"github.com/nocopythrift/nocopythrift/gen/thrift-gen-nocopy",
		"github.com/cloudwego/thriftgo", "github.com/cloudwego/kitex/tool/cmd/kitex")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return bin
}

// command runs a command in a folder and returns what it prints.
func command(t *testing.T, dir, bin, name string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.Command(filepath.Join(bin, name), args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// goFiles returns the files below a folder, by their paths in it.
func goFiles(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		files[name] = string(text)
		return err
	})
	if err != nil {
		t.Error(err)
	}
	return files
}

// sources writes the files of a module into a new folder, which it returns.
func sources(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	shop, err := os.ReadFile("../shop/shop.thrift")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"go.mod":                 "module example.com/m\n",
		"shop.thrift":            string(shop),
		"idl/parts.thrift":       "namespace go shop.parts\n\n// Parts of a thing.\nstruct Part { 1: string name /* its name */ }\nservice Store { Part get(1: Part p) }\n",
		"idl/more/common.thrift": "namespace go common\nconst string HELLO = \"hello\\n\"\nenum E { A, B = 5 }\n",
		"main.thrift": `namespace go shop.main
include "parts.thrift"
include "more/common.thrift"

/** Things have parts. */
struct Thing {
  1: list<parts.Part> parts
  2: common.E e = common.E.B // with a default
  3: optional double d = 1.50 (a.b = "c", a.b = "d")
}

service Things extends parts.Store {
  Thing make(1: Thing t)
}
`,
		"broken.thrift": "namespace go broken\nstruct S { 1: string s }\nservice Stream { S talk(1: i32 n) (streaming.mode = \"client\") }\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestSameCode compares what the plugin makes, in thriftgo and in Kitex's generator, with what
// nocopyc makes.
func TestSameCode(t *testing.T) {
	bin := tools(t)
	for _, file := range []string{"shop.thrift", "main.thrift"} {
		for name, run := range map[string]func(dir string) (string, error){
			"gen-go/nocopy": func(dir string) (string, error) {
				return command(t, dir, bin, "thriftgo", "-r", "-g", "go", "-i", "idl", "-p", "nocopy", file)
			},
			"kitex_gen/nocopy": func(dir string) (string, error) {
				return command(t, dir, bin, "kitex", "-I", "idl", "-thrift-plugin", "nocopy", "-module", "example.com/m", "-no-dependency-check", file)
			},
			"elsewhere": func(dir string) (string, error) {
				return command(t, dir, bin, "thriftgo", "-r", "-g", "go", "-i", "idl", "-p", "nocopy:out=elsewhere,package_prefix=example.com/e", file)
			},
		} {
			t.Run(file+" "+name, func(t *testing.T) {
				dir := sources(t)
				if out, err := run(dir); err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
				args := []string{"-kitex", "-r", "-I", "idl", "-o", "want/" + name, file}
				if name == "elsewhere" {
					args = append([]string{"-package-prefix", "example.com/e"}, args...)
				} else {
					args = append([]string{"-package-prefix", "example.com/m/" + name}, args...)
				}
				if out, err := command(t, dir, bin, "nocopyc", args...); err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
				got, want := goFiles(t, filepath.Join(dir, name)), goFiles(t, filepath.Join(dir, "want", name))
				if len(want) < 3 || !slices.Equal(slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want))) {
					t.Fatalf("files %q, want %q", slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
				}
				for name := range want {
					if got[name] != want[name] {
						t.Errorf("%s differs from what nocopyc makes", name)
					}
				}
			})
		}
	}
	t.Run("error", func(t *testing.T) {
		out, err := command(t, sources(t), bin, "thriftgo", "-g", "go", "-p", "nocopy", "broken.thrift")
		if err == nil || !strings.Contains(out, "broken.thrift:3:20: method talk streams") {
			t.Errorf("%v: %s", err, out)
		}
	})
	t.Run("unknown parameter", func(t *testing.T) {
		out, err := command(t, sources(t), bin, "thriftgo", "-g", "go", "-p", "nocopy:x=y", "shop.thrift")
		if err == nil || !strings.Contains(out, `unknown parameter "x"`) {
			t.Errorf("%v: %s", err, out)
		}
	})
}
