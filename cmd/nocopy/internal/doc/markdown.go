package doc

import (
	"bytes"
	"html"
	"regexp"
	"strings"

	"github.com/nocopythrift/nocopythrift/internal/template"
)

const markdownText = `{{define "spans"}}{{range .}}{{if .Slug}}[{{esc .Text}}]({{.Slug}}.md#{{anchor .Anchor}}){{else}}{{esc .Text}}{{end}}{{end}}{{end -}}
{{define "notes"}}{{if .}}

{{range $i, $a := .}}{{if $i}}, {{end}}{{code $a}}{{end}}{{end}}{{end -}}
{{define "cellnotes"}}{{range .}} {{cellcode .}}{{end}}{{end -}}
{{define "fields"}}
| Id | Field | Type | Description |
| --- | --- | --- | --- |
{{range .}}| {{.ID}} | {{esc .Name}}{{if .Requirement}} *{{.Requirement}}*{{end}} | {{template "spans" .Type}}{{if .Default}} = {{cellcode .Default}}{{end}} | {{cell .Doc}}{{template "cellnotes" .Annotations}} |
{{end}}{{end -}}
{{define "index"}}# {{line .Title}}
{{range .Pages}}
## [{{line .Title}}]({{.Slug}}.md)

{{$slug := .Slug}}| | | |
| --- | --- | --- |
{{range parts .}}{{range .Entries}}| {{.Kind}} | [{{esc .Name}}]({{$slug}}.md#{{anchor .Anchor}}) | {{cell (summary .Doc)}} |
{{end}}{{end}}{{end}}{{end -}}
{{define "page"}}# {{line .Title}}
{{if .Namespaces}}
Namespaces: {{range $i, $n := .Namespaces}}{{if $i}}, {{end}}{{code $n}}{{end}}
{{end}}{{if .Includes}}
Includes {{range $i, $s := .Includes}}{{if $i}}, {{end}}[{{line $s.Text}}]({{$s.Slug}}.md){{end}}
{{end}}{{range parts .}}{{if .Entries}}
## {{.Name}}
{{range .Entries}}
### <a id="{{anchor .Anchor}}"></a>{{.Kind}} {{esc .Name}}
{{if .Extends}}
extends {{template "spans" .Extends}}
{{end}}{{if .Type}}
{{template "spans" .Type}}{{if .Value}} = {{code .Value}}{{end}}
{{end}}{{with text .Doc}}
{{.}}
{{end}}{{template "notes" .Annotations}}
{{if eq .Kind "service"}}{{range .Members}}
#### <a id="{{anchor .Anchor}}"></a>{{if .Oneway}}oneway {{end}}{{template "spans" .Type}} {{esc .Name}}({{range $i, $a := .Args}}{{if $i}}, {{end}}{{template "spans" $a.Type}} {{esc $a.Name}}{{end}}){{if .Throws}} throws {{range $i, $a := .Throws}}{{if $i}}, {{end}}{{template "spans" $a.Type}}{{end}}{{end}}
{{with text .Doc}}
{{.}}
{{end}}{{template "notes" .Annotations}}
{{if documented .Args}}{{template "fields" .Args}}{{end}}{{if documented .Throws}}{{template "fields" .Throws}}{{end}}{{end}}{{else if eq .Kind "enum"}}
| Number | Value | Description |
| --- | --- | --- |
{{range .Members}}| {{.ID}} | {{esc .Name}} | {{cell .Doc}}{{template "cellnotes" .Annotations}} |
{{end}}{{else if .Members}}{{template "fields" .Members}}{{end}}{{end}}{{end}}{{end}}{{end}}`

// markdownOf returns the files of the Markdown documentation by their names.
func markdownOf(title string, pages []*page) (map[string][]byte, error) {
	t := template.New(template.Functions{
		"parts": parts, "summary": summary, "documented": documented, "esc": escape, "line": oneLine, "text": escapeText,
		"cell": cell, "code": code, "cellcode": cellCode, "anchor": func(s string) string { return strings.Map(safe, s) },
	}, nil)
	if err := t.Add("markdown", markdownText); err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	put := func(name, template string, data any) error {
		var b bytes.Buffer
		err := t.Execute(&b, template, data)
		files[name] = tooMany.ReplaceAll(b.Bytes(), []byte("\n\n"))
		return err
	}
	data := struct {
		Title string
		Pages []*page
	}{title, pages}
	if err := put("index.md", "index", data); err != nil {
		return nil, err
	}
	for _, p := range pages {
		if err := put(p.Slug+".md", "page", p); err != nil {
			return nil, err
		}
	}
	return files, nil
}

var tooMany = regexp.MustCompile(`\n{3,}`)

// escape returns text with a backslash before each special character of Markdown, and with
// entities for the special characters of HTML.
func escape(text string) string {
	var b strings.Builder
	for _, r := range strings.ToValidUTF8(text, "\ufffd") {
		switch {
		case r == '<' || r == '>' || r == '&':
			b.WriteString(html.EscapeString(string(r)))
		case strings.ContainsRune("\\`*_[]|!~", r):
			b.WriteByte('\\')
			b.WriteRune(r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func oneLine(text string) string { return escape(strings.Join(strings.Fields(text), " ")) }

// escapeText returns a comment: its paragraphs are text, code between backquotes, or blocks of
// code.
func escapeText(doc string) string {
	var blocks []string
	for _, p := range paragraphs(doc) {
		if p.Code {
			blocks = append(blocks, "<pre>"+html.EscapeString(p.Text)+"</pre>")
			continue
		}
		var b strings.Builder
		for _, part := range p.Parts {
			if part.Code {
				b.WriteString(code(part.Text))
				continue
			}
			for line := range strings.Lines(part.Text) {
				if b.Len() == 0 || strings.HasSuffix(b.String(), "\n") {
					line = escapeLine(line)
				} else {
					line = escape(line)
				}
				b.WriteString(line)
			}
		}
		blocks = append(blocks, b.String())
	}
	return strings.Join(blocks, "\n\n")
}

// lineStart matches what would make a heading, a rule or the like of a line of text. Lists stay.
var lineStart = regexp.MustCompile(`^[ \t]*(#+|=+|-{2,}|\+{2,})`)

func escapeLine(line string) string {
	line = strings.TrimLeft(line, " \t")
	if star, ok := strings.CutPrefix(line, "* "); ok {
		return "* " + escape(star)
	}
	if lineStart.MatchString(line) {
		return "\\" + escape(line)
	}
	return escape(line)
}

// code returns text as code. Text that a pair of backquotes can't hold is escaped HTML.
func code(text string) string {
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "\ufffd")), " ")
	if text == "" {
		return ""
	}
	return "<code>" + escape(text) + "</code>"
}

func cell(doc string) string {
	return strings.ReplaceAll(strings.ReplaceAll(escapeText(doc), "\n\n", "<br>"), "\n", " ")
}

func cellCode(text string) string { return code(text) }
