package nocopyc_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFmt(t *testing.T) {
	const ugly, pretty, broken = "struct  A {1:i32 a}", "struct A {\n  1: i32 a\n}\n", "struct A {"
	const diff = "--- ugly.thrift.orig\n+++ ugly.thrift\n@@ -1,1 +1,3 @@\n-struct  A {1:i32 a}\n\\ No newline at end of file\n+struct A {\n+  1: i32 a\n+}\n"
	for _, test := range []struct {
		args           string
		code           int
		stdout, stderr string
		written        bool // ugly.thrift
	}{
		{"fmt", 0, pretty, "", false},
		{"fmt ugly.thrift", 0, pretty, "", false},
		{"fmt ugly.thrift pretty.thrift", 0, pretty + pretty, "", false},
		{"fmt -l .", 2, "sub/ugly.thrift\nugly.thrift\n", "broken.thrift:1:11: ", false},
		{"fmt -l ugly.thrift sub", 0, "ugly.thrift\nsub/ugly.thrift\n", "", false},
		{"fmt -check ugly.thrift", 1, "ugly.thrift\n", "", false},
		{"fmt ugly.thrift -check -d", 1, "ugly.thrift\n" + diff, "", false},
		{"fmt -check", 1, "<standard input>\n", "", false},
		{"fmt -check pretty.thrift", 0, "", "", false},
		{"fmt -check -w ugly.thrift", 1, "ugly.thrift\n", "", true},
		{"fmt -d ugly.thrift pretty.thrift", 0, diff, "", false},
		{"fmt -w ugly.thrift pretty.thrift broken.thrift", 2, "", "broken.thrift:1:11: ", true},
		{"fmt -w -l link.thrift", 0, "link.thrift\n", "", true},
		{"fmt -w", 2, "", "nocopyc: -w needs files", false},
		{"fmt no.thrift", 2, "", "nocopyc: ", false},
		{"fmt -x", 2, "", "nocopyc: unknown flag -x; see nocopyc fmt -h\n", false},
	} {
		files(t, "ugly.thrift", ugly, "pretty.thrift", pretty, "broken.thrift", broken, "sub/ugly.thrift", ugly, "sub/ugly.txt", ugly, ".sub/ugly.thrift", ugly)
		if err := os.Symlink("ugly.thrift", "link.thrift"); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod("ugly.thrift", 0o640); err != nil {
			t.Fatal(err)
		}
		code, stdout, stderr := reading(ugly, strings.Fields(test.args)...)
		if diff := cmp.Diff(test.stdout, stdout); diff != "" || code != test.code || !strings.HasPrefix(stderr, test.stderr) || test.stderr == "" && stderr != "" {
			t.Errorf("%s: exit code %d, stderr %s (-want +got):\n%s", test.args, code, stderr, diff)
		}
		want := ugly
		if test.written {
			want = pretty
		}
		got, err := os.ReadFile("ugly.thrift")
		info, err2 := os.Lstat("ugly.thrift")
		if err != nil || err2 != nil || string(got) != want || info.Mode().Perm() != 0o640 {
			t.Errorf("%s: the file has %q, %v", test.args, got, info.Mode())
		}
		if info, err := os.Lstat("link.thrift"); err != nil || info.Mode()&os.ModeSymlink == 0 {
			t.Errorf("%s: the link is gone", test.args)
		}
		if left, _ := filepath.Glob(".nocopyc-*"); len(left) > 0 {
			t.Errorf("%s: %q are left over", test.args, left)
		}
	}
}

// TestOurFiles: the .thrift files that users read first are formatted.
func TestOurFiles(t *testing.T) {
	if code, stdout, stderr := nocopyc("fmt", "-check", "../../../../examples"); code != 0 {
		t.Errorf("run go run ./gen/nocopyc fmt -w examples: exit code %d\n%s%s", code, stdout, stderr)
	}
}
