package schema_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/gen/schema"
)

// TestBundle: the files of a bundle find each other, however they did on the disk, and do not say
// where they were.
func TestBundle(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		root  string
		dirs  []string
		want  string
	}{
		"alone":   {map[string]string{"in/a.thrift": "struct A {}"}, "in/a.thrift", nil, "a.thrift"},
		"beside":  {map[string]string{"a.thrift": `include "b.thrift"`, "b.thrift": ""}, "a.thrift", nil, "a.thrift b.thrift"},
		"below":   {map[string]string{"a.thrift": `include "in/b.thrift"`, "in/b.thrift": `include "c.thrift"`, "in/c.thrift": ""}, "a.thrift", nil, "a.thrift in/b.thrift in/c.thrift"},
		"above":   {map[string]string{"x/in/a.thrift": `include "../b.thrift"`, "x/b.thrift": ""}, "x/in/a.thrift", nil, "in/a.thrift b.thrift"},
		"by -I":   {map[string]string{"p/a.thrift": `include "c/b.thrift"`, "q/c/b.thrift": `include "d.thrift"`, "q/c/d.thrift": ""}, "p/a.thrift", []string{"q"}, "a.thrift c/b.thrift c/d.thrift"},
		"both":    {map[string]string{"x/in/a.thrift": "include \"../b.thrift\"\ninclude \"c.thrift\"", "x/b.thrift": "", "q/c.thrift": ""}, "x/in/a.thrift", []string{"q"}, "in/a.thrift b.thrift c.thrift"},
		"diamond": {map[string]string{"a.thrift": "include \"b.thrift\"\ninclude \"c.thrift\"", "b.thrift": `include "c.thrift"`, "c.thrift": ""}, "a.thrift", nil, "a.thrift b.thrift c.thrift"},
		"clash":   {map[string]string{"a.thrift": "include \"in/b.thrift\"", "in/b.thrift": `include "a.thrift"`, "q/a.thrift": "struct Q {}"}, "a.thrift", []string{"q"}, "error"},
	} {
		dir := t.TempDir()
		t.Chdir(dir)
		for file, text := range c.files {
			if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		var dirs []string
		for _, d := range c.dirs {
			dirs = append(dirs, filepath.Join(dir, d))
		}
		for _, root := range []string{c.root, filepath.Join(dir, c.root)} {
			set, err := schema.Load([]string{root}, dirs)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			bundle, err := set.Bundle(set.Roots...)
			var paths []string
			for _, f := range bundle {
				paths = append(paths, f.Path)
			}
			have := strings.Join(paths, " ")
			if err != nil {
				have = "error"
			}
			if have != c.want {
				t.Errorf("%s: %s, %v; want %s", name, have, err, c.want)
			}
		}
	}
}

// TestBundleAbsolute: a file that is included by its absolute path has this path in the bundle,
// without the detours that the include line makes.
func TestBundleAbsolute(t *testing.T) {
	dir := t.TempDir()
	slashed := filepath.ToSlash(dir)
	if err := os.Mkdir(filepath.Join(dir, "x"), 0o777); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{slashed + "/b.thrift", slashed + "/x/../b.thrift", slashed + "//b.thrift", slashed + "/./b.thrift"} {
		for file, text := range map[string]string{"a.thrift": `include "` + line + `"`, "b.thrift": `include "c.thrift"`, "c.thrift": ""} {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		set, err := schema.Load([]string{filepath.Join(dir, "a.thrift")}, nil)
		if err != nil {
			t.Fatal(err)
		}
		bundle, err := set.Bundle(set.Roots...)
		if err != nil || len(bundle) != 3 || bundle[1].Path != slashed+"/b.thrift" || bundle[2].Path != slashed+"/c.thrift" {
			t.Errorf("include %q: %v, %v", line, bundle, err)
		}
	}
}
