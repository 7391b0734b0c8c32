// THeader against fbthrift's Go library, which has Facebook's additions to it: persistent headers,
// and transforms that this library does not know.

package interop_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/facebook/fbthrift/thrift/lib/go/thrift"

	"github.com/nocopythrift/nocopythrift/interop"
	"github.com/nocopythrift/nocopythrift/interop/thrifttest"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

var (
	fbProtocols  = map[string]thrift.ProtocolID{"binary": thrift.ProtocolIDBinary, "compact": thrift.ProtocolIDCompact}
	fbTransforms = map[string]thrift.TransformID{"plain": thrift.TransformNone, "zlib": thrift.TransformZlib}
)

// fbConn is a connection as fbthrift's library has it, client or server.
type fbConn struct {
	t *testing.T
	*thrift.HeaderProtocol
	seqid  int32
	double float64 // the last one that was received
}

func newFbConn(t *testing.T, nc net.Conn, protocol thrift.ProtocolID, transform thrift.TransformID) *fbConn {
	trans := thrift.NewHeaderTransport(thrift.NewStreamTransport(nc, nc))
	if err := trans.SetProtocolID(protocol); err != nil {
		t.Fatal(err)
	}
	if transform != thrift.TransformNone {
		if err := trans.AddTransform(transform); err != nil {
			t.Fatal(err)
		}
	}
	return &fbConn{t: t, HeaderProtocol: thrift.NewHeaderProtocol(trans)}
}

// send writes a message with a text as field id of its struct, if id is not negative.
func (c *fbConn) send(name string, typ thrift.MessageType, seqid int32, id int16, text string) {
	c.WriteMessageBegin(name, typ, seqid)
	if id >= 0 {
		c.WriteFieldBegin("", thrift.STRING, id)
		c.WriteString(text)
	}
	c.WriteFieldStop()
	c.WriteMessageEnd()
	if err := c.Flush(); err != nil {
		c.t.Error(err)
	}
}

// receive reads a message and returns the last text in its struct, or in a struct in that.
func (c *fbConn) receive() (name string, typ thrift.MessageType, seqid int32, text string, err error) {
	name, typ, seqid, err = c.ReadMessageBegin()
	if err == nil {
		text, err = c.text()
	}
	return name, typ, seqid, text, errors.Join(err, c.ReadMessageEnd())
}

func (c *fbConn) text() (text string, err error) {
	for err == nil {
		_, typ, _, e := c.ReadFieldBegin()
		switch {
		case e != nil:
			return text, e
		case typ == thrift.STOP:
			return text, nil
		case typ == thrift.STRING:
			text, err = c.ReadString()
		case typ == thrift.STRUCT:
			text, err = c.text()
		case typ == thrift.DOUBLE:
			c.double, err = c.ReadDouble()
		default:
			err = c.Skip(typ)
		}
	}
	return text, err
}

// call makes a call and returns the type of its reply and a text in it.
func (c *fbConn) call(name, arg string) (thrift.MessageType, string) {
	c.seqid++
	c.send(name, thrift.CALL, c.seqid, 1, arg)
	got, typ, seqid, text, err := c.receive()
	known := got == name || got == "" && typ == thrift.EXCEPTION // the name is in what can't be read
	if err != nil || !known || seqid != c.seqid {
		c.t.Errorf("the reply to %s %d is %s %d: %v", name, c.seqid, got, seqid, err)
	}
	return typ, text
}

// callDouble calls testDouble.
func (c *fbConn) callDouble(d float64) (got float64) {
	c.seqid++
	c.WriteMessageBegin("testDouble", thrift.CALL, c.seqid)
	c.WriteFieldBegin("", thrift.DOUBLE, 1)
	c.WriteDouble(d)
	c.WriteFieldStop()
	err := c.Flush()
	if err == nil {
		_, _, _, err = c.ReadMessageBegin()
	}
	if _, typ, _, e := c.ReadFieldBegin(); e == nil && typ == thrift.DOUBLE {
		got, _ = c.ReadDouble()
		c.ReadFieldBegin() // the STOP
	}
	if err != nil {
		c.t.Error(err)
	}
	return got
}

// TestFbthriftClient: clients of fbthrift call our server, with headers of both kinds.
func TestFbthriftClient(t *testing.T) {
	t.Parallel()
	headers := make(chan string, 100)
	addr := serveDynamic(t, &rpc.Server{
		Processor: thrifttest.NewThriftTestProcessor(&interop.Handler{Out: io.Discard}),
		Interceptors: []rpc.Interceptor{func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
			headers <- rpc.Header(ctx, "token") + " " + rpc.Header(ctx, "tenant")
			rpc.SetReplyHeader(ctx, "served-by", "one")
			return next(ctx, c)
		}},
	})
	received := func() string { // the headers of the next call that arrives
		select {
		case h := <-headers:
			return h
		case <-time.After(2 * time.Minute):
			return "no call"
		}
	}
	for protocol, id := range fbProtocols {
		for name, transform := range fbTransforms {
			t.Run(protocol+" "+name, func(t *testing.T) {
				nc, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", addr))
				if err != nil {
					t.Fatal(err)
				}
				defer nc.Close()
				nc.SetDeadline(time.Now().Add(2 * time.Minute))
				c := newFbConn(t, nc, id, transform)
				c.SetPersistentHeader("tenant", "blue")
				for len(headers) > 0 { // of the subtest before
					<-headers
				}
				for n, text := range []string{"", "ノード", strings.Repeat("x", 1<<20)} {
					c.SetHeader("token", fmt.Sprint(n))
					if typ, got := c.call("testString", text); typ != thrift.REPLY || got != text {
						t.Errorf("testString(%.20q) is %v %.20q", text, typ, got)
					}
					if got, want := received(), fmt.Sprint(n, " blue"); got != want {
						t.Errorf("the headers are %q, want %q", got, want)
					}
					if got, _ := c.ReadHeader("served-by"); got != "one" {
						t.Errorf("the reply's header is %q", got)
					}
				}
				for _, d := range []float64{0, -1.5, math.Inf(1), math.Copysign(0, -1), 5e-324} {
					if got := c.callDouble(d); got != d {
						t.Errorf("testDouble(%v) is %v", d, got)
					}
					received()
				}
				if typ, got := c.call("testException", "Xception"); typ != thrift.REPLY || got != "Xception" {
					t.Errorf("testException: %v %q", typ, got)
				}
				if typ, got := c.call("testException", "TException"); typ != thrift.EXCEPTION || got == "" {
					t.Errorf("testException: %v %q", typ, got)
				}
				if typ, got := c.call("nothing", "x"); typ != thrift.EXCEPTION || !strings.Contains(got, "nothing") {
					t.Errorf("an unknown method: %v %q", typ, got)
				}
				c.seqid++
				c.send("testOneway", thrift.ONEWAY, c.seqid, -1, "")
				if typ, got := c.call("testString", "after"); typ != thrift.REPLY || got != "after" {
					t.Errorf("after a oneway call: %v %q", typ, got)
				}
			})
		}
	}
}

// TestFbthriftTransforms: a call with a transform that this library does not have is refused with
// the reason, which fbthrift's client understands, and the connection is good for the next.
func TestFbthriftTransforms(t *testing.T) {
	t.Parallel()
	addr := serveDynamic(t, &rpc.Server{
		Processor: thrifttest.NewThriftTestProcessor(&interop.Handler{Out: io.Discard}), Logger: slog.New(slog.DiscardHandler),
	})
	for transform, want := range map[thrift.TransformID]string{
		thrift.TransformHMAC: "transform 2 (HMAC)", thrift.TransformSnappy: "transform 3 (Snappy)", thrift.TransformQLZ: "transform 4 (QuickLZ)",
		thrift.TransformZstd: "transform 5 (Zstandard)", 77: "transform 77",
	} {
		nc, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", addr))
		if err != nil {
			t.Fatal(err)
		}
		defer nc.Close()
		nc.SetDeadline(time.Now().Add(2 * time.Minute))
		// This library writes none of them: the header gets it on its way.
		c := newFbConn(t, rewritten{nc, transform}, thrift.ProtocolIDCompact, thrift.TransformZlib)
		if typ, got := c.call("testString", "x"); typ != thrift.EXCEPTION || !strings.Contains(got, want+" is not supported, only zlib is") {
			t.Errorf("%v: %v %q", transform, typ, got)
		}
		c = newFbConn(t, nc, thrift.ProtocolIDCompact, thrift.TransformNone)
		if typ, got := c.call("testString", "after"); typ != thrift.REPLY || got != "after" {
			t.Errorf("the call after %v: %v %q", transform, typ, got)
		}
	}
}

// rewritten writes frames with another transform than zlib, in name alone.
type rewritten struct {
	net.Conn
	transform thrift.TransformID
}

func (r rewritten) Write(b []byte) (int, error) {
	const transforms = 4 + 10 + 1 // after the length, the fixed part and the protocol
	c := bytes.Clone(b)
	if len(c) > transforms+1 && binary.BigEndian.Uint16(c[4:]) == 0x0fff && c[transforms] == 1 {
		c[transforms+1] = byte(r.transform)
	}
	return r.Conn.Write(c)
}

// TestFbthriftServer: our client calls a server with fbthrift's library.
func TestFbthriftServer(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			go serveFbthrift(t, nc)
		}
	}()
	for name, opts := range map[string][]rpc.Option{
		"binary": {rpc.THeader()}, "compact": {rpc.THeader(), rpc.Compact},
		"binary zlib": {rpc.THeader(rpc.Zlib)}, "compact zlib": {rpc.THeader(rpc.Zlib), rpc.Compact},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			c, err := rpc.Dial(ctx, "tcp", l.Addr().String(), append(opts, rpc.PoolSize(1))...)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			test := thrifttest.NewThriftTestClient(c)
			for n, text := range []string{"", "ノード", strings.Repeat("x", 1<<20)} {
				var reply rpc.ReplyHeaders
				to := rpc.ReceiveHeaders(rpc.SetHeader(ctx, "token", fmt.Sprint(n)), &reply)
				r, err := test.TestString(to, func(args thrifttest.ThriftTestTestStringArgs) { args.SetThing(text) })
				if err != nil {
					t.Fatal(err)
				}
				if got := r.GetSuccess(); got != text || reply.Get("echoed") != fmt.Sprint(n) || reply.Get("served-by") != "fbthrift" {
					t.Errorf("testString(%.20q) is %.20q, with the headers %q and %q", text, got, reply.Get("echoed"), reply.Get("served-by"))
				}
				r.Release()
			}
			for _, d := range []float64{0, -1.5, math.Inf(1)} {
				r, err := test.TestDouble(ctx, func(args thrifttest.ThriftTestTestDoubleArgs) { args.SetThing(d) })
				if err != nil || r.GetSuccess() != d {
					t.Errorf("testDouble(%v) is %v: %v", d, r.GetSuccess(), err)
				}
			}
			var app *rpc.ApplicationException
			if err := test.TestOneway(ctx, func(args thrifttest.ThriftTestTestOnewayArgs) { args.SetSecondsToSleep(1) }); err != nil {
				t.Error(err)
			}
			if _, err := test.TestVoid(ctx, nil); !errors.As(err, &app) || app.Type != rpc.UnknownMethod || app.Message != "not here" {
				t.Errorf("an unknown method: %v", err)
			}
			if r, err := test.TestString(ctx, func(args thrifttest.ThriftTestTestStringArgs) { args.SetThing("after") }); err != nil || r.GetSuccess() != "after" {
				t.Errorf("the call after it: %v", err)
			}
		})
	}
}

// serveFbthrift echoes texts, and knows only testString.
func serveFbthrift(t *testing.T, nc net.Conn) {
	defer nc.Close()
	c := newFbConn(t, nc, thrift.ProtocolIDCompact, thrift.TransformNone)
	for {
		name, typ, seqid, text, err := c.receive()
		token, _ := c.ReadHeader("token")
		c.SetHeader("echoed", token)
		c.SetPersistentHeader("served-by", "fbthrift")
		switch {
		case err != nil:
			return
		case name == "testDouble":
			c.WriteMessageBegin(name, thrift.REPLY, seqid)
			c.WriteFieldBegin("", thrift.DOUBLE, 0)
			c.WriteDouble(c.double)
			c.WriteFieldStop()
			c.Flush()
		case typ == thrift.ONEWAY:
		case name == "testString":
			c.send(name, thrift.REPLY, seqid, 0, text)
		default:
			c.WriteMessageBegin(name, thrift.EXCEPTION, seqid)
			thrift.NewApplicationException(thrift.UNKNOWN_METHOD, "not here").Write(c)
			c.WriteMessageEnd()
			c.Flush()
		}
	}
}
