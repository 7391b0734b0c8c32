package rpc_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	stdlog "log"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nocopythrift/nocopythrift/internal/memory"
	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/linkbuf"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
)

// The model of clients and servers over HTTP, which is to TestHTTPStates what TestModel is to
// TestCallStates. Over HTTP/1.1, a connection has one call at a time, and net/http decides which
// connection that is. The reference therefore knows calls rather than bytes.
//
//	modelhttp_calls_test.go  calls, the handler, and the outcomes that are allowed
//	modelhttp_peers_test.go  the hostile server and hostile clients
//
// Connections are those of model_pipe_test.go.

// httpSteps has each step as often as it is to come.
var httpSteps = strings.Fields("call call call call call call evil-call evil-call evil-call evil-call evil-call " +
	"cancel cancel go-on go-on go-on settle settle settle time time time slow slow slow reset " +
	"raw-connect raw-connect raw-send raw-send raw-send raw-send raw-end " +
	"evil-reply evil-reply evil-reply evil-reply evil-reply evil-reply evil-reply evil-reply refuse server server close")

// httpConf is chosen at the beginning of a program.
type httpConf struct {
	router, recycle, serverRecycle, lazy, intercepted, deadlines, compact, ownClient bool
	pool, inFlight, concurrency, maxConns                                            int
	maxFrame, serverMaxFrame                                                         int
	idle                                                                             time.Duration
}

// httpWorld has two clients of a server, a client of a hostile server, and hostile clients.
type httpWorld struct {
	*script
	conf httpConf
	log  *strings.Builder // nil: nothing is logged
	said logBuffer

	mu     sync.Mutex
	err    error // the first thing that was wrong
	epoch  int   // counts the moments at which everything had come to rest
	calls  map[string]*httpModelCall
	counts map[string]int  // by Stats
	owned  []echo.NotFound // by the handler

	order   []*httpModelCall
	sides   []*httpSide
	conns   []*httpModelConn
	servers []*httpInstance
	strayed int // the last epoch in which the hostile server has sent a reply too many; -1: none
}

// The sides of a connection's client.
const (
	firstSide = iota
	secondSide
	evilSide
	rawSide
)

// httpSide is a client.
type httpSide struct {
	of      int
	caller  rpc.Caller
	own     *http.Transport // nil: the caller has made it
	refuse  bool            // connections are refused
	closed  bool
	trouble int // the last epoch in which its connections may have broken; -1: none
}

// httpModelConn is a connection.
type httpModelConn struct {
	n, of     int
	end, peer *end // the client's and the server's
	srv       *httpInstance
	hurt      bool // calls on it may fail
	httpEvilConn
	httpRawConn
}

// httpInstance is a server that was started.
type httpInstance struct {
	srv    *rpc.Server
	router *http.Server // nil: it serves its own port
	l      *pipeListener
	served chan error
	ending chan error // the result of Shutdown; nil: it has not been stopped
}

func (i *httpInstance) down() bool { return i.ending != nil }

func (w *httpWorld) failf(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		w.err = fmt.Errorf(format, args...)
	}
}

func (w *httpWorld) failure() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

func (w *httpWorld) logf(format string, args ...any) {
	if w.log != nil {
		fmt.Fprintf(w.log, format+"\n", args...)
	}
}

// stats counts for "client" or "server".
func (w *httpWorld) stats(side string) *rpc.Stats {
	count := func(what string) func(int) {
		return func(n int) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.counts[side+what] += n
			w.counts[side+what+" at most"] = max(w.counts[side+what+" at most"], w.counts[side+what])
		}
	}
	queued := count(" queued")
	sent := count(" sent")
	return &rpc.Stats{
		Conns: count(" conns"), InFlight: count(" in flight"), Received: count(" received"),
		Queued: func(time.Duration) { queued(1) }, Sent: func(s linkbuf.Stats) { sent(s.Bytes) },
	}
}

func newHTTPWorld(data []byte, log *strings.Builder) *httpWorld {
	w := &httpWorld{script: &script{b: data}, log: log, calls: map[string]*httpModelCall{}, counts: map[string]int{}, strayed: -1}
	flags := w.n(256)
	w.conf = httpConf{
		router: flags&1 != 0, recycle: flags&2 != 0, serverRecycle: flags&4 != 0, lazy: flags&8 != 0,
		intercepted: flags&16 != 0, deadlines: flags&32 != 0, compact: flags&64 != 0, ownClient: flags&128 != 0,
		pool: w.n(3), inFlight: []int{1024, 1, 2, 5}[w.n(4)],
		concurrency: []int{0, 1, 2, 64}[w.n(4)], maxConns: []int{0, 3, 100}[w.n(3)],
		maxFrame: []int{0, 0, 3000}[w.n(3)], serverMaxFrame: []int{0, 0, 3000}[w.n(3)],
		idle: []time.Duration{0, 3 * time.Second}[w.n(2)],
	}
	w.logf("%+v", w.conf)
	w.startServer()
	for of := range rawSide {
		w.dial(of)
	}
	return w
}

// dial makes the client of a side. The second one always speaks the other protocol.
func (w *httpWorld) dial(of int) {
	s := &httpSide{of: of, trouble: -1}
	dial := func(context.Context, string, string) (net.Conn, error) { return w.connect(s) }
	opts := []rpc.Option{
		rpc.MaxInFlight(w.conf.inFlight), rpc.MaxFrame(w.conf.maxFrame), rpc.StallTimeout(10 * time.Second),
		rpc.Logger(w.said.logger()), w.stats(fmt.Sprint("client ", of)),
	}
	if w.conf.ownClient && of == secondSide {
		s.own = &http.Transport{DialContext: dial, MaxConnsPerHost: w.conf.pool, IdleConnTimeout: clientIdle}
		opts = append(opts, rpc.HTTPClient(&http.Client{Transport: s.own}))
	} else {
		opts = append(opts, rpc.Dialer(dial), rpc.PoolSize(w.conf.pool), rpc.IdleTimeout(clientIdle))
	}
	if w.conf.recycle {
		opts = append(opts, rpc.Recycle)
	}
	if w.conf.compact != (of == secondSide) {
		opts = append(opts, rpc.Compact)
	}
	if w.conf.lazy {
		opts = append(opts, rpc.Lazy)
	}
	if w.conf.deadlines {
		opts = append(opts, rpc.Deadlines)
	}
	if w.conf.intercepted {
		opts = append(opts, rpc.Interceptors(func(ctx context.Context, c *rpc.Call, next rpc.Handler) error { return next(ctx, c) }))
	}
	var err error
	if s.caller, err = rpc.DialHTTP(fmt.Sprintf("http://side%d/", of), opts...); err != nil {
		panic(err)
	}
	w.sides = append(w.sides, s)
}

// startServer starts a server that replaces the last one.
func (w *httpWorld) startServer() {
	srv := &rpc.Server{
		Processor: echo.NewEchoProcessor(&httpModelHandler{w: w}), Logger: w.said.logger(), Stats: w.stats("server"),
		MaxConns: w.conf.maxConns, MaxFrame: w.conf.serverMaxFrame, Concurrency: w.conf.concurrency,
		Recycle: w.conf.serverRecycle, Deadlines: w.conf.deadlines, IdleTimeout: w.conf.idle,
	}
	i := &httpInstance{srv: srv, l: newPipeListener(), served: make(chan error, 1)}
	if w.conf.router {
		i.router = &http.Server{Handler: srv, MaxHeaderBytes: 64 << 10, ReadHeaderTimeout: 30 * time.Second, IdleTimeout: w.conf.idle, ErrorLog: stdlog.New(&w.said, "", 0)}
		go func() { i.served <- i.router.Serve(i.l) }()
	} else {
		go func() { i.served <- srv.Serve(i.l) }()
	}
	w.mu.Lock()
	w.servers = append(w.servers, i)
	w.mu.Unlock()
}

func (w *httpWorld) server() *httpInstance { return w.servers[len(w.servers)-1] }

// stopServer shuts the server down, or closes it.
func (w *httpWorld) stopServer(graceful bool) {
	i := w.server()
	w.logf("the server ends, gracefully: %v", graceful)
	i.ending = make(chan error, 1)
	go func() {
		var err error
		if graceful {
			ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
			defer cancel()
			err = i.srv.Shutdown(ctx)
		} else {
			err = i.srv.Close()
		}
		if errors.Is(err, context.DeadlineExceeded) {
			err = nil
		}
		if i.router != nil {
			err = errors.Join(err, i.router.Close())
		}
		i.ending <- err
	}()
}

// connect makes a connection for a side.
func (w *httpWorld) connect(s *httpSide) (net.Conn, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := w.newConn(s.of)
	if s.refuse || s.of != evilSide && !c.srv.l.connect(c.peer) {
		return nil, opError("dial", syscall.ECONNREFUSED)
	}
	w.conns = append(w.conns, c)
	return c.end, nil
}

// newConn returns a connection to the latest server. w.mu is held.
func (w *httpWorld) newConn(of int) *httpModelConn {
	c := &httpModelConn{n: len(w.conns), of: of, srv: w.server()}
	c.end, c.peer = newPipe(fmt.Sprint("connection ", c.n))
	return c
}

func (w *httpWorld) all() []*httpModelConn {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.conns[:len(w.conns):len(w.conns)]
}

// pick chooses an open connection of one of the sides; nil if there is none.
func (w *httpWorld) pick(sides ...int) *httpModelConn {
	k := w.n(256)
	var list []*httpModelConn
	for _, c := range w.all() {
		for _, of := range sides {
			if c.of == of && !c.end.isClosed() && !c.peer.isClosed() {
				list = append(list, c)
			}
		}
	}
	if len(list) == 0 {
		return nil
	}
	return list[len(list)-1-k%len(list)]
}

// hurt notes that calls on a connection may fail.
func (w *httpWorld) hurt(c *httpModelConn) {
	c.hurt = true
	if c.of != rawSide {
		w.sides[c.of].trouble = w.epoch
	}
}

// findTrouble notes which clients may see connections break now.
func (w *httpWorld) findTrouble() {
	for _, s := range w.sides {
		if s.refuse || s.of != evilSide && w.server().down() {
			s.trouble = w.epoch
		}
	}
	for _, c := range w.all() {
		if c.of != evilSide && c.srv.down() || c.hurt && !c.end.isClosed() {
			w.hurt(c)
		}
	}
}

// settle waits until no goroutine can go on without time passing, and checks what must hold then.
func (w *httpWorld) settle() {
	synctest.Wait()
	w.findTrouble()
	w.readRequests()
	synctest.Wait()
	w.checkResting()
	w.epoch++
}

// pass lets time pass.
func (w *httpWorld) pass(d time.Duration) {
	synctest.Wait()
	w.findTrouble()
	for _, c := range w.all() {
		if d >= time.Second && (c.end.in.slow() || c.end.out.slow() || c.of == rawSide || w.conf.idle > 0 || c.stalled) {
			w.hurt(c) // there are timeouts
		}
	}
	time.Sleep(d)
	w.settle()
}

// step does what the next bytes say.
func (w *httpWorld) step() {
	w.findTrouble()
	switch op := httpSteps[w.n(len(httpSteps))]; op {
	case "call":
		w.call(w.n(2))
	case "evil-call":
		w.call(evilSide)
	case "cancel", "go-on":
		if k := w.n(256); len(w.order) > 0 {
			c := w.order[len(w.order)-1-k%len(w.order)]
			w.logf("%s: %s", op, c.token)
			if op == "cancel" {
				c.cancelled.Store(true)
				c.cancel()
			} else {
				c.open()
			}
		}
	case "settle":
		w.logf("everything comes to rest")
		w.settle()
	case "time":
		d := waits[w.n(len(waits))]
		w.logf("%v pass", d)
		w.pass(d)
	case "slow":
		w.slowDown()
	case "reset":
		if c := w.pick(firstSide, secondSide, evilSide); c != nil {
			w.logf("connection %d is reset", c.n)
			c.end.breakDown()
			w.hurt(c)
		}
	case "raw-connect":
		w.rawConnect()
	case "raw-send":
		w.rawSend(w.n(len(httpRawKinds)))
	case "raw-end":
		w.rawEnd()
	case "evil-reply":
		w.evilReply(w.n(len(httpEvilKinds)))
	case "refuse":
		s := w.sides[w.n(len(w.sides))]
		w.mu.Lock()
		s.refuse = !s.refuse
		w.mu.Unlock()
		s.trouble = w.epoch
		w.logf("connections of client %d are refused: %v", s.of, s.refuse)
	case "server":
		if graceful := w.n(2) == 1; w.server().down() {
			w.logf("a server starts")
			w.startServer()
		} else {
			w.stopServer(graceful)
		}
	case "close":
		if k := w.n(8); k < len(w.sides) {
			w.closeClient(w.sides[k])
		}
	}
}

// slowDown changes how one direction of a connection carries bytes.
func (w *httpWorld) slowDown() {
	c := w.pick([][]int{{firstSide, secondSide}, {evilSide}, {rawSide}}[w.n(3)]...)
	up, how, k := w.n(2) == 1, w.n(6), w.n(256)
	if c == nil {
		return
	}
	s := c.end.in
	if up {
		s = c.end.out
	}
	w.logf("connection %d, to the server: %v, is slowed down: %d, %d", c.n, up, how, k)
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

// closeClient closes a client; its calls end.
func (w *httpWorld) closeClient(s *httpSide) {
	w.logf("client %d closes", s.of)
	s.closed = true
	s.caller.(interface{ Close() error }).Close()
	if s.own != nil {
		s.own.CloseIdleConnections()
	}
	w.settle()
}

// playHTTP runs a program.
func playHTTP(t *testing.T, data []byte, log *strings.Builder) (w *httpWorld) {
	defer stdlog.SetOutput(stdlog.Writer())
	stdlog.SetOutput(io.Discard) // net/http's client logs replies that nobody has asked for
	blocks := memory.BlocksInUse()
	synctest.Test(t, func(*testing.T) {
		w = newHTTPWorld(data, log)
		for n := 0; w.more() && n < 60 && w.failure() == nil; n++ {
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

// TestModelHTTP: clients and servers over HTTP do what the model allows.
func TestModelHTTP(t *testing.T) {
	if !testmode.InOwnProcess(t) {
		return
	}
	programs := *modelPrograms
	if !testmode.Long {
		programs /= 4
	}
	before := map[string]int{} // messages that others have not released, by where they were made
	for _, stack := range nocopy.Leaked() {
		before[stack]++
	}
	outcomes := map[httpOutcome]int{}
	for n := range programs {
		data := randomProgram(*modelSeed, uint64(n))
		if *modelTrace {
			fmt.Fprintf(os.Stderr, "program %d: %x\n", n, data)
		}
		w := playHTTP(t, data, nil)
		for _, c := range w.order {
			outcomes[c.outcome]++
		}
		if w.failure() != nil {
			reportHTTP(t, data, w.failure())
			return
		}
	}
	t.Logf("%d programs, %v", programs, outcomes)
	for _, stack := range nocopy.Leaked() {
		// An exception that passes a server's interceptors is left to the garbage collector.
		passing := strings.Contains(stack, "(*Call).declared")
		if before[stack]--; before[stack] < 0 && !passing {
			t.Errorf("a message was not released. It was made at\n%s", stack)
			break
		}
	}
}

// reportHTTP fails the test with the shortest beginning of a program that fails.
func reportHTTP(t *testing.T, data []byte, err error) {
	t.Helper()
	data = shortenWith(data, 5*time.Second, func(b []byte) ([]int, int, bool) {
		w := playHTTP(t, b, nil)
		return w.steps, w.at, w.failure() != nil
	})
	log := &strings.Builder{}
	w := playHTTP(t, data, log)
	again := w.failure()
	t.Errorf("%v\nthe shortened program: %v (nil: it does not fail each time)\nits bytes: %x\n%s\nlogged:\n%s", err, again, data, log, w.said.b.String())
}

// FuzzModelHTTP runs programs that a fuzzer makes.
func FuzzModelHTTP(f *testing.F) {
	for n := range uint64(16) {
		f.Add(randomProgram(0, n))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1000 {
			return // longer programs only repeat themselves
		}
		if w := playHTTP(t, data, nil); w.failure() != nil {
			reportHTTP(t, data, w.failure())
		}
	})
}
