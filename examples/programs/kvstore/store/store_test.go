package store

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
)

// TestStore compares the store with a map.
func TestStore(t *testing.T) {
	s, model := newStore(), map[string]string{}
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 20_000 {
		key := []byte(fmt.Sprint(rng.IntN(300)))
		value := []byte(fmt.Sprint(i))
		old, exists := model[string(key)]
		switch rng.IntN(4) {
		case 0:
			if s.create(key, value) == exists {
				t.Fatalf("create(%s), exists: %v", key, exists)
			} else if !exists {
				model[string(key)] = string(value)
			}
		case 1:
			if got, ok := s.retrieve(key); ok != exists || string(got) != old {
				t.Fatalf("retrieve(%s) = %s, %v, want %s, %v", key, got, ok, old, exists)
			}
		case 2:
			if s.update(key, value) != exists {
				t.Fatalf("update(%s), exists: %v", key, exists)
			} else if exists {
				model[string(key)] = string(value)
			}
		case 3:
			if s.delete(key) != exists {
				t.Fatalf("delete(%s), exists: %v", key, exists)
			}
			delete(model, string(key))
		}
		key[0]++ // the store has a key of its own
		if s.len() != len(model) {
			t.Fatalf("%d keys, want %d", s.len(), len(model))
		}
	}
}

// TestKeep: small values are cloned, large ones stay where they are.
func TestKeep(t *testing.T) {
	for size, clone := range map[int]bool{1: true, KeepFrom - 1: true, KeepFrom: false, 1 << 20: false} {
		value := bytes.Repeat([]byte{1}, size)
		s := newStore()
		s.create([]byte("key"), value)
		got, _ := s.retrieve([]byte("key"))
		if cloned := &got[0] != &value[0]; cloned != clone || !bytes.Equal(got, value) {
			t.Errorf("%d bytes, cloned: %v", size, cloned)
		}
	}
}

// TestStoreConcurrent: for the race detector, and each key is created and deleted as often.
func TestStoreConcurrent(t *testing.T) {
	s := newStore()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := range 2000 {
				key := []byte{byte(i % 16)}
				s.create(key, key)
				if v, ok := s.retrieve(key); ok && len(v) != 1 {
					t.Error("a value that nobody has stored")
				}
				s.update(key, []byte{1})
				s.delete(key)
			}
		})
	}
	wg.Wait()
	if s.len() != 0 {
		t.Errorf("%d keys left", s.len())
	}
}
