// Command server is a server of Apache Thrift's cross-language test service.
//
//	go run ./interop/server --port 9090 --transport framed --protocol multi
//
// It prints a line for each call, and ends when it is interrupted. Clients may be framed or not,
// also with another --transport, since the server can tell. The exit code is 1 when it can't
// listen.
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

	"github.com/nocopythrift/nocopythrift/interop"
	"github.com/nocopythrift/nocopythrift/interop/thrifttest"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout))
}

// grace is how long calls may take to finish after the server was interrupted.
const grace = 2 * time.Second

func run(ctx context.Context, args []string, out io.Writer) int {
	c, err := interop.ParseFlags("server", args, false, out)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	} else if err != nil {
		return 1
	}
	tls, err := c.TLS(false)
	if err != nil {
		fmt.Fprintln(out, "Error:", err)
		return 1
	}
	network, address := c.Address()
	listener, err := net.Listen(network, address)
	if err != nil {
		fmt.Fprintln(out, "Could not bind:", err)
		return 1
	}
	fmt.Fprintf(out, "Starting the server [%s/%s] on %s\n", c.Protocol, c.Transport, place(listener.Addr()))

	h := &interop.Handler{Out: out}
	processor := thrifttest.NewThriftTestProcessor(h)
	if interop.Multiplexed(c.Protocol) {
		processor = rpc.Multiplexed(map[string]*rpc.Processor{
			"":                 processor, // a client that does not multiplex
			interop.FirstName:  processor,
			interop.SecondName: thrifttest.NewSecondServiceProcessor(h),
		})
	}
	srv := &rpc.Server{Processor: processor, TLS: tls}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(listener) }()
	select {
	case err = <-served:
		fmt.Fprintln(out, err)
		return 1
	case <-ctx.Done():
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	if err := srv.Shutdown(ctx); err != nil {
		fmt.Fprintln(out, "calls were cut short:", err)
	}
	fmt.Fprintln(out, "done.")
	return 0
}

func place(a net.Addr) string {
	if tcp, ok := a.(*net.TCPAddr); ok {
		return fmt.Sprintf("port %d", tcp.Port)
	}
	return "unix socket " + a.String()
}
