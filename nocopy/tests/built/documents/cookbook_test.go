package documents_test

import (
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
)

// TestCookbook: each task of docs/cookbook.md has one block of 4 to 15 lines, and what it prints.
// TestBlocks compares that; or a comment names the module whose tests do. The lists at the top
// have all tasks, and the packages that the blocks import.
func TestCookbook(t *testing.T) {
	page, err := os.ReadFile("docs/cookbook.md")
	if err != nil {
		t.Fatal(err)
	}
	list, _, _ := strings.Cut(string(page), "\n## ")
	tasks := strings.Split(string(page), "\n### ")[1:]
	if len(tasks) < 20 {
		t.Errorf("only %d tasks", len(tasks))
	}
	for _, task := range tasks {
		title, _, _ := strings.Cut(task, "\n")
		blocks := goBlock.FindAllStringSubmatch(task, -1)
		if len(blocks) != 1 {
			t.Errorf("%s: %d blocks of Go", title, len(blocks))
			continue
		}
		if n := strings.Count(blocks[0][1], "\n"); n < 4 || n > 15 {
			t.Errorf("%s: %d lines", title, n)
		}
		for line := range strings.Lines(importsOf(blocks[0][1])) {
			imported := strings.Trim(line, "\t\n\"")
			if strings.Contains(imported, ".") && !strings.Contains(list, "`"+path.Base(imported)+"`") {
				t.Errorf("%s: package %s is not in the list of packages", title, imported)
			}
		}
		if !goPrints.MatchString(task) && !withModules.MatchString(task) {
			t.Errorf("%s: nothing runs the block", title)
		}
		anchor := regexp.MustCompile(`[^\w -]`).ReplaceAllString(strings.ToLower(title), "")
		if !strings.Contains(list, "(#"+strings.ReplaceAll(anchor, " ", "-")+")") {
			t.Errorf("%s is not in the list at the top", title)
		}
	}
}
