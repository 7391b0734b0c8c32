package rpc_test

import (
	"bytes"
	"context"
	"errors"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
)

// inverted is a connection that protects messages in nobody's way: it inverts their bytes.
type inverted struct {
	net.Conn
	fail string
}

func (c inverted) NetConn() net.Conn { return c.Conn }

func (c inverted) Read(b []byte) (int, error) {
	if c.fail == "Read" {
		panic("no key")
	}
	n, err := c.Conn.Read(b)
	for i := range b[:n] {
		b[i] = ^b[i]
	}
	return n, err
}

func (c inverted) Write(b []byte) (int, error) {
	if c.fail == "Write" {
		return 0, errors.New("no key")
	}
	other := make([]byte, len(b))
	for i := range b {
		other[i] = ^b[i]
	}
	return c.Conn.Write(other)
}

// securing is both sides of a mechanism that protects messages, if it inverts them.
type securing struct {
	inverts bool
	fail    string // of the connection
	err     error
}

func (s securing) Start() (string, []byte, error) { return "TOY", []byte("x"), nil }
func (securing) Next([]byte) ([]byte, error)      { return nil, nil }

func (s securing) Secure(nc net.Conn, maxFrame int) (net.Conn, error) {
	if maxFrame != 16_384_000 {
		return nil, errors.New("another limit")
	}
	if s.inverts {
		return inverted{nc, s.fail}, s.err
	}
	return nil, s.err
}

type securingServer struct{ securing }

func (securingServer) Next([]byte) ([]byte, bool, error) { return nil, true, nil }

// serveSecured starts a server whose clients log in with m.
func serveSecured(t *testing.T, m securing) (addr string, q *quiet) {
	q = new(quiet)
	srv := &rpc.Server{Logger: q.logger(), SASL: func(context.Context, string) rpc.SASLServer { return securingServer{m} }}
	return serve(t, srv, &handler{}), q
}

// TestSASLSecurity: calls of all sizes, and many at a time, pass connections that a mechanism
// protects, in both directions.
func TestSASLSecurity(t *testing.T) {
	t.Parallel()
	for _, inverts := range []bool{true, false} {
		addr, _ := serveSecured(t, securing{inverts: inverts})
		c := dial(t, addr, rpc.SASL(securing{inverts: inverts}))
		var wg sync.WaitGroup
		for _, n := range []int{0, 1, 100, 4_000, 5_000, 70_000, 900_000} {
			wg.Go(func() {
				for range 20 {
					payload := bytes.Repeat([]byte("x"), n)
					res, err := echo.NewEchoClient(c).Echo(bg, func(args echo.EchoEchoArgs) { args.SetPayload(payload) })
					if err != nil || !bytes.Equal(res.GetSuccess(), payload) {
						t.Errorf("%d bytes: %d came back, %v", n, len(res.GetSuccess()), err)
					}
					res.Release()
				}
			})
		}
		wg.Wait()
	}
	// The bytes are really others
	addr, _ := serveSecured(t, securing{inverts: true})
	if _, err := echo.NewEchoClient(dial(t, addr, rpc.SASL(securing{}))).Echo(bg, nil); err == nil {
		t.Error("a server has understood messages that are not inverted")
	}
}

// TestSASLSecurityRefuses: a mechanism that is not satisfied in the end refuses the other side.
func TestSASLSecurityRefuses(t *testing.T) {
	t.Parallel()
	addr, _ := serveSecured(t, securing{})
	_, err := rpc.Dial(bg, "tcp", addr, rpc.SASL(securing{err: errors.New("too early")}))
	if !errors.Is(err, rpc.ErrLogin) || !strings.Contains(err.Error(), "too early") {
		t.Error(err)
	}
	addr, q := serveSecured(t, securing{err: errors.New("too late")})
	c := dial(t, addr, rpc.SASL(securing{}))
	if _, err := echo.NewEchoClient(c).Echo(bg, nil); err == nil {
		t.Error("a call was answered")
	}
	logs(t, q, "too late")
}

// TestSASLSecurityRude: methods of such connections that fail or panic end their connection alone.
func TestSASLSecurityRude(t *testing.T) {
	t.Parallel()
	good := securing{inverts: true}
	for _, fail := range []string{"Read", "Write"} {
		bad := securing{inverts: true, fail: fail}
		for _, c := range []struct{ server, client securing }{{good, bad}, {bad, good}} {
			addr, _ := serveSecured(t, c.server)
			client := dial(t, addr, rpc.SASL(c.client), rpc.Logger(new(quiet).logger()))
			if _, err := echo.NewEchoClient(client).Echo(bg, nil); err == nil {
				t.Errorf("%v: a call was answered", c)
			}
		}
	}
}
