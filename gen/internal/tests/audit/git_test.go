package audit_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nocopythrift/nocopythrift/gen/audit"
)

// git runs git in the current folder.
func git(t *testing.T, args ...string) {
	t.Helper()
	cmd := exec.Command("git", args...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// repository makes a git repository with two commits, a staged and an unstaged change, and changes
// to its folder.
func repository(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	t.Chdir(dir)
	for _, name := range []string{"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"} {
		t.Setenv(name, "") // restored afterwards
		os.Unsetenv(name)
	}
	for _, name := range []string{"GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"} {
		t.Setenv(name, "x")
	}
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	git(t, "init", "-q", "-b", "main")
	write(t, dir, "idl/a.thrift", "include 'common/c.thrift'\nstruct A { 1: c.C c }", "idl/common/c.thrift", "struct C { 1: i16 x }",
		"idl/odd\nname.thrift", "struct O { 1: i16 x }", "top.thrift", "struct T { 1: i16 x }")
	if err := os.Symlink("top.thrift", "link.thrift"); err != nil {
		t.Fatal(err)
	}
	git(t, "add", ".")
	git(t, "commit", "-qm", "one")
	git(t, "tag", "v1")
	write(t, dir, "idl/common/c.thrift", "struct C { 1: i32 x }")
	git(t, "commit", "-qam", "two")
	write(t, dir, "idl/common/c.thrift", "struct C { 1: i64 x }")
	git(t, "add", ".")
	write(t, dir, "idl/common/c.thrift", "struct C { 1: bool x }")
}

func TestGit(t *testing.T) {
	repository(t)
	for _, test := range []struct {
		in   string // the current folder, then OLD, NEW and FILEs
		want string // places and types of its finding, or ""
	}{
		{". v1 HEAD", "HEAD:idl/common/c.thrift v1:idl/common/c.thrift i16 to i32"},
		{". HEAD~1 main", "main:idl/common/c.thrift HEAD~1:idl/common/c.thrift i16 to i32"},
		{". v1 .", "idl/common/c.thrift v1:idl/common/c.thrift i16 to bool"},
		{". v1 idl/a.thrift", "idl/common/c.thrift v1:idl/common/c.thrift i16 to bool"},
		{". v1:idl/a.thrift idl/a.thrift", "idl/common/c.thrift v1:idl/common/c.thrift i16 to bool"},
		{". v1:idl HEAD:idl", "HEAD:idl/common/c.thrift v1:idl/common/c.thrift i16 to i32"},
		{". v1: HEAD:", "HEAD:idl/common/c.thrift v1:idl/common/c.thrift i16 to i32"},
		{". v1:idl HEAD", "HEAD:idl/common/c.thrift v1:idl/common/c.thrift i16 to i32"},
		{". v1 HEAD:idl/a.thrift", "HEAD:idl/common/c.thrift v1:idl/common/c.thrift i16 to i32"},
		{"idl v1 HEAD:./a.thrift", "HEAD:idl/common/c.thrift v1:idl/common/c.thrift i16 to i32"},
		{"idl v1 HEAD a.thrift", "HEAD:idl/common/c.thrift v1:idl/common/c.thrift i16 to i32"},
		{"idl v1 HEAD common", "HEAD:idl/common/c.thrift v1:idl/common/c.thrift i16 to i32"},
		{"idl v1 HEAD ../top.thrift", ""},
		{"idl/common v1 HEAD", "HEAD:idl/common/c.thrift v1:idl/common/c.thrift i16 to i32"},
		{". HEAD :idl/a.thrift", ":idl/common/c.thrift HEAD:idl/common/c.thrift i32 to i64"},
		{". HEAD: :0:", ":idl/common/c.thrift HEAD:idl/common/c.thrift i32 to i64"},
		{". :idl idl", "idl/common/c.thrift :idl/common/c.thrift i64 to bool"},
		{". HEAD@{0}:idl v1:idl", "v1:idl/common/c.thrift HEAD@{0}:idl/common/c.thrift i32 to i16"},
		{". v1:link.thrift top.thrift", ""},
	} {
		t.Run(test.in, func(t *testing.T) {
			words := strings.Fields(test.in)
			t.Chdir(words[0])
			var got []string
			for _, f := range load(t, audit.Input{Old: words[1], New: words[2], Files: words[3:]}, audit.Options{}) {
				_, types, _ := strings.Cut(f.Message, "from ")
				got = append(got, f.New.Filename+" "+f.Old.Filename+" "+types)
			}
			if diff := cmp.Diff(test.want, strings.Join(got, "\n")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestGitDirs: folders for included files are read from the revision, too.
func TestGitDirs(t *testing.T) {
	repository(t)
	write(t, ".", "b.thrift", "include 'c.thrift'\nstruct B { 1: c.C c }")
	git(t, "add", "b.thrift")
	git(t, "commit", "-qm", "three")
	found := load(t, audit.Input{Old: "HEAD:b.thrift", New: "b.thrift", OldDirs: []string{"idl/common"}, NewDirs: []string{"idl/common"}}, audit.Options{})
	if len(found) != 1 || !strings.Contains(found[0].Message, "from i64 to bool") {
		t.Error(found)
	}
}

// TestBareRepository: a repository without files on disk has revisions, too.
func TestBareRepository(t *testing.T) {
	repository(t)
	git(t, "clone", "-q", "--bare", ".", "bare.git")
	t.Chdir("bare.git")
	for _, args := range [][]string{{"v1", "main"}, {"v1:idl", "main:idl"}, {"v1:idl/a.thrift", "main"}, {"v1", "main", "idl/a.thrift"}} {
		found := load(t, audit.Input{Old: args[0], New: args[1], Files: args[2:]}, audit.Options{})
		if len(found) != 1 || found[0].New.Filename != "main:idl/common/c.thrift" {
			t.Errorf("%q: %v", args, found)
		}
	}
}

// TestHook: staged files can be compared in a hook, in which git sets its environment variables.
func TestHook(t *testing.T) {
	repository(t)
	t.Setenv("GIT_DIR", ".git")
	t.Setenv("GIT_INDEX_FILE", ".git/index")
	for _, args := range [][]string{{"HEAD", ":"}, {"HEAD", ":idl/a.thrift"}, {"HEAD:idl", ":idl"}} {
		found := load(t, audit.Input{Old: args[0], New: args[1]}, audit.Options{})
		if len(found) != 1 || found[0].New.Filename != ":idl/common/c.thrift" {
			t.Errorf("%q: %v", args, found)
		}
	}
	if found := load(t, audit.Input{Old: "HEAD", New: "idl"}, audit.Options{}); len(found) != 1 {
		t.Error(found)
	}
}

func TestGitErrors(t *testing.T) {
	repository(t)
	for _, test := range []struct{ old, want string }{
		{"no", "no: there is no such file, folder or git revision"},
		{"no:top.thrift", "no:top.thrift: there is no such file, and no git revision no"},
		{"v1:no.thrift", "v1:no.thrift: there is no no.thrift in revision v1"},
		{"v1:idl/no", "there is no idl/no in revision v1"},
		{":no.thrift", ":no.thrift: there is no no.thrift in what is staged"},
		{"v1:../x", "outside of the repository"},
		{"v1:./../x", "outside of the repository"},
		{"--help", "there is no such file, folder or git revision"},
		{"--output=x:top.thrift", "no git revision --output=x"},
		{"a\nb", "there is no such file, folder or git revision"},
		{"v1:a\nb", "there is no a\nb in revision v1"},
		{"", "is empty"},
	} {
		if _, _, err := audit.Load(audit.Input{Old: test.old, New: "top.thrift"}); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q: %v, want %s", test.old, err, test.want)
		}
	}
	if _, err := os.Stat("x"); err == nil {
		t.Error("git took a revision for an option")
	}
}
