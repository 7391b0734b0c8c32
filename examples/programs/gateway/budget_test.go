package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/nocopythrift/nocopythrift/nocopy/dynamic"
)

// dial returns a connection to the gateway on which a request was sent.
func (g *testGateway) dial(request string) net.Conn {
	g.t.Helper()
	nc, err := net.Dial("tcp", strings.TrimPrefix(g.url, "http://"))
	if err != nil {
		g.t.Fatal(err)
	}
	g.t.Cleanup(func() { nc.Close() })
	nc.(*net.TCPConn).SetReadBuffer(4 << 10)
	if _, err := io.WriteString(nc, request); err != nil {
		g.t.Fatal(err)
	}
	return nc
}

// waitForLoans returns when requests have so much memory on loan.
func (g *testGateway) waitForLoans(ok func(n int) bool) {
	g.t.Helper()
	n := 0
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if n = g.Stats().Bytes; ok(n) {
			return
		}
	}
	g.t.Fatalf("%d bytes are on loan", n)
}

// TestSlowBodies: bodies that don't arrive take no slots, and little memory.
func TestSlowBodies(t *testing.T) {
	g := startAll(t, func(g *site) { g.MaxCalls = 2 })
	const slow = 10
	var conns []net.Conn
	for range slow {
		conns = append(conns, g.dial("POST /v1/orders HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n{"))
	}
	g.waitForLoans(func(n int) bool { return n == slow*firstBytes })
	for range 3 {
		g.want("GET", "/v1/keys/a", "", "", 404, `{"error":"NotFound","exception":{"key":"YQ=="}}`)
		g.want("POST", "/v1/orders", "", `{"customer": "Ada"}`, 422, `{"error":"Refused","exception":{"why":"an order without lines"}}`)
	}
	for _, nc := range conns {
		nc.Close()
	}
	g.waitForLoans(func(n int) bool { return n == 0 })
}

// TestSlowReaders: answers that nobody reads take no slots. When they have taken most of the
// memory, there is still room for small bodies and answers.
func TestSlowReaders(t *testing.T) {
	const idl = `service S {
  string large(1: i32 n (api.query)) (api.get = "/large")
  string echo(1: string text) (api.post = "/echo")
}`
	schema, err := dynamic.LoadText(map[string]string{"test.thrift": idl})
	if err != nil {
		t.Fatal(err)
	}
	service, err := schema.Service("S")
	if err != nil {
		t.Fatal(err)
	}
	p := service.Processor(func(_ context.Context, c *dynamic.Call) error {
		v, err := c.Args.GetByID(1)
		if err != nil {
			return err
		}
		if c.Method.Name() == "large" {
			return c.Return(strings.Repeat("x", int(v.Int())))
		}
		return c.Return(v)
	})
	g := startFor(t, idl, p, time.Minute, func(g *site) { g.MaxCalls = 2 })
	const large = 10 << 20 // more than the buffers of a connection have
	var conns []net.Conn
	for i := range 5 {
		conns = append(conns, g.dial(fmt.Sprintf("GET /large?n=%d HTTP/1.1\r\nHost: x\r\n\r\n", large)))
		g.waitForLoans(func(n int) bool { return n > (i+1)*large })
	}
	g.want("POST", "/echo", "", `{"text": "a"}`, 200, `{"success":"a"}`)
	for _, nc := range conns {
		nc.Close()
	}
	g.waitForLoans(func(n int) bool { return n == 0 })

	g = startFor(t, idl, p, time.Minute, func(g *site) { g.MaxMemory = 16 << 10 })
	g.want("POST", "/echo", "", `{"text": "b"}`, 200, `{"success":"b"}`)
	busy := g.want("POST", "/echo", "", `{"text": "`+strings.Repeat("b", 16<<10)+`"}`, 503, `{"error":"Service Unavailable","message":"too much memory is in use by other requests"}`)
	if busy.Get("Retry-After") == "" {
		t.Error("it is not said when to try again")
	}
	made := g.want("GET", "/large?n=10000", "", "", 503, `{"error":"Service Unavailable","message":"the call was made, but too much memory is in use for its answer"}`)
	if made.Get("Retry-After") != "" {
		t.Error("a call that was made is to be sent again")
	}
}
