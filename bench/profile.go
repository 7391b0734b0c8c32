package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/pprof"
	"strings"
	"time"

	"github.com/nocopythrift/nocopythrift/bench/data"
	"github.com/nocopythrift/nocopythrift/bench/peer"
)

// profileTime is how long each row runs under the profiler.
const profileTime = 3 * time.Second

// profile runs what selects, WORKLOAD[/OP[/ROW]], under the CPU profiler: of every operation our own rows, if none is named. Samples carry the operation
// and the row as labels, so one file serves to look at each.
func profile(workloads []data.Workload, selected string) error {
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
		ran := profileRows(entries, peer.Op(op), row)
		pprof.StopCPUProfile()
		if err := f.Close(); err != nil {
			return err
		}
		if ran == 0 {
			return fmt.Errorf("no row to profile in %q", selected)
		}
		fmt.Printf("Wrote %s. Its flame graph:  go tool pprof -http=: bench/%s   (one row of it: -tagfocus 'row=nocopy$' -tagfocus op=build)\n", file, file)
		return nil
	}
	return fmt.Errorf("no workload %q; there are %s", name, names(workloads))
}

// profileRows runs the selected rows one after the other and returns how many there were.
func profileRows(entries []peer.Entry, op peer.Op, row string) (ran int) {
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
				for time.Since(start) < profileTime {
					for range batch {
						step(io.Discard)
					}
					n += batch
					if time.Since(start) < profileTime/100 {
						batch *= 2 // until looking at the clock costs nothing
					}
				}
				fmt.Printf("%-8s %-16s %d ns/op\n", e.Op, r.Peer, time.Since(start).Nanoseconds()/int64(n))
			})
			ran++
		}
	}
	return ran
}
