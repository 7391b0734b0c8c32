package report

import (
	_ "embed"
	"html/template"
	"io"
)

//go:embed page.html
var pageText string

var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"duration": duration, "ratio": ratio, "percent": percent, "number": number,
	"bars":  func(t Table) (template.HTML, error) { s, err := t.Bars(); return template.HTML(s), err },
	"lines": func(s Series) (template.HTML, error) { s2, err := s.Lines(); return template.HTML(s2), err },
	"ours":  ours,
	"per":   func(t Table, r Row) string { return number(r.NS / float64(t.Units)) },
}).Parse(pageText))

// HTML writes the report as one page that includes its charts.
func (r Report) HTML(w io.Writer) error {
	var single []Table
	series := r.Series()
	in := map[string]bool{}
	for _, s := range series {
		for _, t := range s.Tables {
			in[t.Name+" "+t.Op] = true
		}
	}
	for _, t := range r.Workloads {
		if !in[t.Name+" "+t.Op] {
			single = append(single, t)
		}
	}
	return page.Execute(w, struct {
		Run    Run
		Tables []Table
		Series []Series
	}{r.Run, single, series})
}
