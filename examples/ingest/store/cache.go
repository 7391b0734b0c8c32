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
	clock     []*series
	hand      int
	size, max int
}

// series is what the cache knows of a series.
type series struct {
	ref     storage.SeriesRef // its number in the head, which may have removed it since
	lset    labels.Labels
	t       int64 // of its newest sample
	v       float64
	pending uint64 // the last batch that had samples of it
	used    bool   // since the hand passed
	slot    int    // in clock
	keys    []string
}

// order reports whether it is known what becomes of a sample, since it is not newer than the
// newest: it is there already if the reason is 0.
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
	// minCache is room for some series, whatever their labels.
	minCache = 4 * (seriesSize + 2*maxKeys*maxLabels)
)

func (c *cache) init(size int) {
	*c = cache{byKey: map[string]*series{}, refs: map[storage.SeriesRef]*series{}, max: max(size, minCache)}
}

// find returns the series of a key, nil if there is none.
func (c *cache) find(key []byte) *series {
	s := c.byKey[string(key)]
	if s != nil && !s.used {
		s.used = true
	}
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

// addKey makes the series known by a further key, unless it has many.
func (c *cache) addKey(s *series, key []byte) {
	if len(s.keys) < maxKeys {
		k := string(key)
		s.keys = append(s.keys, k)
		c.byKey[k] = s
		c.size += keySize(k)
	}
}

// keySize is what a key takes, and the labels in it.
func keySize(k string) int { return 2 * len(k) }

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
		c.size -= keySize(k)
	}
	delete(c.refs, s.ref)
	last := c.clock[len(c.clock)-1]
	last.slot, c.clock[s.slot] = s.slot, last
	c.clock[len(c.clock)-1] = nil
	c.clock = c.clock[:len(c.clock)-1]
	c.size -= seriesSize
}
