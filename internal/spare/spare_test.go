package spare

import (
	"runtime"
	"sync"
	"testing"
	"time"
)

func item(n int) *Item[[]byte] { return &Item[[]byte]{Value: make([]byte, n), Size: n} }

// TestGet: Get returns items of the requested size, each of them once.
func TestGet(t *testing.T) {
	var p Pool[[]byte]
	for _, n := range []int{100, 200, 300, 4000} {
		p.Put(item(n))
	}
	for _, c := range []struct{ least, most, want int }{
		{101, 199, 0}, {90, 100, 100}, {90, 100, 0}, {150, 250, 200}, {250, 10_000, 300}, {250, 10_000, 4000}, {1, 1 << 30, 0},
	} {
		got := 0
		if i := p.Get(c.least, c.most); i != nil {
			got = i.Size
		}
		if got != c.want {
			t.Errorf("of %d to %d: %d, want %d", c.least, c.most, got, c.want)
		}
	}
}

// TestAllocations: Put and Get do not allocate.
func TestAllocations(t *testing.T) {
	var p Pool[[]byte]
	i := item(1000)
	cycle := func() {
		p.Put(i)
		i = p.Get(1000, 1000)
	}
	cycle()
	if n := testing.AllocsPerRun(100, cycle); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestLifetime: an item that nobody takes is gone after some collections, not sooner.
func TestLifetime(t *testing.T) {
	var p Pool[[]byte]
	for range 2 { // the pool goes on after it was empty
		p.Put(item(1 << 20))
		n, left := 0, 1
		for end := time.Now().Add(time.Minute); left > 0 && time.Now().Before(end); n++ {
			runtime.GC()
			time.Sleep(time.Millisecond)
			p.mu.Lock()
			left = len(p.sizes[21])
			p.mu.Unlock()
		}
		if left > 0 || n <= lives {
			t.Errorf("after %d collections there are %d items", n, left)
		}
	}
	if i := p.Get(1<<20, 1<<20); i != nil {
		t.Error("something is there afterwards")
	}
}

// TestMany: several goroutines take memory and put it back again and again. No two ever have the
// same piece, and the lists do not grow with the number of calls.
func TestMany(t *testing.T) {
	var p Pool[[]byte]
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for k := range 20_000 {
				i := p.Get(100, 200)
				if i == nil {
					i = item(100 + k%100)
				}
				i.Value[0] = byte(g)
				if k%1000 == 0 {
					runtime.GC()
				}
				if i.Value[0] != byte(g) {
					t.Error("it is somebody else's, too")
				}
				p.Put(i)
			}
		})
	}
	wg.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	for _, list := range p.sizes {
		n += len(list)
	}
	if n > 100 {
		t.Errorf("%d items of at most a few", n)
	}
}
