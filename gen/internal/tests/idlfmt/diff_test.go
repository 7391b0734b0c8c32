package idlfmt_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nocopythrift/nocopythrift/gen/idlfmt"
)

func TestDiff(t *testing.T) {
	got := idlfmt.Diff("f", "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk", "a\nB\nc\nd\ne\nf\ng\nh\ni\nj\nk\n")
	want := "--- f.orig\n+++ f\n@@ -1,5 +1,5 @@\n a\n-b\n+B\n c\n d\n e\n@@ -8,4 +8,4 @@\n h\n i\n j\n-k\n\\ No newline at end of file\n+k\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := idlfmt.Diff("f", "a", "a"); got != "" {
		t.Errorf("of equal texts: %q", got)
	}
}

// TestPatch: git applies the diffs of random texts.
func TestPatch(t *testing.T) {
	dir := t.TempDir()
	r := rand.New(rand.NewPCG(1, 2))
	text := func() string {
		var b strings.Builder
		for range r.IntN(30) {
			fmt.Fprintf(&b, "%d\n", r.IntN(15))
		}
		if r.IntN(3) == 0 {
			b.WriteString("end")
		}
		return b.String()
	}
	for range 60 {
		old, new := text(), text()
		diff := idlfmt.Diff("f", old, new)
		if diff == "" || old == "" || new == "" {
			continue // git needs another form for new and removed files
		}
		name := filepath.Join(dir, "f")
		if err := os.WriteFile(name, []byte(old), 0o666); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("git", "apply", "-p0", "--unidiff-zero", "-")
		cmd.Dir = dir
		cmd.Stdin = strings.NewReader(strings.Replace(diff, "f.orig", "f", 1))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s\n%q → %q\n%s", err, out, old, new, diff)
		}
		if got, err := os.ReadFile(name); err != nil || string(got) != new {
			t.Fatalf("%q → %q gives %q (%v):\n%s", old, new, got, err, diff)
		}
	}
}
