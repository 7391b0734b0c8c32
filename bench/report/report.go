// Package report turns measurements into tables and JSON.
package report

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"

	"github.com/nocopythrift/nocopythrift/bench/measure"
)

// Report is all that was measured in one run, in the form that -json writes.
type Report struct {
	Workloads []Table `json:"workloads"`
}

// Table is one operation on one workload.
type Table struct {
	Name  string `json:"name"`
	Op    string `json:"op"`
	About string `json:"-"`
	Rows  []Row  `json:"rows"`
}

// Row is one peer in a table; times and sizes are for one operation.
type Row struct {
	Peer       string  `json:"peer"`
	NS         float64 `json:"ns"`
	CPU        float64 `json:"cpu_ns"`
	RatioKitex float64 `json:"ratio_kitex"` // below 1: faster than the row `kitex` in the same rounds; 0 if that was not measured
	RatioLimit float64 `json:"ratio_limit"` // likewise, of the row `limit/reuse`, or `limit` where there is nothing to reuse
	Allocs     float64 `json:"allocs"`
	Bytes      float64 `json:"bytes"`
}

// NewTable relates results, the rows of one entry, to its yardsticks.
func NewTable(name, op, about string, results []measure.Result) Table {
	t := Table{Name: name, Op: op, About: about}
	kitex, limit := find(results, "kitex"), find(results, "limit/reuse", "limit")
	for _, r := range results {
		row := Row{Peer: r.Peer, NS: round(r.NS), CPU: round(r.CPU), Allocs: round(r.Allocs), Bytes: round(r.Bytes)}
		if kitex != nil {
			row.RatioKitex = round(measure.Ratio(r, *kitex))
		}
		if limit != nil {
			row.RatioLimit = round(measure.Ratio(r, *limit))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// find returns the result of the first of names that there is.
func find(results []measure.Result, names ...string) *measure.Result {
	for _, n := range names {
		for i := range results {
			if results[i].Peer == n {
				return &results[i]
			}
		}
	}
	return nil
}

// round keeps four significant digits: more than the measurement knows.
func round(v float64) float64 {
	if v == 0 {
		return 0
	}
	unit := math.Pow(10, 3-math.Floor(math.Log10(math.Abs(v))))
	return math.Round(v*unit) / unit
}

// JSON writes the whole report.
func (r Report) JSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

// Text writes the table for people.
func (t Table) Text(w io.Writer) error {
	fmt.Fprintf(w, "\n%s %s: %s\n", t.Name, t.Op, t.About)
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tw, "\ttime/op\t× kitex\t× limit\tCPU/op\tB/op\tallocs/op\t")
	width := 0
	for _, r := range t.Rows {
		width = max(width, len(r.Peer))
	}
	for _, r := range t.Rows {
		// Names are padded here: the writer aligns every column to the right.
		name := r.Peer + strings.Repeat(" ", width-len(r.Peer))
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t\n", name, duration(r.NS), ratio(r.RatioKitex), ratio(r.RatioLimit), duration(r.CPU), amount(r.Bytes), amount(r.Allocs))
	}
	return tw.Flush()
}

func duration(ns float64) string {
	switch {
	case ns == 0:
		return "-"
	case ns < 1e3:
		return fmt.Sprintf("%.3g ns", ns)
	case ns < 1e6:
		return fmt.Sprintf("%s µs", digits(ns/1e3))
	default:
		return fmt.Sprintf("%s ms", digits(ns/1e6))
	}
}

// digits writes three significant digits without an exponent.
func digits(v float64) string {
	switch {
	case v < 10:
		return fmt.Sprintf("%.2f", v)
	case v < 100:
		return fmt.Sprintf("%.1f", v)
	default:
		return fmt.Sprintf("%.0f", v)
	}
}

func ratio(v float64) string {
	switch {
	case v == 0:
		return "-"
	case v < 0.1:
		return fmt.Sprintf("%.4f", v)
	default:
		return digits(v)
	}
}

func amount(v float64) string {
	if v < 0.5 {
		return "0"
	}
	return fmt.Sprintf("%.0f", v)
}
