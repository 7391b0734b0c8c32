package main

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// result holds the figures of a measurement: rate in calls per second, allocs per call, the others
// in nanoseconds.
type result struct{ rate, p50, p99, cpu, allocs float64 }

// measure makes calls for a time, after a warm-up.
func measure(p peer, addr string, m mode, size int, d time.Duration) (result, error) {
	callers, stop, err := p.dial(addr, m.conns, m.workers)
	if err != nil {
		return result{}, err
	}
	defer stop()
	payload := make([]byte, size-overhead)
	for i := range payload {
		payload[i] = byte(i)
	}
	if _, err := load(callers, payload, d/5); err != nil {
		return result{}, err
	}
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	cpu, start := cpuTime(), time.Now()
	times, err := load(callers, payload, d)
	elapsed, used := time.Since(start), cpuTime()-cpu
	runtime.ReadMemStats(&after)
	if err != nil {
		return result{}, err
	}
	slices.Sort(times)
	n := float64(len(times))
	return result{
		rate: n / elapsed.Seconds(), p50: float64(times[len(times)/2]), p99: float64(times[len(times)*99/100]),
		cpu: float64(used) / n, allocs: float64(after.Mallocs-before.Mallocs) / n,
	}, nil
}

// load makes calls with all callers, one after the other with each, at least one with each, and
// returns the calls' durations.
func load(callers []caller, payload []byte, d time.Duration) ([]time.Duration, error) {
	var stop atomic.Bool
	times := make([][]time.Duration, len(callers))
	errs := make([]error, len(callers))
	var wg sync.WaitGroup
	for i, call := range callers {
		times[i] = make([]time.Duration, 0, 1<<16)
		wg.Go(func() {
			for id := int64(i); id == int64(i) || !stop.Load(); id += int64(len(callers)) {
				start := time.Now()
				gotID, n, err := call(id, payload)
				if err == nil && (gotID != id || n != len(payload)) {
					err = fmt.Errorf("call %d of %d bytes got reply %d of %d", id, len(payload), gotID, n)
				}
				if errs[i] = err; err != nil {
					return
				}
				times[i] = append(times[i], time.Since(start))
			}
		})
	}
	time.Sleep(d)
	stop.Store(true)
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return slices.Concat(times...), nil
}

// cpuTime returns the processor time of all threads of the process, in the kernel too.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
