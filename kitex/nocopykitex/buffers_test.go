package nocopykitex_test

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"testing"
	"time"

	"github.com/cloudwego/kitex/client"
	"github.com/cloudwego/kitex/client/callopt"
	"github.com/cloudwego/kitex/server"

	"github.com/nocopythrift/nocopythrift/kitex/internal/shop"
	"github.com/nocopythrift/nocopythrift/kitex/nocopykitex"
)

// waitForBuffers waits until no slice of netpoll's buffers is held. (The number may be negative,
// if slices were given back after Forget.)
func waitForBuffers(t *testing.T) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if nocopykitex.Held() <= 0 {
			return
		}
	}
	t.Errorf("%d slices of buffers are held", nocopykitex.Held())
}

// TestBuffersReleased counts the slices of netpoll's buffers that calls hold.
func TestBuffersReleased(t *testing.T) {
	for _, c := range carriers {
		if c.mux { // replies written by reference are left to the garbage collector
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			nocopykitex.Forget()
			h := newHandler(t)
			addr := c.serve(t, h, server.Option(nocopykitex.ServerRecycle()))
			cl := c.dial(t, addr, nocopykitex.ClientRecycle())
			for i := range 5 {
				if err := echo(cl, fillOrder, large, i); err != nil {
					t.Error(err)
				}
				if err := echo(cl, fillPicture, large, i); err != nil {
					t.Error(err)
				}
			}
			for _, id := range []int64{throwMissing, throwBusy, failPlainly, panics, failApplication, failBusiness, releasesArgs} {
				_, err := cl.Echo(context.Background(), func(args shop.ShopEchoArgs) { fillPicture(args.NewOrder(), id, large) })
				if err == nil && id != failBusiness {
					t.Errorf("order %d: no error", id)
				}
			}
			if err := cl.Note(context.Background(), func(a shop.ShopNoteArgs) { fillPicture(a.NewOrder(), 1, large) }); err != nil {
				t.Error(err)
			}
			<-h.noted
			waitForBuffers(t)
		})
	}
}

// TestBuffersReleasedOnErrors sends malformed messages, and large messages for unknown methods, to
// a server.
func TestBuffersReleasedOnErrors(t *testing.T) {
	nocopykitex.Forget()
	h := newHandler(t)
	c := carriers[0]
	addr := c.serve(t, h, nocopykitex.ServerRecycle())
	args := shop.NewShopEchoArgs()
	fillPicture(args.NewOrder(), 1, 60<<10)
	good := args.Message().Bytes()
	send := func(name string, body []byte) {
		t.Helper()
		nc, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer nc.Close()
		message := binary.BigEndian.AppendUint32(nil, 0x80010001)
		message = binary.BigEndian.AppendUint32(message, uint32(len(name)))
		message = append(append(message, name...), 0, 0, 0, 9)
		message = append(message, body...)
		nc.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(message))), message...))
		nc.SetReadDeadline(time.Now().Add(time.Minute))
		reply := make([]byte, 12)
		if _, err := io.ReadFull(nc, reply); err != nil {
			t.Errorf("no answer to %s with %d bytes: %v", name, len(body), err)
		} else if reply[7] != 3 {
			t.Errorf("answer to %s with %d bytes: % x", name, len(body), reply)
		}
	}
	bad := append([]byte{}, good...)
	bad[3] = 77 // a field of the order has an unknown type
	send("echo", bad)
	send("echo", good[:len(good)-1])
	send("echo", append([]byte{12, 0, 1, 15, 0, 2, 12, 0x7f, 0xff, 0xff, 0xff}, good...))
	send("nobody", good)
	waitForBuffers(t)
	if n := h.calls.Load(); n != 0 {
		t.Errorf("the handler was called %d times", n)
	}
	// Clients that give up while the server's handler continues.
	cl := c.dial(t, addr, nocopykitex.ClientRecycle(), client.WithShortConnection())
	_, err := cl.Echo(context.Background(), func(args shop.ShopEchoArgs) { fillPicture(args.NewOrder(), stall, 60<<10) },
		callopt.WithRPCTimeout(givesUp))
	if err == nil {
		t.Error("no timeout")
	}
	if nocopykitex.Held() == 0 {
		t.Error("the handler has not got a slice of a buffer")
	}
	h.release <- struct{}{}
	waitForBuffers(t)
}
