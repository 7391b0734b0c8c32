package hive_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/hive"
	"github.com/nocopythrift/nocopythrift/hive/internal/fakehive"
	"github.com/nocopythrift/nocopythrift/hive/internal/tcli"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// closedAddr returns an address where nothing listens.
func closedAddr(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// refusing is a server that opens no session.
func refusing(t *testing.T) string {
	s := &fakehive.Server{Open: func(_ tcli.TOpenSessionReq, resp tcli.TOpenSessionResp) {
		resp.NewStatus().SetStatusCode(tcli.TStatusCode_ERROR_STATUS)
		resp.GetStatus().SetErrorMessage("too many sessions")
	}}
	return s.Serve(t, &rpc.Server{})
}

// TestServers: Connect tries servers until one opens a session. The session stays there, and so
// does the connection that cancels its queries.
func TestServers(t *testing.T) {
	ours, other := good(), good()
	gone, full := closedAddr(t), refusing(t)
	ourAddr, otherAddr := ours.Serve(t, &rpc.Server{}), other.Serve(t, &rpc.Server{})
	cfg := hive.Config{Addr: strings.Join([]string{gone, full, ourAddr, otherAddr}, ","), NoSASL: true, InOrder: true}
	works(t, cfg)
	cfg.Addr, cfg.Discover = "", func(context.Context) ([]string, error) {
		return []string{"\x1b[2J:1", gone, ourAddr, otherAddr}, nil
	}
	works(t, cfg)
	if ours.Count("OpenSession") != 2 || ours.Count("CancelOperation") != 2 || other.Count("OpenSession") != 0 {
		t.Error(ours.Calls, other.Calls)
	}

	// At random, both get sessions: they miss one of them once in 2^99 times.
	cfg.Discover, cfg.InOrder, cfg.Addr = nil, false, ourAddr+","+otherAddr
	for range 100 {
		c, err := hive.Connect(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		c.Close()
	}
	if a, b := ours.Count("OpenSession")-2, other.Count("OpenSession"); a == 0 || b == 0 || a+b != 100 {
		t.Error(a, "and", b, "sessions")
	}
}

// TestServersErrors: the error names each server that was tried, with its own error, and no
// secret.
func TestServersErrors(t *testing.T) {
	gone, full := closedAddr(t), refusing(t)
	problem := errors.New("no node")
	many := make([]string, 1000)
	for i := range many {
		many[i] = fmt.Sprintf("h%d.example.com:1", i)
	}
	discover := func(addrs []string, err error) func(context.Context) ([]string, error) {
		return func(context.Context) ([]string, error) { return addrs, err }
	}
	refused := func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("no route") }
	for name, test := range map[string]struct {
		cfg  hive.Config
		want []string
		not  string
	}{
		"all":       {hive.Config{Addr: gone + "," + full}, []string{"hive: connecting: " + gone + ": dial", "; " + full + ": too many sessions"}, "not tried"},
		"empty":     {hive.Config{Addr: gone + ","}, []string{"; missing port in address"}, ""},
		"none":      {hive.Config{Discover: discover(nil, nil)}, []string{"found no server"}, ""},
		"discovery": {hive.Config{Discover: discover(nil, problem)}, []string{"hive: connecting: Config.Discover: no node"}, ""},
		"both":      {hive.Config{Addr: gone, Discover: discover(many, nil)}, []string{"both Addr and Discover"}, ""},
		"many":      {hive.Config{Discover: discover(many, nil), Dial: refused}, []string{"h0.example.com:1: no route", "h15.example.com", "984 more not tried"}, "h16"},
		"hostile": {hive.Config{Discover: discover([]string{"h\n:1", "a@b:1", "a/b:1", strings.Repeat("x", 1<<20) + ":1", ":1", "h:", "a,b:1"}, nil), Dial: refused},
			[]string{`"h\n:1"`, `"a@b:1"`, `"a/b:1"`, "an address of 1048578 bytes", `":1" has no host`, `"h:" has no`, `"a,b:1"`}, "\n"},
		"token": {hive.Config{Addr: "h:1,h:2", Token: "secret"}, []string{"Config.HTTP"}, "h:2"},
	} {
		test.cfg.InOrder, test.cfg.NoSASL, test.cfg.Password = true, true, "secret"
		_, err := hive.Connect(t.Context(), test.cfg)
		if err == nil || strings.Contains(err.Error(), "secret") || test.not != "" && strings.Contains(err.Error(), test.not) || len(err.Error()) > 4<<10 {
			t.Errorf("%s: %.5000v", name, err)
			continue
		}
		for _, part := range test.want {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%s: %v, without %q", name, err, part)
			}
		}
		if name == "discovery" && !errors.Is(err, problem) {
			t.Error(err)
		}
		var e *hive.Error
		if name == "all" && (!errors.As(err, &e) || e.Message != "too many sessions") {
			t.Error(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	tried := 0
	_, err := hive.Connect(ctx, hive.Config{Addr: "h:1,h:2", Dial: func(context.Context, string, string) (net.Conn, error) {
		tried++
		cancel()
		return nil, ctx.Err()
	}})
	if tried != 1 || !errors.Is(err, context.Canceled) {
		t.Error(tried, err)
	}
}

// TestServersLogin: a refused password is not tried at every server, where it may lock the
// account.
func TestServersLogin(t *testing.T) {
	one, two := good(), good()
	cfg := serveSASL(t, one)
	cfg.Addr += "," + serveSASL(t, two).Addr
	works(t, cfg)
	web := serveHTTP(t, good(), "Basic x", nil)
	web.Addr += "," + web.Addr
	cfg.Password = "wrong"
	for _, cfg := range []hive.Config{cfg, web} {
		_, err := hive.Connect(t.Context(), cfg)
		var status *rpc.HTTPError
		if refused := errors.Is(err, rpc.ErrLogin) || errors.As(err, &status) && status.Status == http.StatusUnauthorized; !refused || !strings.HasSuffix(err.Error(), "; 1 more not tried") {
			t.Error(err)
		}
	}
}

// TestServersTicket: each server has a principal of its own. After one that refuses a ticket, or
// that the KDC does not know, comes the next.
func TestServersTicket(t *testing.T) {
	cfg := serveSASL(t, good())
	cfg.Addr, cfg.InOrder = cfg.Addr+","+cfg.Addr, true
	for _, bad := range []rpc.SASLClient{ticket{"another host"}, unknown{}} {
		made := 0
		cfg.SASL = func(_ context.Context, host string) (rpc.SASLClient, error) {
			if made++; made == 1 {
				return bad, nil
			}
			return ticket{host}, nil
		}
		works(t, cfg)
		if made != 3 { // with the connection that cancels
			t.Error(made, "logins")
		}
	}
}

// unknown is a mechanism whose KDC does not know the server.
type unknown struct{ ticket }

func (unknown) Start() (string, []byte, error) { return "", nil, errors.New("not in the database") }

// TestDSNHosts: lists of servers, with the ports that they get.
func TestDSNHosts(t *testing.T) {
	for dsn, want := range map[string]string{
		"hive://h1:1,h2:2/db": "h1:1,h2:2", "hive://h1:1,h2": "h1:1,h2:10000", "h1,h2": "h1:10000,h2:10000", "h1:1,h2:2": "h1:1,h2:2",
		"ada:pass@h1:1,h2:2/db?auth=NOSASL": "h1:1,h2:2", "hive://[::1]:1,[::2]:2,[::3]": "[::1]:1,[::2]:2,[::3]:10000", "h1,h2?a.b=x@y": "h1:10000,h2:10000",
		"h1,h2?transport=http": "h1:10001,h2:10001", "h1,h2:pass@h1,h2/db": "h1:10000,h2:10000", "hive://ada:pa,ss@h/db": "h:10000", "h?a.b=c,d": "h:10000", "h/a,b": "h:10000",
	} {
		if cfg, err := hive.ParseDSN(dsn); err != nil || cfg.Addr != want {
			t.Error(dsn, cfg.Addr, err)
		}
	}
	for dsn, want := range map[string]string{
		",h": "no host", "h,": "one of the hosts is empty", "h,,i": "one of the hosts is empty", "h:1,i:99999": "port 99999", "h,i:pass": "one of the hosts is not", "h,pass word": "one of the hosts",
		"h;password=pass": "come after a ?", "h:1;password=pass,h": "escaped as in URLs", "h,i;password=pass": "come after a ?", "ada:pass/@h,i": "",
		"h?order=pass": "neither random nor given", "h?discovery=pass": "not zookeeper", "h?zooKeeperNamespace=x": "needs discovery=zookeeper", "h?discovery=zookeeper": "must import package hive/zookeeper",
	} {
		_, err := hive.ParseDSN(dsn)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(strings.ReplaceAll(err.Error(), "password", ""), "pass") {
			t.Errorf("%s: %v", dsn, err)
		}
	}
	for _, order := range []string{"random", "given"} {
		if cfg, err := hive.ParseDSN("h,i?order=" + order); err != nil || cfg.InOrder != (order == "given") || !slices.Equal(strings.Split(cfg.Addr, ","), []string{"h:10000", "i:10000"}) {
			t.Error(cfg, err)
		}
	}
}

// FuzzDSN: no data source name makes ParseDSN panic, and all addresses have a port.
func FuzzDSN(f *testing.F) {
	for _, dsn := range []string{"hive://u:p@h1:1,h2:2/db?order=given", "jdbc:hive2://h1,h2/db;ssl=true?a.b=c#d", "jdbc:hive2://h;password=p", "h,i", "://", "jdbc:x", "[::1]:1,[::2]", "hive://@,@/"} {
		f.Add(dsn)
	}
	f.Fuzz(func(t *testing.T, dsn string) {
		cfg, err := hive.ParseDSN(dsn)
		if err != nil {
			return
		}
		for addr := range strings.SplitSeq(cfg.Addr, ",") {
			if _, port, err := net.SplitHostPort(addr); err != nil || port == "" {
				t.Error(cfg.Addr, err)
			}
		}
	})
}
