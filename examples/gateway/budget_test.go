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
	for range 2000 {
		g.memory.mu.Lock()
		n = maxMemory - g.memory.free
		g.memory.mu.Unlock()
		if ok(n) {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	g.t.Fatalf("%d bytes are on loan", n)
}

// TestSlowBodies: bodies that don't arrive take no slots, and little memory.
func TestSlowBodies(t *testing.T) {
	g := startAll(t)
	g.slots = make(chan struct{}, 2)
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
	g := startFor(t, idl, service.Processor(func(_ context.Context, c *dynamic.Call) error {
		v, err := c.Args.GetID(1)
		if err != nil {
			return err
		}
		if c.Method.Name() == "large" {
			return c.Return(strings.Repeat("x", int(v.Int())))
		}
		return c.Return(v)
	}), 10*time.Second)
	g.slots = make(chan struct{}, 2)
	const large = 10 << 20 // more than the buffers of a connection have
	var conns []net.Conn
	for i := range 5 {
		conns = append(conns, g.dial(fmt.Sprintf("GET /large?n=%d HTTP/1.1\r\nHost: x\r\n\r\n", large)))
		g.waitForLoans(func(n int) bool { return n > (i+1)*large })
	}
	g.want("POST", "/echo", "", `{"text": "a"}`, 200, `{"success":"a"}`)

	g.memory.mu.Lock()
	held := g.memory.free - 16<<10
	g.memory.free -= held
	g.memory.mu.Unlock()
	g.want("POST", "/echo", "", `{"text": "b"}`, 200, `{"success":"b"}`)
	busy := g.want("POST", "/echo", "", `{"text": "`+strings.Repeat("b", 16<<10)+`"}`, 503, `{"error":"Service Unavailable","message":"too much memory is in use by other requests"}`)
	if busy.Get("Retry-After") == "" {
		t.Error("it is not said when to try again")
	}
	made := g.want("GET", "/large?n=10000", "", "", 503, `{"error":"Service Unavailable","message":"the call was made, but too much memory is in use for its answer"}`)
	if made.Get("Retry-After") != "" {
		t.Error("a call that was made is to be sent again")
	}
	g.memory.mu.Lock()
	g.memory.free += held
	g.memory.mu.Unlock()
	for _, nc := range conns {
		nc.Close()
	}
	g.waitForLoans(func(n int) bool { return n == 0 })
}

// TestLoan: a loan gets a quarter of what is free at most, and shrinks at any time.
func TestLoan(t *testing.T) {
	b := budget{free: 1000}
	x, y := loan{from: &b}, loan{from: &b}
	for _, step := range []struct {
		of   *loan
		n    int
		ok   bool
		free int
	}{
		{&x, 251, false, 1000}, {&x, 250, true, 750}, {&x, 251, false, 750}, {&y, 188, false, 750}, {&y, 187, true, 563},
		{&x, 10, true, 803}, {&x, 10, true, 803}, {&y, 248, false, 803}, {&y, 247, true, 743}, {&x, 0, true, 753}, {&y, 0, true, 1000},
	} {
		if ok := step.of.set(step.n); ok != step.ok || b.free != step.free {
			t.Errorf("a loan of %d: %v, %d are free; want %v, %d", step.n, ok, b.free, step.ok, step.free)
		}
	}
}
