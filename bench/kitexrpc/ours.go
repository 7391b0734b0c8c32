package main

import (
	"context"

	"github.com/cloudwego/kitex/client"
	"github.com/cloudwego/kitex/pkg/stats"
	"github.com/cloudwego/kitex/server"

	"github.com/nocopythrift/nocopythrift/bench/kitexrpc/generated/nocopy/records"
	service "github.com/nocopythrift/nocopythrift/bench/kitexrpc/generated/nocopy/records/records"
	"github.com/nocopythrift/nocopythrift/kitex/nocopykitex"
)

// ours uses the code of nocopyc -kitex; oursRecycle has both options for recycling, too. They are
// tracers, for which Kitex would take the time of each stage of a call; it does not for the other
// peers.
var (
	ours        = oursWith("nocopy", nil, nil)
	oursRecycle = oursWith("nocopy, Recycle",
		[]client.Option{nocopykitex.ClientRecycle(), client.WithStatsLevel(stats.LevelDisabled)},
		[]server.Option{nocopykitex.ServerRecycle(), server.WithStatsLevel(stats.LevelDisabled)})
)

func oursWith(name string, co []client.Option, so []server.Option) peer {
	newClient := func(to []client.Option) (service.Client, error) {
		return service.NewClient("records", append(to, co...)...)
	}
	return peer{
		name: name,
		newServer: func(opts []server.Option) server.Server {
			return service.NewServer(new(ourEcho), append(opts, so...)...)
		},
		newProxy: func(to []client.Option, opts []server.Option) (server.Server, error) {
			cl, err := newClient(to)
			if err != nil {
				return nil, err
			}
			return service.NewServer(&ourProxy{cl}, append(opts, so...)...), nil
		},
		newCaller: func(to []client.Option) (func(context.Context, *source) (uint64, error), error) {
			cl, err := newClient(to)
			if err != nil {
				return nil, err
			}
			return func(ctx context.Context, src *source) (uint64, error) {
				res, err := cl.Put(ctx, func(args records.RecordsPutArgs) { fillOurs(args.NewRecord(), src) })
				if err != nil {
					return 0, err
				}
				defer res.Release()
				return ourSum(res.GetSuccess()), nil
			}, nil
		},
	}
}

type ourEcho struct{}

func (ourEcho) Put(_ context.Context, args records.RecordsPutArgs, result records.RecordsPutResult) error {
	r := args.GetRecord()
	sink.Add(ourSum(r))
	result.SetSuccess(r)
	return nil
}

type ourProxy struct{ backend service.Client }

func (p ourProxy) Put(ctx context.Context, args records.RecordsPutArgs, result records.RecordsPutResult) error {
	r := args.GetRecord()
	meta := r.GetMeta()
	meta.SetTenant(byProxy(meta.GetTenant()))
	res, err := p.backend.Put(ctx, func(args records.RecordsPutArgs) { args.SetRecord(r) })
	if err != nil {
		return err
	}
	defer res.Release()
	result.SetSuccess(res.GetSuccess())
	return nil
}

func fillOurs(r records.Record, src *source) {
	meta := r.NewMeta()
	meta.SetID(src.id)
	meta.SetTenant(src.tenant)
	meta.SetTrace(src.trace)
	meta.SetHops(1)
	for i, it := range r.NewItems(len(src.items)).All() {
		s := &src.items[i]
		it.SetID(s.id)
		it.SetName(s.name)
		it.SetPrice(s.price)
		it.SetTags(s.tags)
		it.SetNote(s.note)
	}
	r.SetNumbers(src.numbers)
	r.SetData(src.data)
}

func ourSum(r records.Record) uint64 {
	meta := r.GetMeta()
	n := uint64(meta.GetID()) + uint64(len(meta.GetTenant())+len(meta.GetTrace())) + uint64(meta.GetHops()) + uint64(len(r.GetData()))
	for _, it := range r.GetItems().All() {
		n += uint64(it.GetID()) + uint64(len(it.GetName())) + uint64(it.GetPrice()) + uint64(len(it.GetNote()))
		for _, t := range it.GetTags().All() {
			n += uint64(len(t))
		}
	}
	for _, v := range r.GetNumbers().All() {
		n += uint64(v)
	}
	return n
}
