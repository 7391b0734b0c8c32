//go:build linux

package main

import (
	"context"
	"encoding/binary"
	"sync"

	"github.com/VictoriaMetrics/VictoriaMetrics/lib/prompb"

	"github.com/nocopythrift/nocopythrift/examples/ingest/api"
	kitex "github.com/nocopythrift/nocopythrift/examples/ingest/bench/generated/kitex/prom"
	"github.com/nocopythrift/nocopythrift/examples/ingest/bench/generated/opaque"
	"github.com/nocopythrift/nocopythrift/examples/ingest/store"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// front is a way of reading requests.
type front struct {
	name, file string
	processor  func(*store.Store) *rpc.Processor
	encode     func(dst []byte, all []series, t int64, v float64) []byte // the arguments of a call
}

var fronts = []*front{
	{"nocopythrift", "nocopy", func(s *store.Store) *rpc.Processor { return api.NewIngesterProcessor(s) }, encodeThrift},
	{"Kitex's structs", "kitex", func(s *store.Store) *rpc.Processor { return opaque.NewOpaqueProcessor(&kitexFront{s: s}) }, opaquely(encodeRequest)},
	{"VictoriaMetrics' prompb", "prompb", func(s *store.Store) *rpc.Processor { return opaque.NewOpaqueProcessor(&prompbFront{s: s}) }, opaquely(encodeProtobuf)},
}

// kitexFront reads requests into structs of Kitex's, as a handler of Kitex gets them.
type kitexFront struct {
	s   *store.Store
	key []byte // of the series that is written; the Batch's owner has it
}

func (f *kitexFront) Write(ctx context.Context, args opaque.OpaqueWriteArgs, _ opaque.OpaqueWriteResult) error {
	req := kitex.NewWriteRequest()
	if _, err := req.FastRead(args.GetRequest()); err != nil {
		return err
	}
	b, err := f.s.Begin(ctx)
	if err != nil {
		return err
	}
	defer b.End()
	for _, series := range req.Timeseries {
		key := f.key[:0]
		for _, l := range series.Labels {
			key = appendText(appendText(key, l.Name), l.Value)
		}
		f.key = key
		if !b.Find(key) {
			for _, l := range series.Labels {
				b.Label(l.Name, l.Value)
			}
			b.Add()
		}
		for _, p := range series.Samples {
			b.Sample(p.Timestamp, p.Value)
		}
	}
	return b.Commit()
}

// prompbFront reads requests into structs from a pool, whose strings alias the request, as
// VictoriaMetrics does.
type prompbFront struct {
	s    *store.Store
	key  []byte
	pool sync.Pool
}

func (f *prompbFront) Write(ctx context.Context, args opaque.OpaqueWriteArgs, _ opaque.OpaqueWriteResult) error {
	req, _ := f.pool.Get().(*prompb.WriteRequest)
	if req == nil {
		req = new(prompb.WriteRequest)
	}
	defer func() {
		req.Reset()
		f.pool.Put(req)
	}()
	if err := req.UnmarshalProtobuf(args.GetRequest()); err != nil {
		return err
	}
	b, err := f.s.Begin(ctx)
	if err != nil {
		return err
	}
	defer b.End()
	for i := range req.Timeseries {
		series := &req.Timeseries[i]
		key := f.key[:0]
		for _, l := range series.Labels {
			key = appendText(appendText(key, l.Name), l.Value)
		}
		f.key = key
		if !b.Find(key) {
			for _, l := range series.Labels {
				b.Label(l.Name, l.Value)
			}
			b.Add()
		}
		for _, p := range series.Samples {
			b.Sample(p.Timestamp, p.Value)
		}
	}
	return b.Commit()
}

func appendText(dst []byte, s string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}
