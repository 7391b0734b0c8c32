package rpc_test

import (
	"bytes"
	"context"
	"errors"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
)

// through returns a function that carries messages to a server in memory.
func through(srv *rpc.Server) func(context.Context, *rpc.Method, []byte) ([]byte, error) {
	return func(ctx context.Context, _ *rpc.Method, call []byte) ([]byte, error) {
		r := httptest.NewRequest("POST", "/", bytes.NewReader(call)).WithContext(ctx)
		r.Header.Set("Content-Type", "application/x-thrift")
		w := httptest.NewRecorder()
		srv.ServeHTTP(w, r)
		return w.Body.Bytes(), nil
	}
}

// TestNewCaller: a program's own Caller makes all kinds of calls, with interceptors, deadlines,
// fields and in both protocols. Calls return the errors of its function.
func TestNewCaller(t *testing.T) {
	t.Parallel()
	h := &handler{notified: make(chan string, 1)}
	srv := &rpc.Server{Processor: rpc.Multiplexed(map[string]*rpc.Processor{"": echo.NewEchoProcessor(h), "s": echo.NewEchoProcessor(h)})}
	tries := 0
	count := func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
		tries++
		c.SetText(77, "more")
		return next(ctx, c)
	}
	for i, opts := range [][]rpc.Option{nil, {rpc.Recycle, rpc.Lazy}, {rpc.Protocol(rpc.Compact)}, {rpc.Deadlines, rpc.Interceptors(rpc.Retry(rpc.RetryPolicy{MinPause: -1}), count)}} {
		retries := i == 3
		lost := 0
		var sent []byte
		carry := func(ctx context.Context, m *rpc.Method, call []byte) ([]byte, error) {
			if lost--; lost >= 0 {
				return nil, errors.Join(rpc.ErrNotSent, errors.New("the queue is full"))
			}
			sent = bytes.Clone(call)
			return through(srv)(ctx, m, call)
		}
		conn := rpc.NewCaller(carry, opts...)
		for _, caller := range []rpc.Caller{conn, rpc.MultiplexedCaller(conn, "s")} {
			c := echo.NewEchoClient(caller)
			ctx, cancel := context.WithTimeout(bg, time.Hour)
			sum, err := c.Add(ctx, func(args echo.EchoAddArgs) { args.SetA(40); args.SetB(2) })
			if err != nil || sum.GetSuccess() != 42 {
				t.Errorf("%v, %v", sum, err)
			}
			sum.Release()
			if retries && !(bytes.Contains(sent, []byte(rpc.TimeoutKey)) && bytes.Contains(sent, []byte("more"))) {
				t.Errorf("sent %q", sent)
			}
			put, err := c.Put(ctx, func(args echo.EchoPutArgs) { args.SetMode("link"); args.NewItem().SetData(make([]byte, 100_000)) })
			if err != nil || len(put.GetSuccess().GetData()) != 100_000 {
				t.Error(err)
			}
			_, err = c.Put(ctx, func(args echo.EchoPutArgs) { args.SetMode("missing, returned") })
			if _, ok := errors.AsType[echo.NotFound](err); !ok {
				t.Errorf("an exception is %v", err)
			}
			_, err = c.Put(ctx, func(args echo.EchoPutArgs) { args.SetMode("undeclared") })
			if e, ok := errors.AsType[*rpc.ApplicationException](err); !ok || e.Type != rpc.InternalError {
				t.Errorf("an error is %v", err)
			}
			if err := c.Notify(ctx, func(args echo.EchoNotifyArgs) { args.SetText("hello") }); err != nil || <-h.notified != "hello" {
				t.Error(err)
			}
			lost, tries = 2, 0
			_, err = c.Add(ctx, nil)
			if retries != (err == nil) || retries && tries != 3 ||
				!retries && (!errors.Is(err, rpc.ErrNotSent) || !strings.HasPrefix(err.Error(), "rpc: ") || !strings.Contains(err.Error(), "the queue is full")) {
				t.Errorf("%d tries, %v", tries, err)
			}
			lost = 0
			cancel()
		}
	}
}

// TestNewCallerReplies: anything else than the reply gives the call an error.
func TestNewCallerReplies(t *testing.T) {
	t.Parallel()
	good := strict(reply, "add", 1, []byte{10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5, 0})
	for _, c := range []struct {
		name, want string
		reply      []byte
	}{
		{"good", "", good},
		{"nothing", "unexpected EOF", nil},
		{"half of it", "unexpected EOF", good[:len(good)-3]},
		{"a frame", "bad reply", frame(good)},
		{"two", "bytes after the end of the message", append(good[:len(good):len(good)], good...)},
		{"a call", "invalid message type", strict(call, "add", 1, []byte{0})},
		{"of another call", "bad sequence id: reply 2 to call 1", strict(reply, "add", 2, []byte{0})},
		{"of another method", "wrong method name", strict(reply, "ping", 1, []byte{0})},
		{"without a result", "missing result", strict(reply, "add", 1, []byte{0})},
		{"HTML", "bad reply", []byte("<html>")},
		{"too large", "limit exceeded: 1027 bytes, more than the option rpc.MaxFrame = 500", append(good[:len(good):len(good)], make([]byte, 1000)...)},
	} {
		caller := rpc.NewCaller(func(context.Context, *rpc.Method, []byte) ([]byte, error) { return c.reply, nil }, rpc.MaxFrame(500))
		sum, err := echo.NewEchoClient(caller).Add(bg, nil)
		if c.want == "" && (err != nil || sum.GetSuccess() != 5) || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	exactly := rpc.NewCaller(func(context.Context, *rpc.Method, []byte) ([]byte, error) { return good, nil }, rpc.MaxFrame(len(good)))
	if _, err := echo.NewEchoClient(exactly).Add(bg, nil); err != nil {
		t.Error("a reply of MaxFrame bytes: ", err)
	}
	if _, err := echo.NewEchoClient(rpc.NewCaller(through(&rpc.Server{Processor: echo.NewEchoProcessor(&handler{})}), rpc.Limits(nocopy.Limits{MaxBytes: 5}))).Version(bg, nil); !errors.Is(err, nocopy.ErrLimit) {
		t.Error(err)
	}
}
