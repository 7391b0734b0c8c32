// Rpc measures calls over loopback TCP: echoes of 190 B, 4 KB, 64 KB and 1 MB, one call at a time
// on one connection and on each of 64, against Apache Thrift (framed), Kitex (framed, FastCodec,
// netpoll) and grpc-go. If a library can have many calls in flight on one connection, that is
// measured too. Then come calls over unix sockets and through shared memory, against Kitex over
// unix sockets and shmipc-go; then replies and requests of many small structs, 1 MB and 50 MB,
// framed and not. Server and client run in this process: CPU and allocations are the sums of both.
//
//	go run -C bench/rpc . [-quick] [-rounds N] [-duration D] [-peers LIST] [-sizes LIST]
//		[-rows LIST] [-shared LIST] [-cpuprofile FILE]
package main

import (
	"cmp"
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nocopythrift/nocopythrift/internal/command"
)

// mode is how many connections there are, and how many calls at a time.
type mode struct {
	name      string
	conns     int
	workers   int // each makes one call after the other
	pipelined bool
}

var modes = []mode{
	{"1 connection", 1, 1, false},
	{"64 connections", 64, 64, false},
	{"1 connection, 64 calls in flight", 1, 64, true},
}

func main() {
	log.SetFlags(0)
	quick := flag.Bool("quick", false, "one short round")
	rounds := flag.Int("rounds", 5, "how often everything is measured; medians are shown")
	duration := flag.Duration("duration", time.Second, "of one measurement")
	names := flag.String("peers", "", "`list` of peers, all if empty")
	sizes := flag.String("sizes", "190,4096,65536,1048576", "`list` of sizes of the arguments in bytes")
	only := flag.String("modes", "1,2,3", "`list` of modes: 1 connection; 64; 1 with 64 calls in flight")
	large := flag.String("rows", "1000000,50000000", "`list` of sizes of messages of small structs in bytes; none if empty")
	shared := flag.String("shared", "4096,16384,65536,262144,1048576,16000000", "`list` of sizes of messages between processes of one host in bytes; none if empty")
	profile := flag.String("cpuprofile", "", "`file` for a CPU profile of all measurements")
	command.ParseFlags()
	if *quick {
		*rounds, *duration = 1, 200*time.Millisecond
	}
	chosen := peers
	if *names != "" {
		chosen = slices.DeleteFunc(slices.Clone(peers), func(p peer) bool { return !slices.Contains(strings.Split(*names, ","), p.name) })
	}
	addrs := startPeers(chosen)
	if *profile != "" {
		f, err := os.Create(*profile)
		if err != nil {
			log.Fatal(err)
		}
		if err := pprof.StartCPUProfile(f); err != nil {
			log.Fatal(err)
		}
		defer pprof.StopCPUProfile()
	}
	fmt.Printf("%s, CPUs: %d, %s, %s; medians of %d × %v\n", runtime.Version(), runtime.NumCPU(), runtime.GOARCH, time.Now().UTC().Format(time.DateOnly), *rounds, *duration)
	for _, n := range numbers(*sizes, overhead) {
		for i, m := range modes {
			if strings.Contains(*only, strconv.Itoa(i+1)) {
				compare(chosen, addrs, m, n, *rounds, *duration)
			}
		}
	}
	for _, n := range numbers(*shared, 64) {
		for _, v := range []struct {
			workers int
			all     bool
		}{{1, true}, {1, false}, {16, true}} {
			if err := compareShared(n, v.workers, v.all, *names, *rounds, *duration); err != nil {
				log.Fatal(err)
			}
		}
	}
	for _, n := range numbers(*large, rowSize) {
		if err := compareRows(n, *rounds, *duration); err != nil {
			log.Fatal(err)
		}
	}
}

// startPeers starts the servers of these peers and returns their addresses.
func startPeers(chosen []peer) map[string]string {
	addrs := map[string]string{}
	for _, p := range chosen {
		addr, err := p.start()
		if err != nil {
			log.Fatal(p.name, ": ", err)
		}
		addrs[p.name] = addr
	}
	return addrs
}

// numbers returns the numbers of a list, which must be at least least.
func numbers(list string, least int) (all []int) {
	for text := range strings.SplitSeq(list, ",") {
		if text == "" {
			continue
		}
		n, err := strconv.Atoi(text)
		if err != nil || n < least {
			log.Fatal("bad size ", text)
		}
		all = append(all, n)
	}
	return all
}

// compare measures all peers in one mode at one size and prints the table.
func compare(chosen []peer, addrs map[string]string, m mode, size, rounds int, d time.Duration) {
	results := map[string][]result{}
	order := slices.Clone(chosen)
	for range rounds {
		rand.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		for _, p := range order {
			if m.pipelined && !p.pipelines {
				continue
			}
			r, err := measure(p, addrs[p.name], m, size, d)
			if err != nil {
				log.Fatal(p.name, ": ", err)
			}
			results[p.name] = append(results[p.name], r)
		}
	}
	fmt.Printf("\n%d B, %s\n%-16s %10s %10s %10s %12s %12s %12s\n", size, m.name, "", "calls/s", "p50", "p99", "CPU/call", "CPU/Kitex's", "allocs/call")
	for _, p := range chosen {
		list := results[p.name]
		if len(list) == 0 {
			continue
		}
		ratio := "–"
		if k := results["kitex"]; len(k) > 0 {
			var ratios []float64 // of the same round
			for i := range list {
				ratios = append(ratios, list[i].cpu/k[i].cpu)
			}
			ratio = fmt.Sprintf("%.2f", median(ratios, func(f float64) float64 { return f }))
		}
		fmt.Printf("%-16s %10.0f %10v %10v %12v %12s %12.1f\n", p.name,
			median(list, func(r result) float64 { return r.rate }),
			time.Duration(median(list, func(r result) float64 { return r.p50 })).Round(100*time.Nanosecond),
			time.Duration(median(list, func(r result) float64 { return r.p99 })).Round(100*time.Nanosecond),
			time.Duration(median(list, func(r result) float64 { return r.cpu })).Round(10*time.Nanosecond),
			ratio,
			median(list, func(r result) float64 { return r.allocs }))
	}
}

func median[T any](list []T, f func(T) float64) float64 {
	values := make([]float64, len(list))
	for i, v := range list {
		values[i] = f(v)
	}
	slices.SortFunc(values, cmp.Compare)
	return values[len(values)/2]
}
