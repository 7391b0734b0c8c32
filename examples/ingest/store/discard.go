package store

import (
	"context"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/storage"
)

// Discard is a Head that numbers series and drops samples: with it a Store costs what decoding and
// its cache cost.
type Discard struct {
	uncalled
	series uint64
}

// uncalled has the methods of an Appender that Batch does not call; they panic.
type uncalled = storage.Appender

func (d *Discard) Appender(context.Context) storage.Appender { return d }
func (d *Discard) NumSeries() uint64                         { return 0 }
func (d *Discard) Commit() error                             { return nil }
func (d *Discard) Rollback() error                           { return nil }

// GetRef knows no series by its labels.
func (d *Discard) GetRef(labels.Labels, uint64) (storage.SeriesRef, labels.Labels) {
	return 0, labels.EmptyLabels()
}

// Append returns ref, or a new number if it is 0.
func (d *Discard) Append(ref storage.SeriesRef, _ labels.Labels, _ int64, _ float64) (storage.SeriesRef, error) {
	if ref == 0 {
		d.series++
		ref = storage.SeriesRef(d.series)
	}
	return ref, nil
}
