package hive_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/nocopythrift/nocopythrift/hive"
	"github.com/nocopythrift/nocopythrift/hive/internal/fakehive"
	"github.com/nocopythrift/nocopythrift/hive/internal/tcli"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// plainServer is the server's side of PLAIN.
type plainServer struct{ user, password string }

func (p plainServer) Next(response []byte) ([]byte, bool, error) {
	if response == nil {
		return nil, false, nil
	}
	if !bytes.Equal(response, []byte("\x00"+p.user+"\x00"+p.password)) {
		return nil, false, errors.New("wrong password")
	}
	return nil, true, nil
}

// serveSASL starts a server that wants a login.
func serveSASL(t *testing.T, s *fakehive.Server) hive.Config {
	addr := s.Serve(t, &rpc.Server{SASL: func(_ context.Context, mechanism string) rpc.SASLServer {
		switch mechanism {
		case "PLAIN":
			return plainServer{"ada", "secret"}
		case "TICKET":
			return plainServer{"ticket", "for 127.0.0.1"}
		}
		return nil
	}})
	return hive.Config{Addr: addr, User: "ada", Password: "secret"}
}

// ticket is a mechanism such as Kerberos.
type ticket struct{ host string }

func (m ticket) Start() (string, []byte, error) {
	return "TICKET", []byte("\x00ticket\x00for " + m.host), nil
}
func (ticket) Next([]byte) ([]byte, error) { return nil, nil }

// good is a server with one query.
func good() *fakehive.Server {
	return &fakehive.Server{Queries: map[string]*fakehive.Query{"q": {
		Schema:  schemaOf(hive.TypeBigInt),
		Fetches: []tcli.TFetchResultsResp{fetchOf(int64Column(nil, 1, 2, 3))},
	}}}
}

// works checks that a query works, and that one can be cancelled.
func works(t *testing.T, cfg hive.Config) {
	t.Helper()
	c, err := hive.Connect(t.Context(), cfg)
	if err != nil {
		t.Error(err)
		return
	}
	defer c.Close()
	r, err := c.Query(t.Context(), "q")
	if err != nil {
		t.Error(err)
		return
	}
	compareLines(t, rowsOf(t, r), []string{"[1]", "[2]", "[3]"})
	if r, err = c.Query(t.Context(), "q"); err != nil {
		t.Error(err)
		return
	}
	if err := r.Cancel(t.Context()); err != nil {
		t.Error(err)
	}
	r.Close()
}

// TestSASL: logins with passwords, and with a mechanism of the program, over connections with
// and without TLS.
func TestSASL(t *testing.T) {
	cfg := serveSASL(t, good())
	works(t, cfg)
	bad := cfg
	bad.Password = "wrong"
	if _, err := hive.Connect(t.Context(), bad); !errors.Is(err, rpc.ErrLogin) {
		t.Error(err)
	}
	bad.Password = "x\x00y"
	if _, err := hive.Connect(t.Context(), bad); err == nil || !strings.Contains(err.Error(), "zero byte") {
		t.Error(err)
	}
	made := 0
	cfg.Password = "wrong"
	cfg.SASL = func(_ context.Context, host string) (rpc.SASLClient, error) {
		made++
		return ticket{host}, nil
	}
	works(t, cfg)
	if made != 2 { // the session's connection, and the one that cancels
		t.Error(made, "logins")
	}
	problem := errors.New("no ticket")
	cfg.SASL = func(context.Context, string) (rpc.SASLClient, error) { return nil, problem }
	if _, err := hive.Connect(t.Context(), cfg); !errors.Is(err, problem) {
		t.Error(err)
	}
	cfg.SASL = func(context.Context, string) (rpc.SASLClient, error) { return nil, nil }
	if _, err := hive.Connect(t.Context(), cfg); err == nil {
		t.Error("no mechanism, no error")
	}
}

// certificates returns settings of TLS for a server on a loopback address, and for its clients.
func certificates(t *testing.T) (server, client *tls.Config) {
	s := httptest.NewTLSServer(nil)
	defer s.Close()
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	return &tls.Config{Certificates: s.TLS.Certificates}, &tls.Config{RootCAs: roots}
}

func TestTLS(t *testing.T) {
	server, client := certificates(t)
	cfg := hive.Config{Addr: good().Serve(t, &rpc.Server{TLS: server}), NoSASL: true, TLS: client}
	works(t, cfg)
	cfg.TLS = &tls.Config{}
	if _, err := hive.Connect(t.Context(), cfg); err == nil {
		t.Error("an unknown certificate was trusted")
	}
}

// serveHTTP starts a server over HTTP that wants a header.
func serveHTTP(t *testing.T, s *fakehive.Server, authorization string, over *tls.Config) hive.Config {
	srv := &rpc.Server{}
	s.Serve(t, srv) // which sets its Processor
	h := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		cookie, err := r.Cookie("hive.server2.auth")
		switch {
		case r.URL.Path != "/cliservice":
			http.NotFound(w, r)
		case err == nil && cookie.Value != "cu=ada":
			http.Error(w, "wrong cookie", http.StatusUnauthorized)
		case r.Header.Get("Authorization") != authorization:
			http.Error(w, "who are you?", http.StatusUnauthorized)
		default:
			http.SetCookie(w, &http.Cookie{Name: "hive.server2.auth", Value: "cu=ada"})
			srv.ServeHTTP(w, r)
		}
	}))
	if h.TLS = over; over != nil {
		h.StartTLS()
	} else {
		h.Start()
	}
	t.Cleanup(h.Close)
	return hive.Config{Addr: h.Listener.Addr().String(), HTTP: true}
}

// TestHTTP: basic and bearer authentication, and the program's own, with and without TLS.
func TestHTTP(t *testing.T) {
	server, client := certificates(t)
	for _, over := range []*tls.Config{nil, server} {
		cfg := serveHTTP(t, good(), "Basic YWRhOnNlY3JldA==", over)
		if over != nil {
			cfg.TLS = client
		}
		bad := cfg
		cfg.User, cfg.Password = "ada", "secret"
		works(t, cfg)
		var e *rpc.HTTPError
		if _, err := hive.Connect(t.Context(), bad); !errors.As(err, &e) || e.Status != http.StatusUnauthorized {
			t.Error(err)
		}
		cfg.HTTPPath = "/elsewhere"
		if _, err := hive.Connect(t.Context(), cfg); !errors.As(err, &e) || e.Status != http.StatusNotFound {
			t.Error(err)
		}
		cfg = serveHTTP(t, good(), "Bearer token", over)
		if over != nil {
			cfg.TLS = client
		}
		cfg.Token = "token"
		works(t, cfg)
		cfg.Token = ""
		cfg.Authorize = func(r *http.Request) error {
			r.Header.Set("Authorization", "Bearer token")
			return nil
		}
		works(t, cfg)
		problem := errors.New("no ticket")
		cfg.Authorize = func(*http.Request) error { return problem }
		if _, err := hive.Connect(t.Context(), cfg); !errors.Is(err, problem) {
			t.Error(err)
		}
	}
}

// TestDial: a function of the program makes the connections.
func TestDial(t *testing.T) {
	cfg := serve(t, good())
	web := serveHTTP(t, good(), "Basic YW5vbnltb3VzOg==", nil)
	for _, cfg := range []hive.Config{cfg, web} {
		addr := cfg.Addr
		cfg.Addr = "hive.example.com:10000"
		var dialled atomic.Int32 // net/http may dial in a goroutine of its own
		cfg.Dial = func(ctx context.Context, network, to string) (net.Conn, error) {
			if dialled.Add(1); to != "hive.example.com:10000" {
				t.Error(to)
			}
			return new(net.Dialer).DialContext(ctx, network, addr)
		}
		works(t, cfg)
		if dialled.Load() == 0 {
			t.Error("it was not called")
		}
	}
}

func TestDSN(t *testing.T) {
	cfg, err := hive.ParseDSN("hive://ad%40a:p%2Fw@h.example.com:123/sales?auth=NOSASL&hive.exec.parallel=true&batchRows=5&batchBytes=6&maxReply=7&tls=true")
	if err != nil || cfg.Addr != "h.example.com:123" || cfg.User != "ad@a" || cfg.Password != "p/w" || cfg.Database != "sales" || !cfg.NoSASL ||
		cfg.Settings["hive.exec.parallel"] != "true" || cfg.BatchRows != 5 || cfg.BatchBytes != 6 || cfg.MaxReply != 7 || cfg.TLS == nil || cfg.TLS.InsecureSkipVerify {
		t.Errorf("%+v %v", cfg, err)
	}
	for dsn, addr := range map[string]string{
		"localhost": "localhost:10000", "hive://h?transport=http&httpPath=a/b&token=t": "h:10001", "ada@[::1]:5/db": "[::1]:5",
		"hive://h/?auth=LDAP&tls=skip-verify": "h:10000", "h/db?a.b=file://c": "h:10000",
	} {
		if cfg, err := hive.ParseDSN(dsn); err != nil || cfg.Addr != addr {
			t.Error(dsn, cfg.Addr, err)
		}
	}
	for dsn, want := range map[string]string{
		"mysql://h": "scheme", "hive://": "no host", "hive://h/a/b": "database", "h?auth=KERBEROS": "kerberos/hivekerberos", "h?auth=X": "unknown",
		"h?x=1": "no such parameter", "h?tls=1": "neither", "hive://h:99999/db": "port 99999 is not one from 1 to 65535", "h:0": "port 0 is not one from 1 to 65535", "h?batchRows=-1": "positive", "h?auth=NONE&auth=NONE": "2 times", "h?transport=udp": "neither",
		"hive://u:pass word@h": "escaped as in URLs", "hive://u:pass/word@h": "escaped as in URLs", "u:1/pass@h/db": "slash", "h?pass%zz=1": "escaped as in URLs",
		"h?password=pass": "password: no such parameter", "h?tls=pass": "neither", "h?maxReply=x": "positive", "h#x": "%23", "h?auth=KERBEROS&service=a/b/c": "neither NAME nor NAME/HOST", "h?auth=KERBEROS&service=hive/h@pass": "neither NAME", "h?auth=KERBEROS&service=/h": "neither NAME", "h?service=impala": "for auth=KERBEROS", "h?saslQop=pass": "neither auth, auth-int nor auth-conf",
	} {
		if _, err := hive.ParseDSN(dsn); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(strings.ReplaceAll(err.Error(), "password", ""), "pass") {
			t.Errorf("%s: %v", dsn, err)
		}
	}
}
