package main

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cloudwego/kitex/client"
	"github.com/cloudwego/kitex/pkg/connpool"
	"github.com/cloudwego/kitex/transport"

	"github.com/nocopythrift/nocopythrift/kitex/examples/kitexproxy/orders"
	service "github.com/nocopythrift/nocopythrift/kitex/examples/kitexproxy/orders/orders"
)

var longConnections = client.WithLongConnection(connpool.IdleConfig{
	MaxIdlePerAddress: 64, MaxIdleGlobal: 64, MaxIdleTimeout: time.Minute,
})

// patience is how long a back end may take to be called.
const patience = 15 * time.Second

// The values of an order besides its header.
var (
	document = bytes.Repeat([]byte("0123456789abcdef"), 2<<10)
	lines    = []string{"one line", strings.Repeat("another line ", 100)}
)

// failure is a call that failed.
type failure struct {
	began, ended time.Time
	err          error
}

// counts counts the outcomes of calls.
type counts struct {
	by     map[string]int // back end → calls
	failed int
}

// load makes calls.
type load struct {
	client service.Client
	ids    atomic.Int64
	stop   atomic.Bool
	wg     sync.WaitGroup

	mu   sync.Mutex
	by   map[string]int
	fail []failure
}

func newLoad(addr string) (*load, error) {
	cl, err := service.NewClient("proxy", client.WithHostPorts(addr), client.WithTransportProtocol(transport.Framed), longConnections)
	if err != nil {
		return nil, err
	}
	return &load{client: cl, by: map[string]int{}}, nil
}

// place makes a call and returns the name of the back end that answered.
func (l *load) place() (string, error) {
	id := l.ids.Add(1)
	res, err := l.client.Place(context.Background(), func(args orders.OrdersPlaceArgs) {
		order := args.NewOrder()
		order.SetID(id)
		order.NewHeader().SetTenant("tenant")
		order.SetLines(lines)
		order.SetDocument(document)
	})
	if err != nil {
		return "", err
	}
	defer res.Release()
	r, n := res.GetSuccess(), len(document)
	for _, line := range lines {
		n += len(line)
	}
	if h := r.GetHeader(); r.GetID() != id || r.GetBytes() != int64(n) || h.GetVia() != via || h.GetTenant() != "tenant" {
		return "", fmt.Errorf("order %d of %d bytes got receipt %v", id, n, r)
	}
	return strings.Clone(r.GetBackend()), nil
}

// run has callers call one after the other until end.
func (l *load) run(callers int) {
	for range callers {
		l.wg.Go(func() {
			for !l.stop.Load() {
				began := time.Now()
				name, err := l.place()
				l.mu.Lock()
				if err != nil {
					l.fail = append(l.fail, failure{began, time.Now(), err})
				} else {
					l.by[name]++
				}
				l.mu.Unlock()
			}
		})
	}
}

// end ends the calls. It may be called again.
func (l *load) end() {
	l.stop.Store(true)
	l.wg.Wait()
}

func (l *load) counts() counts {
	l.mu.Lock()
	defer l.mu.Unlock()
	return counts{maps.Clone(l.by), len(l.fail)}
}

func (l *load) failures() []failure {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.fail
}

// waitFor calls until each of these back ends has answered.
func (l *load) waitFor(names ...string) error {
	missing := map[string]bool{}
	for _, name := range names {
		missing[name] = true
	}
	for begin := time.Now(); len(missing) > 0; {
		name, err := l.place()
		delete(missing, name)
		if time.Since(begin) > patience {
			return fmt.Errorf("not called within %v: %v; last error: %v", patience, missing, err)
		}
		if err != nil {
			time.Sleep(50 * time.Millisecond)
		}
	}
	return nil
}
