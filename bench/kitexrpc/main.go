// Kitex measures calls through Kitex with the messages of its own generator (FastCodec) and with
// ours: an echo, whose client makes each record anew and reads all of the answer and whose server
// reads all of it, too; and a proxy, which changes one nested string and passes the record on. All
// roles are processes of their own, over loopback TCP, framed, netpoll.
//
// CPU is the processor time of the measured processes, in the kernel too: client and server of an
// echo; of a proxy only itself. The proxy is called with bytes, and its back end answers with the
// bytes that it gets. Peers take turns in a random order, round by round; ratios are those of
// the same round. Figures are medians; intervals hold the median with 95 % confidence
// (golang.org/x/perf/benchmath).
//
//	go run -C bench/kitexrpc . [-rounds N] [-duration D] [-conns N] [-sizes LIST] [-shapes LIST]
//		[-scenarios LIST] [-profiles DIR]
package main

import (
	"flag"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nocopythrift/nocopythrift/internal/command"
)

func main() {
	log.SetFlags(0)
	if role := os.Getenv(roleEnv); role != "" {
		if err := work(role); err != nil {
			log.Fatal(role, ": ", err)
		}
		return
	}
	rounds := flag.Int("rounds", 6, "how often everything is measured; medians are shown")
	duration := flag.Duration("duration", 400*time.Millisecond, "of one measurement")
	conns := flag.Int("conns", 4, "connections, with one call at a time each")
	sizes := flag.String("sizes", "1024,4096,16384,65536,262144,1048576", "`list` of sizes of records in bytes")
	kinds := flag.String("shapes", strings.Join(shapes, ","), "`list` of kinds of records")
	scenarios := flag.String("scenarios", "echo,proxy", "`list` of what is measured")
	profiles := flag.String("profiles", "", "`folder` for profiles of all processes: CPU and allocations")
	command.ParseFlags()
	if *profiles != "" {
		if err := os.Setenv(profileEnv, *profiles); err != nil {
			log.Fatal(err)
		}
	}
	b := &bench{conns: *conns, duration: *duration}
	err := b.start()
	if err == nil {
		err = b.all(*rounds, strings.Split(*scenarios, ","), strings.Split(*kinds, ","), strings.Split(*sizes, ","))
	}
	b.stop()
	if err != nil {
		log.Fatal(err)
	}
}

// bench holds the processes.
type bench struct {
	conns    int
	duration time.Duration
	backend  net.Listener
	workers  []map[string]*worker // by role, of each peer
	proxies  []string             // their addresses
}

func (b *bench) start() error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	b.backend = l
	go serveRaw(l)
	for _, p := range peers {
		of := map[string]*worker{}
		b.workers = append(b.workers, of)
		proxy, addr, err := startWorker(p, "proxy", l.Addr().String(), b.conns)
		if err != nil {
			return err
		}
		of["proxy"] = proxy
		b.proxies = append(b.proxies, addr)
		server, addr, err := startWorker(p, "server", "", b.conns)
		if err != nil {
			return err
		}
		of["server"] = server
		caller, _, err := startWorker(p, "caller", addr, b.conns)
		if err != nil {
			return err
		}
		of["caller"] = caller
	}
	return nil
}

// stop ends all processes that were started.
func (b *bench) stop() {
	for _, of := range b.workers {
		for _, w := range of {
			w.stop()
		}
	}
	if b.backend != nil {
		b.backend.Close()
	}
}

// all measures everything and prints the tables.
func (b *bench) all(rounds int, scenarios, kinds, sizes []string) error {
	fmt.Printf("%s, %d CPUs, %s, %s; %d connections; medians of %d × %v\n", runtime.Version(), runtime.NumCPU(),
		runtime.GOARCH, time.Now().UTC().Format(time.DateOnly), b.conns, rounds, b.duration)
	for _, scenario := range scenarios {
		measure := map[string]func(int, order) (usage, error){"echo": b.echo, "proxy": b.proxy}[scenario]
		if measure == nil {
			return fmt.Errorf("no scenario %q", scenario)
		}
		printHead(scenario)
		for _, shape := range kinds {
			for _, size := range sizes {
				n, err := strconv.Atoi(size)
				if err != nil || n < 512 {
					return fmt.Errorf("bad size %q", size)
				}
				results := make([]results, len(peers))
				o := order{Run: true, Shape: shape, Size: n, Workers: b.conns}
				for range rounds {
					for _, i := range rand.Perm(len(peers)) {
						o.Duration = b.duration / 4 // to warm up
						if _, err := measure(i, o); err != nil {
							return fmt.Errorf("%s, %s: %w", peers[i].name, scenario, err)
						}
						o.Duration = b.duration
						u, err := measure(i, o)
						if err != nil {
							return fmt.Errorf("%s, %s: %w", peers[i].name, scenario, err)
						}
						results[i].add(u)
					}
				}
				printRows(shape, n, results)
			}
		}
		fmt.Printf("\nload average: %s\n", loadAverage())
	}
	return nil
}

// echo measures calls of a peer's caller to its server.
func (b *bench) echo(i int, o order) (usage, error) {
	return of(b.workers[i]["server"], func() (usage, error) { return b.workers[i]["caller"].ask(o) })
}

// proxy measures calls through a peer's proxy.
func (b *bench) proxy(i int, o order) (usage, error) {
	src := newSource(o.Shape, o.Size)
	var mu sync.Mutex
	var open []io.Closer
	defer func() {
		for _, c := range open {
			c.Close()
		}
	}()
	return of(b.workers[i]["proxy"], func() (usage, error) {
		u := load(o.Workers, o.Duration, func(int) (func() error, error) {
			return rawCaller(b.proxies[i], src, func(c io.Closer) {
				mu.Lock()
				defer mu.Unlock()
				open = append(open, c)
			})
		})
		if u.Err != "" {
			return u, fmt.Errorf("%s", u.Err)
		}
		return u, nil
	})
}

// of calls f and returns what it has used, and what w has used meanwhile besides.
func of(w *worker, f func() (usage, error)) (usage, error) {
	before, err := w.ask(order{})
	if err != nil {
		return usage{}, err
	}
	u, err := f()
	if err != nil {
		return usage{}, err
	}
	after, err := w.ask(order{})
	u.CPU += after.CPU - before.CPU
	u.Allocs += after.Allocs - before.Allocs
	u.Alloc += after.Alloc - before.Alloc
	return u, err
}

func loadAverage() string {
	b, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	return strings.Join(strings.Fields(string(b))[:3], " ")
}
