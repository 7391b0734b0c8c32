package bench

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/invoke"
)

// TestPartialSecond: seconds in which calls were not sent to the end are marked, and not drawn.
func TestPartialSecond(t *testing.T) {
	second := func(n int64) second { return second{calls: n} }
	for _, c := range []struct {
		duration, took time.Duration
		calls          []int64
		whole          int
	}{
		{3 * time.Second, 3*time.Second + time.Millisecond, []int64{100, 100, 100, 1}, 3},
		{2500 * time.Millisecond, 2502 * time.Millisecond, []int64{100, 100, 50}, 2},
		{2 * time.Second, 4 * time.Second, []int64{100, 100, 3, 1}, 2}, // answers that were awaited
		{time.Minute, 2200 * time.Millisecond, []int64{100, 100, 20}, 2},
		{300 * time.Millisecond, 301 * time.Millisecond, []int64{30}, 1}, // there is no other
	} {
		r := &runner{Command: &Command{}, method: &invoke.Method{Name: "f"}}
		res := newMeasurement().result
		res.duration, res.took = c.duration, c.took
		for _, n := range c.calls {
			res.seconds = append(res.seconds, second(n))
		}
		rep := r.of(&res)
		if got := Whole(rep.Timeline); len(rep.Timeline) != len(c.calls) || len(got) != c.whole {
			t.Errorf("%v in %v: %+v", c.duration, c.took, rep.Timeline)
		}
		var text bytes.Buffer
		rep.print(&text, false)
		if low := strings.Contains(text.String(), " 0 ┼") || strings.Contains(text.String(), "╰"); low || strings.Contains(text.String(), "calls in each second") != (c.whole > 1) {
			t.Errorf("%v in %v draws\n%s", c.duration, c.took, text.String())
		}
		page := filepath.Join(t.TempDir(), "page.html")
		if err := writePage(page, []*Report{rep}); err != nil {
			t.Fatal(err)
		}
		if text, err := os.ReadFile(page); err != nil || strings.Contains(string(text), ",153.5") {
			t.Errorf("%s, %v", text, err)
		}
	}
}

// TestLoads: values of -rate and -concurrency are lists of numbers and spans of them.
func TestLoads(t *testing.T) {
	for _, c := range []struct {
		rate, concurrency string
		want              []load
		err               string
	}{
		{"", "16", []load{{0, 16}}, ""},
		{"0", "1", nil, "leave it away"},
		{"2.5", "16", []load{{2.5, 16}}, ""},
		{"100,200:400:100,50", "4", []load{{100, 4}, {200, 4}, {300, 4}, {400, 4}, {50, 4}}, ""},
		{"", "1,4:8:2", []load{{0, 1}, {0, 4}, {0, 6}, {0, 8}}, ""},
		{"10:25:10", "2", []load{{10, 2}, {20, 2}}, ""},
		{"1,2", "1,2", nil, "can't both"},
		{"0,100", "1", nil, "-rate is more than 0"}, {"1e99", "1", nil, "more than 10000000, which is the most"},
		{"x", "1", nil, `"x" is no number from 0 to 10000000`},
		{"NaN", "1", nil, "is no number"},
		{"-1", "1", nil, "is no number"},
		{"1e9", "1", nil, "more than 10000000"},
		{"1:2", "1", nil, "FROM:TO:STEP"},
		{"1:2:0", "1", nil, "up to 1000 steps"},
		{"2:1:1", "1", nil, "up to 1000 steps"},
		{"0.001:1000000:0.001", "1", nil, "up to 1000 steps"},
		{"1:900:1,1:900:1", "1", nil, "more than 1000 steps"},
		{"", "0", nil, "-concurrency is from 1"},
		{"", "1.5", nil, "-concurrency is from 1"},
		{"", "", nil, "-concurrency is from 1"},
		{"", "65537", nil, "more than 65536"},
	} {
		have, err := loads(c.rate, c.concurrency)
		if !slices.Equal(have, c.want) || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("-rate %s -concurrency %s: %v, %v", c.rate, c.concurrency, have, err)
		}
	}
}

// TestMeasurement: each second has its own calls, errors and percentiles, also if nothing ends in
// one.
func TestMeasurement(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMeasurement()
		began := time.Now()
		for i := range 100 {
			m.note(began, time.Duration(i+1)*time.Millisecond, &invoke.Outcome{Reply: make([]byte, 3)}, 2)
		}
		time.Sleep(2500 * time.Millisecond)
		for range 3 {
			m.note(began, 2*time.Second, &invoke.Outcome{Err: errors.New("no")}, 0)
		}
		m.note(began, time.Hour, &invoke.Outcome{Exception: "Gone"}, 0)
		m.complete()
		rep := (&runner{Command: &Command{}, method: &invoke.Method{Name: "f"}}).of(&m.result)
		near := func(have, want float64) bool { return have > want*0.999 && have < want*1.001 }
		first, last := rep.Timeline[0], rep.Timeline[2]
		if len(rep.Timeline) != 3 || first.Calls != 100 || first.Errors != 0 || !near(first.P50, 50_000) || !near(first.P99, 99_000) || !near(first.Worst, 100_000) ||
			rep.Timeline[1].Calls != 0 || last.Calls != 4 || last.Errors != 4 || !near(last.P50, 2e6) || rep.Calls != 104 || rep.Bytes != 500 || rep.Errors["no"] != 3 || rep.Errors["exception Gone"] != 1 {
			t.Errorf("%+v", rep)
		}
	})
}

// TestSaturated: a step is saturated if many calls were not made, or if more calls at a time are
// not more calls per second.
func TestSaturated(t *testing.T) {
	r := &runner{Command: &Command{Connections: 8}, method: &invoke.Method{Name: "f"}}
	made := func(l load, calls int, due, unsent int64) *result {
		m := newMeasurement()
		for range calls {
			m.latencies.RecordValue(1000)
		}
		m.load, m.took, m.due, m.unsent, m.unfinished = l, time.Second, due, unsent, 1
		return &m.result
	}
	for _, c := range []struct {
		results   []*result
		saturated []bool
	}{
		{[]*result{made(load{100, 4}, 100, 100, 0), made(load{200, 4}, 190, 200, 9), made(load{300, 4}, 200, 300, 99)}, []bool{false, false, true}},
		{[]*result{made(load{0, 1}, 100, 0, 0), made(load{0, 2}, 190, 0, 0), made(load{0, 4}, 192, 0, 0), made(load{0, 8}, 250, 0, 0)}, []bool{false, false, true, false}},
	} {
		all := r.reports(c.results)
		for i, rep := range all {
			if rep.Saturated != "" != c.saturated[i] {
				t.Errorf("%+v: %q", c.results[i].load, rep.Saturated)
			}
		}
		var text bytes.Buffer
		if err := printSteps(&text, false, all); err != nil || strings.Count(text.String(), "saturated: ") != 1 || strings.Count(text.String(), "µs") != 4*len(all) {
			t.Errorf("%s, %v", text.String(), err)
		}
	}
}

// TestStepNames: each step has a file of its own, also if it has the load of another one.
func TestStepNames(t *testing.T) {
	steps := []load{{500, 1}, {500, 1}, {50, 1}, {500, 1}}
	if got, want := stepNames("a/b.txt", steps), []string{"a/b-500.txt", "a/b-500-2.txt", "a/b-50.txt", "a/b-500-3.txt"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := stepNames("b", steps[:1]); !slices.Equal(got, []string{"b"}) {
		t.Errorf("one step: %v", got)
	}
}
