package rpc_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
)

// prompt is the handler without methods that wait: a fuzzer could make them wait for years.
type prompt struct{ handler }

func (p *prompt) Echo(_ context.Context, args echo.EchoEchoArgs, result echo.EchoEchoResult) error {
	result.SetSuccess(args.GetPayload())
	return nil
}

func (p *prompt) Notify(context.Context, echo.EchoNotifyArgs) error { return nil }

func (p *prompt) Fail(context.Context, echo.EchoFailArgs, echo.EchoFailResult) error { return nil }

// fedConn is a connection on which the given bytes arrive, in pieces as cuts says, and then the
// end of the stream.
type fedConn struct {
	in     []byte
	cuts   []byte // empty: all at once
	reads  int
	mu     sync.Mutex
	out    bytes.Buffer
	once   sync.Once
	closed chan struct{}
}

func (c *fedConn) Read(b []byte) (int, error) {
	n := min(len(c.in), len(b))
	if n == 0 {
		return 0, io.EOF
	}
	if len(c.cuts) > 0 {
		n = min(n, 1+int(c.cuts[c.reads%len(c.cuts)]%64)) // small pieces are the hard ones
	}
	c.reads++
	copy(b, c.in[:n])
	c.in = c.in[n:]
	return n, nil
}

func (c *fedConn) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.out.Write(b)
}

func (c *fedConn) Close() error                     { c.once.Do(func() { close(c.closed) }); return nil }
func (c *fedConn) LocalAddr() net.Addr              { return &net.UnixAddr{} }
func (c *fedConn) RemoteAddr() net.Addr             { return &net.UnixAddr{} }
func (c *fedConn) SetDeadline(time.Time) error      { return nil }
func (c *fedConn) SetReadDeadline(time.Time) error  { return nil }
func (c *fedConn) SetWriteDeadline(time.Time) error { return nil }

// fedListener accepts the connections that it is given.
type fedListener struct {
	conns chan net.Conn
	once  sync.Once
	done  chan struct{}
}

func newFedListener() *fedListener {
	return &fedListener{conns: make(chan net.Conn), done: make(chan struct{})}
}

func (l *fedListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *fedListener) Close() error   { l.once.Do(func() { close(l.done) }); return nil }
func (l *fedListener) Addr() net.Addr { return &net.UnixAddr{} }

// feed makes the bytes arrive and returns what the server writes until it closes the connection.
func (l *fedListener) feed(t *testing.T, in, cuts []byte) []byte {
	t.Helper()
	c := &fedConn{in: bytes.Clone(in), cuts: cuts, closed: make(chan struct{})}
	l.conns <- c
	select {
	case <-c.closed:
	case <-time.After(time.Minute):
		t.Fatalf("%x, cut at %v: the server still has the connection", in, cuts)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.out.Bytes()
}

// failures returns how many lines of a log are about panics in the library.
type failures struct{ n atomic.Int32 }

func (*failures) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelError }
func (f *failures) Handle(_ context.Context, r slog.Record) error {
	if r.Message == "rpc: request failed" || r.Message == "rpc: reply failed" {
		f.n.Add(1)
	}
	return nil
}
func (f *failures) WithAttrs([]slog.Attr) slog.Handler { return f }
func (f *failures) WithGroup(string) slog.Handler      { return f }

// FuzzServer sends any bytes to a server, in any pieces. The server must not panic or hang. Its
// answers must not depend on the pieces, nor on whether it recycles memory.
func FuzzServer(f *testing.F) {
	var plain, recycling *fedListener
	failed := new(failures)
	for _, l := range []**fedListener{&plain, &recycling} {
		*l = newFedListener()
		h := new(prompt)
		srv := &rpc.Server{Processor: echo.NewEchoProcessor(h), Concurrency: 1, MaxFrame: 1 << 20, Recycle: l == &recycling,
			Logger: slog.New(failed)}
		serveOn(f, srv, &h.handler, *l)
	}
	args := addArgs(40, 2)
	item := echo.NewEchoPutArgs()
	item.SetMode("link")
	item.NewItem().SetName("name")
	payload := echo.NewEchoEchoArgs()
	payload.SetPayload(bytes.Repeat([]byte("p"), 300))
	for _, in := range [][]byte{
		frame(strict(call, "add", 7, args)),
		strict(call, "add", 7, args),
		frame(nonStrict(call, "add", 7, args)),
		nonStrict(call, "add", 7, args),
		frame(strict(call, "add", 1, args), nonStrict(call, "add", 2, args)),
		append(frame(strict(call, "put", 3, item.Message().Bytes())), frame(strict(oneway, "notify", 4, []byte{0}))...),
		append(strict(call, "echo", 5, payload.Message().Bytes()), strict(call, "ping", 6, []byte{0})...),
		frame(strict(call, "nope", 8, args)),
		append(strict(call, "nope", 8, args), strict(call, "version", 9, []byte{0})...),
		frame(strict(reply, "add", 7, args)),
		frame(strict(call, "add", 7, args[:5])),
		frame(strict(call, "add", 7, args), []byte("junk")),
		[]byte("GET / HTTP/1.1\r\n"),
		append(be32(16_384_001), 0x80, 1, 0, 1),
		frame([]byte{0x80, 1, 0, 1, 0x7f, 0xff, 0xff, 0xff}),
		join(headed(1, 7, []byte{0, 0, 1, 1, 3, 'k', 'e', 'y', 1, 'v'}, strict(call, "add", 7, args)), frame(strict(call, "add", 8, args))),
		headed(0, 7, compactHead, compactly(call, "add", 7, compactAdd(40, 2)), compactly(oneway, "notify", 4, []byte{0})),
		join(headed(0, 7, zlibHead, deflated(strict(call, "add", 7, args))), headed(0, 7, []byte{0, 1, 3}, []byte("snappy"))),
		frame(compactly(call, "add", 7, compactAdd(40, 2))),
		compactly(call, "add", 7, compactAdd(40, 2)),
		frame(compactly(call, "put", 3, item.Message().AppendCompact(nil)), strict(call, "add", 7, args), compactly(oneway, "notify", 4, []byte{0})),
		join(compactly(call, "echo", 5, payload.Message().AppendCompact(nil)), compactly(call, "nope", 1<<30, []byte{0x1b, 2, 0x8c, 1, 'k', 0, 1, 'l', 0, 0})),
		compactly(call, "put", 3, []byte{0x1c, 0x18, 2, 'a', 'b', 0x29, 0xf6, 3, 1, 0xff, 1, 4, 0x1b, 0, 0, 0x18, 1, 'x', 0}),
	} {
		f.Add(in, []byte{})
		f.Add(in, []byte{0})
		f.Add(in, []byte{3, 17, 1})
	}
	f.Fuzz(func(t *testing.T, in, cuts []byte) {
		want := plain.feed(t, in, nil)
		if got := plain.feed(t, in, cuts); !bytes.Equal(got, want) {
			t.Fatalf("%x: the answer is\n%x, cut at %v\n%x", in, want, cuts, got)
		}
		if got := recycling.feed(t, in, cuts); !bytes.Equal(got, want) {
			t.Fatalf("%x: the answer is\n%x, recycling and cut at %v\n%x", in, want, cuts, got)
		}
		if failed.n.Load() > 0 {
			t.Fatalf("%x, cut at %v: a panic", in, cuts)
		}
	})
}
