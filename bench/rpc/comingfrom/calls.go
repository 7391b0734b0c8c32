// Package comingfrom has the calls of docs/coming-from.md: how users of other libraries serve and
// call today, and how that is written here. The tests of package comingfrom in the folder bench
// put the functions' bodies into the document.
package comingfrom

import (
	"context"
	"net"
	"strings"

	"github.com/apache/thrift/lib/go/thrift"
	"github.com/cloudwego/kitex/client"
	"github.com/cloudwego/kitex/server"
	"github.com/cloudwego/kitex/transport"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	apache "github.com/nocopythrift/nocopythrift/bench/rpc/generated/apache/echo"
	grpcecho "github.com/nocopythrift/nocopythrift/bench/rpc/generated/grpc/echo"
	kitex "github.com/nocopythrift/nocopythrift/bench/rpc/generated/kitex/echo"
	kitexecho "github.com/nocopythrift/nocopythrift/bench/rpc/generated/kitex/echo/echo"
	"github.com/nocopythrift/nocopythrift/bench/rpc/generated/nocopy/echo"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/apachethrift"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

type apacheHandler struct{}

func (apacheHandler) Echo(ctx context.Context, m *apache.Message) (*apache.Message, error) {
	return &apache.Message{ID: m.ID, Action: strings.ToUpper(m.Action), Payload: m.Payload}, nil
}

type kitexHandler struct{}

func (kitexHandler) Echo(ctx context.Context, m *kitex.Message) (*kitex.Message, error) {
	return &kitex.Message{Id: m.Id, Action: strings.ToUpper(m.Action), Payload: m.Payload}, nil
}

type grpcHandler struct {
	grpcecho.UnimplementedEchoServer
}

func (grpcHandler) Echo(ctx context.Context, m *grpcecho.Message) (*grpcecho.Message, error) {
	action := strings.ToUpper(m.GetAction())
	return &grpcecho.Message{Id: m.GetId(), Action: action, Payload: m.GetPayload()}, nil
}

type handler struct{}

func (handler) Echo(ctx context.Context, args echo.EchoEchoArgs, result echo.EchoEchoResult) error {
	in, out := args.GetMessage(), result.NewSuccess()
	out.SetID(in.GetID())
	out.SetAction(strings.ToUpper(in.GetAction()))
	out.SetPayload(in.GetPayload()) // of 4 KiB and more it is sent from where it arrived
	return nil
}

func serveApache(addr string) error {
	socket, err := thrift.NewTServerSocket(addr)
	if err != nil {
		return err
	}
	return thrift.NewTSimpleServer4(apache.NewEchoProcessor(apacheHandler{}), socket,
		thrift.NewTFramedTransportFactoryConf(thrift.NewTTransportFactory(), nil),
		thrift.NewTBinaryProtocolFactoryConf(nil)).Serve()
}

func serveKitex(addr string) error {
	at, err := net.ResolveTCPAddr("tcp", addr)
	if err != nil {
		return err
	}
	return kitexecho.NewServer(new(kitexHandler), server.WithServiceAddr(at)).Run()
}

func serveGRPC(addr string) error {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	srv := grpc.NewServer()
	grpcecho.RegisterEchoServer(srv, grpcHandler{})
	return srv.Serve(l)
}

func serve(addr string) error {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	srv := &rpc.Server{Processor: echo.NewEchoProcessor(handler{})}
	return srv.Serve(l) // framed and unframed clients
}

func callApache(ctx context.Context, addr string) (string, error) {
	socket := thrift.NewTSocketConf(addr, nil)
	framed := thrift.NewTFramedTransportConf(socket, nil)
	if err := framed.Open(); err != nil {
		return "", err
	}
	defer framed.Close()
	cl := apache.NewEchoClientFactory(framed, thrift.NewTBinaryProtocolFactoryConf(nil))
	m, err := cl.Echo(ctx, &apache.Message{ID: 1, Action: "hello"})
	if err != nil {
		return "", err
	}
	return m.Action, nil
}

func callKitex(ctx context.Context, addr string) (string, error) {
	cl, err := kitexecho.NewClient("echo", client.WithHostPorts(addr),
		client.WithTransportProtocol(transport.Framed))
	if err != nil {
		return "", err
	}
	m, err := cl.Echo(ctx, &kitex.Message{Id: 1, Action: "hello"})
	if err != nil {
		return "", err
	}
	return m.Action, nil
}

func callGRPC(ctx context.Context, addr string) (string, error) {
	conn, err := grpc.NewClient(addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return "", err
	}
	defer conn.Close()
	m, err := grpcecho.NewEchoClient(conn).Echo(ctx, &grpcecho.Message{Id: 1, Action: "hello"})
	if err != nil {
		return "", err
	}
	return m.GetAction(), nil
}

func call(ctx context.Context, addr string) (string, error) {
	conns, err := rpc.Dial(ctx, "tcp", addr) // keep it: it is a pool, for any number of goroutines
	if err != nil {
		return "", err
	}
	defer conns.Close()
	res, err := echo.NewEchoClient(conns).Echo(ctx, func(args echo.EchoEchoArgs) {
		m := args.NewMessage()
		m.SetID(1)
		m.SetAction("hello")
	})
	if err != nil {
		return "", err
	}
	defer res.Release()
	return res.GetSuccess().GetAction(), nil
}

func serveBridged(addr string) error {
	socket, err := thrift.NewTServerSocket(addr)
	if err != nil {
		return err
	}
	processor := apache.NewEchoProcessor(apacheHandler{})
	ours := apachethrift.NewProcessor(echo.NewEchoProcessor(handler{}), nocopy.Limits{})
	processor.AddToProcessorMap("echo", ours.ProcessorMap()["echo"]) // this method is written anew
	return thrift.NewTSimpleServer4(processor, socket,
		thrift.NewTFramedTransportFactoryConf(thrift.NewTTransportFactory(), nil),
		thrift.NewTBinaryProtocolFactoryConf(nil)).Serve()
}

func callBridged(ctx context.Context, addr string) (string, error) {
	socket := thrift.NewTSocketConf(addr, nil)
	framed := thrift.NewTFramedTransportConf(socket, nil)
	if err := framed.Open(); err != nil {
		return "", err
	}
	defer framed.Close()
	p := thrift.NewTBinaryProtocolConf(framed, nil)
	client := thrift.WrapClient(thrift.NewTStandardClient(p, p)) // with the middlewares there are
	ours := echo.NewEchoClient(apachethrift.NewCaller(client))
	res, err := ours.Echo(ctx, func(args echo.EchoEchoArgs) {
		m := args.NewMessage()
		m.SetID(1)
		m.SetAction("hello")
	})
	if err != nil {
		return "", err
	}
	return res.GetSuccess().GetAction(), nil
}
