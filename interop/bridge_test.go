package interop_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/apache/thrift/lib/go/thrift"
	"github.com/google/go-cmp/cmp"

	"github.com/nocopythrift/nocopythrift/interop"
	apache "github.com/nocopythrift/nocopythrift/interop/internal/apache/thrifttest"
	"github.com/nocopythrift/nocopythrift/interop/thrifttest"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/apachethrift"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// stack is a transport and a protocol of Apache's library.
type stack struct {
	name      string
	transport thrift.TTransportFactory
	protocol  thrift.TProtocolFactory
}

func headers(protocol thrift.THeaderProtocolID) *thrift.TConfiguration {
	return &thrift.TConfiguration{THeaderProtocolID: &protocol, THeaderTransforms: []thrift.THeaderTransformID{thrift.TransformZlib}}
}

func stacks() []stack {
	plain, framed := thrift.NewTTransportFactory(), thrift.NewTFramedTransportFactoryConf(thrift.NewTTransportFactory(), nil)
	return []stack{
		{"binary", framed, thrift.NewTBinaryProtocolFactoryConf(nil)},
		{"compact", framed, thrift.NewTCompactProtocolFactoryConf(nil)},
		{"compact, buffered", thrift.NewTBufferedTransportFactory(4096), thrift.NewTCompactProtocolFactoryConf(nil)},
		{"compact, zlib", thrift.NewTZlibTransportFactory(1), thrift.NewTCompactProtocolFactoryConf(nil)},
		{"header, binary", plain, thrift.NewTHeaderProtocolFactoryConf(headers(thrift.THeaderProtocolBinary))},
		{"header, compact", plain, thrift.NewTHeaderProtocolFactoryConf(headers(thrift.THeaderProtocolCompact))},
		{"JSON", framed, thrift.NewTJSONProtocolFactory()},
	}
}

// serve starts a server of Apache's library and returns a function that makes clients of it. The
// server ends with the test.
func (s stack) serve(t *testing.T, p thrift.TProcessor, configure ...func(*thrift.TSimpleServer)) (dial func() *thrift.TStandardClient) {
	t.Helper()
	socket, err := thrift.NewTServerSocket("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := socket.Listen(); err != nil {
		t.Fatal(err)
	}
	server := thrift.NewTSimpleServer4(p, socket, s.transport, s.protocol)
	for _, f := range configure {
		f(server)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		server.Serve()
	}()
	t.Cleanup(func() {
		server.Stop()
		<-done
	})
	return func() *thrift.TStandardClient {
		t.Helper()
		trans, err := s.transport.GetTransport(thrift.NewTSocketConf(socket.Addr().String(),
			&thrift.TConfiguration{ConnectTimeout: 10 * time.Second, SocketTimeout: 2 * time.Minute}))
		if err == nil {
			err = trans.Open()
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { trans.Close() })
		p := s.protocol.GetProtocol(trans)
		return thrift.NewTStandardClient(p, p)
	}
}

// Apache's client and server call our handlers, method by method, over all protocols.
func TestBridgedProcessor(t *testing.T) {
	t.Parallel()
	for _, s := range stacks() {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			h := &interop.Handler{Out: io.Discard}
			both := thrift.NewTMultiplexedProcessor()
			both.RegisterDefault(apachethrift.NewProcessor(thrifttest.NewThriftTestProcessor(h), nocopy.Limits{}))
			dial := s.serve(t, both)
			if s.name == "JSON" { // has no strings that are not UTF-8, and one NaN
				if code := interop.Run(t.Context(), apachethrift.NewCaller(dial()), false, time.Minute, t.Output()); code != 0 {
					t.Errorf("exit code %d", code)
				}
				return
			}
			c := &apacheClient{t: t, ctx: t.Context(), first: apache.NewThriftTestClient(dial())}
			c.callEverything()
		})
	}
}

// Our generated client calls Apache's server through Apache's client, method by method, over all
// protocols.
func TestBridgedCaller(t *testing.T) {
	t.Parallel()
	for _, s := range stacks() {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			dial := s.serve(t, apache.NewThriftTestProcessor(apacheHandler{}))
			if code := interop.Run(t.Context(), apachethrift.NewCaller(dial()), false, time.Minute, t.Output()); code != 0 {
				t.Errorf("exit code %d", code)
			}
		})
	}
}

// Over HTTP, in both directions.
func TestBridgedHTTP(t *testing.T) {
	t.Parallel()
	h := &interop.Handler{Out: io.Discard}
	for name, p := range map[string]thrift.TProcessor{
		"ours":   apachethrift.NewProcessor(thrifttest.NewThriftTestProcessor(h), nocopy.Limits{}),
		"theirs": apache.NewThriftTestProcessor(apacheHandler{}),
	} {
		factory := thrift.NewTJSONProtocolFactory()
		server := httptest.NewServer(httpHandler(p, factory))
		defer server.Close()
		trans, err := thrift.NewTHttpClient(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		proto := factory.GetProtocol(trans)
		client := thrifttest.NewThriftTestClient(apachethrift.NewCaller(thrift.NewTStandardClient(proto, proto)))
		got, err := client.TestStruct(t.Context(), func(args thrifttest.ThriftTestTestStructArgs) {
			args.NewThing().SetStringThing("over HTTP")
		})
		if err != nil || got.GetSuccess().GetStringThing() != "over HTTP" {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

// seen is a handler and the facts that its context has told it.
type seen struct {
	interop.Handler
	mu     sync.Mutex
	header string
}

func (h *seen) TestString(ctx context.Context, args thrifttest.ThriftTestTestStringArgs, result thrifttest.ThriftTestTestStringResult) error {
	h.mu.Lock()
	h.header, _ = thrift.GetHeader(ctx, "user")
	h.mu.Unlock()
	if helper, ok := thrift.GetResponseHelper(ctx); ok {
		helper.SetHeader("answered", "yes")
	}
	result.SetSuccess(args.GetThing())
	return nil
}

// Headers and middlewares of Apache's library work on both sides; declared exceptions are visible
// to them.
func TestBridgedHeadersAndMiddlewares(t *testing.T) {
	t.Parallel()
	h := &seen{Handler: interop.Handler{Out: io.Discard}}
	var mu sync.Mutex
	var log []string
	var served sync.WaitGroup // the server's calls, which end after their replies have come
	served.Add(2)
	add := func(line string) {
		mu.Lock()
		defer mu.Unlock()
		log = append(log, line)
	}
	kind := func(err error) string {
		var e thrift.TException
		if !errors.As(err, &e) {
			return ""
		}
		return map[thrift.TExceptionType]string{thrift.TExceptionTypeCompiled: " declared"}[e.TExceptionType()]
	}
	processor := thrift.WrapProcessor(apachethrift.NewProcessor(thrifttest.NewThriftTestProcessor(h), nocopy.Limits{}),
		func(name string, next thrift.TProcessorFunction) thrift.TProcessorFunction {
			return thrift.WrappedTProcessorFunction{Wrapped: func(ctx context.Context, seqid int32, in, out thrift.TProtocol) (bool, thrift.TException) {
				ok, err := next.Process(ctx, seqid, in, out)
				add("server " + name + kind(err))
				served.Done()
				return ok, err
			}}
		})
	var answered string
	s := stacks()[5]
	dial := s.serve(t, processor)
	client := thrifttest.NewThriftTestClient(apachethrift.NewCaller(thrift.WrapClient(dial(),
		func(next thrift.TClient) thrift.TClient {
			return thrift.WrappedTClient{Wrapped: func(ctx context.Context, method string, args, result thrift.TStruct) (thrift.ResponseMeta, error) {
				meta, err := next.Call(ctx, method, args, result)
				answered = meta.Headers["answered"]
				add("client " + method + kind(err))
				return meta, err
			}}
		}, thrift.ExtractIDLExceptionClientMiddleware)))
	ctx := thrift.SetWriteHeaderList(thrift.SetHeader(t.Context(), "user", "ada"), []string{"user"})
	r, err := client.TestString(ctx, func(args thrifttest.ThriftTestTestStringArgs) { args.SetThing("hello") })
	if err != nil || r.GetSuccess() != "hello" || h.header != "ada" || answered != "yes" {
		t.Errorf("%v, %v; header %q, answered %q", r, err, h.header, answered)
	}
	_, err = client.TestException(ctx, func(args thrifttest.ThriftTestTestExceptionArgs) { args.SetArg("Xception") })
	var x thrifttest.Xception
	if !errors.As(err, &x) || x.GetErrorCode() != 1001 {
		t.Errorf("%v, not an Xception", err)
	}
	want := []string{"client testException declared", "client testString", "server testException declared", "server testString"}
	served.Wait()
	mu.Lock()
	defer mu.Unlock()
	slices.Sort(log)
	if diff := cmp.Diff(want, log); diff != "" {
		t.Error(diff)
	}
}

// A service moves to us one method at a time.
func TestBridgedMethodByMethod(t *testing.T) {
	t.Parallel()
	processor := apache.NewThriftTestProcessor(apacheHandler{})
	ours := apachethrift.NewProcessor(thrifttest.NewThriftTestProcessor(&upper{Handler: interop.Handler{Out: io.Discard}}), nocopy.Limits{})
	processor.AddToProcessorMap("testString", ours.ProcessorMap()["testString"])
	c := apache.NewThriftTestClient(stacks()[1].serve(t, processor)())
	if got, err := c.TestString(t.Context(), "moved"); got != "OURS" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := c.TestI32(t.Context(), 7); got != 7 || err != nil {
		t.Errorf("%d, %v", got, err)
	}

	// The client's side: Apache's client as it is, with our types
	args, result := thrifttest.NewThriftTestTestStructArgs(), thrifttest.ThriftTestTestStructResult{}
	args.NewThing().SetStringThing("ours")
	if _, err := c.Client_().Call(t.Context(), "testStruct", apachethrift.Struct(&args), apachethrift.Struct(&result)); err != nil {
		t.Fatal(err)
	}
	if got := result.GetSuccess().GetStringThing(); got != "ours" {
		t.Errorf("%q", got)
	}

	// A server of ours with a method that is still Apache's
	ours.AddToProcessorMap("testI32", apache.NewThriftTestProcessor(apacheHandler{}).ProcessorMap()["testI32"])
	c = apache.NewThriftTestClient(stacks()[1].serve(t, ours)())
	if got, err := c.TestI32(t.Context(), 8); got != 8 || err != nil {
		t.Errorf("%d, %v", got, err)
	}
	if got, err := c.TestString(t.Context(), "moved"); got != "OURS" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

// Services that share a port, put together by us or by Apache's library.
func TestBridgedMultiplexed(t *testing.T) {
	t.Parallel()
	h := &interop.Handler{Out: io.Discard}
	first, second := thrifttest.NewThriftTestProcessor(h), thrifttest.NewSecondServiceProcessor(h)
	theirs := thrift.NewTMultiplexedProcessor()
	theirs.RegisterProcessor(interop.FirstName, apachethrift.NewProcessor(first, nocopy.Limits{}))
	theirs.RegisterProcessor(interop.SecondName, apachethrift.NewProcessor(second, nocopy.Limits{}))
	ours := apachethrift.NewProcessor(rpc.Multiplexed(map[string]*rpc.Processor{interop.FirstName: first, interop.SecondName: second}), nocopy.Limits{})
	s := stacks()[1]
	for name, p := range map[string]thrift.TProcessor{"ours": ours, "theirs": theirs} {
		socket, err := thrift.NewTServerSocket("127.0.0.1:0")
		if err == nil {
			err = socket.Listen()
		}
		if err != nil {
			t.Fatal(err)
		}
		server := thrift.NewTSimpleServer4(p, socket, s.transport, s.protocol)
		done := make(chan struct{})
		go func() { defer close(done); server.Serve() }()
		conn := thrift.NewTSocketConf(socket.Addr().String(), &thrift.TConfiguration{SocketTimeout: 2 * time.Minute})
		if err := conn.Open(); err != nil {
			t.Fatal(err)
		}
		trans, err := s.transport.GetTransport(conn)
		if err != nil {
			t.Fatal(err)
		}
		proto := s.protocol.GetProtocol(trans)
		client := thrifttest.NewSecondServiceClient(apachethrift.NewCaller(
			thrift.NewTStandardClient(proto, thrift.NewTMultiplexedProtocol(proto, interop.SecondName))))
		r, err := client.SecondtestString(t.Context(), func(args thrifttest.SecondServiceSecondtestStringArgs) { args.SetThing("x") })
		if err != nil || r.GetSuccess() != `testString("x")` {
			t.Errorf("%s: %v, %v", name, r, err)
		}
		conn.Close()
		server.Stop()
		<-done
	}
}

type upper struct{ interop.Handler }

func (*upper) TestString(_ context.Context, _ thrifttest.ThriftTestTestStringArgs, result thrifttest.ThriftTestTestStringResult) error {
	result.SetSuccess("OURS")
	return nil
}

// Structs of Apache's are converted and back.
func TestConversion(t *testing.T) {
	want := &apache.Insanity{
		UserMap: map[apache.Numberz]apache.UserId{apache.Numberz_FIVE: 5, apache.Numberz_TWO: -2},
		Xtructs: []*apache.Xtruct{{StringThing: "a", ByteThing: -1, I32Thing: 3, I64Thing: 1 << 40}, {StringThing: ""}},
	}
	ours, err := apachethrift.FromApache[thrifttest.Insanity](want)
	if err != nil {
		t.Fatal(err)
	}
	if got := ours.GetXtructs().At(0).GetI64Thing(); got != 1<<40 {
		t.Errorf("%d in %s", got, ours)
	}
	ours.GetXtructs().At(1).SetStringThing("edited")
	want.Xtructs[1].StringThing = "edited"
	got := apache.NewInsanity()
	if err := apachethrift.ToApache(ours, got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	part := apache.NewXtruct()
	if err := apachethrift.ToApache(ours.GetXtructs().At(1), part); err != nil || part.StringThing != "edited" {
		t.Errorf("%v, %v", part, err)
	}

	// Required fields that the other type does not have
	if _, err := apachethrift.FromApache[thrifttest.StructA](apache.NewXtruct()); err != nil && !errors.Is(err, nocopy.ErrMissingRequired) {
		t.Error(err)
	}
	var missing *nocopy.Error
	_, err = apachethrift.FromApache[thrifttest.StructB](&apache.EmptyStruct{})
	if !errors.As(err, &missing) || !errors.Is(err, nocopy.ErrMissingRequired) || missing.Path != "StructB.ab" {
		t.Errorf("%v, not a missing StructB.ab", err)
	}
	if err := apachethrift.ToApache(thrifttest.NewEmptyStruct(), &apache.StructB{}); err == nil {
		t.Error("a struct without its required field was converted")
	}
	if _, err := apachethrift.FromApache[thrifttest.StructB](&apache.StructB{}); err == nil {
		t.Error("a struct that Apache's can't write was converted")
	}
	type nothing = *apache.Xtruct
	defer func() {
		if recover() != "nocopy: apachethrift.FromApache of nil" {
			t.Error("no panic for a nil pointer")
		}
	}()
	apachethrift.FromApache[thrifttest.Xtruct](nothing(nil))
}

// Contexts end calls, and what a server answers is told apart.
func TestBridgedErrors(t *testing.T) {
	t.Parallel()
	s := stacks()[1]
	h := &interop.Handler{Out: io.Discard}
	dial := s.serve(t, apachethrift.NewProcessor(thrifttest.NewThriftTestProcessor(h), nocopy.Limits{}))
	caller := apachethrift.NewCaller(dial())
	client := thrifttest.NewThriftTestClient(caller)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := client.TestVoid(ended, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("%v after the context's end", err)
	}
	_, err := client.TestException(t.Context(), func(args thrifttest.ThriftTestTestExceptionArgs) { args.SetArg("TException") })
	var app *rpc.ApplicationException
	var theirs thrift.TApplicationException
	if !errors.As(err, &app) || app.Type != rpc.InternalError || !errors.As(err, &theirs) || theirs.TypeId() != thrift.INTERNAL_ERROR {
		t.Errorf("%v for an undeclared error", err)
	}
	second := thrifttest.NewSecondServiceClient(caller)
	_, err = second.SecondtestString(t.Context(), nil)
	if !errors.As(err, &app) || app.Type != rpc.UnknownMethod {
		t.Errorf("%v for an unknown method", err)
	}
	if r, err := client.TestI32(t.Context(), func(args thrifttest.ThriftTestTestI32Args) { args.SetThing(5) }); err != nil || r.GetSuccess() != 5 {
		t.Errorf("after the errors: %v, %v", r, err)
	}
	multiplexed := thrifttest.NewThriftTestClient(rpc.MultiplexedCaller(caller, "ThriftTest"))
	if _, err := multiplexed.TestVoid(t.Context(), nil); err == nil {
		t.Error("an rpc.MultiplexedCaller around a bridge is no error")
	}
}

// A message that was read does not refer to memory of the transport, and written bytes do not
// refer to the message.
func TestBridgedBytes(t *testing.T) {
	x := thrifttest.NewXtruct()
	x.SetStringThing("some text")
	memory := thrift.NewTMemoryBuffer()
	p := thrift.NewTBinaryProtocolConf(memory, nil)
	if err := apachethrift.Write(t.Context(), p, x); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(memory.Bytes(), x.Message().Bytes()) {
		t.Fatalf("written as %x, not %x", memory.Bytes(), x.Message().Bytes())
	}
	inside := memory.Bytes()
	got, err := apachethrift.Read[thrifttest.Xtruct](t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	clear(inside)
	if got.GetStringThing() != "some text" || x.GetStringThing() != "some text" {
		t.Errorf("%s and %s have changed", got, x)
	}
}

// httpHandler serves p over HTTP.
func httpHandler(p thrift.TProcessor, f thrift.TProtocolFactory) http.HandlerFunc {
	return thrift.NewThriftHandlerFunc(p, f, f)
}
