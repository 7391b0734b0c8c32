package rpc_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
)

// readMessage reads one message, framed or not, and returns its type, name, sequence id and
// struct.
func readMessage(t *testing.T, nc net.Conn, isFramed bool) (typ byte, name string, seqid int, body []byte) {
	t.Helper()
	read := func(n int) []byte {
		b := make([]byte, n)
		if _, err := io.ReadFull(nc, b); err != nil {
			t.Fatalf("no message: %v", err)
		}
		return b
	}
	rest := -1
	if isFramed {
		rest = int(binary.BigEndian.Uint32(read(4)))
	}
	head := read(8)
	n := int(binary.BigEndian.Uint32(head[4:]))
	name = string(read(n))
	seqid = int(int32(binary.BigEndian.Uint32(read(4))))
	if rest >= 0 {
		return head[3], name, seqid, read(rest - 12 - n)
	}
	return head[3], name, seqid, nil
}

// TestBareNames: replies carry the name of the method alone, for all services that the client has
// put before it, and for all faults.
func TestBareNames(t *testing.T) {
	t.Parallel()
	h := &handler{}
	echoes, base := echo.NewEchoProcessor(h), echo.NewBaseProcessor(h)
	item := echo.NewEchoPutArgs()
	putArgs := func(mode string) []byte {
		item.SetMode(mode)
		return item.Message().Bytes()
	}
	odd := &rpc.Method{Service: "Odd", Name: "a:b", Args: echo.EchoAddArgsDesc, Result: echo.EchoAddResultDesc}
	oddProcessor := rpc.NewProcessor("Odd", nil, odd.HandledBy(func(context.Context, *rpc.Call) error { return errors.New("odd") }))
	multi := rpc.Multiplexed(map[string]*rpc.Processor{"E": echoes, "B": base, "": base, "n:s": base})
	for _, c := range []struct {
		what      string
		processor *rpc.Processor
		typ       byte
		method    string
		args      []byte
		name      string
		want      byte
	}{
		{"a result", multi, call, "E:add", addArgs(1, 2), "add", reply},
		{"a service with a colon", multi, call, "n:s:ping", []byte{0}, "ping", reply},
		{"no service", multi, call, "ping", []byte{0}, "ping", reply},
		{"an unknown method", multi, call, "E:nope", []byte{0}, "nope", exception},
		{"an unknown method without a service", multi, call, "nope", []byte{0}, "nope", exception},
		{"an unknown oneway method", multi, oneway, "E:nope", []byte{0}, "nope", exception},
		{"a method of another service", multi, call, "B:add", []byte{0}, "add", exception},
		{"an unknown service", multi, call, "X:add", []byte{0}, "add", exception},
		{"several colons", multi, call, "X:Y::add", []byte{0}, "add", exception},
		{"a colon alone", multi, call, ":", []byte{0}, "", exception},
		{"a colon at the beginning", multi, call, ":add", []byte{0}, "add", exception},
		{"a colon at the end", multi, call, "E:", []byte{0}, "", exception},
		{"no name", multi, call, "", []byte{0}, "", exception},
		{"a service where there are none", echoes, call, "E:add", []byte{0}, "add", exception},
		{"a reply", multi, reply, "E:add", []byte{0}, "add", exception},
		{"a reply of an unknown method", multi, reply, "E:nope", []byte{0}, "nope", exception},
		{"no message type", multi, 77, "E:add", []byte{0}, "add", exception},
		{"bad args", multi, call, "E:add", []byte{9, 0, 1, 0}, "add", exception},
		{"bad args of an unknown method", multi, call, "E:nope", []byte{9, 0, 1, 0}, "nope", exception},
		{"a required argument missing", multi, call, "E:put", []byte{0}, "put", exception},
		{"a request over the limit", multi, call, "E:echo", bigArgs(5000), "echo", exception},
		{"one of an unknown method", multi, call, "X:nope", bigArgs(5000), "nope", exception},
		{"an error", multi, call, "E:put", putArgs("undeclared"), "put", exception},
		{"an ApplicationException", multi, call, "E:put", putArgs("application exception"), "put", exception},
		{"a declared exception", multi, call, "E:put", putArgs("missing, returned"), "put", reply},
		{"a panic", multi, call, "E:put", putArgs("panic"), "put", exception},
		{"a name with a colon", oddProcessor, call, "a:b", []byte{0}, "a:b", exception},
		{"a name with a colon, as a reply", oddProcessor, reply, "a:b", []byte{0}, "a:b", exception},
		{"a name with a colon, bad args", oddProcessor, call, "a:b", []byte{9, 0, 1, 0}, "a:b", exception},
		{"a name with a colon of a service", rpc.Multiplexed(map[string]*rpc.Processor{"O": oddProcessor}), call, "O:a:b", []byte{0}, "a:b", exception},
	} {
		t.Run(c.what, func(t *testing.T) {
			addr := serve(t, &rpc.Server{Processor: c.processor, MaxFrame: 4000}, h)
			for _, isFramed := range []bool{true, false} {
				nc := dialRaw(t, addr)
				b := strict(c.typ, c.method, 7, c.args)
				if isFramed {
					b = frame(b)
				}
				if send(t, nc, b); !isFramed && c.what == "bad args of an unknown method" {
					nc.(*net.TCPConn).CloseWrite()
				}
				typ, name, seqid, _ := readMessage(t, nc, isFramed)
				if typ != c.want || name != c.name || seqid != 7 {
					t.Errorf("framed %v: the reply is of type %d, to %q, %d", isFramed, typ, name, seqid)
				}
			}
		})
	}
}

func bigArgs(n int) []byte {
	args := echo.NewEchoEchoArgs()
	args.SetPayload(make([]byte, n))
	return args.Message().Bytes()
}

// TestOverTheLimit: a request that is too large is answered, also to a client that reads only when
// it has written all of it.
func TestOverTheLimit(t *testing.T) {
	t.Parallel()
	most := testmode.Of(4, 16) << 20
	setting := fmt.Sprint("rpc.Server.MaxFrame = ", most)
	q := new(quiet)
	addr := serve(t, &rpc.Server{Logger: q.logger(), MaxFrame: most}, &handler{})
	for i, opts := range [][]rpc.Option{nil, {rpc.Unframed}, {rpc.Compact}, {rpc.Compact, rpc.Unframed}, {rpc.THeader()}} {
		c := echo.NewEchoClient(dial(t, addr, append(opts, rpc.PoolSize(1))...))
		for _, size := range []int{most + 1<<20, most * 5 / 2} {
			if size > 2*most && i > 1 && !testmode.Long {
				continue
			}
			_, err := c.Echo(bg, func(args echo.EchoEchoArgs) { args.SetPayload(make([]byte, size)) })
			var ae *rpc.ApplicationException
			if !errors.As(err, &ae) || ae.Type != rpc.ProtocolError || !strings.Contains(ae.Message, setting) {
				t.Errorf("%d bytes: %v", size, err)
			}
			c.Ping(bg, nil) // may still meet the connection that the server is closing
			unharmed(t, c)
		}
	}
	logs(t, q, setting)
	logs(t, q, "peer=127.0.0.1")
	for _, isFramed := range []bool{true, false} {
		t.Run(fmt.Sprint(isFramed), func(t *testing.T) {
			nc := dialRaw(t, addr)
			b := strict(call, "echo", 9, bigArgs(most*5/4))
			if isFramed {
				b = frame(b)
			}
			begun := time.Now()
			if n, err := nc.Write(b); err != nil {
				if time.Since(begun) > 400*time.Millisecond {
					return // the server reads the rest for half a second, and no longer
				}
				t.Errorf("framed %v: %d bytes were taken: %v", isFramed, n, err)
			}
			typ, name, seqid, _ := readMessage(t, nc, isFramed)
			if typ != exception || name != "echo" || seqid != 9 {
				t.Errorf("framed %v: the reply is of type %d, to %q, %d", isFramed, typ, name, seqid)
			}
		})
	}
}

// TestOverTheLimitBehindCalls: calls under way are answered before a request that is too large.
func TestOverTheLimitBehindCalls(t *testing.T) {
	h := &handler{waiting: make(chan struct{}, 1), release: make(chan struct{})}
	nc := dialRaw(t, serve(t, &rpc.Server{MaxFrame: 4000}, h))
	send(t, nc, frame(strict(call, "fail", 1, []byte("\x0b\x00\x01\x00\x00\x00\x04wait\x00"))))
	<-h.waiting
	send(t, nc, frame(strict(call, "echo", 2, bigArgs(5000))))
	time.AfterFunc(20*time.Millisecond, func() { close(h.release) })
	expect(t, nc, frame(strict(reply, "fail", 1, []byte{0})))
	if typ, name, seqid, _ := readMessage(t, nc, true); typ != exception || name != "echo" || seqid != 2 {
		t.Errorf("the reply is of type %d, to %q, %d", typ, name, seqid)
	}
	send(t, nc, frame(strict(call, "add", 3, addArgs(1, 2))))
	expect(t, nc, frame(strict(reply, "add", 3, sumResult(3))))
}

// TestHugePromise: a frame that promises more than comes keeps the connection no longer than a
// moment.
func TestHugePromise(t *testing.T) {
	t.Parallel()
	addr := serve(t, &rpc.Server{ReadTimeout: -1}, &handler{})
	var conns []net.Conn
	for _, begun := range [][]byte{nil, {0x80}, strict(call, "add", 1, nil)[:9]} {
		nc := dialRaw(t, addr)
		send(t, nc, append(be32(1<<30), begun...))
		if len(begun) == 0 {
			nc.(*net.TCPConn).CloseWrite() // not enough to tell what it is
		}
		conns = append(conns, nc)
	}
	for _, nc := range conns {
		closes(t, nc)
	}
}

// TestForeignClients: clients that speak another protocol get an answer in it, and the log has
// their addresses.
func TestForeignClients(t *testing.T) {
	q := new(quiet)
	addr := serve(t, &rpc.Server{Logger: q.logger()}, &handler{})
	_, err := tls.Dial("tcp", addr, &tls.Config{InsecureSkipVerify: true})
	if err == nil || !strings.Contains(err.Error(), "handshake failure") {
		t.Errorf("TLS at a plain server: %v", err)
	}
	_, err = rpc.Dial(bg, "tcp", addr, rpc.TLS(&tls.Config{InsecureSkipVerify: true}))
	if err == nil || !strings.Contains(err.Error(), "handshake failure") {
		t.Errorf("a client with TLS at a plain server: %v", err)
	}
	logs(t, q, ": TLS")
	cert, _ := certificate(t)
	secret := new(quiet)
	secured := serve(t, &rpc.Server{Logger: secret.logger(), TLS: &tls.Config{Certificates: []tls.Certificate{cert}}}, &handler{})
	for addr, statuses := range map[string]map[string]int{
		addr: {"GET": 405, "POST": 415, "PUT": 405, "OPTIONS": 405},
		// without TLS
		secured: {"GET": 400, "POST": 400, "PUT": 400, "OPTIONS": 400},
	} {
		t.Run(addr, func(t *testing.T) {
			for method, status := range statuses {
				req, _ := http.NewRequest(method, "http://"+addr+"/path", bytes.NewReader(make([]byte, 1000)))
				resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
				if err != nil {
					t.Errorf("HTTP %s: %v", method, err)
					continue
				}
				body, err := io.ReadAll(resp.Body)
				resp.Body.Close()
				if resp.StatusCode != status || err != nil || !strings.Contains(string(body), "Thrift") {
					t.Errorf("HTTP %s: %v, %q, %v", method, resp.Status, body, err)
				}
			}
		})
	}
	for _, q := range []*quiet{q, secret} {
		logs(t, q, "peer=127.0.0.1")
	}
	logs(t, q, "status=415")
}
