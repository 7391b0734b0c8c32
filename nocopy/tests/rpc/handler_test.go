// The Echo service of the tests, and how they start servers and clients.

package rpc_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
)

// handler is the Echo service of the tests.
type handler struct {
	notified chan string // receives the texts of Notify, if not nil
	waiting  chan struct{}
	release  chan struct{} // Fail("wait") waits for it
}

func (h *handler) Ping(context.Context, echo.BasePingArgs, echo.BasePingResult) error { return nil }

func (h *handler) Version(_ context.Context, _ echo.BaseVersionArgs, result echo.BaseVersionResult) error {
	result.SetSuccess("one")
	return nil
}

func (h *handler) Echo(_ context.Context, args echo.EchoEchoArgs, result echo.EchoEchoResult) error {
	if ms := args.GetDelayMs(); ms > 0 {
		time.Sleep(time.Duration(ms) * time.Millisecond)
	}
	result.SetSuccess(args.GetPayload())
	return nil
}

func (h *handler) Put(_ context.Context, args echo.EchoPutArgs, result echo.EchoPutResult) error {
	switch args.GetMode() {
	case "link":
		result.SetSuccess(args.GetItem())
	case "fill":
		item := result.NewSuccess()
		item.SetName(args.GetItem().GetName())
		item.SetData(args.GetItem().GetData())
	case "missing, filled":
		result.NewMissing().SetKey(args.GetItem().GetName())
	case "missing, returned":
		e := echo.NewNotFound()
		e.SetKey(args.GetItem().GetName())
		e.SetCode(404)
		return fmt.Errorf("wrapped: %w", e)
	case "conflict, after a result":
		result.NewSuccess().SetName("never seen")
		e := echo.NewConflict()
		e.SetWhat("twice")
		return e
	case "undeclared":
		return errors.New("the disk is full")
	case "nothing":
	case "panic":
		panic("out of cheese")
	case "nil panic":
		var m map[string]int
		//lint:ignore SA5000 it is to panic
		m["a"] = 1
	case "application exception":
		return &rpc.ApplicationException{Type: rpc.InvalidTransform, Message: "as it is"}
	}
	return nil
}

func (h *handler) Notify(_ context.Context, args echo.EchoNotifyArgs) error {
	time.Sleep(time.Duration(args.GetDelayMs()) * time.Millisecond)
	if h.notified != nil {
		h.notified <- strings.Clone(args.GetText())
	}
	if args.GetText() == "fail" {
		return errors.New("nobody sees this")
	}
	return nil
}

func (h *handler) Add(_ context.Context, args echo.EchoAddArgs, result echo.EchoAddResult) error {
	result.SetSuccess(args.GetA() + args.GetB())
	return nil
}

func (h *handler) Fail(ctx context.Context, args echo.EchoFailArgs, result echo.EchoFailResult) error {
	switch args.GetHow() {
	case "wait":
		h.waiting <- struct{}{}
		<-h.release
	case "until cancelled":
		h.waiting <- struct{}{}
		<-ctx.Done()
		h.waiting <- struct{}{}
		return ctx.Err()
	}
	return nil
}

// quiet keeps the log of servers and clients.
type quiet struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (q *quiet) Write(b []byte) (int, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.buf.Write(b)
}

func (q *quiet) String() string {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.buf.String()
}

func (q *quiet) reset() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.buf.Reset()
}

// debugLogger returns a logger that logs records of the level debug, too.
func (q *quiet) debugLogger() *slog.Logger {
	return slog.New(slog.NewTextHandler(q, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

func (q *quiet) logger() *slog.Logger { return slog.New(slog.NewTextHandler(q, nil)) }

// serve runs a server until the test has ended and returns its address. It sets Processor, and
// Logger if that is nil.
func serve(t testing.TB, srv *rpc.Server, h *handler) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	serveOn(t, srv, h, l)
	return l.Addr().String()
}

func serveOn(t testing.TB, srv *rpc.Server, h *handler, l net.Listener) {
	t.Helper()
	if srv.Processor == nil {
		srv.Processor = echo.NewEchoProcessor(h)
	}
	if srv.Logger == nil {
		srv.Logger = new(quiet).logger()
	}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(l) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := srv.Shutdown(ctx); err != nil {
			t.Errorf("Shutdown: %v", err)
		}
		if err := <-served; err != rpc.ErrServerClosed {
			t.Errorf("Serve: %v", err)
		}
	})
}

// unhurried gives a connection a minute, on a busy machine.
const unhurried = rpc.DialTimeout(time.Minute)

func dial(t testing.TB, addr string, opts ...rpc.Option) *rpc.Client {
	t.Helper()
	network := "tcp"
	if strings.HasPrefix(addr, "/") {
		network = "unix"
	}
	c, err := rpc.Dial(context.Background(), network, addr, append([]rpc.Option{rpc.Logger(new(quiet).logger()), unhurried}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// dialRaw opens a connection that is closed when the test has ended.
func dialRaw(t testing.TB, addr string) net.Conn {
	t.Helper()
	nc, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { nc.Close() })
	nc.SetDeadline(time.Now().Add(5 * time.Minute)) // for many exchanges, on a busy machine
	return nc
}

// closes checks that the other side closes the connection without sending anything.
func closes(t *testing.T, nc net.Conn) {
	t.Helper()
	if b, err := io.ReadAll(nc); len(b) > 0 {
		t.Errorf("%d bytes came (%v)", len(b), err)
	} else if ne, ok := err.(net.Error); ok && ne.Timeout() {
		t.Error("the connection stays open")
	}
}
