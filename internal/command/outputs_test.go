package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCheckOutputs: a file is refused as an output if it is an input or another output, by
// whatever name.
func TestCheckOutputs(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"in", "same"} { // of the same size
		if err := os.WriteFile(name, []byte("text"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	os.Symlink("in", "symlink")
	os.Link("in", "link")
	os.Mkdir("dir", 0o700)
	os.Symlink("dir", "other")
	here, _ := os.Getwd()
	for _, c := range []struct {
		outputs []string
		want    string // "": no error
	}{
		{[]string{"", "new", "", "-", "-", os.DevNull, os.DevNull, "same", filepath.Join(here, "other/new")}, ""},
		{[]string{"new", "./in"}, "./in would be overwritten"}, {[]string{"link"}, "link would be"}, {[]string{filepath.Join(here, "in")}, "in would be overwritten"},
		{[]string{"symlink"}, "symlink would be"}, {[]string{"new", filepath.Join(here, "new")}, "written twice: name another file than new"},
		{[]string{"dir/new", "other/new"}, "than dir/new"}, {[]string{"same", "./same"}, "./same would be written twice"},
	} {
		err := CheckOutputs(c.outputs, []string{"in", "absent", "absent", "in", ""})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%v: %v", c.outputs, err)
		}
	}
}
