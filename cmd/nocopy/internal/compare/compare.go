// Package compare is the command that compares two reports of nocopy bench.
package compare

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/bench"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/shell"
)

// Command compares two reports.
type Command struct {
	Old   string   `arg:"" help:"Report of nocopy bench -format json."`
	New   string   `arg:"" help:"The one to compare with it."`
	Limit *float64 `help:"Exit with 100 if something is worse by more than so many percent." placeholder:"PERCENT"`

	shell.Format
}

// Help is the end of the command's help text.
func (Command) Help() string {
	return `Both files have reports of nocopy bench -format json, of one run or of several. What is compared are the
calls per second, the latencies that 50 % and 99 % of the calls did not exceed, and the share of errors: of
whole runs, or of the seconds of a run if each file has one. The table has the medians with confidence intervals
of 95 %, and how likely such a difference is if nothing has changed (p, by the Mann-Whitney U-test). "worse" and
"better" mean that p is at most 0.05 and that the medians differ by more than 5 %. Of errors the table has the
share of all calls, which has to differ by more than 0.1 percentage points. Fewer than 4 runs or seconds are too
few.

The seconds of a run have much in common, and other programs on the machine make runs differ: two single runs
of the same server often seem to be better or worse. To be sure, measure both sides in turns, several times,
and append to the files. Of steps, those with the same -rate or -concurrency are compared.

Exit codes: 0 in general; with -limit 100 if a row is worse, and its medians differ by more than that.
Of errors it is so many percentage points.

Example:
  for i in 1 2 3 4 5 6; do
    nocopy bench localhost:9090 Store.get key=a -format json >>old.json
    nocopy bench localhost:9091 Store.get key=a -format json >>new.json
  done
  nocopy compare old.json new.json -limit 10`
}

// Run is called by the parser.
func (c *Command) Run(sh *shell.Shell) error {
	if c.Limit != nil && !(*c.Limit >= 0) {
		return shell.WithCode(shell.Usage, fmt.Errorf("-limit is a number of percent from 0 on, not %g", *c.Limit))
	}
	before, err := bench.ReadReports(c.Old)
	if err != nil {
		return err
	}
	now, err := bench.ReadReports(c.New)
	if err != nil {
		return err
	}
	out := compare(before, now)
	out.Old, out.New = c.Old, c.New
	if len(out.Loads) == 0 {
		return fmt.Errorf("%s and %s have no load in common", c.Old, c.New)
	}
	if c.JSON() {
		err = sh.WriteJSON(out)
	} else {
		err = out.print(sh.Out, sh.Color)
	}
	if err == nil && c.Limit != nil && out.exceeds(*c.Limit) {
		return shell.WithCode(shell.Findings, shell.ErrSilent)
	}
	return err
}

var colors = map[string]shell.Color{worse: shell.Red, better: shell.Green, tooFew: shell.Yellow, same: shell.Bold}

// print writes the comparison as text.
func (c *Comparison) print(w io.Writer, color bool) error {
	fmt.Fprintf(w, "old  %s\nnew  %s\n", shell.OneLine(c.Old), shell.OneLine(c.New))
	for _, d := range c.Differences {
		fmt.Fprintf(w, "%s\n", shell.Paint(color, shell.Yellow, shell.OneLine(fmt.Sprintf("other %s: %s, then %s", d.What, d.Old, d.New))))
	}
	for _, l := range c.Loads {
		fmt.Fprintf(w, "\n%s; %d and %d %s\n", l.Load, l.OldCount, l.NewCount, l.Of)
		tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		fmt.Fprintln(tw, "\told\tnew\tchange\tp\t")
		for _, r := range l.Rows {
			fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%.3f\t%s\n", r.Metric, r.Old.text(r.of), r.New.text(r.of), r.change(), r.P, shell.Paint(color, colors[r.Verdict], r.Verdict))
		}
		if err := tw.Flush(); err != nil {
			return err
		}
	}
	if c.Loads[0].Of == seconds {
		fmt.Fprintf(w, "\n%s\n", shell.Paint(color, shell.Yellow, "these are single runs, which differ also if nothing has changed: to be sure, append several to each file, in turns"))
	}
	return nil
}
