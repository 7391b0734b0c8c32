package main

import (
	"fmt"
	"io"
	"time"

	"github.com/nocopythrift/nocopythrift/bench/data"
	"github.com/nocopythrift/nocopythrift/bench/measure"
	"github.com/nocopythrift/nocopythrift/bench/report"
)

// measureAll checks and measures the selected operations and prints each table when it is
// measured. If end is not zero, samples are short enough to be done by then.
func measureAll(out io.Writer, workloads []data.Workload, s selection, o measure.Options, end time.Time) (report.Report, error) {
	r := report.Report{Run: report.NewRun(o.Rounds)}
	var chosen []data.Workload
	left := 0 // tables, large messages counted several times
	for _, w := range workloads {
		if n := len(s.ops(w)); n > 0 {
			chosen = append(chosen, w)
			left += n * weight(w)
		}
	}
	fmt.Fprintln(out, r.Run)
	p := newProgress(left)
	for _, w := range chosen {
		p.at(w.Name, "checking that all agree")
		entries, err := prepare(w)
		if err != nil {
			return r, err
		}
		for _, e := range entries {
			if !s.op(w.Name, e.Op) {
				continue
			}
			p.at(w.Name, string(e.Op))
			o := o
			o.Budget = tableBudget
			if w.Unit != "" {
				o.Sample = min(o.Sample, growthSample)
				o.Budget = growthBudget
			}
			if !end.IsZero() {
				o.Budget = max(time.Until(end), 0)*time.Duration(weight(w))/time.Duration(left) + 1
				o.Limit = 2 * o.Budget
			}
			o.Progress = func(done, of int) { p.part(weight(w), done, of) }
			t := report.NewTable(w, e.Op, measure.Run(e.Rows, o))
			left -= weight(w)
			p.done(weight(w))
			if err := t.Text(out); err != nil {
				return r, err
			}
			r.Workloads = append(r.Workloads, t)
		}
	}
	p.finish()
	return r, r.Growth(out)
}

// The times for a table. G, H and I have many tables, with shorter samples.
const (
	tableBudget  = 12 * time.Second
	growthBudget = 3 * time.Second
	growthSample = 15 * time.Millisecond
)

// weight returns about how many times as long as another's a workload's operations take.
func weight(w data.Workload) int {
	if w.Name == "F" {
		return 3
	}
	return 1
}
