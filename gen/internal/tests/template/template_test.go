package template_test

import (
	"bytes"
	"errors"
	"fmt"
	"html"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	texttemplate "text/template"

	"github.com/nocopythrift/nocopythrift/internal/template"
)

type inside struct{ Deep string }

type data struct {
	inside
	Text  string
	Empty string
	Yes   bool
	N     int32
	Float float64
	List  []inside
	None  []string
	Map   map[string]int64
	Ptr   *inside
	Nil   *inside
	Any   any
	list  []string
}

var example = data{
	inside: inside{"d"}, Text: "a<b", Yes: true, N: -3, Float: 1.5, List: []inside{{"x"}, {"y"}}, Map: map[string]int64{"b": 2, "a": 1, "c": 3},
	Ptr: &inside{"p"}, Any: []string{"q", "r"}, list: []string{"s"},
}

// stricter are templates that are errors here, but not with text/template: maps by keys, numbers
// as ranges, numbers that are too large for a function.
var stricter = []string{"{{.Map.a}}", "{{range .N}}{{end}}", "{{small 128}}"}

var functions = template.Functions{
	"join":  strings.Join,
	"sum":   func(n int64, more ...float64) (float64, error) { return float64(n) + float64(len(more)), nil },
	"fails": func() (string, error) { return "", errors.New("refused") },
	"small": func(n int8) int8 { return n },
	"size":  func(n uint) uint { return n },
	"none":  func() any { return nil },
}

// TestSameAsTextTemplate: what templates can have here, they write as with text/template.
func TestSameAsTextTemplate(t *testing.T) {
	for _, text := range []string{
		"plain", "{{/* a comment */}}x", "a {{- .Text -}} b", "{{.Text}} {{.N}} {{.Float}} {{.Yes}} {{.List}}", "{{.Map.a}}", "{{.Deep}}{{.Ptr.Deep}}", "{{1}} {{1.5}} {{\"x\"}} {{true}}",
		"{{if .Yes}}y{{else}}n{{end}}{{if .Empty}}y{{else if .N}}n{{else}}?{{end}}", "{{with .Text}}{{.}}{{$.N}}{{else}}no{{end}}{{with .Nil}}x{{else}}no{{end}}",
		"{{range .List}}{{.Deep}},{{end}}", "{{range $i, $e := .List}}{{if $i}}, {{end}}{{$e.Deep}}{{end}}", "{{range $e := .List}}{{$e.Deep}}{{end}}",
		"{{range .None}}x{{else}}none{{end}}", "{{range $k, $v := .Map}}{{$k}}={{$v}} {{end}}", "{{range .Any}}{{.}}{{end}}",
		"{{$x := .N}}{{$x}}{{$x = 4}}{{$x}}{{if $y := .Text}}{{$y}}{{end}}", "{{$x := 1}}{{range .List}}{{$x = .Deep}}{{end}}{{$x}}", "{{$x := 1}}{{if true}}{{$x := 2}}{{$x}}{{end}}{{$x}}",
		`{{define "t"}}<{{.}}{{$}}>{{end}}{{template "t" .Text}}{{template "t"}}`, `{{eq .Text "a<b"}}{{eq .N 1 -3}}{{eq .Yes false}}{{not .Empty}}`,
		`{{or .Empty .Text}}{{and .Text .N}}{{or .Empty .Nil}}{{and .Empty .Text}}`, `{{printf "%q %d %.2f" .Text .N .Float}}`, `{{.N | printf "%d%s" 7 | printf "%s"}}`,
		`{{join .Any "-"}}{{join (or .None .Any) "+"}}{{len "abc" | printf "%d"}}`, `{{sum 1}} {{sum 1 2 3.5}}`, `{{small 127}}{{size 3}}`, `{{(printf "%s" .Text) | printf "%s"}}`,
		"{{`raw`}}{{'a'}}{{0x10}}", "{{if and .Yes (not .Empty)}}both{{end}}",
		// What both refuse
		"{{.Nothing}}", "{{.Ptr.Nothing}}", "{{.Nil.Deep}}", "{{.list}}", "{{small 128}}", "{{small 1.5}}", "{{size -1}}", "{{join .Any}}", "{{join 1 2}}", "{{sum}}", `{{sum "1"}}`,
		`{{define "t"}}{{fails}}{{end}}{{$a := 1}}{{$b := 2}}{{if true}}{{template "t" .}}{{end}}`, `{{define "t"}}{{fails}}{{end}}{{$a := 1}}{{$b := 2}}{{with .Text}}{{template "t"}}{{end}}`,
		`{{define "t"}}{{fails}}{{end}}{{$a := 1}}{{$b := 2}}{{range .List}}{{template "t"}}{{end}}`, `{{define "r"}}{{$a := 1}}{{$b := 2}}{{if true}}{{template "r"}}{{end}}{{end}}{{template "r"}}`,
		"{{fails}}", `{{template "nothing"}}`, "{{range .N}}{{end}}", "{{.Text 1}}", "{{nothing}}", "{{if}}", "{{.Text", `{{define "r"}}{{template "r"}}{{end}}{{template "r"}}`, "{{1 | 2}}",
	} {
		var want, got bytes.Buffer
		theirs, wantErr := texttemplate.New("x").Funcs(texttemplate.FuncMap(functions)).Parse(text)
		if wantErr == nil {
			wantErr = theirs.Execute(&want, example)
		}
		if strings.Contains(text, `"r"`) {
			wantErr = errors.New("the stack is used up") // which text/template takes seconds for
		}
		own := template.Functions{"len": func(v any) int { return len(fmt.Sprint(v)) }}
		for name, f := range functions {
			own[name] = f
		}
		ours := template.New(own, nil)
		err := ours.Add("x", text)
		if err == nil {
			err = ours.Execute(&got, "x", example)
		}
		switch {
		case slices.Contains(stricter, text):
			if err == nil || wantErr != nil {
				t.Errorf("%s gives %q", text, got.String())
			}
		case (err == nil) != (wantErr == nil):
			t.Errorf("%s: %v; text/template: %v", text, err, wantErr)
		case err == nil && got.String() != want.String():
			t.Errorf("%s gives %q, with text/template %q", text, got.String(), want.String())
		}
	}
}

// TestErrors: errors say where, and wrap those of functions and of the Writer.
func TestErrors(t *testing.T) {
	refused := errors.New("refused")
	s := template.New(template.Functions{"fails": func() (string, error) { return "", refused }}, nil)
	if err := s.Add("page", "a\n{{fails}}"); err != nil {
		t.Fatal(err)
	}
	if err := s.Execute(new(bytes.Buffer), "page", nil); !errors.Is(err, refused) || !strings.Contains(err.Error(), "page:2:2: fails: refused") {
		t.Error(err)
	}
	if err := s.Execute(broken{refused}, "page", nil); !errors.Is(err, refused) {
		t.Error(err)
	}
	if err := s.Add("caller", `{{$a := 1}}{{$b := 2}}{{if $a}}{{with $b}}{{template "page"}}{{end}}{{end}}`); err != nil {
		t.Fatal(err)
	}
	if err := s.Execute(new(bytes.Buffer), "caller", nil); !errors.Is(err, refused) || !strings.Contains(err.Error(), "page:2:2: fails: refused") {
		t.Error(err)
	}
	if err := s.Execute(new(bytes.Buffer), "other", nil); err == nil || !strings.Contains(err.Error(), `no template "other"`) {
		t.Error(err)
	}
	if err := s.Add("bad", "{{break}}{{"); err == nil {
		t.Error("a template that does not parse is added")
	}
}

type broken struct{ err error }

func (b broken) Write([]byte) (int, error) { return 0, b.err }

// TestEscape: all values are escaped, and no text of the template.
func TestEscape(t *testing.T) {
	s := template.New(nil, html.EscapeString)
	if err := s.Add("x", `<b>{{.Text}}</b>{{printf "%s" .Text}}`); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := s.Execute(&b, "x", example); err != nil || b.String() != "<b>a&lt;b</b>a&lt;b" {
		t.Errorf("%s, %v", b.String(), err)
	}
}

// TestFiles: each file is a template, and functions can be others each time.
func TestFiles(t *testing.T) {
	files := fstest.MapFS{"t/a.tmpl": {Data: []byte(`{{n}}{{template "b.tmpl" .}}`)}, "t/b.tmpl": {Data: []byte("<{{.}}>")}, "t/c.txt": {Data: []byte("{{")}}
	n := func(n int) template.Functions { return template.Functions{"n": func() int { return n }} }
	s, err := template.FromFiles(files, "t/*.tmpl", n(1))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		var b bytes.Buffer
		if err := s.With(n(i)).Execute(&b, "a.tmpl", "x"); err != nil || b.String() != fmt.Sprintf("%d<x>", i) {
			t.Errorf("%s, %v", b.String(), err)
		}
	}
}
