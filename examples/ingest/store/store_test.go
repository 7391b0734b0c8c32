package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/storage"

	"github.com/nocopythrift/nocopythrift/examples/ingest/api"
	"github.com/nocopythrift/nocopythrift/nocopy"
)

// start is the time of the tests' clocks.
const start = 1_800_000_000_000

func quiet(o Options) Options {
	o.Logger = slog.New(slog.DiscardHandler)
	if o.now == nil {
		o.now = func() time.Time { return time.UnixMilli(start) }
	}
	return o
}

func open(t testing.TB, o Options) *Store {
	t.Helper()
	s, err := Open(t.TempDir(), quiet(o))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// point is a sample: its time after start, and its value.
type point struct {
	t int64
	v float64
}

// oneSeries is a series of a request: names and values in turn, and samples.
type oneSeries struct {
	labels string // "name=value name=value"
	points []point
}

func fill(args api.IngesterWriteArgs, all ...oneSeries) {
	list := args.NewRequest().NewTimeseries(len(all))
	for i, one := range all {
		texts := strings.Fields(one.labels)
		l := list.At(i).NewLabels(len(texts))
		for j, text := range texts {
			name, value, _ := strings.Cut(text, "=")
			l.At(j).SetName(name)
			l.At(j).SetValue(value)
		}
		samples := list.At(i).NewSamples(len(one.points))
		for j, p := range one.points {
			samples.At(j).SetTimestamp(start + p.t)
			samples.At(j).SetValue(p.v)
		}
	}
}

// write writes a request as the server does: the memory that args alias is used again afterwards.
func (s *Store) write(t testing.TB, all ...oneSeries) error {
	t.Helper()
	built := api.NewIngesterWriteArgs()
	defer built.Release()
	fill(built, all...)
	return s.writeWire(t, bytes.Clone(built.Message().Bytes()))
}

func (s *Store) writeWire(t testing.TB, wire []byte) error {
	t.Helper()
	args, err := api.ParseIngesterWriteArgs(wire, nocopy.Recycle)
	if err != nil {
		t.Fatal(err)
	}
	err = s.Write(t.Context(), args, api.IngesterWriteResult{})
	args.Release()
	for i := range wire {
		wire[i] = 0xff
	}
	return err
}

// has returns what PromQL finds in the ten minutes before and after start, in the order of labels.
func (s *Store) has(t testing.TB, query string) string {
	t.Helper()
	args, result := api.NewIngesterQueryArgs(), api.NewIngesterQueryResult()
	defer args.Release()
	defer result.Release()
	args.SetPromql(query)
	args.SetTime(start + 1_000_000_000)
	if err := s.Query(t.Context(), args, result); err != nil {
		t.Fatal(query, err)
	}
	var b strings.Builder
	for _, series := range result.GetSuccess().All() {
		for _, l := range series.GetLabels().All() {
			fmt.Fprintf(&b, "%s=%s ", l.GetName(), l.GetValue())
		}
		for _, p := range series.GetSamples().All() {
			fmt.Fprintf(&b, "%d:%v ", p.GetTimestamp()-start, p.GetValue())
		}
		b.WriteString("\n")
	}
	return strings.TrimSpace(strings.ReplaceAll(b.String(), " \n", "\n"))
}

func (s *Store) all(t testing.TB) string { return s.has(t, `{__name__!=""}[2000000s]`) }

// outcome describes the error of a write.
func outcome(err error) string {
	var refused api.Refused
	if errors.As(err, &refused) {
		defer refused.Release()
		return fmt.Sprintf("taken %d, refused %d, first %d.%d %v",
			refused.GetTaken(), refused.GetRefused(), refused.GetSeries(), refused.GetSample(), refused.GetReason())
	}
	if err != nil {
		return err.Error()
	}
	return "taken"
}

// TestOutcomes: the outcomes of samples are reported, and are true.
func TestOutcomes(t *testing.T) {
	long := strings.Repeat("x", maxLabels)
	for _, c := range []struct {
		name    string
		before  []oneSeries
		request []oneSeries
		want    string
		has     string
	}{
		{"in order", nil, []oneSeries{{"__name__=m a=1", []point{{0, 1}, {1, 2}}}}, "taken", "__name__=m a=1 0:1 1:2"},
		{"nothing", nil, nil, "taken", ""},
		{"no samples", nil, []oneSeries{{"__name__=m", nil}, {"__name__=n", []point{{0, 1}}}}, "taken", "__name__=n 0:1"},
		{"out of order in one request", nil, []oneSeries{{"__name__=m", []point{{5, 1}, {3, 2}, {6, 3}}}},
			"taken 2, refused 1, first 0.1 OUT_OF_ORDER", "__name__=m 5:1 6:3"},
		{"out of order, of the same series twice", nil, []oneSeries{{"__name__=m a=1", []point{{5, 1}}}, {"__name__=m a=1", []point{{4, 2}}}},
			"taken 1, refused 1, first 1.0 OUT_OF_ORDER", "__name__=m a=1 5:1"},
		{"out of order, by other bytes", nil, []oneSeries{{"__name__=m a=1", []point{{5, 1}}}, {"a=1 __name__=m", []point{{4, 2}, {6, 3}}}},
			"taken 2, refused 1, first 1.0 OUT_OF_ORDER", "__name__=m a=1 5:1 6:3"},
		{"out of order, later", []oneSeries{{"__name__=m", []point{{5, 1}}}}, []oneSeries{{"__name__=m", []point{{4, 2}}}},
			"taken 0, refused 1, first 0.0 OUT_OF_ORDER", "__name__=m 5:1"},
		{"the same again", []oneSeries{{"__name__=m", []point{{5, 1}}}}, []oneSeries{{"__name__=m", []point{{5, 1}, {5, 1}, {6, math.NaN()}, {6, math.NaN()}}}},
			"taken", "__name__=m 5:1 6:NaN"},
		{"another value", []oneSeries{{"__name__=m", []point{{5, 1}}}}, []oneSeries{{"__name__=m", []point{{5, 2}, {6, 3}, {6, 4}}}},
			"taken 1, refused 2, first 0.0 DUPLICATE", "__name__=m 5:1 6:3"},
		{"unsorted labels", nil, []oneSeries{{"z=1 __name__=m b=2", []point{{0, 1}}}}, "taken", "__name__=m b=2 z=1 0:1"},
		{"a label without value", nil, []oneSeries{{"__name__=m a=1", []point{{0, 1}}}, {"__name__=m a=1 b=", []point{{1, 2}}}},
			"taken", "__name__=m a=1 0:1 1:2"},
		{"duplicate label", nil, []oneSeries{{"__name__=m", []point{{0, 1}}}, {"__name__=m a=1 a=2", []point{{0, 1}, {1, 1}}}},
			"taken 1, refused 2, first 1.-1 DUPLICATE_LABEL", "__name__=m 0:1"},
		{"duplicate label of one value", nil, []oneSeries{{"__name__=m a=1 a=1", []point{{0, 1}}}}, "taken 0, refused 1, first 0.-1 DUPLICATE_LABEL", ""},
		{"empty label name", nil, []oneSeries{{"__name__=m =1", []point{{0, 1}}}, {"__name__=n", []point{{0, 1}}}},
			"taken 1, refused 1, first 0.-1 EMPTY_LABEL_NAME", "__name__=n 0:1"},
		{"no name", nil, []oneSeries{{"a=1", []point{{0, 1}}}}, "taken 0, refused 1, first 0.-1 NO_METRIC_NAME", ""},
		{"no labels", nil, []oneSeries{{"", []point{{0, 1}}}}, "taken 0, refused 1, first 0.-1 NO_METRIC_NAME", ""},
		{"empty name", nil, []oneSeries{{"__name__=", []point{{0, 1}}}}, "taken 0, refused 1, first 0.-1 NO_METRIC_NAME", ""},
		{"value that is not UTF-8", nil, []oneSeries{{"__name__=m a=\xff", []point{{0, 1}}}}, "taken 0, refused 1, first 0.-1 INVALID_UTF8", ""},
		{"name that is not UTF-8", nil, []oneSeries{{"__name__=m \xc3\x28=1", []point{{0, 1}}}}, "taken 0, refused 1, first 0.-1 INVALID_UTF8", ""},
		{"half a character, without samples", nil, []oneSeries{{"__name__=\xe2\x82", nil}}, "taken 0, refused 0, first 0.-1 INVALID_UTF8", ""},
		{"UTF-8", nil, []oneSeries{{"__name__=größe ключ=値", []point{{0, 1}}}}, "taken", "__name__=größe ключ=値 0:1"},
		{"long", nil, []oneSeries{{"__name__=m a=" + long, []point{{0, 1}}}, {"__name__=n", []point{{0, 1}}}},
			"taken 1, refused 1, first 0.-1 LABELS_TOO_LONG", "__name__=n 0:1"},
		{"too new", nil, []oneSeries{{"__name__=m", []point{{600_000, 1}, {600_001, 2}, {math.MaxInt64 - start, 3}}}},
			"taken 1, refused 2, first 0.1 TOO_NEW", "__name__=m 600000:1"},
		{"too old", []oneSeries{{"__name__=m", []point{{0, 1}}}}, []oneSeries{{"__name__=n", []point{{-7_200_000, 1}, {-start - 1, 2}, {math.MinInt64, 3}, {1, 4}}}},
			"taken 1, refused 3, first 0.0 TOO_OLD", "__name__=m 0:1\n__name__=n 1:4"},
		{"before 1970, first of all", nil, []oneSeries{{"__name__=m", []point{{math.MinInt64, 1}, {0, 2}}}},
			"taken 1, refused 1, first 0.0 TOO_OLD", "__name__=m 0:2"},
		{"several reasons", nil, []oneSeries{{"__name__=n", []point{{3, 1}, {2, 1}}}, {"a=1", []point{{0, 1}}}},
			"taken 1, refused 2, first 0.1 OUT_OF_ORDER", "__name__=n 3:1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := open(t, Options{})
			if err := s.write(t, c.before...); err != nil {
				t.Fatal(outcome(err))
			}
			if got := outcome(s.write(t, c.request...)); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
			if got := s.all(t); got != c.has {
				t.Errorf("the store has\n%s\nwant\n%s", got, c.has)
			}
		})
	}
}

// TestOddWire: labels with unknown fields, in another order of fields, or twice are the same
// series; a request, series or sample without fields is one with zeros.
func TestOddWire(t *testing.T) {
	const (
		name    = "\x0b\x00\x01\x00\x00\x00\x08__name__"
		value   = "\x0b\x00\x02\x00\x00\x00\x01m"
		unknown = "\x08\x00\x09\x00\x00\x00\x07"
	)
	series := func(label string, n byte) string {
		sample := "\x04\x00\x01\x3f\xf0\x00\x00\x00\x00\x00\x00\x0a\x00\x02\x00\x00\x01\xa3\x17\xa9\xc4" + string(rune(n)) + "\x00"
		return "\x0f\x00\x01\x0c\x00\x00\x00\x01" + label + "\x00" + "\x0f\x00\x02\x0c\x00\x00\x00\x01" + sample + "\x00"
	}
	request := func(all ...string) []byte {
		return []byte("\x0c\x00\x01\x0f\x00\x01\x0c" + string([]byte{0, 0, 0, byte(len(all))}) + strings.Join(all, "") + "\x00\x00")
	}
	s := open(t, Options{})
	for _, wire := range [][]byte{
		request(series(name+value, 1), series(value+name, 2)), request(series(name+value+unknown, 3)), request(series(name+name+value, 4)),
		request(series(unknown+name+value, 5), series(name+unknown+value, 6), series(name+value, 7)), []byte("\x00"), []byte("\x0c\x00\x01\x00\x00"),
	} {
		if err := s.writeWire(t, wire); err != nil {
			t.Error(outcome(err))
		}
	}
	if got := outcome(s.writeWire(t, request("\x00"))); got != "taken 0, refused 0, first 0.-1 NO_METRIC_NAME" {
		t.Error(got)
	}
	if got := s.has(t, "count_over_time(m[2000000s])"); !strings.HasSuffix(got, ":7") {
		t.Error(got)
	}
	if n := len(s.batch.cache.clock); n != 1 {
		t.Errorf("%d series in the cache", n)
	}
}

// TestManySpellings: the bytes of one series are in the cache up to a number; further ones are the
// same series, too.
func TestManySpellings(t *testing.T) {
	s := open(t, Options{})
	for i := range 20 {
		if err := s.write(t, oneSeries{"__name__=m" + strings.Repeat(" a=", i), []point{{int64(i), 1}}}); err != nil {
			t.Fatal(outcome(err))
		}
	}
	if c := s.batch.cache; len(c.clock) != 1 || len(c.byKey) != maxKeys {
		t.Errorf("%d series, %d keys", len(c.clock), len(c.byKey))
	}
	if got := s.has(t, "count_over_time(m[2000000s])"); !strings.HasSuffix(got, ":20") {
		t.Error(got)
	}
}

// TestGone: a series that the TSDB has removed from memory is taken again, by the bytes that are
// in the cache and by others.
func TestGone(t *testing.T) {
	const hour = 3_600_000
	now := int64(start)
	for _, order := range [][]string{{"a=1 __name__=m"}, {"__name__=m a=1"}, {"a=1 __name__=m", "__name__=m a=1"}, {"__name__=m a=1", "a=1 __name__=m"}} {
		t.Run(strings.Join(order, ", "), func(t *testing.T) {
			s := open(t, Options{now: func() time.Time { return time.UnixMilli(now) }})
			now = start
			if err := s.write(t, oneSeries{"__name__=m a=1", []point{{0, 1}}}); err != nil {
				t.Fatal(err)
			}
			old := s.batch.cache.clock[0].ref
			now = start + 10*hour
			for i := range int64(10) {
				if err := s.write(t, oneSeries{"__name__=other", []point{{i * hour, 1}}}); err != nil {
					t.Fatal(outcome(err))
				}
			}
			if err := s.db.Compact(t.Context()); err != nil {
				t.Fatal(err)
			}
			if n := s.Series(); n != 1 {
				t.Fatalf("%d series in memory", n)
			}
			var all []oneSeries
			for i, labels := range order {
				all = append(all, oneSeries{labels, []point{{9*hour + 20 + int64(i), 2}}})
			}
			// Nor is order forgotten between the old bytes and new ones.
			all = append(all, oneSeries{"__name__=m a=1", []point{{9*hour + 10, 3}}}, oneSeries{"a=1 __name__=m", []point{{9*hour + 11, 3}}})
			want := fmt.Sprintf("taken %d, refused 2, first %d.0 OUT_OF_ORDER", len(order), len(order))
			if got := outcome(s.write(t, all...)); got != want {
				t.Errorf("%s, want %s", got, want)
			}
			if got := s.has(t, "count_over_time(m[2000000s])"); !strings.HasSuffix(got, fmt.Sprint(":", 1+len(order))) {
				t.Error(got)
			}
			if m := s.batch.cache.find(keyOf(t, "__name__=m a=1")); m == nil || m.ref == old || s.batch.cache.refs[m.ref] != m || s.batch.cache.refs[old] != nil {
				t.Errorf("in the cache: %+v, before: %d", m, old)
			}
			checkCache(t, s.batch.cache)
		})
	}
}

// keyOf returns the wire bytes of labels.
func keyOf(t testing.TB, text string) []byte {
	args := api.NewIngesterWriteArgs()
	defer args.Release()
	fill(args, oneSeries{labels: text})
	return bytes.Clone(args.GetRequest().GetTimeseries().At(0).GetLabels().Wire())
}

// checkCache checks that what a cache has of series agrees.
func checkCache(t testing.TB, c *cache) {
	t.Helper()
	size, keys := 0, 0
	for i, s := range c.clock {
		size += seriesSize
		if s.slot != i || c.refs[s.ref] != s || s.keys[0] == "" {
			t.Errorf("series %d: %+v", i, s)
		}
		for _, k := range s.keys {
			if k == "" {
				continue
			}
			keys++
			size += 2 * len(k)
			if c.byKey[k] != s {
				t.Errorf("series %d is not found by %q", i, k)
			}
		}
	}
	if size != c.size || keys != len(c.byKey) || len(c.refs) != len(c.clock) {
		t.Errorf("size %d, want %d; %d keys, want %d; %d numbers, want %d", c.size, size, len(c.byKey), keys, len(c.refs), len(c.clock))
	}
}

// TestSmallCache: with a cache that is smaller than one request's series, it stays as small, and
// nothing is lost or taken out of order.
func TestSmallCache(t *testing.T) {
	const n = 2000
	s := open(t, Options{CacheBytes: 1})
	for round := range int64(3) {
		var all []oneSeries
		for i := range n {
			all = append(all, oneSeries{fmt.Sprintf("__name__=m i=%d", i), []point{{10 * round, 1}}})
		}
		for i := range n {
			all = append(all, oneSeries{fmt.Sprintf("i=%d __name__=m", i), []point{{10*round - 1, 2}, {10*round + 1, 3}}})
		}
		want := fmt.Sprintf("taken %d, refused %d, first %d.0 OUT_OF_ORDER", 2*n, n, n)
		if got := outcome(s.write(t, all...)); got != want {
			t.Fatalf("%s, want %s", got, want)
		}
		checkCache(t, s.batch.cache)
		if c := s.batch.cache; c.size > c.max || len(c.clock) < 20 {
			t.Errorf("%d series in %d of %d bytes", len(c.clock), c.size, c.max)
		}
	}
	if got := s.has(t, "sum(count_over_time(m[2000000s]))"); !strings.HasSuffix(got, fmt.Sprint(":", 6*n)) {
		t.Error(got)
	}
}

// TestAbsentLabels: a series without the field labels is refused, also where the one that came
// next the last time is no longer in the cache, and has no keys any more.
func TestAbsentLabels(t *testing.T) {
	s := open(t, Options{})
	if err := s.write(t, oneSeries{"__name__=m", []point{{0, 1}}}, oneSeries{"__name__=n", []point{{0, 1}}}); err != nil {
		t.Fatal(outcome(err))
	}
	c := s.batch.cache
	write := func(t2 int64) error {
		args := api.NewIngesterWriteArgs()
		defer args.Release()
		fill(args, oneSeries{"__name__=m", []point{{t2, 1}}}, oneSeries{"", []point{{t2, 2}}})
		args.GetRequest().GetTimeseries().At(1).UnsetLabels()
		return s.writeWire(t, bytes.Clone(args.Message().Bytes()))
	}
	for i, evict := range []string{"__name__=n", "__name__=m"} {
		at := 2 * int64(i)
		if err := s.write(t, oneSeries{"__name__=m", []point{{at + 1, 1}}}, oneSeries{"__name__=n", []point{{at + 1, 1}}}); err != nil {
			t.Fatal(outcome(err))
		}
		c.remove(c.find(keyOf(t, evict)))
		if got := outcome(write(at + 2)); got != "taken 1, refused 1, first 1.-1 NO_METRIC_NAME" {
			t.Error(got)
		}
		checkCache(t, c)
	}
	if got, want := s.all(t), "__name__=m 0:1 1:1 2:1 3:1 4:1\n__name__=n 0:1 1:1 3:1"; got != want {
		t.Errorf("the store has\n%s\nwant\n%s", got, want)
	}
}

// TestAnyOrder: samples go to their series, which may be sent in any order.
func TestAnyOrder(t *testing.T) {
	const n = 50
	s := open(t, Options{})
	r := rand.New(rand.NewPCG(3, 4))
	for round := range int64(40) {
		var all []oneSeries
		for _, i := range r.Perm(n)[:1+r.IntN(n)] {
			all = append(all, oneSeries{fmt.Sprintf("__name__=m i=%d", i), []point{{round, float64(i)}}})
		}
		if err := s.write(t, all...); err != nil {
			t.Fatal(outcome(err))
		}
		if c := s.batch.cache; round%10 == 9 { // some are forgotten
			c.remove(c.clock[r.IntN(len(c.clock))])
			checkCache(t, c)
		}
	}
	got := s.has(t, "min_over_time(m[2000000s]) == max_over_time(m[2000000s])")
	if strings.Count(got, "\n") != n-1 {
		t.Error(got)
	}
	for line := range strings.Lines(got) {
		var i, at, v int
		if _, err := fmt.Sscanf(line, "i=%d %d:%d", &i, &at, &v); err != nil || i != v {
			t.Error(line, err)
		}
	}
}

// TestManySeries: new series are refused when there are MaxSeries, known ones are not.
func TestManySeries(t *testing.T) {
	s := open(t, Options{MaxSeries: 3})
	for round := range int64(2) {
		var all []oneSeries
		for i := range 5 {
			all = append(all, oneSeries{fmt.Sprintf("__name__=m i=%d", i), []point{{2 * round, 1}, {2*round + 1, 1}}})
		}
		if got := outcome(s.write(t, all...)); got != "taken 6, refused 4, first 3.0 TOO_MANY_SERIES" {
			t.Error(got)
		}
	}
	if n := s.Series(); n != 3 {
		t.Errorf("%d series", n)
	}
}

// TestSameSeries: clients that write the same series at once are told true outcomes.
func TestSameSeries(t *testing.T) {
	s := open(t, Options{})
	var wg sync.WaitGroup
	var mu sync.Mutex
	taken := 0
	for range 4 {
		wg.Go(func() {
			for i := range int64(200) {
				err := s.write(t, oneSeries{"__name__=m", []point{{3 * i, 1}, {3*i + 1, 1}}}, oneSeries{"__name__=n", []point{{i, float64(i)}}})
				n := 3
				var refused api.Refused
				if errors.As(err, &refused) {
					n = int(refused.GetTaken())
				} else if err != nil {
					t.Error(err)
				}
				mu.Lock()
				taken += n
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	got := s.has(t, `sum(count_over_time(m[2000000s])) + sum(count_over_time(n[2000000s]))`)
	if !strings.HasSuffix(got, ":600") || taken < 600 {
		t.Errorf("%s, taken %d", got, taken)
	}
}

// failing is a Head whose calls fail at will.
type failing struct {
	Discard
	append, commit error
}

func (f *failing) Appender(context.Context) storage.Appender { return f }
func (f *failing) Commit() error                             { return f.commit }
func (f *failing) Append(ref storage.SeriesRef, l labels.Labels, t int64, v float64) (storage.SeriesRef, error) {
	if f.append != nil {
		return 0, f.append
	}
	return f.Discard.Append(ref, l, t, v)
}

// TestFailures: after an error of the TSDB the request can be sent again; after one of its log
// nothing is acknowledged any more.
func TestFailures(t *testing.T) {
	f := &failing{append: errors.New("no sample today")}
	s := New(f, quiet(Options{}))
	request := []oneSeries{{"__name__=m", []point{{1, 1}}}, {"__name__=n", []point{{1, 1}}}}
	if got := outcome(s.write(t, request...)); got != "no sample today" {
		t.Error(got)
	}
	f.append = nil
	if err := s.write(t, request...); err != nil {
		t.Error(err)
	}
	f.append = errors.New("nor tomorrow")
	if got := outcome(s.write(t, oneSeries{"__name__=m", []point{{2, 1}}})); got != "nor tomorrow" {
		t.Error(got)
	}
	if n := len(s.batch.cache.byKey); n != 0 {
		t.Errorf("%d series are in the cache, with times of dropped samples", n)
	}
	f.append, f.commit = nil, errors.New("disk full")
	select {
	case <-s.Broken():
		t.Error("broken already")
	default:
	}
	for range 2 {
		if got := outcome(s.write(t, request...)); got != "the write-ahead log: disk full" {
			t.Error(got)
		}
		f.commit = nil
		select {
		case <-s.Broken():
		default:
			t.Error("not broken")
		}
	}
}

// TestGoneClient: the request of a client that is gone is not appended.
func TestGoneClient(t *testing.T) {
	s := New(&Discard{}, quiet(Options{}))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Begin(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := s.write(t); err != nil {
		t.Error("the store is locked:", err)
	}
}

// TestQueries: results of all types, and errors.
func TestQueries(t *testing.T) {
	s := open(t, Options{now: func() time.Time { return time.UnixMilli(start + 60_000) }})
	if err := s.write(t, oneSeries{"__name__=m a=1", []point{{0, 1}, {30_000, 4}}}); err != nil {
		t.Fatal(err)
	}
	for query, want := range map[string]string{
		"m": "__name__=m a=1 60000:4", "m[1m]": "__name__=m a=1 30000:4", "1 + 1": "60000:2", "sum(sum_over_time(m[2m]))": "60000:5", "none": "",
		`"text"`: "bad query: the result is a string", "sum(": "bad query: 1:5: parse error: unclosed left parenthesis",
		strings.Repeat("(", maxQueryText) + "1": "bad query: the query is too long",
	} {
		args, result := api.NewIngesterQueryArgs(), api.NewIngesterQueryResult()
		args.SetPromql(query)
		err := s.Query(t.Context(), args, result)
		var bad api.BadQuery
		got := ""
		if errors.As(err, &bad) {
			got = "bad query: " + bad.GetMessage()
		} else if err != nil {
			t.Error(err)
		}
		for _, series := range result.GetSuccess().All() {
			for _, l := range series.GetLabels().All() {
				got += l.GetName() + "=" + l.GetValue() + " "
			}
			for _, p := range series.GetSamples().All() {
				got += fmt.Sprintf("%d:%v ", p.GetTimestamp()-start, p.GetValue())
			}
		}
		if strings.TrimSpace(got) != want {
			t.Errorf("%.20s: %s, want %s", query, got, want)
		}
		args.Release()
		result.Release()
	}
}
