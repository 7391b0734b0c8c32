package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/apache/thrift/lib/go/thrift"

	"github.com/nocopythrift/nocopythrift/examples/programs/metastore/hms"
	"github.com/nocopythrift/nocopythrift/examples/programs/metastore/internal/apache"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// caller calls get_partitions, reads every field of every partition of the result, and returns the
// sum of their numbers and of the lengths of their texts.
type caller func(ctx context.Context, n int16) (sum int, err error)

// dialOurs returns a caller with this library.
func dialOurs(ctx context.Context, addr string, framed bool) (caller, error) {
	options := []rpc.Option{rpc.Recycle, rpc.MaxFrame(100 << 20)}
	if !framed {
		options = append(options, rpc.Unframed)
	}
	conn, err := rpc.Dial(ctx, "tcp", addr, options...)
	if err != nil {
		return nil, err
	}
	c := hms.NewMetastoreClient(conn)
	return func(ctx context.Context, n int16) (int, error) {
		res, err := c.GetPartitions(ctx, func(args hms.MetastoreGetPartitionsArgs) {
			args.SetDbName("logs")
			args.SetTblName("visits")
			args.SetMaxParts(n)
		})
		if err != nil {
			return 0, err
		}
		defer res.Release()
		return sumOurs(res.GetSuccess()), nil
	}, nil
}

// dialApache returns a caller with Apache Thrift's Go library.
func dialApache(addr string, framed bool) (caller, error) {
	conf := &thrift.TConfiguration{MaxMessageSize: 100 << 20, MaxFrameSize: 100 << 20}
	socket := thrift.NewTSocketConf(addr, conf)
	if err := socket.Open(); err != nil {
		return nil, err
	}
	transport := thrift.TTransport(thrift.NewTBufferedTransport(socket, 64<<10))
	if framed {
		transport = thrift.NewTFramedTransportConf(socket, conf)
	}
	protocol := thrift.NewTBinaryProtocolConf(transport, conf)
	c := apache.NewMetastoreClient(thrift.NewTStandardClient(protocol, protocol))
	return func(ctx context.Context, n int16) (int, error) {
		list, err := c.GetPartitions(ctx, "logs", "visits", n)
		return sumApache(list), err
	}, nil
}

// cost is the cost of a call, on average.
type cost struct {
	wall, cpu time.Duration
	allocs    uint64
}

// measure returns the cost of a number of calls, and their sum.
func measure(call caller, n int16, calls int) (c cost, sum int, err error) {
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	cpu, wall := cpuTime(), time.Now()
	for range calls {
		s, err := call(context.Background(), n)
		if err != nil {
			return cost{}, 0, err
		}
		sum += s
	}
	each := time.Duration(calls)
	c.wall, c.cpu = time.Since(wall)/each, (cpuTime()-cpu)/each
	runtime.ReadMemStats(&after)
	c.allocs = (after.Mallocs - before.Mallocs) / uint64(calls)
	return c, sum, nil
}

// cpuTime returns the processor time of this process.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// rounds is how often each library is measured, in turn with the other.
const rounds = 9

// bench prints a table of get_partitions' cost for the client, with this library and Apache's. A
// server in another process sends the same bytes for each call.
func (c config) bench() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	server := exec.Command(self, "-replay")
	server.Stderr = os.Stderr
	stdin, err := server.StdinPipe()
	if err != nil {
		return err
	}
	stdout, err := server.StdoutPipe()
	if err != nil {
		return err
	}
	if err := server.Start(); err != nil {
		return err
	}
	defer server.Wait()
	defer stdin.Close()
	addr, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		return err
	}
	addr = strings.TrimSpace(addr)
	fmt.Fprintln(c.out, "| partitions | | | time | CPU | allocations | CPU, ours / Apache's |")
	fmt.Fprintln(c.out, "|--:|---|---|--:|--:|--:|--:|")
	for _, n := range []int16{1000, 10_000} {
		for _, framed := range []bool{true, false} {
			if err := c.benchRow(addr, n, framed); err != nil {
				return err
			}
		}
	}
	return nil
}

// benchRow prints a row for each library.
func (c config) benchRow(addr string, n int16, framed bool) error {
	ours, err := dialOurs(context.Background(), addr, framed)
	if err != nil {
		return err
	}
	apache, err := dialApache(addr, framed)
	if err != nil {
		return err
	}
	calls := 60_000 / int(n)
	var costs [2][]cost
	for round := range rounds + 1 {
		var sums [2]int
		for i := range 2 {
			i = (i + round) % 2
			var one cost
			if one, sums[i], err = measure([]caller{ours, apache}[i], n, calls); err != nil {
				return err
			}
			if round > 0 { // the first one is to warm up
				costs[i] = append(costs[i], one)
			}
		}
		if sums[0] != sums[1] {
			return errors.New("the libraries have not read the same")
		}
	}
	a, b := median(costs[0]), median(costs[1])
	ratios := make([]float64, rounds)
	for i := range ratios {
		ratios[i] = float64(costs[0][i].cpu) / float64(costs[1][i].cpu)
	}
	slices.Sort(ratios)
	how := map[bool]string{true: "framed", false: "unframed"}[framed]
	ms := func(d time.Duration) string { return fmt.Sprintf("%.2f ms", float64(d.Microseconds())/1000) }
	fmt.Fprintf(c.out, "| %d | %s | ours | %s | %s | %d | **%.2f** |\n", n, how, ms(a.wall), ms(a.cpu), a.allocs, ratios[rounds/2])
	fmt.Fprintf(c.out, "| | | Apache's | %s | %s | %d | |\n", ms(b.wall), ms(b.cpu), b.allocs)
	return nil
}

// median returns the median of each of the costs.
func median(costs []cost) (m cost) {
	of := func(value func(cost) int64) int64 {
		values := make([]int64, len(costs))
		for i, c := range costs {
			values[i] = value(c)
		}
		slices.Sort(values)
		return values[len(values)/2]
	}
	m.wall = time.Duration(of(func(c cost) int64 { return int64(c.wall) }))
	m.cpu = time.Duration(of(func(c cost) int64 { return int64(c.cpu) }))
	m.allocs = uint64(of(func(c cost) int64 { return int64(c.allocs) }))
	return m
}
