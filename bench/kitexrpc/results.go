package main

import (
	"fmt"
	"time"

	"golang.org/x/perf/benchmath"
)

// results holds the figures of a peer in all rounds, in order: same index, same round.
type results struct{ rate, cpu, p50, p99, allocs, alloc []float64 }

func (r *results) add(u usage) {
	n := float64(u.Calls)
	r.rate = append(r.rate, n/u.Elapsed.Seconds())
	r.cpu = append(r.cpu, float64(u.CPU)/n)
	r.p50 = append(r.p50, float64(u.P50))
	r.p99 = append(r.p99, float64(u.P99))
	r.allocs = append(r.allocs, float64(u.Allocs)/n)
	r.alloc = append(r.alloc, float64(u.Alloc)/n)
}

// summary returns the median of v and its confidence interval.
func summary(v []float64) benchmath.Summary {
	return benchmath.AssumeNothing.Summary(benchmath.NewSample(v, &benchmath.DefaultThresholds), 0.95)
}

func median(v []float64) float64 { return summary(v).Center }

// ratio returns how many times the calls per CPU-second of r are those of base, with its interval.
func ratio(r, base results) string {
	v := make([]float64, len(r.cpu))
	for i := range v {
		v[i] = base.cpu[i] / r.cpu[i]
	}
	s := summary(v)
	return fmt.Sprintf("%.2f (%.2f–%.2f)", s.Center, s.Lo, s.Hi)
}

func printHead(scenario string) {
	fmt.Printf("\n%s\n\n| record | bytes | | calls/s | CPU/call | calls per CPU-second | p50 | p99 | allocations | allocated |\n", scenario)
	fmt.Println("|---|---|---|---|---|---|---|---|---|---|")
}

// printRows prints the figures of all peers, and compares them with those of the first.
func printRows(shape string, size int, all []results) {
	for i, r := range all {
		record, bytes := "", ""
		compared := "1"
		if i == 0 {
			record, bytes = shape, sizeText(size)
		} else {
			compared = ratio(r, all[0])
		}
		fmt.Printf("| %s | %s | %s | %.0f | %v | %s | %v | %v | %.1f | %s |\n", record, bytes, peers[i].name,
			median(r.rate), micros(median(r.cpu)), compared, micros(median(r.p50)), micros(median(r.p99)),
			median(r.allocs), sizeText(int(median(r.alloc))))
	}
}

func micros(ns float64) string {
	switch d := time.Duration(ns); {
	case d < 100*time.Microsecond:
		return fmt.Sprintf("%.1f µs", ns/1e3)
	case d < 10*time.Millisecond:
		return fmt.Sprintf("%.0f µs", ns/1e3)
	default:
		return fmt.Sprintf("%.1f ms", ns/1e6)
	}
}

func sizeText(n int) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d B", n)
	case n < 10<<10 && n%(1<<10) != 0:
		return fmt.Sprintf("%.1f KB", float64(n)/(1<<10))
	case n < 1<<20:
		return fmt.Sprintf("%d KB", n>>10)
	default:
		return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
	}
}
