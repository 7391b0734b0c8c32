package apachethrift_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apache/thrift/lib/go/thrift"

	"github.com/nocopythrift/nocopythrift/examples/kv"
	"github.com/nocopythrift/nocopythrift/examples/quickstart/order"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/apachethrift"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/referee"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/referee/apachetest"
)

// custom is the store with another Retrieve.
type custom struct {
	store
	retrieve func(ctx context.Context, args kv.KeyValueRetrieveArgs, result kv.KeyValueRetrieveResult) error
}

func (c *custom) Retrieve(ctx context.Context, args kv.KeyValueRetrieveArgs, result kv.KeyValueRetrieveResult) error {
	return c.retrieve(ctx, args, result)
}

// serve starts a server of Apache's library for h and returns a function that makes clients of it.
func serve(t *testing.T, h kv.KeyValueHandler) func(timeout time.Duration) (kv.KeyValueClient, io.Closer) {
	t.Helper()
	socket, err := thrift.NewTServerSocket("127.0.0.1:0")
	if err == nil {
		err = socket.Listen()
	}
	if err != nil {
		t.Fatal(err)
	}
	protocols := thrift.NewTCompactProtocolFactoryConf(nil)
	server := thrift.NewTSimpleServer4(apachethrift.NewProcessor(kv.NewKeyValueProcessor(h), nocopy.Limits{}), socket,
		thrift.NewTFramedTransportFactoryConf(thrift.NewTTransportFactory(), nil), protocols)
	done := make(chan struct{})
	go func() {
		defer close(done)
		server.Serve()
	}()
	t.Cleanup(func() {
		server.Stop()
		<-done
	})
	return func(timeout time.Duration) (kv.KeyValueClient, io.Closer) {
		conn := thrift.NewTSocketConf(socket.Addr().String(), &thrift.TConfiguration{SocketTimeout: timeout})
		if err := conn.Open(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		p := protocols.GetProtocol(thrift.NewTFramedTransportConf(conn, nil))
		return kv.NewKeyValueClient(apachethrift.NewCaller(thrift.NewTStandardClient(p, p))), conn
	}
}

// TestServed: many clients at once call handlers that fail, panic, or return messages of other
// calls. Each client gets its own answer, and the connections stay open.
func TestServed(t *testing.T) {
	shared := kv.NewNotFound() // returned from many calls at a time
	shared.SetKey([]byte("shared"))
	dial := serve(t, &custom{retrieve: func(_ context.Context, args kv.KeyValueRetrieveArgs, result kv.KeyValueRetrieveResult) error {
		switch key := string(args.GetKey()); {
		case key == "panic":
			panic("a secret")
		case key == "released":
			args.Release()
		case key == "shared":
			return fmt.Errorf("wrapped: %w", shared)
		case key == "own":
			return &rpc.ApplicationException{Type: rpc.InvalidTransform, Message: "own"}
		case key == "theirs":
			return thrift.NewTApplicationException(thrift.INVALID_PROTOCOL, "theirs")
		case key != "nothing":
			result.SetSuccess(args.GetKey())
		}
		return nil
	}})
	var wg sync.WaitGroup
	for i := range 8 {
		client, _ := dial(30 * time.Second)
		wg.Go(func() {
			get := func(key string) (string, error) {
				r, err := client.Retrieve(t.Context(), func(args kv.KeyValueRetrieveArgs) { args.SetKey([]byte(key)) })
				return string(r.GetSuccess()), err
			}
			application := func(key string, typ rpc.ExceptionType, text string) {
				var e *rpc.ApplicationException
				if _, err := get(key); !errors.As(err, &e) || e.Type != typ || !strings.HasPrefix(e.Message, text) || strings.Contains(e.Message, "secret") {
					t.Errorf("%s: %v", key, err)
				}
			}
			for n := range 20 {
				key := fmt.Sprint(i, " ", n)
				if got, err := get(key); got != key || err != nil {
					t.Errorf("%q, %v", got, err)
				}
				var missing kv.NotFound
				if _, err := get("shared"); !errors.As(err, &missing) || string(missing.GetKey()) != "shared" {
					t.Errorf("shared: %v", err)
				}
				application("panic", rpc.InternalError, "the server has failed")
				application("released", rpc.InternalError, "the server has failed")
				application("own", rpc.InvalidTransform, "own")
				application("theirs", rpc.InvalidProtocol, "theirs")
				application("nothing", rpc.MissingResult, "")
			}
		})
	}
	wg.Wait()
	if string(shared.GetKey()) != "shared" {
		t.Error("the handler's exception was released")
	}
}

// TestServedContexts: a call ends when its context ends. When a client is gone, the context of its
// handler ends with Apache's cause.
func TestServedContexts(t *testing.T) {
	entered, cause := make(chan struct{}, 1), make(chan error, 1)
	dial := serve(t, &custom{retrieve: func(ctx context.Context, _ kv.KeyValueRetrieveArgs, _ kv.KeyValueRetrieveResult) error {
		entered <- struct{}{}
		<-ctx.Done()
		cause <- context.Cause(ctx)
		return ctx.Err()
	}})
	client, conn := dial(20 * time.Millisecond)
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second) // the call arrives in time
	defer cancel()
	if _, err := client.Retrieve(ctx, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v, not the context's error", err)
	}
	<-entered
	conn.Close()
	if err := <-cause; !errors.Is(err, thrift.ErrAbandonRequest) {
		t.Errorf("the handler's context ended with %v", err)
	}
}

// TestCallerErrors: for anything that a TClient may do, and any arguments, the call returns an
// error that gives the reason.
func TestCallerErrors(t *testing.T) {
	var reply string // in the compact protocol; "" if the client reads none
	var sent int
	caller := apachethrift.NewCaller(thrift.WrappedTClient{Wrapped: func(ctx context.Context, _ string, args, result thrift.TStruct) (thrift.ResponseMeta, error) {
		sent++
		if err := args.Write(ctx, bare["compact"](thrift.NewTMemoryBuffer())); err != nil {
			return thrift.ResponseMeta{}, err
		}
		if reply == "" {
			return thrift.ResponseMeta{}, nil
		}
		return thrift.ResponseMeta{}, result.Read(ctx, bare["compact"](over([]byte(reply))))
	}}, nocopy.Limits{MaxBytes: 100})
	client := kv.NewKeyValueClient(caller)
	retrieve := func() error {
		_, err := client.Retrieve(t.Context(), func(args kv.KeyValueRetrieveArgs) { args.SetKey([]byte("k")) })
		return err
	}
	var bad *nocopy.Error
	var e *rpc.ApplicationException
	for _, c := range []struct {
		reply string
		ok    func(err error) bool
	}{
		{"", func(err error) bool { return errors.As(err, &e) && e.Type == rpc.MissingResult }},
		{"\x00", func(err error) bool { return errors.As(err, &e) && e.Type == rpc.MissingResult }},
		// Field 1 is not a struct
		{"\x18\x02hi\x00", func(err error) bool { return errors.As(err, &e) && e.Type == rpc.MissingResult }},
		{"\x08\x00\x02h", func(err error) bool {
			return errors.As(err, &bad) && bad.Path == "retrieve_result.success" && errors.Is(err, io.ErrUnexpectedEOF)
		}},
		{"\x08\x00\x7f" + strings.Repeat("x", 127) + "\x00", func(err error) bool { return errors.Is(err, nocopy.ErrLimit) }},
		{"\x1c\x18\x01k\x00\x00", func(err error) bool { var m kv.NotFound; return errors.As(err, &m) && string(m.GetKey()) == "k" }},
		{"\x08\x00\x02hi\x00", func(err error) bool { return err == nil }},
	} {
		if reply = c.reply; !c.ok(retrieve()) {
			t.Errorf("%q: %v", reply, retrieve())
		}
	}

	var method *rpc.Method
	for name, m := range kv.NewKeyValueProcessor(store{}).Methods() {
		if name == "create" {
			method = m
		}
	}
	reply = "\x00"
	released := caller.NewArgs(method)
	released.Release()
	n := sent
	for name, args := range map[string]nocopy.Struct{
		"zero": {}, "released": released, "of another type": nocopy.Struct(newOrder()), "a part": nocopy.Struct(newOrder().GetLines().At(0)),
	} {
		if _, err := caller.Call(t.Context(), method, args); err == nil || sent != n {
			t.Errorf("%s arguments: %v, %d were sent", name, err, sent-n)
		}
	}
	if _, err := caller.Call(t.Context(), method, caller.NewArgs(method)); err != nil || sent != n+1 {
		t.Errorf("%v, %d were sent", err, sent-n)
	}
}

// failing is a transport that fails after a number of bytes.
type failing struct {
	*thrift.TMemoryBuffer
	left int
}

var errFull = errors.New("full")

func (f *failing) take(n int) error {
	if f.left -= n; f.left < 0 {
		return thrift.NewTTransportExceptionFromError(errFull)
	}
	return nil
}

func (f *failing) Write(b []byte) (int, error)       { return len(b), f.take(len(b)) }
func (f *failing) WriteByte(byte) error              { return f.take(1) }
func (f *failing) WriteString(s string) (int, error) { return len(s), f.take(len(s)) }

// TestWriteErrors: errors of writing are the protocol's errors, with a path.
func TestWriteErrors(t *testing.T) {
	o := newOrder()
	for name, path := range map[string]string{"compact": "Order.lines[0].price: ", "binary": "Order: "} {
		err := apachethrift.Write(t.Context(), bare[name](&failing{thrift.NewTMemoryBuffer(), 12}), o)
		var e thrift.TException
		if !errors.Is(err, errFull) || !errors.As(err, &e) || !strings.HasPrefix(err.Error(), path) {
			t.Errorf("%s: %v, not at %s", name, err, path)
		}
	}
	for left := range 31 {
		if err := apachethrift.Write(t.Context(), bare["compact"](&failing{thrift.NewTMemoryBuffer(), left}), o); !errors.Is(err, errFull) {
			t.Errorf("%v after %d bytes", err, left)
		}
	}
	if err := apachethrift.Write(t.Context(), bare["compact"](&failing{thrift.NewTMemoryBuffer(), 31}), o); err != nil {
		t.Error(err)
	}
}

// TestWrongElements: a field with other elements than declared is unknown, and is forwarded. Empty
// containers have their declared type, even if the protocol names another.
func TestWrongElements(t *testing.T) {
	wrong := &referee.Struct{Name: "S", Fields: []referee.Field{
		{ID: 1, Name: "list", Type: referee.ListOf(referee.String)}, {ID: 2, Name: "map", Type: referee.MapOf(referee.I64, referee.Bool)},
		{ID: 3, Name: "set", Type: referee.SetOf(referee.I8)}, {ID: 4, Name: "ok", Type: referee.ListOf(referee.I32)}}}
	right := &referee.Struct{Name: "S", Fields: []referee.Field{
		{ID: 1, Name: "list", Type: referee.ListOf(referee.I32)}, {ID: 2, Name: "map", Type: referee.MapOf(referee.I64, referee.String)},
		{ID: 3, Name: "set", Type: referee.SetOf(referee.Bool)}, {ID: 4, Name: "ok", Type: referee.ListOf(referee.I32)}}}
	strict := &referee.Struct{Name: "S", Fields: []referee.Field{{ID: 2, Name: "map", Type: referee.MapOf(referee.I64, referee.String), Req: referee.Required}}}
	sc := apachetest.NewSchema()
	i32 := func(n ...int32) *referee.List {
		l := &referee.List{Type: wrong.Fields[3].Type}
		for _, v := range n {
			l.Elems = append(l.Elems, v)
		}
		return l
	}
	full := &referee.Record{Type: wrong, Fields: []referee.Value{
		&referee.List{Type: wrong.Fields[0].Type, Elems: []referee.Value{"a", "bc"}},
		&referee.Map{Type: wrong.Fields[1].Type, Pairs: []referee.Pair{{Key: int64(1), Value: true}}},
		&referee.List{Type: wrong.Fields[2].Type, Elems: []referee.Value{int8(2)}}, i32(1, 2)}}
	empty := &referee.Record{Type: wrong, Fields: []referee.Value{
		&referee.List{Type: wrong.Fields[0].Type}, &referee.Map{Type: wrong.Fields[1].Type}, &referee.List{Type: wrong.Fields[2].Type}, i32()}}
	for _, w := range apachetest.Wires {
		for name, rec := range map[string]*referee.Record{"full": full, "empty": empty} {
			b := w.Written(t, func(p thrift.TProtocol) error { return referee.WriteTo(p, rec) })
			var s nocopy.Struct
			if err := w.Read(t, b, func(p thrift.TProtocol) (err error) {
				s, err = apachethrift.ReadStruct(t.Context(), p, sc.Desc(right))
				return err
			}); err != nil {
				t.Fatal(w.Name, err)
			}
			got, err := referee.Accept(right, s.Message().Bytes())
			if err != nil {
				t.Fatal(err)
			}
			ofRight := &referee.Record{Type: right, Fields: []referee.Value{&referee.List{Type: right.Fields[0].Type},
				&referee.Map{Type: right.Fields[1].Type}, &referee.List{Type: right.Fields[2].Type}, i32()}}
			if b := referee.Write(ofRight, nil); name == "empty" && w.Name != "binary" && w.Name != "binary, not strict" && !bytes.Equal(s.Message().Bytes(), b) {
				t.Errorf("%s: empty containers are kept as %x, not %x", w.Name, s.Message().Bytes(), b)
			}
			set, unknown := 0, len(got.Unknown)
			for _, f := range got.Fields {
				if f != nil {
					set++
				}
			}
			if name == "full" && (set != 1 || unknown != 3) || name == "empty" && (set != 4 || unknown != 0) {
				t.Errorf("%s, %s: %d fields are set, %d unknown", w.Name, name, set, unknown)
			}
			again := w.Written(t, func(p thrift.TProtocol) error {
				return apachethrift.Write(t.Context(), p, apachetest.Known{Desc: sc.Desc(right), Struct: s})
			})
			if name == "full" && !bytes.Equal(again, b) {
				t.Errorf("%s: forwarded as\n%q, not\n%q", w.Name, again, b)
			}
			err = w.Read(t, b, func(p thrift.TProtocol) error {
				_, err := apachethrift.ReadStruct(t.Context(), p, sc.Desc(strict))
				return err
			})
			if (name == "full") != errors.Is(err, nocopy.ErrMissingRequired) {
				t.Errorf("%s, %s: %v", w.Name, name, err)
			}
		}
	}
}

// FuzzProcess: whatever is sent to a processor, it returns, and wh

func newOrder() order.Order {
	o := order.NewOrder()
	o.SetID(7)
	o.SetCustomer("Ada")
	line := o.NewLines(0).AppendNew()
	line.SetArticle("kettle")
	line.SetCount(2)
	return o
}
