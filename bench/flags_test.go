package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nocopythrift/nocopythrift/bench/data"
	"github.com/nocopythrift/nocopythrift/bench/kitex"
	"github.com/nocopythrift/nocopythrift/bench/limit"
	"github.com/nocopythrift/nocopythrift/bench/report"
)

// TestOutputs runs one table and writes all kinds of output files, in a folder of its own.
func TestOutputs(t *testing.T) {
	t.Chdir(t.TempDir())
	var out bytes.Buffer
	if err := run([]string{"-w", "B/read,H-i16-16/build,H-i16-256/build", "-rounds", "2", "-json", "r.json", "-html", "r.html", "-save", "before"}, &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"B read: ", "nocopy/recycle", "ns/op", "× kitex", "× limit", "CPU ns/op", "of it GC", "B/op", "allocs/op", "H-i16 build: ns/element as it grows", "-compare before"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in the output:\n%s", want, out.String())
		}
	}

	text, err := os.ReadFile("r.json")
	if err != nil {
		t.Fatal(err)
	}
	var r struct {
		Workloads []struct {
			Name string
			Op   string
			Rows []map[string]any
		}
	}
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Workloads) != 3 || r.Workloads[0].Name != "B" || r.Workloads[0].Op != "read" {
		t.Fatalf("JSON has %+v", r.Workloads)
	}
	var names []string
	for _, row := range r.Workloads[0].Rows {
		names = append(names, row["peer"].(string))
		for _, key := range []string{"ns", "cpu_ns", "ratio_kitex", "ratio_limit", "allocs", "bytes"} {
			if _, isNumber := row[key].(float64); !isNumber {
				t.Errorf("%v: %s is %v, want a number", row["peer"], key, row[key])
			}
		}
		if row["ns"].(float64) <= 0 || row["ratio_kitex"].(float64) <= 0 {
			t.Errorf("%v: nothing was measured: %v", row["peer"], row)
		}
	}
	for _, want := range []string{"nocopy", "nocopy/recycle", "kitex", "fastgo", "frugal", "frugal/nocopy", "apache", "apache/reuse", "vtproto/pool+unsafe", "capnp/reuse", "flatbuffers", "limit"} {
		if !slices.Contains(names, want) {
			t.Errorf("no row %s among %v", want, names)
		}
	}

	page, err := os.ReadFile("r.html")
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat("baselines/before.json"); err != nil || info.Size() == 0 {
		t.Errorf("no baseline: %v", err)
	}
	if n := bytes.Count(page, []byte("<svg")); n != 2 {
		t.Errorf("the page has %d charts, want one for B and one for H", n)
	}
	for _, outside := range []string{"<script src", "<link", "<img", "@import", "url(http"} {
		if bytes.Contains(page, []byte(outside)) {
			t.Errorf("the page needs something from outside: it has %q", outside)
		}
	}

	out.Reset()
	if err := run([]string{"-w", "B/read", "-rounds", "4", "-compare", "before"}, &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Against the baseline before", "B read nocopy/recycle", " rows that are not ours, in the median: "} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in the output:\n%s", want, out.String())
		}
	}
}

// TestRefusedFlags: with flags that are refused nothing is measured and no file is written.
func TestRefusedFlags(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, args := range [][]string{
		{"-w", "Z"}, {"-w", "A/edit"}, {"-w", ""}, {"-w", ","}, {"-compare", "none"}, {"-save", "../x", "-w", "B/read"}, {"stray"}, {"-prom", "none.bin"},
		{"-rounds", "0", "-w", "B/read"}, {"-rounds", "-1", "-w", "B/read"}, {"-json", "none/x.json", "-w", "B/read"}, {"-html", ".", "-json", "x.json", "-w", "B/read"},
		{"-profile", ""}, {"-profile", "Z"}, {"-profile", "B/walk"}, {"-profile", "B/build/nope"}, {"-profile", "B/read", "-w", "B"}, {"-profile", "B/read", "-quick"},
		{"-profile", "B/read", "-rounds", "2"}, {"-profile", "B/read", "-json", "x.json"}, {"-profile", "B/read", "-html", "x.html"},
		{"-profile", "B/read", "-save", "x"}, {"-profile", "B/read", "-compare", "x"},
	} {
		var out bytes.Buffer
		if err := run(args, &out); err == nil || out.Len() > 0 {
			t.Errorf("%q is accepted (%v):\n%s", args, err, out.String())
		}
	}
	if left, err := os.ReadDir("."); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v (%v)", left, err)
	}
}

// TestPrepare: if results could not be written or compared, nothing is measured, and files stay as
// they are.
func TestPrepare(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("kept.json", []byte("before"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := report.SaveBaseline("b", report.Report{Workloads: []report.Table{{Name: "B", Op: "read", Rows: []report.Row{{Peer: "nocopy", Rounds: []float64{1}}}}}}); err != nil {
		t.Fatal(err)
	}
	all := data.All()
	read, err := parseSelection(all, "B")
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range []outputs{{}, {json: "kept.json", html: "new.html", save: "new", compare: "b"}, {html: os.DevNull}} {
		if err := o.prepare(all, read); err != nil {
			t.Errorf("%+v: %v", o, err)
		}
	}
	if text, err := os.ReadFile("kept.json"); err != nil || string(text) != "before" {
		t.Errorf("the file is now %q (%v)", text, err)
	}
	for _, name := range []string{"new.html", "baselines/new.json"} {
		if _, err := os.Stat(name); err == nil {
			t.Errorf("%s is left behind", name)
		}
	}
	build, err := parseSelection(all, "B/build,A")
	if err != nil {
		t.Fatal(err)
	}
	if err := (&outputs{compare: "b"}).prepare(all, build); err == nil {
		t.Error("a baseline that has nothing of what is selected is accepted")
	}
	if err := os.RemoveAll("baselines"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("baselines", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := (&outputs{save: "b"}).prepare(all, read); err == nil {
		t.Error("a folder of baselines that cannot be made is accepted")
	}
}

// TestWriteAll: an output that fails does not keep the others from being written.
func TestWriteAll(t *testing.T) {
	t.Chdir(t.TempDir())
	o := outputs{json: "none/x.json", html: "x.html", save: "b"}
	err := o.write(new(bytes.Buffer), report.Report{})
	if err == nil || !strings.Contains(err.Error(), "none/x.json") {
		t.Errorf("the error is %v", err)
	}
	for _, name := range []string{"x.html", "baselines/b.json"} {
		if _, err := os.Stat(name); err != nil {
			t.Error(err)
		}
	}
}

func TestProfile(t *testing.T) {
	t.Chdir(t.TempDir())
	var out bytes.Buffer
	if err := profile(&out, data.All(), "B/build/nocopy/recycle", 20*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	file, err := filepath.Abs("bench-B-build-nocopy-recycle.pprof")
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(file); err != nil || info.Size() == 0 {
		t.Errorf("no profile: %v", err)
	}
	if !strings.Contains(out.String(), "go tool pprof -http=: "+file) {
		t.Errorf("it does not say how to see the flame graph:\n%s", out.String())
	}
	if !strings.Contains(out.String(), "-tagfocus='row=^nocopy/recycle$'") {
		t.Errorf("it does not say how to see the row:\n%s", out.String())
	}
}

// TestPrometheusFile: F's message can be read from a file.
func TestPrometheusFile(t *testing.T) {
	var tiny any
	for _, w := range data.Tiny() {
		if w.Name == "F" {
			tiny = w.New()
		}
	}
	file := filepath.Join(t.TempDir(), "request.bin")
	if err := os.WriteFile(file, limit.Append(nil, tiny), 0o600); err != nil {
		t.Fatal(err)
	}
	all, err := workloads(file)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(all, func(w data.Workload) bool { return w.Name == "F" })
	if got, want := data.Sum(all[i].New()), data.Sum(tiny); got != want {
		t.Errorf("F's sum is %d, want that of the file, %d", got, want)
	}
	for _, bad := range []data.WriteRequest{{}, {Series: []data.Series{{Samples: []data.Sample{{}}}}}, {Series: []data.Series{{Labels: []data.Label{{Name: "a"}}}}}} {
		if err := os.WriteFile(file, limit.Append(nil, &bad), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := workloads(file); err == nil {
			t.Errorf("%+v, in which an operation finds nothing, is accepted", bad)
		}
	}
	if _, err := kitex.Prometheus([]byte{99}); err == nil {
		t.Error("what is no write request is taken for one")
	}
}
