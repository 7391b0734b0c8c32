package nocopyjson_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestNotLinked: a program that does not use JSON has nothing of it but what initializes the
// packages' variables, and its module graph has one requirement more.
func TestNotLinked(t *testing.T) {
	const initialization = 1 << 10 // bytes
	run := func(args ...string) string {
		t.Helper()
		out, err := exec.Command("go", args...).CombinedOutput()
		if err != nil {
			t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	program := filepath.Join(t.TempDir(), "plain")
	run("build", "-o", program, "testdata/plain.go")
	total := 0
	for line := range strings.Lines(run("tool", "nm", "-size", program)) {
		f := strings.Fields(line)
		if len(f) < 4 || !strings.Contains(strings.ToLower(line), "json") {
			continue
		}
		name := strings.Join(f[3:], " ")
		if strings.ToLower(f[2]) == "t" && !strings.HasSuffix(name, ".init") && !strings.HasPrefix(name, "type:.eq.") {
			t.Errorf("%s is linked", name)
		}
		size := 0
		for _, c := range f[1] {
			size = 10*size + int(c-'0')
		}
		total += size
	}
	if total > initialization {
		t.Errorf("%d bytes", total)
	}
	t.Log(total, "bytes")
	ours, others := 0, 0
	for line := range strings.Lines(run("list", "-deps", "testdata/plain.go")) {
		switch {
		case strings.HasPrefix(line, "github.com/nocopythrift/"):
			ours++
		case strings.Contains(strings.Split(line, "/")[0], "."):
			others++
			if !strings.HasPrefix(line, "github.com/go-json-experiment/json/") {
				t.Error(line)
			}
		}
	}
	t.Log(ours, "packages of ours,", others, "others")
}
