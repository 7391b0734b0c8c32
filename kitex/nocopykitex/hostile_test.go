package nocopykitex_test

import (
	"context"
	"encoding/binary"
	"math/rand"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cloudwego/kitex/client"
	"github.com/cloudwego/kitex/client/genericclient"
	"github.com/cloudwego/kitex/pkg/generic"

	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/kitex/internal/shop"
	"github.com/nocopythrift/nocopythrift/kitex/nocopykitex"
)

// badBodies returns variants of a struct's wire bytes: truncated, with changed bytes, with wrong
// lengths, and with deeply nested structs and containers.
func badBodies(good []byte) [][]byte {
	var all [][]byte
	for i := 0; i < len(good); i += max(1, len(good)/10) {
		all = append(all, good[:i])
	}
	r := rand.New(rand.NewSource(1))
	for range 20 {
		b := slices.Clone(good)
		for range 1 + r.Intn(4) {
			b[r.Intn(min(len(b), 200))] = byte(r.Intn(256))
		}
		all = append(all, b)
	}
	for i := 0; i+4 < min(40, len(good)); i += 2 {
		for _, n := range []uint32{0x7fffffff, 0xffffffff, 0x40000000, 100 << 20} {
			b := slices.Clone(good)
			binary.BigEndian.PutUint32(b[i:], n)
			all = append(all, b)
		}
	}
	const depth = 100_000
	return append(all, slices.Repeat([]byte{12, 0, 9}, depth), slices.Repeat([]byte{12, 0, 1}, depth),
		append([]byte{15, 0, 9}, slices.Repeat([]byte{15, 0, 0, 0, 1}, depth)...),
		append([]byte{13, 0, 9}, slices.Repeat([]byte{3, 13, 0, 0, 0, 1, 0}, depth)...))
}

// TestHostileClients sends malformed arguments over each transport. The server answers all
// complete messages, and gives back all buffers.
func TestHostileClients(t *testing.T) {
	eachCarrier(t, func(t *testing.T, c carrier) {
		name := strings.TrimSuffix(c.name, " recycle")
		if name == "gRPC" || !testmode.Long && name != "framed" {
			return // there are no generic calls over gRPC
		}
		nocopykitex.Forget()
		addr := c.serve(t, newHandler(t))
		opts := append([]client.Option{client.WithHostPorts(addr), client.WithRPCTimeout(20 * time.Millisecond)}, carrierNamed(name).client...)
		cl, err := genericclient.NewClient("shop", generic.BinaryThriftGenericV2("Shop"), opts...)
		if err != nil {
			t.Fatal(err)
		}
		refused := 0
		for _, n := range []int{10, 20_000} {
			for _, fill := range []func(shop.Order, int64, int){fillOrder, fillPicture} {
				args := shop.NewShopEchoArgs()
				fill(args.NewOrder(), 6, n)
				for _, body := range badBodies(args.Message().Bytes()) {
					if _, err := cl.GenericCall(context.Background(), "echo", body); err != nil {
						refused++
					}
				}
			}
		}
		if refused < 100 {
			t.Errorf("only %d calls were refused", refused)
		}
		if err := echo(carrierNamed(name).dial(t, addr), fillOrder, 20<<10, 7); err != nil {
			t.Error(err)
		}
		if !c.mux {
			waitForBuffers(t)
		}
	})
}

// TestHostileServers calls servers that answer with malformed results or wrong lengths, or reset
// connections halfway. Calls end with an error or with a readable result, and all buffers are
// given back.
func TestHostileServers(t *testing.T) {
	for i, c := range recycling() {
		t.Run(c.name, func(t *testing.T) {
			nocopykitex.Forget()
			l := listen(t)
			defer l.Close()
			good := shop.NewShopEchoResult()
			fillPicture(good.NewSuccess(), 6, 20_000)
			go answerBadly(l, badBodies(good.Message().Bytes()), int64(i))
			cl := c.dial(t, l.Addr().String(), client.WithRPCTimeout(100*time.Millisecond))
			failed := 0
			for range 100 {
				r, err := cl.Echo(context.Background(), func(a shop.ShopEchoArgs) { a.NewOrder().SetID(1) })
				if err != nil {
					failed++
					continue
				}
				_ = r.String()
				r.Release()
			}
			if failed < 30 {
				t.Errorf("only %d calls failed", failed)
			}
			if !c.mux {
				waitForBuffers(t)
			}
		})
	}
}

// answerBadly answers the first call of each connection with one of the bodies.
func answerBadly(l net.Listener, bodies [][]byte, seed int64) {
	for ; ; seed++ {
		nc, err := l.Accept()
		if err != nil {
			return
		}
		r := rand.New(rand.NewSource(seed))
		go func() {
			defer nc.Close()
			nc.Write(badReply(nc, bodies, r))
			if r.Intn(2) == 0 {
				nc.(*net.TCPConn).SetLinger(0) // a reset
			}
		}()
	}
}

// badReply reads a call and returns an answer to it.
func badReply(nc net.Conn, bodies [][]byte, r *rand.Rand) []byte {
	call := make([]byte, 1<<16)
	n, _ := nc.Read(call)
	const toSeqid = 16 // from the beginning of the message
	at := strings.Index(string(call[:n]), "\x80\x01\x00\x01")
	if at < 0 || n < at+toSeqid {
		return call[:n]
	}
	reply := append(slices.Clone(call[:at]), 0x80, 1, 0, 2)
	reply = append(append(reply, call[at+4:at+toSeqid]...), bodies[r.Intn(len(bodies))]...)
	if at >= 4 { // a frame's length
		length := int32(len(reply) - 4)
		switch r.Intn(6) {
		case 0:
			length = r.Int31()
		case 1:
			length += int32(r.Intn(100) - 50)
		}
		binary.BigEndian.PutUint32(reply, uint32(length))
	}
	if r.Intn(5) == 0 {
		reply = reply[:r.Intn(len(reply))]
	}
	return reply
}
