package rpc_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
)

// TestSampleLogs: of each kind as many records a second as was said; how many were dropped is told
// when the second ends, by the handler that they were for.
func TestSampleLogs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := new(quiet)
		text := slog.NewTextHandler(q, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		}})
		log := slog.New(rpc.SampleLogs(text, 2))
		expect := func(want ...string) {
			t.Helper()
			synctest.Wait()
			q.mu.Lock()
			defer q.mu.Unlock()
			if got := strings.TrimSpace(q.buf.String()); got != strings.Join(want, "\n") {
				t.Errorf("logged\n%s\nwant\n%s", got, strings.Join(want, "\n"))
			}
			q.buf.Reset()
		}
		for i := range 5 {
			log.Warn("a", "i", i)
			log.WithGroup("g").Error("b", "i", i)
		}
		log.Debug("a")
		expect("level=WARN msg=a i=0", "level=ERROR msg=b g.i=0", "level=WARN msg=a i=1", "level=ERROR msg=b g.i=1")
		time.Sleep(time.Second)
		synctest.Wait()
		got := strings.Split(strings.TrimSpace(q.String()), "\n")
		if len(got) != 2 || !strings.Contains(q.String(), "level=WARN msg=a dropped=3") || !strings.Contains(q.String(), "level=ERROR msg=b g.dropped=3") {
			t.Errorf("told %q", got)
		}
		q.buf.Reset()
		time.Sleep(time.Hour)
		expect() // told once
		log.Warn("a")
		log.Warn("a")
		time.Sleep(500 * time.Millisecond)
		log.Warn("a")
		time.Sleep(499 * time.Millisecond)
		log.With("peer", "p").Warn("a")
		expect("level=WARN msg=a", "level=WARN msg=a")
		time.Sleep(time.Millisecond)
		expect("level=WARN msg=a peer=p dropped=2")
		log.Warn("a")
		expect("level=WARN msg=a")
	})
}

// TestSampleLogsKinds: any number of kinds take bounded memory: from some number on they are one.
func TestSampleLogsKinds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := new(quiet)
		log := slog.New(rpc.SampleLogs(slog.NewTextHandler(q, nil), 1))
		for i := range 3000 {
			log.Warn(fmt.Sprint("kind ", i))
		}
		if n := strings.Count(q.String(), "\n"); n != 1001 {
			t.Errorf("%d records of 3000 kinds", n)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if !strings.Contains(q.String(), "dropped=1999") {
			t.Error("not told how many were dropped")
		}
	})
}

// TestSampleLogsKeepsCopies: SampleLogs tells kinds of records apart by at most 1 KiB of their
// messages. It keeps a copy of that, since a message may be in memory that is used again.
func TestSampleLogsKeepsCopies(t *testing.T) {
	for _, kinds := range []int{1, 1001} { // the last is one of the others
		synctest.Test(t, func(t *testing.T) {
			q := new(quiet)
			log := slog.New(rpc.SampleLogs(slog.NewTextHandler(q, nil), 1))
			for i := range kinds - 1 {
				log.Warn(fmt.Sprint("kind ", i))
			}
			built := echo.NewItem()
			built.SetName(strings.Repeat("m", 1024) + strings.Repeat("r", 100_000))
			b := bytes.Clone(built.Message().Bytes())
			item, err := echo.ParseItem(b)
			if err != nil {
				t.Fatal(err)
			}
			log.Warn(item.GetName())
			log.Warn(item.GetName())
			for i := range b {
				b[i] = 'x'
			}
			q.buf.Reset()
			log.Warn(strings.Repeat("m", 1024) + "another end")
			time.Sleep(time.Second)
			synctest.Wait()
			if got := q.String(); !strings.Contains(got, " msg="+strings.Repeat("m", 1024)+" dropped=2\n") || strings.Contains(got, "xx") {
				t.Errorf("logged %.200q", got)
			}
		})
	}
}

// panickingHandler panics, as a slog.Handler may.
type panickingHandler struct{ slog.Handler }

func (panickingHandler) Handle(context.Context, slog.Record) error { panic("no room") }

// TestSampleLogsAtOnce: many goroutines log, and handlers may panic; no record is lost uncounted.
func TestSampleLogsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := new(quiet)
		text := slog.NewTextHandler(q, nil)
		log := slog.New(rpc.SampleLogs(text, 10))
		bad := slog.New(rpc.SampleLogs(panickingHandler{text}, 1))
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				for range 50 {
					log.Warn("a")
					func() {
						defer func() { recover() }()
						bad.Warn("a")
					}()
				}
			})
		}
		all.Wait()
		time.Sleep(time.Second)
		synctest.Wait()
		if n := strings.Count(q.String(), "\n"); n != 11 || !strings.Contains(q.String(), "dropped=990") {
			t.Errorf("%d records: %s", n, q)
		}
	})
}

// TestSampleLogsOfServer: a stranger that sends nonsense again and again fills no log.
func TestSampleLogsOfServer(t *testing.T) {
	t.Parallel()
	q := new(quiet)
	addr := serve(t, &rpc.Server{Logger: slog.New(rpc.SampleLogs(slog.NewTextHandler(q, nil), 3))}, &handler{})
	began := time.Now()
	for range 100 {
		nc := dialRaw(t, addr)
		send(t, nc, []byte("nonsense"))
		nc.Close()
	}
	settles(t, "what was dropped is told", func() bool { return strings.Contains(q.String(), "dropped=") })
	if n, seconds := strings.Count(q.String(), "\n"), int(time.Since(began).Seconds()); n > 5*(seconds+2) {
		t.Errorf("%d lines in %d seconds", n, seconds)
	}
	for _, f := range []func(){func() { rpc.SampleLogs(nil, 1) }, func() { rpc.SampleLogs(slog.NewTextHandler(q, nil), 0) }} {
		func() {
			defer func() {
				if v, _ := recover().(string); !strings.HasPrefix(v, "nocopy: ") {
					t.Errorf("panic: %v", v)
				}
			}()
			f()
		}()
	}
}
