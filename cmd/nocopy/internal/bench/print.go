package bench

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/guptarohit/asciigraph"

	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/shell"
)

// Duration returns microseconds as text.
func Duration(us float64) string {
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
	fmt.Fprintf(w, "  latency  %10s  min\n           %10s  mean\n", Duration(rep.Min), Duration(rep.Mean))
	for _, p := range rep.Percentiles {
		fmt.Fprintf(w, "           %10s  %g %%\n", Duration(p.Latency), p.Percent)
	}
	fmt.Fprintf(w, "           %10s  max\n", Duration(rep.Max))
	if whole := Whole(rep.Timeline); len(whole) > 1 {
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
	calls := fmt.Sprintf("closed loop: %d at a time", rep.Concurrency)
	if rep.Loop == openLoop {
		calls = fmt.Sprintf("open loop: %g per second asked for, latencies from when they were due, at most %d at a time", rep.Rate, rep.Concurrency)
	}
	return calls + rep.connections()
}

// connections returns how calls used connections.
func (rep *Report) connections() string {
	if rep.Pipelined {
		return fmt.Sprintf(", pipelined on %d connections: latencies include the time of earlier calls", rep.Connections)
	}
	return ", each on a connection of its own"
}

// notes returns what keeps the numbers from telling all.
func (rep *Report) notes() (notes []string) {
	if rep.Unsent > 0 {
		notes = append(notes, fmt.Sprintf("%d calls were due and not sent: the calls before them took too long", rep.Unsent))
	}
	if rep.Unfinished > 0 {
		notes = append(notes, fmt.Sprintf("%d calls had no answer at the end, and are not counted; the oldest was under way for %s", rep.Unfinished, Duration(rep.LongestUnfinished)))
	}
	if rep.SilentConnections > 0 && !rep.Pipelined {
		notes = append(notes, fmt.Sprintf("%d of %d connections had no answer: if the server handles fewer at the same time, lower -concurrency", rep.SilentConnections, rep.Connections))
	}
	return notes
}

// Whole returns the seconds without the last, partial one, unless there is no other.
func Whole(seconds []Second) []Second {
	n := len(seconds)
	for n > 0 && seconds[n-1].Partial {
		n--
	}
	if n == 0 {
		return seconds
	}
	return seconds[:n]
}

// printSteps writes a table of the reports of steps.
func printSteps(w io.Writer, color bool, all []*Report) error {
	first := all[0]
	fmt.Fprintf(w, "%s on %s (%s)\n", shell.Paint(color, shell.Bold, first.Method), first.Address, first.Wire)
	asked, how := "at a time", "closed loop: so many calls at a time"
	if first.Loop == openLoop {
		asked, how = "asked for", fmt.Sprintf("open loop: so many calls per second asked for, latencies from when they were due, at most %d at a time", first.Concurrency)
	}
	fmt.Fprintf(w, "%s%s\n\n", how, first.connections())
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(tw, "%s\tper second\terrors\t50 %%\t99 %%\t99.9 %%\tmax\t\n", asked)
	for _, rep := range all {
		load := fmt.Sprint(rep.Concurrency)
		if rep.Loop == openLoop {
			load = fmt.Sprintf("%g", rep.Rate)
		}
		failed := int64(0)
		for _, n := range rep.Errors {
			failed += n
		}
		fmt.Fprintf(tw, "%s\t%.0f\t%d\t%s\t%s\t%s\t%s\t", load, rep.PerSecond, failed, Duration(rep.Latency(50)), Duration(rep.Latency(99)), Duration(rep.Latency(99.9)), Duration(rep.Max))
		if rep.Saturated != "" {
			fmt.Fprintf(tw, "  saturated: %s", rep.Saturated)
		}
		fmt.Fprintln(tw)
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	for _, rep := range all {
		for _, text := range slices.Sorted(maps.Keys(rep.Errors)) {
			fmt.Fprintf(w, "\n%s %d × %s", shell.Paint(color, shell.Red, "errors"), rep.Errors[text], shell.OneLine(text))
		}
	}
	_, err := fmt.Fprintln(w)
	return err
}

// Latency returns the latency that this part of the calls, in percent, did not exceed; 0 if it is
// not known.
func (rep *Report) Latency(percent float64) float64 {
	for _, p := range rep.Percentiles {
		if p.Percent == percent {
			return p.Latency
		}
	}
	return 0
}
