package rpc_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
)

// TestSoak has 64 connections with 32 calls in flight each, of 50 bytes to 1 MB, in each of four
// ways at the same time, and looks for lost and swapped replies and for leaks. NOCOPY_SOAK is the
// duration, such as 60s; without it, it is 0.1 s with 16 connections, or 5 s with NOCOPY_LONG.
func TestSoak(t *testing.T) {
	if !testmode.InOwnProcess(t) {
		return
	}
	duration := time.Duration(testmode.Of(100, 2000)) * time.Millisecond
	connections := testmode.Of(16, 64)
	if s := os.Getenv("NOCOPY_SOAK"); s != "" {
		var err error
		if duration, err = time.ParseDuration(s); err != nil {
			t.Fatal(err)
		}
		connections = 64
	}
	listener(t).Close() // the process's first socket opens the files of Go's poller, which stay open
	before := left()
	t.Run("load", func(t *testing.T) { // its cleanup ends the servers
		for _, v := range []struct {
			name   string
			server *rpc.Server
			client []rpc.Option
		}{
			{"safe", &rpc.Server{}, nil},
			{"compact", &rpc.Server{Recycle: true}, []rpc.Option{rpc.Compact}},
			{"THeader", &rpc.Server{Recycle: true}, []rpc.Option{rpc.THeader(), rpc.Recycle}},
			{"recycling, unordered, unframed", &rpc.Server{Recycle: true, Unordered: true}, []rpc.Option{rpc.Recycle, rpc.Unframed}},
		} {
			t.Run(v.name, func(t *testing.T) {
				t.Parallel()
				soak(t, v.server, connections, duration, v.client)
			})
		}
	})
	var after leftover
	const most = 16 << 20
	// Goroutines and sockets take a moment to end, and memory some collections
	for giveUp := until(time.Minute); !giveUp(); time.Sleep(20 * time.Millisecond) {
		if after = left(); after.goroutines <= before.goroutines && after.files <= before.files && after.heap <= before.heap+most {
			break
		}
	}
	t.Logf("heap %d → %d kB, goroutines %d → %d, files %d → %d", before.heap>>10, after.heap>>10, before.goroutines, after.goroutines, before.files, after.files)
	if after.goroutines > before.goroutines || after.files > before.files {
		t.Error("goroutines or files are left over")
	}
	if after.heap > before.heap+most {
		t.Error("memory is left over")
	}
}

// soak makes calls for this long, from all connections at once.
func soak(t *testing.T, srv *rpc.Server, connections int, duration time.Duration, opts []rpc.Option) {
	const inFlight = 32
	addr := serve(t, srv, &handler{})
	clients := make([]echo.EchoClient, connections)
	for i := range clients { // before the load: a starved machine may take long to connect
		clients[i] = echo.NewEchoClient(dial(t, addr, append(opts, rpc.PoolSize(1), rpc.MaxInFlight(inFlight), rpc.DialTimeout(time.Minute))...))
	}
	var calls, bytes atomic.Int64
	ctx, cancel := context.WithTimeout(bg, duration)
	defer cancel()
	var wg sync.WaitGroup
	for i, c := range clients {
		for j := range inFlight {
			wg.Go(func() {
				r := rand.New(rand.NewPCG(uint64(i), uint64(j)))
				for ctx.Err() == nil {
					n, err := soakCall(c, r)
					if err != nil {
						t.Error(err)
						return
					}
					calls.Add(1)
					bytes.Add(int64(n))
				}
			})
		}
	}
	wg.Wait()
	t.Logf("%d calls, %d MB each way", calls.Load(), bytes.Load()>>20)
}

// soakCall makes a call of a size between 50 bytes and 1 MB, small ones being the most frequent,
// and checks the reply.
func soakCall(c echo.EchoClient, r *rand.Rand) (int, error) {
	size := int(50 * math.Pow(20_000, math.Pow(r.Float64(), 3)))
	var sum uint32
	stamp := r.Uint64()
	res, err := c.Echo(bg, func(args echo.EchoEchoArgs) {
		b := args.NewPayload(size)
		for i := 0; i+8 <= size; i += 8 {
			binary.LittleEndian.PutUint64(b[i:], stamp+uint64(i))
		}
		sum = crc32.ChecksumIEEE(b)
	})
	if err != nil {
		return 0, err
	}
	got := res.GetSuccess()
	if len(got) != size || crc32.ChecksumIEEE(got) != sum {
		return 0, fmt.Errorf("a call of %d bytes got a reply of %d that is not its own", size, len(got))
	}
	res.Release()
	return size, nil
}

type leftover struct {
	heap              uint64
	goroutines, files int
}

func left() leftover {
	for range 3 { // pools keep things for two collections
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	files, _ := os.ReadDir("/proc/self/fd")
	return leftover{m.HeapAlloc, runtime.NumGoroutine(), len(files)}
}
