package rpc_test

import (
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/echo"
)

func BenchmarkCall(b *testing.B) {
	c := echo.NewEchoClient(dial(b, serve(b, &rpc.Server{}, &handler{}), rpc.PoolSize(1)))
	b.ReportAllocs()
	for i := range b.N {
		sum, err := c.Add(bg, func(args echo.EchoAddArgs) { args.SetA(int64(i)); args.SetB(2) })
		if err != nil || sum.GetSuccess() != int64(i)+2 {
			b.Fatal(err)
		}
		sum.Release()
	}
}
