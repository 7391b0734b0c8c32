package report

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"golang.org/x/perf/benchmath"
)

// baselines is the folder in which they are kept, below the current one.
const baselines = "baselines"

// Baseline is what -save keeps of a run: the times of every round, by "workload op row".
type Baseline map[string][]float64

func baselineFile(name string) (string, error) {
	if name != filepath.Base(name) || strings.HasPrefix(name, ".") {
		return "", fmt.Errorf("%q is no name for a baseline: it must be that of a file, without a folder", name)
	}
	return filepath.Join(baselines, name+".json"), nil
}

// LoadBaseline returns what was saved as name.
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

// SaveBaseline keeps the times of r as name, in place of what was there before, and returns the file.
func SaveBaseline(name string, r Report) (file string, err error) {
	file, err = baselineFile(name)
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
	if err := os.MkdirAll(baselines, 0o755); err != nil {
		return "", err
	}
	return file, os.WriteFile(file, text, 0o644)
}

func (t Table) key(r Row) string { return t.Name + " " + t.Op + " " + r.Peer }

// Verdicts.
const (
	Faster = "faster"
	Slower = "slower"
	Same   = "no change"
)

const (
	confidence = 0.95
	// noise is what two processes that run the same code differ by, and no test on the rounds of one of them can know: where its memory happens to lie.
	noise = 0.05
)

// Change is what has become of one row since a baseline.
type Change struct {
	Old, New benchmath.Summary // medians with their confidence intervals, in ns
	P        float64           // how likely such a difference is if nothing has changed
	Verdict  string
}

// compare tells by a Mann-Whitney U-test whether a and b, the times of the rounds before and now, differ.
func compare(old, now []float64) Change {
	a, b := benchmath.NewSample(old, &benchmath.DefaultThresholds), benchmath.NewSample(now, &benchmath.DefaultThresholds)
	c := Change{Old: benchmath.AssumeNothing.Summary(a, confidence), New: benchmath.AssumeNothing.Summary(b, confidence), Verdict: Same}
	test := benchmath.AssumeNothing.Compare(a, b)
	c.P = test.P
	if test.P > test.Alpha {
		return c
	}
	switch change := c.New.Center/c.Old.Center - 1; {
	case change < -noise:
		c.Verdict = Faster
	case change > noise:
		c.Verdict = Slower
	}
	return c
}

// Compare writes what is faster and slower than in the baseline called name: every row of ours, and of the others how much the machine has changed.
func (r Report) Compare(w io.Writer, old Baseline, name string) error {
	fmt.Fprintf(w, "\nAgainst the baseline %s (medians with %.0f %% confidence intervals)\n", name, 100*confidence)
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
			if !strings.HasPrefix(row.Peer, "nocopy") {
				others = append(others, math.Log(c.New.Center/c.Old.Center))
				continue
			}
			counts[c.Verdict]++
			fmt.Fprintf(tw, "%s\t%s\t%s\t%+.1f %%\t%.3f\t%s\n", t.key(row), interval(c.Old), interval(c.New), 100*(c.New.Center/c.Old.Center-1), c.P, c.Verdict)
		}
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	if len(others) == 0 && len(counts) == 0 {
		return fmt.Errorf("the baseline %s has nothing of what was measured", name)
	}
	fmt.Fprintf(w, "%d faster, %d slower, %d no change", counts[Faster], counts[Slower], counts[Same])
	if len(others) > 0 {
		sum := 0.0
		for _, x := range others {
			sum += x
		}
		fmt.Fprintf(w, "; the machine, by the %d rows that are not ours: %+.1f %%", len(others), 100*(math.Exp(sum/float64(len(others)))-1))
	}
	_, err := fmt.Fprintln(w)
	return err
}

func interval(s benchmath.Summary) string {
	return fmt.Sprintf("%s (%s to %s)", duration(s.Center), duration(s.Lo), duration(s.Hi))
}
