package rpc_test

import (
	"context"
	"fmt"
	"net"
	"slices"
	"time"

	"github.com/nocopythrift/nocopythrift/examples/kv"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// Calls in packets of UDP. Packets get lost: therefore calls have deadlines.
func ExampleServer_ServeMessage() {
	packets, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	defer packets.Close()
	srv := &rpc.Server{Processor: kv.NewKeyValueProcessor(new(store)), MaxFrame: 65_507}
	go func() {
		buf := make([]byte, 65_507)
		for {
			n, from, err := packets.ReadFrom(buf)
			if err != nil {
				return
			}
			reply, err := srv.ServeMessage(context.Background(), slices.Clone(buf[:n]))
			if err == nil && reply != nil {
				packets.WriteTo(reply, from)
			}
		}
	}()

	caller := rpc.NewCaller(func(ctx context.Context, m *rpc.Method, call []byte) ([]byte, error) {
		nc, err := net.Dial("udp", packets.LocalAddr().String())
		if err != nil {
			return nil, err
		}
		defer nc.Close()
		deadline, _ := ctx.Deadline()
		nc.SetDeadline(deadline)
		if _, err := nc.Write(call); err != nil || m.Oneway() {
			return nil, err
		}
		reply := make([]byte, 65_507)
		n, err := nc.Read(reply)
		return reply[:n], err
	}, rpc.Protocol(rpc.Compact))
	c := kv.NewKeyValueClient(caller)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	_, err = c.Create(ctx, func(args kv.KeyValueCreateArgs) { args.SetKey([]byte("key")); args.SetValue([]byte("value")) })
	fmt.Println(err)
	res, err := c.Retrieve(ctx, func(args kv.KeyValueRetrieveArgs) { args.SetKey([]byte("key")) })
	fmt.Printf("%s %v\n", res.GetSuccess(), err)
	// Output:
	// <nil>
	// value <nil>
}
