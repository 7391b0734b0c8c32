// Command bench measures nocopythrift against what else one would use for the same messages.
//
//	go run -C bench .                 everything (minutes)
//	go run -C bench . -quick          B, C4K, C20K, F and A, within 50 seconds
//	go run -C bench . -w C20K/edit,B  only these; C stands for all sizes of C
//	go run -C bench . -profile C20K/build
//
// A table per workload and operation: time, ratio to `kitex` and to `limit/reuse` (hand-written code for that one message) in the same rounds, processor time
// with the collector's share, bytes and objects allocated. README.md says what the workloads and rows are.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/nocopythrift/nocopythrift/bench/data"
	"github.com/nocopythrift/nocopythrift/bench/kitex"
	"github.com/nocopythrift/nocopythrift/bench/limit"
	"github.com/nocopythrift/nocopythrift/bench/measure"
	"github.com/nocopythrift/nocopythrift/bench/ours"
	"github.com/nocopythrift/nocopythrift/bench/peer"
	"github.com/nocopythrift/nocopythrift/bench/report"
)

// peers are all contestants, in the order in which the tables list them.
var peers = []peer.Peer{kitex.Peer(), ours.Peer(), limit.Peer()}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run() error {
	list := flag.String("w", "", "comma-separated workloads or WORKLOAD/OP (default all)")
	quick := flag.Bool("quick", false, "few workloads, short samples: less than 50 seconds in all")
	rounds := flag.Int("rounds", 0, "samples of each row (default 9; quick 5)")
	jsonFile := flag.String("json", "", "write the results to `FILE` as JSON")
	profiled := flag.String("profile", "", "instead of measuring, leave a CPU profile of our rows on `WORKLOAD[/OP[/ROW]]`")
	flag.Parse()
	if flag.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", flag.Arg(0))
	}
	if *profiled != "" {
		return profile(*profiled)
	}

	o := measure.Options{Rounds: 9, Sample: 100 * time.Millisecond}
	want := *list
	if *quick {
		o = measure.Options{Rounds: 5, Sample: 40 * time.Millisecond}
		if want == "" {
			want = "B,C4K,C20K,F,A"
		}
	}
	if *rounds > 0 {
		o.Rounds = *rounds
	}
	s, err := parseSelection(want)
	if err != nil {
		return err
	}
	r, err := measureAll(s, o)
	if err != nil || *jsonFile == "" {
		return err
	}
	return writeJSON(*jsonFile, r)
}

// measureAll checks and measures what is selected and prints each table as soon as it is there.
func measureAll(s selection, o measure.Options) (report.Report, error) {
	var r report.Report
	for _, w := range data.All() {
		if !s.workload(w.Name) {
			continue
		}
		entries, err := prepare(w)
		if err != nil {
			return r, err
		}
		for _, e := range entries {
			if !s.op(w.Name, e.Op) {
				continue
			}
			t := report.NewTable(w.Name, string(e.Op), w.About, measure.Run(e.Rows, o))
			if err := t.Text(os.Stdout); err != nil {
				return r, err
			}
			r.Workloads = append(r.Workloads, t)
		}
	}
	return r, nil
}

// prepare makes the workload's input and entries, and checks that everybody does the same on it.
func prepare(w data.Workload) ([]peer.Entry, error) {
	v := w.New()
	in := &peer.Input{Value: v, Wire: limit.Append(nil, v)}
	entries := peer.Entries(in, peers)
	if err := peer.Check(in, w.New, entries, peers); err != nil {
		return nil, fmt.Errorf("%s: %w", w.Name, err)
	}
	return entries, nil
}

func writeJSON(file string, r report.Report) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	return errors.Join(r.JSON(f), f.Close())
}

// selection is the parsed form of -w: workload names or groups, each with an operation or "" for all. Empty, it selects everything.
type selection []struct {
	name string
	op   peer.Op
}

func parseSelection(list string) (selection, error) {
	var s selection
	for item := range strings.SplitSeq(list, ",") {
		if item == "" {
			continue
		}
		name, op, _ := strings.Cut(item, "/")
		s = append(s, struct {
			name string
			op   peer.Op
		}{name, peer.Op(op)})
		if !known(s[len(s)-1:]) {
			return nil, fmt.Errorf("no workload %q; there are %s", item, names())
		}
	}
	return s, nil
}

// matches reports whether a workload is the one called want, or of that group: C stands for C1K to C6M.
func matches(workload, want string) bool {
	return workload == want || len(want) == 1 && strings.HasPrefix(workload, want)
}

func (s selection) workload(name string) bool {
	for _, i := range s {
		if matches(name, i.name) {
			return true
		}
	}
	return len(s) == 0
}

func (s selection) op(name string, op peer.Op) bool {
	for _, i := range s {
		if matches(name, i.name) && (i.op == "" || i.op == op) {
			return true
		}
	}
	return len(s) == 0
}

func known(s selection) bool {
	for _, w := range data.All() {
		for _, op := range peer.Ops {
			if s.op(w.Name, op) {
				return true
			}
		}
	}
	return false
}

func names() string {
	var n []string
	for _, w := range data.All() {
		n = append(n, w.Name)
	}
	return strings.Join(n, ", ")
}
