package rpc_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"net"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
)

// cutter accepts connections, passes bytes on to the same number of connections to target, and
// ends each after a random number of bytes, in one of several ways.
type cutter struct {
	l      net.Listener
	target string
	open   sync.WaitGroup
	seed   uint64
	cuts   atomic.Int64
}

func newCutter(t *testing.T, target string, seed uint64) *cutter {
	c := &cutter{l: listener(t), target: target, seed: seed}
	c.open.Go(func() {
		for n := uint64(0); ; n++ {
			from, err := c.l.Accept()
			if err != nil {
				return
			}
			to, err := net.Dial("tcp", c.target)
			if err != nil {
				from.Close()
				continue
			}
			c.open.Go(func() { c.pass(from.(*net.TCPConn), to.(*net.TCPConn), rand.New(rand.NewPCG(c.seed, n))) })
		}
	})
	return c
}

// pass passes bytes on in both directions until the connection is to be cut, or ends.
func (c *cutter) pass(a, b *net.TCPConn, r *rand.Rand) {
	left := []int64{r.Int64N(300), r.Int64N(3000), r.Int64N(300_000), r.Int64N(3_000_000)}[r.IntN(4)]
	how := r.IntN(4)
	var budget atomic.Int64
	budget.Store(left)
	var once sync.Once
	end := func() {
		once.Do(func() {
			c.cuts.Add(1)
			if how == 0 {
				a.SetLinger(0)
			}
			if how <= 1 {
				b.SetLinger(0)
			}
			if how == 2 {
				a.Close()
				time.Sleep(time.Millisecond)
			}
			b.Close()
			a.Close()
		})
	}
	var both sync.WaitGroup
	copyTo := func(dst, src *net.TCPConn) {
		defer end()
		for buf := make([]byte, 8<<10); ; {
			n, err := src.Read(buf)
			rest := budget.Add(-int64(n))
			if rest < 0 {
				n = max(n+int(rest), 0)
			}
			if _, werr := dst.Write(buf[:n]); err != nil || werr != nil || rest < 0 {
				return
			}
		}
	}
	both.Go(func() { copyTo(a, b) })
	both.Go(func() { copyTo(b, a) })
	both.Wait()
}

// seenCalls is a back end that notes how often it has seen each call.
type seenCalls struct {
	handler
	mu   sync.Mutex
	seen map[uint64]int
}

func (h *seenCalls) Echo(ctx context.Context, args echo.EchoEchoArgs, result echo.EchoEchoResult) error {
	h.mu.Lock()
	h.seen[binary.BigEndian.Uint64(args.GetPayload())]++
	h.mu.Unlock()
	return h.handler.Echo(ctx, args, result)
}

// TestCutChain makes calls from a client through a proxy to a back end, over connections that are
// cut after any byte. Each call gets its own reply, or an error that is true: no call is handled
// twice, nor one at all that is said not to have been sent. NOCOPY_CHAIN says for how long, such
// as 5m; without it that is half a second, or 10 s with
// NOCOPY_LONG.
func TestCutChain(t *testing.T) {
	if !testmode.InOwnProcess(t) {
		return
	}
	duration := time.Duration(testmode.Of(500, 10_000)) * time.Millisecond
	if s := os.Getenv("NOCOPY_CHAIN"); s != "" {
		var err error
		if duration, err = time.ParseDuration(s); err != nil {
			t.Fatal(err)
		}
	}
	seed := testmode.Seed(t)
	listener(t).Close() // the process's first socket opens the files of Go's poller, which stay open
	before := left()
	h := &seenCalls{seen: map[uint64]int{}}
	t.Run("calls", func(t *testing.T) { h.chain(t, seed, duration) })
	var after leftover
	for giveUp := until(time.Minute); !giveUp(); time.Sleep(20 * time.Millisecond) {
		if after = left(); after.goroutines <= before.goroutines && after.files <= before.files {
			break
		}
	}
	if after.goroutines > before.goroutines || after.files > before.files {
		b := make([]byte, 1<<16)
		t.Errorf("left over: %+v, before %+v\n%s", after, before, b[:runtime.Stack(b, true)])
	}
}

// chain makes the calls and ends all that has served them.
func (h *seenCalls) chain(t *testing.T, seed uint64, duration time.Duration) {
	backend := &rpc.Server{Processor: echo.NewEchoProcessor(h), Unordered: true, Recycle: true}
	second := newCutter(t, serve(t, backend, nil), seed)
	up := dial(t, second.l.Addr().String(), rpc.DialTimeout(time.Minute), rpc.Recycle)
	proxy := &rpc.Server{Processor: echo.NewEchoProcessor(&handler{}).WithHandler(rpc.Forward(up)), Unordered: true, Recycle: true, MaxConnAge: 300 * time.Millisecond}
	first := newCutter(t, serve(t, proxy, nil), seed+1)
	// Ends it before the servers, in reverse order
	t.Cleanup(func() {
		first.l.Close()
		second.l.Close()
	})

	type said struct {
		err error
		ok  bool
	}
	var mu sync.Mutex
	results := map[uint64]said{}
	var last atomic.Uint64
	end := time.Now().Add(duration)
	latest := end.Add(time.Minute)
	var answered atomic.Bool
	// A busy machine goes on until something was tried.
	goesOn := func() bool {
		now := time.Now()
		return now.Before(end) || now.Before(latest) && !(answered.Load() && first.cuts.Load() > 0 && second.cuts.Load() > 0)
	}
	var wg sync.WaitGroup
	for i := range 6 {
		retry := rpc.Interceptors(rpc.Retry(rpc.RetryPolicy{MinPause: time.Millisecond}))
		opts := [][]rpc.Option{nil, {rpc.Recycle}, {retry}, {rpc.Unframed}, {rpc.IdleTimeout(20 * time.Millisecond)}, {rpc.MaxConnAge(20 * time.Millisecond)}}[i]
		c := echo.NewEchoClient(dial(t, first.l.Addr().String(), append(opts, rpc.PoolSize(2), rpc.DialTimeout(time.Minute))...))
		for j := range 3 {
			wg.Go(func() {
				r := rand.New(rand.NewPCG(seed+uint64(i), uint64(j)))
				for goesOn() {
					id := last.Add(1)
					payload := binary.BigEndian.AppendUint64(nil, id)
					payload = append(payload, bytes.Repeat([]byte{byte(id)}, []int{r.IntN(100), r.IntN(5000), r.IntN(100_000)}[r.IntN(3)])...)
					ctx, cancel := context.WithTimeout(bg, time.Minute)
					res, err := c.Echo(ctx, func(a echo.EchoEchoArgs) { copy(a.NewPayload(len(payload)), payload); a.SetDelayMs(int32(r.IntN(3))) })
					cancel()
					if err == nil && !bytes.Equal(res.GetSuccess(), payload) {
						t.Errorf("call %d got another's reply", id)
					}
					if err == nil {
						answered.Store(true)
					}
					res.Release()
					mu.Lock()
					results[id] = said{err, err == nil}
					mu.Unlock()
					time.Sleep([]time.Duration{0, 0, 2 * time.Millisecond, 10 * time.Millisecond}[r.IntN(4)])
				}
			})
		}
	}
	wg.Wait()
	ctx, cancel := context.WithTimeout(bg, time.Minute)
	defer cancel()
	for _, srv := range []*rpc.Server{proxy, backend} { // calls that have arrived are handled
		if err := srv.Shutdown(ctx); err != nil {
			t.Error("Shutdown: ", err)
		}
	}
	tally := map[string]int{}
	h.mu.Lock()
	defer h.mu.Unlock()
	for id, r := range results {
		seen := h.seen[id]
		most, what := 1, "lost"
		var answer *rpc.ApplicationException
		switch {
		case r.ok && seen != 1:
			t.Errorf("call %d was answered, and handled %d times", id, seen)
		case r.ok:
			what = "answered"
		case errors.Is(r.err, rpc.ErrNotSent):
			most, what = 0, "not sent"
		case errors.Is(r.err, rpc.ErrConnLost):
		case errors.As(r.err, &answer) && strings.Contains(answer.Message, rpc.ErrNotSent.Error()):
			most, what = 0, "not sent by the proxy"
		case errors.As(r.err, &answer) && strings.Contains(answer.Message, rpc.ErrConnLost.Error()):
			what = "lost by the proxy"
		default:
			t.Errorf("call %d: %v", id, r.err)
		}
		if tally[what]++; seen > most {
			t.Errorf("call %d was handled %d times: %v", id, seen, r.err)
		}
	}
	t.Logf("%d calls, %d and %d cuts: %v", len(results), first.cuts.Load(), second.cuts.Load(), tally)
	if tally["answered"] == 0 || first.cuts.Load() == 0 || second.cuts.Load() == 0 {
		t.Error("nothing was tried")
	}
}
