// Package store puts samples into Prometheus' TSDB, and evaluates PromQL over them. It is the
// handler of the service Ingester.
package store

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"sync"
	"time"

	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb"

	"github.com/nocopythrift/nocopythrift/examples/ingest/api"
)

// Options bound what a Store takes. The zero value of each is a default.
type Options struct {
	MaxSeries  int           // series with samples in memory; 1,000,000 if 0
	CacheBytes int           // memory of the cache of series, about; 256 MiB if 0
	Retention  time.Duration // how long samples stay on disk; 15 days if 0
	MaxBytes   int64         // of blocks on disk: the oldest are removed; 16 GiB if 0
	Logger     *slog.Logger  // slog.Default if nil

	now func() time.Time // time.Now if nil; tests set it
}

const (
	// maxLabels bounds the wire bytes of a series' labels.
	maxLabels = 4 << 10
	// maxAhead is how far in the future a sample may be. A sample of the year 3000 would make the
	// TSDB refuse today's samples as too old.
	maxAhead = 10 * time.Minute
)

func (o Options) withDefaults() Options {
	if o.MaxSeries == 0 {
		o.MaxSeries = 1_000_000
	}
	if o.CacheBytes == 0 {
		o.CacheBytes = 256 << 20
	}
	if o.Retention == 0 {
		o.Retention = 15 * 24 * time.Hour
	}
	if o.MaxBytes == 0 {
		o.MaxBytes = 16 << 30
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	if o.now == nil {
		o.now = time.Now
	}
	return o
}

// Store takes samples. Its methods may be called by many goroutines at once.
//
// Requests are appended one at a time. The TSDB checks a sample's order when it is appended and
// again when it is committed. The second time it silently drops samples that others have
// overtaken: with requests at the same time, a sample could be acknowledged and not be there.
type Store struct {
	db      *tsdb.DB // nil if the samples go elsewhere
	engine  *promql.Engine
	queries chan struct{} // holds a value for each query under way
	options Options

	mu     sync.Mutex
	head   Head
	batch  Batch
	failed error // of the write-ahead log; nothing is taken after it
	broken chan struct{}
}

// Head takes samples, as a TSDB does.
type Head interface {
	storage.Appendable
	NumSeries() uint64 // in memory
}

type dbHead struct{ *tsdb.DB }

func (h dbHead) NumSeries() uint64 { return h.Head().NumSeries() }

// Open opens the store in a directory, which is made if there is none, and replays its write-ahead
// log.
func Open(dir string, o Options) (*Store, error) {
	o = o.withDefaults()
	settings := tsdb.DefaultOptions()
	settings.RetentionDuration = o.Retention.Milliseconds()
	settings.MaxBytes = o.MaxBytes
	db, err := tsdb.Open(dir, o.Logger, nil, settings, nil)
	if err != nil {
		return nil, err
	}
	s := New(dbHead{db}, o)
	s.db = db
	s.engine = promql.NewEngine(promql.EngineOpts{
		Logger: o.Logger, MaxSamples: maxQuerySamples, Timeout: queryTimeout, EnableAtModifier: true, EnableNegativeOffset: true,
	})
	return s, nil
}

// New returns a Store that puts samples into h, and answers no queries.
func New(h Head, o Options) *Store {
	o = o.withDefaults()
	s := &Store{options: o, head: h, queries: make(chan struct{}, maxQueries), broken: make(chan struct{})}
	s.batch = Batch{s: s, cache: newCache(o.CacheBytes)}
	return s
}

// Close waits for the request that is being appended and closes the TSDB.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fail(errors.New("the store is closed"))
	if s.db == nil {
		return nil
	}
	return s.db.Close()
}

// Broken is closed when the write-ahead log can't be written any more. The Store takes no samples
// then: records after a partly written one would be lost when the log is replayed. Opening the
// directory again repairs the log.
func (s *Store) Broken() <-chan struct{} { return s.broken }

func (s *Store) fail(err error) {
	if s.failed == nil {
		s.failed = err
		close(s.broken)
	}
}

// Write stores a request's samples: it is in the TSDB's write-ahead log when Write returns. The
// error is an api.Refused if some were refused. No string of args is kept.
func (s *Store) Write(ctx context.Context, args api.IngesterWriteArgs, _ api.IngesterWriteResult) error {
	b, err := s.Begin(ctx)
	if err != nil {
		return err
	}
	defer b.End()
	for _, series := range args.GetRequest().GetTimeseries().All() {
		labels := series.GetLabels()
		if !b.Find(labels.Wire()) {
			for _, l := range labels.All() {
				b.Label(l.GetName(), l.GetValue())
			}
			b.Add()
		}
		for _, p := range series.GetSamples().All() {
			b.Sample(p.GetTimestamp(), p.GetValue())
		}
	}
	return b.Commit()
}

// Begin waits for the requests before and returns a Batch for one request's samples, which must
// be ended.
func (s *Store) Begin(ctx context.Context) (*Batch, error) {
	s.mu.Lock()
	err := s.failed
	if err == nil {
		err = ctx.Err() // the client is gone, or was not willing to wait for the others
	}
	if err != nil {
		s.mu.Unlock()
		return nil, err
	}
	s.batch.begin(ctx)
	return &s.batch, nil
}

// Series returns how many series have samples in memory.
func (s *Store) Series() int { return int(min(s.head.NumSeries(), math.MaxInt)) }
