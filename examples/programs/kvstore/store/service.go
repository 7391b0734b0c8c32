// Package store is the key-value store's service. It keeps values where they were received.
package store

import (
	"context"
	"time"

	"github.com/nocopythrift/nocopythrift/examples/kv"
)

// Service is the handler of the store's service.
type Service struct {
	store       *store
	read, write time.Duration // how long a call takes at least
}

// The delays of the storage that the article simulates.
const (
	ReadDelay  = 10 * time.Millisecond
	WriteDelay = 50 * time.Millisecond
)

// NewService returns a service with an empty store. With delays each call takes some time.
func NewService(delays bool) *Service {
	s := &Service{store: newStore()}
	if delays {
		s.read, s.write = ReadDelay, WriteDelay
	}
	return s
}

// Len returns the number of keys.
func (s *Service) Len() int { return s.store.len() }

// Create stores a clone of the key, and the value in the request's memory or cloned; see store.go.
func (s *Service) Create(ctx context.Context, args kv.KeyValueCreateArgs, result kv.KeyValueCreateResult) error {
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
func (s *Service) Retrieve(ctx context.Context, args kv.KeyValueRetrieveArgs, result kv.KeyValueRetrieveResult) error {
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
func (s *Service) Update(ctx context.Context, args kv.KeyValueUpdateArgs, result kv.KeyValueUpdateResult) error {
	if err := sleep(ctx, s.write); err != nil {
		return err
	}
	if !s.store.update(args.GetKey(), args.GetValue()) {
		result.NewMissing().SetKey(args.GetKey())
	}
	return nil
}

// Delete removes a key with its value.
func (s *Service) Delete(ctx context.Context, args kv.KeyValueDeleteArgs, result kv.KeyValueDeleteResult) error {
	if err := sleep(ctx, s.write); err != nil {
		return err
	}
	if !s.store.delete(args.GetKey()) {
		result.NewMissing().SetKey(args.GetKey())
	}
	return nil
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
