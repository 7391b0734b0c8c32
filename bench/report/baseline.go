package report

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"golang.org/x/perf/benchmath"

	"github.com/nocopythrift/nocopythrift/bench/measure"
)

// baselines is the folder of baseline files, relative to the current one.
const baselines = "baselines"

// Baseline holds the times of every round of a run that -save has kept, by "workload op row".
type Baseline map[string][]float64

// PrepareBaseline makes the folder for the baseline called name, and returns the name of the file
// that [SaveBaseline] will write.
func PrepareBaseline(name string) (file string, err error) {
	if file, err = baselineFile(name); err != nil {
		return "", err
	}
	return file, os.MkdirAll(baselines, 0o755)
}

// baselineFile returns the name of the file of the baseline called name, and an error if that
// can't be the name of one.
func baselineFile(name string) (string, error) {
	if name != filepath.Base(name) || strings.HasPrefix(name, ".") {
		return "", fmt.Errorf("%q is no name for a baseline: it must be that of a file, without a folder", name)
	}
	return filepath.Join(baselines, name+".json"), nil
}

// LoadBaseline returns the baseline called name.
func LoadBaseline(name string) (Baseline, error) {
	file, err := baselineFile(name)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("no baseline %s (-save makes one): %w", name, err)
	}
	var b Baseline
	if err := json.Unmarshal(text, &b); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return b, nil
}

// SaveBaseline writes the times of r as the baseline called name, replacing an earlier one, and
// returns the name of the file.
func SaveBaseline(name string, r Report) (file string, err error) {
	file, err = PrepareBaseline(name)
	if err != nil {
		return "", err
	}
	b := Baseline{}
	for _, t := range r.Workloads {
		for _, row := range t.Rows {
			b[t.key(row)] = row.Rounds
		}
	}
	text, err := json.MarshalIndent(b, "", "\t")
	if err != nil {
		return "", err
	}
	return file, os.WriteFile(file, text, 0o644)
}

func (t Table) key(r Row) string { return t.Name + " " + t.Op + " " + r.Peer }

// Has reports whether b has a row of ours for the operation op on workload.
func (b Baseline) Has(workload, op string) bool {
	for key, times := range b {
		if row, found := strings.CutPrefix(key, workload+" "+op+" "); found && ours(row) && len(times) > 0 {
			return true
		}
	}
	return false
}

// Verdicts.
const (
	Faster = "faster"
	Slower = "slower"
	Same   = "no change"
)

const (
	confidence = 0.95
	// noise is by how much the times of two processes that run the same code may differ, depending on
	// the addresses of their memory. The times of one process do not show it.
	noise = 0.05
)

// Change is how a row's times have changed since a baseline.
type Change struct {
	Ratio   float64 // of the medians, now / before
	P       float64 // how likely such a difference is if nothing has changed
	Verdict string
}

// compare compares old and now, the times of the rounds then and now, by a Mann-Whitney U-test.
func compare(old, now []float64) Change {
	a, b := sample(old), sample(now)
	test := benchmath.AssumeNothing.Compare(a, b)
	c := Change{
		Ratio: benchmath.AssumeNothing.Summary(b, confidence).Center / benchmath.AssumeNothing.Summary(a, confidence).Center,
		P:     test.P, Verdict: Same,
	}
	switch {
	case test.P > test.Alpha:
	case c.Ratio < 1-noise:
		c.Verdict = Faster
	case c.Ratio > 1+noise:
		c.Verdict = Slower
	}
	return c
}

// sample returns a copy of times for benchmath, which sorts it in place.
func sample(times []float64) *benchmath.Sample {
	return benchmath.NewSample(slices.Clone(times), &benchmath.DefaultThresholds)
}

// ours reports whether a row is one of this library's.
func ours(row string) bool { return strings.HasPrefix(row, "nocopy") }

// Compare writes which of our rows are faster or slower than in the baseline called name, and how
// much the other peers' times have changed, whose code has not.
func (r Report) Compare(w io.Writer, old Baseline, name string) error {
	fmt.Fprintf(w, "\nAgainst the baseline %s: medians with %.0f %% confidence intervals\n", name, 100*confidence)
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "\tbefore\tnow\tchange\tp\t")
	counts := map[string]int{}
	var others []float64
	for _, t := range r.Workloads {
		for _, row := range t.Rows {
			before := old[t.key(row)]
			if len(before) == 0 {
				continue
			}
			c := compare(before, row.Rounds)
			if !ours(row.Peer) {
				others = append(others, c.Ratio)
				continue
			}
			counts[c.Verdict]++
			fmt.Fprintf(tw, "%s\t%s\t%s\t%+.1f %%\t%.3f\t%s\n", t.key(row), interval(before), interval(row.Rounds), 100*(c.Ratio-1), c.P, c.Verdict)
		}
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	if len(counts) == 0 {
		return fmt.Errorf("the baseline %s has nothing of what was measured", name)
	}
	fmt.Fprintf(w, "%d faster, %d slower, %d no change", counts[Faster], counts[Slower], counts[Same])
	if len(others) > 0 {
		fmt.Fprintf(w, "; the %d rows that are not ours, in the median: %+.1f %%", len(others), 100*(measure.Median(others)-1))
	}
	_, err := fmt.Fprintln(w)
	return err
}

// interval writes the median of times and its confidence interval; below six rounds there is none,
// and it says how many there were.
func interval(times []float64) string {
	s := benchmath.AssumeNothing.Summary(sample(times), confidence)
	if math.IsInf(s.Lo, 0) || math.IsInf(s.Hi, 0) {
		return fmt.Sprintf("%s (%s only)", duration(s.Center), count(len(times), "round"))
	}
	return fmt.Sprintf("%s (%s to %s)", duration(s.Center), duration(s.Lo), duration(s.Hi))
}
