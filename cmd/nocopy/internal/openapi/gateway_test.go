package openapi

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	validator "github.com/pb33f/libopenapi-validator"

	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/shell"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/descriptor"
	"github.com/nocopythrift/nocopythrift/nocopy/dynamic"
	"github.com/nocopythrift/nocopythrift/nocopy/gateway"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/rpctest"
)

// gatewayIDL returns the IDL of the gateway's example and of its test, and a plain service.
func gatewayIDL(t *testing.T) map[string]string {
	t.Helper()
	const dir = "../../../../examples/programs/gateway/"
	texts := map[string]string{"json.thrift": jsonTexts, "plain.thrift": "struct In { 1: required string a, 2: list<string> more }\nservice Plain { In echo(1: In only), i64 add(1: i64 a, 2: required i64 b), void nothing() }\n"}
	for _, name := range []string{"kvstore.thrift", "orders.thrift"} {
		text, err := os.ReadFile(dir + "idl/" + name)
		if err != nil {
			t.Fatal(err)
		}
		texts[name] = string(text)
	}
	source, err := os.ReadFile(dir + "annotations_test.go")
	if err != nil {
		t.Fatal(err)
	}
	_, annotated, _ := strings.Cut(string(source), "const annotated = `")
	annotated, _, ok := strings.Cut(annotated, "`")
	if !ok {
		t.Fatal("the gateway's test has no IDL")
	}
	texts["annotated.thrift"] = annotated
	return texts
}

// jsonTexts has values that are JSON outside of bodies.
const jsonTexts = `
struct Point { 1: optional i32 x, 2: required string y }
struct Texts {
  1: required Point point (api.query = "point")
  2: required map<string, i32> counts (api.cookie = "counts")
  3: required list<Point> points (api.header = "X-Points")
  4: required list<list<i32>> in_path (api.path = "rows")
}
struct Reply { 1: required Point point (api.header = "X-Point"), 2: required i32 n }
struct InForm { 1: required Point point (api.form = "point"), 2: required string text (api.form = "text") }
service JSONTexts {
  Reply texts(1: Texts all) (api.post = "/json/:rows", api.get = "/json/:rows")
  void form(1: InForm all) (api.post = "/jsonform")
  void query(1: Point unannotated, 2: required map<i32, i32> n) (api.get = "/jsonquery")
}`

// answer returns something for every method.
func answer(_ context.Context, c *dynamic.Call) error {
	returns, ok := c.Method.Returns()
	switch {
	case !ok:
		return nil
	case returns.Struct().Valid():
		success, err := c.Result.New("success")
		if err != nil {
			return err
		}
		return fill(success.Message())
	case returns.WireType() == nocopy.WireMap:
		_, err := c.Result.New("success")
		return err
	case returns.IsBinary():
		return c.Return([]byte("bytes"))
	case returns.WireType() == nocopy.WireString:
		return c.Return("text")
	}
	return c.Return(int64(1))
}

// fill sets the required fields of a struct.
func fill(m dynamic.Message) error {
	for f := range m.Descriptor().Fields() {
		if f.Requiredness() != descriptor.Required {
			continue
		}
		if f.Type().Struct().Valid() {
			nested, err := m.New(f.Name())
			if err != nil {
				return err
			}
			if err := fill(nested.Message()); err != nil {
				return err
			}
			continue
		}
		var v any = int64(1)
		if f.Type().WireType() == nocopy.WireString {
			v = "text"
		}
		if err := m.SetByID(f.ID(), v); err != nil {
			return err
		}
	}
	return nil
}

// TestGateway: a request made of what the document says is one that the gateway takes, for every
// route, and its answer is one that the document has.
func TestGateway(t *testing.T) {
	texts := gatewayIDL(t)
	t.Chdir(t.TempDir())
	var names []string
	for name, text := range texts {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	schema, err := dynamic.LoadText(texts)
	if err != nil {
		t.Fatal(err)
	}
	backends := map[string]rpc.Caller{}
	for name, s := range schema.Services() {
		backends[filepath.Base(name)] = rpctest.Serve(t, &rpc.Server{Processor: s.Processor(answer)})
		backends[s.Name()] = backends[filepath.Base(name)]
	}
	g := gateway.New(schema, backends)
	if err := g.Err(); err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(g)
	defer srv.Close()

	doc := document(t, Command{Files: names, Format: "json", Title: "all", APIVersion: "1", Server: []string{srv.URL}})
	v, errs := validator.NewValidator(doc)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	var out bytes.Buffer
	c := Command{Files: names, Format: "json", Title: "all", APIVersion: "1"}
	if err := c.Run(&shell.Shell{Out: &out, Err: &out}); err != nil {
		t.Fatal(err)
	}
	var d Doc
	if err := json.Unmarshal(out.Bytes(), &d); err != nil {
		t.Fatal(err)
	}
	tried := 0
	for path, item := range d.Paths {
		for method, op := range item {
			req := d.request(t, srv.URL, path, method, op)
			body, _ := io.ReadAll(req.Body)
			req.Body = io.NopCloser(bytes.NewReader(body))
			at := strings.ToUpper(method) + " " + path
			// The validator panics at JSON elsewhere than in queries and forms.
			unknown := slices.ContainsFunc(op.Parameters, func(p Parameter) bool { return p.Content != nil && p.In != "query" })
			if !unknown && method != "head" && method != "options" {
				if ok, errs := v.ValidateHttpRequest(req); !ok {
					t.Errorf("%s: %s %v", at, errs[0].Message, errs[0].Reason)
				}
			}
			req.Body = io.NopCloser(bytes.NewReader(body))
			res, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			text, _ := io.ReadAll(res.Body)
			res.Body.Close()
			if strings.HasPrefix(path, "/json") && res.StatusCode != 200 {
				t.Errorf("%s: %d %s", at, res.StatusCode, text)
			}
			res.Body = io.NopCloser(bytes.NewReader(text))
			if res.StatusCode != 200 && res.StatusCode != 202 {
				t.Errorf("%s %s: %d %s", at, body, res.StatusCode, text)
			}
			if ok, errs := v.ValidateHttpResponse(req, res); !ok && method != "head" && method != "options" {
				t.Errorf("%s: the answer %s: %s %v", at, text, errs[0].Message, errs[0].SchemaValidationErrors)
			}
			tried++
		}
	}
	if tried < 25 {
		t.Errorf("only %d routes", tried)
	}
}

// request makes a request of what a document says.
func (d *Doc) request(t *testing.T, base, path, method string, op *Operation) *http.Request {
	t.Helper()
	query := []string{}
	header := http.Header{}
	for _, p := range op.Parameters {
		var value string
		if p.Schema != nil {
			value = d.text(p.Schema)
		} else if p.In == "header" {
			value = d.json(t, p.Content)
		} else {
			value = url.PathEscape(d.json(t, p.Content))
		}
		switch p.In {
		case "path":
			path = strings.ReplaceAll(path, "{"+p.Name+"}", value)
		case "query":
			query = append(query, p.Name+"="+value)
		case "header":
			header.Set(p.Name, value)
		case "cookie":
			header.Add("Cookie", p.Name+"="+value)
		}
	}
	body := ""
	if op.RequestBody != nil {
		if m, ok := op.RequestBody.Content[asJSON]; ok {
			body = d.json(t, map[string]Media{asJSON: m})
			header.Set("Content-Type", asJSON)
		} else if m, ok := op.RequestBody.Content["application/x-www-form-urlencoded"]; ok {
			var fields []string
			for name, s := range m.Schema.Properties {
				value := d.text(s)
				if m.Encoding[name].ContentType == asJSON {
					value = url.QueryEscape(d.json(t, map[string]Media{asJSON: {Schema: s}}))
				}
				fields = append(fields, name+"="+value)
			}
			body = strings.Join(fields, "&")
			header.Set("Content-Type", "application/x-www-form-urlencoded")
		} else {
			body = "bytes"
			header.Set("Content-Type", "application/octet-stream")
		}
	}
	req, err := http.NewRequest(strings.ToUpper(method), base+path+"?"+strings.Join(query, "&"), strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header = header
	return req
}

// json returns a JSON text of what a document says.
func (d *Doc) json(t *testing.T, content map[string]Media) string {
	t.Helper()
	text, err := json.Marshal(d.sample(content[asJSON].Schema, 0))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// resolved returns the schema that a reference leads to, and the first of several.
func (d *Doc) resolved(s *Schema) *Schema {
	for s.Ref != "" || len(s.AnyOf) > 0 {
		if s.Ref != "" {
			s = d.Components.Schemas[strings.TrimPrefix(s.Ref, "#/components/schemas/")]
		} else {
			s = s.AnyOf[0]
		}
	}
	return s
}

// text returns a value of a schema as a text.
func (d *Doc) text(s *Schema) string {
	s = d.resolved(s)
	if s.Type == "array" {
		return d.text(s.Items)
	}
	if text, ok := d.sample(s, 0).(string); ok {
		return text
	}
	text, _ := json.Marshal(d.sample(s, 0))
	return string(text)
}

// sample returns a value of a schema, with one element in each list as far as it is not too deep.
func (d *Doc) sample(s *Schema, depth int) any {
	s = d.resolved(s)
	switch s.Type {
	case "boolean":
		return true
	case "integer", "number":
		return 1
	case "array":
		if depth > 3 {
			return []any{}
		}
		return []any{d.sample(s.Items, depth+1)}
	case "object":
		made := map[string]any{}
		for name, p := range s.Properties {
			if required := strings.Contains(" "+strings.Join(s.Required, " ")+" ", " "+name+" "); depth < 3 || required {
				made[name] = d.sample(p, depth+1)
			}
		}
		return made
	case "string":
		switch {
		case len(s.Enum) > 0:
			return s.Enum[0]
		case s.Format == "uuid":
			return "01234567-89ab-cdef-0123-456789abcdef"
		case s.ContentEncoding == "base64":
			return "eHl6"
		}
		return "x"
	}
	return "1" // a number or a text
}
