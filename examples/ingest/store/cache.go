package store

import (
	"math"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/storage"

	"github.com/nocopythrift/nocopythrift/examples/ingest/api"
)

// cache has series by the wire bytes of their labels, up to a size in bytes. It evicts those that
// were not used for a round of the clock's hand.
type cache struct {
	byKey     map[string]*series
	refs      map[storage.SeriesRef]*series
	start     *series // stands before the first one of a request
	last      *series // that was found last
	clock     []*series
	hand      int
	size, max int
}

// series is the cache's knowledge of a series.
type series struct {
	ref     storage.SeriesRef // its number in the head, which may have removed it since
	lset    labels.Labels
	t       int64 // of its newest sample
	v       float64
	pending uint64          // the last batch that had samples of it
	used    bool            // since the hand passed
	slot    int             // in clock
	next    *series         // that was found after this one when this one was found last
	keys    [maxKeys]string // "" if there are fewer, none if it was removed
}

// order reports whether the outcome of a sample is known, which it is unless the sample is newer
// than the newest one. Reason 0 means that the sample is stored already.
func (s *series) order(t int64, v float64) (known bool, reason api.Reason) {
	switch {
	case t > s.t:
		return false, 0
	case t < s.t:
		return true, api.Reason_OUT_OF_ORDER
	case math.Float64bits(v) != math.Float64bits(s.v):
		return true, api.Reason_DUPLICATE
	}
	return true, 0
}

const (
	// seriesSize is about what a series takes besides its keys, with its place in the maps.
	seriesSize = 400
	// maxKeys is by how many different bytes a series is known; it is found by others too, slowly.
	maxKeys = 4
	// minCache is room for some series with any labels.
	minCache = 4 * (seriesSize + 2*maxKeys*maxLabels)
)

func newCache(size int) *cache {
	return &cache{byKey: map[string]*series{}, refs: map[storage.SeriesRef]*series{}, start: new(series), max: max(size, minCache)}
}

// begin begins a request.
func (c *cache) begin() { c.last = c.start }

// find returns the series of a key, nil if there is none. Senders have the same series in the same
// order each time: the one that came next the last time is looked at before the map.
func (c *cache) find(key []byte) *series {
	if len(key) == 0 {
		return nil // labels are absent; series that were removed have empty keys, too
	}
	s := c.last.next
	if s == nil || s.keys[0] != string(key) {
		if s = c.byKey[string(key)]; s == nil {
			return nil
		}
		c.last.next = s
	}
	c.last = s
	s.used = true
	return s
}

// add adds a series, whose newest sample is not known yet. It keeps a copy of the key.
func (c *cache) add(key []byte, ref storage.SeriesRef, lset labels.Labels) *series {
	s := &series{ref: ref, lset: lset, t: math.MinInt64, used: true, slot: len(c.clock)}
	c.clock = append(c.clock, s)
	c.refs[ref] = s
	c.size += seriesSize
	c.addKey(s, key)
	return s
}

// addKey makes the series known by a further key, unless it has many. The key's size counts twice,
// for the labels.
func (c *cache) addKey(s *series, key []byte) {
	for i := range s.keys {
		if s.keys[i] == "" {
			k := string(key)
			s.keys[i], c.byKey[k] = k, s
			c.size += 2 * len(k)
			return
		}
	}
}

// renumber gives a series another number.
func (c *cache) renumber(s *series, ref storage.SeriesRef) {
	delete(c.refs, s.ref)
	s.ref = ref
	c.refs[ref] = s
}

// victim returns a series that was not used of late, and is not the one to spare; nil if there is
// no other.
func (c *cache) victim(spare *series) *series {
	for range 2*len(c.clock) + 1 {
		if c.hand++; c.hand >= len(c.clock) {
			c.hand = 0
		}
		if s := c.clock[c.hand]; s.used {
			s.used = false
		} else if s != spare {
			return s
		}
	}
	return nil
}

func (c *cache) remove(s *series) {
	for _, k := range s.keys {
		delete(c.byKey, k)
		c.size -= 2 * len(k)
	}
	delete(c.refs, s.ref)
	last := c.clock[len(c.clock)-1]
	last.slot, c.clock[s.slot] = s.slot, last
	c.clock[len(c.clock)-1] = nil
	c.clock = c.clock[:len(c.clock)-1]
	c.size -= seriesSize
	if c.last == s {
		c.last = c.start
	}
	// Another's next may refer to it still.
	s.keys, s.next, s.lset = [maxKeys]string{}, nil, labels.EmptyLabels()
}
