package bench

import (
	_ "embed"
	"fmt"
	"html"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/guptarohit/asciigraph"

	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/shell"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/target"
	"github.com/nocopythrift/nocopythrift/internal/template"
)

// Report is the output of -format json.
type Report struct {
	Address     string           `json:"address"`
	Method      string           `json:"method"`
	Wire        string           `json:"wire"`
	Rate        float64          `json:"rate,omitempty"` // asked for
	Concurrency int              `json:"concurrency"`
	Connections int              `json:"connections"`
	Pipelined   bool             `json:"pipelined"` // calls share connections
	Seconds     float64          `json:"seconds"`
	Calls       int64            `json:"calls"`
	PerSecond   float64          `json:"perSecond"`
	Bytes       int64            `json:"bytes"` // of arguments and results
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
}

// Percentile is the latency that a part of the calls did not exceed.
type Percentile struct {
	Percent float64 `json:"percent"`
	Latency float64 `json:"latency"`
}

// Second is a second of the run. During the last one calls were perhaps not sent to its end.
type Second struct {
	Calls   int64   `json:"calls"`
	Worst   float64 `json:"worst"` // latency
	Partial bool    `json:"partial,omitempty"`
}

var percents = []float64{50, 75, 90, 95, 99, 99.9, 99.99}

func micros(ns float64) float64 { return math.Round(ns) / 1000 }

// of returns the report of a result.
func (r *runner) of(res *result) *Report {
	h := res.latencies
	out := &Report{
		Address: target.Shown(r.Address), Method: r.method.String(), Wire: r.wire, Rate: r.Rate, Concurrency: r.Concurrency, Connections: r.Connections, Pipelined: r.Pipeline,
		Seconds: math.Round(res.took.Seconds()*1000) / 1000, Calls: h.TotalCount(), PerSecond: math.Round(float64(h.TotalCount())/res.took.Seconds()*10) / 10,
		Bytes: res.bytes, Errors: res.errors, Corrected: r.Rate > 0, LatencyUnit: "microseconds", Mean: micros(h.Mean()), Min: micros(float64(h.Min())), Max: micros(float64(h.Max())),
		Timeline: []Second{}, Unsent: res.unsent, Unfinished: res.unfinished, LongestUnfinished: micros(float64(res.waited)), SilentConnections: res.silent,
	}
	for _, p := range percents {
		out.Percentiles = append(out.Percentiles, Percentile{p, micros(float64(h.ValueAtQuantile(p)))})
	}
	for i, s := range res.seconds {
		partial := time.Duration(i+1)*time.Second > min(res.took, r.duration)
		out.Timeline = append(out.Timeline, Second{s.calls, micros(float64(s.worst)), partial})
	}
	return out
}

// report prints what was measured.
func (r *runner) report(res *result) error {
	rep := r.of(res)
	if r.HTML != "" {
		if err := writePage(r.HTML, rep); err != nil {
			return err
		}
	}
	if r.JSON() {
		if err := r.sh.WriteJSON(rep); err != nil {
			return err
		}
	} else {
		rep.print(r.sh.Out, r.sh.Color)
	}
	if res.ok == 0 {
		return shell.WithCode(shell.Failed, fmt.Errorf("no call had a result"))
	}
	return nil
}

// duration returns microseconds as text.
func duration(us float64) string {
	d := time.Duration(us * 1000)
	switch {
	case d >= time.Second:
		return d.Round(time.Millisecond).String()
	case d >= time.Millisecond:
		return d.Round(10 * time.Microsecond).String()
	}
	return d.Round(100 * time.Nanosecond).String()
}

// print writes the report as text, with a plot.
func (rep *Report) print(w io.Writer, color bool) {
	fmt.Fprintf(w, "%s on %s (%s)\n", shell.Paint(color, shell.Bold, rep.Method), rep.Address, rep.Wire)
	fmt.Fprintf(w, "%d calls in %.2f s, %s per second (%s)\n\n", rep.Calls, rep.Seconds, shell.Paint(color, shell.Bold, fmt.Sprintf("%.0f", rep.PerSecond)), rep.how())
	fmt.Fprintf(w, "  latency  %10s  min\n           %10s  mean\n", duration(rep.Min), duration(rep.Mean))
	for _, p := range rep.Percentiles {
		fmt.Fprintf(w, "           %10s  %g %%\n", duration(p.Latency), p.Percent)
	}
	fmt.Fprintf(w, "           %10s  max\n", duration(rep.Max))
	if whole := whole(rep.Timeline); len(whole) > 1 {
		var calls []float64
		for _, s := range whole {
			calls = append(calls, float64(s.Calls))
		}
		fmt.Fprintf(w, "\n%s\n", asciigraph.Plot(calls, asciigraph.Height(8), asciigraph.Width(60), asciigraph.LowerBound(0), asciigraph.Precision(0),
			asciigraph.Caption("calls in each second")))
	}
	for _, text := range slices.Sorted(maps.Keys(rep.Errors)) {
		fmt.Fprintf(w, "\n%s %d × %s", shell.Paint(color, shell.Red, "errors"), rep.Errors[text], shell.OneLine(text))
	}
	if len(rep.Errors) > 0 {
		fmt.Fprintln(w)
	}
	for _, note := range rep.notes() {
		fmt.Fprintf(w, "\n%s\n", shell.Paint(color, shell.Yellow, note))
	}
}

// how returns how calls were made.
func (rep *Report) how() string {
	calls := fmt.Sprintf("%d at a time", rep.Concurrency)
	if rep.Corrected {
		calls = fmt.Sprintf("%g per second asked for, latencies from when they were due, at most %d at a time", rep.Rate, rep.Concurrency)
	}
	if rep.Pipelined {
		return fmt.Sprintf("%s, pipelined on %d connections: latencies include the time of earlier calls", calls, rep.Connections)
	}
	return calls + ", each on a connection of its own"
}

// notes returns what keeps the numbers from telling all.
func (rep *Report) notes() (notes []string) {
	if rep.Unsent > 0 {
		notes = append(notes, fmt.Sprintf("%d calls were due and not sent: the calls before them took too long", rep.Unsent))
	}
	if rep.Unfinished > 0 {
		notes = append(notes, fmt.Sprintf("%d calls had no answer at the end, and are not counted; the oldest was under way for %s", rep.Unfinished, duration(rep.LongestUnfinished)))
	}
	if rep.SilentConnections > 0 && !rep.Pipelined {
		notes = append(notes, fmt.Sprintf("%d of %d connections had no answer: if the server handles fewer at the same time, lower -concurrency", rep.SilentConnections, rep.Connections))
	}
	return notes
}

// whole returns the seconds without the last, partial one, unless there is no other.
func whole(seconds []Second) []Second {
	n := len(seconds)
	for n > 0 && seconds[n-1].Partial {
		n--
	}
	if n == 0 {
		return seconds
	}
	return seconds[:n]
}

//go:embed page.html
var pageText string

// writePage writes the report as a page that needs nothing else.
func writePage(name string, rep *Report) error {
	page := template.New(template.Functions{"duration": duration, "plot": plot, "how": (*Report).how, "notes": (*Report).notes}, html.EscapeString)
	if err := page.Add("page", pageText); err != nil {
		return err
	}
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	if err := page.Execute(f, "page", rep); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

// Plot is a line in a picture of 600 by 160.
type Plot struct {
	Points string
	Top    string // the largest value
}

// plot returns the line of what f returns for each second.
func plot(seconds []Second, of string) Plot {
	value := func(s Second) float64 {
		if of == "worst" {
			return s.Worst
		}
		return float64(s.Calls)
	}
	seconds = whole(seconds)
	most := 0.0
	for _, s := range seconds {
		most = max(most, value(s))
	}
	var points []string
	for i, s := range seconds {
		x := 0.0
		if len(seconds) > 1 {
			x = float64(i) * 600 / float64(len(seconds)-1)
		}
		points = append(points, fmt.Sprintf("%.1f,%.1f", x, 155-150*value(s)/max(most, 1)))
	}
	if len(points) == 1 {
		points = append(points, strings.Replace(points[0], "0.0,", "600.0,", 1))
	}
	top := fmt.Sprintf("%.0f", most)
	if of == "worst" {
		top = duration(most)
	}
	return Plot{strings.Join(points, " "), top}
}
