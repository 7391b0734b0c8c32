//go:build !nounsafe

package rpc_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
)

// useAll applies all operations on items.
func useAll(args echo.EchoPutArgs, result echo.EchoPutResult) {
	item := args.GetItem()
	switch rand.IntN(9) {
	case 0:
		_ = args.String()
	case 1:
		json.Marshal(args)
	case 2:
		item.Clone().Release()
	case 3:
		item.SetName("changed")
		item.GetLabels().Delete("key1")
		item.GetLabels().Put("key2", "new")
		item.GetNumbers().Set(1, 7)
		_ = item.AppendTo(nil)
	case 4:
		item.GetLabels().Get("key1")
		for k, v := range item.GetLabels().All() {
			_, _ = len(k), bytes.Count([]byte(v), []byte("x"))
		}
	case 5:
		_ = item.Equal(item)
	case 6:
		for range item.GetNumbers().All() {
		}
		_ = string(item.GetData()) + item.GetName()
	case 7:
		result.NewSuccess().SetName(item.GetName())
		return
	}
	result.SetSuccess(item)
}

// TestSharedFlipped: a trusted peer that changes a message while it is parsed and used makes it
// another message, or a wrong one, and nothing is read that is not the peer's: the message is at
// the end of its memory.
func TestSharedFlipped(t *testing.T) {
	t.Parallel()
	for _, lazy := range []bool{false, true} {
		var handled atomic.Int64
		use := func(_ context.Context, call *rpc.Call) error {
			defer handled.Add(1)
			useAll(echo.EchoPutArgs(call.Args), echo.EchoPutResult(call.Result))
			return nil
		}
		srv := &rpc.Server{SharedMemory: rpc.TrustPeer, Lazy: lazy, Processor: echo.NewEchoProcessor(&handler{}).WithHandler(use, "put")}
		path := serveUnix(t, srv, nil)
		good := echo.NewEchoClient(dial(t, path, rpc.CopyFromPeer))
		end := time.Now().Add(time.Duration(testmode.Of(100, 1500)) * time.Millisecond)
		giveUp := until(time.Minute)
		for i := 0; time.Now().Before(end) || handled.Load() == 0 && !giveUp(); i++ {
			h := dialHostile(t, path)
			if least := time.Now().Add(50 * time.Millisecond); end.Before(least) {
				end = least // connecting took longer
			}
			flip(t, h, i, end)
			unharmed(t, good)
		}
		if handled.Load() == 0 {
			t.Error("nothing was handled")
		}
		t.Log(handled.Load(), "handled")
	}
}

// flip sends a message again and again, until the connection is closed, and changes it meanwhile.
func flip(t *testing.T, h *hostile, seed int, end time.Time) {
	args := echo.NewEchoPutArgs()
	args.SetMode("none")
	item := args.NewItem()
	item.SetName(fmt.Sprint("item", seed))
	item.SetData(numbered(200, seed))
	item.SetNumbers([]int64{1, 2, 3})
	for i := range 20 {
		item.NewLabels().Put(fmt.Sprint("key", i), "some value")
	}
	frame := sharedFrame("put", 1, args.AppendTo(nil))[4:]
	args.Release()
	s, ok := h.link.Place(h.link.Size())
	if !ok {
		t.Fatal("no room")
	}
	defer s.Return()
	at := len(s.Bytes()) - len(frame)
	mem := s.Bytes()[at:]
	copy(mem, frame)
	closed := make(chan struct{})
	go func() { // take all connections
		defer close(closed)
		io.Copy(io.Discard, h.nc)
	}()
	var stop atomic.Bool
	flipped := make(chan struct{})
	go func() {
		defer close(flipped)
		r := rand.New(rand.NewPCG(uint64(seed), 1))
		const header = 4 + 4 + 3 + 4
		for !stop.Load() {
			i := header + r.IntN(len(mem)-header)
			mem[i] = []byte{0, 1, 0x7f, 0x80, 0xff, mem[i] ^ 1, byte(r.IntN(256))}[r.IntN(7)]
			for range r.IntN(200) { // for a while
				_ = i
			}
			mem[i] = frame[i]
		}
	}()
	p := position(0, 1, uint32(len(frame)), uint64(at))
	for n := 0; n < 500 && time.Now().Before(end.Add(time.Second)); n++ {
		if _, err := h.nc.Write(p); err != nil {
			break
		}
	}
	stop.Store(true)
	<-flipped
	h.nc.Close()
	<-closed
}
