package main

import (
	"context"
	"time"

	"github.com/apache/thrift/lib/go/thrift"

	"example.com/kvstore/apache/kv"
	"example.com/kvstore/store"
)

type handler struct{ store *store.Store }

func (h handler) Create(ctx context.Context, key, value []byte) error {
	return h.store.Create(key, value)
}

func (h handler) Retrieve(ctx context.Context, key []byte) ([]byte, error) {
	return h.store.Retrieve(key)
}

func (h handler) Update(ctx context.Context, key, value []byte) error {
	return h.store.Update(key, value)
}

func (h handler) Delete(ctx context.Context, key []byte) error { return h.store.Delete(key) }

func serve(s *store.Store) (addr string, stop func() error, err error) {
	socket, err := thrift.NewTServerSocket("127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	if err := socket.Listen(); err != nil {
		return "", nil, err
	}
	server := thrift.NewTSimpleServer4(kv.NewKeyValueProcessor(handler{s}), socket,
		thrift.NewTFramedTransportFactoryConf(thrift.NewTTransportFactory(), nil),
		thrift.NewTBinaryProtocolFactoryConf(nil))
	go server.Serve()
	return socket.Addr().String(), server.Stop, nil
}

type connection struct {
	transport thrift.TTransport
	client    *kv.KeyValueClient
}

func dial(addr string) (client, error) {
	conf := &thrift.TConfiguration{SocketTimeout: time.Minute}
	transport := thrift.NewTFramedTransportConf(thrift.NewTSocketConf(addr, conf), conf)
	if err := transport.Open(); err != nil {
		return nil, err
	}
	return connection{transport, kv.NewKeyValueClientFactory(transport, thrift.NewTBinaryProtocolFactoryConf(nil))}, nil
}

func (c connection) Create(key, value []byte) error {
	return c.client.Create(context.Background(), key, value)
}

func (c connection) Retrieve(key []byte) ([]byte, error) {
	return c.client.Retrieve(context.Background(), key)
}

func (c connection) Update(key, value []byte) error {
	return c.client.Update(context.Background(), key, value)
}

func (c connection) Delete(key []byte) error { return c.client.Delete(context.Background(), key) }

func (c connection) Close() error { return c.transport.Close() }
