package nocopykitex

import (
	"context"

	"github.com/bytedance/gopkg/cloud/metainfo"

	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// This file converts the headers of package rpc to Kitex's metainfo, and back. Headers of a call
// are transient values, which, like headers, go only to the next server. Headers of a reply are
// backward values. Transports without metainfo carry no headers.

// sendHeaders returns ctx with the headers of a call, and whether the caller asks for those of the
// reply.
func sendHeaders(ctx context.Context) (_ context.Context, asks bool, err error) {
	sent, err := rpc.SentHeaders(ctx)
	if err != nil {
		return ctx, false, err
	}
	for key, value := range sent {
		if key == rpc.ReplyHeadersKey {
			asks = true
			ctx = metainfo.WithBackwardValues(ctx)
		}
		ctx = metainfo.WithValue(ctx, key, value)
	}
	return ctx, asks, nil
}

// receiveHeaders returns the context for a handler, and a function that sends the headers of the
// reply. A client that has sent no metainfo asks for none.
func receiveHeaders(ctx context.Context) (context.Context, func()) {
	if !metainfo.HasMetaInfo(ctx) {
		return ctx, func() {}
	}
	of := ctx
	ctx, closeReply := rpc.WithRequestHeaders(ctx, func(yield func(string, string) bool) {
		more := true
		metainfo.RangePersistentValues(of, func(key, value string) bool {
			more = yield(key, value)
			return more
		})
		if more {
			metainfo.RangeValues(of, yield)
		}
	})
	return ctx, func() {
		for key, value := range closeReply() {
			metainfo.SendBackwardValue(ctx, key, value)
		}
	}
}
