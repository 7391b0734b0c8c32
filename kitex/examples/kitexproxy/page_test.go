package main

import (
	"context"
	"errors"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/cloudwego/kitex/client"
	"github.com/cloudwego/kitex/pkg/circuitbreak"
	"github.com/cloudwego/kitex/pkg/endpoint"
	"github.com/cloudwego/kitex/pkg/kerrors"
	"github.com/cloudwego/kitex/pkg/retry"

	"github.com/nocopythrift/nocopythrift/kitex/examples/kitexproxy/orders"
	service "github.com/nocopythrift/nocopythrift/kitex/examples/kitexproxy/orders/orders"
)

// TestPage: "Many machines" of docs/kitex.md shows functions of this command as they are.
func TestPage(t *testing.T) {
	page, err := os.ReadFile("../../../docs/kitex.md")
	if err != nil {
		t.Fatal(err)
	}
	code, err := os.ReadFile("roles.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"newBackend", "newBackends"} {
		_, block, found := strings.Cut(string(page), "<!-- kitexproxy: "+name+" -->\n```go\n")
		block, _, _ = strings.Cut(block, "```\n")
		if !found || !strings.HasPrefix(block, "func "+name+"(") || !strings.Contains(string(code), "\n"+block) {
			t.Errorf("the page does not show %s as it is:\n%s", name, block)
		}
	}
}

// TestOpenBreaker: a call that an open circuit breaker refuses is made again only if the client's
// condition says so.
func TestOpenBreaker(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close() // nobody listens
	var attempts int
	count := func(next endpoint.Endpoint) endpoint.Endpoint {
		return func(ctx context.Context, req, resp any) error {
			attempts++
			return next(ctx, req, resp)
		}
	}
	for _, c := range []struct {
		name    string
		options []client.Option
		most    bool // of the attempts that the policy allows, the first included
	}{
		{"Kitex's condition", nil, false},
		{"again", []client.Option{client.WithSpecifiedResultRetry(again)}, true},
	} {
		breaker := circuitbreak.NewCBSuite(circuitbreak.RPCInfo2Key)
		breaker.UpdateInstanceCBConfig(circuitbreak.CBConfig{Enable: true, ErrRate: .1, MinSample: 2})
		policy := retry.NewFailurePolicy()
		policy.WithMaxRetryTimes(2)
		policy.WithMaxDurationMS(0)
		cl, err := service.NewClient(serviceName, append(c.options, client.WithHostPorts(addr), client.WithMiddleware(count),
			client.WithFailureRetry(policy), client.WithCircuitBreaker(breaker), client.WithConnectTimeout(time.Minute))...)
		if err != nil {
			t.Fatal(err)
		}
		// The first call opens the breaker, in its last attempts.
		attempts = 0
		_, err = cl.Place(context.Background(), func(orders.OrdersPlaceArgs) {})
		if !errors.Is(err, kerrors.ErrCircuitBreak) || (attempts == 3) != c.most || !c.most && attempts != 1 {
			t.Errorf("%s: %d attempts, %v", c.name, attempts, err)
		}
	}
}
