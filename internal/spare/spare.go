// Package spare keeps large free pieces of memory for reuse.
//
// A sync.Pool suits small items that are needed all the time. One processor may not find items
// that another has put there, and two garbage collections empty it. Both may happen while one
// large message is received. Spare items are found from all processors, by size. An item that
// nobody takes is given up after a few collections.
package spare

import (
	"math/bits"
	"runtime"
	"slices"
	"sync"
)

// Item is a piece of memory that can be put into a Pool.
type Item[T any] struct {
	Value T
	Size  int // in the unit of Get's arguments, which may be any

	left int // how many more collections the item is kept for
}

// Pool keeps items of one kind. The zero Pool is ready for use, by any number of goroutines.
type Pool[T any] struct {
	mu    sync.Mutex
	sizes [bits.UintSize + 1][]*Item[T] // by the bit length of their size, the latest last
	waits bool                          // the next collection calls collected
}

// lives is the number of collections that an item is kept for.
const lives = 4

// Put makes an item spare. The caller must not use it any more.
func (p *Pool[T]) Put(i *Item[T]) {
	p.mu.Lock()
	defer p.mu.Unlock()
	i.left = lives
	list := &p.sizes[bits.Len(uint(i.Size))]
	*list = append(*list, i)
	if !p.waits {
		p.wait()
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
			if i := list[k]; i.Size >= least && i.Size <= most {
				p.sizes[c] = slices.Delete(list, k, k+1)
				return i
			}
		}
	}
	return nil
}

// sentinel is an object that the next collection frees. (The pointer makes Go allocate it alone.)
type sentinel struct{ _ *byte }

// wait makes the next collection call collected.
func (p *Pool[T]) wait() {
	p.waits = true
	runtime.AddCleanup(new(sentinel), (*Pool[T]).collected, p)
}

// collected gives up the items that were not used for some collections. It is called after each
// collection while there are items.
func (p *Pool[T]) collected() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waits = false
	for c, list := range p.sizes {
		if len(list) == 0 {
			continue
		}
		p.sizes[c] = slices.DeleteFunc(list, func(i *Item[T]) bool {
			i.left--
			return i.left < 0
		})
		p.waits = p.waits || len(p.sizes[c]) > 0
	}
	if p.waits {
		p.wait()
	}
}
