package rpc_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nocopythrift/nocopythrift/internal/memory"
	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy"
)

// The model of client and server. Its programs consist of calls, cancels, stalls, resets,
// restarts, and acts of hostile peers, careless handlers and interceptors. A reference knows how
// each call may end and which bytes may be on the wire. A program is decoded from a string of
// bytes: a fuzzer can drive it, and a failing program can be made shorter.
//
//	model_pipe_test.go    connections in memory, which hold bytes back and break as they are told
//	model_wire_test.go    reads what is on them
//	model_world_test.go   the server, the clients and what is known of them
//	model_server_test.go  handlers and the server's interceptors
//	model_client_test.go  calls and the client's interceptors
//	model_evil_test.go    the hostile server; model_raw_test.go: hostile clients
//
// A program runs in a synctest bubble: "everything has come to rest" is a fact, not a guess, and
// time passes only when the program says so. The machine's load makes no difference.

var (
	modelSeed     = flag.Uint64("model.seed", 1, "seed of TestModel")
	modelPrograms = flag.Int("model.programs", 400, "programs of TestModel")
	modelTrace    = flag.Bool("model.trace", false, "TestModel writes each program to standard error before it runs it")
)

// weights says how often each step comes.
var weights = func() (list []string) {
	for _, s := range []struct {
		step  string
		times int
	}{
		{"call", 6}, {"call the hostile server", 5}, {"cancel", 2}, {"let go on", 3}, {"settle", 3}, {"time", 3}, {"slow down", 3}, {"reset", 1},
		{"raw connect", 2}, {"raw send", 6}, {"raw act", 2}, {"evil reply", 5}, {"evil act", 3}, {"refuse", 1}, {"stop server", 1}, {"close", 1},
	} {
		for range s.times {
			list = append(list, s.step)
		}
	}
	return list
}()

var waits = []time.Duration{100 * time.Microsecond, 2 * time.Millisecond, 2 * time.Millisecond, 50 * time.Millisecond, time.Second, 40 * time.Second}

// step does what the next bytes say.
func (w *world) step() {
	w.findTrouble()
	switch op := weights[w.n(len(weights))]; op {
	case "call":
		w.call(good)
	case "call the hostile server":
		w.call(evil)
	case "cancel", "let go on":
		k := w.n(256)
		if len(w.order) == 0 {
			return
		}
		c := w.order[len(w.order)-1-k%len(w.order)]
		w.logf("%s: %s", op, c.token)
		if op == "cancel" {
			c.cancel()
		} else {
			c.open()
		}
	case "settle":
		w.logf("everything comes to rest")
		w.settle()
	case "time":
		d := waits[w.n(len(waits))]
		w.logf("%v pass", d)
		w.pass(d)
	case "slow down":
		w.slowDown()
	case "reset":
		if c := w.pick(good); c != nil {
			w.logf("connection %d is reset", c.n)
			w.breakDown(c)
		}
	case "raw connect":
		w.rawConnect()
	case "raw send":
		w.rawSend(w.n(len(rawKinds)))
	case "raw act":
		w.rawAct()
	case "evil reply":
		w.evilReplyTo(w.n(len(evilKinds)) * (w.n(3) & 1)) // most are as they should be
	case "evil act":
		w.evilAct()
	case "refuse":
		s := w.sides[[]byte{good, evil}[w.n(2)]]
		w.mu.Lock()
		s.refuse = !s.refuse
		w.mu.Unlock()
		s.trouble = w.epoch
		w.logf("connections of %c are refused: %v", s.of, s.refuse)
	case "stop server":
		if w.server().down {
			w.logf("a server starts")
			w.startServer()
		} else {
			w.stopServer(w.n(2) == 1)
		}
	case "close":
		if k := w.n(8); k < 2 {
			w.closeClient(w.sides[[]byte{good, evil}[k]])
		}
	}
}

// slowDown changes how one direction of a connection carries bytes.
func (w *world) slowDown() {
	c := w.pick([]byte{good, evil, raw}[w.n(3)])
	up, how, k := w.n(2) == 1, w.n(6), w.n(256)
	if c == nil {
		return
	}
	s := c.end.in
	if up {
		s = c.end.out
	}
	w.logf("connection %d of %c, to the server: %v, is slowed down: %d, %d", c.n, c.of, up, how, k)
	s.change(func(s *stream) {
		switch how {
		case 0:
			s.limit = s.visible() // nothing more arrives
		case 1:
			s.limit = s.visible() + k
		case 2:
			s.limit = -1
		case 3:
			s.piece = []int{1, 3, 64, unlimited}[k%4]
		case 4:
			s.room = []int{1, 100, 5000, 20_000}[k%4]
		case 5:
			s.room = unlimited
		}
	})
}

// play runs a program. The world that it returns has the faults that were found.
func play(t *testing.T, data []byte, log *strings.Builder) (w *world) {
	blocks := memory.BlocksInUse()
	synctest.Test(t, func(*testing.T) {
		w = newWorld(data, log)
		for n := 0; w.more() && n < 80 && !w.failed(); n++ {
			w.steps = append(w.steps, w.at)
			w.step()
		}
		w.finish()
	})
	if n := memory.BlocksInUse() - blocks; n != 0 {
		w.failf("%d blocks are left over", n)
	}
	return w
}

func randomProgram(seed, n uint64) []byte {
	r := rand.New(rand.NewPCG(seed, n))
	b := make([]byte, 20+r.IntN(400))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

func TestModel(t *testing.T) {
	if !testmode.InOwnProcess(t) {
		return
	}
	programs := *modelPrograms
	if !testmode.Long {
		programs /= 4
	}
	calls := 0
	before := map[string]int{} // messages that others have not released, by where they were made
	for _, stack := range nocopy.Leaked() {
		before[stack]++
	}
	for n := range programs {
		data := randomProgram(*modelSeed, uint64(n))
		if *modelTrace {
			fmt.Fprintf(os.Stderr, "program %d: %x\n", n, data)
		}
		w := play(t, data, nil)
		calls += len(w.order)
		if w.failed() {
			report(t, data, w.errOf())
			return
		}
	}
	t.Logf("%d programs, %d calls", programs, calls)
	for _, stack := range nocopy.Leaked() {
		if before[stack]--; before[stack] < 0 {
			t.Errorf("a message was not released; -model.programs says in which program. It was made at\n%s", stack)
			break
		}
	}
}

// report fails the test with the shortest form of a failing program.
func report(t *testing.T, data []byte, err error) {
	t.Helper()
	data = shorten(t, data, 5*time.Second)
	log := &strings.Builder{}
	if w := play(t, data, log); w.failed() {
		err = w.errOf()
		fmt.Fprintf(log, "\nlogged:\n%s", w.said.b.String())
	} else {
		fmt.Fprintf(log, "\nit does not fail each time")
	}
	t.Errorf("%v\nthe program's bytes: %x\nthe program:\n%s", err, data, log)
}

// shorten leaves out of a failing program what it fails without.
func shorten(t *testing.T, data []byte, limit time.Duration) []byte {
	return shortenWith(data, limit, func(b []byte) (steps []int, end int, failed bool) {
		w := play(t, b, nil)
		return w.steps, w.at, w.failed()
	})
}

// shortenWith leaves out of a failing program what it fails without: steps, then it makes bytes
// zero. play runs a program, and returns where its steps began and how many bytes it has read.
func shortenWith(data []byte, limit time.Duration, play func([]byte) (steps []int, end int, failed bool)) []byte {
	deadline := time.Now().Add(limit)
	fails := func(b []byte) bool {
		for range 2 { // the scheduler has a say
			if !time.Now().Before(deadline) {
				return false
			}
			if _, _, failed := play(b); failed {
				return true
			}
		}
		return false
	}
	steps, end, _ := play(data)
	data = data[:min(end, len(data))]
	for size := max(len(steps)/2, 1); size > 0; {
		less := false
		for k := 0; k < len(steps); {
			from, to := steps[k], len(data)
			if k+size < len(steps) {
				to = min(steps[k+size], len(data))
			}
			if b := append(append([]byte{}, data[:min(from, len(data))]...), data[to:]...); from < len(data) && fails(b) {
				data, less = b, true
				steps, _, _ = play(data)
			} else {
				k += size
			}
		}
		if size > 1 || !less {
			size /= 2
		}
	}
	for i := len(data) - 1; i >= 0; i-- {
		if zero := append([]byte{}, data...); data[i] != 0 {
			if zero[i] = 0; fails(zero) {
				data = zero
			}
		}
	}
	return data
}

// FuzzModel runs programs that a fuzzer makes.
func FuzzModel(f *testing.F) {
	for n := range uint64(16) {
		f.Add(randomProgram(0, n))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1000 {
			return // longer programs only repeat themselves
		}
		if w := play(t, data, nil); w.failed() {
			report(t, data, w.errOf())
		}
	})
}
