package rpc_test

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/nocopythrift/nocopythrift/linkbuf"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
)

// TestErrorValues: callers learn the fate of a call with errors.Is: each error has the given
// values and none of the others that doc.go lists, and one prefix.
func TestErrorValues(t *testing.T) {
	t.Parallel()
	all := []error{
		rpc.ErrClientClosed, rpc.ErrNotSent, rpc.ErrConnLost, rpc.ErrVersion, linkbuf.ErrFrameSize, nocopy.ErrLimit,
		io.EOF, os.ErrDeadlineExceeded, context.Canceled,
	}
	// A server that answers a call by doing answer.
	server := func(answer func(nc net.Conn)) string {
		return fakeServer(t, func(nc net.Conn) {
			if _, err := readCall(nc); err == nil {
				answer(nc)
			}
		})
	}
	writes := func(b []byte) string {
		return server(func(nc net.Conn) {
			nc.Write(b)
			io.Copy(io.Discard, nc)
		})
	}
	add := func(cl *rpc.Client) error {
		res, err := echo.NewEchoClient(cl).Add(bg, nil)
		defer res.Release() // as programs may do before they look at the error
		return err
	}
	large := frame(strict(reply, "add", 1, make([]byte, 2000)))
	for _, c := range []struct {
		name string
		err  func() error
		is   []error
	}{
		{"the client is closed", func() error {
			cl := dial(t, serve(t, &rpc.Server{}, &handler{}))
			cl.Close()
			return add(cl)
		}, []error{rpc.ErrClientClosed}},
		{"the client is closed during the call", func() error {
			called := make(chan struct{})
			cl := dial(t, server(func(nc net.Conn) {
				close(called)
				io.Copy(io.Discard, nc)
			}))
			go func() {
				<-called
				cl.Close()
			}()
			return add(cl)
		}, []error{rpc.ErrClientClosed}},
		{"nobody listens any more", func() error {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			cl := dial(t, l.Addr().String(), rpc.PoolSize(1))
			if nc, err := l.Accept(); err == nil {
				nc.Close()
			}
			l.Close()
			for { // until the client has noticed, a call may be written
				var op *net.OpError
				if err := add(cl); err == nil || errors.As(err, &op) && op.Op == "dial" {
					return err
				}
			}
		}, []error{rpc.ErrNotSent}},
		{"the server closes the connection", func() error {
			return add(dial(t, server(func(nc net.Conn) { nc.Close() }), rpc.PoolSize(1)))
		}, []error{rpc.ErrConnLost, io.EOF}},
		{"the reply stalls", func() error {
			return add(dial(t, writes(large[:20]), rpc.StallTimeout(50*time.Millisecond)))
		}, []error{rpc.ErrConnLost, os.ErrDeadlineExceeded}},
		{"the reply is too large for MaxFrame", func() error {
			return add(dial(t, writes(large), rpc.MaxFrame(1000)))
		}, []error{nocopy.ErrLimit, linkbuf.ErrFrameSize}},
		{"the frame is too large, and has no header", func() error {
			return add(dial(t, writes(append([]byte{0x7f, 0xff, 0xff, 0xff}, make([]byte, 100)...))))
		}, []error{rpc.ErrConnLost, nocopy.ErrLimit, linkbuf.ErrFrameSize}},
		{"the reply is too large for Limits", func() error {
			return add(dial(t, writes(large), rpc.Limits{MaxBytes: 1000}, rpc.MaxFrame(10_000)))
		}, []error{nocopy.ErrLimit}},
		{"the reply is not Thrift in a frame", func() error {
			return add(dial(t, writes(frame([]byte("\x80\x02garbage garbage")))))
		}, []error{rpc.ErrConnLost, rpc.ErrVersion}},
		{"the reply is not Thrift", func() error {
			addr := fakeServer(t, func(nc net.Conn) {
				nc.Read(make([]byte, 1000))
				nc.Write([]byte("\x80\x02garbage garbage"))
				io.Copy(io.Discard, nc)
			})
			return add(dial(t, addr, rpc.Unframed))
		}, []error{rpc.ErrConnLost, rpc.ErrVersion}},
		{"the frame has an impossible length", func() error {
			return add(dial(t, writes([]byte{0xff, 0xff, 0xff, 0})))
		}, []error{rpc.ErrConnLost, linkbuf.ErrFrameSize}},
		{"the context has ended", func() error {
			ctx, cancel := context.WithCancel(bg)
			cl := dial(t, server(func(nc net.Conn) {
				cancel()
				io.Copy(io.Discard, nc)
			}))
			_, err := echo.NewEchoClient(cl).Add(ctx, nil)
			return err
		}, []error{context.Canceled}},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := c.err()
			if err == nil {
				t.Fatal("no error")
			}
			if text := err.Error(); !strings.HasPrefix(text, "rpc: ") || strings.Contains(text[5:], "rpc: ") {
				t.Errorf("%q: there is not one prefix at its beginning", text)
			}
			want := map[error]bool{}
			for _, e := range c.is {
				want[e] = true
			}
			for _, e := range all {
				if errors.Is(err, e) != want[e] {
					t.Errorf("it is %q: %v, not %v: %v", e, !want[e], want[e], err)
				}
			}
		})
	}
}

// TestExceptionTypes: each error that a server itself answers with, and each missing part of a
// reply, is an ApplicationException with a type of its own.
func TestExceptionTypes(t *testing.T) {
	cl := dial(t, serve(t, &rpc.Server{Limits: nocopy.Limits{MaxBytes: 1000}}, &handler{}))
	for _, c := range []struct {
		name string
		m    *rpc.Method
		want rpc.ExceptionType
	}{
		{"an unknown method", &rpc.Method{Service: "Echo", Name: "sub", Args: echo.EchoAddArgsDesc, Result: echo.EchoAddResultDesc}, rpc.UnknownMethod},
		{"arguments over the limit", &rpc.Method{Service: "Echo", Name: "echo", Args: echo.EchoEchoArgsDesc, Result: echo.EchoEchoResultDesc}, rpc.ProtocolError},
	} {
		t.Run(c.name, func(t *testing.T) {
			args := cl.NewArgs(c.m)
			if c.want == rpc.ProtocolError {
				echo.EchoEchoArgs(args).SetPayload(make([]byte, 2000))
			}
			var e *rpc.ApplicationException
			if _, err := cl.Call(bg, c.m, args); !errors.As(err, &e) || e.Type != c.want {
				t.Errorf("%s: %v", c.name, err)
			}
		})
	}
}
