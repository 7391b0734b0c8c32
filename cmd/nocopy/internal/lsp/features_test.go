package lsp

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	protocol "github.com/tliron/glsp/protocol_3_16"
)

const twoFiles = `-- money.thrift --
namespace go money

/**
 * A sum of money.
 */
struct Amount {
  1: required i64 cents // in cents
  2: required Currency currency
}
enum Currency { EUR = 1, USD }
typedef Amount Price
const Currency HOME = Currency.EUR
service Base { void ping() }
exception Broke { 1: string why }
`

const shop = `include "money.thrift"

// What a customer buys.
struct Item {
  1: required string name = "x"
  2: money.Price price = {"cents": 1, "currency": money.Currency.USD}
  3: list<Colour> colours = [Colour.RED]
}

enum Colour {
  RED // like blood
  GREEN = 5
  BLUE
}

service Shop extends money.Base {
  Item find(1: string name, 2: Colour colour) throws (1: money.Broke broke)
}
`

// mark returns shop with a "|" in the middle of the nth place of a text.
func mark(word string, n int) string {
	at := 0
	for range n {
		at += strings.Index(shop[at:], word) + 1
	}
	at += len(word)/2 - 1
	return shop[:at] + "|" + shop[at:]
}

// where returns locations as "file:line:column".
func (e *editor) where(list ...protocol.Location) string {
	var all []string
	for _, l := range list {
		name := strings.TrimPrefix(l.URI, uriOf(e.dir)+"/")
		all = append(all, fmt.Sprintf("%s:%d:%d-%d", name, l.Range.Start.Line+1, l.Range.Start.Character+1, l.Range.End.Character+1))
	}
	return strings.Join(all, " ")
}

func TestDefinition(t *testing.T) {
	e := newEditor(t, twoFiles)
	e.open("shop.thrift", shop)
	for _, c := range []struct {
		word string
		n    int
		want string
	}{
		{"Price", 1, "money.thrift:11:16-21"},
		{"money", 2, "money.thrift:1:1-1"},
		{"money", 1, "money.thrift:1:1-1"},
		{"Colour", 1, "shop.thrift:10:6-12"},
		{"RED", 1, "shop.thrift:11:3-6"},
		{"cents", 1, "money.thrift:7:19-24"},
		{"currency", 1, "money.thrift:8:24-32"},
		{"Currency", 1, "money.thrift:10:6-14"},
		{"USD", 1, "money.thrift:10:26-29"},
		{"Base", 1, "money.thrift:13:9-13"},
		{"Broke", 1, "money.thrift:14:11-16"},
		{"Item", 2, "shop.thrift:4:8-12"},
		{"Item", 1, "shop.thrift:4:8-12"},
		{"string", 1, ""},
		{"customer", 1, ""},
	} {
		at := e.change("shop.thrift", mark(c.word, c.n))
		var got string
		if raw := e.call("textDocument/definition", at); string(raw) != "null" {
			var l protocol.Location
			if err := json.Unmarshal(raw, &l); err != nil {
				t.Fatal(err)
			}
			got = e.where(l)
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.word, got, c.want)
		}
	}
}

func TestReferencesAndRename(t *testing.T) {
	e := newEditor(t, twoFiles+"-- deep/far.thrift --\ninclude \"../money.thrift\"\nconst money.Amount NOTHING = {\"cents\": 0, \"currency\": money.Currency.EUR}\ntypedef money.Currency Cur\nconst Cur C = Cur.USD\n-- other.thrift --\nstruct Currency { 1: i32 cents }\nconst Currency X = {\"cents\": 1}\n")
	e.open("shop.thrift", shop)
	for _, c := range []struct {
		word             string
		n                int
		uses, with, text string
	}{
		{"Currency", 1, "deep/far.thrift:2:61-69 deep/far.thrift:3:15-23 money.thrift:10:6-14 money.thrift:8:15-23 money.thrift:12:7-15 money.thrift:12:23-31 shop.thrift:6:57-65", "Coin", "typedef money.Coin Cur"},
		{"USD", 1, "deep/far.thrift:4:19-22 money.thrift:10:26-29 shop.thrift:6:66-69", "YEN", "const Cur C = Cur.YEN"},
		{"cents", 1, "deep/far.thrift:2:32-37 money.thrift:7:19-24 shop.thrift:6:28-33", "cent", "NOTHING = {\"cent\": 0"},
		{"Colour", 1, "shop.thrift:10:6-12 shop.thrift:7:11-17 shop.thrift:7:30-36 shop.thrift:17:32-38", "Color", "  3: list<Color> colours = [Color.RED]"},
		{"find", 1, "shop.thrift:17:8-12", "get", "Item get(1:"},
	} {
		at := e.change("shop.thrift", mark(c.word, c.n))
		list := ask[[]protocol.Location](e, "textDocument/references", with(at, "context", map[string]any{"includeDeclaration": true}))
		if got := e.where(list...); got != c.uses {
			t.Errorf("%s: %s, want %s", c.word, got, c.uses)
		}
		few := ask[[]protocol.Location](e, "textDocument/references", with(at, "context", map[string]any{"includeDeclaration": false}))
		if len(few) != len(list)-1 {
			t.Errorf("%s: %d uses, %d without the declaration", c.word, len(list), len(few))
		}
		var all strings.Builder
		for _, text := range e.apply(ask[protocol.WorkspaceEdit](e, "textDocument/rename", with(at, "newName", c.with))) {
			all.WriteString(text)
		}
		if !strings.Contains(all.String(), c.text) {
			t.Errorf("%s: no %q in %s", c.word, c.text, &all)
		}
		if place := ask[protocol.RangeWithPlaceholder](e, "textDocument/prepareRename", at); place.Placeholder != c.word {
			t.Errorf("%s: %v", c.word, place)
		}
	}
	for _, c := range []struct{ src, name string }{
		{mark("Item", 1), "Colour"}, {mark("RED", 1), "BLUE"}, {mark("Item", 1), "a b"}, {mark("Item", 1), ""}, {mark("Item", 1), "struct"}, {mark("money", 1), "x"}, {mark("string", 1), "x"},
	} {
		at := e.change("shop.thrift", c.src)
		if result, err := e.try("textDocument/rename", with(at, "newName", c.name)); err == nil {
			t.Errorf("renamed to %q: %s", c.name, result)
		}
	}
}

func TestHover(t *testing.T) {
	e := newEditor(t, twoFiles)
	e.open("shop.thrift", shop)
	for _, c := range []struct {
		word string
		n    int
		want []string
	}{
		{"Price", 1, []string{"typedef Amount Price", "`Amount`, a struct in `money.thrift`", "wire size 19 bytes"}},
		{"price", 1, []string{"id 2", "default `{\"cents\": 1, \"currency\": money.Currency.USD}`", "`money.Price` = `Amount`, a struct in `money.thrift`", "wire size 19 bytes, 22 with"}},
		{"Item", 2, []string{"What a customer buys.", "struct Item {\n  1: required", "next free id 4"}},
		{"cents", 1, []string{"in cents", "of `Amount`", "id 1", "wire size 8 bytes, 11 with"}},
		{"RED", 2, []string{"like blood", "number 0"}},
		{"BLUE", 1, []string{"number 6"}},
		{"Base", 1, []string{"service Base"}},
		{"string", 1, nil},
	} {
		at := e.change("shop.thrift", mark(c.word, c.n))
		raw := e.call("textDocument/hover", at)
		var h struct{ Contents protocol.MarkupContent }
		if err := json.Unmarshal(raw, &h); err != nil {
			t.Fatal(err)
		}
		for _, want := range c.want {
			if !strings.Contains(h.Contents.Value, want) {
				t.Errorf("%s: no %q in %s", c.word, want, h.Contents.Value)
			}
		}
		if c.want == nil && h.Contents.Value != "" {
			t.Errorf("%s: %s", c.word, h.Contents.Value)
		}
	}
	at := e.open("a.thrift", "struct A { 1: i6|4 a (vt.min_size = \"1\") }\n")
	if raw := e.call("textDocument/hover", at); !strings.Contains(string(raw), "8 bytes") {
		t.Error(string(raw))
	}
	at = e.change("a.thrift", "struct A { 1: i64 a (vt.min|_size = \"1\") }\n")
	if raw := e.call("textDocument/hover", at); !strings.Contains(string(raw), "least number") {
		t.Error(string(raw))
	}
}

func TestSymbols(t *testing.T) {
	e := newEditor(t, twoFiles)
	e.open("shop.thrift", shop)
	var b strings.Builder
	var list func(all []protocol.DocumentSymbol, indent string)
	list = func(all []protocol.DocumentSymbol, indent string) {
		for _, s := range all {
			fmt.Fprintf(&b, "%s%s %d\n", indent, s.Name, s.Kind)
			list(s.Children, indent+" ")
		}
	}
	list(ask[[]protocol.DocumentSymbol](e, "textDocument/documentSymbol", map[string]any{"textDocument": map[string]any{"uri": e.uri("shop.thrift")}}), "")
	if got, want := b.String(), "money.thrift 2\nItem 23\n name 8\n price 8\n colours 8\nColour 10\n RED 22\n GREEN 22\n BLUE 22\nShop 11\n find 6\n"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	var names []string
	for _, s := range ask[[]protocol.SymbolInformation](e, "workspace/symbol", map[string]any{"query": "CU"}) {
		names = append(names, e.where(s.Location)+" "+s.Name)
	}
	if got := strings.Join(names, "; "); got != "money.thrift:8:24-32 currency; money.thrift:10:6-14 Currency" {
		t.Error(got)
	}
}

// labels returns the labels of the items at a place.
func (e *editor) labels(at map[string]any) (labels []string) {
	e.Helper()
	for _, item := range ask[protocol.CompletionList](e, "textDocument/completion", at).Items {
		labels = append(labels, item.Label)
	}
	return labels
}

func TestCompletion(t *testing.T) {
	e := newEditor(t, twoFiles+"-- sub/deep.thrift --\nstruct Deep {}\n-- far.thrift --\nstruct Far {}\n")
	e.open("shop.thrift", shop)
	e.call("workspace/symbol", map[string]any{"query": "nothing"}) // all files are read then
	for _, c := range []struct{ src, yes, no string }{
		{"|", "struct service include namespace", "i32 required"},
		{"str|", "struct", ""},
		{"namespace |", "go py", "struct"},
		{"include \"|\"", "money.thrift sub/", "shop.thrift"},
		{"include \"|\n", "money.thrift sub/", ""},
		{"include \"sub/|\"", "sub/deep.thrift", "money.thrift"},
		{"include \"money.thrift\"\nstruct A {\n  1: i32 a\n  |\n}", "2:  required optional i32 map A money.Amount far.Far", "string_ void money.Base"},
		{"struct A {\n  // reserved 7\n  1: i32 a\n  |\n}", "8: ", ""},
		{"struct A {\n  1: |\n}\nstruct B {}", "required i64 B", "2: "},
		{"struct A {\n  1: required |\n}\nstruct B {}", "i64 B", "required"},
		{"struct A {\n  1: required list<|\n}\nstruct B {}", "i64 B", "required"},
		{"struct A {\n  1: required map<string, |>\n}\nstruct B {}", "i64 B", "required"},
		{"struct A {\n  1: i32 |\n}\nstruct B {}", "", "i64 B required"},
		{"include \"money.thrift\"\nstruct A {\n  1: money.|\n}\n", "money.Amount money.Currency money.Price", "money.Base"},
		{"struct A {\n  1: A|\n", "A", ""},
		{"include \"money.thrift\"\nstruct A {\n  1: money.Currency c = |\n}", "money.Currency.EUR money.Currency.USD money.HOME", "i64"},
		{"include \"money.thrift\"\nstruct A {\n  1: money.Currency c = money.Currency.|\n}", "money.Currency.EUR", ""},
		{"include \"money.thrift\"\nstruct A {\n  1: money.Price c = {\"|\"}\n}", "cents currency", "i64 name"},
		{"include \"money.thrift\"\nstruct A {\n  1: money.Price c = {|}\n}", "cents currency", "i64"},
		{"include \"money.thrift\"\nstruct A {\n  1: money.Price c = {\"cents\": 1, |\n}", "currency", "i64"},
		{"include \"money.thrift\"\nstruct A {\n  1: money.Price c = {\"currency\": |}\n}", "money.Currency.USD", "cents"},
		{"include \"money.thrift\"\nconst list<money.Currency> C = [|]", "money.Currency.USD", "cents"},
		{"struct A {\n  1: bool c = |\n}", "true false", "i64"},
		{"struct A {\n  1: bool c (|)\n}", "vt.in go.tag api.query nocopy.redact", "i64"},
		{"struct A {\n  1: bool c (go.tag = \"x\", a|)\n}", "api.query", "i64"},
		{"service S {\n  i32 f(1: i32 a) (api.|)\n}", "api.get", "i64"},
		{"include \"money.thrift\"\nservice S extends |", "money.Base", "money.Amount"},
		{"service S {\n  |\n}\nstruct A {}", "void oneway A i32", "required"},
		{"service S {\n  A f(|)\n}\nstruct A {}", "1:  A i32", "throws"},
		{"service S {\n  A f(1: i32 a, |)\n}\nstruct A {}", "2:  A i32", "throws"},
		{"include \"money.thrift\"\nservice S {\n  void f() throws (1: |)\n}\nstruct A {}", "money.Broke", "A i32"},
		{"service S {\n  void f() |\n}\n", "throws", ""},
		{"enum E { A = 1, B = |", "2", "i64"},
		{"typedef |", "i64 map", ""},
		{"const |", "i64 map", ""},
		{"// |", "", "struct"},
		{"struct A { 1: string s = \"|\" }", "", "A i32"},
	} {
		labels := e.labels(e.change("shop.thrift", c.src))
		for _, want := range strings.Split(strings.ReplaceAll(c.yes, ":  ", ": "), " ") {
			if want != "" && !slices.Contains(labels, want) && !slices.Contains(labels, want+" ") {
				t.Errorf("%q: no %q in %q", c.src, want, labels)
			}
		}
		for want := range strings.FieldsSeq(c.no) {
			if slices.Contains(labels, want) {
				t.Errorf("%q: %q", c.src, want)
			}
		}
	}
}

// TestCompletionEdits chooses items.
func TestCompletionEdits(t *testing.T) {
	e := newEditor(t, twoFiles)
	e.open("shop.thrift", "")
	e.call("workspace/symbol", map[string]any{"query": "nothing"})
	for _, c := range []struct{ src, label, want string }{
		{"include \"money.thrift\"\nstruct A { 1: money.Pr| a }", "money.Price", "include \"money.thrift\"\nstruct A { 1: money.Price a }"},
		{"namespace go x\n\nstruct A { 1: Am| a }", "money.Amount", "include \"money.thrift\"\nnamespace go x\n\nstruct A { 1: money.Amount a }"},
		{"// license\n\n// doc\nstruct A { 1: Am| a }", "money.Amount", "// license\n\ninclude \"money.thrift\"\n\n// doc\nstruct A { 1: money.Amount a }"},
		{"include \"mon|\"", "money.thrift", "include \"money.thrift\""},
		{"include \"money.thrift\"\nconst money.Amount A = {|}", "cents", "include \"money.thrift\"\nconst money.Amount A = {\"cents\": }"},
		{"include \"money.thrift\"\nconst money.Amount A = {\"c|e\"}", "cents", "include \"money.thrift\"\nconst money.Amount A = {\"cents\"}"},
		{"struct A {\n  1: i32 é😀\n  |\n}", "2: ", "struct A {\n  1: i32 é😀\n  2: \n}"},
		{"struct A { 1: i32 a (api|) }", "api.query", "struct A { 1: i32 a (api.query = \"\") }"},
		{"struct A { 1: i32 a (api| = \"x\") }", "api.query", "struct A { 1: i32 a (api.query = \"x\") }"},
	} {
		at := e.change("shop.thrift", c.src)
		var items struct {
			Items []struct {
				Label               string
				TextEdit            protocol.TextEdit
				AdditionalTextEdits []protocol.TextEdit
			}
		}
		if err := json.Unmarshal(e.call("textDocument/completion", at), &items); err != nil {
			t.Fatal(err)
		}
		found := false
		for _, item := range items.Items {
			if item.Label == c.label {
				found = true
				if got := edited(e, e.texts["shop.thrift"], append(item.AdditionalTextEdits, item.TextEdit)); got != c.want {
					t.Errorf("%q: %q, want %q", c.src, got, c.want)
				}
			}
		}
		if !found {
			t.Errorf("%q: no %q", c.src, c.label)
		}
	}
}
