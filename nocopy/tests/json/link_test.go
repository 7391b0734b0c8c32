package nocopyjson_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestNotLinked: a program without JSON contains no JSON code except what log/slog uses and the
// initialization of package variables. Its module graph has one more requirement. With Go 1.26 the
// second version of encoding/json is a module, and log/slog does not link it: its initialization
// then takes some kilobytes. The code that reads and writes JSON would take hundreds.
func TestNotLinked(t *testing.T) {
	const initialization = 8 << 10 // bytes
	run := func(args ...string) string {
		t.Helper()
		out, err := exec.Command("go", args...).CombinedOutput()
		if err != nil {
			t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	symbols := func(source string) map[string]string { // name → size and type
		t.Helper()
		program := filepath.Join(t.TempDir(), "program")
		run("build", "-o", program, source)
		all := map[string]string{}
		for line := range strings.Lines(run("tool", "nm", "-size", program)) {
			if f := strings.Fields(line); len(f) >= 4 && strings.Contains(strings.ToLower(line), "json") {
				all[strings.Join(f[3:], " ")] = f[1] + " " + f[2]
			}
		}
		return all
	}
	total, logs := 0, symbols("testdata/slog.go")
	for name, is := range symbols("testdata/plain.go") {
		if _, ok := logs[name]; ok { // log/slog imports encoding/json
			continue
		}
		digits, typ, _ := strings.Cut(is, " ")
		ours := strings.HasPrefix(name, "github.com/nocopythrift/")
		if ours && strings.ToLower(typ) == "t" && !strings.HasSuffix(name, ".init") {
			t.Errorf("%s is linked", name)
		}
		size := 0
		for _, c := range digits {
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
			if !strings.HasPrefix(line, "github.com/go-json-experiment/json") {
				t.Error(line)
			}
		}
	}
	t.Log(ours, "packages of ours,", others, "others")
}
