package rpc_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/emersion/go-sasl"

	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
)

// who is where a connection's context keeps who has logged in.
type who struct{ name string }

type whoKey struct{}

// stepped is both sides of a mechanism of n rounds. Each round checks the one before. The last
// challenge comes with the end.
type stepped struct {
	n    int
	step int
	busy *atomic.Bool // a login is under way; nil: that is not checked
}

func (s *stepped) Start() (string, []byte, error) {
	if s.busy != nil && s.busy.Swap(true) {
		return "", nil, errors.New("two logins at the same time")
	}
	s.step = 0
	return "STEPPED", nil, nil
}

func (s *stepped) Next(challenge []byte) ([]byte, error) {
	if s.step++; string(challenge) != fmt.Sprint("challenge ", s.step) {
		return nil, fmt.Errorf("challenge %d is %q", s.step, challenge)
	}
	if s.step == s.n && s.busy != nil {
		s.busy.Store(false)
	}
	return fmt.Append(nil, "response ", s.step), nil
}

type steppedServer struct{ n, step int }

func (s *steppedServer) Next(response []byte) ([]byte, bool, error) {
	if s.step == 0 != (response == nil) || s.step > 0 && string(response) != fmt.Sprint("response ", s.step) {
		return nil, false, fmt.Errorf("response %d is %q", s.step, response)
	}
	s.step++
	return fmt.Append(nil, "challenge ", s.step), s.step == s.n, nil
}

// saslServer returns a server whose clients must log in, and whose method fail says who has.
func saslServer() *rpc.Server {
	h := &custom{fail: func(ctx context.Context, _ echo.EchoFailArgs, _ echo.EchoFailResult) error {
		return &rpc.ApplicationException{Message: "hello, " + ctx.Value(whoKey{}).(*who).name}
	}}
	return &rpc.Server{
		Processor: echo.NewEchoProcessor(h),
		ConnContext: func(ctx context.Context, _ net.Conn) context.Context {
			return context.WithValue(ctx, whoKey{}, new(who))
		},
		SASL: func(ctx context.Context, mechanism string) rpc.SASLServer {
			note := func(name string) error { ctx.Value(whoKey{}).(*who).name = name; return nil }
			switch mechanism {
			case sasl.Plain:
				return sasl.NewPlainServer(func(_, name, password string) error {
					if password != "secret of "+name {
						return errors.New("wrong password of " + name)
					}
					return note(name)
				})
			case sasl.Anonymous:
				return sasl.NewAnonymousServer(func(trace string) error { return note("nobody " + trace) })
			case "STEPPED":
				note("stepped")
				return &steppedServer{n: 3}
			}
			return nil
		},
	}
}

func greeting(c *rpc.Client) string {
	_, err := echo.NewEchoClient(c).Fail(bg, nil)
	return fmt.Sprint(err)
}

// TestSASL: clients that log in make calls, over each kind of socket; the server knows who they
// are. Others are refused on both sides.
func TestSASL(t *testing.T) {
	t.Parallel()
	cert, pool := certificate(t)
	unix := filepath.Join(t.TempDir(), "s")
	for _, on := range []struct {
		network, addr string
		secured       bool
	}{{"tcp", "127.0.0.1:0", false}, {"tcp", "127.0.0.1:0", true}, {"unix", unix, false}} {
		q := new(quiet)
		srv := saslServer()
		srv.Logger = q.logger()
		srv.SharedMemory = rpc.CopyFromPeer // without effect
		opts := []rpc.Option{rpc.Logger(new(quiet).logger()), rpc.CopyFromPeer, rpc.DialTimeout(time.Minute)}
		if on.secured {
			srv.TLS = &tls.Config{Certificates: []tls.Certificate{cert}}
			opts = append(opts, rpc.TLS(&tls.Config{RootCAs: pool}))
		}
		l, err := net.Listen(on.network, on.addr)
		if err != nil {
			t.Fatal(err)
		}
		serveOn(t, srv, nil, l)
		addr := l.Addr().String()
		for _, c := range []struct {
			m    rpc.SASLClient
			want string // in the greeting, or in the error of Dial
			log  string // of a refused login
		}{
			{sasl.NewPlainClient("", "ann", "secret of ann"), "hello, ann", ""},
			{sasl.NewAnonymousClient(""), "hello, nobody ", ""},
			{sasl.NewAnonymousClient("trace"), "hello, nobody trace", ""},
			{&stepped{n: 3}, "hello, stepped", ""},
			{sasl.NewPlainClient("", "eve", "secret of ann"), "authentication failed", "wrong password of eve"},
			{sasl.NewLoginClient("ann", "secret"), "unknown mechanism", "unknown mechanism"},
			{&stepped{n: 2}, "", ""}, // it does not check the last challenge
			{mechanism{name: strings.Repeat("M", 21)}, "not 21", ""},
			{mechanism{name: "STEPPED", response: make([]byte, 64<<10+1)}, "a response of 65537 bytes", ""},
			{mechanism{name: "PLAIN", response: []byte{}}, "authentication failed", "invalid response"},
		} {
			client, err := rpc.Dial(bg, on.network, addr, append(opts, rpc.SASL(c.m))...)
			if err != nil {
				if c.m.(interface {
					Start() (string, []byte, error)
				}) == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("%T: %v, not %q", c.m, err, c.want)
				}
				if c.log == "" && c.want == "" || strings.HasPrefix(c.want, "hello") {
					t.Errorf("%T: %v", c.m, err)
				}
			} else {
				if got := greeting(client); !strings.Contains(got, c.want) || !strings.HasPrefix(c.want, "hello") && c.want != "" {
					t.Errorf("%T: %s, not %q", c.m, got, c.want)
				}
				client.Close()
			}
			if c.log != "" {
				logs(t, q, c.log)
			}
		}
	}
}

// mechanism is a client's side that begins with a name and a response.
type mechanism struct {
	name     string
	response []byte
}

func (m mechanism) Start() (string, []byte, error) { return m.name, m.response, nil }

func (m mechanism) Next(challenge []byte) ([]byte, error) {
	return nil, fmt.Errorf("unexpected challenge %q", challenge)
}

// TestSASLOneAtATime: a mechanism begins one login after the other, though connections are made at
// the same time.
func TestSASLOneAtATime(t *testing.T) {
	t.Parallel()
	srv := saslServer()
	srv.ReadTimeout = -1 // a login that is cut off would seem to go on
	c := dial(t, serve(t, srv, nil), rpc.SASL(&stepped{n: 3, busy: new(atomic.Bool)}), rpc.PoolSize(8), rpc.DialTimeout(time.Hour))
	var wg sync.WaitGroup
	for range 32 {
		wg.Go(func() {
			if got := greeting(c); !strings.Contains(got, "hello, stepped") {
				t.Error(got)
			}
		})
	}
	wg.Wait()
}

func saslMessage(status byte, payload string) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{status}, uint32(len(payload))), payload...)
}

// TestSASLEmptyResponse: an empty response to a challenge is a response, and not a client that
// waits for a challenge.
func TestSASLEmptyResponse(t *testing.T) {
	t.Parallel()
	nc := dialRaw(t, serve(t, saslServer(), nil))
	send(t, nc, append(saslMessage(1, "ANONYMOUS"), saslMessage(2, "")...))
	expect(t, nc, saslMessage(2, "")) // the challenge
	send(t, nc, saslMessage(2, ""))   // an empty trace
	expect(t, nc, saslMessage(5, ""))
}

// TestSASLHostileClients: if a client sends something else than a login, its connection ends
// within ReadTimeout, no call is handled, the log names the fault, and others are served.
func TestSASLHostileClients(t *testing.T) {
	t.Parallel()
	const late = "did not arrive in time"
	q := new(quiet)
	hasty, srv := saslServer(), saslServer()
	hasty.ReadTimeout, hasty.Logger, srv.Logger = 200*time.Millisecond, q.logger(), q.logger()
	handled := new(atomic.Int32)
	srv.Interceptors = []rpc.Interceptor{func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
		handled.Add(1)
		return next(ctx, c)
	}}
	hasty.Interceptors = srv.Interceptors
	addr, hastyAddr := serve(t, srv, nil), serve(t, hasty, nil)
	start := slices.Clip(saslMessage(1, "STEPPED"))
	request := frame(strict(call, "fail", 1, []byte{0}))
	for name, c := range map[string]struct {
		b      []byte
		answer string // what it contains
		log    string
	}{
		"a framed request":      {request, "expects a login by SASL", "does not speak SASL"},
		"an unframed request":   {request[4:], "expects a login by SASL", "does not speak SASL"},
		"HTTP":                  {[]byte("GET / HTTP/1.1\r\n\r\n"), "expects a login by SASL", "does not speak SASL"},
		"no start":              {saslMessage(2, "x"), "expects a login by SASL", "does not speak SASL"},
		"complete at once":      {saslMessage(5, ""), "expects a login by SASL", "does not speak SASL"},
		"a login, not begun":    {append(saslMessage(5, ""), request...), "expects a login by SASL", "does not speak SASL"},
		"bad at once":           {saslMessage(3, "because"), "", "because"},
		"a name of nothing":     {saslMessage(1, ""), "unknown mechanism", "unknown mechanism"},
		"a long name":           {saslMessage(1, strings.Repeat("N", 2000)), "unknown mechanism", "unknown mechanism"},
		"a huge name":           {[]byte{1, 0xff, 0xff, 0xff, 0xff}, "", "4294967295 bytes"},
		"a large response":      {append(start, 2, 0, 1, 0, 1), "", "65537 bytes"},
		"a request, not logged": {append(start, request...), "", ""},
		"started twice":         {append(start, start...), "unexpected status", "status 1 in place of a response"},
		"too many responses":    {append(start, bytes.Repeat(saslMessage(2, ""), 40)...), "authentication failed", `response 1 is`},
		"half a header":         {[]byte{1, 0}, "", late},
		"half a name":           {[]byte{1, 0, 0, 0, 9, 'S'}, "", late},
		"nothing":               {nil, "", late},
		"a failed login, calls": {append(append(saslMessage(1, "PLAIN"), saslMessage(2, "\x00eve\x00x")...), request...), "authentication failed", "wrong password of eve"},
		"an end":                {start, "", late},
	} {
		t.Run(name, func(t *testing.T) {
			to := addr
			if c.log == late {
				to = hastyAddr
			}
			nc := dialRaw(t, to)
			send(t, nc, c.b)
			got, _ := io.ReadAll(nc)
			if !strings.Contains(string(got), c.answer) {
				t.Errorf("the answer is %q", got)
			}
			logs(t, q, c.log)
		})
	}
	if n := handled.Load(); n != 0 {
		t.Errorf("%d calls were handled", n)
	}
	c := dial(t, addr, rpc.SASL(sasl.NewPlainClient("", "ann", "secret of ann")))
	if got := greeting(c); !strings.Contains(got, "hello, ann") {
		t.Error(got)
	}
}

// TestSASLHostileServers: for all wrong answers to a login, Dial returns an error, in time.
func TestSASLHostileServers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer []byte
		want   string
		login  bool // it is the mechanism's failure, or the server's refusal
	}{
		"refused":           {saslMessage(3, "go away"), `"go away"`, true},
		"failed":            {saslMessage(4, strings.Repeat("é", 500)), "é\" …", true},
		"an end":            {nil, "EOF", false},
		"half":              {[]byte{5, 0, 0}, "unexpected EOF", false},
		"a huge challenge":  {[]byte{2, 0x7f, 0xff, 0xff, 0xff}, "2147483647 bytes", true},
		"a wrong status":    {saslMessage(1, "PLAIN"), "status 1", true},
		"no status":         {[]byte{0x80, 1, 0, 2}, "does not speak SASL", false},
		"HTTP":              {[]byte("HTTP/1.1 400 Bad Request\r\n\r\n"), "does not speak SASL", false},
		"a late challenge":  {saslMessage(5, "what?"), "unexpected challenge", true},
		"a challenge":       {saslMessage(2, "what?"), "unexpected challenge", true},
		"silence":           {nil, "deadline exceeded", false},
		"silence within":    {[]byte{2, 0, 0}, "deadline exceeded", false},
		"endless challenge": {bytes.Repeat(saslMessage(2, "again"), 1000), "after 16 challenges", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := listener(t)
			defer l.Close()
			done := make(chan struct{})
			defer func() { <-done }()
			go func() {
				defer close(done)
				nc, err := l.Accept()
				if err != nil {
					return
				}
				defer nc.Close()
				nc.SetDeadline(time.Now().Add(time.Minute))
				b := make([]byte, 16) // the name and the first response, or what there is of them
				io.ReadAtLeast(nc, b, 15)
				nc.Write(c.answer)
				if strings.HasPrefix(name, "silence") || c.login {
					io.Copy(io.Discard, nc)
				}
			}()
			m := rpc.SASLClient(mechanism{name: "PLAIN", response: []byte("x")})
			if strings.HasPrefix(name, "endless") {
				m = patient{}
			}
			timeout := time.Minute
			if strings.HasPrefix(name, "silence") {
				timeout = 2 * time.Second // time to connect, on a busy machine
			}
			client, err := rpc.Dial(bg, "tcp", l.Addr().String(), rpc.SASL(m), rpc.DialTimeout(timeout))
			if err == nil {
				client.Close()
			}
			if err == nil || !strings.Contains(err.Error(), c.want) || errors.Is(err, rpc.ErrLogin) != c.login {
				t.Errorf("%v, not %q", err, c.want)
			}
		})
	}
}

// patient answers any challenge.
type patient struct{}

func (patient) Start() (string, []byte, error) { return "PATIEN", nil, nil }
func (patient) Next(c []byte) ([]byte, error)  { return c, nil }

// asking is a mechanism that asks others, who do not answer before the program has enough.
type asking struct {
	patient
	enough context.CancelFunc
}

func (m asking) StartContext(ctx context.Context) (string, []byte, error) {
	m.enough()
	<-ctx.Done()
	return "", nil, errors.New("nobody answers")
}

// TestSASLStartContext: a login that waits for others ends with the dial's context. The error says
// what it has waited for.
func TestSASLStartContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(bg)
	_, err := rpc.Dial(ctx, "tcp", serve(t, saslServer(), nil), rpc.SASL(asking{enough: cancel}))
	if !errors.Is(err, rpc.ErrLogin) || !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "login by SASL: nobody answers") {
		t.Error(err)
	}
}

// TestSASLMisunderstood: a client without a login at a server that demands one, and the other way
// round, learn what the matter is.
func TestSASLMisunderstood(t *testing.T) {
	t.Parallel()
	strictServer := serve(t, saslServer(), nil)
	for name, opts := range map[string][]rpc.Option{"framed": nil, "unframed": {rpc.Unframed}} {
		if got := greeting(dial(t, strictServer, opts...)); !strings.Contains(got, "a login by SASL") {
			t.Errorf("%s: %s", name, got)
		}
	}
	q := new(quiet)
	plain := serve(t, &rpc.Server{Logger: q.logger()}, &handler{})
	_, err := rpc.Dial(bg, "tcp", plain, rpc.SASL(sasl.NewAnonymousClient("")))
	if !errors.Is(err, rpc.ErrLogin) || !strings.Contains(err.Error(), "no login by SASL") {
		t.Error(err)
	}
	logs(t, q, "a login by SASL")
}

// rudeMechanism is both sides of a mechanism that panics, or ends its goroutine, when act is
// called.
type rudeMechanism struct {
	*rude
	at string
}

func (m rudeMechanism) on(what string) {
	if m.at == what {
		m.act()
	}
}

func (m rudeMechanism) Start() (string, []byte, error) {
	m.on("Start")
	return "RUDE", nil, nil
}

func (m rudeMechanism) Next([]byte) ([]byte, error) {
	m.on("Next")
	return nil, nil
}

type rudeServerMechanism struct{ rudeMechanism }

func (m rudeServerMechanism) Next([]byte) ([]byte, bool, error) {
	m.on("Server's Next")
	return []byte("x"), true, nil
}

// TestSASLRude: functions of mechanisms that panic or end their goroutine end one login; others go
// on, also with the same mechanism.
func TestSASLRude(t *testing.T) {
	t.Parallel()
	for _, goexit := range []bool{false, true} {
		for _, at := range []string{"Start", "Next", "Server's Next", "Server.SASL"} {
			t.Run(fmt.Sprintf("%s, Goexit %t", at, goexit), func(t *testing.T) {
				m := rudeMechanism{&rude{goexit: goexit}, at}
				srv := saslServer()
				srv.MaxConns = 2
				srv.SASL = func(ctx context.Context, _ string) rpc.SASLServer {
					m.on("Server.SASL")
					return rudeServerMechanism{m}
				}
				addr := serve(t, srv, nil)
				ok := 0
				for range 12 {
					done := make(chan struct{})
					go func() {
						defer close(done)
						defer func() { recover() }()
						c, err := rpc.Dial(bg, "tcp", addr, rpc.SASL(m), rpc.Logger(new(quiet).logger()))
						if err != nil {
							return
						}
						defer c.Close()
						if got := greeting(c); strings.Contains(got, "hello") {
							ok++
						}
					}()
					<-done
				}
				if ok != 8 || m.done.Load() != 4 {
					t.Errorf("%d of 12 logins succeeded, %d were rude", ok, m.done.Load())
				}
			})
		}
	}
}

// TestSASLShutdown: Shutdown does not wait for a client that has not logged in, and serves one
// that is about to.
func TestSASLShutdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, l := saslServer(), make(pipes)
		serveOn(t, srv, nil, l)
		silent, late := l.dial(), l.dial()
		send(t, late, saslMessage(1, "ANONYMOUS"))
		synctest.Wait()
		ended := make(chan error, 1)
		go func() { ended <- srv.Shutdown(bg) }()
		time.Sleep(20 * time.Millisecond)
		go func() { late.Write(append(saslMessage(2, "late"), frame(strict(call, "fail", 7, []byte{0}))...)) }()
		got, err := io.ReadAll(late)
		if err != nil || !strings.Contains(string(got), "hello, nobody late") {
			t.Errorf("%q, %v", got, err)
		}
		select {
		case err := <-ended:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(time.Minute):
			t.Error("Shutdown waits")
		}
		io.ReadAll(silent)
	})
}

// TestSASLRefused: options that do not go together are refused where they are given.
func TestSASLRefused(t *testing.T) {
	for name, f := range map[string]func(){
		"nil":      func() { rpc.SASL(nil) },
		"Unframed": func() { rpc.Dial(bg, "tcp", "127.0.0.1:1", rpc.Unframed, rpc.SASL(patient{})) },
	} {
		func() {
			defer func() {
				if v := fmt.Sprint(recover()); !strings.HasPrefix(v, "nocopy: rpc.SASL ") {
					t.Errorf("%s: %s", name, v)
				}
			}()
			f()
		}()
	}
}

// waiting is the server's side of a mechanism that asks somebody else, who does not answer.
type waiting struct{ ctx context.Context }

func (w waiting) Next([]byte) ([]byte, bool, error) {
	<-w.ctx.Done()
	return nil, false, context.Cause(w.ctx)
}

// TestSASLMechanismWaits: the context of a login ends when its time is over. A mechanism that
// waits for something therefore does not hold a connection's place in the server for ever.
func TestSASLMechanismWaits(t *testing.T) {
	t.Parallel()
	srv := saslServer()
	srv.ReadTimeout, srv.MaxConns = time.Second, 1
	known := srv.SASL
	srv.SASL = func(ctx context.Context, mechanism string) rpc.SASLServer {
		if mechanism == "WAIT" {
			return waiting{ctx}
		}
		return known(ctx, mechanism)
	}
	addr := serve(t, srv, nil)
	send(t, dialRaw(t, addr), append(saslMessage(1, "WAIT"), saslMessage(2, "")...))
	// On a busy machine a login and a call may take longer than ReadTimeout, too.
	var got string
	for giveUp := time.Now().Add(time.Minute); time.Now().Before(giveUp); {
		c, err := rpc.Dial(bg, "tcp", addr, rpc.SASL(&stepped{n: 3}), rpc.DialTimeout(5*time.Second))
		if err != nil {
			got = err.Error()
			continue
		}
		got = greeting(c)
		c.Close()
		if strings.Contains(got, "hello, stepped") {
			return
		}
	}
	t.Error(got)
}
