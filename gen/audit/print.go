package audit

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/nocopythrift/nocopythrift/gen/idl"
)

// words returns the elements of b as words.
func (b Breaks) words() []string {
	words := []string{}
	for i, word := range []string{"wire", "json", "source", "file"} {
		if b&(1<<i) != 0 {
			words = append(words, word)
		}
	}
	return words
}

// String returns what is broken, such as "breaks wire, json", or "compatible" if nothing is.
func (b Breaks) String() string {
	if b == 0 {
		return "compatible"
	}
	return "breaks " + strings.Join(b.words(), ", ")
}

// String returns the finding on one line: the place in the new files, the message, what it breaks
// and the place in the old files.
func (f Finding) String() string {
	return fmt.Sprintf("%s: %s: %s [%s; %s; old: %s]", f.New, f.Severity, f.Message, f.Kind, f.Breaks, f.Old)
}

// Count returns the numbers of errors and warnings among the findings.
func Count(findings []Finding) (errors, warnings int) {
	for _, f := range findings {
		if f.Severity == Error {
			errors++
		} else {
			warnings++
		}
	}
	return errors, warnings
}

// The types of the JSON output.
type jsonReport struct {
	Old      string        `json:"old"`
	New      string        `json:"new"`
	Policy   Policy        `json:"policy"`
	Errors   int           `json:"errors"`
	Warnings int           `json:"warnings"`
	Ignored  int           `json:"ignored"`
	Findings []jsonFinding `json:"findings"`
}

type jsonFinding struct {
	Severity         Severity  `json:"severity"`
	Policy           Policy    `json:"policy"`
	Rule             string    `json:"rule"`
	Path             string    `json:"path"`
	Place            string    `json:"place"`
	Kind             string    `json:"kind"`
	Symbol           string    `json:"symbol"`
	Message          string    `json:"message"`
	Breaks           []string  `json:"breaks"`
	WireCompatible   bool      `json:"wireCompatible"`
	JSONCompatible   bool      `json:"jsonCompatible"`
	SourceCompatible bool      `json:"sourceCompatible"`
	Old              jsonPlace `json:"old"`
	New              jsonPlace `json:"new"`
}

type jsonPlace struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
}

func placeOf(p idl.Position) jsonPlace { return jsonPlace{p.Filename, p.Line, p.Column} }

// WriteJSON writes findings as one JSON object. old and new name the compared Versions, policy is
// that of the findings, and ignored is the number of those that are left out.
func WriteJSON(w io.Writer, old, new string, policy Policy, ignored int, findings []Finding) error {
	report := jsonReport{Old: old, New: new, Policy: policy, Ignored: ignored, Findings: []jsonFinding{}}
	report.Errors, report.Warnings = Count(findings)
	for _, f := range findings {
		report.Findings = append(report.Findings, jsonFinding{
			Severity: f.Severity, Policy: f.Policy(), Rule: f.Kind, Path: f.Path, Place: f.New.String(), Kind: f.Kind, Symbol: f.Symbol, Message: f.Message, Breaks: f.Breaks.words(),
			WireCompatible: f.Breaks&Wire == 0, JSONCompatible: f.Breaks&JSON == 0, SourceCompatible: f.Breaks&Source == 0,
			Old: placeOf(f.Old), New: placeOf(f.New),
		})
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(report)
}

// WriteText writes findings, one per line.
func WriteText(w io.Writer, findings []Finding) error {
	for _, f := range findings {
		if _, err := fmt.Fprintln(w, f); err != nil {
			return err
		}
	}
	return nil
}
