package main

import (
	"context"
	"net"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/nocopythrift/nocopythrift/bench/rpc/generated/grpc/echo"
)

type grpcHandler struct{ echo.UnimplementedEchoServer }

func (grpcHandler) Echo(_ context.Context, m *echo.Message) (*echo.Message, error) { return m, nil }

func startGRPC() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	srv := grpc.NewServer()
	echo.RegisterEchoServer(srv, grpcHandler{})
	go srv.Serve(l)
	return l.Addr().String(), nil
}

func dialGRPC(addr string, conns, workers int) ([]caller, func(), error) {
	var opened []*grpc.ClientConn
	for range conns {
		c, err := grpc.NewClient(addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
		if err != nil {
			return nil, nil, err
		}
		opened = append(opened, c)
	}
	callers := make([]caller, workers)
	for i := range callers {
		client := echo.NewEchoClient(opened[i%conns])
		callers[i] = func(id int64, payload []byte) (int64, int, error) {
			m, err := client.Echo(context.Background(), &echo.Message{Id: id, Action: action, Payload: payload})
			if err != nil {
				return 0, 0, err
			}
			return m.Id, len(m.Payload), nil
		}
	}
	return callers, func() {
		for _, c := range opened {
			c.Close()
		}
	}, nil
}
