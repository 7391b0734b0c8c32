package nocopythrift_test

import (
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestMatters: the table at the end of docs/internals.md says for each matter where its code is
// and which tests fail if it breaks. Its paths exist, and all tests of messages are in a row: a
// file of the folders that stand for a matter, and of the engine, under its own name. No two of
// these files have the same name.
func TestMatters(t *testing.T) {
	text, err := os.ReadFile("docs/internals.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "| matter | code | tests |\n")
	span := regexp.MustCompile("`([^` ]+)`")
	named := map[string]bool{} // files and folders of tests
	for row := range strings.Lines(table) {
		cells := strings.Split(row, "|")
		if len(cells) != 5 {
			t.Errorf("not a row of three cells: %s", row)
			continue
		}
		for i, cell := range cells[2:4] {
			for _, m := range span.FindAllStringSubmatch(cell, -1) {
				inTests := i == 1
				if name := pathOfMatter(m[1], inTests); name == "" {
					t.Errorf("%s: there is no %s", strings.TrimSpace(cells[1]), m[1])
				} else if inTests {
					named[name] = true
				}
			}
		}
	}
	matters := []string{"parse", "fields", "containers", "edits", "handles", "limits", "wireindex", "model"}
	tests := regexp.MustCompile(`(?m)^func (Test|Fuzz|Benchmark)[A-Z]\w*\((t|f|b) `)
	files := map[string]string{} // by their base names
	found := map[string]bool{}
	sources(t, ".", func(name string, src []byte) {
		dir, below := path.Dir(name), ""
		if !strings.HasSuffix(name, "_test.go") || !tests.Match(src) {
			return
		}
		if dir != "nocopy/internal/engine" {
			if below, _ = strings.CutPrefix(dir, "nocopy/tests/"); below == dir {
				return
			}
		}
		found[below] = true
		byFile := below == "" || slices.Contains(matters, below)
		if byFile && !named[name] {
			t.Errorf("docs/internals.md has no matter for %s", name)
		} else if !byFile && !named[dir] {
			t.Errorf("docs/internals.md has no matter for %s", dir)
		}
		if byFile || below == "elements" {
			base := path.Base(name)
			if twin := files[base]; twin != "" {
				t.Errorf("%s and %s have the same name", name, twin)
			}
			files[base] = name
		}
	})
	for _, matter := range matters {
		if !found[matter] {
			t.Errorf("no tests of %s", matter)
		}
	}
}

// pathOfMatter returns the path of what a row of the table calls name, or "". A row's tests may
// be in a folder whose name code has, too.
func pathOfMatter(name string, test bool) string {
	roots := []string{".", "nocopy/internal", "nocopy/tests"}
	if test {
		slices.Reverse(roots)
	}
	for _, root := range roots {
		full := path.Join(root, name)
		info, err := os.Stat(full)
		if err != nil || info.IsDir() != !strings.Contains(path.Base(name), ".") {
			continue
		}
		return full
	}
	return ""
}
