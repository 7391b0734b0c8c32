package model_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/referee"
)

// The model-based test applies random operations to several messages, and compares each message
// with a model of plain Go data. A string of bytes determines the operations. A fuzzer can
// therefore drive the test, and a failing session can be shortened by leaving bytes out.

var (
	modelSeed = flag.Uint64("model.seed", 0, "seed of TestModel; 0 is as testmode.Seed has it")
	modelOps  = flag.Int("model.ops", 0, "operations of TestModel, at least; 0: 20,000, 200,000 with NOCOPY_LONG")
)

// schemas returns the schemas for sessions: one with every shape, and random ones.
var schemas = sync.OnceValue(func() []*schema {
	list := []*schema{newSchemaOf(referee.Everything(), 0), newSchemaOf(referee.Everything(), 1)}
	for seed := range uint64(31) {
		g := newGen(100 + seed)
		list = append(list, newSchema(g.Structs(2+int(seed%6))))
	}
	return list
})

// play runs a session determined by data and returns it, and its failure.
func play(data []byte, log bool) (*session, error) { return playUntil(time.Time{}, data, log) }

// playUntil is play, but begins no operation after a time.
func playUntil(until time.Time, data []byte, log bool) (s *session, err error) {
	c := &choices{b: data}
	sc := schemas()[c.Intn(2*len(schemas()))%len(schemas())]
	if c.Intn(3) == 0 {
		sc = schemas()[c.Intn(2)]
	}
	s = &session{schema: sc, Gen: &referee.Gen{Choices: c}, data: c, until: until}
	if log {
		s.log = &strings.Builder{}
	}
	defer func() {
		switch r := recover().(type) {
		case nil:
		case failure:
			err = fmt.Errorf("%s", string(r))
		default:
			err = fmt.Errorf("panic: %v\n%s", r, debug.Stack())
		}
	}()
	s.run(3000)
	return s, nil
}

// shorten removes bytes from a failing session while it still fails: operations, as many at once
// as possible, then single bytes. It sets other bytes to zero.
func shorten(data []byte, limit time.Duration) []byte {
	deadline := time.Now().Add(limit)
	fails := func(b []byte) bool {
		_, err := play(b, false)
		return err != nil && time.Now().Before(deadline)
	}
	without := func(from, to int) []byte { return append(append([]byte{}, data[:from]...), data[to:]...) }
	s, _ := play(data, false)
	data = data[:min(s.data.at, len(data))]
	for size := len(s.marks) / 2; size > 0; {
		before := len(data)
		for k := 0; k+size < len(s.marks); {
			if less := without(s.marks[k], min(s.marks[k+size], len(data))); fails(less) {
				data = less
				s, _ = play(data, false)
			} else {
				k += size
			}
		}
		if size > 1 || len(data) == before {
			size /= 2
		}
	}
	for i := len(data) - 1; i >= 0; i-- {
		if less := without(i, i+1); fails(less) {
			data = less
		} else if zero := append([]byte{}, data...); data[i] != 0 {
			if zero[i] = 0; fails(zero) {
				data = zero
			}
		}
	}
	return data
}

// report fails the test with the shortest form of a failing session.
func report(t *testing.T, data []byte, limit time.Duration) {
	t.Helper()
	data = shorten(data, limit)
	s, err := play(data, true)
	if err == nil {
		t.Errorf("a session failed, but not again: %x", data)
		return
	}
	text := err.Error()
	if len(text) > 6000 {
		text = text[:6000] + "…"
	}
	t.Errorf("%s\n%s\nthe session's bytes: %x", s.log, text, data)
}

func TestModel(t *testing.T) {
	t.Parallel()
	seed := *modelSeed
	if seed == 0 {
		seed = testmode.Seed(t)
	}
	t.Logf("-model.seed=%d", seed)
	want := int64(*modelOps)
	if want == 0 {
		want = int64(testmode.Of(4_000, 50_000))
	}
	schemas()
	start := time.Now()
	var ops, sessions atomic.Int64
	var mu sync.Mutex
	var failed [][]byte
	var wg sync.WaitGroup
	for range min(4, runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			for ops.Load() < want {
				data := randomBytes(seed, uint64(sessions.Add(1)))
				s, err := play(data, false)
				ops.Add(int64(s.ops))
				if err != nil {
					mu.Lock()
					failed = append(failed, data)
					mu.Unlock()
					return
				}
			}
		})
	}
	wg.Wait()
	if len(failed) > 0 {
		slices.SortFunc(failed, func(a, b []byte) int { return len(a) - len(b) })
		report(t, failed[0], 20*time.Second)
		return
	}
	took := time.Since(start)
	t.Logf("%d operations in %d sessions, %.0f a second", ops.Load(), sessions.Load(), float64(ops.Load())/took.Seconds())
	if ops.Load() < want {
		t.Errorf("only %d operations", ops.Load())
	}
}

func randomBytes(seed, session uint64) []byte {
	r := rand.New(rand.NewPCG(seed, session))
	b := make([]byte, 200+r.IntN(6000))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

func FuzzModel(f *testing.F) {
	for seed := range uint64(8) {
		f.Add(randomBytes(0, seed)[:200+100*seed%600])
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 3<<10 {
			return // longer sessions only repeat themselves
		}
		if _, err := playUntil(time.Now().Add(3*time.Second), data, false); err != nil {
			report(t, data, 3*time.Second) // the fuzzer reports a hang after 10
		}
	})
}
