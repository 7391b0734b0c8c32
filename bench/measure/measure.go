// Package measure times rows against each other so that the ratios can be trusted. All rows run in
// one process, in a random order that changes from round to round (the first row of a round would
// look slow), each after a warm-up and a garbage collection. The time in which other programs had
// the processor does not count. Times are only compared with times of the same round.
package measure

import (
	"io"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"github.com/nocopythrift/nocopythrift/bench/peer"
)

// Options say how long to measure.
type Options struct {
	Rounds int           // samples of each row
	Sample time.Duration // about how long a sample takes

	// Budget, if not 0, is the time for all rounds: samples become shorter, and after MinRounds no
	// round is begun that would exceed it.
	Budget time.Duration
	// Limit, if not 0, bounds the time of all rounds: no round is begun that would exceed it, also
	// if there are fewer than MinRounds.
	Limit time.Duration
	// Progress is called after each sample. done counts those so far, of is their total.
	Progress func(done, of int)
}

// MinRounds is the least number of rounds under any Budget: a confidence interval of 95 % needs as
// many.
const MinRounds = 6

// Result holds the figures of a row: for one operation, and medians over the rounds.
type Result struct {
	Peer string
	NS   float64 // elapsed
	// Processor time of the whole process, the collector's included: what the operation costs on a
	// loaded machine; 0 if unknown on this system
	CPU   float64
	GC    float64 // the collector's part of it, on all cores, 0 to 1
	Bytes float64 // allocated
	// Whole ones, much as testing.AllocsPerRun counts: what the runtime itself allocates now and then
	// is none of the operation's
	Allocs float64
	Rounds []float64 // NS of each round, in order: same index, same round, for every row of an entry
}

// sample holds the figures of one row in one round.
type sample struct{ ns, cpu, gc, bytes, allocs float64 }

// Run measures the rows of an entry against each other, and returns their results in the same
// order.
func Run(rows []peer.Row, o Options) []Result {
	if o.Progress == nil {
		o.Progress = func(int, int) {}
	}
	start := time.Now()
	if o.Budget != 0 {
		// Half of it, since collections, warm-ups and steps that are longer than a sample take their
		// part.
		o.Sample = min(o.Sample, o.Budget/time.Duration(2*len(rows)*o.Rounds))
	}
	counts := make([]int, len(rows))
	for i, r := range rows {
		counts[i] = calibrate(r.Make(), o.Sample)
	}
	samples := make([][]sample, len(rows))
	for round := range o.Rounds {
		if round > 0 {
			used := time.Since(start)
			next := used + used/time.Duration(round)
			if o.Limit != 0 && next > o.Limit || o.Budget != 0 && next > o.Budget && round >= MinRounds {
				break
			}
		}
		for n, i := range rand.Perm(len(rows)) {
			samples[i] = append(samples[i], take(rows[i].Make, counts[i]))
			o.Progress(round*len(rows)+n+1, o.Rounds*len(rows))
		}
	}
	results := make([]Result, len(rows))
	for i, r := range rows {
		of := func(f func(sample) float64) []float64 {
			v := make([]float64, len(samples[i]))
			for j, s := range samples[i] {
				v[j] = f(s)
			}
			return v
		}
		rounds := of(func(s sample) float64 { return s.ns })
		results[i] = Result{
			Peer: r.Peer, Rounds: rounds, NS: Median(rounds),
			CPU:    Median(of(func(s sample) float64 { return s.cpu })),
			GC:     Median(of(func(s sample) float64 { return s.gc })),
			Bytes:  math.Round(Median(of(func(s sample) float64 { return s.bytes }))),
			Allocs: math.Floor(0.1 + Median(of(func(s sample) float64 { return s.allocs }))),
		}
	}
	return results
}

// Ratio returns the median over the rounds of a's time divided by b's in the same round: below 1,
// a is faster.
func Ratio(a, b Result) float64 {
	ratios := make([]float64, min(len(a.Rounds), len(b.Rounds)))
	for i := range ratios {
		ratios[i] = a.Rounds[i] / b.Rounds[i]
	}
	return Median(ratios)
}

// Median returns the median of v, which it does not change.
func Median(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(v))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

// sink keeps results alive: no step can be optimised away.
var sink atomic.Uint64

// discard is io.Discard without its ReadFrom: every row hands over its bytes by Write.
type discard struct{}

func (discard) Write(b []byte) (int, error) { return len(b), nil }

func run(step peer.Step, n int) time.Duration {
	var w io.Writer = discard{}
	s := uint64(0)
	start := time.Now()
	for range n {
		s += step(w)
	}
	elapsed := time.Since(start)
	sink.Add(s)
	return elapsed
}

// calibrate returns how many steps take about d.
func calibrate(step peer.Step, d time.Duration) int {
	n := 1
	for {
		t := run(step, n)
		if t >= d/8 {
			return max(1, int(float64(n)*float64(d)/float64(t)))
		}
		n *= 2
	}
}

// warm takes a step on each of n other processors, one after the other, to fill pools, which each
// processor has: the runtime moves the measured goroutine to another one every few milliseconds.
func warm(step peer.Step, n int) {
	if n == 0 {
		return
	}
	var done atomic.Bool
	go func() {
		run(step, 1)
		warm(step, n-1)
		done.Store(true)
	}()
	for !done.Load() { // keeps this processor busy: the other goroutine is for another one
	}
}

// warmed bounds the processors on which warm takes a step.
const warmed = 4

// take measures n steps. Before that it runs a garbage collection, which empties pools, and then a
// tenth as many steps to warm up, at least one.
func take(make func() peer.Step, n int) sample {
	runtime.LockOSThread() // waiting is about one thread
	defer runtime.UnlockOSThread()
	thread := newWaiting()
	defer thread.close()
	step := make()
	runtime.GC()
	warm(step, min(runtime.GOMAXPROCS(0), warmed)-1)
	run(step, max(1, n/10))
	var before, after runtime.MemStats
	gc := gcTime()
	runtime.ReadMemStats(&before)
	// The waiting time is taken within the elapsed time, never outside
	cpu, start, wait := CPUTime(), time.Now(), thread.soFar()
	run(step, n)
	wait = thread.soFar() - wait
	elapsed := time.Since(start)
	cpu = CPUTime() - cpu
	runtime.ReadMemStats(&after)
	gc = gcTime() - gc
	per := 1 / float64(n)
	s := sample{
		ns:     float64((elapsed - wait).Nanoseconds()) * per,
		cpu:    float64(cpu.Nanoseconds()) * per,
		bytes:  float64(after.TotalAlloc-before.TotalAlloc) * per,
		allocs: float64(after.Mallocs-before.Mallocs) * per,
	}
	if cpu > 0 {
		s.gc = min(1, float64(gc)/float64(cpu))
	}
	return s
}
