package compare

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"golang.org/x/perf/benchmath"

	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/bench"
)

// Comparison is the output of -format json.
type Comparison struct {
	Old         string       `json:"old"` // files
	New         string       `json:"new"`
	Differences []Difference `json:"differences"` // of what was measured
	Loads       []Load       `json:"loads"`
}

// Difference is what two reports do not have in common.
type Difference struct {
	What string `json:"what"`
	Old  string `json:"old"`
	New  string `json:"new"`
}

// Load is the comparison of one step.
type Load struct {
	Load      string  `json:"load"`
	Of        string  `json:"of"` // what the figures are of: seconds, or runs
	OldCount  int     `json:"oldCount"`
	NewCount  int     `json:"newCount"`
	OldErrors float64 `json:"oldErrors"` // in percent of the calls
	NewErrors float64 `json:"newErrors"`
	Rows      []Row   `json:"rows"`
}

// Row is the comparison of one figure.
type Row struct {
	Metric  string  `json:"metric"`
	Old     Median  `json:"old"`
	New     Median  `json:"new"`
	Change  float64 `json:"change"` // of the medians, in percent; of errors in percentage points
	P       float64 `json:"p"`      // how likely such a difference is if nothing has changed
	Verdict string  `json:"verdict"`

	of kind
}

// kind is what a figure counts.
type kind int

const (
	calls   kind = iota // per second
	latency             // in microseconds
	share               // of the calls, in percent
)

// Median is the median of the figures, with a confidence interval if there are enough. Of errors
// it is their share of all calls, without an interval.
type Median struct {
	Value float64  `json:"value"`
	Low   *float64 `json:"low,omitempty"`
	High  *float64 `json:"high,omitempty"`
}

// text returns the median for people.
func (m Median) text(of kind) string {
	text := func(v float64) string {
		switch of {
		case latency:
			return bench.Duration(v)
		case share:
			return fmt.Sprintf("%.2f %%", v)
		}
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	if m.Low == nil {
		return text(m.Value)
	}
	return fmt.Sprintf("%s (%s to %s)", text(m.Value), text(*m.Low), text(*m.High))
}

// The verdicts.
const (
	better = "better"
	worse  = "worse"
	same   = "no change"
	tooFew = "too few"
)

const (
	confidence = 0.95
	leastCount = 4 // of figures: with fewer, p is never small
	// noise is by how many percent the medians of two runs may differ without a reason.
	noise = 5
	// noiseOfErrors is the same in percentage points.
	noiseOfErrors = 0.1
	// mostChange is the largest change that is told, in percent.
	mostChange = 1e6
)

// metrics are what is compared: figures of each second, or of each run.
var metrics = []struct {
	name   string
	of     kind
	second func(bench.Second) float64
	run    func(*bench.Report) float64
}{
	{"calls per second", calls, func(s bench.Second) float64 { return float64(s.Calls) }, func(r *bench.Report) float64 { return r.PerSecond }},
	{"latency of 50 %", latency, func(s bench.Second) float64 { return s.P50 }, func(r *bench.Report) float64 { return r.Latency(50) }},
	{"latency of 99 %", latency, func(s bench.Second) float64 { return s.P99 }, func(r *bench.Report) float64 { return r.Latency(99) }},
	{"errors", share, func(s bench.Second) float64 { return 100 * float64(s.Errors) / float64(s.Calls) }, func(r *bench.Report) float64 { return failed([]*bench.Report{r}) }},
}

// compare compares the reports of loads that both sides have. If each side has one load, these may
// differ.
func compare(before, now []*bench.Report) *Comparison {
	c := &Comparison{Differences: []Difference{}, Loads: []Load{}}
	oldLoads, oldBy := byLoad(before)
	newLoads, newBy := byLoad(now)
	for _, l := range oldLoads {
		old, reports := oldBy[l], newBy[l]
		if len(oldLoads) == 1 && len(newLoads) == 1 {
			reports = now
		}
		if len(reports) == 0 {
			continue
		}
		for _, r := range slices.Concat(old[1:], reports) {
			for _, d := range differences(old[0], r) {
				if !slices.Contains(c.Differences, d) && len(c.Differences) < maxDifferences {
					c.Differences = append(c.Differences, d)
				}
			}
		}
		c.Loads = append(c.Loads, compareLoad(old, reports))
	}
	return c
}

// maxDifferences is how many differences are told.
const maxDifferences = 20

// byLoad returns the reports by their loads, and the loads in the order in which they come.
func byLoad(reports []*bench.Report) (loads []string, by map[string][]*bench.Report) {
	by = map[string][]*bench.Report{}
	for _, r := range reports {
		l := load(r)
		if by[l] == nil {
			loads = append(loads, l)
		}
		by[l] = append(by[l], r)
	}
	return loads, by
}

// load returns how calls were made.
func load(r *bench.Report) string {
	if r.Loop == "open" {
		return fmt.Sprintf("open loop: %g calls per second asked for", r.Rate)
	}
	return fmt.Sprintf("closed loop: %d calls at a time", r.Concurrency)
}

// differences returns what two reports do not have in common, beside what was measured.
func differences(old, now *bench.Report) (all []Difference) {
	add := func(what, a, b string) {
		if a != b {
			all = append(all, Difference{what, a, b})
		}
	}
	add("method", old.Method, now.Method)
	add("address", old.Address, now.Address)
	add("wire", old.Wire, now.Wire)
	add("load", load(old), load(now))
	if old.Loop == now.Loop && old.Loop == "open" {
		add("most calls at a time", strconv.Itoa(old.Concurrency), strconv.Itoa(now.Concurrency))
	}
	add("connections", strconv.Itoa(old.Connections), strconv.Itoa(now.Connections))
	add("pipelining", strconv.FormatBool(old.Pipelined), strconv.FormatBool(now.Pipelined))
	add("bytes per call", perCall(old), perCall(now))
	return all
}

// perCall returns about how many bytes of arguments and results a call has, in two digits.
func perCall(r *bench.Report) string {
	if r.Calls == 0 {
		return "none"
	}
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(float64(r.Bytes)/float64(r.Calls), 'g', 2, 64), 64)
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}

// compareLoad compares the reports of a load: their seconds if there is one on each side, else the
// runs as a whole.
func compareLoad(old, now []*bench.Report) Load {
	l := Load{Load: load(now[0]), Of: runs, OldErrors: failed(old), NewErrors: failed(now)}
	if len(old) == 1 && len(now) == 1 {
		l.Of = seconds
	}
	for _, m := range metrics {
		figures := func(reports []*bench.Report) (all []float64) {
			if l.Of == runs {
				for _, r := range reports {
					all = append(all, m.run(r))
				}
				return all
			}
			for _, s := range bench.Whole(reports[0].Timeline) {
				if m.of == calls || s.Calls > 0 { // else there is none
					all = append(all, m.second(s))
				}
			}
			return all
		}
		a, b := figures(old), figures(now)
		l.OldCount, l.NewCount = max(l.OldCount, len(a)), max(l.NewCount, len(b))
		row := Row{Metric: m.name, of: m.of}
		if m.of == share {
			row.Old.Value, row.New.Value = l.OldErrors, l.NewErrors
		}
		row.compare(benchmath.NewSample(a, &benchmath.DefaultThresholds), benchmath.NewSample(b, &benchmath.DefaultThresholds))
		l.Rows = append(l.Rows, row)
	}
	return l
}

// What figures are of.
const (
	seconds = "seconds"
	runs    = "runs"
)

// failed returns how many percent of the calls had errors.
func failed(reports []*bench.Report) float64 {
	sum, calls := 0.0, 0.0
	for _, r := range reports {
		calls += float64(r.Calls)
		for _, n := range r.Errors {
			sum += float64(n)
		}
	}
	return 100 * sum / max(calls, 1)
}

// compare sets what a row tells about two samples.
func (r *Row) compare(old, now *benchmath.Sample) {
	r.Verdict, r.P = tooFew, 1
	if r.of != share {
		r.Old, r.New = median(old), median(now)
	}
	least := float64(noise)
	switch {
	case r.of == share:
		r.Change, least = r.New.Value-r.Old.Value, noiseOfErrors
	case r.Old.Value > 0:
		r.Change = min(100*(r.New.Value/r.Old.Value-1), mostChange)
	case r.New.Value > 0:
		r.Change = mostChange
	}
	if min(len(old.Values), len(now.Values)) < leastCount {
		return
	}
	test := benchmath.AssumeNothing.Compare(old, now)
	r.P, r.Verdict = min(test.P, 1), same // rounding makes it a little more than 1
	switch {
	case test.P > test.Alpha || math.Abs(r.Change) <= least:
	case r.Change > 0 == (r.of != calls):
		r.Verdict = worse
	default:
		r.Verdict = better
	}
}

// change returns the change for people.
func (r *Row) change() string {
	switch {
	case r.of == share:
		return fmt.Sprintf("%+.2f points", r.Change)
	case r.Change >= mostChange:
		return fmt.Sprintf("over %+.0f %%", mostChange)
	}
	return fmt.Sprintf("%+.1f %%", r.Change)
}

// median returns the median of a sample; 0 if it is empty.
func median(s *benchmath.Sample) Median {
	if len(s.Values) == 0 {
		return Median{}
	}
	sum := benchmath.AssumeNothing.Summary(s, confidence)
	m := Median{Value: sum.Center}
	if !math.IsInf(sum.Lo, 0) && !math.IsInf(sum.Hi, 0) {
		m.Low, m.High = &sum.Lo, &sum.Hi
	}
	return m
}

// exceeds reports whether a row is worse, by more than so many percent, or points of errors.
func (c *Comparison) exceeds(limit float64) bool {
	for _, l := range c.Loads {
		for _, r := range l.Rows {
			if r.Verdict == worse && math.Abs(r.Change) > limit {
				return true
			}
		}
	}
	return false
}
