package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
)

// dialAny connects to one of several metastores, whose addresses are a list as in
// hive.metastore.uris: thrift://h1:9083,thrift://h2:9083. It tries them in random order, as Hive's
// client does. Its error names each of them.
func dialAny(ctx context.Context, network, list string) (net.Conn, error) {
	addrs := strings.Split(list, ",")
	rand.Shuffle(len(addrs), func(i, j int) { addrs[i], addrs[j] = addrs[j], addrs[i] })
	var failed []error
	var dialer net.Dialer
	for _, addr := range addrs {
		nc, err := dialer.DialContext(ctx, network, strings.TrimPrefix(strings.TrimSpace(addr), "thrift://"))
		if err == nil {
			return nc, nil
		}
		failed = append(failed, err)
		if ctx.Err() != nil {
			break
		}
	}
	err := failed[0]
	for _, next := range failed[1:] {
		err = fmt.Errorf("%w; %w", err, next)
	}
	return nil, err
}
