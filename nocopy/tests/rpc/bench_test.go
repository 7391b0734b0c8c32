package rpc_test

import (
	"bytes"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
)

// benchClient returns a client with one connection, through loopback, to a server.
func benchClient(b *testing.B) echo.EchoClient {
	b.Helper()
	return echo.NewEchoClient(dial(b, serve(b, &rpc.Server{}, &handler{}), rpc.PoolSize(1)))
}

// BenchmarkCall makes small calls, one after the other.
func BenchmarkCall(b *testing.B) {
	c := benchClient(b)
	b.ReportAllocs()
	for b.Loop() {
		benchAdd(b, c)
	}
}

// BenchmarkPipelined makes small calls from many goroutines, which share a connection.
func BenchmarkPipelined(b *testing.B) {
	c := benchClient(b)
	b.ReportAllocs()
	b.SetParallelism(32)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			benchAdd(b, c)
		}
	})
}

func benchAdd(b *testing.B, c echo.EchoClient) {
	sum, err := c.Add(bg, func(args echo.EchoAddArgs) { args.SetA(1); args.SetB(2) })
	if err != nil || sum.GetSuccess() != 3 {
		b.Error(err)
		return
	}
	sum.Release()
}

// BenchmarkLargeCall sends 64 KiB, and receives them.
func BenchmarkLargeCall(b *testing.B) {
	c := benchClient(b)
	payload := bytes.Repeat([]byte("payload "), 8<<10)
	b.ReportAllocs()
	b.SetBytes(2 * int64(len(payload)))
	for b.Loop() {
		res, err := c.Echo(bg, func(args echo.EchoEchoArgs) { args.SetPayload(payload) })
		if err != nil || len(res.GetSuccess()) != len(payload) {
			b.Fatal(err)
		}
		res.Release()
	}
}
