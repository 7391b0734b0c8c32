package faults_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// buildFaults builds the program of mistakes and returns its file.
func buildFaults(t *testing.T, tags string) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "faults")
	if out, err := exec.Command("go", "build", "-tags", tags, "-o", bin, "./testdata/faults").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return bin
}

// mistakeLine returns the number of the marked line of main.go in the function of this name.
func mistakeLine(t *testing.T, function string) int {
	t.Helper()
	src, err := os.ReadFile("testdata/faults/main.go")
	if err != nil {
		t.Fatal(err)
	}
	inside := false
	for i, line := range strings.Split(string(src), "\n") {
		if strings.HasPrefix(line, "func ") {
			inside = strings.HasPrefix(line, "func "+function+"(")
		}
		if inside && strings.HasSuffix(line, "// MISTAKE") {
			return i + 1
		}
	}
	t.Fatalf("no mistake in %s", function)
	return 0
}

// TestFaults: built with the tag nocopydebug, a program with a memory mistake ends and names the
// line of the mistake. Stale memory faults where it is read or written.
func TestFaults(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("knows how Linux reports a fault")
	}
	debug, plain := buildFaults(t, "nocopydebug"), buildFaults(t, "")
	for _, c := range []struct{ mistake, function, caught string }{
		{"stale string", "staleString", "unexpected fault address"},
		{"stale kept string", "staleKeptString", "unexpected fault address"},
		{"stale shared bytes", "staleSharedBytes", "unexpected fault address"},
		{"stale wire bytes", "staleWireBytes", "unexpected fault address"},
		{"stale room", "staleRoom", "unexpected fault address"},
		{"stale handle", "staleHandle", "used after Release"},
		{"double release", "doubleRelease", "panic: nocopy: message released twice"},
		{"leak", "leak", "leaked, made at"},
		{"lost", "lost", "nocopy: message never released, made at"},
	} {
		t.Run(c.mistake, func(t *testing.T) {
			out, err := exec.Command(debug, c.mistake).CombinedOutput()
			var exit *exec.ExitError
			if !errors.As(err, &exit) && c.mistake != "lost" { // lost messages are only reported
				t.Errorf("%s: not caught: %v\n%s", c.mistake, err, out)
				return
			}
			where := fmt.Sprintf("main.go:%d", mistakeLine(t, c.function))
			if !regexp.MustCompile(c.caught).Match(out) || !bytes.Contains(out, []byte(where)) {
				t.Errorf("%s: want %q at %s, got\n%s", c.mistake, c.caught, where, out)
			}
		})
	}
	for name, bin := range map[string]string{"none": debug, "none, without the tag": plain} {
		t.Run(name, func(t *testing.T) {
			out, err := exec.Command(bin, "none").CombinedOutput()
			if want := "36 10000\nnot caught\n"; err != nil || string(out) != want {
				t.Errorf("no mistake: %v\n%s", err, out)
			}
		})
	}
	// Without the tag the same program continues: stale memory reads as anything.
	for _, mistake := range []string{"stale string", "stale room", "double release", "leak"} {
		t.Run(mistake+", without the tag", func(t *testing.T) {
			if out, err := exec.Command(plain, mistake).CombinedOutput(); err != nil || !bytes.HasSuffix(out, []byte("not caught\n")) {
				t.Errorf("%s, without the tag: %v\n%s", mistake, err, out)
			}
		})
	}
}

// TestDependencies: package nocopy depends only on Go's standard library.
func TestDependencies(t *testing.T) {
	for _, tags := range []string{"", "nocopydebug"} {
		t.Run(tags, func(t *testing.T) {
			out, err := exec.Command("go", "list", "-deps", "-tags", tags, "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}",
				"github.com/nocopythrift/nocopythrift/nocopy").Output()
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, path := range strings.Fields(string(out)) {
				if !strings.HasPrefix(path, "github.com/nocopythrift/nocopythrift/") {
					got = append(got, path)
				}
			}
			if len(got) > 0 {
				t.Errorf("with tags %q it needs %v", tags, got)
			}
		})
	}
}
