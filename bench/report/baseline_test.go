package report

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

// around returns n times that scatter by a hundredth around centre.
func around(centre float64, n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = centre * (1 + 0.01*float64(i%5-2)/2 + 0.0001*float64(i))
	}
	return v
}

func TestVerdicts(t *testing.T) {
	for _, c := range []struct {
		old, now []float64
		want     string
	}{
		{around(100, 7), around(100, 7), Same},
		{around(100, 7), around(103, 7), Same}, // below what two runs of the same code differ by
		{around(100, 7), around(150, 7), Slower},
		{around(100, 7), around(50, 7), Faster},
		{around(100, 5), around(50, 5), Faster},
		{around(100, 2), around(50, 2), Same}, // two rounds prove nothing
		{[]float64{100, 500, 90, 400, 110}, []float64{300, 95, 420, 105, 450}, Same},
	} {
		got := compare(c.old, c.now)
		if got.Verdict != c.want {
			t.Errorf("from %v to %v: %s (p=%.3f), want %s", c.old, c.now, got.Verdict, got.P, c.want)
		}
	}
}

func TestBaselines(t *testing.T) {
	t.Chdir(t.TempDir())
	table := func(ours, theirs float64) Report {
		return Report{Workloads: []Table{{Name: "B", Op: "read", Rows: []Row{
			{Peer: "nocopy", NS: ours, Rounds: around(ours, 7)}, {Peer: "kitex", NS: theirs, Rounds: around(theirs, 7)},
		}}}}
	}
	if _, err := SaveBaseline("x", table(100, 300)); err != nil {
		t.Fatal(err)
	}
	b, err := LoadBaseline("x")
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := table(200, 330).Compare(&out, b, "x"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"B read nocopy", "+100.0 %", Slower, "0 faster, 1 slower, 0 no change", "the 1 rows that are not ours, in the median: +10.0 %"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in:\n%s", want, out.String())
		}
	}
	before := []float64{3, 1, 2}
	times := Report{Workloads: []Table{{Name: "B", Op: "read", Rows: []Row{{Peer: "nocopy", Rounds: before}}}}}
	if err := times.Compare(&out, b, "x"); err != nil || !slices.Equal(before, []float64{3, 1, 2}) {
		t.Errorf("after a comparison the rounds are %v (%v)", before, err)
	}
	if !b.Has("B", "read") || b.Has("B", "build") || b.Has("C4K", "read") || (Baseline{"B read kitex": {1}}).Has("B", "read") {
		t.Error("Has must tell which operations there are rows of ours for")
	}
	other := Report{Workloads: []Table{{Name: "C4K", Op: "read", Rows: []Row{{Peer: "nocopy", Rounds: around(1, 7)}}}}}
	if err := other.Compare(&out, b, "x"); err == nil {
		t.Error("a baseline that has nothing to compare with is accepted")
	}
	for _, name := range []string{"", "a/b", "../a", ".hidden"} {
		if _, err := SaveBaseline(name, other); err == nil {
			t.Errorf("a baseline called %q is accepted", name)
		}
	}
}

func TestInterval(t *testing.T) {
	if got := interval(around(100, 7)); !strings.HasPrefix(got, "99.6 ns (99 ns") || !strings.HasSuffix(got, " to 101 ns)") {
		t.Errorf("interval of seven rounds: %s", got)
	}
	if got := interval([]float64{2}); got != "2 ns (1 round only)" {
		t.Errorf("of 1 round: %s", got)
	}
	if got := interval([]float64{1, 2, 3}); got != "2 ns (3 rounds only)" {
		t.Errorf("interval of three rounds: %s", got)
	}
}
