package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/storage"

	"github.com/nocopythrift/nocopythrift/examples/ingest/api"
)

// Batch takes one request's samples: for each series Find, then Label for each label and Add if it
// is not known, then Sample for each sample; in the end Commit, and End in any case. A known
// series costs no allocation.
type Batch struct {
	s     *Store
	cache *cache
	ctx   context.Context
	app   storage.Appender // nil if it has ended
	id    uint64           // of the samples that app holds
	newer int64            // samples after this time are refused
	err   error            // nothing more is taken

	// The series that Find was called for last
	key     []byte
	cur     *series // nil if it is not in the cache
	builder labels.ScratchBuilder
	lset    labels.Labels // if it is not in the cache
	bad     api.Reason    // why all of its samples are refused

	at             place // the last sample that was passed
	taken, refused int
	reason         api.Reason // why the first was refused, 0 if none was
	first          place      // the first that was refused
}

// place is a sample's: the index of the series and of the sample in it, -1 for the labels.
type place struct{ series, sample int }

func (b *Batch) begin(ctx context.Context) {
	*b = Batch{s: b.s, cache: b.cache, builder: b.builder, id: b.id, ctx: ctx, at: place{-1, -1}}
	b.newer = b.s.options.now().Add(maxAhead).UnixMilli()
	b.cache.begin()
	b.open()
}

// open begins samples that are committed together.
func (b *Batch) open() {
	b.app = b.s.head.Appender(b.ctx)
	b.id++
}

// Find reports whether the next series, whose labels have these bytes, is known. The bytes must
// stay until the next call of Find.
func (b *Batch) Find(key []byte) bool {
	b.at = place{b.at.series + 1, -1}
	b.key, b.bad = key, 0
	if b.cur = b.cache.find(key); b.cur == nil {
		b.builder.Reset()
	}
	return b.cur != nil
}

// Label adds a label to the series, in any order; one without a value is none. It keeps neither
// string, however package labels is built.
func (b *Batch) Label(name, value string) {
	switch {
	case b.bad != 0 || len(b.key) > maxLabels:
	case !utf8.ValidString(name) || !utf8.ValidString(value):
		b.bad = api.Reason_INVALID_UTF8
	case name == "":
		b.bad = api.Reason_EMPTY_LABEL_NAME
	case value != "":
		b.builder.Add(strings.Clone(name), strings.Clone(value))
	}
}

// Add completes and checks the labels.
func (b *Batch) Add() {
	b.builder.Sort()
	b.lset = b.builder.Labels()
	if _, twice := b.lset.HasDuplicateLabelNames(); b.bad != 0 {
	} else if len(b.key) > maxLabels {
		b.bad = api.Reason_LABELS_TOO_LONG
	} else if twice {
		b.bad = api.Reason_DUPLICATE_LABEL
	} else if !b.lset.Has(labels.MetricName) {
		b.bad = api.Reason_NO_METRIC_NAME
	}
	if b.bad != 0 {
		b.note(b.bad)
		return
	}
	// The same series may be known by other bytes, with its labels in another order.
	if b.cur = b.cache.refs[b.ref(b.lset)]; b.cur != nil {
		b.cache.addKey(b.cur, b.key)
		b.makeRoom()
	}
}

// ref returns the number of a series in the head, 0 if it is not there.
func (b *Batch) ref(l labels.Labels) storage.SeriesRef {
	ref, _ := b.app.(storage.GetRef).GetRef(l, l.Hash())
	return ref
}

// Sample takes a sample of the series or refuses it. One that is there already is taken.
func (b *Batch) Sample(t int64, v float64) {
	b.at.sample++
	if reason := b.sample(t, v); reason != 0 {
		b.refused++
		b.note(reason)
	} else {
		b.taken++
	}
}

func (b *Batch) sample(t int64, v float64) api.Reason {
	lset, ref := b.lset, storage.SeriesRef(0)
	switch {
	case b.bad != 0 || b.err != nil:
		return b.bad
	case t < 0:
		return api.Reason_TOO_OLD
	case t > b.newer:
		return api.Reason_TOO_NEW
	case b.cur != nil:
		if known, reason := b.cur.order(t, v); known {
			return reason
		}
		lset, ref = b.cur.lset, b.cur.ref
	}
	if b.s.Series() >= b.s.options.MaxSeries && b.ref(lset) == 0 {
		return api.Reason_TOO_MANY_SERIES
	}
	now, err := b.app.Append(ref, lset, t, v)
	if err != nil {
		return b.refusal(err)
	}
	if b.cur == nil {
		b.cur = b.cache.add(b.key, now, lset)
		b.makeRoom()
	} else if now != ref {
		if known, reason := b.renumber(now, t, v); known {
			return reason
		}
	}
	b.cur.t, b.cur.v, b.cur.pending = t, v, b.id
	return 0
}

// renumber gives the series another number after hours without a sample: the TSDB had removed it
// from memory. The series may already have come back, by other bytes. Then it becomes that one,
// and the TSDB drops its sample unless it follows that one's in time.
func (b *Batch) renumber(ref storage.SeriesRef, t int64, v float64) (known bool, reason api.Reason) {
	back := b.cache.refs[ref]
	if back == nil {
		b.cache.renumber(b.cur, ref)
		return false, 0
	}
	b.cache.remove(b.cur)
	b.cur = back
	b.cache.addKey(back, b.key)
	b.makeRoom()
	return back.order(t, v)
}

// refusal returns the reason of a sample's error. Other errors end the batch.
func (b *Batch) refusal(err error) api.Reason {
	switch {
	case errors.Is(err, storage.ErrOutOfOrderSample):
		return api.Reason_OUT_OF_ORDER
	case errors.Is(err, storage.ErrDuplicateSampleForTimestamp):
		return api.Reason_DUPLICATE
	case errors.Is(err, storage.ErrOutOfBounds):
		return api.Reason_TOO_OLD
	}
	b.err = err
	return 0
}

// note notes why the last sample, or series, was refused if it is the first.
func (b *Batch) note(reason api.Reason) {
	if b.reason == 0 {
		b.reason, b.first = reason, b.at
	}
}

// makeRoom evicts series until the cache is as small as it must be. Those with samples that are
// not committed must stay, since nobody else knows these samples' order; so if it meets such a
// series it commits what there is.
func (b *Batch) makeRoom() {
	for b.cache.size > b.cache.max && b.err == nil {
		s := b.cache.victim(b.cur)
		if s == nil {
			return
		}
		if s.pending == b.id {
			if b.commit(); b.err == nil {
				b.open()
			}
		}
		b.cache.remove(s)
	}
}

// commit writes the samples to the write-ahead log and makes them visible.
func (b *Batch) commit() {
	err := b.app.Commit()
	b.app = nil
	if err != nil {
		b.err = fmt.Errorf("the write-ahead log: %w", err)
		b.s.fail(b.err)
	}
}

// Commit stores the samples. If some were refused the error is an api.Refused; after any other it
// is not known which samples are stored.
func (b *Batch) Commit() error {
	if b.err == nil {
		b.commit()
	}
	if b.err != nil || b.reason == 0 {
		return b.err
	}
	e := api.NewRefused()
	e.SetTaken(int32(b.taken))
	e.SetRefused(int32(b.refused))
	e.SetReason(b.reason)
	e.SetSeries(int32(b.first.series))
	e.SetSample(int32(b.first.sample))
	e.SetMessage(fmt.Sprintf("%d of %d samples refused, the first in series %d: %v",
		b.refused, b.taken+b.refused, b.first.series, b.reason))
	return e
}

// End ends the batch, and drops its samples unless they were committed.
func (b *Batch) End() {
	defer b.s.mu.Unlock()
	if b.app != nil {
		b.cache = newCache(b.cache.max) // it has times of samples that are dropped
		b.app.Rollback()
	}
}
