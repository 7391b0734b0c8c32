package store

import (
	"bytes"
	"hash/maphash"
	"sync"
)

// store keeps values by key. It is a map cut into shards: calls for different keys seldom wait for
// each other.
type store struct {
	seed   maphash.Seed
	shards [64]shard
}

type shard struct {
	mu     sync.RWMutex
	values map[string][]byte
}

// KeepFrom is the size from which on a value is kept where it was received. It is half of a slab,
// a block of 64 KiB into which a server receives one request after the other, unless they are
// larger. Such a value keeps less than its own size of other requests from being freed. A small
// value would keep a whole slab and is therefore cloned.
const KeepFrom = 32 << 10

func newStore() *store {
	s := &store{seed: maphash.MakeSeed()}
	for i := range s.shards {
		s.shards[i].values = make(map[string][]byte)
	}
	return s
}

func (s *store) shard(key []byte) *shard {
	return &s.shards[maphash.Bytes(s.seed, key)%uint64(len(s.shards))]
}

// keep returns a value for the store: a clone if it is small, else the value itself, in the
// request's memory. Values in the store are never written to. A reply may therefore refer to one
// even after it has been replaced.
func keep(value []byte) []byte {
	if len(value) < KeepFrom {
		return bytes.Clone(value)
	}
	return value
}

// create stores a value under a new key and reports whether the key was new. It clones the key.
func (s *store) create(key, value []byte) bool {
	sh := s.shard(key)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if _, ok := sh.values[string(key)]; ok {
		return false
	}
	sh.values[string(key)] = keep(value)
	return true
}

// retrieve returns the value itself, which must not be changed.
func (s *store) retrieve(key []byte) ([]byte, bool) {
	sh := s.shard(key)
	sh.mu.RLock()
	defer sh.mu.RUnlock()
	value, ok := sh.values[string(key)]
	return value, ok
}

// update replaces the value of a key and reports whether there was one.
func (s *store) update(key, value []byte) bool {
	sh := s.shard(key)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if _, ok := sh.values[string(key)]; !ok {
		return false
	}
	sh.values[string(key)] = keep(value)
	return true
}

// delete removes a key and reports whether it was there.
func (s *store) delete(key []byte) bool {
	sh := s.shard(key)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	_, ok := sh.values[string(key)]
	delete(sh.values, string(key))
	return ok
}

// len returns the number of keys.
func (s *store) len() int {
	n := 0
	for i := range s.shards {
		sh := &s.shards[i]
		sh.mu.RLock()
		n += len(sh.values)
		sh.mu.RUnlock()
	}
	return n
}
