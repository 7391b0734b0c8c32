package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cloudwego/kitex/client"
	"github.com/cloudwego/kitex/pkg/connpool"
	"github.com/cloudwego/kitex/pkg/klog"
	"github.com/cloudwego/kitex/pkg/remote/codec/thrift"
	"github.com/cloudwego/kitex/server"
	"github.com/cloudwego/kitex/transport"

	kitexecho "github.com/nocopythrift/nocopythrift/bench/rpc/generated/kitex/echo"
	"github.com/nocopythrift/nocopythrift/bench/rpc/generated/kitex/echo/rows"
	"github.com/nocopythrift/nocopythrift/bench/rpc/generated/nocopy/echo"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// Calls between processes of one host: over unix sockets, and through shared memory. A large
// message is a list of records of 1 KB. Requests and replies take turns in being large, and
// records are written anew for each message. The other side reads every byte of all records, or of
// a few. The message in the other direction is small.

// recordSize is the size of a Row with a name of nameSize bytes on the wire.
const (
	nameSize   = 1000
	recordSize = 11 + 7 + 7 + nameSize + 1
)

// source is the text that names are cut from.
var source = func() string {
	b := make([]byte, 4<<20)
	for i := range b {
		b[i] = 'a' + byte(i*7%23)
	}
	return string(b)
}()

// nameFor returns the name of record i.
func nameFor(i int) string { return source[i*nameSize%(len(source)-nameSize):][:nameSize] }

// read reads every byte of a text, as fast as vectors do.
func read(s string) int64 { return int64(strings.Count(s, "a")) }

// readBytes is read of bytes.
func readBytes(b []byte) int64 { return int64(bytes.Count(b, []byte("a"))) }

// step is after how many records the next one is read: all, or 4 of them.
func step(n int, all bool) int {
	if all {
		return 1
	}
	return max(n/4, 1)
}

// sharedPeer is a library with one way between processes. open returns one function per worker.
// Each function sends n records, and receives as many.
type sharedPeer struct {
	name      string
	pipelines bool
	open      func(dir string, n, workers int, all bool) (calls []func() error, stop func(), err error)
}

const baseline = "nocopy, socket"

var sharedPeers = []sharedPeer{
	{baseline, true, openNocopyShared(0)},
	{"nocopy, CopyFromPeer", true, openNocopyShared(rpc.CopyFromPeer)},
	{"nocopy, TrustPeer", true, openNocopyShared(rpc.TrustPeer)},
	{"kitex, socket", false, openKitexUnix},
	{"shmipc-go", true, openShmipc(defaultSizes, 1)},
	{"shmipc-go, tuned", true, openShmipc(tunedSizes, shmipcPiece/recordSize)},
	{"no transport", false, openNone},
}

type sharedHandler struct{ all bool }

func (h sharedHandler) Get(_ context.Context, args echo.RowsGetArgs, result echo.RowsGetResult) error {
	fillRecords(result.NewSuccess(int(args.GetCount())))
	return nil
}

func (h sharedHandler) Put(_ context.Context, args echo.RowsPutArgs, result echo.RowsPutResult) error {
	result.SetSuccess(readRecords(args.GetRows(), h.all))
	return nil
}

func fillRecords(list nocopy.StructList[echo.Row]) {
	for i, r := range list.All() {
		r.SetID(int64(i))
		r.SetKind(int32(i))
		r.SetName(nameFor(i))
	}
}

func readRecords(list nocopy.StructList[echo.Row], all bool) (sum int64) {
	n := list.Len()
	for i := 0; i < n; i += step(n, all) {
		r := list.At(i)
		sum += r.GetID() + int64(r.GetKind()) + read(r.GetName())
	}
	return sum
}

// sumRecords returns the sum that readers of n records return.
func sumRecords(n int, all bool) (sum int64) {
	for i := 0; i < n; i += step(n, all) {
		sum += 2*int64(i) + read(nameFor(i))
	}
	return sum
}

func checkSum(got, want int64, err error) error {
	if err == nil && got != want {
		err = fmt.Errorf("the sum is %d, not %d", got, want)
	}
	return err
}

func openNocopyShared(mode rpc.SharedMemory) func(string, int, int, bool) ([]func() error, func(), error) {
	return func(dir string, n, workers int, all bool) ([]func() error, func(), error) {
		path := filepath.Join(dir, "s")
		l, err := net.Listen("unix", path)
		if err != nil {
			return nil, nil, err
		}
		srv := &rpc.Server{Processor: echo.NewRowsProcessor(sharedHandler{all}), Recycle: true, SharedMemory: mode, MaxFrame: maxRows}
		go srv.Serve(l)
		ctx := context.Background()
		cl, err := rpc.Dial(ctx, "unix", path, rpc.PoolSize(1), rpc.Recycle, mode, rpc.MaxFrame(maxRows))
		if err != nil {
			return nil, nil, err
		}
		c, want := echo.NewRowsClient(cl), sumRecords(n, all)
		call := func() error {
			put, err := c.Put(ctx, func(args echo.RowsPutArgs) { fillRecords(args.NewRows(n)) })
			if err != nil {
				return err
			}
			sum := put.GetSuccess()
			put.Release()
			if err := checkSum(sum, want, nil); err != nil {
				return err
			}
			get, err := c.Get(ctx, func(args echo.RowsGetArgs) { args.SetCount(int32(n)) })
			if err != nil {
				return err
			}
			sum = readRecords(get.GetSuccess(), all)
			get.Release()
			return checkSum(sum, want, nil)
		}
		return slices.Repeat([]func() error{call}, workers), func() { cl.Close(); srv.Shutdown(ctx) }, nil
	}
}

type kitexSharedHandler struct{ all bool }

func makeKitexRecords(n int) []*kitexecho.Row {
	all, list := make([]kitexecho.Row, n), make([]*kitexecho.Row, n)
	for i := range all {
		all[i] = kitexecho.Row{Id: int64(i), Kind: int32(i), Name: nameFor(i)}
		list[i] = &all[i]
	}
	return list
}

func readKitexRecords(list []*kitexecho.Row, all bool) (sum int64) {
	for i := 0; i < len(list); i += step(len(list), all) {
		sum += list[i].Id + int64(list[i].Kind) + read(list[i].Name)
	}
	return sum
}

func (h *kitexSharedHandler) Get(_ context.Context, n int32) ([]*kitexecho.Row, error) {
	return makeKitexRecords(int(n)), nil
}

func (h *kitexSharedHandler) Put(_ context.Context, list []*kitexecho.Row) (int64, error) {
	return readKitexRecords(list, h.all), nil
}

func openKitexUnix(dir string, n, workers int, all bool) ([]func() error, func(), error) {
	klog.SetLevel(klog.LevelFatal)
	addr, err := net.ResolveUnixAddr("unix", filepath.Join(dir, "s"))
	if err != nil {
		return nil, nil, err
	}
	codec := thrift.NewThriftCodecWithConfig(thrift.FastRead | thrift.FastWrite)
	srv := rows.NewServer(&kitexSharedHandler{all}, server.WithServiceAddr(addr), server.WithPayloadCodec(codec))
	go srv.Run()
	awaitKitex(addr)
	cl, err := rows.NewClient("rows", client.WithHostPorts(addr.Name), client.WithTransportProtocol(transport.Framed),
		client.WithPayloadCodec(codec), client.WithRPCTimeout(time.Minute),
		client.WithLongConnection(connpool.IdleConfig{MinIdlePerAddress: workers, MaxIdlePerAddress: workers, MaxIdleGlobal: workers, MaxIdleTimeout: time.Minute}))
	if err != nil {
		return nil, nil, err
	}
	want, ctx := sumRecords(n, all), context.Background()
	call := func() error {
		sum, err := cl.Put(ctx, makeKitexRecords(n))
		if err := checkSum(sum, want, err); err != nil {
			return err
		}
		list, err := cl.Get(ctx, int32(n))
		return checkSum(readKitexRecords(list, all), want, err)
	}
	return slices.Repeat([]func() error{call}, workers), func() { srv.Stop() }, nil
}

// openNone measures the rest, without messages: records are written to memory, and read there.
func openNone(_ string, n, _ int, all bool) ([]func() error, func(), error) {
	mem := make([]byte, n*recordSize)
	call := func() error {
		for range 2 {
			putRecords(mem, 0, n)
			if err := checkSum(sumPut(mem, 0, n, step(n, all)), sumsOf(n, all), nil); err != nil {
				return err
			}
		}
		return nil
	}
	return []func() error{call}, func() {}, nil
}

// putRecords writes the records i to end-1.
func putRecords(b []byte, i, end int) {
	for ; i < end; i++ {
		binary.BigEndian.PutUint64(b, uint64(i))
		binary.BigEndian.PutUint32(b[8:], uint32(i))
		copy(b[12:recordSize], nameFor(i))
		b = b[recordSize:]
	}
}

// sumPut is sumRecords of the records i to end-1, which are in b.
func sumPut(b []byte, i, end, every int) (sum int64) {
	for ; i < end; i++ {
		if i%every == 0 {
			sum += int64(binary.BigEndian.Uint64(b)) + int64(binary.BigEndian.Uint32(b[8:])) + readBytes(b[12:12+nameSize])
		}
		b = b[recordSize:]
	}
	return sum
}

// sumsOf is sumRecords, which is found out once.
func sumsOf(n int, all bool) int64 {
	k := [2]any{n, all}
	if v, ok := sums.Load(k); ok {
		return v.(int64)
	}
	v := sumRecords(n, all)
	sums.Store(k, v)
	return v
}

var sums sync.Map

// compareShared measures all peers at a size and prints the table: processor time of both sides a
// message, which is half a call.
func compareShared(size, workers int, all bool, names string, rounds int, d time.Duration) error {
	n := max(size/recordSize, 1)
	dir, err := os.MkdirTemp("", "shared")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	chosen := slices.DeleteFunc(slices.Clone(sharedPeers), func(p sharedPeer) bool {
		return names != "" && !strings.Contains(names, p.name) || workers > 1 && !p.pipelines
	})
	cpu := map[string][]float64{}
	order := slices.Clone(chosen)
	for round := range rounds {
		rand.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		for i, p := range order {
			sub := filepath.Join(dir, strconv.Itoa(round)+strconv.Itoa(i))
			if err := os.Mkdir(sub, 0o700); err != nil {
				return err
			}
			calls, stop, err := p.open(sub, n, workers, all)
			if err != nil {
				return fmt.Errorf("%s: %w", p.name, err)
			}
			_, err = repeat(calls, d/5)
			var spent float64
			if err == nil {
				runtime.GC()
				spent, err = repeat(calls, d)
			}
			stop()
			if err != nil {
				return fmt.Errorf("%s: %w", p.name, err)
			}
			cpu[p.name] = append(cpu[p.name], spent)
		}
	}
	what := "all read"
	if !all {
		what = "4 records read"
	}
	fmt.Printf("\n%d records of 1 KB each way, %d calls at a time, %s\n%-24s %14s %10s\n", n, workers, what, "", "CPU/message", "/socket")
	for _, p := range chosen {
		ratio := "–"
		if base := cpu[baseline]; len(base) > 0 {
			var ratios []float64 // of the same round
			for i, v := range cpu[p.name] {
				ratios = append(ratios, v/base[i])
			}
			ratio = fmt.Sprintf("%.2f", median(ratios, func(f float64) float64 { return f }))
		}
		v := median(cpu[p.name], func(f float64) float64 { return f })
		fmt.Printf("%-24s %14v %10s\n", p.name, time.Duration(v).Round(10*time.Nanosecond), ratio)
	}
	return nil
}

// repeat makes calls for a time, each function again and again, and returns the processor time of
// half of one in nanoseconds.
func repeat(calls []func() error, d time.Duration) (float64, error) {
	var stop atomic.Bool
	var count atomic.Int64
	errs := make([]error, len(calls))
	var wg sync.WaitGroup
	cpu := cpuTime()
	for i, call := range calls {
		wg.Go(func() {
			for !stop.Load() {
				if errs[i] = call(); errs[i] != nil {
					return
				}
				count.Add(1)
			}
		})
	}
	time.Sleep(d)
	stop.Store(true)
	wg.Wait()
	used := cpuTime() - cpu
	for _, err := range errs {
		if err != nil {
			return 0, err
		}
	}
	return float64(used) / float64(2*count.Load()), nil
}
