package bench

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/shell"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/target"
)

// Report is what was measured. -format json prints it, or Steps.
type Report struct {
	Address     string           `json:"address"`
	Method      string           `json:"method"`
	Wire        string           `json:"wire"`
	Loop        string           `json:"loop"`           // open or closed
	Rate        float64          `json:"rate,omitempty"` // asked for, of an open loop
	Concurrency int              `json:"concurrency"`
	Connections int              `json:"connections"`
	Pipelined   bool             `json:"pipelined"` // calls share connections
	Seconds     float64          `json:"seconds"`
	Calls       int64            `json:"calls"`
	PerSecond   float64          `json:"perSecond"`
	Saturated   string           `json:"saturated,omitempty"` // why the load was too much, if it was
	Bytes       int64            `json:"bytes"`               // of arguments and results
	Errors      map[string]int64 `json:"errors"`
	Corrected   bool             `json:"corrected"` // latencies count from when calls were due
	LatencyUnit string           `json:"latencyUnit"`
	Mean        float64          `json:"mean"`
	Min         float64          `json:"min"`
	Max         float64          `json:"max"`
	Percentiles []Percentile     `json:"percentiles"`
	Timeline    []Second         `json:"timeline"`

	Unsent            int64   `json:"unsent"`            // calls that were due and not sent
	Unfinished        int64   `json:"unfinished"`        // calls that had no answer at the end
	LongestUnfinished float64 `json:"longestUnfinished"` // how long the oldest of these was under way
	SilentConnections int     `json:"silentConnections"` // on which no call was answered

	latencies *hdrhistogram.Histogram
}

// Steps is the output of -format json if there are several loads.
type Steps struct {
	Steps []*Report `json:"steps"`
}

// Percentile is the latency that a part of the calls did not exceed.
type Percentile struct {
	Percent float64 `json:"percent"`
	Latency float64 `json:"latency"`
}

// Second is a second of the run. During the last one calls were perhaps not sent to its end.
type Second struct {
	Calls   int64   `json:"calls"`
	Errors  int64   `json:"errors"`
	P50     float64 `json:"p50"` // latency
	P99     float64 `json:"p99"`
	Worst   float64 `json:"worst"`
	Partial bool    `json:"partial,omitempty"`
}

// The loops.
const (
	openLoop   = "open"
	closedLoop = "closed"
)

var percents = []float64{50, 75, 90, 95, 99, 99.9, 99.99}

func micros(ns float64) float64 { return math.Round(ns) / 1000 }

func microseconds(d time.Duration) float64 { return micros(float64(d)) }

// of returns the report of a result.
func (r *runner) of(res *result) *Report {
	h := res.latencies
	out := &Report{
		Address: target.Shown(r.Address), Method: r.method.String(), Wire: r.wire, Loop: closedLoop, Rate: res.rate, Concurrency: res.concurrency,
		Connections: min(r.Connections, res.concurrency), Pipelined: r.Pipeline, Seconds: math.Round(res.took.Seconds()*1000) / 1000, Calls: h.TotalCount(),
		PerSecond: math.Round(float64(h.TotalCount())/res.took.Seconds()*10) / 10, Bytes: res.bytes, Errors: res.errors, Corrected: res.rate > 0,
		LatencyUnit: "microseconds", Mean: micros(h.Mean()), Min: micros(float64(h.Min())), Max: micros(float64(h.Max())), Timeline: []Second{}, latencies: h,
		Unsent: res.unsent, Unfinished: res.unfinished, LongestUnfinished: microseconds(res.waited), SilentConnections: res.silent,
	}
	if res.rate > 0 {
		out.Loop = openLoop
		if left := res.unsent + res.unfinished; left > res.due/20 {
			out.Saturated = fmt.Sprintf("%d of %d calls were not made or not answered", left, res.due)
		}
	}
	for _, p := range percents {
		out.Percentiles = append(out.Percentiles, Percentile{p, micros(float64(h.ValueAtQuantile(p)))})
	}
	for i, s := range res.seconds {
		partial := time.Duration(i+1)*time.Second > min(res.took, res.duration)
		out.Timeline = append(out.Timeline, Second{s.calls, s.errors, microseconds(s.p50), microseconds(s.p99), microseconds(s.worst), partial})
	}
	return out
}

// reports returns the reports of results. Of a closed loop, steps that make hardly more calls than
// one before are saturated.
func (r *runner) reports(results []*result) (all []*Report) {
	best := 0.0
	for i, res := range results {
		rep := r.of(res)
		if i > 0 && rep.Loop == closedLoop && rep.PerSecond < 1.05*best {
			rep.Saturated = "hardly more calls than with fewer at a time"
		}
		best = max(best, rep.PerSecond)
		all = append(all, rep)
	}
	return all
}

// report prints what was measured, and writes files.
func (r *runner) report(results []*result) error {
	all := r.reports(results)
	if err := r.files(all); err != nil {
		return err
	}
	var err error
	switch {
	case r.JSON() && len(r.loads) > 1:
		err = r.sh.WriteJSON(Steps{all})
	case r.JSON():
		err = r.sh.WriteJSON(all[0])
	case len(r.loads) > 1:
		err = printSteps(r.sh.Out, r.sh.Color, all)
	default:
		all[0].print(r.sh.Out, r.sh.Color)
	}
	if err != nil {
		return err
	}
	for _, res := range results {
		if res.ok > 0 {
			return nil
		}
	}
	return shell.WithCode(shell.Failed, errors.New("no call had a result"))
}
