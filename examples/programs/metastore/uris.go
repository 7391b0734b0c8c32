package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"time"
)

// dialAny connects to one of several metastores, whose addresses are a list as in
// hive.metastore.uris: thrift://h1:9083,thrift://h2:9083. It tries them in random order, as Hive's
// client does. Its error names each of them.
func dialAny(ctx context.Context, network, list string) (net.Conn, error) {
	addrs := strings.Split(list, ",")
	rand.Shuffle(len(addrs), func(i, j int) { addrs[i], addrs[j] = addrs[j], addrs[i] })
	return dialFirst(ctx, addrs, func(ctx context.Context, addr string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, strings.TrimPrefix(strings.TrimSpace(addr), "thrift://"))
	})
}

// dialFirst connects to the first address that answers. Each takes an equal share of the time that
// is left, so that a dead machine does not use it up.
func dialFirst(ctx context.Context, addrs []string, dial func(ctx context.Context, addr string) (net.Conn, error)) (net.Conn, error) {
	var failed error
	for i, addr := range addrs {
		share, cancel := ctx, context.CancelFunc(func() {})
		if deadline, ok := ctx.Deadline(); ok {
			share, cancel = context.WithTimeout(ctx, time.Until(deadline)/time.Duration(len(addrs)-i))
		}
		nc, err := dial(share, addr)
		cancel()
		if err == nil {
			return nc, nil
		}
		if failed == nil {
			failed = err
		} else {
			failed = fmt.Errorf("%w; %w", failed, err)
		}
		if ctx.Err() != nil {
			break
		}
	}
	return nil, failed
}
