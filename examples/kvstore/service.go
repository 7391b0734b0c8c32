package main

import (
	"context"
	"time"

	"github.com/nocopythrift/nocopythrift/examples/kvstore/kv"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// service is the handler of the store's service.
type service struct {
	store       *store
	meter       meter
	read, write time.Duration // how long a call takes at least
}

// The delays of the storage that the article simulates.
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

// Create stores a clone of the key, and the value in the request's memory or cloned; see store.go.
func (s *service) Create(ctx context.Context, args kv.KeyValueCreateArgs, result kv.KeyValueCreateResult) error {
	if err := sleep(ctx, s.write); err != nil {
		return err
	}
	if !s.store.create(args.GetKey(), args.GetValue()) {
		result.NewExists().SetKey(args.GetKey())
	}
	return nil
}

// Retrieve returns a value in a reply that refers to the store's: SetSuccess copies it only if it
// is smaller than 4 KiB.
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

// Update replaces a value. Replies that still refer to the old one are not affected.
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

// measure is an interceptor that counts calls and the bytes of their requests and replies.
func (s *service) measure(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
	start := time.Now()
	err := next(ctx, c)
	s.meter.add(time.Since(start), c.Args.Message().Len()+c.Result.Message().Len())
	return err
}

// sleep waits for d or until ctx ends.
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
