// Command kvstore is a key-value store that keeps and serves values without copying them through a
// Go struct, and a client that puts it under load and checks every answer. See README.md.
//
//	go run -C examples/programs/kvstore .
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/nocopythrift/nocopythrift/examples/kv"
	"github.com/nocopythrift/nocopythrift/examples/programs/kvstore/store"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

type config struct {
	serve       bool
	listen      string
	connect     string
	client      string
	duration    time.Duration
	connections int
	inFlight    int
	valueSize   int
	delays      bool
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
		fmt.Fprintln(os.Stderr, "kvstore:", err)
		os.Exit(1)
	}
}

func parseFlags(args []string, complaints io.Writer) (config, error) {
	var c config
	flags := flag.NewFlagSet("kvstore", flag.ContinueOnError)
	flags.SetOutput(complaints)
	flags.BoolVar(&c.serve, "serve", false, "only the server, until it is interrupted")
	flags.StringVar(&c.listen, "listen", "127.0.0.1:9090", "`address` that -serve listens on")
	flags.StringVar(&c.connect, "connect", "", "only the client, of the server at this `address`")
	flags.StringVar(&c.client, "client", "pipelined", "pipelined: many calls in flight on a connection; blocking: one after the other; both: to compare")
	flags.DurationVar(&c.duration, "duration", 5*time.Second, "how long the client works")
	flags.IntVar(&c.connections, "connections", 4, "connections of the client")
	flags.IntVar(&c.inFlight, "inflight", 32, "calls in flight on each connection of the pipelined client")
	flags.IntVar(&c.valueSize, "value-size", 64<<10, "mean size of the values in `bytes`; sizes are exponentially distributed")
	flags.BoolVar(&c.delays, "delays", false, "the server takes 10 ms for each read and 50 ms for each write, as if there were a disk")
	if err := flags.Parse(args); err != nil {
		return c, err
	}
	var err error
	switch {
	case flags.NArg() > 0:
		err = fmt.Errorf("unexpected argument %q", flags.Arg(0))
	case c.serve && c.connect != "":
		err = errors.New("-serve and -connect are halves of one program: give one of them")
	case c.client != "pipelined" && c.client != "blocking" && c.client != "both":
		err = fmt.Errorf("no such client: %q", c.client)
	case c.connections < 1 || c.inFlight < 1 || c.valueSize < 0 || c.duration <= 0:
		err = errors.New("-connections, -inflight, -value-size and -duration must be positive")
	case c.valueSize > maxValueSize:
		err = fmt.Errorf("-value-size is more than %d", maxValueSize)
	}
	if err != nil {
		fmt.Fprintln(complaints, "kvstore:", err)
	}
	return c, err
}

// maxValueSize is the largest mean size of values: values are up to eight times as large, and must
// fit into a frame.
const maxValueSize = 1 << 20

func (c config) run(ctx context.Context, out io.Writer) error {
	if c.serve {
		l, err := net.Listen("tcp", c.listen)
		if err != nil {
			return err
		}
		fmt.Fprintln(out, "serving on", l.Addr())
		return c.serveUntil(ctx, l, out)
	}
	if c.connect != "" {
		return c.drive(ctx, c.connect, out)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	served := make(chan error, 1)
	go func() { served <- c.serveUntil(serving, l, io.Discard) }()
	err = c.drive(ctx, l.Addr().String(), out)
	stop()
	return errors.Join(err, <-served)
}

// grace is how long calls may take to end after server or clients were told to stop.
const grace = 5 * time.Second

// serveUntil serves until ctx ends, and reports to out.
func (c config) serveUntil(ctx context.Context, l net.Listener, out io.Writer) error {
	s := store.NewService(c.delays)
	var m meter
	srv := &rpc.Server{
		Processor:    kv.NewKeyValueProcessor(s),
		Interceptors: []rpc.Interceptor{m.measure},
		Concurrency:  1024, // with -delays the calls of a connection wait side by side
		// A slow write then holds up no read. Our clients match replies by sequence id
		Unordered: true,
	}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(l) }()
	watching, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		if err := <-served; !errors.Is(err, rpc.ErrServerClosed) {
			fmt.Fprintln(out, err)
			stop()
		}
	}()
	report(watching, &m, out, func() string { return "  " + count(s.Len(), "key") })
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	return srv.Shutdown(ctx)
}

// drive runs one kind of client, or both, for the given time.
func (c config) drive(ctx context.Context, addr string, out io.Writer) error {
	names := []string{c.client}
	if c.client == "both" {
		names = []string{"blocking", "pipelined"}
	}
	for _, name := range names {
		inFlight := c.inFlight
		if name == "blocking" {
			inFlight = 1
		}
		if err := c.driveOne(ctx, name, addr, inFlight, out); err != nil {
			return fmt.Errorf("%s client: %w", name, err)
		}
	}
	return nil
}

func (c config) driveOne(ctx context.Context, name, addr string, inFlight int, out io.Writer) error {
	workers := c.connections * inFlight
	client, err := rpc.Dial(ctx, "tcp", addr, rpc.PoolSize(c.connections), rpc.MaxInFlight(workers))
	if err != nil {
		return err
	}
	defer client.Close()
	fmt.Fprintf(out, "%s client: %s, %s in flight on each, values of %s on average\n",
		name, count(c.connections, "connection"), count(inFlight, "call"), count(c.valueSize, "byte"))
	ctx, cancel := context.WithTimeout(ctx, c.duration)
	defer cancel()
	l := newLoad(c.valueSize, workers)
	finished := make(chan error, 1)
	go func() {
		defer cancel() // ends the report early if a reply was wrong
		finished <- l.run(ctx, client, workers)
	}()
	report(ctx, &l.meter, out, func() string { return fmt.Sprintf("  %d refused", l.refused.Load()) })
	return <-finished
}

// report prints a meter's figures every second, and the figures of the whole time when ctx ends.
func report(ctx context.Context, m *meter, out io.Writer, more func() string) {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	first := m.read()
	last := first
	for seconds := 1; ; seconds++ {
		select {
		case <-ticker.C:
			now := m.read()
			fmt.Fprintf(out, "%4d s %s\n", seconds, now.since(last))
			last = now
		case <-ctx.Done():
			now := m.read()
			if now.at.Sub(last.at) > time.Second/2 {
				fmt.Fprintf(out, "%4d s %s\n", seconds, now.since(last))
			}
			fmt.Fprintf(out, "in all %s  %s%s\n", now.since(first), count(now.calls-first.calls, "call"), more())
			return
		}
	}
}

// count returns a number of things as text: "1 call", "2 calls".
func count[N int | int64](n N, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}
