//go:build !nounsafe

package rpc_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/nocopythrift/nocopythrift/internal/shm"
	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/linkbuf"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
)

// roughHandler keeps what it gets in messages of its own, linked and cloned, longer than calls
// last.
type roughHandler struct {
	itemHandler
	mu   sync.Mutex
	kept []keptItem
}

// keptItem is an item that was made by fillItem, in a message that is released by release.
type keptItem struct {
	item    echo.Item
	n, seed int
	release func()
}

func (k keptItem) check() error {
	defer k.release()
	return checkItem(k.item, k.n, k.seed)
}

func (h *roughHandler) Put(ctx context.Context, args echo.EchoPutArgs, result echo.EchoPutResult) error {
	k := keptItem{}
	fmt.Sscan(args.GetMode(), &k.n, &k.seed)
	switch k.seed % 4 {
	case 0:
		k.item = args.GetItem().Clone()
		k.release = k.item.Release
		h.keep(k)
	case 1, 2:
		own := echo.NewEchoPutArgs()
		if k.seed%4 == 1 {
			own = echo.NewEchoPutArgs(nocopy.Recycle)
		}
		own.SetItem(args.GetItem())
		k.item, k.release = own.GetItem(), own.Release
		h.keep(k)
	}
	return h.itemHandler.Put(ctx, args, result)
}

// keep keeps an item, and checks the oldest one once there are many.
func (h *roughHandler) keep(k keptItem) {
	h.mu.Lock()
	h.kept = append(h.kept, k)
	var old []keptItem
	if n := len(h.kept) - 8; n > 0 {
		old = append(old, h.kept[:n]...)
		h.kept = append([]keptItem(nil), h.kept[n:]...)
	}
	h.mu.Unlock()
	for _, k := range old {
		if k.check() != nil {
			h.bad.Add(1)
		}
	}
}

func (h *roughHandler) Notify(_ context.Context, args echo.EchoNotifyArgs) error {
	if text := args.GetText(); strings.Count(text, text[:1]) != len(text) {
		h.bad.Add(1)
	}
	return nil
}

// end checks the values that are still kept.
func (h *roughHandler) end() (bad int64) {
	for _, k := range h.kept {
		if k.check() != nil {
			h.bad.Add(1)
		}
	}
	return h.bad.Load()
}

// countAll is Stats with all functions.
func countAll() *rpc.Stats {
	var n atomic.Int64
	add := func(d int) { n.Add(int64(d)) }
	return &rpc.Stats{Conns: add, InFlight: add, Queued: func(time.Duration) { add(1) }, Received: add,
		Sent: func(s linkbuf.Stats) { add(s.Bytes) }, Refused: func(rpc.ExceptionType) { add(1) }}
}

// TestSharedRough: calls of all kinds at once, through a proxy, to servers with shared memory and
// over TCP; given up, kept, linked, edited and sent on; over connections that grow old, with
// little memory, until the servers are shut down. Messages arrive as they were sent, and in the
// end nothing is mapped or open.
func TestSharedRough(t *testing.T) {
	if !testmode.InOwnProcess(t) {
		return
	}
	listenUnix(t) // the descriptors of Go's poller are made now
	files, before := openFiles(t), maps(t)
	for _, near := range sharedModes {
		for _, far := range sharedModes {
			for _, recycle := range []bool{false, true} {
				if !testmode.Long && recycle == (near == far) {
					continue
				}
				t.Run(fmt.Sprint(near, far, recycle), func(t *testing.T) { rough(t, near, far, recycle) })
			}
		}
	}
	mapped(t, before)
	filesClosed(t, files)
	// The goroutine that unmaps a connection's memory counts it a moment later.
	for end := time.Now().Add(time.Minute); shm.Lingering() > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d connections that have ended have memory", shm.Lingering())
		}
	}
}

// rough makes calls to a proxy, which shares memory in mode near with its clients, and in mode far
// with its backend.
func rough(t *testing.T, near, far rpc.SharedMemory, recycle bool) {
	h := &roughHandler{}
	pass := func(ctx context.Context, call *rpc.Call, next rpc.Handler) error { return next(ctx, call) }
	server := func(mode rpc.SharedMemory, p *rpc.Processor) *rpc.Server {
		return &rpc.Server{SharedMemory: mode, MaxShared: 2 << 20, Recycle: recycle, Lazy: recycle, Unordered: recycle,
			MaxConnAge: 60 * time.Millisecond, Stats: countAll(), Interceptors: []rpc.Interceptor{pass}, Processor: p}
	}
	t.Cleanup(func() { // when the servers have been shut down: handlers keep items until then
		if n := h.end(); n > 0 {
			t.Errorf("%d items came otherwise", n)
		}
	})
	shared := serveUnix(t, server(far, echo.NewEchoProcessor(h)), nil)
	tcp := serve(t, server(0, echo.NewEchoProcessor(h)), nil)
	opts := []rpc.Option{rpc.MaxShared(1 << 20), rpc.PoolSize(2), countAll()}
	if recycle {
		opts = append(opts, rpc.Recycle, rpc.Lazy)
	} else {
		opts = append(opts, rpc.Interceptors(pass))
	}
	forward := []rpc.Handler{rpc.Forward(dial(t, shared, append(opts, far)...)), rpc.Forward(dial(t, tcp, opts...))}
	var turn atomic.Int64
	proxy := server(near, echo.NewEchoProcessor(echo.UnimplementedEchoHandler{}).WithHandler(func(ctx context.Context, call *rpc.Call) error {
		return forward[turn.Add(1)%2](ctx, call)
	}))
	proxied := serveUnix(t, proxy, nil)

	var stop atomic.Bool
	var done, failed atomic.Int64
	var wg sync.WaitGroup
	for g := range 6 {
		c := echo.NewEchoClient(dial(t, []string{proxied, proxied, shared}[g%3], append(opts, []rpc.SharedMemory{near, near, far}[g%3])...))
		wg.Go(func() {
			var kept []echo.EchoPutResult
			var are []keptItem
			for i := 0; !stop.Load(); i++ {
				var err error
				if i%5 == 4 {
					text := strings.Repeat(string(rune('a'+i%26)), rand.IntN(200_000)+1)
					err = c.Notify(bg, func(args echo.EchoNotifyArgs) { args.SetText(text) })
				} else {
					ctx, cancel := bg, context.CancelFunc(func() {})
					if rand.IntN(4) == 0 {
						ctx, cancel = context.WithTimeout(bg, time.Duration(rand.IntN(4000))*time.Microsecond)
					}
					k := keptItem{n: []int{100, 20_000, 70_000, 300_000, 900_000}[rand.IntN(5)], seed: g*1_000_000 + i}
					var res echo.EchoPutResult
					res, err = c.Put(ctx, func(args echo.EchoPutArgs) {
						if n := len(kept); n > 0 && rand.IntN(3) == 0 { // send on a received value, edited
							from := are[n-1]
							k.n, k.seed = from.n, from.seed
							args.SetItem(kept[n-1].GetSuccess())
							args.GetItem().SetName("another")
							args.GetItem().SetName(fmt.Sprint("item ", k.seed))
						} else {
							fillItem(args.NewItem(), k.n, k.seed)
						}
						args.SetMode(fmt.Sprint(k.n, " ", k.seed))
					})
					cancel()
					if err == nil {
						k.seed++
						k.item, k.release = res.GetSuccess(), res.Release
						kept, are = append(kept, res), append(are, k)
					}
				}
				var answer *rpc.ApplicationException
				switch {
				case err == nil:
					done.Add(1)
				case errors.Is(err, context.DeadlineExceeded), errors.Is(err, rpc.ErrConnLost), errors.Is(err, rpc.ErrNotSent),
					errors.As(err, &answer):
					failed.Add(1)
				default:
					t.Errorf("%T: %v", err, err)
				}
				for len(kept) > rand.IntN(6) {
					if err := are[0].check(); err != nil {
						t.Error(err)
					}
					kept, are = kept[1:], are[1:]
				}
			}
			for _, k := range are {
				if err := k.check(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for end := time.Now().Add(time.Minute); done.Load() < int64(testmode.Of(20, 300)) && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	ctx, cancel := context.WithTimeout(bg, time.Minute)
	defer cancel()
	if err := proxy.Shutdown(ctx); err != nil {
		t.Error(err)
	}
	stop.Store(true)
	wg.Wait()
	if t.Log(done.Load(), "calls were good, and", failed.Load(), "were not"); done.Load() == 0 {
		t.Error("no call was good")
	}
}

// TestSharedNoMemory: where the system has no memory for more messages, the socket carries them.
func TestSharedNoMemory(t *testing.T) {
	for _, mode := range sharedModes {
		path := serveUnix(t, &rpc.Server{SharedMemory: mode}, &handler{})
		c := echo.NewEchoClient(dial(t, path, mode, rpc.PoolSize(1)))
		null, err := os.Open(os.DevNull)
		if err != nil {
			t.Fatal(err)
		}
		defer null.Close()
		unharmed(t, c)
		for _, fd := range sharedFiles(t) { // both sides' memory can't be allocated any more
			if err := syscall.Dup3(int(null.Fd()), fd, syscall.O_CLOEXEC); err != nil {
				t.Fatal(err)
			}
		}
		for i, n := range []int{50_000, 100_000, 2_000_000, 100_000} {
			res, err := c.Echo(bg, func(args echo.EchoEchoArgs) { args.SetPayload(numbered(n, i)) })
			if err != nil || string(res.GetSuccess()) != string(numbered(n, i)) {
				t.Errorf("%d bytes: %v", n, err)
				continue
			}
			res.Release()
		}
	}
}

// TestSharedMany: many connections at once have memory each. When they have ended no file is open,
// and only the memory of unreleased messages is mapped.
func TestSharedMany(t *testing.T) {
	if !testmode.InOwnProcess(t) {
		return
	}
	listener(t).Close() // the process's first socket opens the files of Go's poller, which stay open
	n := testmode.Of(40, 100)
	for _, mode := range sharedModes {
		files, before := openFiles(t), maps(t)
		srv := &rpc.Server{SharedMemory: mode, MaxShared: 1 << 20, Processor: echo.NewEchoProcessor(&handler{})}
		l, path := listenUnix(t)
		served := make(chan error, 1)
		go func() { served <- srv.Serve(l) }()
		var linked atomic.Int64
		kept := make([]echo.EchoEchoResult, n)
		var wg sync.WaitGroup
		for g := range n {
			wg.Go(func() {
				cl, err := rpc.Dial(bg, "unix", path, mode, rpc.MaxShared(1<<20), rpc.PoolSize(1))
				if err != nil {
					t.Error(err)
					return
				}
				defer cl.Close()
				linked.Add(int64(connsLinked(cl)))
				for i := range 3 {
					payload := numbered(100_000, g+i)
					res, err := echo.NewEchoClient(cl).Echo(bg, func(args echo.EchoEchoArgs) { args.SetPayload(payload) })
					if err != nil || string(res.GetSuccess()) != string(payload) {
						t.Errorf("connection %d: %v", g, err)
						return
					}
					if i < 2 {
						res.Release()
					} else {
						kept[g] = res
					}
				}
			})
		}
		wg.Wait()
		if err := srv.Shutdown(bg); err != nil {
			t.Error(err)
		}
		<-served
		if got := linked.Load(); got != int64(n) {
			t.Errorf("%d of %d connections have shared memory", got, n)
		}
		filesClosed(t, files)
		if left := maps(t) - before; left != 0 && (mode == rpc.CopyFromPeer || left > 2*n) {
			t.Errorf("shared memory is mapped %d times", left)
		}
		for g, res := range kept {
			if string(res.GetSuccess()) != string(numbered(100_000, g+2)) {
				t.Errorf("the result of connection %d has changed", g)
			}
			res.Release()
		}
		mapped(t, before)
	}
}
