package nocopyc

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/nocopythrift/nocopythrift/gen/idl"
)

// A reporter reports the errors and warnings of files in the form that -format says.
type reporter struct {
	Tool
	format         string // text, json or github
	stdout, stderr io.Writer

	found []diagnostic // for json
}

// diagnostic is an error or a warning as JSON.
type diagnostic struct {
	File     string `json:"file,omitempty"`
	Line     int    `json:"line,omitempty"`
	Column   int    `json:"column,omitempty"`
	Severity string `json:"severity"`
	Message  string `json:"message"`
}

// warn reports warnings.
func (r *reporter) warn(list idl.ErrorList) {
	for _, w := range list {
		if r.format == "json" {
			r.found = append(r.found, diagnostic{w.Pos.Filename, w.Pos.Line, w.Pos.Column, "warning", w.Msg})
			continue
		}
		warn(w, r.format, r.stdout, r.stderr)
	}
}

// end reports the error of a command, if there is one, and returns the exit code.
func (r *reporter) end(err error) int {
	var list idl.ErrorList
	switch {
	case r.format == "github" && err != nil:
		AnnotateError(r.stdout, err)
	case r.format == "text" && err != nil:
		fmt.Fprintln(r.stderr, err)
	case r.format != "json":
	case errors.As(err, &list):
		for _, e := range list {
			r.found = append(r.found, diagnostic{e.Pos.Filename, e.Pos.Line, e.Pos.Column, "error", e.Msg})
		}
	case err != nil:
		r.found = append(r.found, diagnostic{Severity: "error", Message: err.Error()})
	}
	if r.format == "json" {
		if failed := writeJSON(r.stdout, append([]diagnostic{}, r.found...)); failed != nil {
			fmt.Fprintf(r.stderr, "%s: %v\n", r.Name, failed)
			return 1
		}
	}
	if err != nil {
		return 1
	}
	return 0
}

// writeJSON writes v as indented JSON.
func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}
