package rpc_test

import (
	"bytes"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
)

// goodPut returns the wire bytes of well-formed arguments of put.
func goodPut() []byte {
	args := echo.NewEchoPutArgs()
	item := args.NewItem()
	item.SetName("name")
	item.SetNumbers([]int64{1, 2, 3})
	item.NewLabels().Put("k", "v")
	args.SetMode("link")
	return args.Message().Bytes()
}

// badCall returns a call that a server refuses which accepts frames of at most so many bytes.
func badCall(r *rand.Rand, n, most int) []byte {
	args, name, typ := goodPut(), "put", byte(call)
	switch n % 8 {
	case 0: // a required argument is missing
		args = []byte{0}
	case 1:
		args = args[:len(args)-1-r.IntN(len(args)-1)]
	case 2: // no such wire type
		args[0] = 9
	case 3: // an element type that there isn't
		args = []byte{12, 0, 1, 15, 0, 3, 99, 0, 0, 0, 1, 0, 0, 11, 0, 2, 0, 0, 0, 0, 0}
	case 4: // nested too deeply
		args = append(bytes.Repeat([]byte{12, 0, 9}, 100), make([]byte, 101)...)
	case 5: // larger than the back end accepts
		args = append([]byte{11, 0, 9}, append(be32(most), make([]byte, most)...)...)
		args = append(args, goodPut()...)
	case 6: // a map without end
		args = []byte{13, 0, 9, 11, 11, 0x7f, 0xff, 0xff, 0xff}
	case 7: // a oneway call, which is not answered
		name, typ, args = "notify", oneway, []byte{11, 0, 1, 0x7f, 0xff, 0xff, 0xff}
	}
	return frame(strict(typ, name, n, args))
}

// TestBadCallsHarmNobodyElse: one client sends calls that the back end, or the proxy, refuses.
// They share one connection to the back end with the good calls of other clients. No good call
// fails.
func TestBadCallsHarmNobodyElse(t *testing.T) {
	t.Parallel()
	const most = 4000
	proxies := map[string]func(b rpc.Caller) *rpc.Server{
		"typed": func(b rpc.Caller) *rpc.Server {
			return &rpc.Server{Processor: echo.NewEchoProcessor(echo.UnimplementedEchoHandler{}).WithHandler(rpc.Forward(b))}
		},
		"lazy": func(b rpc.Caller) *rpc.Server {
			return &rpc.Server{Processor: echo.NewEchoProcessor(echo.UnimplementedEchoHandler{}).WithHandler(rpc.Forward(b)), Lazy: true, Recycle: true}
		},
		"raw": func(b rpc.Caller) *rpc.Server {
			return &rpc.Server{Processor: rpc.NewProcessor("", nil).WithFallback(rpc.Forward(b)), Unordered: true}
		},
	}
	for name, server := range proxies {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			backend := &rpc.Server{Unordered: true, MaxFrame: most}
			up := newCounts()
			b := dial(t, serve(t, backend, &handler{}), rpc.PoolSize(1), &up.Stats)
			addr := serve(t, server(b), nil)
			var good, done atomic.Int64
			var stop atomic.Bool
			var others sync.WaitGroup
			for i := range 3 {
				c := echo.NewEchoClient(dial(t, addr, rpc.PoolSize(1)))
				others.Go(func() {
					for n := int64(0); !stop.Load() || n == 0; n++ {
						res, err := c.Add(bg, func(a echo.EchoAddArgs) { a.SetA(n); a.SetB(int64(i)) })
						if err != nil || res.GetSuccess() != n+int64(i) {
							t.Errorf("a good call: %d, %v", res.GetSuccess(), err)
							return
						}
						good.Add(1)
					}
				})
			}
			nc := dialRaw(t, addr)
			calls := testmode.Of(1000, 20_000)
			r := rand.New(rand.NewPCG(testmode.Seed(t), 1))
			var answers sync.WaitGroup
			answers.Go(func() {
				for range calls - calls/8 {
					if _, err := readCall(nc); err != nil {
						t.Errorf("after %d answers: %v", done.Load(), err)
						return
					}
					done.Add(1)
				}
			})
			for n := range calls {
				if _, err := nc.Write(badCall(r, n, most)); err != nil {
					t.Fatal(err)
				}
			}
			answers.Wait()
			stop.Store(true)
			others.Wait()
			if n := up.opened.get(); n != 1 {
				t.Errorf("%d connections to the back end were made", n)
			}
			t.Logf("%d bad calls, %d good ones", calls, good.Load())
		})
	}
}

// TestLargeCallHarmsNobodyElse: a request above MaxFrame is answered, and passed over however it
// arrives; the calls before and after it on its connection are not harmed. If the rest of it does
// not come, the connection ends as with any other request.
func TestLargeCallHarmsNobodyElse(t *testing.T) {
	t.Parallel()
	const most = 4000
	addr := serve(t, &rpc.Server{MaxFrame: most}, &handler{})
	large := frame(strict(call, "echo", 2, bigArgs(100_000)))
	for _, piece := range []int{1, 7, len(large)} {
		nc := dialRaw(t, addr)
		send(t, nc, addCall(1))
		for i := 0; i < len(large); {
			n := min(piece, len(large)-i)
			if i > 70 {
				n = min(9999, len(large)-i)
			}
			send(t, nc, large[i:i+n])
			i += n
		}
		send(t, nc, frame(strict(oneway, "notify", 3, bigArgs(most+1)))) // not answered
		send(t, nc, addCall(4))
		for _, want := range []struct {
			typ byte
			id  int
		}{{reply, 1}, {exception, 2}, {reply, 4}} {
			typ, name, id, _ := readMessage(t, nc, true)
			if typ != want.typ || id != want.id {
				t.Errorf("in pieces of %d: a reply of type %d to %s, %d; want %v", piece, typ, name, id, want)
			}
		}
	}
	nc := dialRaw(t, serve(t, &rpc.Server{MaxFrame: most, ReadTimeout: 300 * time.Millisecond}, &handler{}))
	send(t, nc, large[:500])
	if typ, _, id, _ := readMessage(t, nc, true); typ != exception || id != 2 {
		t.Errorf("a reply of type %d to %d", typ, id)
	}
	closes(t, nc)
}

// TestRefusedOnewayHoldsNoReplies: a reply may wait for the next call's reply, to be written
// together with it. If the next call gets no reply, the first one is written alone.
func TestRefusedOnewayHoldsNoReplies(t *testing.T) {
	t.Parallel()
	const most = 4000
	addr := serve(t, &rpc.Server{MaxFrame: most}, &handler{})
	for name, bad := range map[string][]byte{
		"malformed": frame(strict(oneway, "notify", 3, []byte{11, 0, 1, 0x7f, 0xff, 0xff, 0xff})),
		"too large": frame(strict(oneway, "notify", 3, bigArgs(most+1))),
	} {
		for range 5 { // whether all arrives at once depends on the system
			nc := dialRaw(t, addr)
			send(t, nc, slices.Concat(addCall(1), addCall(2), bad))
			for want := range 2 {
				if typ, _, id, _ := readMessage(t, nc, true); typ != reply || id != want+1 {
					t.Errorf("%s: a reply of type %d to %d", name, typ, id)
				}
			}
		}
	}
}

// TestRefusedNameInLog: a peer can't fill the log by the names of methods.
func TestRefusedNameInLog(t *testing.T) {
	t.Parallel()
	logged, logger := callLog(slog.LevelInfo)
	addr := serve(t, &rpc.Server{MaxFrame: 4000, Logger: logger}, &handler{})
	nc := dialRaw(t, addr)
	send(t, nc, frame(strict(call, strings.Repeat("n", 60_000), 1, []byte{0})))
	if typ, _, id, _ := readMessage(t, nc, true); typ != exception || id != 1 {
		t.Errorf("a reply of type %d to %d", typ, id)
	}
	settles(t, "the refusal is logged", func() bool { return strings.Contains(logged.String(), "call refused") })
	if n := len(logged.String()); n > 1000 {
		t.Errorf("%d bytes were logged", n)
	}
}
