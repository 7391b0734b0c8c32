// Package inline_test looks at what the compiler inlines.
package inline_test

import (
	"flag"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestInline: functions that read a scalar are inlined.
func TestInline(t *testing.T) {
	t.Parallel()
	names := inlinable(t)
	for _, name := range []string{
		"engine.Struct.Has", "engine.Struct.Bool", "engine.Struct.Int8", "engine.Struct.Int16", "engine.Struct.Int32", "engine.Struct.Int64", "engine.Struct.Float64", "engine.Struct.UUID",
		"BoolList.At", "Int8List.At", "Int16List.At", "Int32List.At", "Int64List.At", "Float64List.At", "UUIDList.At",
	} {
		if !slices.Contains(names, name) {
			t.Errorf("%s is not inlined", name)
		}
	}
}

const nocopy = "github.com/nocopythrift/nocopythrift/nocopy"

// inlinable returns the functions of package nocopy, and of the packages in its internal folder,
// that the compiler can inline, sorted. env is added to the go command's environment.
func inlinable(t *testing.T, env ...string) []string {
	t.Helper()
	c := exec.Command("go", "build", "-trimpath", "-gcflags=-m=2", nocopy, nocopy+"/internal/...")
	c.Env = append(os.Environ(), env...)
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var names []string
	typeArgs := regexp.MustCompile(`\[.*\]`)
	said := regexp.MustCompile(`(?m)^github.com/nocopythrift/nocopythrift(?:@[^/]+)?/nocopy/(?:internal/([a-z]+/))?[^/]+: can inline (.*) with cost `)
	for _, m := range said.FindAllSubmatch(out, -1) {
		name := typeArgs.ReplaceAllString(strings.Replace(string(m[1]), "/", ".", 1)+string(m[2]), "")
		// The compiler numbers function literals, and the functions that it makes for defer and
		// range.
		if !strings.Contains(name, ".func") && !strings.Contains(name, "-range") && !strings.Contains(name, "deferwrap") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

var writeInlinable = flag.Bool("inline.write", false, "write testdata/list.txt anew")

// TestInlinable: a function that could be inlined before still can. The list is for amd64; on
// 32-bit machines it is a little shorter.
func TestInlinable(t *testing.T) {
	t.Parallel()
	const file = "testdata/list.txt"
	names := inlinable(t, "GOARCH=amd64", "GOOS=linux")
	if *writeInlinable {
		if err := os.WriteFile(file, []byte(strings.Join(names, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	list, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for name := range strings.Lines(string(list)) {
		name = strings.TrimSpace(name)
		if _, ok := slices.BinarySearch(names, name); !ok {
			t.Errorf("%s is not inlined any more, or is gone: go test -C nocopy/tests ./built/inline -run TestInlinable -inline.write writes the list anew", name)
		}
		n++
	}
	if n < 300 {
		t.Errorf("%s has %d names only", file, n)
	}
}
