package main

import (
	"context"
	"time"

	"github.com/nocopythrift/nocopythrift/examples/kvstore/kv"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// service handles the calls.
type service struct {
	store       *store
	meter       meter
	read, write time.Duration // how long a call takes at least
}

// The delays of storage that is not there, as in the article.
const (
	readDelay  = 10 * time.Millisecond
	writeDelay = 50 * time.Millisecond
)

func newService(delays bool) *service {
	s := &service{store: newStore()}
	if delays {
		s.read, s.write = readDelay, writeDelay
	}
	return s
}

// Create has the key cloned into the store. The value may stay in the request's memory; see
// store.go.
func (s *service) Create(ctx context.Context, args kv.KeyValueCreateArgs, result kv.KeyValueCreateResult) error {
	if err := sleep(ctx, s.write); err != nil {
		return err
	}
	if !s.store.create(args.GetKey(), args.GetValue()) {
		result.NewExists().SetKey(args.GetKey())
	}
	return nil
}

// Retrieve has the reply refer to the value in the store: SetSuccess copies it only if it is
// smaller than 4 KiB.
func (s *service) Retrieve(ctx context.Context, args kv.KeyValueRetrieveArgs, result kv.KeyValueRetrieveResult) error {
	if err := sleep(ctx, s.read); err != nil {
		return err
	}
	value, ok := s.store.retrieve(args.GetKey())
	if !ok {
		result.NewMissing().SetKey(args.GetKey())
		return nil
	}
	result.SetSuccess(value)
	return nil
}

// Update leaves the old value to those who are still sending it.
func (s *service) Update(ctx context.Context, args kv.KeyValueUpdateArgs, result kv.KeyValueUpdateResult) error {
	if err := sleep(ctx, s.write); err != nil {
		return err
	}
	if !s.store.update(args.GetKey(), args.GetValue()) {
		result.NewMissing().SetKey(args.GetKey())
	}
	return nil
}

func (s *service) Delete(ctx context.Context, args kv.KeyValueDeleteArgs, result kv.KeyValueDeleteResult) error {
	if err := sleep(ctx, s.write); err != nil {
		return err
	}
	if !s.store.delete(args.GetKey()) {
		result.NewMissing().SetKey(args.GetKey())
	}
	return nil
}

// measure stands around every call: it counts it with the bytes of its request and of its reply.
func (s *service) measure(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
	start := time.Now()
	err := next(ctx, c)
	s.meter.add(time.Since(start), c.Args.Message().Len()+c.Result.Message().Len())
	return err
}

// sleep waits, but not for longer than anybody waits for the answer.
func sleep(ctx context.Context, d time.Duration) error {
	if d == 0 {
		return nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
