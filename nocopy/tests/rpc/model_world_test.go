// The world of a run of TestModel: servers, clients, and the program that moves them.

package rpc_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"syscall"
	"testing/synctest"
	"time"

	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
)

// script reads the bytes of a program.
type script struct {
	b     []byte
	at    int
	steps []int // where each step began
}

// n returns a number below n.
func (s *script) n(n int) int {
	v := 0
	if s.at < len(s.b) {
		v = int(s.b[s.at])
	}
	s.at++
	return v % n
}

func (s *script) more() bool { return s.at < len(s.b) }

// world holds all parts of the model: a server and a client of it, another client with a hostile
// server, and hostile clients. The goroutine that runs the program acts as the hostile peers.
//
// Time is the synctest bubble's: it stands still but in the steps that let it pass.
type world struct {
	*script
	conf  conf
	log   *strings.Builder // nil: nothing is logged
	said  logBuffer
	fails struct {
		sync.Mutex
		err error
	}

	mu    sync.Mutex
	epoch int // counts the moments at which everything had come to rest
	calls map[string]*modelCall
	kept  map[string]nocopy.Struct // what the interceptors have cached
	owned []nocopy.Struct          // and what else is theirs
	busy  map[string]int           // calls in the server's interceptors, by connection

	order   []*modelCall // all calls, in order
	sides   map[byte]*side
	conns   []*modelConn // all connections
	servers []*instance
	replies []*evilReply // the hostile server's
}

// conf is chosen at the beginning of a program.
type conf struct {
	framed, recycle, serverRecycle, unordered bool
	theader                                   bool // in all frames
	compact                                   bool // is the protocol
	pool, inFlight, concurrency, maxConns     int
	maxFrame, serverMaxFrame                  int
	idle                                      time.Duration
	intercepted                               bool
}

// side is one of the clients.
type side struct {
	of      byte
	cl      *rpc.Client
	caller  rpc.Caller // for prefixed calls
	refuse  bool       // connections are refused
	closed  bool
	trouble int // the last epoch in which something was done that breaks connections; -1: none
}

// modelConn is a connection.
type modelConn struct {
	of       byte
	n        int
	end      *end // the client's
	peer     *end // the server's
	srv      *instance
	made     time.Time
	hurt     bool      // replies may be missing
	reset    time.Time // when it was reset; zero: it was not
	evilConn           // with of == evil
	rawConn            // with of == raw
}

// instance is a server that was started.
type instance struct {
	srv    *rpc.Server
	l      *pipeListener
	served chan error
	ending chan error // the result of Shutdown; nil: it is not shutting down
	down   bool
}

// logBuffer keeps the beginning of the log.
type logBuffer struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *logBuffer) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.b.Len() < 16<<10 {
		l.b.Write(b)
	}
	return len(b), nil
}

func (l *logBuffer) logger() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }

func (w *world) now() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.epoch
}

func (w *world) failf(format string, args ...any) {
	w.fails.Lock()
	defer w.fails.Unlock()
	if w.fails.err == nil {
		w.fails.err = fmt.Errorf(format, args...)
	}
}

func (w *world) failed() bool {
	w.fails.Lock()
	defer w.fails.Unlock()
	return w.fails.err != nil
}

func (w *world) logf(format string, args ...any) {
	if w.log != nil {
		fmt.Fprintf(w.log, format+"\n", args...)
	}
}

// lookup returns the call with the token at the beginning of b, nil if there is none.
func (w *world) lookup(b []byte) *modelCall {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.calls[string(cut(b))]
}

// cached returns a result that is always the same.
func (w *world) cached(method string) nocopy.Struct {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, ok := w.kept[method]; !ok {
		w.kept[method] = newResult(method, otherText)
		w.owned = append(w.owned, w.kept[method])
	}
	return w.kept[method]
}

// newWorld chooses a configuration and starts a server and the clients.
func newWorld(data []byte, log *strings.Builder) *world {
	w := &world{script: &script{b: data}, log: log, calls: map[string]*modelCall{}, kept: map[string]nocopy.Struct{}, busy: map[string]int{}}
	flags := w.n(256)
	c := conf{
		framed: flags&1 == 0, recycle: flags&2 != 0, serverRecycle: flags&4 != 0, unordered: flags&8 != 0,
		intercepted: flags&16 != 0,
		theader:     flags&65 == 64,
		compact:     flags&128 != 0,
		pool:        1 + flags>>5&1,
		inFlight:    []int{1024, 1, 2, 5}[w.n(4)],
		concurrency: []int{0, 1, 2, 64}[w.n(4)],
		maxConns:    []int{0, 2, 3, 100}[w.n(4)],
	}
	if sizes := []int{0, 0, 3000}; true {
		c.maxFrame, c.serverMaxFrame = sizes[w.n(3)], sizes[w.n(3)]
	}
	if w.n(8) == 1 {
		c.idle = 3 * time.Second
	}
	w.conf = c
	w.logf("%+v", c)
	w.startServer()
	opts := []rpc.Option{rpc.PoolSize(c.pool), rpc.MaxInFlight(c.inFlight), rpc.Logger(w.said.logger()), w.interceptors(), rpc.MaxFrame(c.maxFrame), rpc.IdleTimeout(clientIdle)}
	if c.recycle {
		opts = append(opts, rpc.Recycle)
	}
	if !c.framed {
		opts = append(opts, rpc.Unframed)
	}
	if c.theader {
		opts = append(opts, rpc.THeader())
	}
	if c.compact {
		opts = append(opts, rpc.Compact)
	}
	w.sides = map[byte]*side{}
	for _, of := range []byte{good, evil} {
		s := &side{of: of, trouble: -1}
		w.sides[of] = s
		dial := func(context.Context, string, string) (net.Conn, error) { return w.connect(s) }
		cl, err := rpc.Dial(context.Background(), "pipe", string(of), append(opts, rpc.Dialer(dial))...)
		if err != nil {
			panic(err)
		}
		s.cl, s.caller = cl, rpc.MultiplexedCaller(cl, "Echo")
	}
	return w
}

// startServer starts a server that replaces the last one.
func (w *world) startServer() {
	one := echo.NewEchoProcessor(&modelHandler{w})
	srv := &rpc.Server{
		Processor: rpc.Multiplexed(map[string]*rpc.Processor{"": one, "Echo": one}),
		Logger:    w.said.logger(), MaxConns: w.conf.maxConns, MaxFrame: w.conf.serverMaxFrame,
		Concurrency: w.conf.concurrency, Unordered: w.conf.unordered, IdleTimeout: w.conf.idle, Recycle: w.conf.serverRecycle,
	}
	if w.conf.intercepted {
		srv.Interceptors = []rpc.Interceptor{w.intercept}
	}
	i := &instance{srv: srv, l: newPipeListener(), served: make(chan error, 1)}
	go func() { i.served <- srv.Serve(i.l) }()
	w.mu.Lock()
	w.servers = append(w.servers, i)
	w.mu.Unlock()
}

func (w *world) server() *instance { return w.servers[len(w.servers)-1] }

// connect is the function with which clients connect.
func (w *world) connect(s *side) (net.Conn, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if s.refuse {
		return nil, opError("dial", syscall.ECONNREFUSED)
	}
	c := w.newConn(s.of)
	if s.of == good && !c.srv.l.connect(c.peer) {
		return nil, opError("dial", syscall.ECONNREFUSED)
	}
	w.conns = append(w.conns, c)
	return c.end, nil
}

func (w *world) newConn(of byte) *modelConn {
	c := &modelConn{of: of, n: len(w.conns), srv: w.server(), made: time.Now()}
	c.end, c.peer = newPipe(fmt.Sprint("connection ", c.n))
	return c
}

// connsOf returns the connections of a client.
func (w *world) connsOf(of byte) []*modelConn {
	w.mu.Lock()
	defer w.mu.Unlock()
	var list []*modelConn
	for _, c := range w.conns {
		if c.of == of {
			list = append(list, c)
		}
	}
	return list
}

// all returns all connections.
func (w *world) all() []*modelConn {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.conns[:len(w.conns):len(w.conns)]
}

// pick chooses one of the latest connections of a client that both ends have open, nil if there is
// none.
func (w *world) pick(of byte) *modelConn {
	var list []*modelConn
	for _, c := range w.connsOf(of) {
		if !c.end.isClosed() && !c.peer.isClosed() {
			list = append(list, c)
		}
	}
	k := w.n(256)
	if len(list) == 0 {
		return nil
	}
	return list[len(list)-1-k%len(list)]
}

// settle waits until no goroutine can go on without time passing, and checks what must hold then.
func (w *world) settle() {
	synctest.Wait()
	w.findTrouble()
	w.checkReplied()
	w.checkResting()
	w.mu.Lock()
	w.epoch++
	w.mu.Unlock()
}

// findTrouble notes which clients may see connections break now.
func (w *world) findTrouble() {
	for _, c := range w.order {
		if !c.hopeless {
			continue
		}
		if c.mu.Lock(); (!c.done || c.ended == w.epoch) && c.of != raw {
			for _, conn := range w.connsOf(c.of) {
				w.hurt(conn)
				conn.fatal = true
			}
		}
		c.mu.Unlock()
	}
	for _, s := range w.sides {
		if s.refuse || s.of == good && w.server().down {
			s.trouble = w.epoch
		}
	}
	for _, r := range w.replies { // some are held back until there is a call
		if !r.proper && r.seen < 0 && !r.conn.end.isClosed() {
			w.sides[evil].trouble = w.epoch
		}
	}
	for _, c := range w.all() {
		if c.of != evil && c.srv.down {
			w.hurt(c)
		}
		if s := w.sides[c.of]; s != nil && c.hurt && !c.end.isClosed() {
			s.trouble = w.epoch
		}
	}
}

// pass lets time pass.
func (w *world) pass(d time.Duration) {
	synctest.Wait()
	w.findTrouble()
	for _, c := range w.all() {
		if d >= time.Second && (c.end.in.slow() || c.end.out.slow() || c.of == raw || w.conf.idle > 0) {
			w.hurt(c) // there are timeouts
		}
	}
	time.Sleep(d)
	w.settle()
}

// breakDown resets a connection.
func (w *world) breakDown(c *modelConn) {
	c.end.breakDown()
	c.reset = time.Now()
	w.hurt(c)
}

// hurt notes that replies may be missing on a connection.
func (w *world) hurt(c *modelConn) {
	c.hurt = true
	if s := w.sides[c.of]; s != nil {
		s.trouble = w.now()
	}
}

// call starts a call.
func (w *world) call(of byte) {
	c := w.newCall(of)
	c.prefixed = w.n(4) == 1
	if w.n(4) == 0 {
		c.inClient = w.n(len(clientInterventions))
	}
	if testmode.Instrumented && stale[clientInterventions[c.inClient].name] {
		c.inClient = 0
	}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	patience := []time.Duration{0, 0, 0, -1, 500 * time.Microsecond, 10 * time.Millisecond, 2 * time.Second}[w.n(7)]
	switch {
	case patience < 0:
		c.ctx = context.Background() // never ends
	case patience > 0:
		c.ctx, c.cancel = context.WithTimeout(context.Background(), patience)
	}
	s := w.sides[of]
	if m := w.conf.maxFrame; of == good && m > 0 && c.size+100 > m {
		c.hopeless = true
	}
	w.logf("call %v, patience %v, prefixed %v", c, patience, c.prefixed)
	caller := rpc.Caller(s.cl)
	if c.prefixed {
		caller = s.caller
	}
	go w.run(c, caller)
}

var modelMethods = []string{"echo", "put", "notify", "add", "fail"}
var modelSizes = []int{8, 100, 1000, 2100, 4095, 4096, 5000, 8, 20_000, 70_000}

// newCall chooses a call.
func (w *world) newCall(of byte) *modelCall {
	method := modelMethods[w.n(len(modelMethods))]
	c := w.addCall(of, method, modelSizes[w.n(len(modelSizes))])
	if w.n(2) == 1 {
		c.conduct = w.n(len(conducts))
	}
	if w.conf.intercepted && w.n(3) == 1 {
		c.inServer = w.n(len(serverInterventions))
	}
	if testmode.Instrumented && stale[conducts[c.conduct].name] {
		c.conduct = 0
	}
	if method == "add" {
		c.size = 8
	}
	if m := w.conf.serverMaxFrame; of != evil && m > 0 && c.size+100 > m {
		c.hopeless = true
	}
	return c
}

func (w *world) addCall(of byte, method string, size int) *modelCall {
	c := &modelCall{id: len(w.order) + 1, of: of, method: method, size: size, gate: make(chan struct{}), began: w.epoch}
	c.token = fmt.Sprintf("<%c%04d>", of, c.id)
	c.ctx, c.cancel = context.WithCancel(context.Background())
	w.order = append(w.order, c)
	w.mu.Lock()
	w.calls[c.token] = c
	w.mu.Unlock()
	return c
}

// errOf returns the first thing that was wrong, nil if nothing was.
func (w *world) errOf() error {
	w.fails.Lock()
	defer w.fails.Unlock()
	return w.fails.err
}

// stopServer shuts the server down or closes it.
func (w *world) stopServer(graceful bool) {
	i := w.server()
	if i.down {
		return
	}
	w.logf("the server ends, gracefully: %v", graceful)
	i.down = true
	for _, c := range w.all() {
		if c.srv == i && c.of != evil {
			w.hurt(c)
		}
	}
	w.sides[good].trouble = w.epoch
	i.ending = make(chan error, 1)
	if !graceful {
		i.ending <- i.srv.Close()
		return
	}
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		err := i.srv.Shutdown(ctx)
		if errors.Is(err, context.DeadlineExceeded) {
			err = nil
		}
		i.ending <- err
	}()
}

// closeClient closes a client; its calls end.
func (w *world) closeClient(s *side) {
	if s.closed {
		return
	}
	w.logf("client %c closes", s.of)
	s.closed = true
	for _, c := range w.connsOf(s.of) {
		c.hurt = true
	}
	ended := make(chan struct{})
	go func() {
		s.cl.Close()
		close(ended)
	}()
	w.settle()
	for _, c := range w.connsOf(s.of) { // those that were made meanwhile, too
		c.hurt = true
		if c.end.wasAbrupt() { // oneway calls may be lost
			s.trouble = w.epoch
		}
	}
	select {
	case <-ended:
	default:
		w.failf("Close of client %c does not return", s.of)
	}
}
