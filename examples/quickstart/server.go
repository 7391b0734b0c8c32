package main

import (
	"context"
	"fmt"
	"net"

	"github.com/apache/thrift/lib/go/thrift"

	apache "github.com/nocopythrift/nocopythrift/examples/quickstart/apache/order"
)

// serve is the other side of the connection: a server written with Apache Thrift's Go library and
// the structs that Apache's compiler generates. It knows nothing of this library. It answers an
// order with a receipt, reads the receipt that comes back, and returns what it has read.
func serve(conn net.Conn) (*apache.Order, *apache.Receipt, error) {
	ctx := context.Background()
	cfg := &thrift.TConfiguration{}
	trans := thrift.NewTFramedTransportConf(thrift.NewTSocketFromConnConf(conn, cfg), cfg)
	defer trans.Close()
	proto := thrift.NewTBinaryProtocolConf(trans, cfg)

	order := apache.NewOrder()
	if err := order.Read(ctx, proto); err != nil {
		return nil, nil, fmt.Errorf("server: reading the order: %w", err)
	}
	receipt := apache.NewReceipt()
	receipt.OrderID = order.ID
	receipt.Message = "thank you, " + order.Customer
	receipt.Lines = int32(len(order.Lines))
	receipt.DocumentSize = int32(len(order.Document))
	for _, l := range order.Lines {
		receipt.Total += float64(l.Count) * l.Price
	}
	if err := receipt.Write(ctx, proto); err != nil {
		return nil, nil, fmt.Errorf("server: writing the receipt: %w", err)
	}
	if err := proto.Flush(ctx); err != nil {
		return nil, nil, fmt.Errorf("server: writing the receipt: %w", err)
	}
	forwarded := apache.NewReceipt()
	if err := forwarded.Read(ctx, proto); err != nil {
		return nil, nil, fmt.Errorf("server: reading the forwarded receipt: %w", err)
	}
	return order, forwarded, nil
}
