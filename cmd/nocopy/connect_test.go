package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/nocopythrift/nocopythrift/nocopy/dynamic"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

const fleetIDL = `
struct Cell { 1: i32 x, 2: i32 y }
service Fleet { string ping(), map<Cell, list<i32>> count(1: map<Cell, i32> cells) }`

// fleet starts a server of fleetIDL that returns its IDL and answers only ping.
func fleet(t *testing.T, srv *rpc.Server) (addr string) {
	t.Helper()
	schema, err := dynamic.LoadText(map[string]string{"fleet.thrift": fleetIDL})
	if err != nil {
		t.Fatal(err)
	}
	service, err := schema.Service("Fleet")
	if err != nil {
		t.Fatal(err)
	}
	srv.Processor = service.Processor(func(_ context.Context, c *dynamic.Call) error { return c.Return("pong") }).
		WithIDL("Fleet", rpc.IDLFile{Path: "fleet.thrift", Text: fleetIDL})
	srv.Describe, srv.Logger = true, slog.New(slog.DiscardHandler)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(l) }()
	t.Cleanup(func() { srv.Close(); <-served })
	return l.Addr().String()
}

// certificate makes a certificate for 127.0.0.1 and fleet.example which is its own authority, and
// writes it and its key to files.
func certificate(t *testing.T) (pair tls.Certificate, cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature, DNSNames: []string{"fleet.example"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	pkcs, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	certText := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	keyText := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs})
	if pair, err = tls.X509KeyPair(certText, keyText); err != nil {
		t.Fatal(err)
	}
	return pair, write(t, "cert.pem", string(certText)), write(t, "key.pem", string(keyText))
}

// plainLogin is the server's side of PLAIN: it knows one user.
type plainLogin struct{}

func (plainLogin) Next(response []byte) ([]byte, bool, error) {
	if string(response) == "\x00ann\x00s3cret" {
		return nil, true, nil
	}
	return nil, false, errors.New("not ann")
}

// TestLogins: TLS, certificates of clients and logins by SASL, alone and together. An error says
// which flag is missing.
func TestLogins(t *testing.T) {
	pair, cert, key := certificate(t)
	_, otherCert, otherKey := certificate(t)
	authority := x509.NewCertPool()
	authority.AddCert(pair.Leaf)
	settings := &tls.Config{Certificates: []tls.Certificate{pair}}
	mutual := &tls.Config{Certificates: []tls.Certificate{pair}, ClientCAs: authority, ClientAuth: tls.RequireAndVerifyClientCert}
	login := func(_ context.Context, mechanism string) rpc.SASLServer {
		if mechanism != "PLAIN" {
			return nil
		}
		return plainLogin{}
	}
	open, encrypted, both := fleet(t, &rpc.Server{}), fleet(t, &rpc.Server{TLS: settings}), fleet(t, &rpc.Server{TLS: mutual})
	user, all := fleet(t, &rpc.Server{SASL: login}), fleet(t, &rpc.Server{TLS: mutual, SASL: login})
	for _, c := range []struct {
		addr, password, want string // want is part of the error's text
		flags                []string
	}{
		{encrypted, "", "add -tls", nil},
		{encrypted, "", "-ca FILE", []string{"-tls"}},
		{encrypted, "", "", []string{"-ca", cert}},
		{encrypted, "", "", []string{"-insecure"}},
		{encrypted, "", "", []string{"-ca", cert, "-server-name", "fleet.example"}},
		{encrypted, "", "", []string{"-ca", cert, "-transport", "http"}},
		{encrypted, "", "", []string{"-ca", cert, "-transport", "unframed", "-protocol", "compact"}},
		{encrypted, "", "not other.example", []string{"-ca", cert, "-server-name", "other.example"}},
		{encrypted, "", "-ca FILE", []string{"-ca", otherCert}},
		{encrypted, "", "no certificate in PEM", []string{"-ca", key}},
		{open, "", "not speak TLS", []string{"-tls"}},
		{both, "", "add -cert FILE -key FILE", []string{"-ca", cert}},
		{both, "", "add -cert FILE -key FILE", []string{"-ca", cert, "-transport", "framed"}},
		{both, "", "tls: ", []string{"-ca", cert, "-cert", otherCert, "-key", otherKey}},
		{both, "", "", []string{"-ca", cert, "-cert", cert, "-key", key}},
		{both, "", "", []string{"-ca", cert, "-cert", cert, "-key", key, "-transport", "http"}},
		{user, "", "add -sasl PLAIN", nil},
		{user, "", "add -sasl PLAIN", []string{"-transport", "framed"}},
		{user, "", "NOCOPY_PASSWORD", []string{"-sasl", "PLAIN", "-user", "ann"}},
		{user, "s3cret", "", []string{"-sasl", "PLAIN", "-user", "ann"}},
		{user, "s3cret", "", []string{"-sasl", "plain", "-user", "ann", "-transport", "theader"}},
		{user, "s3cret", "unknown mechanism", []string{"-sasl", "ANONYMOUS"}},
		{user, "s3cret", "known are PLAIN", []string{"-sasl", "CRAM"}},
		{open, "s3cret", "leave -sasl away", []string{"-sasl", "PLAIN", "-user", "ann"}},
		{all, "s3cret", "", []string{"-ca", cert, "-cert", cert, "-key", key, "-sasl", "PLAIN", "-user", "ann"}},
		{all, "s3cret", "add -sasl PLAIN", []string{"-ca", cert, "-cert", cert, "-key", key}},
	} {
		t.Setenv("NOCOPY_PASSWORD", c.password)
		out, errs, code := nocopy(t, "", append([]string{"call", c.addr, "ping"}, c.flags...)...)
		if c.want == "" && (code != 0 || out != "\"pong\"\n") || c.want != "" && (code == 0 || !strings.Contains(errs, c.want)) {
			t.Errorf("%v with password %q: %d %s%s; want %q", c.flags, c.password, code, out, errs, c.want)
		}
		if strings.Contains(out+errs, "s3cret") {
			t.Errorf("%v: the password is printed: %s", c.flags, errs)
		}
	}
}

// TestDetect: a server that speaks in one way only, and answers other clients that it does not
// know theirs, is found to speak in this way.
func TestDetect(t *testing.T) {
	for want, wire := range map[string]rpc.Wires{
		"framed binary": rpc.WireFramed, "unframed binary": rpc.WireUnframed, "framed compact": rpc.WireFramedCompact,
		"unframed compact": rpc.WireUnframedCompact, "theader binary": rpc.WireTHeader, "http binary": rpc.WireHTTP,
	} {
		addr := fleet(t, &rpc.Server{Wires: wire})
		if out, errs, code := nocopy(t, "", "call", addr, "ping", "-v"); code != 0 || out != "\"pong\"\n" || !strings.Contains(errs, "# "+want) {
			t.Errorf("%s: %d %s%s", want, code, out, errs)
		}
	}
}

// TestFiles: a mock returns IDL of several files, one for each service. Values of maps whose keys
// are structs are made up, too, and compared in any order.
func TestFiles(t *testing.T) {
	idl := write(t, "all.thrift", fleetIDL)
	folder := idl[:len(idl)-len("all.thrift")]
	for name, text := range map[string]string{
		"a.thrift": "service Base { i32 zero() }",
		"e.thrift": "enum Kind { TRUCK }",
		"z.thrift": "include \"a.thrift\"\ninclude \"e.thrift\"\nenum Kind { SHIP }\nservice Last extends a.Base { i32 one() }\nservice More { i32 two(1: Kind k, 2: e.Kind other) }",
	} {
		if err := os.WriteFile(folder+name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	addr, _ := start(t, "mock", "-idl", folder+"z.thrift", "-idl", idl, "-listen", "127.0.0.1:0")
	for _, method := range []string{"Base.zero", "Last.zero", "Last.one", "More.two", "two", "Fleet.ping", "count"} {
		if out, errs, code := nocopy(t, "", "call", addr, method); code != 0 || len(out) < 2 {
			t.Errorf("%s: %d %s%s", method, code, out, errs)
		}
	}
	page, _ := start(t, "console", addr, "-listen", "127.0.0.1:0", "-token", "off")
	if status, text, _ := request(t, "GET", "http://"+page+"/_console/state", ""); status != 200 || !strings.Contains(text, `["SHIP"]`) || !strings.Contains(text, `["TRUCK"]`) {
		t.Errorf("%d %s", status, text)
	}
	// Given as a file, IDL does not say that the server is a multiplexing one.
	several, _ := start(t, "mock", "-idl", idl, "-listen", "127.0.0.1:0")
	more := write(t, "more.thrift", "service Fleet { string pong() }")
	if _, errs, code := nocopy(t, "", "call", several, "pong", "-idl", more); code != 65 || !strings.Contains(errs, "call Fleet:pong") {
		t.Errorf("%d %s", code, errs)
	}
	if out, errs, code := nocopy(t, "", "call", addr, "count"); code != 0 || !strings.HasPrefix(out, "[\n  [\n    {\n      \"x\": ") {
		t.Errorf("%d %s%s", code, out, errs)
	}
	answer := func(text string) string {
		return write(t, "answers.jsonl", `{"method": "Fleet.count", "args": {}, "result": `+text+"}\n")
	}
	for text, want := range map[string]int{
		`[[{"x": 2}, [1]], [{"x": 1, "y": 3}, [3]]]`: 0, `[[{"x": 1, "y": 3}, [3]], [{"x": 2}, [1]]]`: 0, `[[{"x": 1, "y": 3}, [3]], [{"x": 2}, [2]]]`: 100,
		`[[{"x": 1, "y": 3}, [3]]]`: 100,
	} {
		other, _ := start(t, "mock", "-idl", idl, "-listen", "127.0.0.1:0", "-answers", answer(text))
		out, errs, code := nocopy(t, "", "replay", answer(`[[{"x": 1, "y": 3}, [3]], [{"x": 2}, [1]]]`), other, "-only", "Fleet:count")
		if code != want {
			t.Errorf("%s: %d %s%s", text, code, out, errs)
		}
	}
	if _, errs, code := nocopy(t, "", "replay", answer("[]"), addr, "-only", "coun"); code != 1 || !strings.Contains(errs, "no call of coun") {
		t.Errorf("%d %s", code, errs)
	}
}

// TestSilentTLS: a server expects TLS, and closes other connections without an answer. The tool
// then tries a handshake of TLS, and its error says to add -tls.
func TestSilentTLS(t *testing.T) {
	t.Parallel()
	web := httptest.NewTLSServer(http.NotFoundHandler())
	defer web.Close()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer nc.Close()
				nc.SetDeadline(time.Now().Add(time.Minute))
				begin := make([]byte, 1)
				nc.Read(begin)
				if begin[0] == 0x16 {
					tls.Server(begun{nc, io.MultiReader(bytes.NewReader(begin), nc)}, web.TLS).Handshake()
				}
			}()
		}
	}()
	addr := l.Addr().String()
	for want, args := range map[string][]string{
		"(the server speaks TLS: add -tls)\n":                     {"call", addr, "f", "-raw"},
		"(perhaps the server expects TLS: add -tls; or it has no": {"call", addr, "f", "-raw", "-sasl", "PLAIN", "-user", "a", "-password", "b", "-transport", "framed", "-protocol", "binary"},
	} {
		if _, errs, code := nocopy(t, "", append(args, "-timeout", "50s")...); code != 1 || !strings.Contains(errs, want) {
			t.Errorf("%v: %d %s", args, code, errs)
		}
	}
}

// begun is a connection whose first bytes have been read.
type begun struct {
	net.Conn
	r io.Reader
}

func (b begun) Read(p []byte) (int, error) { return b.r.Read(p) }
