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

// scratch is a module in a folder of its own, which takes the library from this checkout.
type scratch struct {
	t       *testing.T
	dir     string
	nocopyc string
}

func newScratch(t *testing.T) scratch {
	t.Helper()
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
	s := scratch{t, t.TempDir(), filepath.Join(t.TempDir(), "nocopyc")}
	if out, err := exec.Command("go", "build", "-o", s.nocopyc, "./gen/nocopyc").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	s.write("go.mod", fmt.Sprintf("module example.com/shop\n\ngo 1.26\n%s\nrequire %s v0.0.0\nreplace %[2]s => %s\n",
		requirements, module, filepath.ToSlash(root)))
	s.write("go.sum", string(gosum))
	return s
}

// write writes a file, and generates the code of a .thrift file.
func (s scratch) write(name, text string, flags ...string) {
	s.t.Helper()
	path := filepath.Join(s.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		s.t.Fatal(err)
	}
	if strings.HasSuffix(name, ".thrift") {
		if out, err := s.run(s.nocopyc, append(flags, "-o", ".", name)...); err != nil {
			s.t.Fatalf("%s: %v\n%s", name, err, out)
		}
	}
}

func (s scratch) run(name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// TestPrograms: the programs that documents show whole compile, with what nocopyc makes of their
// IDL. make rehearse also runs them as a user does.
func TestPrograms(t *testing.T) {
	for _, page := range []string{"README.md", "docs/getting-started.md"} {
		t.Run(page, func(t *testing.T) {
			text, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			s := newScratch(t)
			blocks := named.FindAllStringSubmatch(string(text), -1)
			for _, block := range blocks {
				s.write(block[1], block[2])
			}
			if len(blocks) < 3 {
				t.Fatalf("%d blocks name a file", len(blocks))
			}
			if out, err := s.run("go", "vet", "./..."); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// goBlock matches a block of Go that names no file.
var goBlock = regexp.MustCompile("(?ms)^```go\n(.*?)^```$")

// elsewhere are the pages whose blocks other tests compile.
var elsewhere = map[string]string{
	"docs/coming-from.md": "bench/comingfrom",
	"docs/kitex.md":       "kitex/internal/moving",
}

// What the guide's blocks take for granted: the values, and the packages that are imported if the
// block names them. Package order is that of getting-started.md.
const (
	blockValues = `ctx context.Context, o, in, other order.Order, wire []byte, conn net.Conn, listener net.Listener,
	r io.Reader, w io.Writer, srv *rpc.Server, client *rpc.Client, shop order.ShopClient, handler order.ShopHandler,
	processor *rpc.Processor, logger *slog.Logger, m nocopy.Message, t *testing.T, addr string, err error`
	blockImports = `bufio bytes context crypto/tls crypto/x509 encoding/json errors fmt io log log/slog net net/http
	os os/signal slices strings sync syscall testing time example.com/shop/order
	github.com/google/go-cmp/cmp encoding/json/v2
	NOCOPY/linkbuf NOCOPY/nocopy NOCOPY/nocopy/apachethrift NOCOPY/nocopy/descriptor NOCOPY/nocopy/dynamic
	NOCOPY/nocopy/inspect NOCOPY/nocopy/messages NOCOPY/nocopy/nocopycmp NOCOPY/nocopy/nocopyjson
	NOCOPY/nocopy/reflection NOCOPY/nocopy/rpc NOCOPY/nocopy/rpc/rpctest NOCOPY/nocopy/validate`
)

// TestBlocks: all other blocks of Go in the guide compile. A block is a file's declarations if its
// first line begins with func, type, var or a comment on one, else the body of a function; results
// that a block does not use are all right.
func TestBlocks(t *testing.T) {
	start, err := os.ReadFile("docs/getting-started.md")
	if err != nil {
		t.Fatal(err)
	}
	pages, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	s := newScratch(t)
	for _, block := range named.FindAllStringSubmatch(string(start), -1) {
		if strings.HasSuffix(block[1], ".thrift") {
			s.write(block[1], block[2], "-fields")
		}
	}
	where := map[string]string{}
	for _, page := range append(pages, "SECURITY.md") {
		page = filepath.ToSlash(page)
		if elsewhere[page] != "" {
			continue
		}
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for i, block := range goBlock.FindAllStringSubmatchIndex(string(text), -1) {
			line := 2 + strings.Count(string(text[:block[0]]), "\n")
			name := strings.TrimSuffix(filepath.Base(page), ".md") + fmt.Sprint(i)
			s.write(name+"/block.go", blockFile(string(text[block[2]:block[3]])))
			where[name+"/block.go"] = fmt.Sprintf("%s, the block of line %d", page, line)
		}
	}
	out, err := s.run("go", "build", "-gcflags=-e", "./...")
	if err != nil && !strings.Contains(out, "block.go") {
		t.Fatalf("%v\n%s", err, out)
	}
	for line := range strings.Lines(out) {
		if strings.HasPrefix(line, "#") || strings.Contains(line, "declared and not used") {
			continue
		}
		for name, page := range where {
			line = strings.ReplaceAll(line, name, page+" [block.go]")
		}
		t.Error(strings.TrimSpace(line))
	}
}

// declaration matches the beginning of a block that stands outside of functions.
var declaration = regexp.MustCompile(`\A(//[^\n]*\n)*(func [(A-Za-z]|type |var |const )`)

// blockFile returns the Go file that a block is.
func blockFile(block string) string {
	var b strings.Builder
	b.WriteString("package block\n\nimport (\n")
	for _, path := range strings.Fields(strings.ReplaceAll(blockImports, "NOCOPY", module)) {
		name := filepath.Base(path)
		if name == "v2" {
			continue
		}
		if regexp.MustCompile(`\b` + name + `\.`).MatchString(block + blockValues) {
			fmt.Fprintf(&b, "\t%q\n", path)
		}
	}
	b.WriteString(")\n\n")
	if declaration.MatchString(block) {
		fmt.Fprintf(&b, "func use(%s) {}\n\n%s", blockValues, block)
	} else {
		fmt.Fprintf(&b, "func block(%s) error {\n%s\nreturn err\n}\n", blockValues, block)
	}
	return b.String()
}
