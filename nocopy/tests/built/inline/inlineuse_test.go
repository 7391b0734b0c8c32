package inline_test

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// TestInliningWhereUsed: reading a field or element costs a program no call. Comments in
// testdata/use.go name the calls that must be inlined, line by line; the compiler reports those
// that it inlines.
func TestInliningWhereUsed(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("go", "build", "-gcflags=-m=1", "./testdata").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	source, err := os.ReadFile("testdata/use.go")
	if err != nil {
		t.Fatal(err)
	}
	wanted := regexp.MustCompile(`// inlines (\S+)$`)
	n := 0
	for i, line := range strings.Split(string(source), "\n") {
		m := wanted.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		n++
		said := regexp.MustCompile(fmt.Sprintf(`(?m)use\.go:%d:\d+: inlining call to %s$`, i+1, regexp.QuoteMeta(m[1])))
		if !said.Match(out) {
			t.Errorf("testdata/use.go:%d: %s is not inlined", i+1, m[1])
		}
	}
	if n < 25 {
		t.Errorf("only %d calls are looked at", n)
	}
}
