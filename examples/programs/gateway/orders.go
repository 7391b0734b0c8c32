package main

import (
	"context"
	"sync/atomic"

	"github.com/nocopythrift/nocopythrift/nocopy/dynamic"
)

// orders handles the calls of the service Orders. It has no generated code either.
type orders struct{ last atomic.Int64 }

// firstID is larger than the whole numbers that JavaScript can tell apart. The IDL therefore makes
// ids strings in JSON.
const firstID = 1 << 60

func (o *orders) submit(_ context.Context, c *dynamic.Call) error {
	order, err := c.Args.Get("order")
	if err != nil {
		return err
	}
	lines, _ := order.Message().Get("lines")
	var cents int64
	for _, line := range lines.List().All() {
		count, _ := line.Message().Get("count")
		price, _ := line.Message().Get("cents")
		cents += count.Int() * price.Int()
	}
	if lines.List().Len() == 0 {
		refused, err := c.Result.New("refused")
		if err != nil {
			return err
		}
		return refused.Message().Set("why", "an order without lines")
	}
	request, err := order.Message().Lookup("trace.request_id")
	if err != nil {
		return err
	}
	success, err := c.Result.New("success")
	if err != nil {
		return err
	}
	receipt := success.Message()
	for name, v := range map[string]any{
		"id": firstID + o.last.Add(1), "lines": lines.List().Len(), "cents": cents, "request_id": request, "status": 201,
	} {
		if err := receipt.Set(name, v); err != nil {
			return err
		}
	}
	return nil
}
