package main

import (
	"context"
	"fmt"
	"math/bits"
	"runtime/metrics"
	"sync/atomic"
	"time"

	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// meter counts calls, their bytes and their durations. Any number of goroutines may use it.
type meter struct {
	calls, bytes atomic.Int64
	took         [40 << subBits]atomic.Int64 // calls by duration: see bucket
}

// subBits is how many bits of a duration count after its first: there are 64 buckets from one
// power of two to the next, and a quantile is at most 1.6 % too high.
const subBits = 6

// bucket returns the bucket of a duration. Durations below 128 ns have one each.
func bucket(d time.Duration) int {
	n := uint64(max(d, 0))
	shift := max(bits.Len64(n)-subBits-1, 0)
	return min(shift<<subBits+int(n>>shift), 40<<subBits-1)
}

// upper returns the longest duration of a bucket.
func upper(b int) time.Duration {
	shift := max(b>>subBits-1, 0)
	return time.Duration(b-shift<<subBits+1)<<shift - 1
}

func (m *meter) add(d time.Duration, n int) {
	m.calls.Add(1)
	m.bytes.Add(int64(n))
	m.took[bucket(d)].Add(1)
}

// measure is an interceptor that counts calls and the bytes of their requests and replies.
func (m *meter) measure(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
	start := time.Now()
	err := next(ctx, c)
	m.add(time.Since(start), c.Args.Message().Len()+c.Result.Message().Len())
	return err
}

// reading holds a meter's figures at one moment.
type reading struct {
	at           time.Time
	calls, bytes int64
	took         [40 << subBits]int64
	allocs       uint64 // of the whole program
}

func (m *meter) read() *reading {
	r := &reading{at: time.Now(), calls: m.calls.Load(), bytes: m.bytes.Load(), allocs: allocations()}
	for i := range m.took {
		r.took[i] = m.took[i].Load()
	}
	return r
}

// allocations returns how many heap objects the program has allocated so far.
func allocations() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:objects"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// quantile returns the duration that the given share of the calls since an earlier reading did not
// exceed.
func (r *reading) quantile(since *reading, share float64) time.Duration {
	var total int64
	for i := range r.took {
		total += r.took[i] - since.took[i]
	}
	left := int64(share * float64(total))
	for i := range r.took {
		if left -= r.took[i] - since.took[i]; left < 0 {
			return upper(i)
		}
	}
	return 0
}

// since returns a line with the figures between two readings.
func (r *reading) since(before *reading) string {
	seconds := r.at.Sub(before.at).Seconds()
	calls := r.calls - before.calls
	return fmt.Sprintf("%9.0f calls/s  p50 %-8v p99 %-8v %8.1f MB/s  %6.1f allocs/call",
		float64(calls)/seconds,
		short(r.quantile(before, 0.5)), short(r.quantile(before, 0.99)),
		float64(r.bytes-before.bytes)/1e6/seconds,
		float64(r.allocs-before.allocs)/float64(max(calls, 1)))
}

// short returns a duration rounded to three digits.
func short(d time.Duration) time.Duration {
	unit := time.Duration(1)
	for d/unit >= 1000 {
		unit *= 10
	}
	return d.Round(unit)
}
