package rpc_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
)

var bg = context.Background()

// variants holds combinations of the settings of clients and servers.
func variants(t *testing.T, f func(t *testing.T, h *handler, c echo.EchoClient)) {
	for _, v := range []struct {
		name   string
		server *rpc.Server
		client []rpc.Option
	}{
		{"framed", &rpc.Server{}, nil},
		{"unframed", &rpc.Server{}, []rpc.Option{rpc.Unframed}},
		{"recycling", &rpc.Server{Recycle: true}, []rpc.Option{rpc.Recycle}},
		{"unframed, recycling", &rpc.Server{Recycle: true}, []rpc.Option{rpc.Recycle, rpc.Unframed}},
		{"compact", &rpc.Server{}, []rpc.Option{rpc.Protocol(rpc.Compact)}},
		{"compact, unframed, recycling", &rpc.Server{Recycle: true}, []rpc.Option{rpc.Recycle, rpc.Compact, rpc.Unframed}},
		{"THeader", &rpc.Server{}, []rpc.Option{rpc.THeader()}},
		{"THeader, compressed, recycling", &rpc.Server{Recycle: true}, []rpc.Option{rpc.THeader(rpc.Zlib), rpc.Recycle}},
		{"sequential", &rpc.Server{Concurrency: 1}, []rpc.Option{rpc.PoolSize(1)}},
		{"unordered", &rpc.Server{Unordered: true}, []rpc.Option{rpc.PoolSize(1)}},
	} {
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			h := &handler{notified: make(chan string, 10), waiting: make(chan struct{}, 10), release: make(chan struct{})}
			f(t, h, echo.NewEchoClient(dial(t, serve(t, v.server, h), v.client...)))
		})
	}
	for name, way := range httpWays {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := &handler{notified: make(chan string, 10), waiting: make(chan struct{}, 10), release: make(chan struct{})}
			f(t, h, echo.NewEchoClient(dialHTTP(t, way(t, &rpc.Server{}, h), unhurried)))
		})
		t.Run(name+", HTTP/2, recycling", func(t *testing.T) {
			t.Parallel()
			h := &handler{notified: make(chan string, 10), waiting: make(chan struct{}, 10), release: make(chan struct{})}
			f(t, h, echo.NewEchoClient(dialHTTP(t, way(t, &rpc.Server{Recycle: true}, h), http2(t), rpc.Recycle)))
		})
		t.Run(name+", compact", func(t *testing.T) {
			t.Parallel()
			h := &handler{notified: make(chan string, 10), waiting: make(chan struct{}, 10), release: make(chan struct{})}
			f(t, h, echo.NewEchoClient(dialHTTP(t, way(t, &rpc.Server{}, h), unhurried, rpc.Protocol(rpc.Compact))))
		})
	}
}

func TestCalls(t *testing.T) {
	t.Parallel()
	variants(t, func(t *testing.T, h *handler, c echo.EchoClient) {
		for range 3 {
			if _, err := c.Ping(bg, nil); err != nil {
				t.Error(err)
			}
			sum, err := c.Add(bg, func(args echo.EchoAddArgs) { args.SetA(40); args.SetB(2) })
			if err != nil || sum.GetSuccess() != 42 {
				t.Errorf("%v, %v", sum, err)
			}
			version, err := c.Version(bg, nil)
			if err != nil || version.GetSuccess() != "one" {
				t.Errorf("%v, %v", version, err)
			}
			sum.Release()
			version.Release()
		}
		for _, n := range []int{0, 1, 100, 1000, 4095, 4096, 5000, 65535, 65536, 100_000, 1 << 20, testmode.Of(2, 5) << 20} {
			payload := bytes.Repeat([]byte{byte(n), 1, 2, 3, 4, 5, 6}, n/7+1)[:n]
			res, err := c.Echo(bg, func(args echo.EchoEchoArgs) { args.SetPayload(payload) })
			if err != nil || !bytes.Equal(res.GetSuccess(), payload) {
				t.Errorf("%d bytes: %v", n, err)
				continue
			}
			res.Release()
		}
		if err := c.Notify(bg, func(args echo.EchoNotifyArgs) { args.SetText("hello") }); err != nil {
			t.Error(err)
		}
		if got := <-h.notified; got != "hello" {
			t.Errorf("notified of %q", got)
		}
	})
}

func TestErrors(t *testing.T) {
	t.Parallel()
	variants(t, func(t *testing.T, h *handler, c echo.EchoClient) {
		put := func(mode string) (echo.EchoPutResult, error) {
			return c.Put(bg, func(args echo.EchoPutArgs) {
				item := args.NewItem()
				item.SetName("key")
				item.SetData(bytes.Repeat([]byte("x"), 10_000))
				args.SetMode(mode)
			})
		}
		for _, mode := range []string{"link", "fill"} {
			res, err := put(mode)
			if err != nil || res.GetSuccess().GetName() != "key" || len(res.GetSuccess().GetData()) != 10_000 {
				t.Errorf("%s: %v, %v", mode, res, err)
			}
		}
		for _, mode := range []string{"missing, filled", "missing, returned"} {
			var missing echo.NotFound
			if _, err := put(mode); !errors.As(err, &missing) || missing.GetKey() != "key" {
				t.Errorf("%s: %v", mode, err)
			}
		}
		var conflict echo.Conflict
		if _, err := put("conflict, after a result"); !errors.As(err, &conflict) || conflict.GetWhat() != "twice" {
			t.Errorf("conflict: %v", err)
		}
		for mode, want := range map[string]rpc.ApplicationException{
			"undeclared":            {Type: rpc.InternalError, Message: "the disk is full"},
			"nothing":               {Type: rpc.MissingResult, Message: "Echo.put"},
			"panic":                 {Type: rpc.InternalError, Message: concealed},
			"nil panic":             {Type: rpc.InternalError, Message: concealed},
			"application exception": {Type: rpc.InvalidTransform, Message: "as it is"},
		} {
			var ae *rpc.ApplicationException
			if res, err := put(mode); !errors.As(err, &ae) || ae.Type != want.Type || withoutID(ae.Message) != want.Message || res.Valid() {
				t.Errorf("%s: %v", mode, err)
			}
		}
		if _, err := c.Ping(bg, nil); err != nil {
			t.Errorf("the connection afterwards: %v", err)
		}
	})
}

// concealed is the text, without the id, that clients get in place of a panic's.
const concealed = "the server has failed; its log tells why under id "

func withoutID(text string) string {
	if strings.HasPrefix(text, concealed) && len(text) == len(concealed)+16 {
		return concealed
	}
	return text
}

// TestOneway: a client does not wait for the handler of a oneway call, nor get its error.
func TestOneway(t *testing.T) {
	variants(t, func(t *testing.T, h *handler, c echo.EchoClient) {
		h.notified = make(chan string) // so that handlers wait until they are heard
		for _, text := range []string{"fail", "hello"} {
			if err := c.Notify(bg, func(args echo.EchoNotifyArgs) { args.SetText(text) }); err != nil {
				t.Error(err)
			}
		}
		<-h.notified
		<-h.notified
		if _, err := c.Ping(bg, nil); err != nil {
			t.Error(err)
		}
	})
}

func TestConcurrentCalls(t *testing.T) {
	t.Parallel()
	variants(t, func(t *testing.T, h *handler, c echo.EchoClient) {
		errs := make(chan error)
		n := testmode.Of(50, 200)
		for i := range n {
			go func() {
				payload := []byte(strings.Repeat(fmt.Sprint(i, " "), i*i%3000))
				res, err := c.Echo(bg, func(args echo.EchoEchoArgs) { args.SetPayload(payload); args.SetDelayMs(int32(i % 4)) })
				if err == nil && !bytes.Equal(res.GetSuccess(), payload) {
					err = fmt.Errorf("call %d got another one's reply", i)
				}
				errs <- err
			}()
		}
		for range n {
			if err := <-errs; err != nil {
				t.Error(err)
			}
		}
	})
}

// TestExceptionStays: an ApplicationException does not change when the memory in which it was
// received is used again.
func TestExceptionStays(t *testing.T) {
	addr := serve(t, &rpc.Server{}, &handler{})
	c := echo.NewEchoClient(dial(t, addr, rpc.Recycle, rpc.PoolSize(1)))
	_, err := c.Put(bg, func(args echo.EchoPutArgs) { args.NewItem().SetName("key"); args.SetMode("undeclared") })
	var got *rpc.ApplicationException
	if !errors.As(err, &got) {
		t.Fatal(err)
	}
	before := *got
	before.Message = strings.Clone(got.Message)
	fill := func(c echo.EchoClient, n int) {
		res, err := c.Echo(bg, func(args echo.EchoEchoArgs) { args.SetPayload(bytes.Repeat([]byte("X"), n)) })
		if err != nil {
			t.Fatal(err)
		}
		res.Release()
	}
	// The connection goes on in a larger block, and the exception's goes to its pool
	for _, n := range []int{100, 3900, 3900, 9000, 20_000} {
		fill(c, n)
	}
	for range 10 {
		fill(echo.NewEchoClient(dial(t, addr, rpc.Recycle, rpc.PoolSize(1))), 3000)
	}
	if *got != before {
		t.Errorf("%+v became %+v", before, *got)
	}
}
