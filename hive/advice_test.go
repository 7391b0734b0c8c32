package hive_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nocopythrift/nocopythrift/hive"
	"github.com/nocopythrift/nocopythrift/hive/internal/fakehive"
	"github.com/nocopythrift/nocopythrift/hive/internal/tcli"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// answering returns the address of a server that calls f with each connection.
func answering(t *testing.T, f func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				defer c.Close()
				f(c)
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		wg.Wait()
	})
	return l.Addr().String()
}

// after returns a server's side that says something after the first bytes, and takes the others.
func after(text string) func(net.Conn) {
	return func(c net.Conn) {
		b := make([]byte, 5)
		io.ReadFull(c, b)
		io.WriteString(c, text)
		c.(*net.TCPConn).CloseWrite()
		io.Copy(io.Discard, c)
	}
}

// TestAdvice: a client whose login, TLS or HTTP does not fit the server is told what to try.
func TestAdvice(t *testing.T) {
	server, client := certificates(t)
	login := func(_ context.Context, m string) rpc.SASLServer {
		if m == "PLAIN" {
			return plainServer{"ada", "secret"}
		}
		return nil
	}
	const java = "\x04\x00\x00\x00\x13Invalid status -128" // of a TSaslServerTransport
	addrs := map[string]string{
		"nosasl":     good().Serve(t, &rpc.Server{}),
		"sasl":       good().Serve(t, &rpc.Server{SASL: login}),
		"java":       answering(t, after(java)),
		"kerberos":   answering(t, after("\x03\x00\x00\x00\x20Unsupported mechanism type PLAIN")),
		"tls nosasl": good().Serve(t, &rpc.Server{TLS: server}),
		"tls sasl":   good().Serve(t, &rpc.Server{TLS: server, SASL: login}),
		"http":       serveHTTP(t, good(), "Basic YWRhOnNlY3JldA==", nil).Addr,
		"https":      serveHTTP(t, good(), "Basic YWRhOnNlY3JldA==", server).Addr,
		"jetty":      answering(t, after("HTTP/1.1 400 Illegal character\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")),
		"closes":     answering(t, func(net.Conn) {}),
		"silent":     answering(t, func(c net.Conn) { io.Copy(io.Discard, c) }),
	}
	const (
		toPlain, toTLS    = "leave out Config.TLS", "set Config.TLS"
		toLogin, toNoSASL = "leave out Config.NoSASL", "set Config.NoSASL"
		toBinary, toHTTP  = "leave out Config.HTTP", "set Config.HTTP"
	)
	plain, nosasl := hive.Config{User: "ada", Password: "secret"}, hive.Config{NoSASL: true}
	secure := func(c hive.Config) hive.Config { c.TLS = client; return c }
	web := hive.Config{HTTP: true, User: "ada", Password: "secret"}
	var wg sync.WaitGroup
	for _, a := range []struct {
		client string
		cfg    hive.Config
		advice map[string][]string
	}{
		{"nosasl", nosasl, map[string][]string{"sasl": {toLogin}, "java": {toLogin}, "tls nosasl": {toTLS}, "tls sasl": {toTLS}, "https": {toTLS}, "jetty": {toHTTP}, "closes": {toLogin, toTLS, toHTTP}, "silent": {toLogin, toTLS, toHTTP}}},
		{"sasl", plain, map[string][]string{"nosasl": {toNoSASL}, "kerberos": {"Config.SASL"}, "tls nosasl": {toTLS}, "tls sasl": {toTLS}, "https": {toTLS}, "jetty": {toHTTP}, "closes": {toNoSASL, toTLS, toHTTP}, "silent": {toNoSASL, toTLS, toHTTP}}},
		{"tls nosasl", secure(nosasl), map[string][]string{"nosasl": {toPlain}, "sasl": {toPlain}, "java": {toPlain}, "tls sasl": {toLogin}, "http": {toPlain}, "jetty": {toPlain}, "closes": {toPlain}, "silent": {toPlain}}},
		{"tls sasl", secure(plain), map[string][]string{"nosasl": {toPlain}, "sasl": {toPlain}, "java": {toPlain}, "tls nosasl": {toNoSASL}, "http": {toPlain}, "jetty": {toPlain}, "closes": {toPlain}, "silent": {toPlain}}},
		{"http", web, map[string][]string{"sasl": {toBinary}, "java": {toBinary}, "tls sasl": {toBinary}, "https": {toTLS}, "jetty": {toBinary}, "closes": {toBinary, toTLS}, "silent": {toBinary, toTLS}}},
		{"https", secure(web), map[string][]string{"nosasl": {toPlain}, "sasl": {toPlain}, "java": {toPlain}, "http": {toPlain}, "jetty": {toPlain}, "tls sasl": {toBinary}, "closes": {toPlain, toBinary}, "silent": {toPlain, toBinary}}},
	} {
		for name, advice := range a.advice {
			cfg := a.cfg
			cfg.Addr, cfg.Timeout = addrs[name], time.Minute
			if name == "silent" {
				cfg.Timeout = 2 * time.Second
			}
			wg.Go(func() {
				c, err := hive.Connect(t.Context(), cfg)
				if err == nil {
					c.Close()
					t.Errorf("%s at %s: connected", a.client, name)
					return
				}
				for _, option := range advice {
					if !strings.Contains(err.Error(), option) {
						t.Errorf("%s at %s, not %q: %v", a.client, name, option, err)
					}
				}
				if name == "silent" && a.client != "https" && !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("%s at %s: %v", a.client, name, err)
				}
				if strings.Count(err.Error(), "hive: ") != 1 || strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "rpc.") {
					t.Error(err)
				}
			})
		}
	}
	wg.Wait()
}

// TestNoAdvice: errors that have another reason say only that.
func TestNoAdvice(t *testing.T) {
	const advice = "onfig.NoSASL"
	refuses := &fakehive.Server{Open: func(_ tcli.TOpenSessionReq, resp tcli.TOpenSessionResp) {
		resp.NewStatus().SetStatusCode(tcli.TStatusCode_ERROR_STATUS)
		resp.GetStatus().SetErrorMessage("no such database")
	}}
	wrong := serveSASL(t, good())
	wrong.Password = "wrong"
	closed := answering(t, func(net.Conn) {})
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone.Close()
	server, _ := certificates(t)
	problem := errors.New("no way there")
	for name, cfg := range map[string]hive.Config{
		"no such database": serve(t, refuses),
		"refused":          wrong,
		"connection":       {Addr: gone.Addr().String()},
		"no way there":     {Addr: "h:1", Dial: func(context.Context, string, string) (net.Conn, error) { return nil, problem }},
		"certificate":      {Addr: good().Serve(t, &rpc.Server{TLS: server}), NoSASL: true, TLS: &tls.Config{}},
		"missing port":     {Addr: "h"},
	} {
		if _, err := hive.Connect(t.Context(), cfg); err == nil || strings.Contains(err.Error(), advice) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := hive.Connect(ctx, hive.Config{Addr: closed}); !errors.Is(err, context.Canceled) || strings.Contains(err.Error(), advice) {
		t.Error(err)
	}
	// HTTP's own
	for want, change := range map[string]func(*hive.Config){
		"Config.User":     func(c *hive.Config) { c.Password = "wrong" },
		"Config.HTTPPath": func(c *hive.Config) { c.HTTPPath = "elsewhere" },
	} {
		cfg := serveHTTP(t, good(), "Basic YWRhOnNlY3JldA==", nil)
		cfg.User, cfg.Password = "ada", "secret"
		change(&cfg)
		if _, err := hive.Connect(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// TestDSNFromJDBC: a JDBC URL's error says how to write it, without its secrets.
func TestDSNFromJDBC(t *testing.T) {
	for dsn, want := range map[string]string{
		"jdbc:hive2://h:10000/db;ssl=true":                                                                  "write hive://h:10000/db?tls=true",
		"jdbc:hive2://h:10000/a/b;ssl=true":                                                                 "write hive://h:10000/a?tls=true; a database's name has no slash",
		"jdbc:hive2://h:10000":                                                                              "write hive://h:10000",
		"jdbc:hive2://h:10000/;auth=noSasl":                                                                 "write hive://h:10000/?auth=NOSASL",
		"hive2://h:10000/db;auth=noSasl":                                                                    "write hive://h:10000/db?auth=NOSASL",
		"jdbc:hive2://h/db;transportMode=http;httpPath=cliservice":                                          "write hive://h/db?transport=http&httpPath=cliservice",
		"jdbc:hive2://h/db;user=ada;password=secret?hive.a=b#x=y":                                           "write hive://USER:PASSWORD@h/db?hive.a=…",
		"jdbc:hive2://h/db;principal=hive/_HOST@EXAMPLE.COM":                                                "write hive://h/db?auth=KERBEROS; KERBEROS needs the package hivekerberos",
		"jdbc:hive2://z1:1,z2:2/;serviceDiscoveryMode=zooKeeper":                                            "write hive://z1:1,z2:2/?discovery=zookeeper; import package hive/zookeeper",
		"jdbc:hive2://z/d;serviceDiscoveryMode=zooKeeper;zooKeeperNamespace=a-b":                            "write hive://z/d?discovery=zookeeper&zooKeeperNamespace=a-b",
		"jdbc:hive2://z/d;serviceDiscoveryMode=zooKeeperHA":                                                 "this kind of discovery is not supported",
		"jdbc:hive2://h1:10000,h2:10000/db;transportMode=http;httpPath=cliservice;ssl=true?hive.x=secret#z": "write hive://h1:10000,h2:10000/db?transport=http&httpPath=cliservice&tls=true&hive.x=…",
		"jdbc:hive2://h/;ssl=1;sslTrustStore=/a.jks;trustStorePassword=secret":                              "write hive://h/?tls=true; tlsCA=FILE",
		"jdbc:hive2://h/;ssl=1;sslKeyStore=/a.jks;keyStorePassword=secret":                                  "write hive://h/?tls=true; tlsCert=FILE and tlsKey=FILE",
		"jdbc:hive2://h;ssl=true;password=secret":                                                           "write hive://USER:PASSWORD@h/?tls=true",
		"jdbc:hive2://h;password=a@secret":                                                                  "write hive://USER:PASSWORD@HOST:PORT/DATABASE",
		"jdbc:hive2://ada:a;secret@h/db":                                                                    "write hive://USER:PASSWORD@HOST:PORT/DATABASE",
		"jdbc:spark://h:443/d;ssl=1;UID=token;PWD=secret;AuthMech=":                                         "write hive://USER:PASSWORD@h:443/d?tls=true; ParseDSN tells",
		"jdbc:hive2://ada:sec/secret@h/db":                                                                  "write hive://USER:PASSWORD@HOST:PORT/DATABASE",
		"jdbc:hive2://h/db;password=a;secret;b=secret?secret":                                               "write hive://USER:PASSWORD@h/db; ParseDSN",
		"jdbc:hive2://h:10001/d;transportMode=http;saslQop=auth-conf;principal=impala/_HOST@X":              "write hive://h:10001/d?transport=http&auth=KERBEROS; over HTTP the server's principal is always HTTP/HOST",
		"jdbc:hive2://lb/d;principal=hive/node1@R":                                                          "write hive://lb/d?auth=KERBEROS&service=hive/node1; ",
		"jdbc:hive2://node1:1/d;principal=hive/NODE1@R;saslQop=auth-conf":                                   "write hive://node1:1/d?auth=KERBEROS&saslQop=auth-conf; ",
		"jdbc:hive2://h/d;principal=hive/h@R;serviceDiscoveryMode=zooKeeper":                                "write hive://h/d?discovery=zookeeper&auth=KERBEROS&service=hive/h; ",
		"jdbc:hive2://h/d;principal=a/b/c@R":                                                                "write hive://h/d?auth=KERBEROS; the principal is not NAME/HOST@REALM",
		"jdbc:hive2://h/d;auth=delegationToken":                                                             "write hive://h/d; logins by delegation token are not supported",
		"jdbc:hive2://h/d;auth=jwt;saslQop=auth":                                                            "write hive://h/d; ParseDSN tells",
		"jdbc:hive2://h/100%;ssl=true;ssl=1":                                                                "write hive://h/100%25?tls=true",
		"hive://u:secret@h1,u2:secret@h2/db":                                                                "user and password come once, before the first host",
		"jdbc:hive2://u:secret@h1,u2:secret@h2/db":                                                          "write hive://USER:PASSWORD@HOST:PORT/DATABASE",
		"jdbc:":                            "write hive://",
		"hive://h:10000/db;ssl=true":       "after a ?",
		"hive://h:10000/db?tls=true;a.b=c": "joined by &",
	} {
		if _, err := hive.ParseDSN(dsn); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v, want %q", dsn, err, want)
		}
	}
}

// TestDSNsFromJDBC: ParseDSN accepts what it proposes, except that this test has no login by
// Kerberos and no ZooKeeper.
func TestDSNsFromJDBC(t *testing.T) {
	hosts := []string{"h", "h1:1,h2:2", "[::1]:1", "h:99999", "h1,,h2", "a b", "h:x", "u@h,h2", "u:p@h,u2@h2", ""}
	databases := []string{"", "/", "/d", "/a/b", "/%zz", "/ü x", "/@", "/a?", "/;#"}
	parameters := []string{"", ";ssl=true", ";ssl=1;ssl=true", ";transportMode=http", ";transportMode=HTTP;httpPath=a/b;httpPath=", ";principal=hive/_HOST@R", ";principal=impala/n@R",
		";principal=/n@R", ";principal=a/b/c", ";principal=", ";saslQop=auth", ";saslQop=auth-conf,auth", ";saslQop=AUTH-INT", ";auth=noSasl", ";auth=delegationToken", ";serviceDiscoveryMode=zooKeeper",
		";zooKeeperNamespace=a/b", ";zooKeeperNamespace=", ";user=a;password=b;x", "?hive.a=b;hive.a=c;spark./=1"}
	proposed := 0
	for _, host := range hosts {
		for _, database := range databases {
			for _, p := range parameters {
				for _, q := range parameters {
					dsn := "jdbc:hive2://" + host + database + p + q
					_, err := hive.ParseDSN(dsn)
					_, text, ok := strings.Cut(err.Error(), "write ")
					if !ok {
						t.Fatal(dsn, err)
					}
					text, _, _ = strings.Cut(text, "; ")
					if strings.Contains(text, "HOST:PORT") {
						continue
					}
					proposed++
					if _, err := hive.ParseDSN(text); err != nil && !strings.Contains(err.Error(), " import ") {
						t.Fatalf("%s: proposes %s: %v", dsn, text, err)
					}
				}
			}
		}
	}
	if proposed < 5000 {
		t.Errorf("%d DSNs", proposed)
	}
}
