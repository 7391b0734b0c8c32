package rpc_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/apache/thrift/lib/go/thrift"

	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
)

// The tests of this file have Apache Thrift's Go library on the other side, with just as much code
// as Apache's generator would write for them.

// fields holds the i64 and binary fields of a struct by their ids.
type fields map[int16]any

func (f fields) Write(ctx context.Context, p thrift.TProtocol) error {
	must := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	must(p.WriteStructBegin(ctx, "s"))
	for id, v := range f {
		switch v := v.(type) {
		case int64:
			must(p.WriteFieldBegin(ctx, "f", thrift.I64, id))
			must(p.WriteI64(ctx, v))
		case []byte:
			must(p.WriteFieldBegin(ctx, "f", thrift.STRING, id))
			must(p.WriteBinary(ctx, v))
		case fields:
			must(p.WriteFieldBegin(ctx, "f", thrift.STRUCT, id))
			must(v.Write(ctx, p))
		default:
			panic(fmt.Sprintf("%T", v))
		}
	}
	must(p.WriteFieldStop(ctx))
	return p.WriteStructEnd(ctx)
}

func (f fields) Read(ctx context.Context, p thrift.TProtocol) error {
	if _, err := p.ReadStructBegin(ctx); err != nil {
		return err
	}
	for {
		_, t, id, err := p.ReadFieldBegin(ctx)
		if err != nil || t == thrift.STOP {
			return err
		}
		switch t {
		case thrift.I64:
			f[id], err = p.ReadI64(ctx)
		case thrift.STRING:
			f[id], err = p.ReadBinary(ctx)
		case thrift.STRUCT:
			inner := fields{}
			f[id], err = inner, inner.Read(ctx, p)
		default:
			err = p.Skip(ctx, t)
		}
		if err != nil {
			return err
		}
	}
}

var (
	apacheFramed   = thrift.NewTFramedTransportFactoryConf(thrift.NewTTransportFactory(), nil)
	apacheBuffered = thrift.NewTBufferedTransportFactory(4096)
	apacheCompact  = thrift.NewTCompactProtocolFactoryConf(nil)
)

// apacheTHeader returns what Apache's library needs for THeader.
func apacheTHeader(p thrift.THeaderProtocolID, transforms ...thrift.THeaderTransformID) (thrift.TTransportFactory, thrift.TProtocolFactory) {
	conf := &thrift.TConfiguration{THeaderProtocolID: &p, THeaderTransforms: transforms}
	return thrift.NewTHeaderTransportFactoryConf(nil, conf), thrift.NewTHeaderProtocolFactoryConf(conf)
}

func init() {
	for name, of := range map[string]struct {
		protocol   thrift.THeaderProtocolID
		transforms []thrift.THeaderTransformID
		opts       []rpc.Option
	}{
		"THeader":                {thrift.THeaderProtocolBinary, nil, []rpc.Option{rpc.THeader()}},
		"THeader, compact":       {thrift.THeaderProtocolCompact, nil, []rpc.Option{rpc.THeader(), rpc.Compact}},
		"THeader, zlib":          {thrift.THeaderProtocolBinary, []thrift.THeaderTransformID{thrift.TransformZlib}, []rpc.Option{rpc.THeader(rpc.Zlib)}},
		"THeader, compact, zlib": {thrift.THeaderProtocolCompact, []thrift.THeaderTransformID{thrift.TransformZlib}, []rpc.Option{rpc.THeader(rpc.Zlib), rpc.Compact}},
	} {
		t, p := apacheTHeader(of.protocol, of.transforms...)
		apacheWays[name] = apacheWay{t, p, of.opts}
	}
}

type apacheWay struct {
	transport thrift.TTransportFactory
	protocol  thrift.TProtocolFactory
	opts      []rpc.Option
}

// apacheWays holds Apache's transports and protocols, with options for a Client that uses them.
var apacheWays = map[string]apacheWay{
	"framed":               {apacheFramed, protocols(true), nil},
	"buffered":             {apacheBuffered, protocols(true), []rpc.Option{rpc.Unframed}},
	"framed, non-strict":   {apacheFramed, protocols(false), nil},
	"buffered, non-strict": {apacheBuffered, protocols(false), []rpc.Option{rpc.Unframed}},
	"framed, compact":      {apacheFramed, apacheCompact, []rpc.Option{rpc.Protocol(rpc.Compact)}},
	"buffered, compact":    {apacheBuffered, apacheCompact, []rpc.Option{rpc.Protocol(rpc.Compact), rpc.Unframed}},
}

func protocols(strict bool) thrift.TProtocolFactory {
	no := false
	conf := &thrift.TConfiguration{}
	if !strict {
		conf.TBinaryStrictRead, conf.TBinaryStrictWrite = &no, &no
	}
	return thrift.NewTBinaryProtocolFactoryConf(conf)
}

var sizes = []int{0, 1, 100, 5000, 100_000, 2 << 20}

func TestApacheClient(t *testing.T) {
	t.Parallel()
	for name, way := range apacheWays {
		t.Run(name, func(t *testing.T) {
			h := &handler{notified: make(chan string, 1)}
			socket := thrift.NewTSocketConf(serve(t, &rpc.Server{}, h), nil)
			transport, err := way.transport.GetTransport(socket)
			if err != nil {
				t.Fatal(err)
			}
			if err := transport.Open(); err != nil {
				t.Fatal(err)
			}
			defer transport.Close()
			p := way.protocol.GetProtocol(transport)
			c := thrift.NewTStandardClient(p, p)
			for i := range int64(3) {
				result := fields{}
				if _, err := c.Call(bg, "add", fields{1: i, 2: int64(40)}, result); err != nil || result[0] != i+40 {
					t.Errorf("add: %v, %v", result, err)
				}
			}
			for _, n := range sizes {
				result, payload := fields{}, bytes.Repeat([]byte("x"), n)
				if _, err := c.Call(bg, "echo", fields{1: payload}, result); err != nil || !bytes.Equal(result[0].([]byte), payload) {
					t.Errorf("echo of %d bytes: %v", n, err)
				}
			}
			if _, err := c.Call(bg, "notify", fields{1: []byte("hello")}, nil); err != nil || <-h.notified != "hello" {
				t.Errorf("notify: %v", err)
			}
			result := fields{}
			if _, err := c.Call(bg, "put", fields{1: fields{1: []byte("key")}, 2: []byte("missing, returned")}, result); err != nil ||
				string(result[1].(fields)[1].([]byte)) != "key" {
				t.Errorf("a declared exception: %v, %v", result, err)
			}
			for method, args := range map[string]fields{"nope": {}, "put": {2: []byte("panic")}} {
				var ae thrift.TApplicationException
				want := map[string]int32{"nope": thrift.UNKNOWN_METHOD, "put": thrift.INTERNAL_ERROR}[method]
				if _, err := c.Call(bg, method, args, fields{}); !errors.As(err, &ae) || ae.TypeId() != want {
					t.Errorf("%s: %v", method, err)
				}
			}
			if _, err := c.Call(bg, "ping", fields{}, fields{}); err != nil {
				t.Errorf("afterwards: %v", err)
			}
		})
	}
}

// apacheProcessor is the Echo service on Apache's library.
type apacheProcessor struct{}

func (apacheProcessor) Process(ctx context.Context, in, out thrift.TProtocol) (bool, thrift.TException) {
	name, _, seqid, err := in.ReadMessageBegin(ctx)
	if err != nil {
		return false, thrift.WrapTException(err)
	}
	args := fields{}
	if err := args.Read(ctx, in); err != nil {
		return false, thrift.WrapTException(err)
	}
	in.ReadMessageEnd(ctx)
	var result thrift.TStruct
	var unknown thrift.TApplicationException
	typ := thrift.REPLY
	switch name {
	case "add":
		a, _ := args[1].(int64)
		b, _ := args[2].(int64)
		result = fields{0: a + b}
	case "echo":
		result = fields{0: args[1]}
	case "put":
		result = fields{1: fields{1: []byte("key")}}
	case "notify":
		return true, nil
	case "version":
		result = fields{}
	default:
		unknown = thrift.NewTApplicationException(thrift.UNKNOWN_METHOD, "unknown "+name)
		typ, result = thrift.EXCEPTION, unknown
	}
	if err := out.WriteMessageBegin(ctx, name, typ, seqid); err != nil {
		return false, thrift.WrapTException(err)
	}
	if err := result.Write(ctx, out); err != nil {
		return false, thrift.WrapTException(err)
	}
	out.WriteMessageEnd(ctx)
	if err := out.Flush(ctx); err != nil || unknown == nil {
		return true, thrift.WrapTException(err)
	}
	return false, unknown // as generated processors have it
}

func (apacheProcessor) ProcessorMap() map[string]thrift.TProcessorFunction { return nil }

func (apacheProcessor) AddToProcessorMap(string, thrift.TProcessorFunction) {}

func TestApacheServer(t *testing.T) {
	t.Parallel()
	for name, way := range apacheWays {
		t.Run(name, func(t *testing.T) {
			socket, err := thrift.NewTServerSocket("127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			if err := socket.Listen(); err != nil {
				t.Fatal(err)
			}
			srv := thrift.NewTSimpleServer4(apacheProcessor{}, socket, way.transport, way.protocol)
			served := make(chan error, 1)
			go func() { served <- srv.Serve() }()
			defer func() {
				srv.Stop()
				<-served
			}()
			cl := dial(t, socket.Addr().String(), append(way.opts, rpc.PoolSize(2))...)
			defer cl.Close()
			c := echo.NewEchoClient(cl)
			var wg sync.WaitGroup
			for i := range int64(50) { // pipelined: the server answers them in order
				wg.Go(func() {
					sum, err := c.Add(bg, func(args echo.EchoAddArgs) { args.SetA(i); args.SetB(40) })
					if err != nil || sum.GetSuccess() != i+40 {
						t.Errorf("add: %v", err)
					}
				})
			}
			wg.Wait()
			for _, n := range sizes {
				payload := bytes.Repeat([]byte("x"), n)
				res, err := c.Echo(bg, func(args echo.EchoEchoArgs) { args.SetPayload(payload) })
				if err != nil || !bytes.Equal(res.GetSuccess(), payload) {
					t.Errorf("echo of %d bytes: %v", n, err)
				}
			}
			if err := c.Notify(bg, nil); err != nil {
				t.Errorf("notify: %v", err)
			}
			var missing echo.NotFound
			if _, err := c.Put(bg, func(args echo.EchoPutArgs) { args.SetMode("x") }); !errors.As(err, &missing) || missing.GetKey() != "key" {
				t.Errorf("a declared exception: %v", err)
			}
			var ae *rpc.ApplicationException
			if _, err := c.Ping(bg, nil); !errors.As(err, &ae) || *ae != (rpc.ApplicationException{Type: rpc.UnknownMethod, Message: "unknown ping"}) {
				t.Errorf("an unknown method: %v", err)
			}
			if _, err := c.Version(bg, nil); !errors.As(err, &ae) || ae.Type != rpc.MissingResult {
				t.Errorf("no result: %v", err)
			}
			ctx, cancel := context.WithTimeout(bg, time.Minute)
			defer cancel()
			if _, err := c.Add(ctx, nil); err != nil {
				t.Errorf("afterwards: %v", err)
			}
		})
	}
}
