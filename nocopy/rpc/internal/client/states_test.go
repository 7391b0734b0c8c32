package client

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/message"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/transport"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// The tables of states.md are the models of these tests: each walks all sequences of events up to
// a length, and thereby every state with every event.

// machine holds a table of states.md: the cell for each state and event.
type machine struct {
	events []string
	next   map[string]map[string]string
	seen   map[string]bool // "state, event"
}

// table returns the table under a heading of states.md.
func table(t *testing.T, heading string) *machine {
	t.Helper()
	doc, err := os.ReadFile("../../states.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, found := strings.Cut(string(doc), "\n## "+heading+"\n")
	if !found {
		t.Fatalf("states.md has no %q", heading)
	}
	m := &machine{next: map[string]map[string]string{}, seen: map[string]bool{}}
	columns := regexp.MustCompile(` {2,}`)
	for line := range strings.Lines(strings.TrimPrefix(text, "\n")) {
		row, ok := strings.CutPrefix(line, "    ")
		if !ok {
			break
		}
		cells := columns.Split(strings.TrimRight(row, "\n"), -1)
		if m.events == nil {
			m.events = cells[1:]
			continue
		}
		if len(cells) != len(m.events)+1 {
			t.Fatalf("row %q has %d cells", row, len(cells))
		}
		m.next[cells[0]] = map[string]string{}
		for i, cell := range cells[1:] {
			m.next[cells[0]][m.events[i]] = cell
		}
	}
	return m
}

// after returns the cell of a state and an event.
func (m *machine) after(t *testing.T, state, event string) string {
	cell, ok := m.next[state][event]
	if !ok {
		t.Fatalf("states.md has no state %q with %q", state, event)
	}
	m.seen[state+", "+event] = true
	return cell
}

// complete checks that every state has met every event.
func (m *machine) complete(t *testing.T) {
	for state := range m.next {
		for _, event := range m.events {
			if !m.seen[state+", "+event] {
				t.Errorf("%s has not met %q", state, event)
			}
		}
	}
}

// walks calls f with every sequence of n events, in a bubble of its own.
func (m *machine) walks(t *testing.T, n int, f func(t *testing.T, walk []string)) {
	walk := make([]string, n)
	for i := 0; ; i++ {
		rest := i
		for j := range walk {
			walk[j] = m.events[rest%len(m.events)]
			rest /= len(m.events)
		}
		if rest > 0 || t.Failed() {
			return
		}
		synctest.Test(t, func(t *testing.T) { f(t, slices.Clone(walk)) })
	}
}

// steered is a net.Conn whose reads and writes return when the test lets them.
type steered struct {
	net.Conn
	writes chan error  // each lets one Write return
	reads  chan []byte // what Read returns; closed: EOF
	closed chan struct{}
	inside bool // of Write
	ended  bool // nothing more comes
}

func newSteered() *steered {
	return &steered{writes: make(chan error), reads: make(chan []byte, 100), closed: make(chan struct{})}
}

func (c *steered) Read(b []byte) (int, error) {
	select {
	case <-c.closed:
		return 0, net.ErrClosed
	case data, ok := <-c.reads:
		if !ok {
			return 0, io.EOF
		}
		return copy(b, data), nil
	}
}

// Write returns when the test says so: also if the connection is closed meanwhile.
func (c *steered) Write(b []byte) (int, error) {
	c.inside = true
	err := <-c.writes
	c.inside = false
	if err != nil {
		return 0, err
	}
	return len(b), nil
}

// writeEnds lets a Write return, if there is one.
func (c *steered) writeEnds(err error) {
	synctest.Wait()
	if c.inside {
		c.writes <- err
		synctest.Wait()
	}
}

func (c *steered) Close() error                     { close(c.closed); return nil }
func (c *steered) SetReadDeadline(time.Time) error  { return nil }
func (c *steered) SetWriteDeadline(time.Time) error { return nil }
func (c *steered) RemoteAddr() net.Addr             { return &net.TCPAddr{} }

// replies makes a reply arrive.
func (c *steered) replies(m Method, id int32) {
	body := thriftimpl.New(m.Args).Message().Bytes()
	b := make([]byte, 4+message.HeaderSize(true, len(m.Name)), 100)
	message.PutHeader(b[4:], true, message.Reply, "", m.Name, id)
	b = append(b, body...)
	binary.BigEndian.PutUint32(b, uint32(len(b)-4))
	if !c.ended {
		c.reads <- b
	}
	synctest.Wait()
}

// end makes the stream end, as if the other side had closed the connection.
func (c *steered) end() {
	if !c.ended {
		c.ended = true
		close(c.reads)
	}
}

// testConfig returns the settings that package rpc has by default.
func testConfig(log slog.Handler) Config {
	o := Config{
		Transport: transport.Framed, PoolSize: 4, MaxInFlight: 1024, Logger: slog.New(log),
		DialTimeout: 10 * time.Second, StallTimeout: 30 * time.Second, IdleTimeout: 50 * time.Second, MaxConnAge: 30 * time.Minute,
	}
	o.begin()
	return o
}

func testMethods() (twoWay, oneway Method) {
	args, result := thriftimpl.NewDesc("args"), thriftimpl.NewDesc("result")
	args.Define(thriftimpl.FieldDesc{ID: 1, Name: "a", Type: thriftimpl.TypeI64})
	result.Define(thriftimpl.FieldDesc{ID: 1, Name: "a", Type: thriftimpl.TypeI64})
	return Method{Name: "m", Args: args, Result: result}, Method{Name: "o", Args: args}
}

// outcomeOf returns the name that the table has for the error of a call.
func outcomeOf(m Method, err error) string {
	var refusal *message.Refusal
	switch {
	case err == nil && m.IsOneway():
		return "sent"
	case err == nil:
		return "reply"
	case errors.As(err, &refusal) && refusal.Type == message.BadSequenceID:
		return "stray"
	case errors.Is(err, ErrNotSent):
		return "unsent"
	case errors.Is(err, context.Canceled), errors.Is(err, ErrReturned):
		return "given up"
	}
	return "failed"
}

// TestCallStates walks a call through all sequences of events on a connection.
func TestCallStates(t *testing.T) {
	m := table(t, "A call of a client on a connection")
	twoWay, oneway := testMethods()
	length := testmode.Of(4, 5)
	for _, method := range []Method{twoWay, oneway} {
		for _, way := range []string{"EOF", "garbage", "Close", "write"} {
			m.walks(t, length, func(t *testing.T, walk []string) { walkCall(t, m, method, way, walk) })
		}
	}
	m.complete(t)
}

// walkCall makes a call of method and lets the events happen; way is how the connection fails.
func walkCall(t *testing.T, m *machine, method Method, way string, walk []string) {
	twoWay, _ := testMethods()
	opts := testConfig(slog.DiscardHandler)
	nc := newSteered()
	c := newConnection(nc, &opts, nil)
	start := func(ctx context.Context, over chan struct{}, m Method) (nocopy.Struct, chan string) {
		args, returned := nocopy.Struct(thriftimpl.New(m.Args)), make(chan string, 1)
		thriftimpl.Struct(args).Offer()
		thriftimpl.Struct(args).Claim(m.Args)
		go func() {
			reply, err := c.call(ctx, over, &Call{Method: m, Args: args})
			reply.Body.Release()
			thriftimpl.Struct(args).End()
			returned <- outcomeOf(m, err)
		}()
		synctest.Wait()
		return args, returned
	}
	// The first call keeps the connection busy: the second one is queued.
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	over := make(chan struct{})
	_, first := start(context.Background(), nil, twoWay)
	args, second := start(ctx, over, method)
	c.mu.Lock()
	p := c.queue[0]
	c.mu.Unlock()
	const id = 2 // the second call's, once it has one

	state, outcome, want := "queued", "", ""
	for i, event := range walk {
		cell, how, _ := strings.Cut(m.after(t, state, event), ": ")
		if how != "" {
			want = how
		}
		switch state = cell; {
		case event == "write ends":
			nc.writeEnds(nil)
			nc.replies(twoWay, 1) // the first call is out of the way
		case event == "reply":
			nc.replies(method, id)
		case event == "stray":
			nc.replies(method, -7)
		case event == "given up" && i%2 == 0:
			cancel()
		case event == "given up":
			if over != nil {
				close(over)
				over = nil
			}
		case event != "fails":
			t.Fatal("no such event: ", event)
		case way == "EOF":
			nc.end()
		case way == "garbage":
			nc.reads <- []byte("\xff\xff\xff\xff garbage")
		case way == "Close", !nc.inside:
			c.close(ErrClosed)
		case way == "write": // that is two events
			cell, how, _ := strings.Cut(m.after(t, state, "write ends"), ": ")
			if state = cell; how != "" {
				want = how
			}
			if nc.writeEnds(io.ErrShortWrite); want == "failed" {
				want = "unsent" // not all of it was written
			}
		}
		synctest.Wait()
		select {
		case outcome = <-second:
		default:
		}
		if method.IsOneway() && state == "writing" {
			state = "oneway"
		}
		bytes := 0
		for _, q := range c.queue {
			bytes += q.size
		}
		if bytes != c.queuedBytes {
			t.Fatalf("%v: after %d, %d bytes are queued, not %d", walk, i+1, bytes, c.queuedBytes)
		}
		if got := stateOf(c, p, method); got != state {
			t.Fatalf("%s, %s: %v: after %d it is %s, not %s", method.Name, way, walk, i+1, got, state)
		}
		switch ended := state == "finished" || state == "dropped"; {
		case !ended && outcome != "":
			t.Fatalf("%s, %s: %v: after %d it has returned: %s", method.Name, way, walk, i+1, outcome)
		case ended && outcome != want:
			t.Fatalf("%s, %s: %v: after %d: %q, not %q", method.Name, way, walk, i+1, outcome, want)
		}
	}

	// After any sequence, all calls end, once.
	c.close(ErrClosed)
	for synctest.Wait(); nc.inside; {
		nc.writeEnds(nil)
	}
	c.wait()
	synctest.Wait()
	if outcome == "" {
		<-second
	}
	<-first
	if len(c.calls)+len(c.queue)+len(c.batched) != 0 || c.queuedBytes != 0 || c.writing {
		t.Fatalf("%v: left over: %d calls, %d queued (%d bytes), %d being written", walk, len(c.calls), len(c.queue), c.queuedBytes, len(c.batched))
	}
	if !released(args) {
		t.Fatalf("%v: the arguments were not released", walk)
	}
}

// released reports whether the message of s was released.
func released(s nocopy.Struct) (is bool) {
	defer func() { is = recover() != nil }()
	s.Message()
	return false
}

// stateOf returns a call's state by which of the connection's lists hold it.
func stateOf(c *connection, p *pending, m Method) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	waiting := false
	for _, q := range c.calls {
		waiting = waiting || q == p
	}
	switch inOut := slices.Contains(c.batched, p); {
	case slices.Contains(c.queue, p):
		return "queued"
	case inOut && waiting:
		return "writing"
	case inOut && p.state == callWriting && m.IsOneway():
		return "oneway"
	case inOut && p.state == callDropped:
		return "dropped"
	case inOut:
		return "answered"
	case waiting:
		return "written"
	}
	return "finished"
}

// TestConnectionStates walks a client's only connection through all sequences of events.
func TestConnectionStates(t *testing.T) {
	m := table(t, "A connection of a client")
	length := testmode.Of(4, 5)
	m.walks(t, length, func(t *testing.T, walk []string) { walkConnection(t, m, walk) })
	m.complete(t)
}

// carry makes a call as package rpc does, and returns its error.
func carry(c *Pool, m Method) error {
	args := newTestArgs(m)
	defer args.End()
	args.Claim(m.Args)
	if err := c.Enter(context.Background(), nil); err != nil {
		return err
	}
	defer c.Leave()
	reply, err := c.Carry(context.Background(), nil, Call{Method: m, Args: nocopy.Struct(args)})
	reply.Body.Release()
	return err
}

// newTestArgs returns arguments that can be claimed.
func newTestArgs(m Method) thriftimpl.Struct {
	args := thriftimpl.New(m.Args)
	args.Offer()
	return args
}

func walkConnection(t *testing.T, m *machine, walk []string) {
	twoWay, _ := testMethods()
	type dialled struct {
		nc  *steered
		err error
	}
	dials := make(chan dialled, 1)
	current := newSteered()
	dials <- dialled{nc: current}
	o := testConfig(slog.DiscardHandler)
	o.PoolSize = 1
	o.DialFunc = func(ctx context.Context, _, _ string) (net.Conn, error) {
		select {
		case d := <-dials:
			if d.err != nil {
				return nil, d.err
			}
			return d.nc, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	c, err := DialPool(context.Background(), "steered", "", o)
	if err != nil {
		t.Fatal(err)
	}
	all := []*steered{current}
	calls, closes := 0, 0
	returned, closed := make(chan error, 100), make(chan error, 100)

	state, queued, waiting := "idle", 0, 0
	for i, event := range walk {
		one, more, choice := strings.Cut(m.after(t, state, event), ", ")
		if choice && queued > 0 {
			one = more
		}
		before := state
		state = one
		switch event {
		case "call":
			calls++
			go func() {
				returned <- carry(c, twoWay)
			}()
			switch {
			case before == "writing":
				queued++
			case state == "dialling":
				waiting++
			}
		case "dialled", "not dialled":
			if before != "dialling" {
				break
			}
			time.Sleep(2 * maxDialPause) // the pause, in the bubble's time
			if event == "not dialled" {
				dials <- dialled{err: errors.New("not dialled")}
				waiting = 0
				break
			}
			current = newSteered()
			all = append(all, current)
			dials <- dialled{nc: current}
			queued, waiting = waiting-1, 0
		case "write ends":
			current.writeEnds(nil)
			queued = 0
		case "fails":
			if before == "idle" || before == "writing" {
				current.end()
				waiting, queued = waiting+queued, 0
			}
		case "Close":
			closes++
			go func() { closed <- c.Close() }()
			queued, waiting = 0, 0
		}
		synctest.Wait()
		if got := connectionState(c); got != state {
			t.Fatalf("%v: after %d it is %s, not %s", walk, i+1, got, state)
		}
	}
	// In any state, Close ends everything.
	closes++
	go func() { closed <- c.Close() }()
	for synctest.Wait(); ; synctest.Wait() {
		i := slices.IndexFunc(all, func(nc *steered) bool { return nc.inside })
		if i < 0 {
			break
		}
		all[i].writeEnds(net.ErrClosed)
	}
	for range closes {
		<-closed
	}
	for range calls {
		if err := <-returned; err == nil {
			t.Errorf("%v: a call succeeds, to which nobody has replied", walk)
		}
	}
	if n := c.Inside(); n.InFlight+n.Using != 0 {
		t.Fatalf("%v: left over: %d calls in flight, %d connections' places", walk, n.InFlight, n.Using)
	}
}

// connectionState returns the state of a client's only connection.
func connectionState(c *Pool) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.conns[0]
	switch {
	case c.closed:
		return "closed"
	case p.dialing != nil:
		return "dialling"
	case p.conn == nil:
		return "unconnected"
	}
	p.conn.mu.Lock()
	defer p.conn.mu.Unlock()
	switch busy := p.conn.writing; {
	case p.conn.failed.Load() && busy:
		return "failing"
	case p.conn.failed.Load():
		return "unconnected"
	case busy:
		return "writing"
	}
	return "idle"
}
