package nocopythrift_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestMechanisms: the table in DESIGN.md names files that exist, and their lines within a tenth.
func TestMechanisms(t *testing.T) {
	text, err := os.ReadFile("DESIGN.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile(`(?m)^\| ([^|]+) \|[^|]+\|[^|]+\| ([0-9]+) \| (.+) \|$`).FindAllStringSubmatch(string(text), -1)
	if len(rows) < 20 {
		t.Fatalf("%d rows", len(rows))
	}
	for _, row := range rows {
		want, err := strconv.Atoi(row[2])
		if err != nil {
			t.Fatal(err)
		}
		lines := 0
		for pattern := range strings.FieldsSeq(row[3]) {
			files, err := filepath.Glob(strings.Trim(pattern, "`"))
			if err != nil || len(files) == 0 {
				t.Errorf("%s: no file %s (%v)", row[1], pattern, err)
			}
			for _, file := range files {
				if strings.HasSuffix(file, "_test.go") {
					continue
				}
				src, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				lines += bytes.Count(src, []byte("\n"))
			}
		}
		if 10*max(lines-want, want-lines) > want {
			t.Errorf("%s: %d lines, and DESIGN.md says %d", row[1], lines, want)
		}
	}
}
