// Package report turns measurements into tables, JSON, charts, and verdicts on changes.
package report

import (
	"encoding/json"
	"io"
	"math"

	"github.com/nocopythrift/nocopythrift/bench/data"
	"github.com/nocopythrift/nocopythrift/bench/measure"
	"github.com/nocopythrift/nocopythrift/bench/peer"
)

// Report holds the results of a run in the form that -json writes.
type Report struct {
	Workloads []Table `json:"workloads"`
	Run       Run     `json:"-"`
}

// Table is one operation on one workload.
type Table struct {
	Name string `json:"name"`
	Op   string `json:"op"`
	Rows []Row  `json:"rows"`

	About string `json:"-"`
	// What there are Units of in the message, if the workload is one of a series of growing ones
	Unit  string `json:"-"`
	Units int    `json:"-"`
}

// Row is one peer in a table; times and sizes are for one operation.
type Row struct {
	Peer string  `json:"peer"`
	NS   float64 `json:"ns"`
	CPU  float64 `json:"cpu_ns"`
	// Below 1: faster than the row `kitex` in the same rounds; 0 if that was not measured
	RatioKitex float64 `json:"ratio_kitex"`
	// Likewise, for the row `limit/reuse`, or `limit` if there is nothing to reuse; for `memcpy`
	// in workloads of lists of numbers
	RatioLimit float64 `json:"ratio_limit"`
	Allocs     float64 `json:"allocs"`
	Bytes      float64 `json:"bytes"`

	GC float64 `json:"-"` // the collector's share of CPU, 0 to 1
	// NS of each round; the same index is the same round in every row of a table
	Rounds []float64 `json:"-"`
}

// NewTable returns the table of results, the rows of operation op on w, with their ratios.
func NewTable(w data.Workload, op peer.Op, results []measure.Result) Table {
	t := Table{Name: w.Name, Op: string(op), About: w.About, Unit: w.Unit, Units: w.Units}
	kitex, limit := find(results, "kitex"), find(results, "limit/reuse", "limit", "memcpy")
	for _, r := range results {
		row := Row{Peer: r.Peer, NS: round(r.NS), CPU: round(r.CPU), GC: r.GC, Allocs: round(r.Allocs), Bytes: round(r.Bytes), Rounds: r.Rounds}
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

// round rounds to four significant digits, more than measuring gives.
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
