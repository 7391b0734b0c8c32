//go:build linux

// Command bench measures the example's server with three ways of reading a write request: this
// library's accessors, Kitex's structs, and VictoriaMetrics' prompb, which reads Protocol Buffers.
// All are in the same rpc server, with the same cache of series, and append to a TSDB of their
// own, or to none. It needs Linux, where a thread's processor time is known: the client's time
// does not count.
//
//	go run ./bench
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/nocopythrift/nocopythrift/examples/ingest/store"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

type config struct {
	rounds, series, perRequest, scrapes int
}

func main() {
	var c config
	flag.IntVar(&c.rounds, "rounds", 15, "rounds; the medians are shown")
	flag.IntVar(&c.series, "series", 10_000, "series")
	flag.IntVar(&c.perRequest, "samples", 2000, "samples of a request, each of another series")
	flag.IntVar(&c.scrapes, "scrapes", 20, "samples of each series in a round")
	flag.Parse()
	if c.rounds < 1 || c.series < 1 || c.perRequest < 1 || c.scrapes < 1 || flag.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "bench: all flags must be positive, and there are no arguments")
		os.Exit(2)
	}
	if err := c.run(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// figures are the measurements of one server in one round, for each sample.
type figures struct{ wall, cpu, allocs, bytes float64 }

// contender is a server with one front end, with or without a TSDB, and its client.
type contender struct {
	front *front
	store *store.Store
	srv   *rpc.Server
	conn  net.Conn
	seen  []figures
}

func (c config) run(out io.Writer) (err error) {
	dir, err := os.MkdirTemp("", "ingest-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	var all []*contender
	defer func() {
		for _, p := range all {
			err = errors.Join(err, p.close())
		}
	}()
	for _, withTSDB := range []bool{false, true} {
		for _, f := range fronts {
			p, err := start(f, withTSDB, filepath.Join(dir, f.file))
			if err != nil {
				return err
			}
			all = append(all, p)
		}
	}
	series := newSeries(c.series)
	// The first round makes the series known and is not counted.
	now := time.Now().UnixMilli()
	for round := range c.rounds + 1 {
		requests := c.requests(series, now+int64(round*c.scrapes))
		for i := range all {
			p := all[(i+round)%len(all)]
			f, err := p.round(requests[p.front], c.series*c.scrapes)
			if err != nil {
				return fmt.Errorf("%s: %w", p.front.name, err)
			}
			if round > 0 {
				p.seen = append(p.seen, f)
			}
		}
	}
	for _, p := range all[len(fronts):] {
		if err := p.check(c); err != nil {
			return err
		}
	}
	c.print(out, all)
	return nil
}

// start starts a server.
func start(f *front, withTSDB bool, dir string) (*contender, error) {
	p := &contender{front: f}
	if options := (store.Options{Logger: slog.New(slog.DiscardHandler)}); withTSDB {
		var err error
		if p.store, err = store.Open(dir, options); err != nil {
			return nil, err
		}
	} else {
		p.store = store.New(&store.Discard{}, options)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p.srv = &rpc.Server{Processor: f.processor(p.store), Recycle: true, Concurrency: 1}
	go p.srv.Serve(l)
	p.conn, err = net.Dial("tcp", l.Addr().String())
	return p, err
}

func (p *contender) close() error {
	p.conn.Close()
	return errors.Join(p.srv.Shutdown(context.Background()), p.store.Close())
}

// round sends requests and reads the replies, in a thread whose processor time does not count.
func (p *contender) round(requests [][]byte, samples int) (figures, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	wall, cpu := time.Now(), cpuTime()-threadTime()
	for _, r := range requests {
		if _, err := p.conn.Write(r); err != nil {
			return figures{}, err
		}
	}
	if err := readReplies(p.conn, len(requests)); err != nil {
		return figures{}, err
	}
	took, used := time.Since(wall), cpuTime()-threadTime()-cpu
	runtime.ReadMemStats(&after)
	n := float64(samples)
	return figures{
		float64(took) / n, float64(used) / n,
		float64(after.Mallocs-before.Mallocs) / n, float64(after.TotalAlloc-before.TotalAlloc) / n,
	}, nil
}

// median returns the median of one of the figures.
func (p *contender) median(of func(figures) float64) float64 {
	s := slices.SortedFunc(slices.Values(p.seen), func(a, b figures) int { return cmp.Compare(of(a), of(b)) })
	return of(s[len(s)/2])
}

func (c config) print(out io.Writer, all []*contender) {
	fmt.Fprintf(out, "%d series, requests of %d samples; medians of %d rounds of %d samples each\n\n", c.series, c.perRequest, c.rounds, c.series*c.scrapes)
	fmt.Fprintf(out, "| server | samples/s | CPU a sample | allocations | allocated |\n|---|---:|---:|---:|---:|\n")
	for i, p := range all {
		name := p.front.name
		if i < len(fronts) {
			name += ", without TSDB"
		} else {
			name += ", TSDB"
		}
		fmt.Fprintf(out, "| %s | %.2f M | %.0f ns | %.2f | %.0f B |\n", name,
			1e3/p.median(func(f figures) float64 { return f.wall }), p.median(func(f figures) float64 { return f.cpu }),
			p.median(func(f figures) float64 { return f.allocs }), p.median(func(f figures) float64 { return f.bytes }))
	}
}
