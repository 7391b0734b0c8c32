package kerberos

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jcmturner/gokrb5/v8/iana/etypeID"

	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// TestCalls: with each quality and encryption, with TLS and without, calls of all sizes arrive.
func TestCalls(t *testing.T) {
	t.Parallel()
	cert, pool := certificate(t)
	a := newAcceptor()
	for _, secured := range []bool{false, true} {
		var options []rpc.Option
		setTLS := func(*rpc.Server) {}
		if secured {
			options = []rpc.Option{rpc.TLS(&tls.Config{RootCAs: pool})}
			setTLS = func(s *rpc.Server) { s.TLS = &tls.Config{Certificates: []tls.Certificate{cert}} }
		}
		for _, q := range []QOP{Auth, AuthInt, AuthConf} {
			addr, _ := serve(t, a, q, setTLS)
			for _, e := range allETypes {
				k := newKDC()
				k.etype = e
				c, err := dial(t, addr, newClient(k, testService, q), options...)
				if err != nil {
					t.Fatalf("%v, etype %d: %v", q, e, err)
				}
				for _, n := range []int{0, 1, 100, 5_000, 70_000, 1_000_000} {
					if err := roundTrip(t, c, bytes.Repeat([]byte("x"), n)); err != nil {
						t.Errorf("%v, etype %d, TLS %t, %d bytes: %v", q, e, secured, n, err)
					}
				}
			}
		}
	}
}

// TestManyCalls: calls of many goroutines at the same time, on several connections.
func TestManyCalls(t *testing.T) {
	t.Parallel()
	addr, _ := serve(t, newAcceptor(), AuthConf)
	c, err := dial(t, addr, newClient(newKDC(), testService, AuthConf), rpc.PoolSize(3))
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			for j := range 20 {
				if err := roundTrip(t, c, bytes.Repeat([]byte{byte(i)}, 1000*i+j)); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
}

// TestQuality: the best quality that both allow is agreed on; if there is none, the client says
// so.
func TestQuality(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ server, client, want QOP }{
		{Auth | AuthInt | AuthConf, Auth | AuthInt | AuthConf, AuthConf},
		{Auth | AuthInt, Auth | AuthInt | AuthConf, AuthInt},
		{Auth | AuthInt | AuthConf, Auth | AuthInt, AuthInt},
		{0, 0, Auth},
		{Auth, AuthConf, 0},
		{AuthInt, Auth | AuthConf, 0},
	} {
		client := newClient(newKDC(), testService, c.client)
		server := newAcceptor().NewServer(c.server, anyone)
		err := login(client, server)
		if c.want == 0 {
			if err == nil || !strings.Contains(err.Error(), "make them agree") {
				t.Errorf("%v and %v: %v", c.server, c.client, err)
			}
			continue
		}
		if err != nil || client.agreed != c.want || server.agreed != c.want {
			t.Errorf("%v and %v: %v, %v: %v", c.server, c.client, client.agreed, server.agreed, err)
		}
	}
}

// login lets a client log in at a server.
func login(c rpc.SASLClient, s rpc.SASLServer) error {
	_, response, err := c.Start()
	for err == nil {
		var challenge []byte
		var done bool
		if challenge, done, err = s.Next(response); err != nil || done {
			return err
		}
		response, err = c.Next(challenge)
	}
	return err
}

// TestPrincipal: a server learns who the client is, with its realm, and may refuse it.
func TestPrincipal(t *testing.T) {
	t.Parallel()
	for client, want := range map[string]string{"ada": "ada@TEST.EXAMPLE", "spark/node": "spark/node@TEST.EXAMPLE", `a@B\`: `a\@B\\@TEST.EXAMPLE`} {
		k := newKDC()
		k.client = client
		var got string
		s := newAcceptor().NewServer(Auth, func(principal, as string) error { got = principal + as; return nil })
		if err := login(newClient(k, testService, Auth), s); err != nil || got != want {
			t.Errorf("%s: %q %v", client, got, err)
		}
	}
	s := newAcceptor().NewServer(Auth, func(string, string) error { return errors.New("not today") })
	if err := login(newClient(newKDC(), testService, Auth), s); err == nil || !strings.Contains(err.Error(), `"ada@TEST.EXAMPLE" may not log in: not today`) {
		t.Error(err)
	}
	if _, err := s.Secure(nil, 0); err == nil {
		t.Error("a refused login has a layer")
	}
}

// TestRefused: tickets that are not good now for this service are refused, and the log says why.
func TestRefused(t *testing.T) {
	t.Parallel()
	a := newAcceptor()
	addr, log := serve(t, a, Auth)
	for name, c := range map[string]struct {
		kdc  func(*kdc)
		spn  string
		want string // in the server's log, or in the client's error
	}{
		"expired":         {func(k *kdc) { k.from, k.until = -3*time.Hour, -2*time.Hour }, testService, "run kinit again"},
		"not yet valid":   {func(k *kdc) { k.from, k.until = 2*time.Hour, 3*time.Hour }, testService, "the clocks differ"},
		"another client":  {func(k *kdc) { k.edit = func(t *ticket) { t.client.NameString = []string{"eve"} } }, testService, "CName in Authenticator does not match"},
		"another realm":   {func(k *kdc) { k.edit = func(t *ticket) { t.realm = "EVIL.EXAMPLE" } }, testService, "an authenticator of another client"},
		"another session": {func(k *kdc) { k.edit = func(t *ticket) { t.key.KeyValue = make([]byte, 32) } }, testService, "could not decrypt authenticator"},
		"another version": {func(k *kdc) { k.edit = func(t *ticket) { t.ticket.EncPart.KVNO = 7 } }, testService, "klist -kte"},
		"another service": {func(k *kdc) { k.edit = func(t *ticket) { t.ticket.SName.NameString[0] = "x" } }, testService, "klist -kte"},
		"changed":         {func(k *kdc) { k.edit = func(t *ticket) { t.ticket.EncPart.Cipher[40] ^= 1 } }, testService, "write a new keytab"},
		"short":           {func(k *kdc) { k.edit = func(t *ticket) { t.ticket.EncPart.Cipher = t.ticket.EncPart.Cipher[:5] } }, testService, "malformed"},
		"RC4":             {func(k *kdc) { k.etype = etypeID.RC4_HMAC }, testService, "neither AES nor safe"},
	} {
		k := newKDC()
		c.kdc(k)
		_, err := dial(t, addr, newClient(k, c.spn, Auth))
		if !errors.Is(err, rpc.ErrLogin) {
			t.Errorf("%s: %v", name, err)
		} else if !strings.Contains(err.Error(), c.want) {
			log.await(t, c.want)
		}
	}
	if c, err := dial(t, addr, newClient(newKDC(), testService, Auth)); err != nil || roundTrip(t, c, []byte("x")) != nil {
		t.Error(err)
	}
}

// TestSkew: a client whose clock differs by more than 5 minutes is refused.
func TestSkew(t *testing.T) {
	t.Parallel()
	for _, by := range []time.Duration{-10 * time.Minute, 10 * time.Minute} {
		k := newKDC()
		tk, err := k.ticket(t.Context(), testService)
		if err != nil {
			t.Fatal(err)
		}
		token := requestAt(t, tk, time.Now().Add(by))
		_, _, _, err = newAcceptor().accept(token)
		if err == nil || !strings.Contains(err.Error(), "NTP") {
			t.Errorf("%v: %v", by, err)
		}
	}
}

// TestReplay: a login that was recorded does not let anyone in again.
func TestReplay(t *testing.T) {
	t.Parallel()
	a := newAcceptor()
	_, token, err := newClient(newKDC(), testService, Auth).Start()
	if err != nil {
		t.Fatal(err)
	}
	if _, _, _, err := a.accept(token); err != nil {
		t.Fatal(err)
	}
	if _, _, _, err := a.accept(token); !errors.Is(err, errReplay) {
		t.Error(err)
	}
}

// TestReplayCache: what is too old is forgotten, and the number is bounded.
func TestReplayCache(t *testing.T) {
	t.Parallel()
	var r replayCache
	now := time.Now()
	if !r.add([]byte("a"), now) || r.add([]byte("a"), now.Add(9*time.Minute)) || !r.add([]byte("b"), now) {
		t.Error("added wrongly")
	}
	if !r.add([]byte("c"), now.Add(11*time.Minute)) || len(r.seen) != 1 {
		t.Errorf("%d are remembered", len(r.seen))
	}
}

// TestOtherServer: a client notices a server that does not have the service's key, and one that
// ends the login before it has proved anything.
func TestOtherServer(t *testing.T) {
	t.Parallel()
	c := newClient(newKDC(), testService, Auth)
	_, token, err := c.Start()
	if err != nil {
		t.Fatal(err)
	}
	_, _, answer, err := newAcceptor().accept(token)
	if err != nil {
		t.Fatal(err)
	}
	other := newClient(newKDC(), testService, Auth)
	if _, _, err := other.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := other.Next(answer); err == nil || !strings.Contains(err.Error(), "does not have the service's key") {
		t.Error(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		nc, err := l.Accept()
		if err != nil {
			return
		}
		defer nc.Close()
		io.CopyN(io.Discard, nc, 100)
		nc.Write([]byte{5, 0, 0, 0, 0}) // COMPLETE
		io.Copy(io.Discard, nc)
	}()
	if _, err := dial(t, l.Addr().String(), newClient(newKDC(), testService, AuthConf)); !errors.Is(err, rpc.ErrLogin) || !strings.Contains(err.Error(), "did not prove who it is") {
		t.Error(err)
	}
}

// TestOneAtATime: a Client is used for one login after the other, and each has keys of its own.
func TestOneAtATime(t *testing.T) {
	t.Parallel()
	c := newClient(newKDC(), testService, AuthConf)
	var contexts []*securityContext
	for range 2 {
		if err := login(c, newAcceptor().NewServer(AuthConf, anyone)); err != nil {
			t.Fatal(err)
		}
		contexts = append(contexts, c.context)
	}
	if bytes.Equal(contexts[0].key.KeyValue, contexts[1].key.KeyValue) {
		t.Error("two connections have the same key")
	}
}

// TestWithoutMutual: servers also take clients that do not ask who the server is, such as Java's
// by default.
func TestWithoutMutual(t *testing.T) {
	t.Parallel()
	tk, err := newKDC().ticket(t.Context(), testService)
	if err != nil {
		t.Fatal(err)
	}
	r, token, err := newRequest(tk, false)
	if err != nil {
		t.Fatal(err)
	}
	s := newAcceptor().NewServer(Auth|AuthConf, anyone)
	if challenge, done, err := s.Next(nil); challenge != nil || done || err != nil {
		t.Fatal(challenge, done, err)
	}
	offer, done, err := s.Next(token)
	if err != nil || done {
		t.Fatal(done, err)
	}
	c, err := newContext(r.authenticator.SubKey, false)
	if err != nil {
		t.Fatal(err)
	}
	c.sendSeq = uint64(r.authenticator.SeqNumber)
	c.receiveSeq = c.sendSeq
	layers, err := c.unwrap(offer, false)
	if err != nil || !bytes.Equal(layers, []byte{byte(Auth | AuthConf), 0xff, 0xff, 0xff}) {
		t.Fatalf("%x %v", layers, err)
	}
	choice, err := c.wrap([]byte{byte(AuthConf), 1, 0, 0, 'b', 'o', 'b'}, false)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Next(choice); err == nil || !strings.Contains(err.Error(), "acting for others") {
		t.Error(err)
	}
}
