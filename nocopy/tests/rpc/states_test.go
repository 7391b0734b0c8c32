package rpc_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
)

// connStates holds the states into which its client and its handlers may bring a connection of a
// server.
var connStates = []string{"idle", "part", "handling", "relieved", "limit", "queued", "ordered", "oneway", "half-closed", "refused", "closing"}

// connEvents holds what may happen in such a state.
var connEvents = []string{
	"request", "oneway request", "unknown method", "bad args", "garbage", "EOF", "reset", "grace",
	"result", "error", "exception", "panic", "exit", "release", "Shutdown", "Close",
}

// answered is an expected reply: the type of the message and its sequence id.
type answered struct {
	typ   byte
	seqid int
}

// stateTest is a server with one connection.
type stateTest struct {
	srv      *rpc.Server
	addr     string
	nc       *net.TCPConn
	log      *quiet
	added    chan struct{}
	begun    chan context.Context // of handlers that are parked
	how      chan string          // tells a parked handler how to go on
	left     chan bool            // receives whether the handler's context had ended
	shutdown chan error           // nil: not begun
	want     []answered
	parked   bool // a handler is parked
	oneway   bool // the parked handler serves a oneway call
	pause    time.Duration
	early    answered // what is answered only if it comes before a connection that closes is sealed
	sending  bool     // the client has not closed its side
	reset    bool
	closed   bool // the server
}

func newStateTest(t *testing.T, state, event string, pause time.Duration) *stateTest {
	s := &stateTest{pause: pause, begun: make(chan context.Context, 1), how: make(chan string), left: make(chan bool, 1), sending: true}
	s.log, s.added = new(quiet), make(chan struct{}, 10)
	h := &custom{added: s.added}
	h.put = func(ctx context.Context, args echo.EchoPutArgs, result echo.EchoPutResult) error {
		s.begun <- ctx
		how := <-s.how
		s.left <- ctx.Err() != nil
		switch how {
		case "error":
			return errors.New("an error")
		case "exception":
			return conflict("declared")
		case "panic":
			panic("a panic")
		case "exit":
			runtime.Goexit()
		case "release":
			args.Release()
		}
		result.NewSuccess()
		return nil
	}
	h.notify = func(ctx context.Context, args echo.EchoNotifyArgs) error {
		if args.GetText() == "quick" {
			return nil
		}
		s.begun <- ctx
		how := <-s.how
		s.left <- ctx.Err() != nil
		switch how {
		case "error", "exception":
			return errors.New("an error")
		case "panic":
			panic("a panic")
		case "exit":
			runtime.Goexit()
		case "release":
			args.Release()
		}
		return nil
	}
	s.srv = &rpc.Server{Processor: echo.NewEchoProcessor(h), MaxConns: 1, HalfCloseTimeout: time.Minute, Logger: s.log.logger()}
	if state == "limit" || state == "queued" {
		s.srv.Concurrency = 1
	}
	// In other states the grace would begin when the test reads the replies
	if event == "grace" && state == "half-closed" {
		s.srv.HalfCloseTimeout = time.Millisecond
	}
	s.addr = serve(t, s.srv, nil)
	s.nc = dialRaw(t, s.addr).(*net.TCPConn)
	return s
}

func addCall(id int) []byte { return frame(strict(call, "add", id, addArgs(1, 2))) }

// enter brings the connection into the state.
func (s *stateTest) enter(t *testing.T, state string) (ctx context.Context) {
	put := frame(strict(call, "put", 1, []byte("\x0b\x00\x02\x00\x00\x00\x00\x00")))
	begin := func(request []byte, isOneway bool) {
		send(t, s.nc, request)
		ctx = <-s.begun
		if s.parked, s.oneway = true, isOneway; !isOneway {
			s.want = append(s.want, answered{reply, 1})
		}
	}
	settle := func() { time.Sleep(s.pause) }
	switch state {
	case "idle":
	case "part":
		send(t, s.nc, addCall(2)[:20])
		settle()
	case "handling": // the reader is in it, unless the machine is slow
		begin(put, false)
	case "oneway":
		begin(frame(strict(oneway, "notify", 1, []byte{0})), true)
		settle()
	default:
		begin(put, false)
		settle()
	}
	switch state {
	case "queued":
		send(t, s.nc, addCall(2))
		s.want = append(s.want, answered{reply, 2})
		settle()
	case "ordered":
		send(t, s.nc, addCall(2))
		s.want = append(s.want, answered{reply, 2})
		<-s.added
		settle()
	case "half-closed":
		s.nc.CloseWrite()
		s.sending = false
		settle()
	case "refused":
		send(t, s.nc, frame([]byte("\x80\x07garbage, garbage")))
		logs(t, s.log, "not a Thrift message")
	case "closing":
		s.close(t)
		settle() // the system drops new bytes then, unless the machine is slow
	}
	return ctx
}

// happen makes the event happen and notes the answers that are due because of it. It reports
// whether the event can happen, and whether it ends the context of the parked handler.
func (s *stateTest) happen(t *testing.T, state, event string) (possible, ends bool) {
	handles := state != "refused" && state != "closing"
	request := func(b []byte, typ byte) {
		if state == "part" { // the server has the beginning of another already
			b = addCall(2)[20:]
			if typ = reply; event == "bad args" || event == "garbage" {
				b = bytes.Clone(b)
				b[10], typ = 9, exception // the second field is of no known type
			}
		}
		send(t, s.nc, b)
		switch due := (answered{typ, 2 + 7*btoi(state != "part")}); {
		case typ == 0:
		case handles:
			s.want = append(s.want, due)
		case state == "closing":
			s.early = due
		}
	}
	switch event {
	case "request", "oneway request", "unknown method", "bad args", "garbage":
		if !s.sending {
			return false, false
		}
		switch event {
		case "request":
			request(addCall(9), reply)
		case "oneway request":
			request(frame(strict(oneway, "notify", 9, []byte("\x0b\x00\x01\x00\x00\x00\x05quick\x00"))), 0)
		case "unknown method":
			request(frame(strict(call, "nope", 9, []byte{0})), exception)
		case "bad args":
			request(frame(strict(call, "add", 9, []byte{9, 0, 1, 0})), exception)
		case "garbage":
			request(frame([]byte("\x80\x07garbage, garbage")), 0)
		}
	case "EOF":
		if !s.sending {
			return false, false
		}
		s.nc.CloseWrite()
		s.sending = false
	case "reset":
		s.nc.SetLinger(0)
		s.nc.Close()
		s.reset = true
		return true, s.parked && !s.oneway
	case "grace":
		time.Sleep(10 * time.Millisecond)
		return true, state == "half-closed"
	case "Shutdown":
		if state == "closing" {
			return false, false
		}
		s.close(t) // calls that have arrived are still handled
	case "Close":
		s.srv.Close()
		s.closed = true
		s.want = nil
		return true, s.parked
	default: // the handler returns
		if !s.parked {
			return false, false
		}
		if !s.oneway && event != "result" && event != "exception" {
			s.want[0].typ = exception
		}
		s.how <- event
		s.parked = false
		if <-s.left {
			t.Error("its context had ended")
		}
	}
	return true, false
}

// close calls Shutdown in a goroutine and returns when that has stopped all connections' reading.
func (s *stateTest) close(t *testing.T) {
	s.shutdown = make(chan error, 1)
	go func() { s.shutdown <- s.srv.Shutdown(bg) }()
	for range 1000 {
		nc, err := net.Dial("tcp", s.addr)
		if err != nil {
			break
		}
		nc.Close()
		time.Sleep(time.Millisecond)
	}
	if err := s.srv.Serve(listener(t)); err != rpc.ErrServerClosed {
		t.Error(err)
	}
}

func listener(t *testing.T) net.Listener {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// TestServerStates walks through every state of a connection and everything that may happen in it:
// the replies are those that the client is owed, the handler's context ends if it must and only
// then, and the connection's place is free in the end.
func TestServerStates(t *testing.T) {
	t.Parallel()
	for _, state := range connStates {
		for _, event := range connEvents {
			t.Run(fmt.Sprint(state, ", ", event), func(t *testing.T) {
				for pause := 3 * time.Millisecond; ; pause *= 4 {
					s := newStateTest(t, state, event, pause)
					ctx := s.enter(t, state)
					possible, ends := s.happen(t, state, event)
					if s.finish(t, ctx, ends && possible) {
						break
					} else if pause > 10*time.Second {
						t.Fatal("a connection that closes still takes requests")
					}
				}
			})
		}
	}
}

// finish lets parked handlers go on, reads all replies, and checks that nothing is left over. It
// reports false if the event came before the state: all is to be tried again, with longer pauses.
func (s *stateTest) finish(t *testing.T, ctx context.Context, ends bool) (ok bool) {
	if ends {
		select {
		case <-ctx.Done():
		case <-time.After(time.Minute):
			t.Error("the handler's context has not ended")
		}
	}
	if s.parked {
		if !ends && ctx.Err() != nil {
			t.Error("the handler's context has ended")
		}
		s.how <- "result"
	}
	if !s.reset {
		if s.sending {
			s.nc.CloseWrite()
		}
		got, err := answers(s.nc)
		if s.early.typ != 0 && slices.Equal(got, append(s.want, s.early)) {
			<-s.shutdown
			return false
		}
		if !slices.Equal(got, s.want) {
			t.Errorf("the replies are %v (%v), want %v", got, err, s.want)
		}
		s.nc.Close()
	}
	if s.shutdown != nil {
		if err := <-s.shutdown; err != nil {
			t.Errorf("Shutdown: %v", err)
		}
		return true
	}
	if s.closed { // another server may listen at its address by now
		return true
	}
	nc, err := net.Dial("tcp", s.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	nc.SetDeadline(time.Now().Add(time.Minute))
	send(t, nc, addCall(1))
	expect(t, nc, frame(strict(reply, "add", 1, sumResult(3))))
	return true
}

// answers reads all replies until the server closes the connection.
func answers(nc net.Conn) (list []answered, err error) {
	all, err := io.ReadAll(nc)
	for len(all) >= 4 {
		n := int(binary.BigEndian.Uint32(all))
		if len(all) < 4+n {
			break
		}
		b := all[4 : 4+n]
		name := int(binary.BigEndian.Uint32(b[4:]))
		list = append(list, answered{b[3], int(binary.BigEndian.Uint32(b[8+name:]))})
		all = all[4+n:]
	}
	if len(all) > 0 && err == nil {
		err = fmt.Errorf("%d bytes more", len(all))
	}
	return list, err
}
