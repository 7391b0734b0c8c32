// Package spare keeps large pieces of memory that are free, so that they can be used again soon.
//
// A sync.Pool is for what is small and asked for all the time: what one processor has put there
// another may not find, and two collections empty it, which may both happen while one large
// message is received. What is spare here is found by everybody, by its size, and lives for two
// collections after it was put here or [Keep] was called last.
package spare

import (
	"math/bits"
	"runtime/metrics"
	"sync"
	"weak"
)

// Item is a piece of memory that is spare from time to time.
type Item[T any] struct {
	Value T
	Size  int // in any unit, as Get has it

	weak weak.Pointer[Item[T]] // to itself, once it was in its Pool

	free bool   // it is in its Pool
	put  uint64 // how many collections there had been when it was put there
	kept uint64 // how many, and one, when it was given to alive last
}

// Pool keeps items of one kind. The zero Pool is ready for use, by any number of goroutines.
type Pool[T any] struct {
	mu sync.Mutex
	// Free items by the bits of their size, the latest last
	sizes [bits.UintSize + 1][]weak.Pointer[Item[T]]
	// Keeps free items alive; nothing is taken from here
	alive sync.Pool
	known bool // to Keep
}

// longest is for how many collections an item that nobody takes is kept at most.
const longest = 8

// Put makes an item spare. It must not be used any more.
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

// Get returns an item whose size is between least and most, which is the caller's from then on;
// nil if there is none.
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

// keep makes the item stay where it is for the next two garbage collections.
func (p *Pool[T]) keep(i *Item[T], now uint64) {
	if i.kept != now+1 {
		i.kept = now + 1
		p.alive.Put(i)
	}
}

// keepAll keeps all items that are spare, and have not been for long, for two collections more.
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

// living returns the items of the list that are still there, with room for more.
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

// cycles is what collections reads into: memory of its own would be allocated each time.
var cycles = struct {
	sync.Mutex
	sample []metrics.Sample
}{sample: []metrics.Sample{{Name: "/gc/cycles/total:gc-cycles"}}}

// collections returns how many collections there have been.
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

// Keep is called before large memory is needed: it keeps spare items from being freed, except
// those that were not used for long.
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
