// Command client calls all methods of Apache Thrift's cross-language test service and checks the
// replies.
//
//	go run ./interop/client --host localhost --port 9090 --transport framed --protocol multi
//
// The exit code is 0 if all is well, and else a sum of 1 (base types), 2 (structs), 4
// (containers), 8 (exceptions), 64 (nothing could be tested) and 128 (a call took too long).
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/nocopythrift/nocopythrift/interop"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

func main() { os.Exit(run(context.Background(), os.Args[1:], os.Stdout)) }

func run(ctx context.Context, args []string, out io.Writer) int {
	c, err := interop.ParseFlags("client", args, true, out)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	} else if err != nil {
		return interop.FailedToPrepare
	}
	// One connection, since some servers serve one client after the other.
	opts := []rpc.Option{rpc.PoolSize(1)}
	tls, err := c.TLS(true)
	if err != nil {
		fmt.Fprintln(out, "Error:", err)
		return interop.FailedToPrepare
	}
	if tls != nil {
		opts = append(opts, rpc.TLS(tls))
	}
	failed := 0
	for i := range c.Loops {
		network, address := c.Address()
		fmt.Fprintf(out, "Test #%d, connect %s\n", i+1, address)
		client, err := interop.Dial(ctx, network, address, c.Transport, c.Protocol, opts...)
		if err != nil {
			// Apache's test runner tries again when it reads "Could not connect to".
			fmt.Fprintf(out, "Connect failed: Could not connect to %s: %v\n", address, err)
			return failed | interop.FailedToPrepare
		}
		start := time.Now()
		failed |= interop.Run(ctx, client, interop.Multiplexed(c.Protocol), c.Timeout, out)
		client.Close()
		fmt.Fprintf(out, "Total time: %d us\n", time.Since(start).Microseconds())
	}
	if failed == 0 {
		fmt.Fprintln(out, "All tests done.")
	}
	return failed
}
