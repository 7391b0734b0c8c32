// Command provoke prints the errors that docs/troubleshooting.md explains, one after the other, each
// followed by a zero byte. TestTroubleshooting builds it in a module with the order of
// getting-started.md.
package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"

	"example.com/shop/order"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/dynamic"
	"github.com/nocopythrift/nocopythrift/nocopy/nocopyjson"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/rpctest"
)

// say prints what an error, a panic or a log says.
func say(text any) { fmt.Printf("%v\x00", text) }

// panics says with what f panics.
func panics(f func()) {
	defer func() { say(fmt.Sprint("panic: ", recover())) }()
	f()
}

var ctx = context.Background()

func newOrder() order.Order {
	o := order.NewOrder()
	o.SetID(7)
	o.SetCustomer("Ada")
	o.NewLines(1).At(0).SetArticle("engine")
	return o
}

func main() {
	if len(os.Args) > 1 {
		if debug(); os.Args[1] == "fault" {
			fault()
		}
		return
	}
	slog.SetDefault(slog.New(slog.DiscardHandler))
	log.SetOutput(io.Discard)
	parsing()
	careless()
	calls()
	answers()
	servers()
}

func parsing() {
	o := newOrder()
	wire := o.Message().AppendTo(nil)
	parse := func(b []byte, opts ...nocopy.Option) {
		_, err := order.ParseOrder(b, opts...)
		say(err)
	}
	parse(nil)
	parse(wire[:40])
	parse([]byte{0})                                                         // only a STOP
	parse(append([]byte{0, 0, 0, byte(len(wire))}, wire...))                 // a frame
	parse([]byte("\x80\x01\x00\x01\x00\x00\x00\x03get\x00\x00\x00\x01\x00")) // a call
	parse(o.Message().AppendCompact(nil))
	parse([]byte(`{"id": 7}`))
	parse(wire, nocopy.Compact)
	parse(append(wire, 0))
	parse(wire, nocopy.Limits{MaxBytes: 8})
	parse(wire, nocopy.Limits{MaxIndex: 8})
	parse(nested(70))
	parse([]byte("\x0a\x00\x01\x00\x00\x00\x00\x00\x00\x00\x07\x0b\x00\x02\x00\x00\x00\x01\xff\x00"), nocopy.ValidUTF8)
	parse([]byte("\x0a\x00\x01\x00\x00\x00\x00\x00\x00\x00\x07\x0b\x00\x02\xff\xff\xff\xff\x00"))
	parse([]byte("\x0a\x00\x01\x00\x00\x00\x00\x00\x00\x00\x07\x07\x00\x02\x00"))
	parse(wire, nocopy.RequireIndex)
	_, err := nocopy.Peek(wire, 9)
	say(err)
	for _, err := range nocopy.NewFrameDecoder[order.Order](bytes.NewReader(wire)).All() {
		say(err)
	}
	var in order.Order
	say(nocopyjson.Unmarshal([]byte(`{"id": 7, "custommer": "Ada"}`), &in))
	say(nocopyjson.Unmarshal([]byte(`{"customer": "Ada"}`), &in))
	say(nocopyjson.Unmarshal([]byte(`{"id": "x"}`), &in))
	say(nocopyjson.Unmarshal([]byte(`{"id": 7,}`), &in))
	_, err = dynamic.LoadText(map[string]string{"a.thrift": "struct A { 1: B b }"})
	say(err)
}

// nested returns an order that has a field outside of the IDL with n structs in each other.
func nested(n int) []byte {
	b := []byte("\x0a\x00\x01\x00\x00\x00\x00\x00\x00\x00\x07")
	b = append(b, bytes.Repeat([]byte{12, 0, 100}, n)...)
	return append(b, make([]byte, n+1)...)
}

func careless() {
	panics(func() {
		o := newOrder()
		lines := o.GetLines()
		o.Release()
		lines.Len()
	})
	panics(func() { order.NewOrder().GetLabels().Put("a", "b") })
	panics(func() { newOrder().GetLines().At(2) })
	panics(func() {
		o := newOrder()
		o.GetLines().At(0).Release()
	})
	panics(func() {
		var c *rpc.Client
		order.NewShopClient(c).Get(ctx, nil)
	})
	panics(func() { new(nocopy.Message).Bytes() })
	panics(func() { order.NewShopClient(nil) })
	panics(func() { (&rpc.Server{}).Serve(nil) })
}

// listen returns a listener, and calls f with each connection.
func listen(f func(net.Conn)) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				f(c)
			}()
		}
	}()
	return l.Addr().String()
}

// call calls get, and says the error.
func call(addr string, opts ...rpc.Option) {
	c, err := rpc.Dial(ctx, "tcp", addr, opts...)
	if err != nil {
		say(err)
		return
	}
	defer c.Close()
	_, err = order.NewShopClient(c).Get(ctx, nil)
	say(err)
}

func calls() {
	web := httptest.NewServer(http.NotFoundHandler())
	secure := httptest.NewTLSServer(nil)
	silent := listen(func(c net.Conn) { c.Read(make([]byte, 1)) })
	after := func(text string) string {
		return listen(func(c net.Conn) {
			c.Read(make([]byte, 100))
			io.WriteString(c, text)
		})
	}
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	closed.Close()

	call(closed.Addr().String())
	call(silent)
	call(web.Listener.Addr().String())
	call(after("\x15\x03\x01\x00\x02\x02\x46"))
	call(after("\x03\x00\x00\x00\x05wrong"))
	call(secure.Listener.Addr().String())
	roots := x509.NewCertPool()
	roots.AddCert(secure.Certificate())
	call(secure.Listener.Addr().String(), rpc.TLS(&tls.Config{}))
	call(silent, rpc.TLS(&tls.Config{RootCAs: roots, ServerName: "example.com"}))
	_, err = rpc.DialHTTP("localhost:9090")
	say(err)
	conns, err := rpc.DialHTTP(web.URL)
	if err != nil {
		panic(err)
	}
	_, err = order.NewShopClient(conns).Get(ctx, nil)
	say(err)

	c, stop := rpctest.Start(serverOf(shop{}))
	defer stop()
	ended, cancel := context.WithTimeout(ctx, 0)
	defer cancel()
	_, err = order.NewShopClient(c).Get(ended, nil)
	say(err)
	_, err = order.NewShopClient(c).Get(rpc.SetHeader(ctx, "Content-Type", "x"), nil)
	say(err)
	c.Close()
	_, err = order.NewShopClient(c).Get(ctx, nil)
	say(err)

	gone := listen(func(c net.Conn) { c.Read(make([]byte, 1000)) })
	one, err := rpc.Dial(ctx, "tcp", gone, rpc.OneConnection)
	if err != nil {
		panic(err)
	}
	_, err = order.NewShopClient(one).Get(ctx, nil)
	say(err)
	_, err = order.NewShopClient(one).Get(ctx, nil)
	say(err)
}

type shop struct {
	order.UnimplementedShopHandler
	do func(result order.ShopGetResult) error
}

func (s shop) Get(_ context.Context, _ order.ShopGetArgs, result order.ShopGetResult) error {
	if s.do == nil {
		return nil
	}
	return s.do(result)
}

func serverOf(s shop) *rpc.Server { return &rpc.Server{Processor: order.NewShopProcessor(s)} }

func answers() {
	for _, do := range []func(result order.ShopGetResult) error{
		nil,
		func(order.ShopGetResult) error { return errors.New("no database") },
		func(order.ShopGetResult) error { panic("a mistake") },
		func(r order.ShopGetResult) error { r.NewMissing().SetID(7); return nil },
		func(r order.ShopGetResult) error {
			o := r.NewSuccess()
			o.SetID(7)
			o.SetCustomer(string(make([]byte, 1<<20)))
			return nil
		},
	} {
		srv := serverOf(shop{do: do})
		srv.Logger = slog.New(slog.NewTextHandler(&said, nil))
		c, stop := rpctest.Start(srv, rpc.MaxFrame(1<<19))
		_, err := order.NewShopClient(c).Get(ctx, nil)
		say(err)
		stop()
	}
	c, stop := rpctest.Start(&rpc.Server{Processor: order.NewShopProcessor(order.UnimplementedShopHandler{}), Logger: slog.New(slog.NewTextHandler(&said, nil))})
	_, err := order.NewShopClient(c).Get(ctx, nil)
	say(err)
	_, err = order.NewShopClient(rpc.MultiplexedCaller(c, "Stock")).Get(ctx, nil)
	say(err)
	say(rpc.CheckHealth(ctx, c))
	_, err = dynamic.Describe(ctx, c)
	say(err)
	stop()
	busy := &rpc.Server{MaxInFlight: 1, MaxQueued: -1, Unordered: true, Logger: slog.New(slog.NewTextHandler(&said, nil))}
	busy.Processor = order.NewShopProcessor(shop{do: func(order.ShopGetResult) error {
		_, err := order.NewShopClient(c).Get(ctx, nil) // one call too many
		say(err)
		return err
	}})
	c, stop = rpctest.Start(busy)
	_, err = order.NewShopClient(c).Get(ctx, nil)
	say(err)
	stop()
	say(said.String())
}

var said bytes.Buffer

// servers says what servers log.
func servers() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	logs := make(chan string, 100)
	srv := serverOf(shop{})
	srv.Logger = slog.New(slog.NewTextHandler(lines(logs), nil))
	srv.Wires = rpc.WireFramed
	srv.MaxFrame = 1 << 10
	served := make(chan error, 1)
	go func() { served <- srv.Serve(l) }()
	for _, sent := range []string{
		"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
		"\x16\x03\x01\x00\xf8\x01\x00\x00\xf4\x03\x03",
		"\x01\x00\x00\x00\x05PLAIN",
		"\x80\x01\x00\x01\x00\x00\x00\x03get\x00\x00\x00\x01\x00",
		"\x00\x00\x00\x20\x10\x00\x00\x00\x00\x00\x00\x01" + string(make([]byte, 24)),
		"what is this, a protocol?",
		"\x00\x10\x00\x00\x80\x01\x00\x01\x00\x00\x00\x03get\x00\x00\x00\x01\x00", // the last one, since it gives two lines
	} {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			panic(err)
		}
		io.WriteString(c, sent)
		c.(*net.TCPConn).CloseWrite()
		say(<-logs)
		c.Close()
	}
	srv.Close()
	say(<-served)
}

type lines chan string

func (l lines) Write(p []byte) (int, error) {
	l <- string(p)
	return len(p), nil
}

// fault ends the program, if it is built with nocopydebug on Linux: it reads a string whose memory
// was recycled.
func fault() {
	wire := newOrder().Message().Bytes()
	in, err := order.ReadOrder(bytes.NewReader(wire), len(wire), nocopy.Recycle)
	if err != nil {
		panic(err)
	}
	customer := in.GetCustomer()
	in.Release()
	say(customer)
}

// debug says what the build tag nocopydebug finds.
func debug() {
	panics(func() {
		o := newOrder()
		o.Release()
		o.GetID()
	})
	panics(func() {
		o := newOrder()
		o.Release()
		o.Release()
	})
	panics(func() {
		o := newOrder()
		line := o.GetLines().At(0)
		o.NewLines(1)
		line.SetArticle("oil")
	})
	panics(func() {
		o := order.NewOrder()
		o.SetID(7)
		o.NewLines(1)
		o.Message().Bytes()
	})
}
