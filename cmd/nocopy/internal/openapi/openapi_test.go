package openapi

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/pb33f/libopenapi"
	validator "github.com/pb33f/libopenapi-validator"

	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/shell"
)

// document returns what the command prints for IDL files, after libopenapi has validated it.
func document(t *testing.T, c Command) libopenapi.Document {
	t.Helper()
	var out bytes.Buffer
	if err := c.Run(&shell.Shell{Out: &out, Err: &out}); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	doc, err := libopenapi.NewDocument(out.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := doc.BuildV3Model(); err != nil {
		t.Fatal(err)
	}
	v, errs := validator.NewValidator(doc)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	if ok, errs := v.ValidateDocument(); !ok {
		for _, e := range errs {
			t.Errorf("%s: %s %v", e.Message, e.Reason, e.SchemaValidationErrors)
		}
		t.Fatal(out.String())
	}
	return doc
}

const everything = `
/** A colour. "quoted" <script>alert(1)</script> : - #{}
 * @deprecated */
enum Color { RED = 1, BLUE = 2 }
enum Empty {}
union Either { 1: i32 number, 2: string text (api.header = "X-Not") }
struct Inner { 1: string trace (api.header = "X-Trace"), 2: list<Inner> more, 3: required i64 n (api.js_conv) }
struct Request {
  1: required string id (api.path = "id")
  2: required i32 page (api.query = "page")
  3: list<Color> colors (api.query = "c")
  4: string token (api.cookie = "token", api.header = "Token")
  5: map<string, Inner> by_name
  6: map<Inner, binary> by_inner
  7: required Either either (api.body = "or")
  8: Inner inner
  9: double d
  10: uuid u
  11: string hidden (go.tag = 'json:"-"')
  12: i64 big (go.tag = 'json:"Big,string"')
  13: set<i8> small
  14: Empty empty
}
struct Reply { 1: i32 status (api.http_code), 2: string etag (api.header = "ETag"), 3: Inner inner }
exception NotFound { 1: string what } (api.http_code = "404")
exception Gone { 1: string what (api.header = "X-What") } (api.http_code = "404")
exception Plain {}
struct Upload { 1: string name (api.form = "name"), 2: binary file (api.form) }
service Base { void inherited() (api.get = "/inherited") }
service All extends Base {
  /** Finds things.
   *
   * In all places. */
  Reply find(1: Request r) throws (1: NotFound n, 2: Gone g, 3: Plain p) (api.post = "/things/:id", api.put = "/things/:id/x")
  i32 search(1: string q, 2: list<i64> ids, 3: Inner not_in_query) (api.get = "/search")
  void upload(1: Upload u) (api.post = "/upload")
  oneway void raw(1: binary b (api.raw_body), 2: string rest (api.path)) (api.put = "/raw/*rest")
  binary any(1: i32 a) (api.any = "/any/:unused")
}
service Unannotated { string echo(1: string text, 2: Reply r), void one(1: Inner only), oneway void ping() }
`

// TestValid: documents are valid, with everything that an annotation can say.
func TestValid(t *testing.T) {
	t.Chdir(t.TempDir())
	other := "struct Inner { 1: string other }\nstruct Problem {}\nservice Other { Inner f(1: Problem p) }\n"
	if err := os.WriteFile("a.thrift", []byte(everything), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("b.thrift", []byte(other), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, format := range []string{"json", "yaml"} {
		doc := document(t, Command{Files: []string{"a.thrift", "b.thrift"}, Format: format, Title: "a: \"b\"\n# c", APIVersion: "1", Server: []string{"http://127.0.0.1:8080"}})
		model, err := doc.BuildV3Model()
		if err != nil {
			t.Fatal(err)
		}
		var have []string
		for path, item := range model.Model.Paths.PathItems.FromOldest() {
			for method := range item.GetOperations().FromOldest() {
				have = append(have, method+" "+path)
			}
		}
		for _, want := range []string{
			"post /things/{id}", "put /things/{id}/x", "get /search", "post /upload", "put /raw/{rest}", "patch /any/{unused}",
			"get /inherited", "post /Unannotated/echo", "post /Unannotated/one", "post /Unannotated/ping", "post /Other/f",
		} {
			if !strings.Contains("\n"+strings.Join(have, "\n")+"\n", "\n"+want+"\n") {
				t.Errorf("%s is missing in %v", want, have)
			}
		}
		for _, name := range []string{"a.Inner", "b.Inner", "b.Problem", "Problem", "a.Inner.plain", "Reply"} {
			if _, ok := model.Model.Components.Schemas.Get(name); !ok {
				t.Errorf("schema %s is missing", name)
			}
		}
	}
}

// TestRefused: a service that can't be offered is an error that says why.
func TestRefused(t *testing.T) {
	t.Chdir(t.TempDir())
	for text, want := range map[string]string{
		`service S { void f() (api.get = "x") }`:                                      "S.f (api.get): path \"x\" does not begin",
		`service S { void f() (api.get = "/a/{b}") }`:                                 "has one of the characters",
		`service S { void f() (api.get = "/a/../b") }`:                                "can't have a part \"..\"",
		`service S { void f() (api.get = "/:a/:a") }`:                                 "duplicate wildcard name",
		`service S { void f(1: required i32 a (api.path = "b")) (api.get = "/:a") }`:  `f_args.a is required, but can't be set: it is in the path, which has no ":b"`,
		`exception E {} (api.http_code = "1") service S { void f() throws (1: E e) }`: "no status from 200 to 599",
		`struct S {}`:              "no service with methods",
		`struct S { 1: Unknown u}`: "exit",
	} {
		if err := os.WriteFile("a.thrift", []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		c := Command{Files: []string{"a.thrift"}, Format: "json"}
		err := c.Run(&shell.Shell{Out: &out, Err: &out})
		if want == "exit" {
			want = shell.ErrSilent.Error()
		}
		if err == nil || !strings.Contains(err.Error(), want) || shell.CodeOf(err) != shell.Failed {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
