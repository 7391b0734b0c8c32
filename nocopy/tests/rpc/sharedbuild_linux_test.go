//go:build !nounsafe

package rpc_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/impl"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"

	"github.com/nocopythrift/nocopythrift/nocopy"
)

// inPlace reports whether a message was built in shared memory, as a whole.
func inPlace(s thriftimpl.Struct) bool {
	owner, _, _ := impl.OwnPiece(nocopy.Struct(s).Message())
	return owner != nil
}

// fillItem fills n bytes of labels, which lie in line.
func fillItem(item echo.Item, n, seed int) {
	item.SetName(fmt.Sprint("item ", seed))
	item.SetNumbers([]int64{int64(seed), int64(seed)})
	labels := item.NewLabels()
	for i := 0; i*1000 < n; i++ {
		labels.Put(fmt.Sprint("key", i), strings.Repeat(string(rune('a'+(seed+i)%26)), 990))
	}
}

func checkItem(item echo.Item, n, seed int) error {
	if got, want := item.GetName(), fmt.Sprint("item ", seed); got != want {
		return fmt.Errorf("%q, not %q", got, want)
	}
	if a, b := item.GetNumbers().At(0), item.GetNumbers().At(1); a != int64(seed) || b != a {
		return fmt.Errorf("item %d: numbers %d and %d", seed, a, b)
	}
	count := 0
	for key, v := range item.GetLabels().All() {
		var i int
		fmt.Sscanf(key, "key%d", &i)
		if v != strings.Repeat(string(rune('a'+(seed+i)%26)), 990) {
			return fmt.Errorf("item %d: label %s is %.20q", seed, key, v)
		}
		count++
	}
	if want := (n + 999) / 1000; count != want {
		return fmt.Errorf("item %d: %d labels, not %d", seed, count, want)
	}
	return nil
}

// itemHandler checks the item that it gets and returns another one, which it fills.
type itemHandler struct {
	handler
	bad atomic.Int64 // items that were not as they were made
}

func (h *itemHandler) Put(_ context.Context, args echo.EchoPutArgs, result echo.EchoPutResult) error {
	var n, seed int
	fmt.Sscan(args.GetMode(), &n, &seed)
	if err := checkItem(args.GetItem(), n, seed); err != nil {
		h.bad.Add(1)
		return err
	}
	fillItem(result.NewSuccess(), n, seed+1)
	return nil
}

// TestSharedBuilt: with TrustPeer, and only then, messages that are expected to be large are built
// in shared memory, and keep their values: one at a time and many, larger and smaller ones than
// expected, changed and sent again by interceptors, several times at once, and given up.
func TestSharedBuilt(t *testing.T) {
	if !testmode.InOwnProcess(t) {
		return
	}
	for _, mode := range sharedModes {
		t.Run(fmt.Sprint(mode), func(t *testing.T) {
			before := maps(t)
			var built, sent atomic.Int64
			again := func(ctx context.Context, call *rpc.Call, next rpc.Handler) error {
				sent.Add(1)
				if inPlace(thriftimpl.Struct(call.Args)) {
					built.Add(1)
				}
				args := echo.EchoPutArgs(call.Args)
				mode := args.GetMode()
				switch sent.Load() % 5 {
				case 0: // sent before it is changed, and again
					if err := next(ctx, call); err != nil {
						return err
					}
					name := args.GetItem().GetName()
					args.GetItem().SetName("another, longer name")
					args.GetItem().SetName(name)
				case 1: // several times at once
					var wg sync.WaitGroup
					for range 3 {
						c := *call
						wg.Go(func() { next(ctx, &c) })
					}
					defer wg.Wait()
				case 2: // given up
					ctx, cancel := context.WithCancel(ctx)
					c := *call
					done := make(chan struct{})
					go func() { next(ctx, &c); close(done) }()
					if sent.Load()%2 == 0 {
						runtime.Gosched()
					}
					cancel()
					<-done
					numbers := args.GetItem().GetNumbers()
					was := numbers.At(1)
					numbers.Set(1, -1) // what the server is perhaps reading must not change
					time.Sleep(time.Millisecond)
					numbers.Set(1, was)
				case 3: // in pieces
					args.SetMode("longer than it was")
					args.SetMode(mode)
				}
				return next(ctx, call)
			}
			h := &itemHandler{}
			srv := &rpc.Server{SharedMemory: mode, Processor: echo.NewEchoProcessor(h), Interceptors: []rpc.Interceptor{func(ctx context.Context, call *rpc.Call, next rpc.Handler) error {
				return next(ctx, call)
			}}}
			path := serveUnix(t, srv, nil)
			cl := dial(t, path, mode, rpc.PoolSize(2), rpc.Interceptors(again))
			c := echo.NewEchoClient(cl)
			call := func(n, seed int) {
				res, err := c.Put(bg, func(args echo.EchoPutArgs) {
					args.SetMode(fmt.Sprint(n, " ", seed))
					fillItem(args.NewItem(), n, seed)
				})
				if err == nil {
					err = checkItem(res.GetSuccess(), n, seed+1)
				}
				if err != nil {
					t.Errorf("%d bytes, %d: %v", n, seed, err)
					return
				}
				res.Release()
			}
			for i, n := range []int{50_000, 50_000, 50_000, 200_000, 200_000, 100_000, 1000, 1000, 2_000_000, 2_000_000, 40_000} {
				call(n, i)
			}
			var wg sync.WaitGroup
			for g := range 8 {
				wg.Go(func() {
					for i := range testmode.Of(8, 15) {
						call([]int{100_000, 300_000, 1000}[(g+i)%3], g*100+i)
					}
				})
			}
			wg.Wait()
			if n := built.Load(); (n > 20) != (mode == rpc.TrustPeer) || n > 0 != (mode == rpc.TrustPeer) {
				t.Errorf("%d of %d arguments were built in shared memory", n, sent.Load())
			}
			if n := h.bad.Load(); n > 0 {
				t.Errorf("%d items came otherwise", n)
			}
			cl.Close()
			mapped(t, before)
		})
	}
}

// TestSharedUnsent: with CopyFromPeer shared memory holds only sent bytes: neither values that
// were replaced before, nor the result of a call that fails.
func TestSharedUnsent(t *testing.T) {
	if !testmode.InOwnProcess(t) {
		return
	}
	const secret = "never to be sent"
	failing := func(ctx context.Context, call *rpc.Call, next rpc.Handler) error {
		if err := next(ctx, call); err != nil || call.Method.Name != "put" {
			return err
		}
		result := echo.EchoPutResult(call.Result)
		result.NewSuccess().SetName(strings.Repeat(secret, 10_000))
		return errors.New("it has failed")
	}
	path := serveUnix(t, &rpc.Server{SharedMemory: rpc.CopyFromPeer, Interceptors: []rpc.Interceptor{failing}}, &handler{})
	cl := dial(t, path, rpc.CopyFromPeer, rpc.PoolSize(1))
	c := echo.NewEchoClient(cl)
	for range 5 {
		res, err := c.Echo(bg, func(args echo.EchoEchoArgs) { args.SetPayload(numbered(100_000, 0)) })
		if err != nil {
			t.Fatal(err)
		}
		res.Release()
		if _, err := c.Put(bg, func(args echo.EchoPutArgs) {
			args.SetMode("fill")
			item := args.NewItem()
			item.SetName(strings.Repeat(secret, 10_000))
			item.SetName("replaced")
			item.SetData(numbered(100_000, 0))
		}); err == nil {
			t.Fatal("it has not failed")
		}
	}
	found := 0
	for _, mem := range sharedMemory(t) {
		if bytes.Contains(mem, []byte("replaced")) {
			found++
		}
		if bytes.Contains(mem, []byte(secret)) {
			t.Error("the other side can read what was not sent")
		}
	}
	if found == 0 {
		t.Error("what was sent is not found either")
	}
}

// TestSharedAllocs: a call through shared memory allocates no more than one over the socket.
func TestSharedAllocs(t *testing.T) {
	if !testmode.InOwnProcess(t) {
		return
	}
	payload := numbered(200_000, 1)
	echoed := func(_ context.Context, call *rpc.Call) error {
		copy(echo.EchoEchoResult(call.Result).NewSuccess(len(payload)), echo.EchoEchoArgs(call.Args).GetPayload())
		return nil
	}
	var overSocket float64
	for _, mode := range append([]rpc.SharedMemory{0}, sharedModes...) {
		p := echo.NewEchoProcessor(&handler{}).WithHandler(echoed, "echo")
		path := serveUnix(t, &rpc.Server{SharedMemory: mode, Recycle: true, Processor: p}, nil)
		c := echo.NewEchoClient(dial(t, path, mode, rpc.Recycle, rpc.PoolSize(1)))
		n := testing.AllocsPerRun(300, func() {
			res, err := c.Echo(bg, func(args echo.EchoEchoArgs) { copy(args.NewPayload(len(payload)), payload) })
			if err != nil || !bytes.Equal(res.GetSuccess(), payload) {
				t.Fatal(err)
			}
			res.Release()
		})
		if mode == 0 {
			overSocket = n
		} else if n > overSocket+1 && !testmode.Instrumented {
			t.Errorf("%v: %v allocations a call, %v over the socket", mode, n, overSocket)
		}
	}
}

// sharedMemory returns the contents of the shared memory of this process.
func sharedMemory(t *testing.T) (list [][]byte) {
	t.Helper()
	for _, fd := range sharedFiles(t) {
		mem, err := os.ReadFile(fmt.Sprint("/proc/self/fd/", fd))
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, mem)
	}
	return list
}

// sharedFiles returns the descriptors of the shared memory of this process.
func sharedFiles(t *testing.T) (list []int) {
	t.Helper()
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, fd := range fds {
		if to, err := os.Readlink("/proc/self/fd/" + fd.Name()); err == nil && strings.Contains(to, "memfd:nocopy-rpc") {
			n, _ := strconv.Atoi(fd.Name())
			list = append(list, n)
		}
	}
	return list
}
