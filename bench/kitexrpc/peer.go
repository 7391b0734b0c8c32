package main

import (
	"context"
	"fmt"
	"net"
	"time"

	"github.com/cloudwego/kitex/client"
	"github.com/cloudwego/kitex/pkg/connpool"
	"github.com/cloudwego/kitex/server"
	"github.com/cloudwego/kitex/transport"
)

// peer is one of the things that are compared.
type peer struct {
	name string
	// newServer returns a server that reads all of a record and returns it
	newServer func(opts []server.Option) server.Server
	// newProxy returns a server that changes a record's tenant, has another server answer, and
	// returns the answer
	newProxy func(to []client.Option, opts []server.Option) (server.Server, error)
	// newCaller returns a function that sends a record made of src and reads all of the answer, of
	// which it returns what sum returns
	newCaller func(to []client.Option) (func(ctx context.Context, src *source) (uint64, error), error)
}

var peers = []peer{fastCodec, ours, oursRecycle}

func peerNamed(name string) (peer, error) {
	for _, p := range peers {
		if p.name == name {
			return p, nil
		}
	}
	return peer{}, fmt.Errorf("no peer %q", name)
}

// byProxy returns the tenant that the proxy sets in a record.
func byProxy(tenant string) string { return tenant + "/by-proxy" }

func clientOptions(addr string, conns int) []client.Option {
	return []client.Option{
		client.WithHostPorts(addr), client.WithTransportProtocol(transport.Framed),
		client.WithLongConnection(connpool.IdleConfig{
			MinIdlePerAddress: conns, MaxIdlePerAddress: conns, MaxIdleGlobal: conns, MaxIdleTimeout: time.Minute,
		}),
	}
}

func serverOptions(l net.Listener) []server.Option {
	return []server.Option{server.WithListener(l), server.WithExitWaitTime(time.Millisecond)}
}
