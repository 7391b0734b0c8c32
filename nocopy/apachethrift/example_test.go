package apachethrift_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/thrift/lib/go/thrift"
	"github.com/nocopythrift/nocopythrift/examples/kv"
	apache "github.com/nocopythrift/nocopythrift/examples/quickstart/apache/order"
	"github.com/nocopythrift/nocopythrift/examples/quickstart/order"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/apachethrift"
)

func newOrder() order.Order {
	o := order.NewOrder()
	o.SetID(7)
	o.SetCustomer("Ada")
	line := o.NewLines(0).AppendNew()
	line.SetArticle("kettle")
	line.SetCount(2)
	return o
}

// A message is written and read over a protocol other than Thrift Binary.
func ExampleWrite() {
	ctx, memory := context.Background(), thrift.NewTMemoryBuffer()
	p := thrift.NewTCompactProtocolConf(memory, nil)
	if err := apachethrift.Write(ctx, p, newOrder()); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(memory.Len(), "bytes")
	got, err := apachethrift.Read[order.Order](ctx, p)
	fmt.Println(got, err)
	// Output:
	// 31 bytes
	// {id: 7, customer: "Ada", lines: [{article: "kettle", count: 2, price: 0}]} <nil>
}

// Struct makes functions that accept a TStruct accept a generated type.
func ExampleStruct() {
	o := newOrder()
	serializer := thrift.NewTSerializer()
	serializer.Protocol = thrift.NewTJSONProtocol(serializer.Transport)
	text, err := serializer.WriteString(context.Background(), apachethrift.Struct(&o))
	fmt.Println(text, err)

	var got order.Order
	deserializer := thrift.NewTDeserializer()
	deserializer.Protocol = thrift.NewTJSONProtocol(deserializer.Transport)
	err = deserializer.ReadString(context.Background(), apachethrift.Struct(&got), text)
	fmt.Println(got.GetCustomer(), err)

	serializer.Protocol = thrift.NewTSimpleJSONProtocol(serializer.Transport)
	text, err = serializer.WriteString(context.Background(), apachethrift.Struct(&o))
	fmt.Println(text, err)
	// Output:
	// {"1":{"i64":7},"2":{"str":"Ada"},"3":{"lst":["rec",1,{"2":{"i32":2},"3":{"dbl":0},"1":{"str":"kettle"}}]}} <nil>
	// Ada <nil>
	// {"id":7,"customer":"Ada","lines":[12,1,{"count":2,"price":0,"article":"kettle"}]} <nil>
}

// A service that uses both kinds of generated types converts structs from one to the other.
func ExampleToApache() {
	theirs := apache.NewOrder()
	if err := apachethrift.ToApache(newOrder(), theirs); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(*theirs.Lines[0])

	theirs.Customer = "Grace"
	ours, err := apachethrift.FromApache[order.Order](theirs)
	fmt.Println(ours.GetCustomer(), ours.GetLines().At(0).GetArticle(), err)
	// Output:
	// {kettle 2 0}
	// Grace kettle <nil>
}

// store is a handler of package rpc.
type store map[string]string

func (s store) Create(_ context.Context, args kv.KeyValueCreateArgs, _ kv.KeyValueCreateResult) error {
	if _, ok := s[string(args.GetKey())]; ok {
		exists := kv.NewAlreadyExists()
		exists.SetKey(args.GetKey())
		return exists
	}
	s[string(args.GetKey())] = string(args.GetValue())
	return nil
}

func (s store) Retrieve(ctx context.Context, args kv.KeyValueRetrieveArgs, result kv.KeyValueRetrieveResult) error {
	if user, ok := thrift.GetHeader(ctx, "user"); ok {
		fmt.Printf("%s asks for %s\n", user, args.GetKey())
	}
	v, ok := s[string(args.GetKey())]
	if !ok {
		result.NewMissing().SetKey(args.GetKey())
		return nil
	}
	result.SetSuccess([]byte(v))
	return nil
}

func (s store) Update(context.Context, kv.KeyValueUpdateArgs, kv.KeyValueUpdateResult) error {
	return errors.New("not today")
}

func (s store) Delete(context.Context, kv.KeyValueDeleteArgs, kv.KeyValueDeleteResult) error {
	return nil
}

// A server of Apache's library serves a handler of package rpc. A generated client makes its calls
// through Apache's client, over the header protocol with the compact protocol in it.
func ExampleNewProcessor() {
	protocol := thrift.THeaderProtocolCompact
	conf := &thrift.TConfiguration{THeaderProtocolID: &protocol}
	protocols := thrift.NewTHeaderProtocolFactoryConf(conf)

	processor := apachethrift.NewProcessor(kv.NewKeyValueProcessor(store{}), nocopy.Limits{})
	socket, err := thrift.NewTServerSocket("127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	server := thrift.NewTSimpleServer4(processor, socket, thrift.NewTTransportFactory(), protocols)
	if err := server.Listen(); err != nil {
		fmt.Println(err)
		return
	}
	go server.AcceptLoop()
	defer server.Stop()

	conn := thrift.NewTSocketConf(socket.Addr().String(), conf)
	if err := conn.Open(); err != nil {
		fmt.Println(err)
		return
	}
	defer conn.Close()
	p := protocols.GetProtocol(conn)
	client := kv.NewKeyValueClient(apachethrift.NewCaller(thrift.NewTStandardClient(p, p)))

	ctx := thrift.SetWriteHeaderList(thrift.SetHeader(context.Background(), "user", "ada"), []string{"user"})
	_, err = client.Create(ctx, func(args kv.KeyValueCreateArgs) {
		args.SetKey([]byte("answer"))
		args.SetValue([]byte("42"))
	})
	fmt.Println(err)
	r, err := client.Retrieve(ctx, func(args kv.KeyValueRetrieveArgs) { args.SetKey([]byte("answer")) })
	fmt.Printf("%s %v\n", r.GetSuccess(), err)
	_, err = client.Retrieve(ctx, func(args kv.KeyValueRetrieveArgs) { args.SetKey([]byte("question")) })
	var missing kv.NotFound
	fmt.Printf("%v %s\n", errors.As(err, &missing), missing.GetKey())
	_, err = client.Update(ctx, nil)
	fmt.Println(err)
	// Output:
	// <nil>
	// ada asks for answer
	// 42 <nil>
	// ada asks for question
	// true question
	// rpc: internal error: Internal error processing update: not today
}

// Middlewares of Apache's library run around the calls of generated clients.
func ExampleNewCaller() {
	logging := func(next thrift.TClient) thrift.TClient {
		return thrift.WrappedTClient{Wrapped: func(ctx context.Context, method string, args, result thrift.TStruct) (thrift.ResponseMeta, error) {
			meta, err := next.Call(ctx, method, args, result)
			fmt.Println(method, args, "→", result, err)
			return meta, err
		}}
	}
	client := kv.NewKeyValueClient(apachethrift.NewCaller(thrift.WrapClient(inProcess(), logging)))
	client.Create(context.Background(), func(args kv.KeyValueCreateArgs) { args.SetKey([]byte("k")) })
	client.Create(context.Background(), func(args kv.KeyValueCreateArgs) { args.SetKey([]byte("k")) })
	// Output:
	// create {key: 0x6b} → {} <nil>
	// create {key: 0x6b} → {exists: {key: 0x6b}} <nil>
}

// inProcess returns a client whose calls are answered by a processor in the same process.
func inProcess() thrift.TClient {
	processor := apachethrift.NewProcessor(kv.NewKeyValueProcessor(store{}), nocopy.Limits{})
	there, back := thrift.NewTMemoryBuffer(), thrift.NewTMemoryBuffer()
	in, out := thrift.NewTCompactProtocolConf(there, nil), thrift.NewTCompactProtocolConf(back, nil)
	client := thrift.NewTStandardClient(out, in)
	return thrift.WrappedTClient{Wrapped: func(ctx context.Context, method string, args, result thrift.TStruct) (thrift.ResponseMeta, error) {
		if err := client.Send(ctx, in, 1, method, args); err != nil || result == nil {
			return thrift.ResponseMeta{}, err
		}
		processor.Process(ctx, in, out)
		return thrift.ResponseMeta{}, client.Recv(ctx, out, 1, method, result)
	}}
}
