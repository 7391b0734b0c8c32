// Command gateway offers Thrift services over HTTP with JSON, as the annotations of their IDL say,
// without generated code. It also runs the services: the store of examples/programs/kvstore, and
// one with orders. See README.md.
//
//	go run -C examples/programs/gateway .
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/nocopythrift/nocopythrift/examples/kv"
	"github.com/nocopythrift/nocopythrift/examples/programs/kvstore/store"
	"github.com/nocopythrift/nocopythrift/nocopy/dynamic"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

type config struct {
	listen  string
	idl     string
	connect string
	timeout time.Duration
	poll    time.Duration
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var c config
	flag.StringVar(&c.listen, "listen", "127.0.0.1:8080", "`address` for HTTP")
	flag.StringVar(&c.idl, "idl", "idl", "`folder` with the .thrift files")
	flag.StringVar(&c.connect, "connect", "", "`address` of a running kvstore -serve; one in this program if empty")
	flag.DurationVar(&c.timeout, "timeout", 5*time.Second, "how long a call may take")
	flag.DurationVar(&c.poll, "poll", 500*time.Millisecond, "how often to look whether the IDL has changed")
	flag.Parse()
	if flag.NArg() > 0 || c.timeout <= 0 || c.poll <= 0 {
		flag.Usage()
		os.Exit(2)
	}
	if err := c.run(ctx, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "gateway:", err)
		os.Exit(1)
	}
}

// maxCalls is how many calls the servers take at a time: as many as the gateway makes.
const maxCalls = 1024

// grace is how long requests and calls may take to end after the program was told to stop.
const grace = 5 * time.Second

// run starts everything, writes the URL to out, and ends with ctx.
func (c config) run(ctx context.Context, out io.Writer) error {
	folder := os.DirFS(c.idl)
	texts, err := readIDL(folder)
	if err != nil {
		return fmt.Errorf("%s: %w (start it in the folder of the repository, or say where -idl is)", c.idl, err)
	}
	backends, stop, err := c.startBackends(ctx, texts)
	if err != nil {
		return err
	}
	defer stop()
	g := newSite(backends, c.timeout)
	if err := g.use(texts); err != nil {
		return err
	}
	watching, cancel := context.WithCancel(ctx)
	watched := make(chan struct{})
	go func() { defer close(watched); g.watch(watching, folder, texts, c.poll) }()
	defer func() { cancel(); <-watched }()

	l, err := net.Listen("tcp", c.listen)
	if err != nil {
		return err
	}
	srv := newServer(g, c.timeout)
	served := make(chan error, 1)
	go func() { served <- srv.Serve(l) }()
	fmt.Fprintf(out, "http://%s/\n", l.Addr())
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	ending, cancelEnding := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancelEnding()
	err = srv.Shutdown(ending)
	if err != nil {
		srv.Close()
	}
	<-served
	return err
}

// newServer returns a server that bounds headers and times of requests. The gateway bounds bodies
// and the number of requests.
func newServer(g http.Handler, timeout time.Duration) *http.Server {
	return &http.Server{
		Handler:           g,
		MaxHeaderBytes:    16 << 10,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
		WriteTimeout:      timeout + 20*time.Second, // reading the request counts
		IdleTimeout:       time.Minute,
	}
}

// startBackends starts the servers of the services and returns clients for them, by the services'
// names, and a function that ends both.
func (c config) startBackends(ctx context.Context, texts map[string]string) (map[string]rpc.Caller, func(), error) {
	schema, err := dynamic.LoadText(texts)
	if err != nil {
		return nil, nil, err
	}
	processors := map[string]*rpc.Processor{"KeyValue": kv.NewKeyValueProcessor(store.NewService(false))}
	// An IDL without orders is good, too: there is a store to be offered.
	if service, err := schema.Service("Orders"); err == nil {
		processors["Orders"], err = service.ProcessorOf(map[string]dynamic.Handler{"submit": new(orders).submit})
		if err != nil {
			return nil, nil, err
		}
	}
	var ends []func()
	stop := func() {
		for _, end := range slices.Backward(ends) {
			end()
		}
	}
	backends := map[string]rpc.Caller{}
	for name, p := range processors {
		addr := c.connect
		if name != "KeyValue" || addr == "" {
			var end func()
			if addr, end, err = serve(p); err != nil {
				stop()
				return nil, nil, err
			}
			ends = append(ends, end)
		}
		cl, err := rpc.Dial(ctx, "tcp", addr, rpc.MaxInFlight(maxCalls))
		if err != nil {
			stop()
			return nil, nil, err
		}
		ends = append(ends, func() { cl.Close() })
		backends[name] = cl
	}
	return backends, stop, nil
}

// serve starts a server and returns its address, and a function that ends it.
func serve(p *rpc.Processor) (addr string, end func(), err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	srv := &rpc.Server{Processor: p, Concurrency: maxCalls, Unordered: true}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(l) }()
	return l.Addr().String(), func() {
		ctx, cancel := context.WithTimeout(context.Background(), grace)
		defer cancel()
		if err := srv.Shutdown(ctx); err != nil && !errors.Is(err, context.DeadlineExceeded) {
			fmt.Fprintln(os.Stderr, "gateway:", err)
		}
		<-served
	}, nil
}
