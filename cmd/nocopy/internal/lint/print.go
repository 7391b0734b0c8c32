package lint

import (
	"fmt"
	"io"
	"strings"

	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/shell"
	"github.com/nocopythrift/nocopythrift/internal/nocopyc"
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
		name := oneLine(f.Pos.Filename)
		_, err := fmt.Fprintf(w, "%s:%d:%d: %s: %s (%s)\n", name, f.Pos.Line, f.Pos.Column, severity, oneLine(f.Message), f.Rule)
		if err != nil {
			return err
		}
	}
	return nil
}

// oneLine escapes text from a file, or a file's name. The result begins no new line, which GitHub
// might take for a command, and has no commands for terminals.
func oneLine(text string) string {
	return shell.Printable(strings.NewReplacer("\n", `\n`, "\t", `\t`).Replace(text))
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

func encode(w io.Writer, v any) error { return (&shell.Shell{Out: w}).WriteJSON(v) }

// github writes workflow commands. GitHub shows them as annotations in a pull request.
func (r *Result) github(w io.Writer) error {
	for _, f := range r.Findings {
		err := nocopyc.Annotate(w, string(f.Severity), f.Pos, f.Rule, f.Message)
		if err != nil {
			return err
		}
	}
	return nil
}
