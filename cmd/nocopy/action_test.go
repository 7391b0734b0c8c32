package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v4"
)

// An actionRun runs the steps of action/action.yml as GitHub's runner does.
type actionRun struct {
	t    *testing.T
	path string // the action's folder
	temp string
	env  []string
}

type action struct {
	Inputs map[string]struct {
		Default string
	}
	Runs struct {
		Using string
		Steps []struct {
			Shell, Run string
			Env        map[string]string
		}
	}
}

func newActionRun(t *testing.T) *actionRun {
	t.Helper()
	path, err := filepath.Abs("../../action")
	if err != nil {
		t.Fatal(err)
	}
	return &actionRun{t, path, t.TempDir(), os.Environ()}
}

// readAction reads the action's file.
func readAction(t *testing.T, path string) (parsed action) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(path, "action.yml"))
	if err == nil {
		err = yaml.Unmarshal(text, &parsed)
	}
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

// run runs the action in a folder, with its input (its default without) and further variables of
// the environment. It returns what the steps have printed to standard output and their exit code.
func (a *actionRun) run(workspace, paths string, env ...string) (stdout string, code int) {
	a.t.Helper()
	parsed := readAction(a.t, a.path)
	if paths == "" {
		paths = parsed.Inputs["paths"].Default
	}
	added := filepath.Join(a.temp, "path")
	if parsed.Runs.Using != "composite" || os.WriteFile(added, nil, 0o666) != nil {
		a.t.Fatalf("a composite action is expected: %+v", parsed)
	}
	for _, step := range parsed.Runs.Steps {
		if step.Shell != "bash" {
			a.t.Fatalf("a step has the shell %q", step.Shell)
		}
		dirs, err := os.ReadFile(added)
		if err != nil {
			a.t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(a.t.Context(), 5*time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, "bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", step.Run)
		cmd.Dir = workspace
		cmd.Env = append(append(a.env[:len(a.env):len(a.env)], "GITHUB_WORKSPACE="+workspace, "GITHUB_ACTION_PATH="+a.path, "RUNNER_TEMP="+a.temp,
			"GITHUB_PATH="+added, "GITHUB_BASE_REF=", "PATH="+strings.TrimSpace(string(dirs))+":"+os.Getenv("PATH")), env...)
		for key, value := range step.Env {
			if key != "GOFLAGS" { // what these tests have compiled need not be compiled again
				cmd.Env = append(cmd.Env, key+"="+strings.ReplaceAll(value, "${{ inputs.paths }}", paths))
			}
		}
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errs
		err = cmd.Run()
		a.t.Logf("%s\n%s", out.Bytes(), errs.Bytes())
		stdout += out.String()
		if code = cmd.ProcessState.ExitCode(); err != nil {
			break
		}
	}
	return stdout, code
}

// git runs git in a folder, and returns what it prints.
func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"}, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// commit writes files, which are names and texts in turn, and commits them. Without a text, a file
// is removed.
func commit(t *testing.T, dir string, files ...string) {
	t.Helper()
	for i := 0; i < len(files); i += 2 {
		name := filepath.Join(dir, files[i])
		if files[i+1] == "" {
			git(t, dir, "rm", "-q", files[i])
			continue
		}
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(files[i+1]), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	git(t, dir, "add", "-A")
	git(t, dir, "commit", "-qm", "files")
}

// TestAction: the action annotates what a pull request breaks, in a clone with all of the history
// and in one with a single commit, as actions/checkout makes.
func TestAction(t *testing.T) {
	t.Parallel()
	const user = "struct User {\n  1: i32 id\n  2: string name\n}\n"
	origin, action := filepath.Join(t.TempDir(), "origin"), newActionRun(t)
	git(t, ".", "init", "-q", "-b", "main", origin)
	git(t, origin, "config", "uploadpack.allowAnySHA1InWant", "true") // GitHub has it
	commit(t, origin, "idl/user.thrift", user, "idl/old.thrift", "struct Old {\n  1: i32 a\n}\n", "api/a.thrift", "struct A {\n  1: i32 a\n}\n")
	// In main, field 3 has been removed; the audit knows it by the history before the merge base.
	commit(t, origin, "idl/user.thrift", strings.Replace(user, "}", "  3: i64 born\n}", 1))
	commit(t, origin, "idl/user.thrift", user)
	base := git(t, origin, "rev-parse", "HEAD")

	// pull makes a branch at the merge base, and the merge commit that GitHub makes for it.
	pull := func(name string, files ...string) {
		git(t, origin, "checkout", "-q", "-b", name, base)
		commit(t, origin, files...)
		git(t, origin, "checkout", "-q", "--detach", "main")
		git(t, origin, "merge", "-q", "--no-ff", "-m", "merge", name)
		git(t, origin, "update-ref", "refs/pull/"+name+"/merge", "HEAD")
		git(t, origin, "checkout", "-q", "main")
	}
	// Main goes on: what it adds is not removed by branches that do not have it.
	commit(t, origin, "idl/later.thrift", "struct Later {\n  1: i32 a\n}\n")
	pull("breaking", "idl/user.thrift", "struct User {\n  1: i64 id\n  2: string name\n     3: string mail\n}\n", "idl/old.thrift", "",
		"api/a.thrift", "struct A {\n  1: map<list<i32>, i32> a\n}\n")
	pull("good", "idl/user.thrift", strings.Replace(user, "}", "  4: string mail\n}", 1), "added/b.thrift", "struct B {\n  1: i32 a\n}\n")
	pull("broken", "idl/user.thrift", "struct User {\n  1: J id\n}\n")

	pull("gone", "api/a.thrift", "")
	pull("blank", "api/a b's.thrift", "struct B {\n 1: i32 a\n}\n")
	pull("unfinished", "idl/user.thrift", "struct User {")

	checkout := func(name string, args ...string) string {
		dir := filepath.Join(t.TempDir(), "workspace")
		git(t, ".", "init", "-q", dir)
		git(t, dir, "remote", "add", "origin", "file://"+origin)
		git(t, dir, append(append([]string{"fetch", "-q", "--no-tags"}, args...), "origin", "+refs/pull/"+name+"/merge:refs/remotes/pull/"+name+"/merge")...)
		git(t, dir, "checkout", "-q", "--force", "refs/remotes/pull/"+name+"/merge")
		return dir
	}
	annotations := func(out string) (list []string) {
		for line := range strings.Lines(out) {
			if strings.HasPrefix(line, "::") {
				at, _, _ := strings.Cut(strings.TrimSpace(line)[2:], "::")
				list = append(list, at)
			}
		}
		return list
	}
	breaking := []string{
		"error file=idl/user.thrift,line=4,col=1,title=format",
		"error file=api/a.thrift,line=2,col=6,title=map.key.type",
		"error file=api/a.thrift,line=2,col=3,title=field-type-changed",
		"error file=idl/old.thrift,line=1,col=1,title=struct-removed",
		"error file=idl/user.thrift,line=2,col=3,title=field-type-changed",
		"error file=idl/user.thrift,line=4,col=6,title=field-id-reused",
	}
	for _, test := range []struct {
		name, branch, paths, base string
		depth                     string
		code                      int
		want                      []string
	}{
		{"one commit", "breaking", "idl api", "main", "--depth=1", 100, breaking},
		{"two commits", "breaking", "idl\napi\n", "main", "--depth=2", 100, breaking},
		{"whole history", "breaking", "", "main", "--tags", 100, breaking},
		{"a folder", "breaking", "api", "main", "--depth=1", 100, []string{breaking[1], breaking[2]}},
		{"no pull request", "breaking", "idl api", "", "--depth=1", 100, breaking[:2]},
		{"good", "good", "idl added", "main", "--depth=1", 0, nil},
		{"unknown type", "broken", "idl", "main", "--depth=1", 1, []string{"error file=idl/user.thrift,line=2,col=6,title=compile", "error file=idl/user.thrift,line=2,col=6,title=compile"}},
		{"syntax", "unfinished", "idl", "main", "--depth=1", 1, []string{"error file=idl/user.thrift,line=1,col=14,title=compile", "error file=idl/user.thrift,line=1,col=14,title=compile", "error file=idl/user.thrift,line=1,col=14,title=compile"}},
		{"folder gone", "gone", "api", "main", "--depth=1", 100, []string{"error title=nocopy", "error title=nocopy", "error file=api/a.thrift,line=1,col=1,title=struct-removed"}},
		{"blank in a name", "blank", "api", "main", "--depth=1", 100, []string{"error file=api/a b's.thrift,line=2,col=1,title=format"}},
		{"no such branch", "good", "idl", "none", "--depth=1", 1, []string{"error title=audit"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			action := *action
			action.t = t
			out, code := action.run(checkout(test.branch, test.depth), test.paths, "GITHUB_BASE_REF="+test.base)
			if have := annotations(out); code != test.code || strings.Join(have, "\n") != strings.Join(test.want, "\n") {
				t.Errorf("exit code %d, want %d\n%s\nwant\n%s", code, test.code, strings.Join(have, "\n"), strings.Join(test.want, "\n"))
			}
		})
	}
}

// TestActionPage: the job in docs/tool.md is YAML, and gives the action inputs that it has.
func TestActionPage(t *testing.T) {
	text, err := os.ReadFile("../../docs/tool.md")
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(text), "### On pull requests")
	_, block, _ = strings.Cut(block, "\n    ")
	block, _, _ = strings.Cut(block, "\n\n")
	var workflow struct {
		On   string
		Jobs map[string]struct {
			Steps []struct {
				Uses string
				With map[string]string
			}
		}
	}
	if err := yaml.Unmarshal([]byte(strings.ReplaceAll(block, "\n    ", "\n")), &workflow); err != nil {
		t.Fatalf("%v\n%s", err, block)
	}
	inputs := readAction(t, "../../action").Inputs
	steps := workflow.Jobs["idl"].Steps
	if workflow.On != "pull_request" || len(steps) != 2 || !strings.HasPrefix(steps[1].Uses, "nocopythrift/nocopythrift/action@v") {
		t.Fatalf("%+v", workflow)
	}
	for name := range steps[1].With {
		if _, found := inputs[name]; !found {
			t.Errorf("the action has no input %s", name)
		}
	}
}
