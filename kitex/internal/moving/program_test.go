package moving

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestProgram runs the complete program of docs/kitex.md with the code that nocopyc generates from
// its IDL. It uses the library and this module from the checkout. make rehearse follows the page
// with the page's own commands.
func TestProgram(t *testing.T) {
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	read := func(path string) string {
		text, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	named := regexp.MustCompile("(?ms)^```\\w+ +(\\S+)\n(.*?)^```$")
	for _, block := range named.FindAllStringSubmatch(read("docs/kitex.md"), -1) {
		write(block[1], block[2])
	}
	write("go.mod", "module example.com/shop\n\ngo 1.26.0\n")
	_, replaced, _ := strings.Cut(read("kitex/go.work"), "\nreplace (\n")
	replaced = strings.ReplaceAll(replaced, "=> ..\n", fmt.Sprintf("=> %s\n", root))
	replaced = strings.ReplaceAll(replaced, "=> .\n", fmt.Sprintf("=> %s/kitex\n", root))
	write("go.work", fmt.Sprintf("go 1.26.0\n\nuse (\n\t.\n\t%s\n\t%[1]s/kitex\n)\n\nreplace (\n%s", root, replaced))
	write("go.work.sum", read("kitex/go.work.sum"))
	for _, args := range [][]string{
		{"run", "github.com/nocopythrift/nocopythrift/gen/nocopyc", "-kitex", "-o", ".", "order.thrift"},
		{"run", "."},
	} {
		cmd := exec.Command("go", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOWORK="+filepath.Join(dir, "go.work"))
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		if args[1] == "." && !strings.Contains(string(out), `{id: 4711, customer: "Ada"}`) {
			t.Errorf("%s", out)
		}
	}
}
