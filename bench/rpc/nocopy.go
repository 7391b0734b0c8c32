package main

import (
	"context"
	"net"

	"github.com/nocopythrift/nocopythrift/bench/rpc/generated/nocopy/echo"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

type nocopyHandler struct{}

func (nocopyHandler) Echo(_ context.Context, args echo.EchoEchoArgs, result echo.EchoEchoResult) error {
	in, out := args.GetMessage(), result.NewSuccess()
	out.SetID(in.GetID())
	out.SetAction(in.GetAction())
	out.SetPayload(in.GetPayload())
	return nil
}

func startNocopy(recycle bool) func() (string, error) {
	return func() (string, error) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return "", err
		}
		srv := &rpc.Server{Processor: echo.NewEchoProcessor(nocopyHandler{}), Recycle: recycle}
		go srv.Serve(l)
		return l.Addr().String(), nil
	}
}

func dialNocopy(recycle bool) func(string, int, int) ([]caller, func(), error) {
	return func(addr string, conns, workers int) ([]caller, func(), error) {
		opts := []rpc.Option{rpc.PoolSize(conns)}
		if recycle {
			opts = append(opts, rpc.Recycle)
		}
		ctx := context.Background()
		cl, err := rpc.Dial(ctx, "tcp", addr, opts...)
		if err != nil {
			return nil, nil, err
		}
		client := echo.NewEchoClient(cl)
		callers := make([]caller, workers)
		for i := range callers {
			callers[i] = func(id int64, payload []byte) (int64, int, error) {
				res, err := client.Echo(ctx, func(args echo.EchoEchoArgs) {
					m := args.NewMessage()
					m.SetID(id)
					m.SetAction(action)
					m.SetPayload(payload)
				})
				if err != nil {
					return 0, 0, err
				}
				got := res.GetSuccess()
				id, n := got.GetID(), len(got.GetPayload())
				res.Release()
				return id, n, nil
			}
		}
		return callers, func() { cl.Close() }, nil
	}
}
