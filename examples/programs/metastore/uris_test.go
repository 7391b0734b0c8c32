package main

import (
	"context"
	"fmt"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestURIs: a command finds the metastore that answers. If none does, the error names them all.
func TestURIs(t *testing.T) {
	var gone [2]string
	for i := range gone {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		gone[i] = l.Addr().String()
		l.Close()
	}
	addr := serveFake(t, newFake(t, 1))
	for range 10 { // the order is random
		if out, err := command(t, "thrift://"+gone[0]+", thrift://"+addr, false, "databases"); err != nil || out == "" {
			t.Error(out, err)
		}
	}
	_, err := command(t, gone[0]+",thrift://"+gone[1], false, "databases")
	if err == nil || !strings.Contains(err.Error(), gone[0]) || !strings.Contains(err.Error(), gone[1]) {
		t.Error(err)
	}
}

// TestURIsDead: machines that do not answer leave enough time for one that does.
func TestURIsDead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dial := func(ctx context.Context, addr string) (net.Conn, error) {
			if addr == "good" {
				client, server := net.Pipe()
				server.Close()
				return client, nil
			}
			<-ctx.Done()
			return nil, fmt.Errorf("%s: %w", addr, ctx.Err())
		}
		ctx, cancel := context.WithTimeout(t.Context(), 9*time.Second)
		defer cancel()
		nc, err := dialFirst(ctx, []string{"dead1", "dead2", "good"}, dial)
		if err != nil {
			t.Fatal(err)
		}
		nc.Close()
		if _, err := dialFirst(ctx, []string{"dead1", "dead2"}, dial); err == nil || err.Error() != "dead1: context deadline exceeded; dead2: context deadline exceeded" {
			t.Error(err)
		}
	})
}
