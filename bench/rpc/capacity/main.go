// Capacity measures the needs of a server: memory for idle connections, and processor time per
// call while one connection in a hundred is busy. The servers are ours, Kitex' on netpoll, and
// net/http's, each in a process of its own, on a unix socket or over loopback TCP. The clients
// write bytes that were made before and look only at the size of replies. They need little time
// themselves.
//
//	go run -C bench/rpc ./capacity [-network tcp] [-conns LIST] [-sizes LIST] [-duration D]
package main

import (
	"bufio"
	"encoding/binary"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/nocopythrift/nocopythrift/internal/command"
)

func main() {
	log.SetFlags(0)
	serve := flag.String("serve", "", "be the `server` of this name, on the socket -at")
	at := flag.String("at", "", "`address` of that server")
	network := flag.String("network", "unix", "`network` of the connections: unix or tcp")
	conns := flag.String("conns", "1000,10000", "`list` of numbers of connections")
	sizes := flag.String("sizes", "190,4096,65536", "`list` of sizes of the arguments in bytes")
	duration := flag.Duration("duration", 3*time.Second, "of one measurement")
	command.ParseFlags()
	if *network != "unix" && *network != "tcp" {
		log.Fatalf("no network: %q", *network)
	}
	if *serve != "" {
		log.Fatal(beServer(*serve, *network, *at))
	}
	fmt.Printf("%s, %d processors, %s/%s; %s; %s\n", runtime.Version(), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, *network, time.Now().UTC().Format(time.DateOnly))
	for _, n := range numbers(*conns) {
		for _, s := range servers {
			if err := measure(s, *network, n, numbers(*sizes), *duration); err != nil {
				log.Fatalf("%s, %d connections: %v", s.name, n, err)
			}
		}
	}
}

func numbers(list string) (all []int) {
	for _, text := range strings.Split(list, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			log.Fatalf("no number: %q", text)
		}
		all = append(all, n)
	}
	return all
}

// measure starts a server, makes n connections to it, and prints what it needs.
func measure(s kind, network string, n int, sizes []int, d time.Duration) error {
	dir, err := os.MkdirTemp("", "capacity")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	at := filepath.Join(dir, "s")
	if network == "tcp" {
		if at, err = freeAddress(); err != nil {
			return err
		}
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	child := exec.Command(self, "-serve", s.name, "-network", network, "-at", at)
	child.Stderr = os.Stderr
	ask, err := child.StdinPipe()
	if err != nil {
		return err
	}
	answers, err := child.StdoutPipe()
	if err != nil {
		return err
	}
	if err := child.Start(); err != nil {
		return err
	}
	defer child.Wait()
	defer ask.Close() // which ends it
	report := reporter{ask, bufio.NewReader(answers)}
	if _, err := report.answers.ReadString('\n'); err != nil { // it listens
		return err
	}
	first := s.request(sizes[0])
	all, base := make([]net.Conn, n), int64(0)
	for i := range all {
		if all[i], err = net.Dial(network, at); err != nil {
			return err
		}
		defer all[i].Close()
		if err := exchange(all[i], first, make([]byte, s.replySize(sizes[0]))); err != nil {
			return err
		}
		if i == 0 {
			if base, err = report.memory(); err != nil {
				return err
			}
		}
	}
	used, err := report.memory()
	if err != nil {
		return err
	}
	fmt.Printf("\n%s, %d connections: %.1f MB, %.1f KB for each but the first\n", s.name, n, float64(used)/1e6, float64(used-base)/1e3/float64(max(n-1, 1)))
	return load(s, report, all, sizes, d)
}

// freeAddress returns an address at which nothing listens.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}

// load makes calls on one connection in a hundred, one after the other on each.
func load(s kind, report reporter, all []net.Conn, sizes []int, d time.Duration) error {
	busy := all[:max(len(all)/100, 1)]
	for _, size := range sizes {
		request, calls := s.request(size), atomic.Int64{}
		var stop atomic.Bool
		var failed atomic.Pointer[error]
		var wg sync.WaitGroup
		run := func(d time.Duration) error {
			stop.Store(false)
			calls.Store(0)
			for _, nc := range busy {
				wg.Go(func() {
					reply := make([]byte, s.replySize(size))
					for !stop.Load() {
						if err := exchange(nc, request, reply); err != nil {
							failed.Store(&err)
							return
						}
						calls.Add(1)
					}
				})
			}
			time.Sleep(d)
			stop.Store(true)
			wg.Wait()
			if err := failed.Load(); err != nil {
				return *err
			}
			return nil
		}
		if err := run(d / 5); err != nil {
			return err
		}
		from, err := report.state()
		if err != nil {
			return err
		}
		if err := run(d); err != nil {
			return err
		}
		to, err := report.state()
		if err != nil {
			return err
		}
		fmt.Printf("  %6d B, %d busy: %7.0f calls/s, %6.2f µs of the server's CPU each, %.1f MB\n", size, len(busy),
			float64(calls.Load())/d.Seconds(), float64(to.cpu-from.cpu)/1e3/float64(calls.Load()), float64(to.resident)/1e6)
	}
	return nil
}

// exchange sends a request and receives its reply, which has the size of into.
func exchange(nc net.Conn, request, into []byte) error {
	if _, err := nc.Write(request); err != nil {
		return err
	}
	_, err := io.ReadFull(nc, into)
	return err
}

// reporter asks a server's process what it has used.
type reporter struct {
	ask     io.Writer
	answers *bufio.Reader
}

// state is the resources that a process has used: time in ns, memory in bytes.
type state struct{ cpu, resident int64 }

func (r reporter) state() (s state, err error) { return r.say("state") }

// memory returns the resident memory after garbage was given back.
func (r reporter) memory() (int64, error) {
	s, err := r.say("memory")
	return s.resident, err
}

func (r reporter) say(what string) (s state, err error) {
	if _, err = fmt.Fprintln(r.ask, what); err != nil {
		return s, err
	}
	_, err = fmt.Fscanln(r.answers, &s.cpu, &s.resident)
	return s, err
}

// now is the state of this process.
func now() (s state) {
	var use syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &use)
	s.cpu = use.Utime.Nano() + use.Stime.Nano()
	text, _ := os.ReadFile("/proc/self/statm")
	var size, resident int64
	fmt.Sscan(string(text), &size, &resident)
	s.resident = resident * int64(os.Getpagesize())
	return s
}

// frame returns the call of echo with arguments of a size, in a frame.
func frame(size int) []byte {
	const action = "store.put"
	b := append([]byte{0, 0, 0, 0, 0x80, 1, 0, 1, 0, 0, 0, 4}, "echo\x00\x00\x00\x01"...)
	b = append(b, 12, 0, 1, 10, 0, 1)
	b = binary.BigEndian.AppendUint64(b, 7)
	b = binary.BigEndian.AppendUint32(append(b, 11, 0, 2), uint32(len(action)))
	b = append(append(b, action...), 11, 0, 3)
	payload := size - 39 // the other bytes of the arguments
	b = binary.BigEndian.AppendUint32(b, uint32(payload))
	b = append(append(b, make([]byte, payload)...), 0, 0)
	binary.BigEndian.PutUint32(b, uint32(len(b)-4))
	return b
}
