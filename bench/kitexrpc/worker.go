package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/cloudwego/kitex/pkg/klog"
)

// usage is the resources that a process has used since it began.
type usage struct {
	CPU           time.Duration // on all cores, in the kernel too
	Allocs, Alloc uint64        // how many allocations, and their bytes
	Calls         int           // of a caller
	Elapsed       time.Duration // of a caller's calls
	P50, P99      time.Duration // of a caller's calls
	Addr, Err     string
}

func currentUsage() usage {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		panic(err)
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return usage{CPU: time.Duration(r.Utime.Nano() + r.Stime.Nano()), Allocs: m.Mallocs, Alloc: m.TotalAlloc}
}

// order is an order to a worker.
type order struct {
	Run      bool // make calls; else say what was used
	Shape    string
	Size     int
	Workers  int
	Duration time.Duration
}

// worker is a process that plays one role of a peer.
type worker struct {
	cmd *exec.Cmd
	in  *json.Encoder
	end io.Closer
	out *json.Decoder
}

// startWorker starts a process that plays role for the peer, with the server at to, if it calls
// one. It returns the process's own address, too, if it serves.
func startWorker(p peer, role, to string, conns int) (*worker, string, error) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), strings.Join([]string{roleEnv + "=" + role, p.name, to, fmt.Sprint(conns)}, "|"))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, "", err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, "", err
	}
	if err := cmd.Start(); err != nil {
		return nil, "", err
	}
	w := &worker{cmd: cmd, in: json.NewEncoder(in), end: in, out: json.NewDecoder(out)}
	var u usage
	if err := w.out.Decode(&u); err != nil {
		w.stop()
		return nil, "", fmt.Errorf("%s of %s did not start: %w", role, p.name, err)
	}
	return w, u.Addr, nil
}

// ask has the worker carry out o.
func (w *worker) ask(o order) (u usage, err error) {
	if err = w.in.Encode(o); err == nil {
		err = w.out.Decode(&u)
	}
	if err == nil && u.Err != "" {
		err = fmt.Errorf("%s", u.Err)
	}
	return u, err
}

// stop ends the process, which ends when its standard input does.
func (w *worker) stop() {
	w.end.Close()
	w.cmd.Wait()
}

// roleEnv is the environment variable that makes a process a worker.
const roleEnv = "KITEX_BENCH_ROLE"

// work does what a worker process with this role does: it carries out what comes from standard
// input until that ends.
func work(role string) error {
	klog.SetLevel(klog.LevelFatal)
	parts := strings.Split(role, "|")
	p, err := peerNamed(parts[1])
	if err != nil {
		return err
	}
	var conns int
	fmt.Sscan(parts[3], &conns)
	to := clientOptions(parts[2], conns)
	endProfiles, err := startProfiles(parts[0], p.name)
	if err != nil {
		return err
	}
	var first usage
	var call func(context.Context, *source) (uint64, error)
	if parts[0] == "caller" {
		if call, err = p.newCaller(to); err != nil {
			return err
		}
	} else {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		first.Addr = l.Addr().String()
		srv := p.newServer
		if parts[0] == "proxy" {
			proxy, err := p.newProxy(to, serverOptions(l))
			if err != nil {
				return err
			}
			go proxy.Run()
		} else {
			go srv(serverOptions(l)).Run()
		}
	}
	in, out := json.NewDecoder(bufio.NewReader(os.Stdin)), json.NewEncoder(os.Stdout)
	if err := out.Encode(first); err != nil {
		return err
	}
	for {
		var o order
		if err := in.Decode(&o); err == io.EOF {
			return endProfiles()
		} else if err != nil {
			return err
		}
		u := currentUsage()
		if o.Run {
			u = measureCalls(o, call)
		}
		if err := out.Encode(u); err != nil {
			return err
		}
	}
}

// measureCalls makes calls as o says. It returns the resources that the calls have used.
func measureCalls(o order, call func(context.Context, *source) (uint64, error)) usage {
	src := newSource(o.Shape, o.Size)
	want := ourSum(src.message())
	before := currentUsage()
	u := load(o.Workers, o.Duration, func(int) (func() error, error) {
		return func() error {
			got, err := call(context.Background(), src)
			if err == nil && got != want {
				err = fmt.Errorf("the answer is another record: %d instead of %d", got, want)
			}
			return err
		}, nil
	})
	after := currentUsage()
	u.CPU, u.Allocs, u.Alloc = after.CPU-before.CPU, after.Allocs-before.Allocs, after.Alloc-before.Alloc
	return u
}

// load makes calls, one after the other with each of the workers, at least one with each, and
// returns how many and how long they took. open returns what a worker calls.
func load(workers int, d time.Duration, open func(worker int) (func() error, error)) (u usage) {
	times, errs := make([][]time.Duration, workers), make([]error, workers)
	var wg sync.WaitGroup
	start := time.Now()
	for i := range workers {
		wg.Go(func() {
			call, err := open(i)
			for errs[i] = err; errs[i] == nil && (len(times[i]) == 0 || time.Since(start) < d); {
				begin := time.Now()
				errs[i] = call()
				times[i] = append(times[i], time.Since(begin))
			}
		})
	}
	wg.Wait()
	u.Elapsed = time.Since(start)
	for _, err := range errs {
		if err != nil {
			u.Err = err.Error()
			return u
		}
	}
	all := slices.Concat(times...)
	slices.Sort(all)
	u.Calls, u.P50, u.P99 = len(all), all[len(all)/2], all[len(all)*99/100]
	return u
}
