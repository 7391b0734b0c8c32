// Package spare keeps large free pieces of memory for reuse.
//
// A sync.Pool suits small items that are needed all the time. One processor may not find items
// that another has put there, and two garbage collections empty it. Both may happen while one
// large message is received. Spare items are found from all processors, by size. They live for two
// collections after they were put here, or after the last call of [Keep].
package spare

import (
	"math/bits"
	"runtime/metrics"
	"sync"
	"weak"
)

// Item is a piece of memory that can be put into a Pool.
type Item[T any] struct {
	Value T
	Size  int // in the unit of Get's arguments, which may be any

	weak weak.Pointer[Item[T]] // to the item itself, once it was in its Pool

	free bool   // the item is in its Pool
	put  uint64 // the number of collections when it was put there
	kept uint64 // the number of collections, plus one, when it was last given to alive
}

// Pool keeps items of one kind. The zero Pool is ready for use, by any number of goroutines.
type Pool[T any] struct {
	mu sync.Mutex
	// Free items by the bit length of their size, the latest last
	sizes [bits.UintSize + 1][]weak.Pointer[Item[T]]
	// Keeps free items alive. Nothing is taken from it
	alive sync.Pool
	known bool // Keep knows this Pool
}

// longest is the largest number of collections that an unused item is kept for.
const longest = 8

// Put makes an item spare. The caller must not use it any more.
func (p *Pool[T]) Put(i *Item[T]) {
	now := collections()
	p.mu.Lock()
	defer p.mu.Unlock()
	i.free, i.put = true, now
	p.keep(i, now)
	list := &p.sizes[bits.Len(uint(i.Size))]
	if len(*list) == cap(*list) {
		*list = living(*list)
	}
	if i.weak == (weak.Pointer[Item[T]]{}) {
		i.weak = weak.Make(i)
	}
	*list = append(*list, i.weak)
	if !p.known {
		p.known = true
		register(p.keepAll)
	}
}

// Get returns a spare item whose size is between least and most, or nil. The item then belongs to
// the caller.
func (p *Pool[T]) Get(least, most int) *Item[T] {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := bits.Len(uint(least)); c <= bits.Len(uint(most)); c++ {
		list := p.sizes[c]
		for k := len(list) - 1; k >= 0; k-- {
			i := list[k].Value()
			if i != nil && (i.Size < least || i.Size > most) {
				continue
			}
			last := len(list) - 1
			list[k] = list[last]
			list = list[:last]
			p.sizes[c] = list
			if i != nil {
				i.free = false
				return i
			}
		}
	}
	return nil
}

// keep keeps a spare item alive for the next two garbage collections.
func (p *Pool[T]) keep(i *Item[T], now uint64) {
	if i.kept != now+1 {
		i.kept = now + 1
		p.alive.Put(i)
	}
}

// keepAll keeps all spare items alive for two more collections, except those that have been spare
// for long.
func (p *Pool[T]) keepAll(now uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, list := range p.sizes {
		for _, w := range list {
			if i := w.Value(); i != nil && now-i.put < longest {
				p.keep(i, now)
			}
		}
	}
}

// living returns the items of the list that still exist. The slice has room for more.
func living[T any](list []weak.Pointer[Item[T]]) []weak.Pointer[Item[T]] {
	n := 0
	for _, w := range list {
		if w.Value() != nil {
			list[n] = w
			n++
		}
	}
	if 2*n > cap(list) {
		return append(make([]weak.Pointer[Item[T]], 0, 2*cap(list)), list[:n]...)
	}
	clear(list[n:])
	return list[:n]
}

var (
	mu    sync.Mutex
	last  uint64 // the collection after which Keep was called
	pools []func(now uint64)
)

// cycles is reused by collections, which would otherwise allocate in each call.
var cycles = struct {
	sync.Mutex
	sample []metrics.Sample
}{sample: []metrics.Sample{{Name: "/gc/cycles/total:gc-cycles"}}}

// collections returns the number of garbage collections so far.
func collections() uint64 {
	cycles.Lock()
	defer cycles.Unlock()
	metrics.Read(cycles.sample)
	return cycles.sample[0].Value.Uint64()
}

func register(keepAll func(uint64)) {
	mu.Lock()
	defer mu.Unlock()
	pools = append(pools, keepAll)
}

// Keep keeps spare items from being freed, except those that have been unused for long. It is
// called before large memory is needed.
func Keep() {
	now := collections()
	mu.Lock()
	all := pools
	if last == now {
		all = nil
	}
	last = now
	mu.Unlock()
	for _, keepAll := range all {
		keepAll(now)
	}
}
