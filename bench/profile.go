package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/pprof"
	"strings"
	"time"

	"github.com/nocopythrift/nocopythrift/bench/data"
	"github.com/nocopythrift/nocopythrift/bench/peer"
)

// profileTime is how long each row runs under the profiler.
const profileTime = 2 * time.Second

// profile runs what selects, WORKLOAD[/OP[/ROW]], under the CPU profiler: of every operation our own rows, if none is named. Samples carry the operation
// and the row as labels, so one file serves to look at each.
func profile(out io.Writer, workloads []data.Workload, selected string, each time.Duration) error {
	name, rest, _ := strings.Cut(selected, "/")
	op, row, _ := strings.Cut(rest, "/")
	for _, w := range workloads {
		if w.Name != name {
			continue
		}
		entries, err := prepare(w)
		if err != nil {
			return err
		}
		file := "bench-" + strings.ReplaceAll(selected, "/", "-") + ".pprof"
		f, err := os.Create(file)
		if err != nil {
			return err
		}
		if err := pprof.StartCPUProfile(f); err != nil {
			return errors.Join(err, f.Close())
		}
		ran := profileRows(out, entries, peer.Op(op), row, each)
		pprof.StopCPUProfile()
		if err := f.Close(); err != nil {
			return err
		}
		if ran == 0 {
			return fmt.Errorf("no row to profile in %q", selected)
		}
		if abs, err := filepath.Abs(file); err == nil {
			file = abs // the reader's shell may be in another folder, as with go run -C
		}
		fmt.Fprintf(out, "Wrote %[1]s\nIts flame graph:  go tool pprof -http=: %[1]s  (then View, Flame Graph; of one row:  -tagfocus=row=nocopy$)\n", file)
		return nil
	}
	return fmt.Errorf("no workload %q; there are %s", name, names(workloads))
}

// profileRows runs the selected rows one after the other and returns how many there were.
func profileRows(out io.Writer, entries []peer.Entry, op peer.Op, row string, each time.Duration) (ran int) {
	for _, e := range entries {
		if op != "" && e.Op != op {
			continue
		}
		for _, r := range e.Rows {
			if r.Peer != row && (row != "" || !strings.HasPrefix(r.Peer, "nocopy")) {
				continue
			}
			pprof.Do(context.Background(), pprof.Labels("op", string(e.Op), "row", r.Peer), func(context.Context) {
				step := r.Make()
				n, batch, start := 0, 1, time.Now()
				for time.Since(start) < each {
					for range batch {
						step(io.Discard)
					}
					n += batch
					if time.Since(start) < each/100 {
						batch *= 2 // until looking at the clock costs nothing
					}
				}
				fmt.Fprintf(out, "%-8s %-16s %d ns/op\n", e.Op, r.Peer, time.Since(start).Nanoseconds()/int64(n))
			})
			ran++
		}
	}
	return ran
}
