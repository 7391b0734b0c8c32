// Command ingest is a server that takes Prometheus write requests as Thrift and appends them to
// Prometheus' TSDB, a client that puts it under load, and one that asks it by PromQL. See
// README.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/nocopythrift/nocopythrift/examples/ingest/api"
	"github.com/nocopythrift/nocopythrift/examples/ingest/store"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

//go:generate go run -C ../.. ./gen/nocopyc -o examples/ingest -r -package-prefix github.com/nocopythrift/nocopythrift/examples/ingest examples/ingest/idl/ingest.thrift

type config struct {
	serve, load bool
	query       string
	addr        string

	dir        string
	options    store.Options
	maxConns   int
	maxRequest int

	series, samples, connections int
	duration                     time.Duration
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	c, err := parseFlags(os.Args[1:], os.Stderr)
	if errors.Is(err, flag.ErrHelp) {
		return
	} else if err != nil {
		os.Exit(2)
	}
	if err := c.run(ctx, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "ingest:", err)
		os.Exit(1)
	}
}

func parseFlags(args []string, complaints io.Writer) (config, error) {
	var c config
	flags := flag.NewFlagSet("ingest", flag.ContinueOnError)
	flags.SetOutput(complaints)
	flags.BoolVar(&c.serve, "serve", false, "the server, until it is interrupted")
	flags.BoolVar(&c.load, "load", false, "the load generator")
	flags.StringVar(&c.query, "query", "", "evaluate `PromQL` and print the result")
	flags.StringVar(&c.addr, "addr", "127.0.0.1:9201", "`address` of the server")

	flags.StringVar(&c.dir, "dir", "data", "`folder` of the server's TSDB")
	flags.IntVar(&c.options.MaxSeries, "max-series", 1_000_000, "the most series in the server's memory")
	flags.IntVar(&c.options.CacheBytes, "cache", 256<<20, "memory of the server's cache of series, in `bytes`")
	flags.DurationVar(&c.options.Retention, "retention", 15*24*time.Hour, "how long samples stay on disk")
	flags.Int64Var(&c.options.MaxBytes, "max-bytes", 16<<30, "the most `bytes` of blocks on disk")
	flags.IntVar(&c.maxConns, "max-connections", 64, "the most connections of the server")
	flags.IntVar(&c.maxRequest, "max-request", 4<<20, "the most `bytes` of a request")

	flags.IntVar(&c.series, "series", 10_000, "series that the load generator writes")
	flags.IntVar(&c.samples, "samples", 1000, "samples of each of its requests")
	flags.IntVar(&c.connections, "connections", 4, "its connections, among which it divides the series")
	flags.DurationVar(&c.duration, "duration", 10*time.Second, "how long it works")
	if err := flags.Parse(args); err != nil {
		return c, err
	}
	modes := 0
	for _, given := range []bool{c.serve, c.load, c.query != ""} {
		if given {
			modes++
		}
	}
	var err error
	switch {
	case flags.NArg() > 0:
		err = fmt.Errorf("unexpected argument %q", flags.Arg(0))
	case modes != 1:
		err = errors.New("give one of -serve, -load and -query; -h tells the rest")
	case c.options.MaxSeries < 1 || c.options.CacheBytes < 1 || c.options.Retention < time.Hour || c.options.MaxBytes < 1 || c.maxConns < 1 || c.maxRequest < 1:
		err = errors.New("the server's bounds must be positive, -retention an hour at least")
	case c.connections < 1 || c.series < c.connections || c.samples < 1 || c.duration <= 0:
		err = errors.New("-connections, -samples and -duration must be positive, and each connection needs a series")
	}
	if err != nil {
		fmt.Fprintln(complaints, "ingest:", err)
	}
	return c, err
}

func (c config) run(ctx context.Context, out io.Writer) error {
	switch {
	case c.serve:
		return c.runServer(ctx, out)
	case c.load:
		return c.runLoad(ctx, out)
	}
	return c.runQuery(ctx, out)
}

// grace is how long requests may take to end after the server was told to stop.
const grace = 10 * time.Second

// runServer serves until ctx ends or the write-ahead log can't be written.
func (c config) runServer(ctx context.Context, out io.Writer) error {
	s, err := store.Open(c.dir, c.options)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", c.addr)
	if err != nil {
		return errors.Join(err, s.Close())
	}
	srv := c.server(s)
	fmt.Fprintln(out, "serving on", l.Addr())
	served := make(chan error, 1)
	go func() { served <- srv.Serve(l) }()
	select {
	case err = <-served:
	case <-s.Broken():
		err = errors.New("the write-ahead log can't be written")
	case <-ctx.Done():
	}
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	return errors.Join(err, srv.Shutdown(ending), s.Close())
}

// server returns a server for s. It holds MaxConns requests in memory at most, however slow the
// disk is, and 1 MiB for each that it has read ahead.
func (c config) server(s *store.Store) *rpc.Server {
	return &rpc.Server{
		Processor:   api.NewIngesterProcessor(s),
		Recycle:     true, // the store clones what it keeps
		Concurrency: 1,    // so that a connection's requests are appended in their order
		MaxConns:    c.maxConns,
		MaxFrame:    c.maxRequest,
		Limits:      nocopy.Limits{MaxIndex: 4 * c.maxRequest},
		IdleTimeout: 5 * time.Minute,
		HideErrors:  true, // the TSDB's; refusals are exceptions
		Logger:      slog.New(rpc.SampleLogs(slog.Default().Handler(), 10)),
	}
}

// runQuery prints the result of a query.
func (c config) runQuery(ctx context.Context, out io.Writer) error {
	client, err := rpc.Dial(ctx, "tcp", c.addr)
	if err != nil {
		return err
	}
	defer client.Close()
	result, err := api.NewIngesterClient(client).Query(ctx, func(args api.IngesterQueryArgs) { args.SetPromql(c.query) })
	if err != nil {
		return err
	}
	defer result.Release()
	for _, series := range result.GetSuccess().All() {
		fmt.Fprint(out, "{")
		for i, l := range series.GetLabels().All() {
			if i > 0 {
				fmt.Fprint(out, ", ")
			}
			fmt.Fprintf(out, "%s=%q", l.GetName(), l.GetValue())
		}
		fmt.Fprint(out, "}")
		for _, p := range series.GetSamples().All() {
			fmt.Fprintf(out, "  %v @%s", p.GetValue(), time.UnixMilli(p.GetTimestamp()).UTC().Format("2006-01-02T15:04:05.000Z"))
		}
		fmt.Fprintln(out)
	}
	return nil
}
