package main

import (
	"context"
	"fmt"
	"net"
	"runtime"
	"strconv"
	"time"

	"github.com/apache/thrift/lib/go/thrift"
	"github.com/cloudwego/kitex/client"
	"github.com/cloudwego/kitex/pkg/connpool"
	"github.com/cloudwego/kitex/pkg/klog"
	kitexthrift "github.com/cloudwego/kitex/pkg/remote/codec/thrift"
	"github.com/cloudwego/kitex/server"
	"github.com/cloudwego/kitex/transport"

	apacheecho "github.com/nocopythrift/nocopythrift/bench/rpc/generated/apache/echo"
	kitexecho "github.com/nocopythrift/nocopythrift/bench/rpc/generated/kitex/echo"
	"github.com/nocopythrift/nocopythrift/bench/rpc/generated/kitex/echo/rows"
	"github.com/nocopythrift/nocopythrift/bench/rpc/generated/nocopy/echo"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// Large messages of many small structs: replies, and requests.

// rowSize is the size of a Row on the wire, about: its name has 5 to 7 bytes.
const rowSize = 11 + 7 + 13 + 1

// names holds the names of rows: making them is not measured.
var names = func() []string {
	list := make([]string, 100_000)
	for i := range list {
		list[i] = "n" + strconv.Itoa(100+i)
	}
	return list
}()

func nameOf(i int) string { return names[i%len(names)] }

// rowsPeer is a library with one transport. get has it return n rows, put sends it as many; both
// read them all and return the sum of their ids and of the lengths of their names.
type rowsPeer struct {
	name   string
	framed bool
	open   func(framed bool) (get, put func(n int) (int64, error), close func(), err error)
}

var rowsPeers = []rowsPeer{
	{"nocopy, framed", true, openNocopyRows(false)},
	{"nocopy, unframed", false, openNocopyRows(false)},
	{"nocopy/recycle, framed", true, openNocopyRows(true)},
	{"nocopy/recycle, unframed", false, openNocopyRows(true)},
	{"kitex, framed", true, openKitexRows},
	{"kitex, unframed", false, openKitexRows},
	{"apache, framed", true, openApacheRows},
	{"apache, unframed", false, openApacheRows},
}

const maxRows = 64 << 20 // bounds a message, in bytes, for all peers

func sumOf(n int) (sum int64) {
	for i := range n {
		sum += int64(i) + int64(len(nameOf(i)))
	}
	return sum
}

type nocopyRows struct{}

func fillRow(r echo.Row, i int) {
	r.SetID(int64(i))
	r.SetKind(int32(i))
	r.SetName(nameOf(i))
}

func (nocopyRows) Get(_ context.Context, args echo.RowsGetArgs, result echo.RowsGetResult) error {
	for i, r := range result.NewSuccess(int(args.GetCount())).All() {
		fillRow(r, i)
	}
	return nil
}

func (nocopyRows) Put(_ context.Context, args echo.RowsPutArgs, result echo.RowsPutResult) error {
	sum := int64(0)
	for _, r := range args.GetRows().All() {
		sum += r.GetID() + int64(len(r.GetName()))
	}
	result.SetSuccess(sum)
	return nil
}

func openNocopyRows(recycle bool) func(bool) (get, put func(int) (int64, error), stop func(), err error) {
	return func(framed bool) (get, put func(int) (int64, error), stop func(), err error) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, nil, nil, err
		}
		srv := &rpc.Server{Processor: echo.NewRowsProcessor(nocopyRows{}), Recycle: recycle, MaxFrame: maxRows}
		go srv.Serve(l)
		opts := []rpc.Option{rpc.MaxFrame(maxRows)}
		if recycle {
			opts = append(opts, rpc.Recycle)
		}
		if !framed {
			opts = append(opts, rpc.Unframed)
		}
		ctx := context.Background()
		cl, err := rpc.Dial(ctx, "tcp", l.Addr().String(), opts...)
		if err != nil {
			return nil, nil, nil, err
		}
		c := echo.NewRowsClient(cl)
		get = func(n int) (int64, error) {
			res, err := c.Get(ctx, func(args echo.RowsGetArgs) { args.SetCount(int32(n)) })
			if err != nil {
				return 0, err
			}
			sum := int64(0)
			for _, r := range res.GetSuccess().All() {
				sum += r.GetID() + int64(len(r.GetName()))
			}
			res.Release()
			return sum, nil
		}
		put = func(n int) (int64, error) {
			res, err := c.Put(ctx, func(args echo.RowsPutArgs) {
				for i, r := range args.NewRows(n).All() {
					fillRow(r, i)
				}
			})
			if err != nil {
				return 0, err
			}
			sum := res.GetSuccess()
			res.Release()
			return sum, nil
		}
		return get, put, func() { cl.Close(); srv.Shutdown(ctx) }, nil
	}
}

type kitexRows struct{}

func makeKitexRows(n int) []*kitexecho.Row {
	all, list := make([]kitexecho.Row, n), make([]*kitexecho.Row, n)
	for i := range all {
		all[i] = kitexecho.Row{Id: int64(i), Kind: int32(i), Name: nameOf(i)}
		list[i] = &all[i]
	}
	return list
}

func sumKitexRows(list []*kitexecho.Row) (sum int64) {
	for _, r := range list {
		sum += r.Id + int64(len(r.Name))
	}
	return sum
}

func (kitexRows) Get(_ context.Context, n int32) ([]*kitexecho.Row, error) {
	return makeKitexRows(int(n)), nil
}

func (kitexRows) Put(_ context.Context, list []*kitexecho.Row) (int64, error) {
	return sumKitexRows(list), nil
}

func openKitexRows(framed bool) (get, put func(int) (int64, error), stop func(), err error) {
	klog.SetLevel(klog.LevelFatal)
	l, err := net.Listen("tcp", "127.0.0.1:0") // only to find a free port
	if err != nil {
		return nil, nil, nil, err
	}
	addr := l.Addr()
	l.Close()
	srv := rows.NewServer(new(kitexRows), server.WithServiceAddr(addr), server.WithPayloadCodec(kitexthrift.NewThriftCodecWithConfig(kitexthrift.FastRead|kitexthrift.FastWrite)))
	go srv.Run()
	awaitKitex(addr)
	opts := []client.Option{
		client.WithHostPorts(addr.String()), client.WithRPCTimeout(time.Minute),
		client.WithPayloadCodec(kitexthrift.NewThriftCodecWithConfig(kitexthrift.FastRead | kitexthrift.FastWrite)),
		client.WithLongConnection(connpool.IdleConfig{MinIdlePerAddress: 1, MaxIdlePerAddress: 1, MaxIdleGlobal: 1, MaxIdleTimeout: time.Minute}),
	}
	if framed {
		opts = append(opts, client.WithTransportProtocol(transport.Framed))
	} else {
		opts = append(opts, client.WithTransportProtocol(transport.PurePayload))
	}
	cl, err := rows.NewClient("rows", opts...)
	if err != nil {
		return nil, nil, nil, err
	}
	ctx := context.Background()
	get = func(n int) (int64, error) {
		list, err := cl.Get(ctx, int32(n))
		return sumKitexRows(list), err
	}
	put = func(n int) (int64, error) { return cl.Put(ctx, makeKitexRows(n)) }
	return get, put, func() { srv.Stop() }, nil
}

type apacheRows struct{}

func makeApacheRows(n int) []*apacheecho.Row {
	all, list := make([]apacheecho.Row, n), make([]*apacheecho.Row, n)
	for i := range all {
		all[i] = apacheecho.Row{ID: int64(i), Kind: int32(i), Name: nameOf(i)}
		list[i] = &all[i]
	}
	return list
}

func sumApacheRows(list []*apacheecho.Row) (sum int64) {
	for _, r := range list {
		sum += r.ID + int64(len(r.Name))
	}
	return sum
}

func (apacheRows) Get(_ context.Context, n int32) ([]*apacheecho.Row, error) {
	return makeApacheRows(int(n)), nil
}

func (apacheRows) Put(_ context.Context, list []*apacheecho.Row) (int64, error) {
	return sumApacheRows(list), nil
}

func openApacheRows(framed bool) (get, put func(int) (int64, error), stop func(), err error) {
	config := &thrift.TConfiguration{MaxFrameSize: maxRows, MaxMessageSize: maxRows}
	var transports thrift.TTransportFactory = thrift.NewTBufferedTransportFactory(8 << 10)
	if framed {
		transports = thrift.NewTFramedTransportFactoryConf(transports, config)
	}
	protocols := thrift.NewTBinaryProtocolFactoryConf(config)
	socket, err := thrift.NewTServerSocket("127.0.0.1:0")
	if err != nil {
		return nil, nil, nil, err
	}
	if err := socket.Listen(); err != nil {
		return nil, nil, nil, err
	}
	srv := thrift.NewTSimpleServer4(apacheecho.NewRowsProcessor(apacheRows{}), socket, transports, protocols)
	go srv.Serve()
	t, err := transports.GetTransport(thrift.NewTSocketConf(socket.Addr().String(), config))
	if err != nil {
		return nil, nil, nil, err
	}
	if err := t.Open(); err != nil {
		return nil, nil, nil, err
	}
	c := apacheecho.NewRowsClientFactory(t, protocols)
	ctx := context.Background()
	get = func(n int) (int64, error) {
		list, err := c.Get(ctx, int32(n))
		return sumApacheRows(list), err
	}
	put = func(n int) (int64, error) { return c.Put(ctx, makeApacheRows(n)) }
	return get, put, func() { t.Close(); srv.Stop() }, nil
}

// rowsResult is one measurement, per call: nanoseconds, and bytes and pieces of memory allocated.
type rowsResult struct{ wall, cpu, bytes, allocs float64 }

// measureRows makes calls for a time, at least three, after one for warming up.
func measureRows(call func(int) (int64, error), n int, d time.Duration) (rowsResult, error) {
	want := sumOf(n)
	once := func() error {
		got, err := call(n)
		if err == nil && got != want {
			err = fmt.Errorf("%d rows have the sum %d, not %d", n, got, want)
		}
		return err
	}
	if err := once(); err != nil {
		return rowsResult{}, err
	}
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	cpu, start := cpuTime(), time.Now()
	calls := 0
	for ; calls < 3 || time.Since(start) < d; calls++ {
		if err := once(); err != nil {
			return rowsResult{}, err
		}
	}
	elapsed, used := time.Since(start), cpuTime()-cpu
	runtime.ReadMemStats(&after)
	of := float64(calls)
	return rowsResult{float64(elapsed) / of, float64(used) / of, float64(after.TotalAlloc-before.TotalAlloc) / of, float64(after.Mallocs-before.Mallocs) / of}, nil
}

// compareRows measures all peers with messages of about size bytes and prints the tables.
func compareRows(size, rounds int, d time.Duration) error {
	n := size / rowSize
	for _, way := range []string{"replies", "requests"} {
		results := map[string][]rowsResult{}
		for range rounds {
			for _, p := range rowsPeers {
				get, put, stop, err := p.open(p.framed)
				if err != nil {
					return fmt.Errorf("%s: %w", p.name, err)
				}
				call := get
				if way == "requests" {
					call = put
				}
				r, err := measureRows(call, n, d)
				stop()
				if err != nil {
					return fmt.Errorf("%s, %s of %d rows: %w", p.name, way, n, err)
				}
				results[p.name] = append(results[p.name], r)
			}
		}
		fmt.Printf("\n%s of %d rows, %.1f MB, one at a time\n%-26s %10s %10s %14s %12s\n", way, n, float64(n*rowSize)/1e6, "", "time", "CPU/call", "allocated/size", "allocs/call")
		for _, p := range rowsPeers {
			m := func(f func(rowsResult) float64) float64 { return median(results[p.name], f) }
			fmt.Printf("%-26s %10v %10v %14.2f %12.0f\n", p.name,
				time.Duration(m(func(r rowsResult) float64 { return r.wall })).Round(10*time.Microsecond),
				time.Duration(m(func(r rowsResult) float64 { return r.cpu })).Round(10*time.Microsecond),
				m(func(r rowsResult) float64 { return r.bytes })/float64(n*rowSize),
				m(func(r rowsResult) float64 { return r.allocs }))
		}
	}
	return nil
}
