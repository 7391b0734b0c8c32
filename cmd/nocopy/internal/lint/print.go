package lint

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"
)

// Formats are the forms in which findings can be printed.
var Formats = []string{"text", "json", "sarif", "github"}

// Print writes the findings in one of Formats.
func (r *Result) Print(w io.Writer, format string, color bool) error {
	switch format {
	case "json":
		return r.json(w)
	case "sarif":
		return r.sarif(w)
	case "github":
		return r.github(w)
	}
	for _, f := range r.Findings {
		severity := string(f.Severity)
		if color {
			severity = map[Severity]string{Error: "\x1b[31m", Warning: "\x1b[33m"}[f.Severity] + severity + "\x1b[0m"
		}
		_, err := fmt.Fprintf(w, "%s:%d:%d: %s: %s (%s)\n", f.Pos.Filename, f.Pos.Line, f.Pos.Column, severity, f.Message, f.Rule)
		if err != nil {
			return err
		}
	}
	return nil
}

type jsonReport struct {
	Errors   int           `json:"errors"`
	Warnings int           `json:"warnings"`
	Findings []jsonFinding `json:"findings"`
}

type jsonFinding struct {
	File     string   `json:"file"`
	Line     int      `json:"line"`
	Column   int      `json:"column"`
	Severity Severity `json:"severity"`
	Rule     string   `json:"rule"`
	Message  string   `json:"message"`
	Fixable  bool     `json:"fixable"`
}

func (r *Result) json(w io.Writer) error {
	report := jsonReport{Findings: []jsonFinding{}}
	report.Errors, report.Warnings = r.Count()
	for _, f := range r.Findings {
		report.Findings = append(report.Findings, jsonFinding{f.Pos.Filename, f.Pos.Line, f.Pos.Column, f.Severity, f.Rule, f.Message, f.Fixable()})
	}
	return encode(w, report)
}

func encode(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// The characters that GitHub's workflow commands give a meaning, in their text and in properties.
var (
	inText     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	inProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// github writes workflow commands, of which GitHub makes annotations in a pull request.
func (r *Result) github(w io.Writer) error {
	for _, f := range r.Findings {
		_, err := fmt.Fprintf(w, "::%s file=%s,line=%d,col=%d,title=%s::%s\n", f.Severity,
			inProperty.Replace(filepath.ToSlash(f.Pos.Filename)), f.Pos.Line, f.Pos.Column, inProperty.Replace(f.Rule), inText.Replace(f.Message))
		if err != nil {
			return err
		}
	}
	return nil
}
