package audit_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nocopythrift/nocopythrift/gen/audit"
)

// commit writes files and commits everything. files alternates names and texts.
func commit(t *testing.T, files ...string) {
	t.Helper()
	write(t, ".", files...)
	git(t, "add", "-A")
	git(t, "commit", "-qm", "x", "--allow-empty")
}

// found returns the findings, one per line, as "severity kind symbol: breaks".
func found(t *testing.T, words ...string) string {
	t.Helper()
	var lines []string
	for _, f := range load(t, audit.Input{Old: words[0], New: words[1], Files: words[2:]}, audit.Options{}) {
		lines = append(lines, fmt.Sprintf("%s %s %s: %s", f.Severity, f.Kind, f.Symbol, f.Breaks))
	}
	return strings.Join(lines, "\n")
}

// TestHistory: an id that another field had in an earlier revision is an error. An id that no
// field is known to have had is a warning.
func TestHistory(t *testing.T) {
	repository(t)
	const file = "typedef i32 Count\nstruct S { %s 7: i32 z }\nunion U { %s }\nexception X { %s }\nservice V { void f(%s) }\n"
	text := func(s, u, x, args string) string { return fmt.Sprintf(file, s, u, x, args) }
	commit(t, "idl/h.thrift", text("1: i32 a, 2: i32 b, 3: Count c, 9: string last", "1: i32 a, 2: i32 b", "1: i32 a, 2: string text", "1: i32 a, 2: bool b"))
	commit(t, "idl/h.thrift", text("1: i32 a, 2: i32 renamed, 3: i32 c,", "1: i32 a", "1: i32 a", "1: i32 a"))
	git(t, "mv", "idl/h.thrift", "idl/history.thrift")
	commit(t, "idl/history.thrift", text("1: i32 a,", "1: i32 a", "1: i32 a", "1: i32 a"))
	git(t, "tag", "old")
	write(t, ".", "idl/history.thrift", text("1: i32 a, 2: i32 b, 3: i32 c, 5: i32 e, 9: i64 last, 10: i32 new,", "1: i32 a, 2: i64 b", "1: i32 a, 2: string text", "1: i32 a, 2: i32 b"))
	want := []string{
		"error field-id-reused S.b: breaks wire", // it was called renamed
		"warning field-added-between S.e: compatible",
		"error field-id-reused S.last: breaks wire",
		"error field-id-reused U.b: breaks wire", "warning union-field-added U.b: breaks wire, json",
		"warning arguments-changed V.f: breaks source",
		"error field-id-reused f_args.b: breaks wire",
	}
	for _, args := range [][]string{{"old", "idl"}, {"old", "idl/history.thrift"}, {"HEAD:idl/history.thrift", "idl/history.thrift"}, {"old", "idl", "history.thrift"}, {":idl", "idl"}} {
		if diff := cmp.Diff(want, strings.Split(found(t, args...), "\n")); diff != "" {
			t.Errorf("%q (-want +got):\n%s", args, diff)
		}
	}
	for _, f := range load(t, audit.Input{Old: "old", New: "idl"}, audit.Options{}) {
		if f.Symbol == "S.b" && !strings.HasPrefix(f.Message, "field 2 b added to S with an id that was another field's: i32 renamed in revision ") {
			t.Error(f.Message)
		}
	}
	// Without revisions the history is unknown.
	old := text("1: i32 a,", "1: i32 a", "1: i32 a", "1: i32 a")
	write(t, ".", "disk/history.thrift", old)
	if got := found(t, "disk", "idl"); strings.Contains(got, "error") || strings.Count(got, "field-added-between") != 3 {
		t.Error(got)
	}
	// Revisions after the old one do not count.
	git(t, "checkout", "-q", "-b", "branch")
	commit(t, "idl/history.thrift", text("1: i32 a, 2: i16 draft, 8: i32 draft2,", "1: i32 a", "1: i32 a", "1: i32 a"))
	commit(t, "idl/history.thrift", text("1: i32 a, 4: i32 draft,", "1: i32 a", "1: i32 a", "1: i32 a"))
	if got := found(t, "old", "HEAD", "idl"); got != "warning field-added-between S.draft: compatible" {
		t.Error(got)
	}
	commit(t, "idl/history.thrift", text("1: i32 a, 2: bool other,", "1: i32 a", "1: i32 a", "1: i32 a"))
	git(t, "clone", "-q", "--bare", ".", "bare.git")
	t.Chdir("bare.git")
	if got := found(t, "HEAD~1:idl", "HEAD:idl"); got != "error field-removed S.draft: breaks json, source\nerror field-id-reused S.other: breaks wire" {
		t.Error(got)
	}
}

// TestOddHistories: files that are new, did not parse before, or have odd names; revisions that
// are trees; repositories without a commit.
func TestOddHistories(t *testing.T) {
	repository(t)
	const before, after = "struct S { 1: i32 a, 3: i32 c }", "struct S { 1: i32 a, 2: i32 b, 3: i32 c }"
	between := "warning field-added-between S.b: compatible"
	reused := "error field-id-reused S.b: breaks wire"
	name := ":(top)*\t\"é.thrift"
	commit(t, name, "struct S { 1: i32 a, 2: i64 b, 3: i32 c }\nstruct {")
	commit(t, name, "struct S {")
	commit(t, name, before)
	for i := range 3 { // commits with only other files
		commit(t, "other.thrift", fmt.Sprintf("const i32 C = %d", i))
	}
	write(t, ".", name, after, "new/n.thrift", before)
	for _, test := range []struct{ in, want string }{
		{"HEAD: .", reused}, {"HEAD^{tree}: .", between}, {": .", reused},
	} {
		words := strings.Fields(test.in)
		if got := found(t, append(words, name)...); got != test.want {
			t.Errorf("%s: %s, want %s", test.in, got, test.want)
		}
	}
	git(t, "add", "new")
	write(t, ".", "new/n.thrift", after)
	if got := found(t, ":new", "new"); got != between {
		t.Error(got)
	}
	if err := os.Mkdir("empty", 0o777); err != nil {
		t.Fatal(err)
	}
	t.Chdir("empty")
	git(t, "init", "-q", "-b", "main")
	write(t, ".", "n.thrift", before)
	git(t, "add", ".")
	write(t, ".", "n.thrift", after)
	if got := found(t, ":", "."); got != between {
		t.Error(got)
	}
}

// TestFilesFollow: FILEs are looked for in both arguments.
func TestFilesFollow(t *testing.T) {
	repository(t)
	const want = "error field-type-changed C.x: breaks wire, json, source"
	for _, in := range []string{"HEAD :idl", "HEAD :idl common", "HEAD :idl common/c.thrift", "HEAD : idl", "v1 idl common", "v1 . idl", ":idl idl common", "v1:idl HEAD common"} {
		words := strings.Fields(in)
		if got := found(t, words...); got != want {
			t.Errorf("%s: %s", in, got)
		}
	}
	for in, text := range map[string]string{
		"HEAD :idl idl":      "idl is neither in HEAD:idl nor in :idl: files to be compared are paths in these",
		"HEAD idl idl":       "idl is neither in HEAD:idl nor in idl",
		"HEAD:idl :idl idl":  "idl is neither in HEAD:idl nor in :idl",
		"v1 HEAD common":     "common is neither in v1:. nor in HEAD:.",
		"v1:idl HEAD:idl no": "no is neither in",
	} {
		words := strings.Fields(in)
		if _, _, err := audit.Load(audit.Input{Old: words[0], New: words[1], Files: words[2:]}); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: %v, want %s", in, err, text)
		}
	}
}
