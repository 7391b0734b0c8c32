package main

import (
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// sessions is a proxy, and a metastore whose connections the test serves.
type sessions struct {
	t        *testing.T
	proxy    string
	accepted chan net.Conn
}

// newSessions starts a proxy after set has changed it.
func newSessions(t *testing.T, set func(*rpc.Server), opts ...rpc.Option) *sessions {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	s := &sessions{t: t, accepted: make(chan net.Conn, 100)}
	go func() {
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			nc.SetDeadline(time.Now().Add(time.Minute))
			s.accepted <- nc
		}
	}()
	srv, err := proxy{move{"s3://old", "s3://new"}, l.Addr().String(), append(opts, rpc.Unframed)}.server()
	if err != nil {
		t.Fatal(err)
	}
	set(srv)
	s.proxy = serve(t, srv)
	return s
}

// dial returns a client's connection.
func (s *sessions) dial() net.Conn {
	s.t.Helper()
	nc, err := net.Dial("tcp", s.proxy)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { nc.Close() })
	nc.SetDeadline(time.Now().Add(time.Minute))
	return nc
}

// connect returns a client's connection, and the metastore's for it.
func (s *sessions) connect() (client, metastore net.Conn) {
	s.t.Helper()
	client, metastore = s.dial(), <-s.accepted
	s.t.Cleanup(func() { metastore.Close() })
	return client, metastore
}

// Calls and replies of methods without arguments and results, without frames, with sequence id 1.
func message(kind, name string) string {
	return "\x80\x01\x00" + kind + "\x00\x00\x00" + string(rune(len(name))) + name + "\x00\x00\x00\x01\x00"
}

func (s *sessions) send(nc net.Conn, text string) {
	s.t.Helper()
	if _, err := io.WriteString(nc, text); err != nil {
		s.t.Error(err)
	}
}

// expect reads text from nc.
func (s *sessions) expect(nc net.Conn, text string) {
	s.t.Helper()
	b := make([]byte, len(text))
	if n, err := io.ReadFull(nc, b); string(b) != text {
		s.t.Errorf("%q, %v, not %q", b[:n], err, text)
	}
}

// ends checks that nc is closed by the other side, and that nothing comes before.
func (s *sessions) ends(nc net.Conn) {
	s.t.Helper()
	if b, err := io.ReadAll(nc); len(b) > 0 || err != nil && !strings.Contains(err.Error(), "reset") {
		s.t.Errorf("%.100q, %v, not the end", b, err)
	}
}

// TestSessions: each client has a connection of its own to the metastore. It ends with the
// client's, and the client's with it.
func TestSessions(t *testing.T) {
	s := newSessions(t, func(srv *rpc.Server) { srv.HalfCloseTimeout = time.Millisecond })
	ask, reply := message("\x01", "set_ugi"), message("\x02", "set_ugi")
	alice, atAlice := s.connect()
	bob, atBob := s.connect()
	s.send(bob, ask)
	s.expect(atBob, ask)
	s.send(atBob, reply)
	s.expect(bob, reply)
	s.send(alice, ask)
	s.expect(atAlice, ask)
	alice.Close()
	s.ends(atAlice)

	second := strings.TrimSuffix(message("\x01", "get_ugi"), "\x01\x00") + "\x02\x00"
	s.send(bob, message("\x01", "get_ugi"))
	s.expect(atBob, second)
	atBob.Close()
	s.ends(bob)

	// However long ago the metastore's end was closed
	for _, ago := range []time.Duration{0, time.Millisecond, 50 * time.Millisecond} {
		idle, atIdle := s.connect()
		atIdle.Close()
		time.Sleep(ago)
		s.send(idle, ask)
		s.ends(idle)
	}
	select {
	case <-s.accepted:
		t.Error("a client has got another connection to the metastore")
	default:
	}
}

// TestNoMetastore: without one, clients' connections are closed, as the metastore's host would do.
func TestNoMetastore(t *testing.T) {
	srv, err := proxy{move{"a", "b"}, "127.0.0.1:1", nil}.server()
	if err != nil {
		t.Fatal(err)
	}
	s := &sessions{t: t, proxy: serve(t, srv)}
	for range 3 {
		s.ends(s.dial())
	}
}

// TestBounds: too many clients wait; too large calls and replies are refused; others go on.
func TestBounds(t *testing.T) {
	s := newSessions(t, func(srv *rpc.Server) { srv.MaxConns, srv.MaxFrame = 2, 10_000 }, rpc.MaxFrame(10_000))
	ask, reply := message("\x01", "get_all_tables"), message("\x02", "get_all_tables")
	long := strings.TrimSuffix(ask, "\x00") + "\x0b\x00\x01\x00\x01\x00\x00" + strings.Repeat("x", 1<<16) + "\x00"

	good, atGood := s.connect()
	large, atLarge := s.connect()
	waiting := s.dial()
	s.send(waiting, ask)
	s.send(large, ask)
	s.expect(atLarge, ask)
	s.send(atLarge, strings.TrimSuffix(reply, "\x00")+"\x0f\x00\x00\x0b\x00\x00\x00\x01\x00\x01\x00\x00"+strings.Repeat("x", 1<<16)+"\x00")
	s.ends(large)

	atWaiting := <-s.accepted // since large is gone
	defer atWaiting.Close()
	s.expect(atWaiting, ask)
	s.send(waiting, long)
	s.send(atWaiting, reply)
	s.expect(waiting, reply)
	b, _ := io.ReadAll(waiting)
	if !strings.Contains(string(b), "limit") {
		t.Errorf("%q does not tell of a limit", b)
	}

	s.send(good, ask)
	s.expect(atGood, ask)
	s.send(atGood, reply)
	s.expect(good, reply)
}
