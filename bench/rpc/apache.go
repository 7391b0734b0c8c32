package main

import (
	"context"

	"github.com/apache/thrift/lib/go/thrift"

	"github.com/nocopythrift/nocopythrift/bench/rpc/generated/apache/echo"
)

type apacheHandler struct{}

func (apacheHandler) Echo(_ context.Context, m *echo.Message) (*echo.Message, error) { return m, nil }

var (
	apacheConfig     = &thrift.TConfiguration{}
	apacheTransports = thrift.NewTFramedTransportFactoryConf(thrift.NewTBufferedTransportFactory(8<<10), apacheConfig)
	apacheProtocols  = thrift.NewTBinaryProtocolFactoryConf(apacheConfig)
)

func startApache() (string, error) {
	socket, err := thrift.NewTServerSocket("127.0.0.1:0")
	if err != nil {
		return "", err
	}
	if err := socket.Listen(); err != nil {
		return "", err
	}
	srv := thrift.NewTSimpleServer4(echo.NewEchoProcessor(apacheHandler{}), socket, apacheTransports, apacheProtocols)
	go srv.Serve()
	return socket.Addr().String(), nil
}

func dialApache(addr string, conns, workers int) ([]caller, func(), error) {
	var opened []thrift.TTransport
	callers := make([]caller, workers)
	for i := range callers {
		t, err := apacheTransports.GetTransport(thrift.NewTSocketConf(addr, apacheConfig))
		if err != nil {
			return nil, nil, err
		}
		if err := t.Open(); err != nil {
			return nil, nil, err
		}
		opened = append(opened, t)
		client := echo.NewEchoClientFactory(t, apacheProtocols)
		callers[i] = func(id int64, payload []byte) (int64, int, error) {
			m, err := client.Echo(context.Background(), &echo.Message{ID: id, Action: action, Payload: payload})
			if err != nil {
				return 0, 0, err
			}
			return m.ID, len(m.Payload), nil
		}
	}
	return callers, func() {
		for _, t := range opened {
			t.Close()
		}
	}, nil
}
