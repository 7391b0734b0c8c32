package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
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
	"github.com/cloudwego/shmipc-go"

	kitexecho "github.com/nocopythrift/nocopythrift/bench/rpc/generated/kitex/echo"
	service "github.com/nocopythrift/nocopythrift/bench/rpc/generated/kitex/echo/echo"
	"github.com/nocopythrift/nocopythrift/bench/rpc/generated/nocopy/echo"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// Calls between processes of one host: over unix sockets, and through shared memory. Requests and
// replies have as many bytes, all of which are written anew for each, and read by the other side:
// all of them, or the other fields and a few of them.

// source is what payloads are made of, and a sum of it that tells whether all was read.
var source = func() []byte {
	b := make([]byte, 64<<20)
	for i := range b {
		b[i] = byte(i * 7)
	}
	return b
}()

// fill writes a payload.
func fill(b []byte, id int64) {
	copy(b, source)
	binary.LittleEndian.PutUint64(b, uint64(id))
}

// read reads a payload: all of it, or a few bytes.
func read(b []byte, all bool) (sum uint64) {
	if !all {
		return binary.LittleEndian.Uint64(b) + uint64(b[len(b)/2]) + uint64(b[len(b)-1])
	}
	for len(b) >= 32 {
		sum += binary.LittleEndian.Uint64(b) + binary.LittleEndian.Uint64(b[8:]) + binary.LittleEndian.Uint64(b[16:]) + binary.LittleEndian.Uint64(b[24:])
		b = b[32:]
	}
	for _, c := range b {
		sum += uint64(c)
	}
	return sum
}

// sharedPeer is a library with one way between processes. open returns functions that make a call
// each with a payload of n bytes, of which workers may be called at the same time.
type sharedPeer struct {
	name      string
	pipelines bool
	open      func(dir string, n, workers int, all bool) (calls []func(id int64) error, stop func(), err error)
}

const baseline = "nocopy, socket"

var sharedPeers = []sharedPeer{
	{baseline, true, openNocopyShared(0)},
	{"nocopy, CopyFromPeer", true, openNocopyShared(rpc.CopyFromPeer)},
	{"nocopy, TrustPeer", true, openNocopyShared(rpc.TrustPeer)},
	{"kitex, socket", false, openKitexUnix},
	{"shmipc-go", false, openShmipc},
}

type sharedHandler struct{ all bool }

func (h sharedHandler) Echo(_ context.Context, args echo.EchoEchoArgs, result echo.EchoEchoResult) error {
	in, out := args.GetMessage(), result.NewSuccess()
	p := in.GetPayload()
	read(p, h.all)
	out.SetID(in.GetID())
	out.SetAction(in.GetAction())
	fill(out.NewPayload(len(p)), in.GetID())
	return nil
}

func openNocopyShared(mode rpc.SharedMemory) func(string, int, int, bool) ([]func(int64) error, func(), error) {
	return func(dir string, n, workers int, all bool) ([]func(int64) error, func(), error) {
		path := filepath.Join(dir, "nocopy"+strconv.Itoa(int(mode)))
		l, err := net.Listen("unix", path)
		if err != nil {
			return nil, nil, err
		}
		srv := &rpc.Server{Processor: echo.NewEchoProcessor(sharedHandler{all}), Recycle: true, SharedMemory: mode, MaxFrame: maxRows}
		go srv.Serve(l)
		ctx := context.Background()
		cl, err := rpc.Dial(ctx, "unix", path, rpc.PoolSize(1), rpc.Recycle, mode, rpc.MaxFrame(maxRows))
		if err != nil {
			return nil, nil, err
		}
		c := echo.NewEchoClient(cl)
		call := func(id int64) error {
			res, err := c.Echo(ctx, func(args echo.EchoEchoArgs) {
				m := args.NewMessage()
				m.SetID(id)
				m.SetAction(action)
				fill(m.NewPayload(n), id)
			})
			if err != nil {
				return err
			}
			got := res.GetSuccess()
			err = check(got.GetID(), id, got.GetPayload(), n, all)
			res.Release()
			return err
		}
		return slices.Repeat([]func(int64) error{call}, workers), func() { cl.Close(); srv.Shutdown(ctx) }, nil
	}
}

// check reads a reply's payload and checks that it is the one.
func check(id, want int64, payload []byte, n int, all bool) error {
	read(payload, all)
	if id != want || len(payload) != n || binary.LittleEndian.Uint64(payload) != uint64(want) {
		return fmt.Errorf("call %d of %d bytes got reply %d of %d", want, n, id, len(payload))
	}
	return nil
}

type kitexSharedHandler struct{ all bool }

func (h *kitexSharedHandler) Echo(_ context.Context, m *kitexecho.Message) (*kitexecho.Message, error) {
	read(m.Payload, h.all)
	p := make([]byte, len(m.Payload))
	fill(p, m.Id)
	return &kitexecho.Message{Id: m.Id, Action: m.Action, Payload: p}, nil
}

func openKitexUnix(dir string, n, workers int, all bool) ([]func(int64) error, func(), error) {
	klog.SetLevel(klog.LevelFatal)
	addr, err := net.ResolveUnixAddr("unix", filepath.Join(dir, "kitex"))
	if err != nil {
		return nil, nil, err
	}
	codec := thrift.NewThriftCodecWithConfig(thrift.FastRead | thrift.FastWrite)
	srv := service.NewServer(&kitexSharedHandler{all}, server.WithServiceAddr(addr), server.WithPayloadCodec(codec))
	go srv.Run()
	for range 100 {
		if nc, err := net.Dial("unix", addr.Name); err == nil {
			nc.Close()
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	cl, err := service.NewClient("echo", client.WithHostPorts(addr.Name), client.WithTransportProtocol(transport.Framed),
		client.WithPayloadCodec(codec), client.WithRPCTimeout(time.Minute),
		client.WithLongConnection(connpool.IdleConfig{MinIdlePerAddress: workers, MaxIdlePerAddress: workers, MaxIdleGlobal: workers, MaxIdleTimeout: time.Minute}))
	if err != nil {
		return nil, nil, err
	}
	call := func(id int64) error {
		p := make([]byte, n)
		fill(p, id)
		m, err := cl.Echo(context.Background(), &kitexecho.Message{Id: id, Action: action, Payload: p})
		if err != nil {
			return err
		}
		return check(m.Id, id, m.Payload, n, all)
	}
	return slices.Repeat([]func(int64) error{call}, workers), func() { srv.Stop() }, nil
}

// openShmipc has no Thrift and no calls: bytes are written to a stream's buffers in shared memory
// and read from there.
func openShmipc(dir string, n, workers int, all bool) ([]func(int64) error, func(), error) {
	path := filepath.Join(dir, "shmipc")
	shmipc.SetLogLevel(5)
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, nil, err
	}
	memory := uint32(64 << 20)
	for uint32(n)*16 > memory {
		memory *= 2
	}
	sizes := []*shmipc.SizePercentPair{{Size: 8192 - 20, Percent: 30}, {Size: 128<<10 - 20, Percent: 70}}
	go func() {
		nc, err := l.Accept()
		if err != nil {
			return
		}
		conf := shmipc.DefaultConfig()
		conf.ShareMemoryBufferCap, conf.BufferSliceSizes = memory, sizes
		conf.MemMapType = shmipc.MemMapTypeMemFd
		s, err := shmipc.Server(nc, conf)
		if err != nil {
			return
		}
		for {
			stream, err := s.AcceptStream()
			if err != nil {
				return
			}
			go func() {
				for {
					if err := readShmipc(stream, n, all, nil); err != nil {
						return
					}
					if err := writeShmipc(stream, n, 0); err != nil {
						return
					}
				}
			}()
		}
	}()
	conf := shmipc.DefaultSessionManagerConfig()
	conf.Network, conf.Address = "unix", path
	conf.SessionNum = 1
	conf.MemMapType = shmipc.MemMapTypeMemFd
	conf.ShareMemoryPathPrefix = "shmipc.bench"
	conf.ShareMemoryBufferCap, conf.BufferSliceSizes = memory, sizes
	manager, err := shmipc.NewSessionManager(conf)
	if err != nil {
		return nil, nil, err
	}
	var calls []func(int64) error
	for range workers {
		stream, err := manager.GetStream()
		if err != nil {
			return nil, nil, err
		}
		calls = append(calls, func(id int64) error {
			if err := writeShmipc(stream, n, id); err != nil {
				return err
			}
			return readShmipc(stream, n, all, nil)
		})
	}
	return calls, func() { manager.Close(); l.Close() }, nil
}

// shmipcPiece is the most bytes that are reserved at a time: one slice of its memory.
const shmipcPiece = 128<<10 - 20

func writeShmipc(s *shmipc.Stream, n int, id int64) error {
	w := s.BufferWriter()
	for left := n; left > 0; {
		m := min(left, shmipcPiece)
		b, err := w.Reserve(m)
		if err != nil {
			return err
		}
		fill(b, id)
		left -= m
	}
	return s.Flush(false)
}

func readShmipc(s *shmipc.Stream, n int, all bool, _ io.Writer) error {
	r := s.BufferReader()
	for left := n; left > 0; {
		m := min(left, shmipcPiece)
		b, err := r.ReadBytes(m)
		if err != nil {
			return err
		}
		read(b, all)
		left -= m
	}
	r.ReleasePreviousRead()
	return nil
}

// compareShared measures all peers at a size and prints the table: processor time of both sides a
// message, which is half a call.
func compareShared(n, workers int, all bool, names string, rounds int, d time.Duration) error {
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
		for _, p := range order {
			sub := filepath.Join(dir, strconv.Itoa(round)+p.name)
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
	what := "all bytes read"
	if !all {
		what = "few bytes read"
	}
	fmt.Printf("\n%d B each way, %d calls at a time, %s\n%-24s %14s %10s\n", n, workers, what, "", "CPU/message", "/socket")
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

// repeat makes calls for a time, each function one after the other, and returns the processor time
// of half a call in nanoseconds.
func repeat(calls []func(int64) error, d time.Duration) (float64, error) {
	var stop atomic.Bool
	var count atomic.Int64
	errs := make([]error, len(calls))
	var wg sync.WaitGroup
	cpu := cpuTime()
	for i, call := range calls {
		wg.Go(func() {
			for id := int64(i); !stop.Load(); id += int64(len(calls)) {
				if errs[i] = call(id); errs[i] != nil {
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
