package compare

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/bench"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/shell"
)

// report returns a report whose seconds have these calls, and latencies of slow times 100 µs and
// more.
func report(calls int64, slow float64, seconds int, change func(*bench.Report)) *bench.Report {
	r := &bench.Report{
		Address: "localhost:9090", Method: "Store.get", Wire: "framed binary", Loop: "closed", Concurrency: 16, Connections: 16, LatencyUnit: "microseconds",
		Calls: calls * int64(seconds), PerSecond: float64(calls), Bytes: 100 * calls * int64(seconds), Errors: map[string]int64{},
		Percentiles: []bench.Percentile{{Percent: 50, Latency: slow * 100}, {Percent: 99, Latency: slow * 900}},
	}
	for i := range seconds {
		x := slow * (1 + float64(i)/1000)
		r.Timeline = append(r.Timeline, bench.Second{Calls: calls + int64(i), P50: x * 100, P99: x * 900, Worst: x * 2000})
	}
	r.Timeline = append(r.Timeline, bench.Second{Calls: 1, P50: 1e6, P99: 1e6, Worst: 1e6, Partial: true})
	if change != nil {
		change(r)
	}
	return r
}

// file writes values to a file, one after the other.
func file(t *testing.T, values ...any) string {
	t.Helper()
	var b bytes.Buffer
	for _, v := range values {
		if text, ok := v.(string); ok {
			b.WriteString(text)
		} else if err := json.NewEncoder(&b).Encode(v); err != nil {
			t.Fatal(err)
		}
	}
	name := filepath.Join(t.TempDir(), "report.json")
	if err := os.WriteFile(name, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// run runs the command.
func run(t *testing.T, c Command) (out string, code int, err error) {
	t.Helper()
	var b bytes.Buffer
	err = c.Run(shell.Of(t.Context(), nil, &b, &b))
	return b.String(), shell.CodeOf(err), err
}

// failing makes half of a report's calls fail.
func failing(r *bench.Report) {
	r.Errors["no"] = r.Calls / 2
	for i := range r.Timeline {
		r.Timeline[i].Errors = r.Timeline[i].Calls / 2
	}
}

// runsOf returns reports of several runs.
func runsOf(n int, calls int64, slow float64) (all []any) {
	for i := range n {
		all = append(all, report(calls+int64(i), slow*(1+float64(i)/1000), 1, nil))
	}
	return all
}

// TestVerdict: figures are better or worse if they differ by more than chance and noise.
func TestVerdict(t *testing.T) {
	for _, c := range []struct {
		name     string
		old, now []any
		of       string
		verdicts [4]string // of the calls, of both latencies, and of errors
	}{
		{"the same", []any{report(1000, 1, 10, nil)}, []any{report(1000, 1, 10, nil)}, seconds, [4]string{same, same, same, same}},
		{"slower", []any{report(1000, 1, 10, nil)}, []any{report(800, 1.2, 10, nil)}, seconds, [4]string{worse, worse, worse, same}},
		{"faster", []any{report(1000, 1, 10, nil)}, []any{report(1200, 0.8, 10, nil)}, seconds, [4]string{better, better, better, same}},
		{"noise", []any{report(1000, 1, 10, nil)}, []any{report(970, 1.04, 10, nil)}, seconds, [4]string{same, same, same, same}},
		{"short", []any{report(1000, 1, 3, nil)}, []any{report(500, 2, 10, nil)}, seconds, [4]string{tooFew, tooFew, tooFew, tooFew}},
		{"runs", runsOf(6, 1000, 1), runsOf(6, 800, 1.2), runs, [4]string{worse, worse, worse, same}},
		{"few runs", runsOf(3, 1000, 1), runsOf(6, 500, 2), runs, [4]string{tooFew, tooFew, tooFew, tooFew}},
		{"one run", runsOf(1, 1000, 1), runsOf(6, 500, 2), runs, [4]string{tooFew, tooFew, tooFew, tooFew}},
		{"errors", []any{report(1000, 1, 10, nil)}, []any{report(1000, 1, 10, failing)}, seconds, [4]string{same, same, same, worse}},
		{"no more errors", []any{report(1000, 1, 10, failing)}, []any{report(1000, 1, 10, nil)}, seconds, [4]string{same, same, same, better}},
		{"from 0", []any{report(1000, 1e-320, 10, nil)}, []any{report(1000, 1, 10, nil)}, seconds, [4]string{same, worse, worse, same}},
		{"stalled", []any{report(1000, 1, 10, nil)}, []any{report(0, 0, 10, func(r *bench.Report) {
			for i := range r.Timeline {
				r.Timeline[i].Calls = 0
			}
		})}, seconds, [4]string{worse, tooFew, tooFew, tooFew}},
	} {
		old, now := file(t, c.old...), file(t, c.now...)
		out, code, _ := run(t, Command{Old: old, New: now, Format: shell.Format{Format: "json"}})
		var have Comparison
		if err := json.Unmarshal([]byte(out), &have); err != nil || code != 0 || len(have.Loads) != 1 || have.Loads[0].Of != c.of || len(have.Differences) > 1 {
			t.Errorf("%s: %d %s, %v", c.name, code, out, err)
			continue
		}
		broken := false
		for i, row := range have.Loads[0].Rows {
			if broken = broken || row.Verdict == worse; row.Verdict != c.verdicts[i] {
				t.Errorf("%s: %+v, want %s", c.name, row, c.verdicts[i])
			}
		}
		text, _, err := run(t, Command{Old: old, New: now})
		if err != nil || strings.Count(text, c.verdicts[1]) < 2 || strings.Contains(text, "single runs") != (c.of == seconds) {
			t.Errorf("%s: %s, %v", c.name, text, err)
		}
		for limit, exceeded := range map[float64]bool{0: broken, 15: broken, 1e6: false} {
			if _, code, _ := run(t, Command{Old: old, New: now, Limit: &limit}); code == 100 != exceeded || code != 100 && code != 0 {
				t.Errorf("%s: with -limit %g: %d", c.name, limit, code)
			}
		}
	}
}

// TestLoads: steps are compared with those of the same load. What else differs is said.
func TestLoads(t *testing.T) {
	step := func(rate float64, slow float64) *bench.Report {
		return report(int64(rate), slow, 10, func(r *bench.Report) { r.Loop, r.Rate, r.Corrected = "open", rate, true })
	}
	old := file(t, bench.Steps{Steps: []*bench.Report{step(100, 1), step(200, 1), step(300, 1)}})
	now := file(t, bench.Steps{Steps: []*bench.Report{step(200, 1), step(300, 2), step(400, 4)}})
	out, code, err := run(t, Command{Old: old, New: now})
	if code != 0 || strings.Count(out, "seconds\n") != 2 || !strings.Contains(out, "open loop: 200 calls per second asked for; 10 and 10 seconds\n") || strings.Count(out, worse) != 2 || strings.Contains(out, "other") {
		t.Errorf("%d %s, %v", code, out, err)
	}
	other := file(t, report(1000, 1, 10, func(r *bench.Report) {
		r.Method, r.Wire, r.Loop, r.Rate, r.Errors, r.Bytes = "Store.\x1b[2Jput\nforged", "http binary", "open", 500, map[string]int64{"no": 100}, 9
	}))
	out, code, err = run(t, Command{Old: file(t, report(1000, 1, 10, nil)), New: other})
	if code != 0 || !strings.Contains(out, "other method: Store.get, then Store.\\x1b[2Jput\\nforged\n") || !strings.Contains(out, "other wire: framed binary, then http binary\n") ||
		!strings.Contains(out, "other load: closed loop: 16 calls at a time, then open loop: 500 calls per second asked for\n") || !strings.Contains(out, "other bytes per call: 100, then 0.0009\n") ||
		!strings.Contains(strings.Join(strings.Fields(out), " "), " errors 0.00 % 1.00 % +1.00 points ") {
		t.Errorf("%d %s, %v", code, out, err)
	}
	if _, code, err := run(t, Command{Old: old, New: file(t, step(1, 1), step(2, 1))}); code != 1 || !strings.Contains(err.Error(), "no load in common") {
		t.Errorf("%d %v", code, err)
	}
}

// TestNoReports: files that are no reports are refused.
func TestNoReports(t *testing.T) {
	good := file(t, report(1000, 1, 10, nil))
	negative := -1.0
	for _, c := range []struct {
		file, want string
		limit      *float64
		code       int
	}{
		{file(t), "it is empty", nil, 1}, {file(t, "x"), "invalid character", nil, 1}, {file(t, "{}"), "no report of nocopy bench", nil, 1},
		{file(t, `{"steps": [null]}`), "no report of nocopy bench", nil, 1}, {file(t, `{"steps": []}`), "it is empty", nil, 1},
		{file(t, report(1000, 1, 10, func(r *bench.Report) { r.Loop = "" })), "another version", nil, 1},
		{file(t, report(1000, -1, 10, nil)), "is no figure", nil, 1}, {file(t, report(1000, 1e300, 10, nil)), "is no figure", nil, 1},
		{file(t, report(1000, 1, 10, func(r *bench.Report) { r.Errors["x"] = -5 })), "is no figure", nil, 1},
		{file(t, report(1000, 1, 10, nil), "{"), "unexpected EOF", nil, 1}, {"/none.json", "no such file", nil, 1},
		{good, "-limit is a number of percent from 0 on, not -1", &negative, 2},
	} {
		for _, command := range []Command{{Old: c.file, New: good, Limit: c.limit}, {Old: good, New: c.file, Limit: c.limit}} {
			if out, code, err := run(t, command); code != c.code || err == nil || !strings.Contains(err.Error(), c.want) || out != "" {
				t.Errorf("%s: %d %s, %v", c.want, code, out, err)
			}
		}
	}
	large := fmt.Sprintf(`{"method": "%s`, strings.Repeat("x", 17<<20))
	if _, code, err := run(t, Command{Old: good, New: file(t, large)}); code != 1 || !strings.Contains(err.Error(), "it has more than") {
		t.Errorf("%d %v", code, err)
	}
}
