package main

import (
	"context"
	"embed"
	"encoding/json"
	"io/fs"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/nocopythrift/nocopythrift/linkbuf"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// metrics counts what a proxy does.
type metrics struct {
	requests, failed, inFlight atomic.Int64
	received, sent, sentByRef  atomic.Int64 // bytes, on both sides
	connections                atomic.Int64
	byBackend                  []atomic.Int64

	mu       sync.Mutex
	began    time.Time               // of now
	now, was *hdrhistogram.Histogram // of microseconds: of this window, and the last
}

// window is the time after which older calls no longer count for the quantiles.
const window = 5 * time.Second

func newMetrics(backends int) *metrics {
	newHistogram := func() *hdrhistogram.Histogram {
		return hdrhistogram.New(1, time.Minute.Microseconds(), 3)
	}
	return &metrics{byBackend: make([]atomic.Int64, backends), began: time.Now(), now: newHistogram(), was: newHistogram()}
}

func (m *metrics) routed(backend int) { m.byBackend[backend].Add(1) }

// stats returns what the proxy's server is to call, or, if it is not for the server, a client.
func (m *metrics) stats(server bool) *rpc.Stats {
	s := &rpc.Stats{
		Received: func(bytes int) { m.received.Add(int64(bytes)) },
		Sent: func(s linkbuf.Stats) {
			m.sent.Add(int64(s.Bytes))
			m.sentByRef.Add(int64(s.RefBytes))
		},
	}
	if server {
		s.Conns = func(delta int) { m.connections.Add(int64(delta)) }
		s.InFlight = func(delta int) { m.inFlight.Add(int64(delta)) }
	}
	return s
}

// measure is an interceptor of the proxy's server.
func (m *metrics) measure(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
	start := time.Now()
	err := next(ctx, c)
	m.took(time.Since(start))
	m.requests.Add(1)
	if err != nil {
		m.failed.Add(1)
	}
	return err
}

func (m *metrics) took(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.turn()
	m.now.RecordValue(min(d.Microseconds(), m.now.HighestTrackableValue()))
}

// turn begins another window if it is time. m.mu is held.
func (m *metrics) turn() {
	if time.Since(m.began) >= window {
		m.now, m.was = m.was, m.now
		m.now.Reset()
		m.began = time.Now()
	}
}

// quantiles returns how long half of the calls of the last seconds took at most, and 99 % of them.
func (m *metrics) quantiles() (p50, p99 time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.turn()
	all := hdrhistogram.Import(m.now.Export())
	all.Merge(m.was)
	return time.Duration(all.ValueAtQuantile(50)) * time.Microsecond, time.Duration(all.ValueAtQuantile(99)) * time.Microsecond
}

// reading is the contents of the page.
type reading struct {
	Requests, Failed, InFlight, Connections int64
	Received, ByReference, Copied           int64   // bytes
	P50, P99                                float64 // milliseconds
	Backends                                []int64
}

func (m *metrics) read() reading {
	p50, p99 := m.quantiles()
	byRef := m.sentByRef.Load()
	r := reading{
		Requests: m.requests.Load(), Failed: m.failed.Load(), InFlight: m.inFlight.Load(),
		Connections: m.connections.Load(),
		Received:    m.received.Load(), ByReference: byRef, Copied: m.sent.Load() - byRef,
		P50: p50.Seconds() * 1e3, P99: p99.Seconds() * 1e3,
	}
	for i := range m.byBackend {
		r.Backends = append(r.Backends, m.byBackend[i].Load())
	}
	return r
}

//go:embed page
var page embed.FS

// handler serves the page, and what it shows as JSON.
func (m *metrics) handler() http.Handler {
	files, err := fs.Sub(page, "page")
	if err != nil {
		panic(err) // the folder is in the program
	}
	mux := http.NewServeMux()
	mux.Handle("GET /", http.FileServerFS(files))
	mux.HandleFunc("GET /reading", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(m.read())
	})
	return mux
}
