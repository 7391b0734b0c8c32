// Package documents_test tests README and the guide: code in them compiles and prints what they
// say, links lead somewhere, tables have what there is.
package documents_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
)

const module = "github.com/nocopythrift/nocopythrift"

// nocopyc returns the command's file. It is linked once, by the first test that needs it.
var nocopyc func() (string, error)

// TestMain goes to the repository's root, whose documents are tested, too.
func TestMain(m *testing.M) {
	if err := os.Chdir("../../../.."); err != nil {
		panic(err)
	}
	dir, err := os.MkdirTemp("", "docs")
	if err != nil {
		panic(err)
	}
	nocopyc = sync.OnceValues(func() (string, error) {
		name := filepath.Join(dir, "nocopyc.exe") // Windows needs the extension
		out, err := exec.Command("go", "build", "-ldflags=-w", "-o", name, "./gen/nocopyc").CombinedOutput()
		if err != nil {
			err = fmt.Errorf("%w\n%s", err, out)
		}
		return name, err
	})
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// named matches a fenced block of a document that names the file which it is.
var named = regexp.MustCompile("(?ms)^```\\w+ +(\\S+)\n(.*?)^```$")

// TestNamedBlocks: the text just before a block that is a file says the file's name, which web
// pages do not show of the block's first line.
func TestNamedBlocks(t *testing.T) {
	pages, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := 0
	for _, page := range append(pages, "README.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, at := range named.FindAllSubmatchIndex(text, -1) {
			before := strings.Split(strings.TrimSuffix(string(text[:at[0]]), "\n\n"), "\n\n")
			paragraph, name := before[len(before)-1], string(text[at[2]:at[3]])
			if blocks++; !strings.Contains(paragraph, "`"+name+"`") || strings.HasPrefix(paragraph, "```") {
				t.Errorf("%s: the paragraph before the block of %s does not name it: %q", page, name, paragraph)
			}
		}
	}
	if blocks < 15 {
		t.Errorf("only %d blocks name a file", blocks)
	}
}

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
	command, err := nocopyc()
	if err != nil {
		t.Fatal(err)
	}
	s := scratch{t, t.TempDir(), command}
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
	// With the flags of this test's own build: others would compile the standard library again. The
	// compilers take a fifth less time if their collectors run less often.
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod "+os.Getenv("GOFLAGS"), "GOWORK=off", "GOGC=400")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// quick makes compilers report all errors in a scratch's packages, and not optimize these. Builds
// that have it in common compile a package once.
const quick = "-gcflags=example.com/shop/...=-e -N -l"

// inTable matches a command in a table.
var inTable = regexp.MustCompile("(?m)^\\|.*`go tool nocopyc ([^`]*)`")

// runs matches a block of commands that ends by running a program, and what the program prints.
var runs = regexp.MustCompile("(?m)^go run (\\S+)\n```\n\nIt prints\n\n```text\n([^`]*)```$")

// TestPrograms: the programs that documents show whole compile, with what nocopyc makes of their
// IDL, and print what the documents show; and the generator takes the commands in their tables.
// make rehearse also runs the programs as a user does.
func TestPrograms(t *testing.T) {
	for _, page := range []string{"README.md", "docs/getting-started.md", "docs/coming-from.md"} {
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
			if len(blocks) < 2 {
				t.Fatalf("%d blocks name a file", len(blocks))
			}
			if out, err := s.run("go", "vet", "./..."); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
			for _, run := range runs.FindAllStringSubmatch(string(text), -1) {
				if out, err := s.run("go", "run", quick, "-ldflags=-s -w", run[1]); err != nil || out != run[2] {
					t.Errorf("go run %s prints\n%s(%v) instead of\n%s", run[1], out, err, run[2])
				}
			}
			for _, command := range inTable.FindAllStringSubmatch(string(text), -1) {
				if out, err := s.run(s.nocopyc, strings.Fields(command[1])...); err != nil {
					t.Errorf("%s: %v\n%s", command[0], err, out)
				}
			}
		})
	}
}

// goBlock matches a block of Go that names no file.
var goBlock = regexp.MustCompile("(?ms)^```go\n(.*?)^```$")

// withModules matches a block of Go that the tests of another module compare with a function of
// theirs, and the comment that names both.
var withModules = regexp.MustCompile("(?ms)^<!-- \\w+: \\w+ -->\n```go\n.*?^```$")

// elsewhere are the pages whose blocks other tests compile.
var elsewhere = map[string]string{
	"docs/builds.md":      "TestBuilds",
	"docs/coming-from.md": "bench/comingfrom",
	"docs/kitex.md":       "kitex/internal/moving",
	"docs/tool.md":        "cmd/nocopy",
}

// The guide's blocks take these for granted: the values, and the packages that are imported if the
// block names them. Package order is that of getting-started.md.
const (
	blockValues = `ctx context.Context, o, in, other order.Order, wire []byte, conn net.Conn, listener net.Listener,
	r io.Reader, w io.Writer, srv *rpc.Server, client *rpc.Client, shop order.ShopClient, handler order.ShopHandler,
	processor *rpc.Processor, logger *slog.Logger, m nocopy.Message, t *testing.T, addr string, err error,
	schema *dynamic.Schema, service dynamic.Service, cert, clientCert tls.Certificate, pem []byte, roots *x509.CertPool,
	authenticate rpc.Interceptor, connContext func(context.Context, net.Conn) context.Context`
	blockImports = `bufio bytes context crypto/subtle crypto/tls crypto/x509 encoding/binary encoding/json errors fmt io log log/slog net net/http
	os os/signal path/filepath slices strings sync sync/atomic syscall testing time 
	net/http/httptest
	example.com/shop/order example.com/shop/page example.com/shop/payment example.com/shop/rules example.com/shop/status example.com/shop/users
	github.com/apache/thrift/lib/go/thrift github.com/google/go-cmp/cmp
	NOCOPY/linkbuf NOCOPY/nocopy NOCOPY/nocopy/apachethrift NOCOPY/nocopy/apachethrift/describe NOCOPY/nocopy/descriptor NOCOPY/nocopy/dynamic NOCOPY/nocopy/gateway
	NOCOPY/nocopy/inspect NOCOPY/nocopy/messages NOCOPY/nocopy/nocopycmp NOCOPY/nocopy/nocopyjson
	NOCOPY/nocopy/reflection NOCOPY/nocopy/rpc NOCOPY/nocopy/rpc/rpctest NOCOPY/nocopy/validate`
)

// TestBlocks: all other blocks of Go in the guide compile, and those that a block of text follows
// print it, with nocopydebug, too, where the page shows that. A block is a file's declarations if
// it has a function or begins with a type or a comment on one, else the body of a function.
// Results that a block does not use are fine.
func TestBlocks(t *testing.T) {
	pages, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	s := newScratch(t)
	packages, fset := map[string][]*ast.File{}, token.NewFileSet()
	var printing []printingBlock
	for _, page := range append(pages, "SECURITY.md") {
		page = filepath.ToSlash(page)
		if elsewhere[page] != "" {
			continue
		}
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range named.FindAllStringSubmatch(string(text), -1) {
			if strings.HasSuffix(block[1], ".thrift") {
				s.write(block[1], block[2], "-fields")
			}
		}
		text = withModules.ReplaceAllFunc(text, func(block []byte) []byte { // the lines stay
			return bytes.Repeat([]byte("\n"), bytes.Count(block, []byte("\n")))
		})
		line := func(offset int) string {
			return fmt.Sprintf("%s, the block of line %d", page, 2+strings.Count(string(text[:offset]), "\n"))
		}
		for i, block := range goBlock.FindAllStringSubmatchIndex(string(text), -1) {
			base := fmt.Sprintf("%s%d", strings.TrimSuffix(filepath.Base(page), ".md"), i)
			name, file := blockFile(base, string(text[block[2]:block[3]]))
			syntax, err := parser.ParseFile(fset, fmt.Sprintf("%s [%s]", line(block[0]), base), file, parser.SkipObjectResolution)
			if err != nil {
				t.Error(err)
				continue
			}
			packages[name] = append(packages[name], syntax)
		}
		for _, block := range goPrints.FindAllStringSubmatchIndex(string(text), -1) {
			where, code := line(block[0]), string(text[block[2]:block[3]])
			printing = append(printing, printingBlock{where, code, string(text[block[6]:block[7]]), block[4] >= 0})
			if block[8] >= 0 {
				printing = append(printing, printingBlock{where, code, string(text[block[8]:block[9]]), true})
			}
		}
	}
	imports := s.importer(fset, strings.Fields(strings.ReplaceAll(blockImports, "NOCOPY", module)))
	for name, files := range packages {
		config := types.Config{Importer: imports, Error: func(err error) {
			if !strings.Contains(err.Error(), "declared and not used") {
				t.Error(err)
			}
		}}
		config.Check(name, fset, files, nil)
	}
	runPrinting(t, s, printing, false)
	runPrinting(t, s, printing, true)
}

// importer returns an importer of packages that the scratch has or imports. The go command
// compiles these. To check the blocks in this process takes a fraction of the time of compiling
// each.
func (s scratch) importer(fset *token.FileSet, paths []string) types.Importer {
	s.t.Helper()
	list, err := s.run("go", append([]string{"list", quick, "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}", "./..."}, paths...)...)
	if err != nil {
		s.t.Fatalf("%v\n%s", err, list)
	}
	exports := map[string]string{}
	for line := range strings.Lines(list) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		exports[path] = file
	}
	return importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
}

// goPrints matches a block of Go and what it prints. After the comment that is with nocopydebug,
// which may also follow a block of text, after one paragraph.
var goPrints = regexp.MustCompile("(?ms)^```go\n((?:[^`\n][^\n]*\n|\n)*?)^```\n\n(<!-- nocopydebug -->\n)?```text\n([^`]*?)^```$" +
	"(?:\n\n(?:`?[^`\n][^\n]*\n)+\n<!-- nocopydebug -->\n```text\n([^`]*?)^```$)?")

// printingBlock is a block of Go that the guide shows the output of.
type printingBlock struct {
	where, code, prints string
	debug               bool // built with the tag nocopydebug
}

// runPrinting runs the blocks of one build, each with values of its own, and compares what they
// print: also the error that they return, and the text of a panic.
func runPrinting(t *testing.T, s scratch, all []printingBlock, debug bool) {
	const separator = "\x00"
	var functions, calls strings.Builder
	var blocks []printingBlock
	for _, b := range all {
		if b.debug == debug {
			blocks = append(blocks, b)
			fmt.Fprintf(&functions, "\nfunc block%d() error {\n{\n%s}\nreturn nil\n}\n", len(blocks), b.code)
			fmt.Fprintf(&calls, "\trun(block%d)\n", len(blocks))
		}
	}
	if len(blocks) == 0 {
		return
	}
	program := fmt.Sprintf(`var o, in order.Order
var wire []byte
var r io.Reader
var ctx = context.Background()
var handler order.ShopHandler = shopHandler{}
var srv *rpc.Server
var listener net.Listener
var client *rpc.Client
var shop order.ShopClient
var cert tls.Certificate
var roots = x509.NewCertPool()

type shopHandler struct{ order.UnimplementedShopHandler }

func (shopHandler) Get(ctx context.Context, args order.ShopGetArgs, result order.ShopGetResult) error {
	if args.GetID() != 7 {
		result.NewMissing().SetID(args.GetID())
		return nil
	}
	o := result.NewSuccess()
	o.SetID(7)
	o.SetCustomer("Ada")
	return nil
}

func main() {
	slog.SetDefault(slog.New(slog.DiscardHandler))
	ts := httptest.NewTLSServer(nil)
	cert = ts.TLS.Certificates[0]
	roots.AddCert(ts.Certificate())
	ts.Close()
%s}

func run(block func() error) {
	srv = &rpc.Server{Processor: order.NewShopProcessor(handler)}
	var stop func()
	client, stop = rpctest.Start(&rpc.Server{Processor: order.NewShopProcessor(handler)})
	defer stop()
	shop = order.NewShopClient(client)
	listener, _ = net.Listen("tcp", "127.0.0.1:0")
	defer listener.Close()
	o = order.NewOrder()
	o.SetID(7)
	o.SetCustomer("Ada")
	o.NewLines(1).At(0).SetArticle("engine")
	wire = bytes.Clone(o.Message().Bytes())
	r = bytes.NewReader(wire)
	in, _ = order.ParseOrder(wire)
	defer fmt.Print("\x00")
	defer func() {
		if v := recover(); v != nil {
			fmt.Println("panic:", v)
		}
	}()
	if err := block(); err != nil {
		fmt.Println(err)
	}
}
%s`, calls.String(), functions.String())
	s.write("printing/main.go", "package main\n\nimport (\n"+importsOf(program)+")\n\n"+program)
	args := []string{"run", quick, "-ldflags=-s -w"}
	if debug {
		// CI's stage debug compiles the library so, too.
		args = append(args, "-tags=nocopydebug", "-gcflags="+module+"/...=-dwarf=false -d=checkptr")
	}
	out, err := s.run("go", append(args, "./printing")...)
	outputs := strings.Split(out, separator)
	if err != nil || len(outputs) != len(blocks)+1 {
		t.Fatalf("%d outputs of %d blocks, %v:\n%s", len(outputs)-1, len(blocks), err, out)
	}
	for i, b := range blocks {
		if outputs[i] != b.prints {
			t.Errorf("%s prints\n%s\ninstead of\n%s", b.where, outputs[i], b.prints)
		}
	}
}

// declaration matches in a block that stands outside of functions.
var declaration = regexp.MustCompile(`(?m)^func [(A-Za-z]|\A(//[^\n]*\n)*type `)

// importsOf returns the lines for the packages that a text of Go uses.
func importsOf(code string) string {
	var b strings.Builder
	for _, path := range strings.Fields(strings.ReplaceAll(blockImports, "NOCOPY", module)) {
		if regexp.MustCompile(`\b` + filepath.Base(path) + `\.`).MatchString(code) {
			fmt.Fprintf(&b, "\t%q\n", path)
		}
	}
	return b.String()
}

// blockFile returns the Go file that a block is, and the path of its package. Declarations are a
// package of their own, since several blocks declare the same names. Bodies of functions share one
// package.
func blockFile(name, block string) (path, file string) {
	imports := "import (\n" + importsOf(block+blockValues) + ")\n\n"
	if declaration.MatchString(block) {
		return name, fmt.Sprintf("package block\n\n%sfunc use(%s) {}\n\n%s", imports, blockValues, block)
	}
	function := strings.ReplaceAll(name, "-", "_")
	return "bodies", fmt.Sprintf("package bodies\n\n%sfunc %s(%s) error {\n{\n%s}\nreturn err\n}\n", imports, function, blockValues, block)
}
