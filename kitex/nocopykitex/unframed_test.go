package nocopykitex_test

import (
	"encoding/binary"
	"io"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/nocopythrift/nocopythrift/kitex/internal/shop"
)

// TestUnframed sends messages without a length in pieces. Each is answered after its last byte has
// arrived, even if nothing comes after it.
func TestUnframed(t *testing.T) {
	for _, name := range []string{"unframed", "gonet unframed"} {
		t.Run(name, func(t *testing.T) {
			addr := carrierNamed(name).serve(t, newHandler(t))
			nc, err := net.Dial("tcp", addr)
			if err != nil {
				t.Fatal(err)
			}
			defer nc.Close()
			nc.SetDeadline(time.Now().Add(30 * time.Second))
			for round, step := range []int{1, 7, 1000, 1 << 20} {
				args := shop.NewShopEchoArgs()
				fillOrder(args.NewOrder(), int64(round), 100*step/(round+1)%30_000)
				message := append(callHeader("echo", int32(round)), args.Message().Bytes()...)
				for i := 0; i < len(message); i += step {
					if _, err := nc.Write(message[i:min(i+step, len(message))]); err != nil {
						t.Fatal(err)
					}
					if step < 1000 && i%50 == 0 {
						runtime.Gosched()
					}
				}
				head := make([]byte, len(callHeader("echo", 0)))
				if _, err := io.ReadFull(nc, head); err != nil {
					t.Fatalf("pieces of %d bytes: %v", step, err)
				}
				if head[3] != 2 || int32(binary.BigEndian.Uint32(head[len(head)-4:])) != int32(round) {
					t.Fatalf("reply % x", head)
				}
				result := shop.NewShopEchoResult()
				result.SetSuccess(args.GetOrder())
				reply := make([]byte, result.Message().Len())
				if _, err := io.ReadFull(nc, reply); err != nil || string(reply) != string(result.Message().Bytes()) {
					t.Errorf("pieces of %d bytes: another reply: %v", step, err)
				}
			}
		})
	}
}

// callHeader returns the header of a call.
func callHeader(name string, seqid int32) []byte {
	b := binary.BigEndian.AppendUint32(nil, 0x80010001)
	b = append(binary.BigEndian.AppendUint32(b, uint32(len(name))), name...)
	return binary.BigEndian.AppendUint32(b, uint32(seqid))
}

// TestClaimedLength sends messages that claim large lengths but have few bytes.
func TestClaimedLength(t *testing.T) {
	for _, name := range []string{"framed", "unframed", "gonet framed", "gonet unframed"} {
		t.Run(name, func(t *testing.T) {
			h := newHandler(t)
			addr := carrierNamed(name).serve(t, h)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			for range 4 {
				nc, err := net.Dial("tcp", addr)
				if err != nil {
					t.Fatal(err)
				}
				// A text of 512 MiB
				message := append(callHeader("text", 1), 11, 0, 1, 0x1f, 0xff, 0xff, 0xff)
				if strings.HasSuffix(name, " framed") || name == "framed" {
					message = append(binary.BigEndian.AppendUint32(nil, 1<<30), message...)
				}
				nc.Write(append(message, make([]byte, 10_000)...))
				time.Sleep(20 * time.Millisecond)
				nc.Close()
			}
			if err := echo(carrierNamed(name).dial(t, addr), fillOrder, 1000, 1); err != nil {
				t.Error(err)
			}
			runtime.ReadMemStats(&after)
			if n := after.TotalAlloc - before.TotalAlloc; n > 64<<20 {
				t.Errorf("%d MiB were allocated", n>>20)
			}
			if h.calls.Load() != 1 {
				t.Errorf("%d calls", h.calls.Load())
			}
		})
	}
}
