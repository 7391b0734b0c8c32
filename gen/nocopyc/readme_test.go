package main

import (
	"archive/zip"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/gen/golang"
	"github.com/nocopythrift/nocopythrift/internal/testmode"
)

// TestReadme runs the commands of the README's example in a new module, as a user does: the
// library comes, as its latest version, from a proxy that has this checkout, and what it needs
// from this machine's module cache.
func TestReadme(t *testing.T) {
	if !testmode.Long {
		t.Skip("builds the library and the generator anew")
	}
	root := goCommand(t, ".", "list", "-m", "-f", "{{.Dir}}")
	page, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, example, _ := strings.Cut(string(page), "\n## Example\n")
	example, _, _ = strings.Cut(example, "\n## ")
	idl, program := fenced(t, example, "thrift"), fenced(t, example, "go")
	commands := regexp.MustCompile(`(?m)^    (go .*)$`).FindAllStringSubmatch(example, -1)
	generate := regexp.MustCompile("//go:generate [^`\n]*").FindString(example)
	if len(commands) != 2 || generate == "" {
		t.Fatalf("the README's example has the commands %q and %q", commands, generate)
	}
	have, err := os.ReadFile(filepath.Join(root, "examples/quickstart/order/example_test.go"))
	if err != nil || !strings.Contains(strings.ReplaceAll(string(have), "\n\t", "\n"), program) {
		t.Errorf("the README's example is not that of examples/quickstart/order (%v)", err)
	}

	env := append(os.Environ(), "GOWORK=off", "GOSUMDB=off", "GOTOOLCHAIN=local", "GOFLAGS=-modcacherw", "GOMODCACHE="+t.TempDir(),
		"GOPROXY=file://"+proxy(t, root)+",file://"+filepath.Join(goCommand(t, ".", "env", "GOMODCACHE"), "cache/download"))
	t.Chdir(t.TempDir())
	run := func(command string) string {
		t.Helper()
		args := strings.Fields(command)
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Env = env
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", command, err, out)
		}
		return string(out)
	}
	writeFile(t, "order.thrift", idl)
	run("go mod init example.com/shop")
	for _, c := range commands {
		if out := run(c[1]); strings.Contains(c[1], "nocopyc -o") && out != "" {
			t.Errorf("%s prints %s", c[1], out)
		}
	}
	writeFile(t, "main.go", "package main\n\nimport (\n\"fmt\"\n\n\"example.com/shop/order\"\n)\n\n"+generate+"\n\nfunc main() {\n"+program+"}\n")
	run("go build ./...")
	run("go vet ./...")
	const want = `{id: 4711, customer: "Ada Lovelace", lines: [{article: "analytical engine", count: 2}]}` + "\n"
	if got := run("go run ."); got != want {
		t.Errorf("the program prints %s, want %s", got, want)
	}
	// Generated again, by go generate, and from another file with a service and an include.
	if err := os.RemoveAll("order"); err != nil {
		t.Fatal(err)
	}
	run("go generate ./...")
	writeFile(t, "shop.thrift", "include 'order.thrift'\nnamespace go shop\nservice Shop { order.Order get(1: i64 id) }\n")
	run("go tool nocopyc -o . -r shop.thrift")
	run("go vet ./...")
}

// fenced returns the first fenced block of a kind.
func fenced(t *testing.T, page, kind string) string {
	t.Helper()
	_, block, ok := strings.Cut(page, "\n```"+kind+"\n")
	block, _, end := strings.Cut(block, "```\n")
	if !ok || !end {
		t.Fatalf("no block of %s", kind)
	}
	return block
}

// proxy makes a directory that serves the module in root as a module proxy does.
func proxy(t *testing.T, root string) string {
	t.Helper()
	const module = "github.com/nocopythrift/nocopythrift"
	dir := t.TempDir()
	at := filepath.Join(dir, module, "@v")
	gomod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(at, "list"), golang.Version+"\n")
	writeFile(t, filepath.Join(at, golang.Version+".mod"), string(gomod))
	writeFile(t, filepath.Join(at, golang.Version+".info"), `{"Version":"`+golang.Version+`"}`)
	archive, err := os.Create(filepath.Join(at, golang.Version+".zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	w := zip.NewWriter(archive)
	err = filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			_, err := os.Stat(filepath.Join(name, "go.mod"))
			if name != root && (err == nil || strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata") {
				return fs.SkipDir
			}
			return nil
		}
		if ext := filepath.Ext(name); ext != ".go" && ext != ".mod" && ext != ".s" && ext != ".tmpl" {
			return nil
		}
		below, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		in, err := os.Open(name)
		if err != nil {
			return err
		}
		defer in.Close()
		out, err := w.Create(module + "@" + golang.Version + "/" + filepath.ToSlash(below))
		if err == nil {
			_, err = io.Copy(out, in)
		}
		return err
	})
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}
