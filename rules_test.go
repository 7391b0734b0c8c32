package nocopythrift_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

const module = "github.com/nocopythrift/nocopythrift"

// sources calls f with every Go file of the module in the folder root, by its path.
func sources(t *testing.T, root string, f func(name string, src []byte)) {
	t.Helper()
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			// bench is a module of its own; testdata is no part of any package.
			if name == "bench" && root != "bench" || d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && name != "." {
				return fs.SkipDir
			}
			return nil
		}
		if path.Ext(name) != ".go" {
			return nil
		}
		src, ok := read[name]
		if !ok {
			if src, err = os.ReadFile(name); err != nil {
				return err
			}
			read[name] = src
		}
		f(filepath.ToSlash(name), src)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Many rules look at all files, which are read and parsed once. The tests are not parallel.
var (
	read   = map[string][]byte{}
	parsed = map[*byte]*ast.File{} // by the first byte of the source
	fset   = token.NewFileSet()
)

func generated(src []byte) bool { return ast.IsGenerated(parse(src)) }

func parse(src []byte) *ast.File {
	f := parsed[&src[0]]
	if f == nil {
		var err error
		if f, err = parser.ParseFile(fset, "", src, parser.ParseComments|parser.SkipObjectResolution); err != nil {
			panic(err)
		}
		parsed[&src[0]] = f
	}
	return f
}

// textOf returns the source of a part of a parsed file.
func textOf(src []byte, n ast.Node) string {
	return string(src[fset.Position(n.Pos()).Offset:fset.Position(n.End()).Offset])
}

func imports(src []byte) []string {
	var paths []string
	for _, spec := range parse(src).Imports {
		paths = append(paths, strings.Trim(spec.Path.Value, `"`))
	}
	return paths
}

// arrows are which packages of ours, and which of others, a folder may import outside of its
// tests.
var arrows = []struct {
	dir    string
	may    []string
	reason string
}{
	{"internal/entry", nil, "constants"},
	{"internal/command", []string{module + "/internal/nearest"}, "what commands share"},
	{"internal/description", nil, "bytes; users' programs get no dependency through it"},
	{"internal/ruleexpr", nil, "texts of rules; only the generator and tools import it"},
	{"internal/valuerules", []string{module + "/internal/ruleexpr", module + "/nocopy"}, "messages and the rules of their descriptions; only tools import it"},
	{"internal/template", nil, "texts from data; only commands import it"},
	{"internal/thriftdump", []string{module + "/nocopy", module + "/internal/command"}, "the command calls the package"},
	{"internal/nocopyc", []string{module + "/gen/", module + "/internal/command"}, "the commands put the parts together"},
	{"internal/firstbytes", nil, "bytes; users' programs get no dependency through it"},
	{"internal/spare", nil, "memory that is used again; users' programs get no dependency through it"},
	{"internal/hashmap", nil, "a map; users' programs get no dependency through it"},
	{"internal/memory", []string{module + "/internal/spare"}, "it knows blocks only, not what stands in them; users' programs get no dependency through it"},
	{"internal/chain", []string{module + "/internal/hashmap", module + "/internal/memory"}, "it knows bytes only; users' programs get no dependency through it"},
	{"internal/shm", nil, "memory and the system calls for it; users' programs get no dependency through it"},
	{"linkbuf", []string{module + "/internal/memory"}, "it checks what users ask of the blocks of internal/memory"},
	{"gen/internal/families", nil, "a generator needs nothing but the standard library"},
	{"internal/jsontext", []string{"github.com/go-json-experiment/json"}, "the tokenizer, and what options it was given; the one requirement that users' programs get"},
	{"internal/compressed", nil, "bytes; users' programs get no dependency through it"},
	{"internal/byteorder", nil, "numbers and bytes; users' programs get no dependency through it"},
	{"nocopy/tests/referee", []string{"github.com/apache/thrift/", "github.com/google/go-cmp/", module + "/nocopy"}, "the referee is Apache's library"},
	{"nocopy/tests/internal", []string{"github.com/google/go-cmp/", module + "/internal/", module + "/nocopy"}, "what tests of several folders share; only tests import it"},
	{"nocopy/tests", []string{module + "/nocopy"}, "generated code imports nothing but nocopy and its like"},
	{"nocopy/nocopycmp", []string{"github.com/google/go-cmp/", module + "/nocopy"}, "options of go-cmp; only tests import it"},
	{"nocopy/messages", []string{module + "/nocopy"}, "functions on messages; only those who call them import it"},
	{"nocopy/inspect/thriftdump", []string{module + "/internal/thriftdump"}, "the command is also one of another tool"},
	{"nocopy/inspect", []string{module + "/internal/firstbytes", module + "/nocopy/internal/compact", module + "/gen/idl", module + "/gen/schema", module + "/nocopy"}, "bytes and, for names, the IDL; only those who look at messages import it"},
	{"nocopy/dynamic", []string{module + "/gen/idl", module + "/gen/schema", module + "/nocopy"}, "types from the IDL at run time, by the generator's front end; only those who load IDL import it"},
	{"nocopy/descriptor", []string{module + "/nocopy"}, "what descriptors tell; users' programs get no dependency through it"},
	{"nocopy/reflection", []string{module + "/nocopy"}, "values by descriptors; users' programs get no dependency through it"},
	{"nocopy/apachethrift/internal", []string{module + "/nocopy"}, "generated code imports nothing but nocopy and its like"},
	{"nocopy/apachethrift/describe", []string{"github.com/apache/thrift/lib/go/thrift"}, "Apache's library alone, for programs that use nothing else of ours"},
	{"nocopy/apachethrift", []string{"github.com/apache/thrift/lib/go/thrift", module + "/nocopy"}, "messages and Apache's library; only programs that use both import it"},
	{"nocopy/nocopyjson", []string{module + "/nocopy"}, "what people call of package jsonvalue"},
	{"nocopy/internal/jsonvalue", []string{module + "/internal/memory", module + "/internal/jsontext", module + "/internal/nearest", module + "/nocopy"}, "JSON to messages and back; only programs that use it link it"},
	{"nocopy/thriftimpl", []string{module + "/internal/chain", module + "/internal/memory", module + "/internal/entry", module + "/internal/jsontext", module + "/nocopy"}, "names for what the engine has for generated code"},
	{"nocopy/gateway", []string{module + "/internal/compressed", module + "/nocopy"}, "HTTP around dynamic calls; only gateways import it"},
	{"nocopy/rpc/rpctest", []string{module + "/nocopy"}, "calls in memory; only tests import it"},
	{"nocopy/internal/rpcinside", nil, "variables"},
	{"nocopy/internal/impl", []string{module + "/internal/chain", module + "/internal/entry", module + "/internal/memory", module + "/nocopy"}, "names for what the engine has for the library's other packages"},
	{"nocopy/rpc", []string{module + "/internal/description", module + "/internal/firstbytes", module + "/linkbuf", module + "/internal/chain", module + "/internal/memory", module + "/internal/compressed", module + "/internal/shm", module + "/internal/entry", module + "/nocopy"}, "sockets around messages; users' programs get no dependency through it"},
	{"nocopy/validate/internal", []string{module + "/nocopy"}, "generated code imports nothing but nocopy and its like"},
	{"nocopy/validate", nil, "errors and conditions; only programs whose IDL has rules import it"},
	{"nocopy/internal/schema", []string{module + "/internal/memory", module + "/internal/entry", module + "/nocopy/internal/wire"}, "types, without messages"},
	{"nocopy/internal/testtypes", []string{module + "/internal/testmode", module + "/nocopy/internal/schema"}, "types for tests, and checks; only tests import it"},
	{"nocopy/internal/formats", []string{module + "/internal/firstbytes", module + "/nocopy/internal/compact", module + "/nocopy/internal/parse", module + "/nocopy/internal/schema", module + "/nocopy/internal/wire"}, "bytes and types, without messages"},
	{"nocopy/internal/keytable", []string{module + "/internal/entry", module + "/internal/hashmap", module + "/nocopy/internal/schema", module + "/nocopy/internal/wire"}, "keys and numbers, without messages"},
	{"nocopy/internal/wireindex", []string{module + "/internal/entry", module + "/nocopy/internal/wire"}, "a format of bytes"},
	{"nocopy/internal/wire", nil, "the wire's numbers; users' programs get no dependency through it"},
	{"nocopy/internal/plain", []string{module + "/internal/memory", module + "/internal/byteorder", module + "/nocopy"}, "plain values and bytes; generated code calls it through thriftimpl"},
	{"nocopy/internal/compact", []string{module + "/internal/spare", module + "/nocopy/internal/schema", module + "/nocopy/internal/wire"}, "bytes to bytes; users' programs get no dependency through it"},
	{"nocopy/internal/render", []string{module + "/nocopy/internal/engine", module + "/nocopy/internal/schema", module + "/nocopy/internal/wire"}, "what messages look like: it reads them by what package engine exports"},
	{"nocopy/internal/program", []string{module + "/internal/entry", module + "/nocopy/internal/schema", module + "/nocopy/internal/wire"}, "types to ops, without messages"},
	{"nocopy/internal/index", []string{module + "/internal/entry", module + "/internal/hashmap", module + "/internal/spare", module + "/nocopy/internal/schema"}, "words of entries, without messages or their bytes"},
	{"nocopy/internal/parse", []string{module + "/internal/chain", module + "/internal/entry", module + "/nocopy/internal/index", module + "/nocopy/internal/program", module + "/nocopy/internal/schema", module + "/nocopy/internal/wire", module + "/nocopy/internal/wireindex"}, "bytes to an index, without messages"},
	{"nocopy/internal/engine", []string{module + "/linkbuf", module + "/internal/chain", module + "/internal/memory", module + "/internal/byteorder", module + "/internal/entry", module + "/internal/hashmap", module + "/internal/spare", module + "/nocopy/internal/formats", module + "/nocopy/internal/index", module + "/nocopy/internal/keytable", module + "/nocopy/internal/parse", module + "/nocopy/internal/program", module + "/nocopy/internal/schema", module + "/nocopy/internal/wire", module + "/nocopy/internal/compact"}, "Thrift over bytes; users' programs get no dependency through it"},
	{"nocopy", []string{module + "/linkbuf", module + "/internal/firstbytes", module + "/internal/byteorder", module + "/internal/chain", module + "/internal/memory", module + "/internal/entry", module + "/nocopy/internal/"}, "what people call of the engine; users' programs get no dependency through it"},
	{"cmd/nocopy", []string{module, "github.com/", "golang.org/x/", "go.yaml.in/"}, "a tool; a module of its own, which no program imports"},
	{"gen/idl", []string{"github.com/alecthomas/participle/v2", module + "/internal/nearest"}, "text to syntax tree"},
	{"gen/schema", []string{module + "/gen/idl", module + "/internal/entry"}, "syntax tree to meaning"},
	{"gen/golang/internal/names", []string{module + "/gen/schema", module + "/gen/idl"}, "what generated things are called, and warnings at places of the IDL"},
	{"gen/golang", []string{module + "/gen/schema", module + "/gen/idl", module + "/internal/entry", module + "/internal/ruleexpr", module + "/internal/template", module + "/gen/golang/internal"}, "meaning to Go; the runtime is called by what it writes, not by itself"},
	{"gen/audit", []string{module + "/gen/schema", module + "/gen/idl"}, "two schemas compared"},
	{"gen/idlfmt", []string{module + "/gen/idl"}, "tokens to text"},
	{"gen/nocopyc", []string{module + "/nocopy/thriftimpl", module + "/internal/nocopyc"}, "the commands are also ones of another tool"},
	{"gen/thrift-gen-nocopy/internal", []string{module + "/nocopy", module + "/gen/thrift-gen-nocopy/internal"}, "generated code imports nothing but nocopy and its like"},
	{"gen/thrift-gen-nocopy", []string{module + "/gen/", module + "/nocopy"}, "the plugin puts the generator's parts together, and reads thriftgo's messages by our accessors"},
	{"gen/internal/wild", []string{module + "/gen/internal/gocheck", module + "/internal/command"}, "the generator is run as programs do"},
	{"gen/internal", []string{module + "/nocopy", module + "/gen/internal"}, "generated code imports nothing but nocopy and its like"},
	{"interop/internal/apache", []string{"github.com/apache/thrift/"}, "Apache's generated code, which tests use"},
	{"interop/server", []string{module + "/interop", module + "/nocopy"}, "the commands are ours from end to end"},
	{"interop/client", []string{module + "/interop", module + "/nocopy"}, "the commands are ours from end to end"},
	{"interop", []string{module + "/interop/thrifttest", module + "/nocopy", module + "/internal/command"}, "it must not lean on the library that it is tested against"},
}

// rooms are the engine and its parts. Only its faces and other rooms may import them.
var (
	rooms = []string{"engine", "formats", "index", "keytable", "parse", "program", "render", "schema", "wire", "wireindex"}
	faces = []string{"nocopy", "nocopy/thriftimpl", "nocopy/internal/impl"}
)

func TestArrows(t *testing.T) {
	sources(t, ".", func(name string, src []byte) {
		if strings.HasSuffix(name, "_test.go") {
			return
		}
		if dir := path.Dir(name); !slices.Contains(faces, dir) && !strings.HasPrefix(dir, "nocopy/internal/") && !strings.HasPrefix(dir, "nocopy/tests/") {
			for _, imported := range imports(src) {
				if room, ok := strings.CutPrefix(imported, module+"/nocopy/internal/"); ok && slices.Contains(rooms, room) {
					t.Errorf("%s imports %s, which is for %v alone", name, imported, faces)
				}
			}
		}
		for _, a := range arrows {
			if !strings.HasPrefix(name, a.dir+"/") {
				continue
			}
			for _, imported := range imports(src) {
				standard := !strings.Contains(strings.Split(imported, "/")[0], ".")
				if standard || slices.ContainsFunc(a.may, func(p string) bool { return strings.HasPrefix(imported, p) }) {
					continue
				}
				t.Errorf("%s imports %s, but of %s: %s", name, imported, a.dir, a.reason)
			}
			return
		}
	})
}

// TestUnsafe: only files named *_unsafe.go use unsafe. Each says why, and has a twin without it,
// for the tag nounsafe.
func TestUnsafe(t *testing.T) {
	sources(t, ".", func(name string, src []byte) {
		if !slices.Contains(imports(src), "unsafe") {
			return
		}
		if !strings.HasSuffix(name, "_unsafe.go") {
			t.Errorf("%s imports unsafe", name)
			return
		}
		for _, d := range parse(src).Decls {
			text := textOf(src, d)
			if strings.Contains(text, "unsafe.") && !strings.Contains(text, "// SAFETY:") {
				t.Errorf("%s uses unsafe without a reason: %s", name, strings.Split(text, "\n")[0])
			}
		}
		twin := strings.TrimSuffix(name, "_unsafe.go") + "_safe.go"
		b, err := os.ReadFile(twin)
		if tags, _, _ := strings.Cut(string(b), "\n"); err != nil || !strings.HasPrefix(tags, "//go:build ") || !strings.Contains(tags, "nounsafe") || strings.Contains(tags, "!nounsafe") {
			t.Errorf("%s has no twin %s with the tag nounsafe", name, twin)
		}
	})
}

// TestFileSizes: a file fits in the head.
func TestFileSizes(t *testing.T) {
	const most = 620
	sources(t, ".", func(name string, src []byte) {
		if n := strings.Count(string(src), "\n"); n > most && !generated(src) {
			t.Errorf("%s has %d lines, more than %d", name, n, most)
		}
	})
}

// longComments are the folders whose comments are still to be brought below 100 characters a line.
var longComments = []string{}

// TestCommentWidth: the lines of comments, those of bench too, end before 100 characters.
// Generated files have comments of the IDL, and what follows "Output:" has lines of its own.
func TestCommentWidth(t *testing.T) {
	check := func(name string, src []byte) {
		if slices.Contains(longComments, path.Dir(name)) || generated(src) {
			return
		}
		lines := strings.Split(string(src), "\n")
		for _, group := range parse(src).Comments {
			if strings.Contains(group.Text(), "Output:") {
				continue
			}
			first, last := fset.Position(group.Pos()).Line, fset.Position(group.End()).Line
			for n := first; n <= last; n++ {
				line := strings.TrimSpace(lines[n-1])
				if strings.HasPrefix(line, "//go:") {
					continue
				}
				if width := utf8.RuneCountInString(lines[n-1]); width >= 100 {
					t.Errorf("%s:%d: a comment of %d characters", name, n, width)
				}
			}
		}
	}
	sources(t, ".", check)
	sources(t, "bench", check)
}

// TestDocumentWidth: the lines of documents end before 100 characters, but for tables and what is
// shown as code.
func TestDocumentWidth(t *testing.T) {
	for name, text := range documents(t) {
		code := false
		for n, line := range strings.Split(text, "\n") {
			if strings.HasPrefix(strings.TrimSpace(line), "```") {
				code = !code
			}
			if width := utf8.RuneCountInString(line); width >= 100 && !code && !strings.HasPrefix(line, "|") && !strings.HasPrefix(line, "    ") {
				t.Errorf("%s:%d: a line of %d characters", name, n+1, width)
			}
		}
	}
}

// documents returns the Markdown files by name, but for the results of benchmarks, which programs
// have written.
func documents(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.Name() == "node_modules" { // what npm has installed for an extension
			return fs.SkipDir
		}
		if err != nil || d.IsDir() || filepath.Ext(name) != ".md" || strings.HasPrefix(filepath.ToSlash(name), "bench/results/") {
			return err
		}
		text, err := os.ReadFile(name)
		all[name] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestPicture: DESIGN.md has at most 280 lines, and its picture is the packages of this module on
// floors: a package stands above all that it imports. The test prints the picture that it wants.
func TestPicture(t *testing.T) {
	text, err := os.ReadFile("DESIGN.md")
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), "\n"); n > 280 {
		t.Errorf("DESIGN.md has %d lines, more than 280", n)
	}
	_, have, _ := strings.Cut(string(text), "<!-- the picture, by TestPicture -->\n")
	have, _, _ = strings.Cut(have, "<!-- end -->")
	if diff := cmp.Diff(picture(t), have); diff != "" {
		t.Errorf("DESIGN.md has another picture (+) than the imports give (-):\n%s\nwanted:\n%s", diff, picture(t))
	}
}

// picture draws the packages of the root module, without tests' helpers, examples and generated
// code, one floor per line, the highest first.
func picture(t *testing.T) string {
	imported := map[string][]string{}
	excluded := regexp.MustCompile(`^(cmd|examples|bench|kitex|otel|parquetmeta|hive|kerberos|interop|internal/(rehearse|apachetest|testmode|steps|gocheck))(/|$)|/(internal|tests)(/|$)|^gen/internal`)
	left := func(dir string) bool { return excluded.MatchString(dir) && !strings.HasPrefix(dir, "nocopy/internal/") }
	sources(t, ".", func(name string, src []byte) {
		dir := path.Dir(name)
		if strings.HasSuffix(name, "_test.go") || dir == "." || left(dir) {
			return
		}
		imported[dir] = append(imported[dir], "")
		for _, i := range imports(src) {
			if below, ok := strings.CutPrefix(i, module+"/"); ok && !left(below) {
				imported[dir] = append(imported[dir], below)
			}
		}
	})
	known := map[string]int{}
	var floor func(dir string) int
	floor = func(dir string) int {
		n, ok := known[dir]
		if ok {
			return n
		}
		for _, below := range imported[dir] {
			if below != "" {
				n = max(n, floor(below)+1)
			}
		}
		known[dir] = n
		return n
	}
	floors := map[int][]string{}
	for dir := range imported {
		floors[floor(dir)] = append(floors[floor(dir)], dir)
	}
	var b strings.Builder
	for n := len(floors) - 1; n >= 0; n-- {
		slices.Sort(floors[n])
		line := fmt.Sprintf("    %d ", n)
		for _, dir := range floors[n] {
			if len(line)+len(dir) > 95 {
				b.WriteString(line + "\n")
				line = "      "
			}
			line += " " + dir
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

// TestHelpers: a file named _test.go that has no tests says in its first line what it is.
func TestHelpers(t *testing.T) {
	tests := regexp.MustCompile(`(?m)^func (Test|Fuzz|Benchmark|Example)`)
	check := func(name string, src []byte) {
		if strings.HasSuffix(name, "_test.go") && !tests.Match(src) && !strings.HasPrefix(string(src), "// ") {
			t.Errorf("%s has no tests, and its first line does not say what it is", name)
		}
	}
	sources(t, ".", check)
	sources(t, "bench", check)
}

// TestNames: a folder's name says what lives there.
func TestNames(t *testing.T) {
	sources(t, ".", func(name string, src []byte) {
		switch pkg := parse(src).Name.Name; pkg {
		case "util", "utils", "common", "helper", "helpers", "misc", "base":
			t.Errorf("%s is in a package called %s", name, pkg)
		}
	})
}

// TestDocumented: every exported name of the packages that users call says what it does.
func TestDocumented(t *testing.T) {
	sources(t, ".", func(name string, src []byte) {
		if strings.HasSuffix(name, "_test.go") || strings.Contains(name, "internal/") || strings.Contains(name, "/tests/") ||
			!strings.HasPrefix(name, "linkbuf/") && !strings.HasPrefix(name, "nocopy/") {
			return
		}
		for _, d := range parse(src).Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Name.IsExported() && exportedReceiver(d) && d.Doc == nil {
					t.Errorf("%s: %s has no comment", name, d.Name)
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if s, ok := spec.(*ast.TypeSpec); ok && s.Name.IsExported() && d.Doc == nil && s.Doc == nil {
						t.Errorf("%s: type %s has no comment", name, s.Name)
					}
				}
			}
		}
	})
}

func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	exported := true
	ast.Inspect(d.Recv.List[0].Type, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && exported {
			exported = id.IsExported()
			return false
		}
		return exported
	})
	return exported
}

// TestSignposts: Go files that documents name are there, and what they name in parentheses after a
// file is in it.
func TestSignposts(t *testing.T) {
	all := map[string]string{} // sources by the files' names, without folders
	sources(t, ".", func(name string, src []byte) { all[filepath.Base(name)] += string(src) })
	signpost := regexp.MustCompile("\\b([a-z][a-z_0-9]*\\.go)\\b(?:`? \\(([^)]*)\\))?")
	for _, doc := range []string{"CONTRIBUTING.md", "docs/internals.md", "nocopy/rpc/states.md"} {
		b, err := os.ReadFile(doc)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range signpost.FindAllStringSubmatch(strings.ReplaceAll(string(b), "\n", " "), -1) {
			if all[m[1]] == "" {
				t.Errorf("%s: there is no %s", doc, m[1])
			}
			for word := range strings.SplitSeq(strings.ReplaceAll(m[2], "`", ""), ", ") {
				if !strings.Contains(word, " ") && !regexp.MustCompile(`\b`+word+`\b`).MatchString(all[m[1]]) {
					t.Errorf("%s: %s has no %s", doc, m[1], word)
				}
			}
		}
	}
}

// TestSecurityPage: SECURITY.md has at most 16 KB. Each promise in its tables has a row of the
// same name in docs/security-notes.md, in the same order. That row names a test that exists, or a
// target of the Makefile.
func TestSecurityPage(t *testing.T) {
	page, err := os.ReadFile("SECURITY.md")
	if err != nil {
		t.Fatal(err)
	}
	notes, err := os.ReadFile("docs/security-notes.md")
	if err != nil {
		t.Fatal(err)
	}
	if len(page) > 16<<10 {
		t.Errorf("SECURITY.md has %d bytes, more than 16 KB: put details into docs/security-notes.md", len(page))
	}
	tests := map[string]bool{}
	sources(t, ".", func(name string, src []byte) {
		for _, m := range regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`).FindAllSubmatch(src, -1) {
			tests[string(m[1])] = true
		}
	})
	named := regexp.MustCompile("`((?:Test|Fuzz)\\w+)`").FindAllSubmatch(append(page, notes...), -1)
	for _, m := range named {
		if !tests[string(m[1])] {
			t.Errorf("the pages about security name %s, which there is not", m[1])
		}
	}
	if len(named) < 300 {
		t.Errorf("docs/security-notes.md names only %d tests", len(named))
	}
	var promises, shown []string
	for _, m := range regexp.MustCompile(`(?m)^\| ([^|]+) \|[^|]+\|$`).FindAllSubmatch(page, -1) {
		promises = append(promises, string(m[1]))
	}
	for _, m := range regexp.MustCompile(`(?m)^\| ([^|]+) \|(?: [^|]+)? \|([^|]+)\|$`).FindAllSubmatch(notes, -1) {
		if shown = append(shown, string(m[1])); !regexp.MustCompile("`(Test|Fuzz|make )\\w+`").Match(m[2]) {
			t.Errorf("docs/security-notes.md names no test for %q", m[1])
		}
	}
	if len(promises) < 80 || len(shown) < len(promises) {
		t.Fatalf("%d promises in SECURITY.md, %d rows in docs/security-notes.md", len(promises), len(shown))
	}
	// The rows at the end are about what is not promised.
	if diff := cmp.Diff(promises, shown[:len(promises)]); diff != "" {
		t.Errorf("the rows of SECURITY.md (-) and of docs/security-notes.md (+) differ:\n%s", diff)
	}
}
