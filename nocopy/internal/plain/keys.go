package plain

import (
	"hash/maphash"
	"sync"

	"github.com/nocopythrift/nocopythrift/internal/memory"
	"github.com/nocopythrift/nocopythrift/nocopy"
)

// fewKeys is the number of keys up to which each key is compared with all previous ones.
const fewKeys = 8

// keptTable is the largest table, in keys, that is kept for the next map.
const keptTable = 1 << 14

var (
	seed   = maphash.MakeSeed() // random: nobody can choose keys with the same hash
	tables = sync.Pool{New: func() any { return new([]uint32) }}
)

// Unique returns at if the keys of the pairs differ. Otherwise it returns Failed, since a message
// knows which of the pairs counts.
func Unique[K comparable, V any](at int, v []nocopy.Pair[K, V]) int {
	return unique(at, v, func(k K) K { return k })
}

// UniqueBinary is Unique for keys that are binaries.
func UniqueBinary[V any](at int, v []nocopy.Pair[[]byte, V]) int {
	return unique(at, v, memory.String)
}

func unique[T, V any, K comparable](at int, v []nocopy.Pair[T, V], key func(T) K) int {
	if len(v) > fewKeys {
		return uniqueByHash(at, v, key)
	}
	for i := range v {
		k := key(v[i].Key)
		if k != k { // NaN, which does not even equal itself
			return Failed
		}
		for j := range i {
			if key(v[j].Key) == k {
				return Failed
			}
		}
	}
	return at
}

func uniqueByHash[T, V any, K comparable](at int, v []nocopy.Pair[T, V], key func(T) K) int {
	size := 4 * fewKeys
	for size < 2*len(v) {
		size *= 2
	}
	p := tables.Get().(*[]uint32)
	if size <= keptTable {
		defer tables.Put(p)
	}
	if len(*p) < size {
		*p = make([]uint32, size)
	}
	t := (*p)[:size] // numbers of keys, from 1
	clear(t)
	for i := range v {
		k := key(v[i].Key)
		if k != k {
			return Failed
		}
		slot := maphash.Comparable(seed, k) % uint64(size)
		for t[slot] != 0 {
			if key(v[t[slot]-1].Key) == k {
				return Failed
			}
			slot = (slot + 1) % uint64(size)
		}
		t[slot] = uint32(i + 1)
	}
	return at
}
