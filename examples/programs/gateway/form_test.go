package main

import (
	"bytes"
	"context"
	"io"
	"mime/multipart"
	"strings"
	"testing"
	"time"

	"github.com/nocopythrift/nocopythrift/nocopy/dynamic"
)

// multipartForm returns a form in several parts, of names and values that take turns, as a header
// and a body. A name that begins with @ is a file's.
func multipartForm(t *testing.T, pairs ...string) (header, body string) {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for i := 0; i < len(pairs); i += 2 {
		name, isFile := strings.CutPrefix(pairs[i], "@")
		create := w.CreateFormField
		if isFile {
			create = func(name string) (io.Writer, error) { return w.CreateFormFile(name, "../a file.bin") }
		}
		p, err := create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Write([]byte(pairs[i+1])); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return "Content-Type: " + w.FormDataContentType(), b.String()
}

// TestMultipart: forms in several parts, files in them, and such as are malformed.
func TestMultipart(t *testing.T) {
	const idl = `
struct Form { 1: required string a (api.form = "a"), 2: list<i64> b (api.form), 3: binary upload (api.form, api.header = "X-File"), 4: string other }
service S {
  Form form(1: Form f) (api.post = "/form")
  Form json(1: i64 n) (api.post = "/json")
}`
	schema, err := dynamic.LoadText(map[string]string{"test.thrift": idl})
	if err != nil {
		t.Fatal(err)
	}
	service, err := schema.Service("S")
	if err != nil {
		t.Fatal(err)
	}
	g := startFor(t, idl, service.Processor(func(_ context.Context, c *dynamic.Call) error {
		arg, err := c.Args.GetByID(1)
		if err != nil {
			return err
		}
		list, _ := arg.Message().Get("b")
		a, _ := arg.Message().Get("a")
		if err := c.Return(arg); err != nil {
			return err
		}
		r, _ := c.Result.Get("success")
		return r.Message().Set("other", a.Text()+" "+list.List().String())
	}), time.Minute)

	header, body := multipartForm(t, "a", "x=y&ü", "b", "1", "@upload", "é\t\xff, --", "b", "2,3", "ignored", "z")
	if h := g.want("POST", "/form", header, body, 200, `{"other":"x=y&ü [1, 2, 3]"}`); h.Get("X-File") != "é\t\xff, --" {
		t.Errorf("the file is not there: %v", h)
	}
	for i := range len(body) - 1 { // cut anywhere it is an answer, and no harm
		if status, _, text, err := g.send("POST", "/form", header, body[:i]); err != nil || status != 200 && status != 400 {
			t.Errorf("%d bytes: %d %s, %v", i, status, text, err)
		}
	}
	header, body = multipartForm(t, "a", "x", "@upload", "one\r\nSet-Cookie: two\x00\x7f.")
	if h := g.want("POST", "/form", header, body, 200, `{"other":"x []"}`); h.Get("X-File") != "one  Set-Cookie: two  ." {
		t.Errorf("a header of bytes that none can have: %v", h)
	}
	header, body = multipartForm(t, "b", "1")
	g.want("POST", "/form", header, body, 400, `{"error":"Bad Request","message":"required field is missing in form a","path":"Form.a"}`)
	header, body = multipartForm(t, "a", "x", "b", "one")
	g.want("POST", "/form", header, body, 400, `{"error":"Bad Request","message":"value of another type in form b","path":"Form.b"}`)
	header, body = multipartForm(t, "a", "x", "", "no name")
	g.want("POST", "/form", header, body, 400, `{"error":"Bad Request","message":"a part of the form has no name"}`)
	header, body = multipartForm(t, append([]string{"a", "x"}, make([]string, 2*maxParts)...)...)
	g.want("POST", "/form", header, strings.ReplaceAll(body, `name=""`, `name="b"`), 400, `{"error":"Bad Request","message":"a form of more than 1000 parts"}`)
	header, body = multipartForm(t, "a", strings.Repeat("x", maxBody))
	if status, _, text, err := g.send("POST", "/form", header, body); status != 413 || err != nil {
		t.Errorf("a form that is too large: %d %s, %v", status, text, err)
	}
	for _, kind := range []string{"multipart/form-data", "multipart/form-data; boundary=", "multipart/mixed; boundary=x"} {
		if status, _, text, err := g.send("POST", "/form", "Content-Type: "+kind, "--x--"); status != 415 || err != nil {
			t.Errorf("%s: %d %s, %v", kind, status, text, err)
		}
	}
	header, body = multipartForm(t, "n", "1") // no field is in forms
	if status, _, text, err := g.send("POST", "/json", header, body); status != 415 || err != nil {
		t.Errorf("a form instead of JSON: %d %s, %v", status, text, err)
	}
}
