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
	"github.com/nocopythrift/nocopythrift/internal/template"
)

// Report is the output of -format json. Times are in microseconds.
type Report struct {
	Address     string           `json:"address"`
	Method      string           `json:"method"`
	Wire        string           `json:"wire"`
	Rate        float64          `json:"rate,omitempty"` // asked for
	Concurrency int              `json:"concurrency"`
	Connections int              `json:"connections"`
	Seconds     float64          `json:"seconds"`
	Calls       int64            `json:"calls"`
	PerSecond   float64          `json:"perSecond"`
	Bytes       int64            `json:"bytes"` // of arguments and results
	Errors      map[string]int64 `json:"errors"`
	Corrected   bool             `json:"corrected"` // latencies count from when calls were due
	Mean        float64          `json:"mean"`
	Min         float64          `json:"min"`
	Max         float64          `json:"max"`
	Percentiles []Percentile     `json:"percentiles"`
	Timeline    []Second         `json:"timeline"`
}

// Percentile is the latency that a part of the calls did not exceed.
type Percentile struct {
	Percent float64 `json:"percent"`
	Latency float64 `json:"latency"`
}

// Second is a second of the run.
type Second struct {
	Calls int64   `json:"calls"`
	Worst float64 `json:"worst"` // latency
}

var percents = []float64{50, 75, 90, 95, 99, 99.9, 99.99}

func micros(ns float64) float64 { return math.Round(ns) / 1000 }

// of returns the report of a result.
func (r *runner) of(res *result) *Report {
	h := res.latencies
	out := &Report{
		Address: r.Address, Method: r.method.String(), Wire: r.server.Wire, Rate: r.Rate, Concurrency: r.Concurrency, Connections: r.Connections,
		Seconds: math.Round(res.took.Seconds()*1000) / 1000, Calls: h.TotalCount(), PerSecond: math.Round(float64(h.TotalCount())/res.took.Seconds()*10) / 10,
		Bytes: res.bytes, Errors: res.errors, Corrected: r.Rate > 0, Mean: micros(h.Mean()), Min: micros(float64(h.Min())), Max: micros(float64(h.Max())),
		Timeline: []Second{},
	}
	for _, p := range percents {
		out.Percentiles = append(out.Percentiles, Percentile{p, micros(float64(h.ValueAtQuantile(p)))})
	}
	for _, s := range res.seconds {
		out.Timeline = append(out.Timeline, Second{s.calls, micros(float64(s.worst))})
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
	how := fmt.Sprintf("%d at a time", rep.Concurrency)
	if rep.Corrected {
		how = fmt.Sprintf("%g per second asked for, latencies from when they were due", rep.Rate)
	}
	fmt.Fprintf(w, "%d calls in %.2f s, %s per second (%s)\n\n", rep.Calls, rep.Seconds, shell.Paint(color, shell.Bold, fmt.Sprintf("%.0f", rep.PerSecond)), how)
	fmt.Fprintf(w, "  latency  %10s  min\n           %10s  mean\n", duration(rep.Min), duration(rep.Mean))
	for _, p := range rep.Percentiles {
		fmt.Fprintf(w, "           %10s  %g %%\n", duration(p.Latency), p.Percent)
	}
	fmt.Fprintf(w, "           %10s  max\n", duration(rep.Max))
	if len(rep.Timeline) > 1 {
		var calls []float64
		for _, s := range rep.Timeline {
			calls = append(calls, float64(s.Calls))
		}
		fmt.Fprintf(w, "\n%s\n", asciigraph.Plot(calls, asciigraph.Height(8), asciigraph.Width(60), asciigraph.LowerBound(0), asciigraph.Precision(0),
			asciigraph.Caption("calls in each second")))
	}
	for _, text := range slices.Sorted(maps.Keys(rep.Errors)) {
		fmt.Fprintf(w, "\n%s %d × %s", shell.Paint(color, shell.Red, "errors"), rep.Errors[text], shell.Printable(text))
	}
	if len(rep.Errors) > 0 {
		fmt.Fprintln(w)
	}
}

//go:embed page.html
var pageText string

// writePage writes the report as a page that needs nothing else.
func writePage(name string, rep *Report) error {
	page := template.New(template.Functions{"duration": duration, "plot": plot}, html.EscapeString)
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
