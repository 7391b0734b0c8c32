package rpc_test

import (
	"bytes"
	"context"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
)

// answeringConn is a connection on which the bytes of a fedConn arrive when something was written.
type answeringConn struct {
	*fedConn
	once    sync.Once
	written chan struct{}
}

func (c *answeringConn) Read(b []byte) (int, error) {
	select {
	case <-c.written:
		return c.fedConn.Read(b)
	case <-c.closed:
		return 0, net.ErrClosed
	}
}

func (c *answeringConn) Write(b []byte) (int, error) {
	c.once.Do(func() { close(c.written) })
	return len(b), nil
}

// FuzzReplies answers a client's first call with any bytes, in any pieces, on every wire. The call
// must end, and what it gives must not depend on the pieces.
func FuzzReplies(f *testing.F) {
	compact := compactly(reply, "add", 1, compactSum(3))
	plain := strict(reply, "add", 1, sumResult(3))
	for _, in := range [][]byte{
		frame(plain), plain, frame(compact), compact,
		headed(1, 1, []byte{0, 0, 1, 1, 3, 'k', 'e', 'y', 1, 'v'}, plain),
		headed(0, 1, compactHead, compact, compact),
		headed(0, 1, zlibHead, deflated(plain)),
		headed(0, 1, []byte{0, 1, 3}, plain),
		headed(0, 1, []byte{2, 1, 1}, deflated(compact)),
		frame(compactly(exception, "add", 1, compactFailure("no", 6))),
		headed(0, 1, binaryHead, strict(exception, "", 1, failure("no", 8))),
	} {
		for way := range spoken {
			f.Add(in, []byte{byte(way * 7)}, byte(way))
		}
	}
	f.Fuzz(func(t *testing.T, in, cuts []byte, way byte) {
		call := func(cuts []byte, recycle bool) (sum int64, text string) {
			opts := []rpc.Option{rpc.PoolSize(1), rpc.MaxFrame(1 << 20), rpc.Logger(new(quiet).logger())}
			if recycle {
				opts = append(opts, rpc.Recycle)
			}
			opts = append(opts, spoken[int(way)%len(spoken)].opts...)
			first := true
			opts = append(opts, rpc.Dialer(func(ctx context.Context, _, _ string) (net.Conn, error) {
				if !first {
					return nil, net.ErrClosed // the client says that it was not sent: the answer has come
				}
				first = false
				fed := &fedConn{in: bytes.Clone(in), cuts: cuts, closed: make(chan struct{})}
				return &answeringConn{fedConn: fed, written: make(chan struct{})}, nil
			}))
			cl, err := rpc.Dial(bg, "tcp", "", opts...)
			if err != nil {
				t.Fatal(err)
			}
			defer cl.Close()
			ctx, cancel := context.WithTimeout(bg, time.Minute)
			defer cancel()
			var headers rpc.ReplyHeaders
			res, err := echo.NewEchoClient(cl).Add(rpc.ReceiveHeaders(ctx, &headers), nil)
			if ctx.Err() != nil {
				t.Fatalf("%x, cut at %v: the call does not end", in, cuts)
			}
			if err == nil {
				sum = res.GetSuccess()
				nocopy.Struct(res).Message().Len()
				res.Release()
				for k, v := range headers.All() {
					text += k + "=" + v + ";"
				}
				return sum, text
			}
			return 0, err.Error()
		}
		sum, text := call(nil, false)
		for _, recycle := range []bool{false, true} {
			if s, x := call(cuts, recycle); s != sum || x != text {
				t.Fatalf("%x: %d, %q, but cut at %v, recycling %t, %d, %q", in, sum, text, cuts, recycle, s, x)
			}
		}
	})
}
