package main

import (
	"context"
	"net"
	"time"

	"github.com/cloudwego/kitex/client"
	"github.com/cloudwego/kitex/pkg/connpool"
	"github.com/cloudwego/kitex/pkg/klog"
	"github.com/cloudwego/kitex/pkg/remote/codec/thrift"
	"github.com/cloudwego/kitex/server"
	"github.com/cloudwego/kitex/transport"

	"github.com/nocopythrift/nocopythrift/bench/rpc/generated/kitex/echo"
	service "github.com/nocopythrift/nocopythrift/bench/rpc/generated/kitex/echo/echo"
)

type kitexHandler struct{}

func (kitexHandler) Echo(_ context.Context, m *echo.Message) (*echo.Message, error) { return m, nil }

func startKitex() (string, error) {
	klog.SetLevel(klog.LevelFatal)
	l, err := net.Listen("tcp", "127.0.0.1:0") // only to find a free port
	if err != nil {
		return "", err
	}
	addr := l.Addr()
	l.Close()
	srv := service.NewServer(new(kitexHandler), server.WithServiceAddr(addr), server.WithPayloadCodec(thrift.NewThriftCodecWithConfig(thrift.FastRead|thrift.FastWrite)))
	go srv.Run()
	awaitKitex(addr)
	return addr.String(), nil
}

// awaitKitex returns when a server listens at addr, after a minute at the latest.
func awaitKitex(addr net.Addr) {
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if nc, err := net.Dial(addr.Network(), addr.String()); err == nil {
			nc.Close()
			return
		}
	}
}

func dialKitex(addr string, conns, workers int) ([]caller, func(), error) {
	cl, err := service.NewClient("echo", client.WithHostPorts(addr), client.WithTransportProtocol(transport.Framed),
		client.WithPayloadCodec(thrift.NewThriftCodecWithConfig(thrift.FastRead|thrift.FastWrite)),
		client.WithLongConnection(connpool.IdleConfig{MinIdlePerAddress: conns, MaxIdlePerAddress: conns, MaxIdleGlobal: conns, MaxIdleTimeout: time.Minute}))
	if err != nil {
		return nil, nil, err
	}
	callers := make([]caller, workers)
	for i := range callers {
		callers[i] = func(id int64, payload []byte) (int64, int, error) {
			m, err := cl.Echo(context.Background(), &echo.Message{Id: id, Action: action, Payload: payload})
			if err != nil {
				return 0, 0, err
			}
			return m.Id, len(m.Payload), nil
		}
	}
	stop := func() {
		if c, ok := cl.(interface{ Close() error }); ok {
			c.Close()
		}
	}
	return callers, stop, nil
}
