package rpc_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http/httptest"
	"os"
	"time"

	"github.com/nocopythrift/nocopythrift/examples/kv"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// serveKV serves srv on a port of this host, with a store unless it has a Processor, and returns a
// client of it. end stops both.
func serveKV(srv *rpc.Server, opts ...rpc.Option) (_ kv.KeyValueClient, conn *rpc.Client, end func()) {
	if srv.Processor == nil {
		srv.Processor = kv.NewKeyValueProcessor(new(store))
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	go srv.Serve(l)
	conn, err = rpc.Dial(context.Background(), "tcp", l.Addr().String(), opts...)
	if err != nil {
		panic(err)
	}
	return kv.NewKeyValueClient(conn), conn, func() { conn.Close(); srv.Close() }
}

// A server with a certificate, and a client that knows who has signed it. With ClientAuth and
// ClientCAs the server asks for the client's certificate, too, and ConnContext sees it.
func ExampleTLS() {
	web := httptest.NewTLSServer(nil) // has a certificate for 127.0.0.1
	defer web.Close()
	signers := x509.NewCertPool()
	signers.AddCert(web.Certificate())

	srv := &rpc.Server{TLS: &tls.Config{Certificates: web.TLS.Certificates}}
	c, _, end := serveKV(srv, rpc.TLS(&tls.Config{RootCAs: signers}))
	defer end()
	_, err := c.Create(context.Background(), func(args kv.KeyValueCreateArgs) { args.SetKey([]byte("key")) })
	fmt.Println(err)
	// Output: <nil>
}

// Authentication by a token that the IDL does not know: a client's interceptor adds it to each
// call, a server's looks at it. Servers that do not know the field skip it.
func ExampleCall_SetText() {
	const token = 32001                      // the id of a field that no method has
	const notAllowed rpc.ExceptionType = 403 // by which clients tell it; Thrift's are below 100
	guard := func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
		if t, ok := c.Text(token); !ok || t != "open sesame" {
			return &rpc.ApplicationException{Type: notAllowed, Message: "who are you?"}
		}
		return next(ctx, c)
	}
	identify := func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
		c.SetText(token, "open sesame")
		return next(ctx, c)
	}
	for _, opts := range [][]rpc.Option{{rpc.Interceptors(identify)}, nil} {
		c, _, end := serveKV(&rpc.Server{Interceptors: []rpc.Interceptor{guard}}, opts...)
		_, err := c.Create(context.Background(), func(args kv.KeyValueCreateArgs) { args.SetKey([]byte("key")) })
		var refused *rpc.ApplicationException
		fmt.Println(err, errors.As(err, &refused) && refused.Type == notAllowed)
		end()
	}
	// Output:
	// <nil> false
	// rpc: exception type 403: who are you? true
}

// All calls in a log, at most 100 a second of each method and outcome.
func ExampleLogCalls() {
	text := slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		switch a.Key {
		case slog.TimeKey, "method", "took", "peer": // some differ each time
			return slog.Attr{}
		}
		return a
	}})
	calls := rpc.LogCalls(slog.New(rpc.SampleLogs(text, 100)))
	c, _, end := serveKV(&rpc.Server{Interceptors: []rpc.Interceptor{calls}})
	defer end()
	key := []byte("key")
	c.Create(context.Background(), func(args kv.KeyValueCreateArgs) { args.SetKey(key) })
	c.Create(context.Background(), func(args kv.KeyValueCreateArgs) { args.SetKey(key) })
	// Output:
	// level=INFO msg="rpc: KeyValue.create: ok" args.key=0x6b6579 result=map[]
	// level=WARN msg="rpc: KeyValue.create: AlreadyExists" args.key=0x6b6579 err.key=0x6b6579
}

// The server's handlers notice when their client's time is over.
func ExampleDeadlines() {
	p := kv.NewKeyValueProcessor(new(store)).WithHandler(func(ctx context.Context, c *rpc.Call) error {
		deadline, ok := ctx.Deadline()
		fmt.Println(ok && time.Until(deadline) < time.Minute)
		return nil
	}, "update")
	c, _, end := serveKV(&rpc.Server{Processor: p, Deadlines: true}, rpc.Deadlines)
	defer end()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	_, err := c.Update(ctx, nil)
	fmt.Println(err)
	// Output:
	// true
	// <nil>
}

// A token for each call, and a header of the reply.
func ExampleSetHeader() {
	p := kv.NewKeyValueProcessor(new(store)).WithHandler(func(ctx context.Context, c *rpc.Call) error {
		if rpc.Header(ctx, "token") != "open sesame" {
			return &rpc.ApplicationException{Type: 403, Message: "not allowed"}
		}
		return rpc.SetReplyHeader(ctx, "served-by", "host-7")
	}, "update")
	c, _, end := serveKV(&rpc.Server{Processor: p})
	defer end()
	var reply rpc.ReplyHeaders
	ctx := rpc.ReceiveHeaders(context.Background(), &reply)
	_, err := c.Update(rpc.SetHeader(ctx, "token", "open sesame"), nil)
	fmt.Println(err, reply.Get("served-by"))
	_, err = c.Update(ctx, nil)
	fmt.Println(err)
	// Output:
	// <nil> host-7
	// rpc: exception type 403: not allowed
}

// A server that says how it is, and a probe.
func ExampleCheckHealth() {
	health := new(rpc.Health)
	_, conn, end := serveKV(&rpc.Server{Health: health})
	defer end()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	fmt.Println(rpc.CheckHealth(ctx, conn))
	health.Set(rpc.StatusStopping)
	err := rpc.CheckHealth(ctx, conn)
	var unhealthy *rpc.UnhealthyError
	fmt.Println(err, errors.As(err, &unhealthy))
	// Output:
	// <nil>
	// rpc: the server is STOPPING true
}

// Serve returns as soon as Shutdown begins; Shutdown returns when all replies are written. A
// program that ends must wait for Shutdown.
func ExampleServer_Shutdown() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	srv := &rpc.Server{Processor: kv.NewKeyValueProcessor(new(store))}
	stop := make(chan os.Signal, 1) // as signal.Notify fills it
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		<-stop
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := srv.Shutdown(ctx); err != nil {
			srv.Close() // some handlers did not return in time
		}
	}()
	stop <- os.Interrupt
	err = srv.Serve(l)
	<-stopped
	fmt.Println(errors.Is(err, rpc.ErrServerClosed))
	// Output: true
}
