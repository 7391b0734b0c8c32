package lint

import (
	"io"
	"net/url"
	"path/filepath"
	"unicode/utf8"

	"github.com/nocopythrift/nocopythrift/gen/idl"
)

// The types of SARIF 2.1.0, as far as they are used.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool       sarifTool     `json:"tool"`
		ColumnKind string        `json:"columnKind"`
		Results    []sarifResult `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name           string      `json:"name"`
		InformationURI string      `json:"informationUri"`
		Rules          []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID               string       `json:"id"`
		ShortDescription sarifMessage `json:"shortDescription"`
		Default          sarifLevel   `json:"defaultConfiguration"`
	}
	sarifLevel struct {
		Level Severity `json:"level"`
	}
	sarifMessage struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		RuleID    string          `json:"ruleId"`
		RuleIndex int             `json:"ruleIndex"`
		Level     Severity        `json:"level"`
		Message   sarifMessage    `json:"message"`
		Locations []sarifLocation `json:"locations"`
	}
	sarifLocation struct {
		Physical sarifPhysical `json:"physicalLocation"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   sarifRegion   `json:"region"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn"`
	}
)

func (r *Result) sarif(w io.Writer) error {
	run := sarifRun{ColumnKind: "unicodeCodePoints", Results: []sarifResult{}}
	run.Tool.Driver = sarifDriver{Name: "nocopy lint", InformationURI: "https://github.com/nocopythrift/nocopythrift"}
	index := map[string]int{}
	for i, rule := range rules {
		index[rule.Name] = i
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{rule.Name, sarifMessage{rule.Doc}, sarifLevel{rule.Severity}})
	}
	columns := counter{sources: r.Sources}
	for _, f := range r.Findings {
		at := sarifPhysical{sarifArtifact{uri(f.Pos.Filename)}, sarifRegion{f.Pos.Line, columns.at(f.Pos)}}
		run.Results = append(run.Results, sarifResult{f.Rule, index[f.Rule], f.Severity, sarifMessage{f.Message}, []sarifLocation{{at}}})
	}
	return encode(w, sarifLog{"https://json.schemastore.org/sarif-2.1.0.json", "2.1.0", []sarifRun{run}})
}

// uri returns a file's name as a URI: relative if the name is.
func uri(name string) string {
	u := url.URL{Path: filepath.ToSlash(name)}
	if filepath.IsAbs(name) {
		u.Scheme = "file"
		if u.Path[0] != '/' {
			u.Path = "/" + u.Path
		}
	}
	return u.String()
}

// A counter turns the columns of positions, which count bytes, into columns of characters. It
// takes little time if positions come in order, however long the lines are.
type counter struct {
	sources map[string][]byte
	last    idl.Position
	column  int
}

func (c *counter) at(pos idl.Position) int {
	src := c.sources[pos.Filename]
	from := pos.Offset - pos.Column + 1 // where the line starts
	if from < 0 || pos.Offset > len(src) {
		return pos.Column
	}
	column := 1
	if c.last.Filename == pos.Filename && c.last.Line == pos.Line && c.last.Offset <= pos.Offset {
		from, column = c.last.Offset, c.column
	}
	c.last, c.column = pos, column+utf8.RuneCount(src[from:pos.Offset])
	return c.column
}
