// Package store keeps values by key. Its errors are the exceptions of the service.
package store

import (
	"bytes"
	"errors"
	"fmt"
	"sync"

	"example.com/kvstore/apache/kv"
)

// Store is safe for concurrent use.
type Store struct {
	mu     sync.RWMutex
	values map[string][]byte
	log    []*kv.NotFound // the calls that were refused
}

// New returns an empty store.
func New() *Store { return &Store{values: map[string][]byte{}} }

// Create stores a value under a new key.
func (s *Store) Create(key, value []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.values[string(key)]; ok {
		return &kv.AlreadyExists{Key: key}
	}
	s.values[string(key)] = bytes.Clone(value)
	return nil
}

// Retrieve returns the value, which must not be changed.
func (s *Store) Retrieve(key []byte) ([]byte, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	value, ok := s.values[string(key)]
	if !ok {
		return nil, s.missing(key)
	}
	return value, nil
}

// Update replaces a value.
func (s *Store) Update(key, value []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.values[string(key)]; !ok {
		return s.missing(key)
	}
	s.values[string(key)] = bytes.Clone(value)
	return nil
}

// Delete removes a key.
func (s *Store) Delete(key []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.values[string(key)]; !ok {
		return s.missing(key)
	}
	delete(s.values, string(key))
	return nil
}

func (s *Store) missing(key []byte) *kv.NotFound {
	missing := kv.NewNotFound()
	missing.Key = append([]byte("no "), key...)
	s.log = append(s.log, missing)
	return missing
}

// Refused returns the keys of the calls that were refused.
func (s *Store) Refused() string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	text := ""
	for _, missing := range s.log {
		text += fmt.Sprintf("%s;", missing.Key)
	}
	return text
}

// Describe returns an error of the store as text.
func Describe(err error) string {
	var exists *kv.AlreadyExists
	if errors.As(err, &exists) {
		return "exists: " + string(exists.Key)
	}
	if missing, ok := err.(*kv.NotFound); ok && missing != nil {
		return "missing: " + string(missing.GetKey())
	}
	return fmt.Sprint(err)
}
