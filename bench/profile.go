package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"runtime/pprof"
	"slices"
	"strings"
	"time"

	"github.com/nocopythrift/nocopythrift/bench/data"
	"github.com/nocopythrift/nocopythrift/bench/peer"
)

// profileTime is how long each row runs under the profiler.
const profileTime = 2 * time.Second

// profile runs rows under the CPU profiler. what selects them as WORKLOAD[/OP[/ROW]]; without ROW,
// they are our own. Samples have the operation and the row as labels.
func profile(out io.Writer, workloads []data.Workload, selected string, each time.Duration) error {
	name, rest, _ := strings.Cut(selected, "/")
	op, row, _ := strings.Cut(rest, "/")
	i := slices.IndexFunc(workloads, func(w data.Workload) bool { return w.Name == name })
	if i < 0 {
		return noWorkload(name, workloads)
	}
	w := workloads[i]
	if ops := peer.Defined(w.Kind); op != "" && !slices.Contains(ops, peer.Op(op)) {
		return noOp(name, peer.Op(op), ops)
	}
	entries, err := prepare(w)
	if err != nil {
		return err
	}
	var rows []profiled
	var there []string
	for _, e := range entries {
		if op != "" && string(e.Op) != op {
			continue
		}
		for _, r := range e.Rows {
			there = append(there, string(e.Op)+"/"+r.Peer)
			if r.Peer == row || row == "" && strings.HasPrefix(r.Peer, "nocopy") {
				rows = append(rows, profiled{string(e.Op), r})
			}
		}
	}
	if len(rows) == 0 {
		return fmt.Errorf("%s has no row %q; it has %s", name, rest, strings.Join(there, ", "))
	}
	file := "bench-" + strings.NewReplacer("/", "-", " ", "-").Replace(selected) + ".pprof"
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return errors.Join(err, f.Close())
	}
	profileRows(out, rows, each)
	pprof.StopCPUProfile()
	if err := f.Close(); err != nil {
		return err
	}
	file = wrote(file)
	fmt.Fprintf(out, "Its flame graph:  go tool pprof -http=: %s  (then View, Flame Graph; of one row:  -tagfocus='row=^%s$')\n",
		file, regexp.QuoteMeta(rows[0].row.Peer))
	return nil
}

// profiled is a row of an operation.
type profiled struct {
	op  string
	row peer.Row
}

// profileRows runs the rows one after the other.
func profileRows(out io.Writer, rows []profiled, each time.Duration) {
	for _, r := range rows {
		pprof.Do(context.Background(), pprof.Labels("op", r.op, "row", r.row.Peer), func(context.Context) {
			step := r.row.Make()
			n, batch, start := 0, 1, time.Now()
			for time.Since(start) < each {
				for range batch {
					step(io.Discard)
				}
				n += batch
				if time.Since(start) < each/100 {
					batch *= 2 // until the time for reading the clock is negligible
				}
			}
			fmt.Fprintf(out, "%-8s %-16s %d ns/op\n", r.op, r.row.Peer, time.Since(start).Nanoseconds()/int64(n))
		})
	}
}
