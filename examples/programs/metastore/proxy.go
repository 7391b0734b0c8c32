package main

import (
	"context"
	"embed"
	"errors"
	"log/slog"
	"net"

	"github.com/nocopythrift/nocopythrift/nocopy/dynamic"
	"github.com/nocopythrift/nocopythrift/nocopy/reflection"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

//go:embed metastore.thrift locations.thrift
var idl embed.FS

// proxy serves the clients of a metastore and shows them its locations elsewhere.
type proxy struct {
	move      move
	metastore string       // its address
	options   []rpc.Option // of connections to it
}

// server returns the server to which clients connect. Methods of locations.thrift are rewritten,
// all others are forwarded as they come.
func (p proxy) server() (*rpc.Server, error) {
	schema, err := dynamic.Loader{FS: idl}.Load("locations.thrift")
	if err != nil {
		return nil, err
	}
	service, err := schema.Service("Locations")
	if err != nil {
		return nil, err
	}
	calls := service.Processor(nil).WithFallback(forward)
	for m := range service.AllMethods() {
		args, result := marksOf(m.Args()), marksOf(m.Result())
		calls = calls.WithHandler(func(ctx context.Context, c *rpc.Call) error {
			if err := args.rewrite(reflection.Of(rpc.AnyArgs(c)), p.move.stored); err != nil {
				return err
			}
			if err := forward(ctx, c); err != nil {
				return err
			}
			return result.rewrite(reflection.Of(rpc.AnyResult(c)), p.move.shown)
		}, m.Name())
	}
	return &rpc.Server{Processor: calls, ConnContext: p.connect, Lazy: true, Recycle: true, Concurrency: 1}, nil
}

// session is a client's connection. A metastore remembers who has logged in on a connection, and
// the settings made there. Each client therefore has its own connection to it.
type session struct {
	client  net.Conn
	forward rpc.Handler
}

type sessionKey struct{}

// connect gives a client's connection its session.
func (p proxy) connect(ctx context.Context, client net.Conn) context.Context {
	options := append([]rpc.Option{rpc.OneConnection, rpc.Lazy, rpc.Recycle}, p.options...)
	metastore, err := rpc.Dial(ctx, "tcp", p.metastore, options...)
	if err != nil {
		slog.Error("no connection to the metastore", "client", client.RemoteAddr(), "err", err)
		client.Close()
		return ctx
	}
	context.AfterFunc(ctx, func() { metastore.Close() })
	return context.WithValue(ctx, sessionKey{}, &session{client, rpc.Forward(metastore)})
}

// forward makes a client's call at the metastore.
func forward(ctx context.Context, c *rpc.Call) error {
	s := ctx.Value(sessionKey{}).(*session)
	err := s.forward(ctx, c)
	if errors.Is(err, rpc.ErrConnLost) || errors.Is(err, rpc.ErrNotSent) {
		slog.Warn("the metastore's connection has ended", "client", c.Peer, "method", c.Method.WireName(), "err", err)
		s.client.Close() // as the metastore would: clients connect again and try again
	}
	return err
}
