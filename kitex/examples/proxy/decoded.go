package main

import (
	"context"
	"errors"
	"hash/fnv"
	"net"
	"strings"
	"time"

	"github.com/apache/thrift/lib/go/thrift"
	"github.com/cloudwego/kitex/client"
	"github.com/cloudwego/kitex/pkg/connpool"
	"github.com/cloudwego/kitex/server"
	"github.com/cloudwego/kitex/transport"

	apache "github.com/nocopythrift/nocopythrift/kitex/examples/proxy/apache/shop"
	kitex "github.com/nocopythrift/nocopythrift/kitex/examples/proxy/kitex_gen/shop"
	kitexorders "github.com/nocopythrift/nocopythrift/kitex/examples/proxy/kitex_gen/shop/orders"
)

// The proxies that ours is compared with: they know the service's IDL, decode each message into
// structs of Go, and encode these again.

// choose returns the number of a tenant's back end among n, as router has it.
func choose(tenant string, n int) int {
	h := fnv.New32a()
	h.Write([]byte(tenant))
	return int(h.Sum32() % uint32(n))
}

// passing returns what a header's field via is to be.
func passing(via, name string) string { return strings.TrimPrefix(via+" "+name, " ") }

// kitexProxy has Kitex's structs, with FastCodec.
type kitexProxy struct {
	name     string
	backends []kitexorders.Client
}

// serveKitex serves a Kitex proxy until stop is closed.
func serveKitex(l net.Listener, name string, backends []string, stop <-chan struct{}) error {
	p := &kitexProxy{name: name}
	for _, addr := range backends {
		cl, err := kitexorders.NewClient("orders", client.WithHostPorts(addr), client.WithTransportProtocol(transport.Framed),
			client.WithLongConnection(connpool.IdleConfig{MaxIdlePerAddress: 64, MaxIdleGlobal: 256, MaxIdleTimeout: time.Minute}))
		if err != nil {
			return err
		}
		p.backends = append(p.backends, cl)
	}
	svr := kitexorders.NewServer(p, server.WithListener(l), server.WithExitWaitTime(10*time.Millisecond))
	go func() {
		<-stop
		svr.Stop()
	}()
	return svr.Run()
}

func (p *kitexProxy) backend(h *kitex.Header) kitexorders.Client {
	h.Via = passing(h.Via, p.name)
	return p.backends[choose(h.Tenant.Id, len(p.backends))]
}

func (p *kitexProxy) Place(ctx context.Context, order *kitex.Order) (*kitex.Receipt, error) {
	return p.backend(order.Header).Place(ctx, order)
}

func (p *kitexProxy) Known(ctx context.Context, q *kitex.Question) (bool, error) {
	return p.backend(q.Header).Known(ctx, q)
}

func (p *kitexProxy) Note(ctx context.Context, order *kitex.Order) error {
	return p.backend(order.Header).Note(ctx, order)
}

// apacheProxy has the structs of Apache Thrift's Go library.
type apacheProxy struct {
	name     string
	backends []*apachePool
}

// apacheConfig allows messages as large as in the other proxies.
var apacheConfig = &thrift.TConfiguration{MaxMessageSize: 64 << 20, MaxFrameSize: 16_384_000}

// serveApache serves an Apache proxy until stop is closed.
func serveApache(l net.Listener, name string, backends []string, stop <-chan struct{}) error {
	p := &apacheProxy{name: name}
	for _, addr := range backends {
		p.backends = append(p.backends, newApachePool(addr))
	}
	addr := l.Addr().String()
	l.Close() // Apache's server listens by itself
	socket, err := thrift.NewTServerSocket(addr)
	if err != nil {
		return err
	}
	svr := thrift.NewTSimpleServer4(apache.NewOrdersProcessor(p), socket,
		thrift.NewTFramedTransportFactoryConf(thrift.NewTTransportFactory(), apacheConfig),
		thrift.NewTBinaryProtocolFactoryConf(apacheConfig))
	go func() {
		<-stop
		svr.Stop()
	}()
	return svr.Serve()
}

func (p *apacheProxy) backend(h *apache.Header) *apachePool {
	h.Via = passing(h.Via, p.name)
	return p.backends[choose(h.Tenant.ID, len(p.backends))]
}

func (p *apacheProxy) Place(ctx context.Context, order *apache.Order) (receipt *apache.Receipt, err error) {
	err = p.backend(order.Header).do(func(c *apache.OrdersClient) error {
		receipt, err = c.Place(ctx, order)
		return err
	})
	return receipt, err
}

func (p *apacheProxy) Known(ctx context.Context, q *apache.Question) (known bool, err error) {
	err = p.backend(q.Header).do(func(c *apache.OrdersClient) error {
		known, err = c.Known(ctx, q)
		return err
	})
	return known, err
}

func (p *apacheProxy) Note(ctx context.Context, order *apache.Order) error {
	return p.backend(order.Header).do(func(c *apache.OrdersClient) error { return c.Note(ctx, order) })
}

// apachePool has connections to a back end: a client of Apache's makes one call at a time.
type apachePool struct {
	addr string
	idle chan apacheConn
}

type apacheConn struct {
	transport thrift.TTransport
	client    *apache.OrdersClient
}

func newApachePool(addr string) *apachePool {
	return &apachePool{addr: addr, idle: make(chan apacheConn, 256)}
}

// do calls f with a client that nobody else uses.
func (p *apachePool) do(f func(*apache.OrdersClient) error) error {
	var c apacheConn
	select {
	case c = <-p.idle:
	default:
		socket := thrift.NewTSocketConf(p.addr, apacheConfig)
		c.transport = thrift.NewTFramedTransportConf(socket, apacheConfig)
		if err := c.transport.Open(); err != nil {
			return err
		}
		c.client = apache.NewOrdersClientFactory(c.transport, thrift.NewTBinaryProtocolFactoryConf(apacheConfig))
	}
	err := f(c.client)
	var broken thrift.TTransportException
	if errors.As(err, &broken) {
		c.transport.Close()
		return err
	}
	select {
	case p.idle <- c:
	default:
		c.transport.Close()
	}
	return err
}
