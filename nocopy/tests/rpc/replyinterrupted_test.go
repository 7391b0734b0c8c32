package rpc_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
)

// socketHandling is a handling whose calls may read their own replies.
type socketHandling struct{ handling }

func (c *socketHandling) SyscallConn() (syscall.RawConn, error) {
	return c.Conn.(syscall.Conn).SyscallConn()
}

// alone is after how many calls, one after the other, a call reads its own reply: AloneBefore.
const alone = 1

// TestReplyInterrupted: a call that reads its own reply is given up in the middle of it. The next
// call on the connection reads the rest first.
func TestReplyInterrupted(t *testing.T) {
	t.Parallel()
	result := echo.NewEchoEchoResult()
	result.SetSuccess(bytes.Repeat([]byte("payload "), 8<<10))
	large := result.Message().Bytes()
	sum := func(id int) []byte { return strict(reply, "add", id, sumResult(3)) }
	for name, c := range map[string]struct {
		opts  []rpc.Option
		first []byte // the reply of the call that is given up
		sum   func(id int) []byte
	}{
		"framed":                  {nil, frame(strict(reply, "echo", alone+1, large)), func(id int) []byte { return frame(strict(reply, "add", id, sumResult(3))) }},
		"unframed":                {[]rpc.Option{rpc.Unframed}, strict(reply, "echo", alone+1, large), sum},
		"unframed, recycling":     {[]rpc.Option{rpc.Unframed, rpc.Recycle}, strict(reply, "echo", alone+1, large), sum},
		"unframed, in the header": {[]rpc.Option{rpc.Unframed}, strict(reply, "add", alone+1, sumResult(2)), sum},
		"compact, unframed":       {[]rpc.Option{rpc.Compact, rpc.Unframed}, compactly(reply, "echo", alone+1, result.Message().AppendCompact(nil)), func(id int) []byte { return compactly(reply, "add", id, compactSum(3)) }},
	} {
		t.Run(name, func(t *testing.T) {
			for _, part := range []int{3, len(c.first) / 2, len(c.first) - 1} {
				var conns atomic.Int32
				givenUp := make(chan struct{})
				addr := fakeServer(t, func(nc net.Conn) {
					conns.Add(1)
					b := make([]byte, 1000)
					for id := range alone {
						nc.Read(b)
						nc.Write(c.sum(id + 1))
					}
					nc.Read(b)
					nc.Write(c.first[:part])
					<-givenUp
					nc.Write(c.first[part:])
					nc.Read(b)
					nc.Write(c.sum(alone + 2))
					nc.Read(b)
				})
				arrived := make(chan struct{})
				watched := rpc.Dialer(func(ctx context.Context, network, addr string) (net.Conn, error) {
					nc, err := new(net.Dialer).DialContext(ctx, network, addr)
					return &socketHandling{handling{nc, part + alone*len(c.sum(1)), arrived}}, err
				})
				client := echo.NewEchoClient(dial(t, addr, append(c.opts, watched, rpc.PoolSize(1))...))
				add := func() error {
					sum, err := client.Add(bg, nil)
					if err == nil && sum.GetSuccess() != 3 {
						err = fmt.Errorf("a sum of %d", sum.GetSuccess())
					}
					return err
				}
				for range alone {
					if err := add(); err != nil {
						t.Fatal(err)
					}
				}
				ctx, cancel := context.WithCancel(bg)
				go func() {
					<-arrived
					cancel()
				}()
				if _, err := client.Echo(ctx, nil); !errors.Is(err, context.Canceled) {
					t.Fatalf("the first call: %v", err)
				}
				close(givenUp)
				if err := add(); err != nil || conns.Load() != 1 {
					t.Errorf("after %d bytes of %d: %v, %d connections", part, len(c.first), err, conns.Load())
				}
			}
		})
	}
}
