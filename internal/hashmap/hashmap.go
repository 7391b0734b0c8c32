// Package hashmap has the map that messages use. It is slower than Go's map with many keys, and
// has no deletion. Its advantage: if goroutines change a message at once, against the rules, Go's
// map ends the process, which cannot be recovered. This map loses values or returns wrong ones.
package hashmap

import (
	"hash/maphash"
	"iter"
)

// Map is a map from K to V. The zero Map is empty. Nothing can be removed: Put a zero value for a
// key whose value is no longer needed.
type Map[K comparable, V any] struct {
	t *table[K, V] // its slice never changes, so that no goroutine sees a half-written slice header
}

type table[K comparable, V any] struct {
	slots []slot[K, V] // their number is a power of two; at least a quarter is free
	n     int          // number of slots in use
}

type slot[K comparable, V any] struct {
	used  bool
	key   K
	value V
}

// Sizes of a table, in slots.
const (
	smallest = 8
	kept     = 64 // the largest table that Clear keeps: clearing takes time proportional to its size
)

var seed = maphash.MakeSeed()

// Len returns the number of keys that were put.
func (m *Map[K, V]) Len() int {
	if m.t == nil {
		return 0
	}
	return m.t.n
}

// Get returns the value of k, or a zero value.
func (m *Map[K, V]) Get(k K) (v V) {
	if t := m.t; t != nil {
		if s := t.find(k); s != nil && s.used {
			return s.value
		}
	}
	return v
}

// Put sets the value of k.
func (m *Map[K, V]) Put(k K, v V) {
	t := m.t
	if t == nil || 4*t.n >= 3*len(t.slots) {
		t = t.grown()
		m.t = t
	}
	s := t.find(k)
	if s == nil {
		return // other goroutines have filled the table in the meantime
	}
	if !s.used {
		t.n++
		s.key = k
	}
	s.value, s.used = v, true
}

// All iterates over the keys that were put and their values. The map must not be changed
// meanwhile.
func (m *Map[K, V]) All() iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		if m.t == nil {
			return
		}
		for i := range m.t.slots {
			if s := &m.t.slots[i]; s.used && !yield(s.key, s.value) {
				return
			}
		}
	}
}

// Clear removes all keys. It keeps the memory of a small map.
func (m *Map[K, V]) Clear() {
	switch {
	case m.t == nil:
	case len(m.t.slots) > kept:
		m.t = nil
	default:
		clear(m.t.slots)
		m.t.n = 0
	}
}

// find returns the slot of k, or the free slot for it, or nil if there is neither.
func (t *table[K, V]) find(k K) *slot[K, V] {
	mask := len(t.slots) - 1
	h := int(maphash.Comparable(seed, k))
	for i := range t.slots {
		if s := &t.slots[(h+i)&mask]; !s.used || s.key == k {
			return s
		}
	}
	return nil
}

// grown returns a table of twice the size with the contents of t, which may be nil.
func (t *table[K, V]) grown() *table[K, V] {
	if t == nil {
		return &table[K, V]{slots: make([]slot[K, V], smallest)}
	}
	larger := &table[K, V]{slots: make([]slot[K, V], 2*len(t.slots))}
	for _, s := range t.slots {
		if s.used {
			*larger.find(s.key) = s
			larger.n++
		}
	}
	return larger
}
