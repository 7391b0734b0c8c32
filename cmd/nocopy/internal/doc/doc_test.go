package doc

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/shell"
)

const hostile = `
include "../money/money.thrift"
include "index.thrift"
namespace go shop.orders

/** What a customer buys.
 *
 * Text with ` + "`code <b>`" + ` & <script>alert("x")</script> and [a link](javascript:alert(1)).
 *
 *     an example
 *
 * # not a heading | not a cell */
struct Order {
  1: required string id = "</script><img src=x onerror=alert(1)>" (api.path = "id\"><script>alert(2)</script>")
  /** How much. | in a cell
   * on two lines */
  2: list<map<Color, money.Amount>> amounts
  3: index.Index index
  -1: Unit unit
}
typedef money.Amount Unit
/** A colour. */
enum Color { RED, BLUE = 5 /* not red */, GREEN }
const map<string, i32> LIMITS = {"a": 1, "b": 2}
exception Broken { 1: string why }
service Base {}
/** Sells. */
service Shop extends Base {
  /** Buys. */
  Order buy(1: Order order /* what */) throws (1: Broken b)
  oneway void ping()
}
`

func put(t *testing.T, texts map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range texts {
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

func run(c Command) (string, error) {
	var out bytes.Buffer
	if c.Format == "" {
		c.Format = "html"
	}
	err := c.Run(&shell.Shell{Out: &out, Err: &out})
	return out.String(), err
}

func texts() map[string]string {
	return map[string]string{
		"idl/shop/order.thrift": hostile, "idl/shop/index.thrift": "struct Index {}", "idl/money/money.thrift": "struct Amount { 1: i64 cents }",
		"idl/other/order.thrift": "struct Other {}",
	}
}

var (
	link = regexp.MustCompile(`href="([^"]*)"`)
	id   = regexp.MustCompile(`id="([^"]*)"`)
	from = regexp.MustCompile(`(?:src|href)="([^"]*)"`)
)

// TestHTML: all links lead somewhere, nothing comes from elsewhere, and no text of a file is
// anything but text.
func TestHTML(t *testing.T) {
	put(t, texts())
	if out, err := run(Command{Paths: []string{"idl"}, Out: "site", Title: "A <b> & \"c\""}); err != nil {
		t.Fatal(err, out)
	}
	pages := map[string]string{}
	ids := map[string]bool{}
	err := fs.WalkDir(os.DirFS("site"), ".", func(name string, d fs.DirEntry, err error) error {
		if d.IsDir() {
			return err
		}
		text, err := os.ReadFile("site/" + name)
		pages[name] = string(text)
		ids[name] = true
		for _, m := range id.FindAllStringSubmatch(string(text), -1) {
			if ids[name+"#"+m[1]] {
				t.Errorf("%s has the id %s twice", name, m[1])
			}
			ids[name+"#"+m[1]] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"index.html", "order.html", "order-2.html", "index-2.html", "money.html", "index.js", "search.js", "style.css"} {
		if pages[want] == "" {
			t.Errorf("%s is missing", want)
		}
	}
	links := 0
	for name, text := range pages {
		for _, m := range from.FindAllStringSubmatch(text, -1) {
			if strings.Contains(m[1], ":") || strings.HasPrefix(m[1], "/") {
				t.Errorf("%s refers to %s", name, m[1])
			}
		}
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			to := m[1]
			if strings.HasPrefix(to, "#") {
				to = name + to
			}
			if links++; !ids[to] {
				t.Errorf("%s has a link to %s, which is not there", name, to)
			}
		}
		for _, bad := range []string{"<script>alert", "<img", "onerror=alert(1)>", "<b>"} {
			if strings.Contains(text, bad) {
				t.Errorf("%s has %s", name, bad)
			}
		}
	}
	if links < 50 {
		t.Errorf("only %d links", links)
	}
	for _, want := range []string{
		`map&lt;<a href="order-2.html#Color">Color</a>, <a href="money.html#Amount">money.Amount</a>&gt;`, `<a href="index-2.html#Index">index.Index</a>`,
		`<pre>    an example</pre>`, `<code>code &lt;b&gt;</code>`, `extends <a href="order-2.html#Base">Base</a>`,
	} {
		if !strings.Contains(pages["order-2.html"], want) && !strings.Contains(pages["order.html"], strings.ReplaceAll(want, "order-2", "order")) {
			t.Errorf("%s is missing in\n%s", want, pages["order-2.html"])
		}
	}
	if !strings.Contains(pages["index.js"], `["Shop.buy","method","order`) {
		t.Error(pages["index.js"])
	}
}

// TestMarkdown: likewise.
func TestMarkdown(t *testing.T) {
	put(t, texts())
	if out, err := run(Command{Paths: []string{"idl/shop"}, Out: "site", Title: "T", Format: "markdown"}); err != nil {
		t.Fatal(err, out)
	}
	text, err := os.ReadFile("site/order.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"<script>", "<img", "](javascript:", "\n# not"} {
		if strings.Contains(strings.ReplaceAll(string(text), `\]`, ""), bad) {
			t.Errorf("it has %s:\n%s", bad, text)
		}
	}
	for _, want := range []string{
		"| 2 | amounts | list&lt;map&lt;[Color](order.md#Color), [money.Amount](money.md#Amount)&gt;&gt; | How much. \\| in a cell on two lines |",
		`<a id="Shop.buy"></a>[Order](order.md#Order) buy([Order](order.md#Order) order) throws [Broken](order.md#Broken)`,
		"<code>code &lt;b&gt;</code>", "| 6 | GREEN |",
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%s is missing in\n%s", want, text)
		}
	}
}

// TestOutside: no file is written outside of the folder, even if it contains links or names of
// files lead out of it.
func TestOutside(t *testing.T) {
	put(t, map[string]string{"idl/...thrift": "struct S {}", "idl/INDEX.thrift": "struct S {}", "elsewhere/index.html": "mine", "elsewhere/style.css": "mine"})
	if err := os.MkdirAll("site", 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../elsewhere/index.html", "site/index.html"); err != nil {
		t.Skip(err) // a system without symbolic links
	}
	if out, err := run(Command{Paths: []string{"idl"}, Out: "site"}); err == nil {
		t.Errorf("it was written through a link: %s", out)
	}
	if text, _ := os.ReadFile("elsewhere/index.html"); string(text) != "mine" {
		t.Errorf("%s", text)
	}
	os.Remove("site/index.html")
	if out, err := run(Command{Paths: []string{"idl"}, Out: "site"}); err != nil {
		t.Error(out, err)
	}
	names, _ := filepath.Glob("site/*")
	if fmt.Sprint(names) != "[site/INDEX-2.html site/_...html site/index.html site/index.js site/search.js site/style.css]" {
		t.Error(names)
	}
}

// TestErrors: faults are reported, and nothing is written.
func TestErrors(t *testing.T) {
	put(t, map[string]string{"a.thrift": "struct S { 1: None n }", "b.thrift": strings.Repeat("typedef list<i32> t ", 3), "empty/x": ""})
	for path, want := range map[string]string{"a.thrift": "unknown type None", "none.thrift": "none.thrift", "empty": "no .thrift files"} {
		out, err := run(Command{Paths: []string{path}, Out: "site"})
		if shell.CodeOf(err) != shell.Failed || !strings.Contains(out+fmt.Sprint(err), want) {
			t.Errorf("%s: %s %v", path, out, err)
		}
	}
	if _, err := os.Stat("site"); err == nil {
		t.Error("something was written")
	}
}
