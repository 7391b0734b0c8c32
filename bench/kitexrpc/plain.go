package main

import (
	"context"

	"github.com/cloudwego/kitex/client"
	"github.com/cloudwego/kitex/server"

	"github.com/nocopythrift/nocopythrift/bench/kitexrpc/generated/plain/records"
	service "github.com/nocopythrift/nocopythrift/bench/kitexrpc/generated/plain/records/records"
)

// fastCodec uses the code of Kitex's own generator.
var fastCodec = peer{
	name: "FastCodec",
	newServer: func(opts []server.Option) server.Server {
		return service.NewServer(new(plainEcho), opts...)
	},
	newProxy: func(to []client.Option, opts []server.Option) (server.Server, error) {
		cl, err := service.NewClient("records", to...)
		if err != nil {
			return nil, err
		}
		return service.NewServer(&plainProxy{cl}, opts...), nil
	},
	newCaller: func(to []client.Option) (func(context.Context, *source) (uint64, error), error) {
		cl, err := service.NewClient("records", to...)
		if err != nil {
			return nil, err
		}
		return func(ctx context.Context, src *source) (uint64, error) {
			r, err := cl.Put(ctx, plainRecord(src))
			if err != nil {
				return 0, err
			}
			return plainSum(r), nil
		}, nil
	},
}

type plainEcho struct{}

func (plainEcho) Put(_ context.Context, r *records.Record) (*records.Record, error) {
	sink.Add(plainSum(r))
	return r, nil
}

type plainProxy struct{ backend service.Client }

func (p plainProxy) Put(ctx context.Context, r *records.Record) (*records.Record, error) {
	r.Meta.Tenant = byProxy(r.Meta.Tenant)
	return p.backend.Put(ctx, r)
}

func plainRecord(src *source) *records.Record {
	r := &records.Record{
		Meta:    &records.Meta{Id: src.id, Tenant: src.tenant, Trace: src.trace, Hops: 1},
		Numbers: src.numbers, Data: src.data,
	}
	r.Items = make([]*records.Item, len(src.items))
	for i := range src.items {
		s := &src.items[i]
		r.Items[i] = &records.Item{Id: s.id, Name: s.name, Price: s.price, Tags: s.tags, Note: s.note}
	}
	return r
}

func plainSum(r *records.Record) uint64 {
	n := uint64(r.Meta.Id) + uint64(len(r.Meta.Tenant)+len(r.Meta.Trace)) + uint64(r.Meta.Hops) + uint64(len(r.Data))
	for _, it := range r.Items {
		n += uint64(it.Id) + uint64(len(it.Name)) + uint64(it.Price) + uint64(len(it.Note))
		for _, t := range it.Tags {
			n += uint64(len(t))
		}
	}
	for _, v := range r.Numbers {
		n += uint64(v)
	}
	return n
}
