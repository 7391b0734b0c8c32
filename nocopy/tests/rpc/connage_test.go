package rpc_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
)

// pipes is a net.Listener of net.Pipes, for synctest.
type pipes chan net.Conn

func (l pipes) Accept() (net.Conn, error) {
	if nc, ok := <-l; ok {
		return nc, nil
	}
	return nil, net.ErrClosed
}

func (l pipes) Close() error {
	defer func() { recover() }() // it is closed already
	close(l)
	return nil
}

func (l pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe"} }

func (l pipes) dial() net.Conn {
	client, server := net.Pipe()
	l <- server
	return client
}

// aging is a connection to a server in a bubble, with the bytes that its client has received.
type aging struct {
	t     *testing.T
	srv   *rpc.Server
	h     *handler
	nc    net.Conn
	start time.Time

	mu     sync.Mutex
	got    bytes.Buffer
	closed time.Duration // after how long the server has closed the connection; 0 if it has not
}

func (a *aging) send(b []byte) error {
	_, err := a.nc.Write(b)
	return err
}

// until sleeps until as much time has passed since the connection began.
func (a *aging) until(d time.Duration) {
	time.Sleep(time.Until(a.start.Add(d)))
	synctest.Wait()
}

// state returns the received messages and when the connection was closed.
func (a *aging) state() (string, time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.got.String(), a.closed
}

// closesBetween checks that the connection is closed between these times.
func (a *aging) closesBetween(from, to time.Duration) {
	a.t.Helper()
	if from > 0 {
		a.until(from - 1)
		if _, closed := a.state(); closed != 0 {
			a.t.Fatalf("closed after %v, not before %v", closed, from)
		}
	}
	a.until(to)
	if _, closed := a.state(); closed == 0 {
		a.t.Fatalf("not closed after %v", to)
	}
}

// received checks the received messages.
func (a *aging) received(want ...[]byte) {
	a.t.Helper()
	if got, _ := a.state(); got != string(bytes.Join(want, nil)) {
		a.t.Errorf("received %q, want %q", got, bytes.Join(want, nil))
	}
}

// TestConnAge: a connection that has reached its age ends once it is quiet, in any state. When the
// grace is over it always ends, with the replies to calls under way.
func TestConnAge(t *testing.T) {
	const (
		age   = 10 * time.Second
		early = age * 9 / 10
		late  = age*11/10 + 60*time.Millisecond
		grace = 5 * time.Second
		// how long a connection is without a call before it is closed, from the call's end on
		quietTime = 49 * time.Millisecond
	)
	add := func(i int) []byte { return frame(strict(call, "add", i, addArgs(int64(i), 1))) }
	sum := func(i int) []byte { return frame(strict(reply, "add", i, sumResult(int64(i)+1))) }
	slow := func(name string, ms int) []byte {
		if name == "notify" {
			args := echo.NewEchoNotifyArgs()
			args.SetText("slow")
			args.SetDelayMs(int32(ms))
			return frame(strict(oneway, name, 7, args.Message().Bytes()))
		}
		args := echo.NewEchoEchoArgs()
		args.SetDelayMs(int32(ms))
		args.SetPayload([]byte("p"))
		return frame(strict(call, name, 7, args.Message().Bytes()))
	}
	echoed := func() []byte {
		r := echo.NewEchoEchoResult()
		r.SetSuccess([]byte("p"))
		return frame(strict(reply, "echo", 7, r.Message().Bytes()))
	}()
	fail := func() []byte {
		args := echo.NewEchoFailArgs()
		args.SetHow("until cancelled")
		return frame(strict(call, "fail", 9, args.Message().Bytes()))
	}()
	for _, c := range []struct {
		name string
		srv  *rpc.Server
		run  func(a *aging)
	}{
		{"idle", &rpc.Server{}, func(a *aging) { a.closesBetween(early, late) }},
		{"idle, without grace", &rpc.Server{MaxConnAgeGrace: -1}, func(a *aging) { a.closesBetween(early, late) }},
		{"a shorter IdleTimeout", &rpc.Server{IdleTimeout: time.Second}, func(a *aging) { a.closesBetween(time.Second, time.Second+5*time.Millisecond) }},
		{"a longer IdleTimeout", &rpc.Server{IdleTimeout: time.Hour}, func(a *aging) { a.closesBetween(early, late) }},
		{"used before", &rpc.Server{}, func(a *aging) {
			a.send(add(1))
			a.closesBetween(early, late)
			a.received(sum(1))
		}},
		{"during a call", &rpc.Server{}, func(a *aging) {
			a.until(early - 1)
			a.send(slow("echo", 3000))
			a.closesBetween(early+3*time.Second+quietTime, early+3*time.Second+200*time.Millisecond)
			a.received(echoed)
		}},
		{"during a call, strictly one at a time", &rpc.Server{Concurrency: 1}, func(a *aging) {
			a.until(early - 1)
			a.send(slow("echo", 3000))
			a.send(add(1))
			a.closesBetween(early+3*time.Second+quietTime, early+3*time.Second+200*time.Millisecond)
			a.received(echoed, sum(1))
		}},
		{"during a oneway call", &rpc.Server{}, func(a *aging) {
			a.until(early - 1)
			a.send(slow("notify", 3000))
			a.closesBetween(early+3*time.Second+quietTime, early+3*time.Second+200*time.Millisecond)
			a.received()
		}},
		{"while a request arrives", &rpc.Server{}, func(a *aging) {
			a.until(early - 1)
			a.send(add(1)[:10])
			a.until(late + 2*time.Second)
			a.send(add(1)[10:])
			a.closesBetween(late+2*time.Second, late+2*time.Second+60*time.Millisecond)
			a.received(sum(1))
		}},
		{"while a request arrives that does not end", &rpc.Server{ReadTimeout: 3 * time.Second}, func(a *aging) {
			a.until(early - 1)
			a.send(add(1)[:10])
			a.closesBetween(early+3*time.Second-1, early+3*time.Second)
			a.received()
		}},
		{"one call after the other, never quiet", &rpc.Server{}, func(a *aging) {
			n := 0
			for a.send(add(n)) == nil {
				time.Sleep(20 * time.Millisecond)
				n++
			}
			a.closesBetween(0, 16*time.Second)
			if _, closed := a.state(); closed < early+grace-quietTime-time.Millisecond || closed > late+grace {
				a.t.Errorf("closed after %v", closed)
			}
			var want [][]byte
			for i := range n {
				want = append(want, sum(i))
			}
			a.received(want...)
		}},
		{"pipelined, never quiet, without an end of the grace", &rpc.Server{MaxConnAgeGrace: -1}, func(a *aging) {
			var want [][]byte
			for i := range 1000 {
				a.send(bytes.Join([][]byte{add(2 * i), add(2*i + 1)}, nil))
				want = append(want, sum(2*i), sum(2*i+1))
				time.Sleep(40 * time.Millisecond)
			}
			a.closesBetween(0, 41*time.Second)
			a.received(want...)
		}},
		{"a call longer than the grace", &rpc.Server{}, func(a *aging) {
			a.until(early - 1)
			a.send(fail)
			<-a.h.waiting
			a.until(early + grace - 1)
			select {
			case <-a.h.waiting:
				a.t.Error("its context has ended too early")
			default:
			}
			<-a.h.waiting
			a.closesBetween(0, late+grace)
			a.received(frame(strict(exception, "fail", 9, failure("context canceled", 6))))
		}},
		{"a call of a handler that does not end with its context", &rpc.Server{}, func(a *aging) {
			a.until(early - 1)
			a.send(slow("echo", 10_000))
			a.closesBetween(early-1+10*time.Second, early+10*time.Second)
			a.received(echoed)
		}},
		{"Shutdown after the age", &rpc.Server{}, func(a *aging) {
			a.until(early - 1)
			a.send(slow("echo", 3000))
			a.until(late)
			if err := a.srv.Shutdown(context.Background()); err != nil {
				a.t.Error(err)
			}
			a.closesBetween(0, early+3*time.Second)
			a.received(echoed)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := &aging{t: t, srv: c.srv, h: &handler{waiting: make(chan struct{})}}
				q := new(quiet)
				a.srv.Processor, a.srv.Logger, a.srv.MaxConnAge = echo.NewEchoProcessor(a.h), q.logger(), age
				if a.srv.MaxConnAgeGrace == 0 {
					a.srv.MaxConnAgeGrace = grace
				}
				l := make(pipes)
				var served sync.WaitGroup
				served.Go(func() { a.srv.Serve(l) })
				a.nc, a.start = l.dial(), time.Now()
				served.Go(func() {
					var b [1 << 10]byte
					for {
						n, err := a.nc.Read(b[:])
						a.mu.Lock()
						a.got.Write(b[:n])
						if err != nil {
							if a.closed = time.Since(a.start); err != io.EOF {
								t.Errorf("reading: %v", err)
							}
							a.mu.Unlock()
							return
						}
						a.mu.Unlock()
					}
				})
				c.run(a)
				a.srv.Close()
				served.Wait()
				if s := q.String(); s != "" && c.srv.ReadTimeout == 0 {
					t.Errorf("that is nothing to log: %s", s)
				}
			})
		})
	}
}

// TestConnAgeJitter: connections made at the same time do not end at the same time.
func TestConnAgeJitter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := &rpc.Server{Processor: echo.NewEchoProcessor(&handler{}), MaxConnAge: 1000 * time.Second}
		l := make(pipes)
		var all sync.WaitGroup
		all.Go(func() { srv.Serve(l) })
		start := time.Now()
		var mu sync.Mutex
		ended := map[int]int{}
		for range 100 {
			nc := l.dial()
			all.Go(func() {
				io.Copy(io.Discard, nc)
				mu.Lock()
				ended[int(time.Since(start).Seconds())]++
				mu.Unlock()
			})
		}
		time.Sleep(1101 * time.Second)
		srv.Close()
		all.Wait()
		for second, n := range ended {
			if n > 10 || second < 900 || second > 1100 {
				t.Errorf("%d of 100 connections have ended after %d s", n, second)
			}
		}
	})
}

// TestConnAgeOfClients: a client's calls go on while its connections are closed from time to time:
// they go to new ones.
func TestConnAgeOfClients(t *testing.T) {
	t.Parallel()
	var opened, open counter
	srv := &rpc.Server{MaxConnAge: 100 * time.Millisecond, Stats: &rpc.Stats{Conns: func(n int) {
		open.add(n)
		opened.add(max(n, 0))
	}}}
	c := echo.NewEchoClient(dial(t, serve(t, srv, &handler{}), rpc.PoolSize(1)))
	for i := range 5 {
		time.Sleep(200 * time.Millisecond) // nothing is under way when it is closed
		if _, err := c.Add(bg, func(args echo.EchoAddArgs) { args.SetA(int64(i)) }); err != nil {
			// The client had not noticed yet, on a machine that is busy
			if !errors.Is(err, rpc.ErrConnLost) {
				t.Fatal(err)
			}
		}
	}
	if opened.get() < 2 {
		t.Errorf("%d connections in all", opened.get())
	}
	settles(t, "the old connections are closed", func() bool { return open.get() <= 1 })
}

// keepAliveConn is a connection that keeps what it was told of keepalive.
type keepAliveConn struct {
	net.Conn
	set chan net.KeepAliveConfig
}

func (c keepAliveConn) SetKeepAliveConfig(k net.KeepAliveConfig) error {
	c.set <- k
	return nil
}

// TestKeepAliveSettings: a server's connections get its KeepAlive, or the default; a client's the
// option, or none.
func TestKeepAliveSettings(t *testing.T) {
	usual := net.KeepAliveConfig{Enable: true, Idle: 15 * time.Second, Interval: 15 * time.Second, Count: 4}
	other := net.KeepAliveConfig{Enable: true, Idle: time.Second, Interval: 2 * time.Second, Count: 3}
	never := net.KeepAliveConfig{Idle: -1}
	for _, want := range []net.KeepAliveConfig{{}, other, never} {
		t.Run(fmt.Sprint(want), func(t *testing.T) {
			l := make(pipes)
			srv := &rpc.Server{KeepAlive: want}
			serveOn(t, srv, &handler{}, l)
			set := make(chan net.KeepAliveConfig, 2)
			c, err := rpc.Dial(bg, "", "", rpc.KeepAlive(want), rpc.Dialer(func(context.Context, string, string) (net.Conn, error) {
				client, server := net.Pipe()
				l <- keepAliveConn{server, set}
				if got := <-set; want == (net.KeepAliveConfig{}) && got != usual || want != (net.KeepAliveConfig{}) && got != want {
					t.Errorf("the server has set %v", got)
				}
				return keepAliveConn{client, set}, nil
			}))
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if want == (net.KeepAliveConfig{}) {
				if len(set) > 0 {
					t.Errorf("the client has set %v", <-set)
				}
			} else if got := <-set; got != want {
				t.Errorf("the client has set %v", got)
			}
		})
	}
}
