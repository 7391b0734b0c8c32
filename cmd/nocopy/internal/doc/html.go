package doc

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"html"
	"strings"
	"unicode/utf8"

	"github.com/nocopythrift/nocopythrift/internal/template"
)

var (
	//go:embed page/page.html
	pageText string
	//go:embed page/style.css
	style []byte
	//go:embed page/search.js
	search []byte
)

// part is a heading of a page with its entries.
type part struct {
	Name    string
	Entries []*entry
}

func parts(p *page) []part {
	return []part{{"Services", p.Services}, {"Structs", p.Structs}, {"Enums", p.Enums}, {"Typedefs", p.Typedefs}, {"Constants", p.Consts}}
}

// paragraph is a part of a comment: code, if all its lines are indented, or text in which what is
// between backquotes is code.
type paragraph struct {
	Code  bool
	Text  string
	Parts []paragraph
}

func paragraphs(doc string) []paragraph {
	var all []paragraph
	for block := range strings.SplitSeq(strings.ToValidUTF8(doc, "\ufffd"), "\n\n") {
		block = strings.Trim(block, "\n")
		if strings.TrimSpace(block) == "" {
			continue
		}
		if indented(block) {
			all = append(all, paragraph{Code: true, Text: block})
			continue
		}
		p := paragraph{}
		pieces := strings.Split(block, "`")
		for i, text := range pieces {
			switch {
			case i%2 == 1 && i+1 < len(pieces):
				p.Parts = append(p.Parts, paragraph{Code: true, Text: text})
			case i%2 == 1:
				p.Parts = append(p.Parts, paragraph{Text: "`" + text})
			case text != "":
				p.Parts = append(p.Parts, paragraph{Text: text})
			}
		}
		all = append(all, p)
	}
	return all
}

// indented reports whether all lines begin with a tab or four spaces.
func indented(block string) bool {
	for line := range strings.Lines(block) {
		if !strings.HasPrefix(line, "\t") && !strings.HasPrefix(line, "    ") {
			return false
		}
	}
	return true
}

// summary returns the first words of a comment, on one line.
func summary(doc string) string {
	text, _, _ := strings.Cut(strings.TrimSpace(strings.ToValidUTF8(doc, "\ufffd")), "\n\n")
	text = strings.Join(strings.Fields(text), " ")
	if end := strings.Index(text, ". "); end >= 0 {
		text = text[:end+1]
	}
	const most = 160
	if utf8.RuneCountInString(text) > most {
		text = string([]rune(text)[:most]) + " …"
	}
	return text
}

// documented reports whether a field has a comment or something else that a signature lacks.
func documented(fields []*member) bool {
	for _, f := range fields {
		if f.Doc != "" || f.Default != "" || len(f.Annotations) > 0 {
			return true
		}
	}
	return false
}

// htmlOf returns the files of the HTML documentation by their names.
func htmlOf(title string, pages []*page) (map[string][]byte, error) {
	// Values are text and attributes between quotes. Those in links are safe there, or identifiers.
	t := template.New(template.Functions{
		"parts": parts, "paragraphs": paragraphs, "summary": summary, "documented": documented,
	}, html.EscapeString)
	err := t.Add("page", pageText)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{"style.css": style, "search.js": search}
	for _, p := range append([]*page{nil}, pages...) {
		var b bytes.Buffer
		name := "index.html"
		if p != nil {
			name = p.Slug + ".html"
		}
		data := struct {
			Title string
			Pages []*page
			Page  *page
		}{title, pages, p}
		if err := t.Execute(&b, "page", data); err != nil {
			return nil, err
		}
		files[name] = b.Bytes()
	}
	files["index.js"], err = index(pages)
	return files, err
}

// index returns what is searched, as a script, since pages on a disk can't load other files.
func index(pages []*page) ([]byte, error) {
	entries := [][4]string{}
	for _, p := range pages {
		for _, part := range parts(p) {
			for _, e := range part.Entries {
				entries = append(entries, [4]string{e.Name, e.Kind, p.Slug + ".html#" + e.Anchor, summary(e.Doc)})
				kind := map[string]string{"service": "method", "enum": "value"}[e.Kind]
				if kind == "" {
					kind = "field"
				}
				for _, m := range e.Members {
					entries = append(entries, [4]string{e.Name + "." + m.Name, kind, p.Slug + ".html#" + m.Anchor, summary(m.Doc)})
				}
			}
		}
	}
	text, err := json.Marshal(entries)
	return append(append([]byte("var entries = "), text...), ";\n"...), err
}
