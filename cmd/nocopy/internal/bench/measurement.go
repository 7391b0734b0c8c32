package bench

import (
	"strings"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/invoke"
)

// result is the outcome of a run.
type result struct {
	load
	latencies *hdrhistogram.Histogram // in nanoseconds
	seconds   []second
	ok        int64
	errors    map[string]int64
	duration  time.Duration // as it was asked for
	took      time.Duration
	bytes     int64 // of arguments and results

	due        int64         // calls that were to be made
	unsent     int64         // those of them that were not sent
	unfinished int64         // calls that had no answer at the end
	waited     time.Duration // the longest of these, so far
	silent     int           // connections on which calls were made and none was answered
}

// second is the outcome of one second.
type second struct {
	calls, errors   int64
	p50, p99, worst time.Duration
}

// measurement is a result that grows. Any number of goroutines may add to it.
type measurement struct {
	mu sync.Mutex
	result
	now *hdrhistogram.Histogram // latencies of the last of the seconds
}

// The latencies that are told apart: from a nanosecond to ten minutes, with three digits.
const (
	longest = 10 * time.Minute
	digits  = 3
)

// mostErrors is how many different errors are told.
const mostErrors = 20

func newMeasurement() *measurement {
	h := func() *hdrhistogram.Histogram { return hdrhistogram.New(1, int64(longest), digits) }
	return &measurement{result: result{latencies: h(), errors: map[string]int64{}}, now: h()}
}

// answered reports whether a server has answered a call.
func answered(o *invoke.Outcome) bool {
	return o.Err == nil || invoke.Answer(o.Err) != nil
}

// note adds a call that has just ended. size is that of its arguments.
func (m *measurement) note(began time.Time, latency time.Duration, o *invoke.Outcome, size int) {
	kind := ""
	switch {
	case o.Err != nil:
		kind = kindOf(o.Err)
	case o.Exception != "":
		kind = "exception " + o.Exception
	}
	recorded := max(min(int64(latency), int64(longest)), 1)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.until(int(time.Since(began) / time.Second))
	s := &m.seconds[len(m.seconds)-1]
	s.calls++
	s.worst = max(s.worst, latency)
	m.now.RecordValue(recorded)
	m.latencies.RecordValue(recorded)
	m.bytes += int64(size + len(o.Reply))
	if kind == "" {
		m.ok++
		return
	}
	s.errors++
	if _, known := m.errors[kind]; !known && len(m.errors) >= mostErrors {
		kind = "other errors"
	}
	m.errors[kind]++
}

// until completes the seconds before this one.
func (m *measurement) until(last int) {
	for len(m.seconds) <= last {
		m.complete()
		m.seconds = append(m.seconds, second{})
	}
}

// complete sets the percentiles of the last second.
func (m *measurement) complete() {
	if len(m.seconds) == 0 || m.now.TotalCount() == 0 {
		return
	}
	s := &m.seconds[len(m.seconds)-1]
	s.p50, s.p99 = time.Duration(m.now.ValueAtQuantile(50)), time.Duration(m.now.ValueAtQuantile(99))
	m.now.Reset()
}

// kindOf returns an error's text of bounded length.
func kindOf(err error) string {
	text := err.Error()
	if len(text) > 200 {
		text = strings.ToValidUTF8(text[:200], "") + "…"
	}
	return text
}
