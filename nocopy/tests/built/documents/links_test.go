package documents_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestLinks: files to which Markdown files link in this repository exist, and are not ignored by
// git. If the link names a heading of a Markdown file, the file has it.
func TestLinks(t *testing.T) {
	code := regexp.MustCompile("(?s)```.*?```|`[^`]*`")
	link := regexp.MustCompile(`\]\(([^)#\s]*)(#[^)\s]+)?[^)]*\)`)
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(name) != ".md" {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		for _, m := range link.FindAllStringSubmatch(code.ReplaceAllString(string(text), ""), -1) {
			to := filepath.Join(filepath.Dir(name), filepath.FromSlash(m[1]))
			if strings.Contains(m[1], ":") {
				continue // another site
			}
			if m[1] == "" {
				to = name
			}
			if page, err := os.ReadFile(to); m[2] != "" && (err != nil || !headings(page)[m[2][1:]]) {
				t.Errorf("%s links to %s, which has no heading for %s", name, to, m[2])
			}
			if _, err := os.Stat(to); err != nil {
				t.Errorf("%s links to %s, which is not there", name, m[1])
			}
			if exec.Command("git", "check-ignore", "-q", to).Run() == nil {
				t.Errorf("%s links to %s, which git ignores", name, m[1])
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// headings returns the names of a page's headings, as GitHub's links have them.
func headings(page []byte) map[string]bool {
	names := map[string]bool{}
	code := regexp.MustCompile("(?ms)^```.*?^```$")
	for _, m := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllSubmatch(code.ReplaceAll(page, nil), -1) {
		name := regexp.MustCompile(`[^\pL\pN_ -]`).ReplaceAllString(strings.ToLower(string(m[1])), "")
		names[strings.ReplaceAll(name, " ", "-")] = true
	}
	return names
}

// TestNamedFiles: the Go files that contributors are sent to exist.
func TestNamedFiles(t *testing.T) {
	exists := map[string]bool{}
	if err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		exists[d.Name()] = err == nil && filepath.Ext(name) == ".go"
		return err
	}); err != nil {
		t.Fatal(err)
	}
	for _, page := range []string{"DESIGN.md", "CONTRIBUTING.md", "docs/internals.md", "nocopy/rpc/states.md"} {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		names := regexp.MustCompile(`\b[a-z0-9][a-z0-9_]*\.go\b`).FindAllString(string(text), -1)
		if len(names) == 0 {
			t.Errorf("%s names no file", page)
		}
		for _, name := range names {
			if !exists[name] {
				t.Errorf("%s: there is no %s", page, name)
			}
		}
	}
}

// TestVersions: the generator's version is the next one of CHANGELOG.md or, when nothing is
// unreleased, the newest. Its major version is that of the runtime constant which generated code
// names, and modules that programs install require it.
func TestVersions(t *testing.T) {
	read := func(name string) string {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	find := func(name, expr string) string {
		m := regexp.MustCompile(expr).FindStringSubmatch(read(name))
		if m == nil {
			t.Fatalf("%s has no %s", name, expr)
		}
		return m[1]
	}
	version := find("gen/golang/emit.go", `const Version = "v([^"]+)"`)
	log := read("CHANGELOG.md")
	newest := find("CHANGELOG.md", `(?m)^## \[(\d[^\]]*)\]`)
	if unreleased := strings.Contains(log, "## [Unreleased]"); unreleased == (version == newest) {
		t.Errorf("the generator is of %s, the newest release in CHANGELOG.md is %s, and it has unreleased changes: %v", version, newest, unreleased)
	}
	if generated := find("examples/quickstart/order/order.go", `impl\.NeedsNocopythriftV(\d+)`); !strings.HasPrefix(version, generated+".") {
		t.Errorf("the generator is of %s, what it makes names NeedsNocopythriftV%s", version, generated)
	}
	folders := regexp.MustCompile(`(?m)^\t\{"(.+)", \d+\},$`).FindAllStringSubmatch(read("internal/rehearse/pack.go"), -1)
	if len(folders) < 6 {
		t.Fatalf("internal/rehearse/pack.go lists the modules %q", folders)
	}
	for _, folder := range folders {
		name := folder[1] + "/go.mod"
		if required := find(name, `(?m)^\s*`+module+` v(\S+)`); required != version {
			t.Errorf("%s requires %s, not %s", name, required, version)
		}
		if strings.Contains(read(name), "\nreplace") {
			t.Errorf("%s has a replace directive: go install refuses such modules", name)
		}
	}
	for _, page := range []string{"docs/builds.md", "docs/tool.md"} {
		for _, m := range regexp.MustCompile(`nocopythrift/\S+@v([\w.-]+)`).FindAllStringSubmatch(read(page), -1) {
			if m[1] != version {
				t.Errorf("%s names the version in %s, not %s", page, m[0], version)
			}
		}
	}
}
