package nocopythrift_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// named matches a fenced block of a document that names the file which it is.
var named = regexp.MustCompile("(?ms)^```\\w+ +(\\S+)\n(.*?)^```$")

// TestPrograms: the programs that documents show whole compile, with what nocopyc makes of their
// IDL. make rehearse also runs them as a user does.
func TestPrograms(t *testing.T) {
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	gomod, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	gosum, err := os.ReadFile("go.sum")
	if err != nil {
		t.Fatal(err)
	}
	_, requirements, _ := strings.Cut(string(gomod), "\ngo 1.26\n")
	nocopyc := filepath.Join(t.TempDir(), "nocopyc")
	if out, err := exec.Command("go", "build", "-o", nocopyc, "./gen/nocopyc").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, page := range []string{"README.md", "docs/getting-started.md"} {
		t.Run(page, func(t *testing.T) {
			text, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			write := func(name, text string) {
				path := filepath.Join(dir, name)
				if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			run := func(name string, args ...string) {
				cmd := exec.Command(name, args...)
				cmd.Dir = dir
				cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
				}
			}
			write("go.mod", fmt.Sprintf("module example.com/shop\n\ngo 1.26\n%s\nrequire %s v0.0.0\nreplace %[2]s => %s\n",
				requirements, module, filepath.ToSlash(root)))
			write("go.sum", string(gosum))
			blocks := named.FindAllStringSubmatch(string(text), -1)
			for _, block := range blocks {
				write(block[1], block[2])
				if strings.HasSuffix(block[1], ".thrift") {
					run(nocopyc, "-o", ".", block[1])
				}
			}
			if len(blocks) < 3 {
				t.Fatalf("%d blocks name a file", len(blocks))
			}
			run("go", "vet", "./...")
		})
	}
}
