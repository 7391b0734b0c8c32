package comingfrom

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/cloudwego/kitex/pkg/klog"
)

// TestCalls: each of the Thrift clients gets the same from each of the Thrift servers.
func TestCalls(t *testing.T) {
	klog.SetLevel(klog.LevelFatal)
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	thriftClients := map[string]func(context.Context, string) (string, error){"Apache": callApache, "Kitex": callKitex, "here": call, "bridged": callBridged}
	for name, c := range map[string]struct {
		serve   func(string) error
		clients map[string]func(context.Context, string) (string, error)
	}{
		"Apache": {serveApache, thriftClients}, "Kitex": {serveKitex, thriftClients}, "here": {serve, thriftClients},
		"bridged": {serveBridged, thriftClients},
		"gRPC":    {serveGRPC, map[string]func(context.Context, string) (string, error){"gRPC": callGRPC}},
	} {
		t.Run(name, func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0") // only to find a free port
			if err != nil {
				t.Fatal(err)
			}
			addr := l.Addr().String()
			l.Close()
			go c.serve(addr) // until the test program ends
			for {
				conn, err := net.Dial("tcp", addr)
				if err == nil {
					conn.Close()
					break
				}
				if ctx.Err() != nil {
					t.Fatal(err)
				}
				time.Sleep(5 * time.Millisecond)
			}
			for client, call := range c.clients {
				if got, err := call(ctx, addr); got != "HELLO" || err != nil {
					t.Errorf("%s: %q, %v", client, got, err)
				}
			}
		})
	}
}
