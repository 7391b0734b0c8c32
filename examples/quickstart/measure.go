package main

import (
	"fmt"
	"runtime"
	"slices"
	"time"
)

// cost is the cost of one call of a task.
type cost struct {
	time        time.Duration
	allocations float64
}

func (c cost) String() string {
	return fmt.Sprintf("%8.1f µs %6.0f allocs", float64(c.time.Nanoseconds())/1000, c.allocations)
}

// compare calls a and b in turns, for about the time given to each, and returns the median cost of
// each. Taking turns spreads other load on the machine evenly over both.
func compare(each time.Duration, a, b func() error) (cost, cost, error) {
	const rounds = 15
	var costs [2][rounds]cost
	for round := range rounds {
		for i, f := range []func() error{a, b} {
			var err error
			if costs[i][round], err = measure(each/rounds, f); err != nil {
				return cost{}, cost{}, err
			}
		}
	}
	return median(costs[0][:]), median(costs[1][:]), nil
}

// measure calls f again and again for a time, and returns the mean cost of a call.
func measure(atLeast time.Duration, f func() error) (cost, error) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	calls, began := 0, time.Now()
	for calls == 0 || time.Since(began) < atLeast {
		for range 10 {
			if err := f(); err != nil {
				return cost{}, err
			}
		}
		calls += 10
	}
	took := time.Since(began)
	runtime.ReadMemStats(&after)
	return cost{took / time.Duration(calls), float64(after.Mallocs-before.Mallocs) / float64(calls)}, nil
}

func median(costs []cost) cost {
	slices.SortFunc(costs, func(a, b cost) int { return int(a.time - b.time) })
	return costs[len(costs)/2]
}
