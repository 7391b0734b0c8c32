package main

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/nocopythrift/nocopythrift/kitex/examples/proxy/shop"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// tenants are those that the load places orders for.
var tenants = []string{"acme", "globex", "initech", "umbrella", "hooli", "stark", "wayne", "tyrell"}

// load places orders and checks the receipts.
type load struct {
	via      string            // what the proxy is called
	lines    int               // of an order: lines of some 80 bytes
	document []byte            // of an order
	backends map[string]string // tenant → the back end that has answered first
	mu       sync.Mutex
	ids      atomic.Int64
}

// newLoad returns a load of orders of about size bytes, half of them lines, half the document.
func newLoad(via string, size int) *load {
	return &load{
		via: via, lines: max(size/2/80, 1), document: bytes.Repeat([]byte("d"), size/2),
		backends: map[string]string{},
	}
}

// run has callers place orders, one after the other each, until ctx ends or something is wrong. It
// returns how many.
func (l *load) run(ctx context.Context, addr string, callers int) (int64, error) {
	cl, err := rpc.Dial(ctx, "tcp", addr, rpc.PoolSize(callers), rpc.MaxInFlight(callers), rpc.Recycle)
	if err != nil {
		return 0, err
	}
	defer cl.Close()
	orders := shop.NewOrdersClient(cl)
	var placed atomic.Int64
	var wrong error
	var once sync.Once
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() {
			for ctx.Err() == nil {
				if err := l.place(orders); err != nil {
					once.Do(func() { wrong = err })
					stop()
					return
				}
				placed.Add(1)
			}
		})
	}
	wg.Wait()
	return placed.Load(), wrong
}

// place places an order.
func (l *load) place(orders shop.OrdersClient) error {
	id := l.ids.Add(1)
	tenant := tenants[id%int64(len(tenants))]
	res, err := orders.Place(context.Background(), func(args shop.OrdersPlaceArgs) {
		order := args.NewOrder()
		header := order.NewHeader()
		header.NewTenant().SetID(tenant)
		header.SetVia("load")
		header.SetLabelsMap(map[string]string{"trace": "4bf92f3577b34da6"})
		order.SetID(id)
		lines := order.NewLines(l.lines)
		for i := range l.lines {
			line := lines.At(i)
			line.SetArticle("an article with a name")
			line.SetCount(int32(i))
			line.SetPrice(1.5)
			line.SetNotes([]string{"fragile", "a gift"})
		}
		order.SetDocument(l.document)
	})
	if err != nil {
		return err
	}
	defer res.Release()
	r := res.GetSuccess()
	if r.GetID() != id || r.GetVia() != "load "+l.via || int(r.GetLines()) != l.lines || !bytes.Equal(r.GetDocument(), l.document) {
		return fmt.Errorf("order %d got a wrong receipt: %.200v", id, r)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch had := l.backends[tenant]; {
	case had == "":
		l.backends[tenant] = strings.Clone(r.GetBackend())
	case had != r.GetBackend():
		return fmt.Errorf("order %d of %s went to %s, not to %s", id, tenant, r.GetBackend(), had)
	}
	return nil
}
