package capture

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gopacket/gopacket/layers"

	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/capture/capturetest"
	"github.com/nocopythrift/nocopythrift/nocopy/dynamic"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// found collects what a capture has.
type found struct {
	calls []*Call
	notes []string
}

func (f *found) Err() error   { return nil }
func (f *found) Call(c *Call) { f.calls = append(f.calls, c) }
func (f *found) Note(n *Note) { f.notes = append(f.notes, n.Text) }

// read reads a capture.
func read(t *testing.T, b []byte, opt Options) (*found, Summary) {
	t.Helper()
	f := new(found)
	sum, err := Read(t.Context(), bytes.NewReader(b), opt, f)
	if err != nil {
		t.Fatal(err)
	}
	return f, sum
}

// String returns the calls and notes, a line each.
func (f *found) String() string {
	var lines []string
	for _, c := range f.calls {
		outcome := fmt.Sprintf("→ %x", c.Reply)
		if c.Oneway {
			outcome = "oneway"
		}
		if c.Err != nil {
			outcome = c.Err.Error()
		}
		if c.Assumed {
			outcome += " (assumed)"
		}
		lines = append(lines, fmt.Sprintf("%s %s %x %s", c.Wire, c.Method, c.Args, outcome))
	}
	return strings.Join(append(lines, f.notes...), "\n")
}

const echoIDL = `
struct Deep { 1: map<string, list<double>> m, 2: set<i64> s, 3: list<Deep> more, 4: bool yes, 5: bool no, 6: list<bool> bits, 7: uuid u, 8: i8 b, 9: binary bin, 20: i16 far, 21: map<i32, i32> none }
exception Refused { 1: string why }
service Echo { string say(1: string text) throws (1: Refused r)  Deep deep(1: Deep d)  oneway void tell(1: string text)  void fail() }`

// echo returns a processor of the service Echo, and the service.
func echo(t *testing.T) (*rpc.Processor, dynamic.Service) {
	t.Helper()
	schema, err := dynamic.LoadText(map[string]string{"echo.thrift": echoIDL})
	if err != nil {
		t.Fatal(err)
	}
	service, err := schema.Service("Echo")
	if err != nil {
		t.Fatal(err)
	}
	return service.Processor(func(_ context.Context, c *dynamic.Call) error {
		switch name := c.Method.Name(); name {
		case "fail":
			return &rpc.ApplicationException{Type: rpc.InternalError, Message: "no \x1b[31m"}
		case "say", "deep":
			field := map[string]string{"say": "text", "deep": "d"}[name]
			v, err := c.Args.Get(field)
			if err != nil {
				return err
			}
			return c.Return(v)
		}
		return nil
	}), service
}

// serve serves the processor and returns its address.
func serve(t *testing.T, srv *rpc.Server) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(l) }()
	t.Cleanup(func() { srv.Close(); <-ended })
	return l.Addr().String()
}

// talk makes some calls.
func talk(t *testing.T, c rpc.Caller) {
	t.Helper()
	call := func(method, args string) error {
		b, err := dynamicArgs(method, args)
		if err != nil {
			t.Fatal(err)
		}
		if method == "tell" || strings.HasSuffix(method, ":tell") {
			return dynamic.CallRawOneway(t.Context(), c, method, b)
		}
		_, err = dynamic.CallRaw(t.Context(), c, method, b)
		return err
	}
	if err := call("say", `{"text": "héllo"}`); err != nil {
		t.Fatal(err)
	}
	if err := call("tell", `{"text": "away"}`); err != nil {
		t.Fatal(err)
	}
	var refused *rpc.ApplicationException
	if err := call("fail", `{}`); !errors.As(err, &refused) {
		t.Fatal(err)
	}
	if err := call("say", `{"text": "`+strings.Repeat("0123456789", 2000)+`"}`); err != nil {
		t.Fatal(err)
	}
	if err := call("deep", deep); err != nil {
		t.Fatal(err)
	}
}

const deep = `{"d": {"m": {"a": [1.5, -2]}, "s": [-1, 9007199254740993], "more": [{"yes": true, "no": false, "bits": [true, false]}, {}], "u": "01234567-89ab-cdef-0123-456789abcdef", "b": -3, "bin": "AAH/", "far": -300, "none": {}}}`

// dynamicArgs returns the wire bytes of arguments.
func dynamicArgs(method, args string) ([]byte, error) {
	schema, err := dynamic.LoadText(map[string]string{"echo.thrift": echoIDL})
	if err != nil {
		return nil, err
	}
	service, err := schema.Service("Echo")
	if err != nil {
		return nil, err
	}
	for m := range service.AllMethods() {
		if m.Name() == method[strings.LastIndexByte(method, ':')+1:] {
			v, err := dynamic.Type{Struct: m.Args()}.FromJSON([]byte(args))
			if err != nil {
				return nil, err
			}
			return v.Message().AppendTo(nil), nil
		}
	}
	return nil, errors.New("no method " + method)
}

// talked returns what talk's calls look like, in a wire and under a prefix.
func talked(t *testing.T, wire, prefix string) string {
	t.Helper()
	var lines []string
	add := func(method, args, outcome string) {
		b, err := dynamicArgs(method, args)
		if err != nil {
			t.Fatal(err)
		}
		if outcome == "echo" { // the result has field 0 instead of field 1
			reply := slices.Clone(b)
			reply[2] = 0
			outcome = fmt.Sprintf("→ %x", reply)
		}
		lines = append(lines, fmt.Sprintf("%s %s%s %x %s", wire, prefix, method, b, outcome))
	}
	add("say", `{"text": "héllo"}`, "echo")
	add("tell", `{"text": "away"}`, "oneway")
	add("fail", `{}`, (&rpc.ApplicationException{Type: rpc.InternalError, Message: "no \x1b[31m"}).Error())
	add("say", `{"text": "`+strings.Repeat("0123456789", 2000)+`"}`, "echo")
	add("deep", deep, "echo")
	text := strings.Join(lines, "\n")
	if strings.HasSuffix(wire, "compact") { // which has no types of an empty map
		text = strings.ReplaceAll(text, "0d0015080800000000", "0d0015000000000000")
	}
	return text
}

// wires are the ways to speak.
var wires = []struct {
	name string
	opts []rpc.Option
}{
	{"framed binary", nil},
	{"unframed binary", []rpc.Option{rpc.Unframed}},
	{"framed compact", []rpc.Option{rpc.Protocol(rpc.Compact)}},
	{"unframed compact", []rpc.Option{rpc.Unframed, rpc.Protocol(rpc.Compact)}},
	{"theader binary", []rpc.Option{rpc.THeader()}},
	{"theader compact", []rpc.Option{rpc.THeader(rpc.Zlib), rpc.Protocol(rpc.Compact)}},
	{"http binary", nil},
	{"http compact", []rpc.Option{rpc.Protocol(rpc.Compact)}},
}

// tape records talk on a wire.
func tape(t *testing.T, addr, wire, multiplexed string, opts ...rpc.Option) *capturetest.Tape {
	t.Helper()
	tape := new(capturetest.Tape)
	opts = append(opts, rpc.Dialer(tape.DialContext))
	var c rpc.Caller
	if strings.HasPrefix(wire, "http") {
		caller, err := rpc.DialHTTP("http://"+addr+"/", append(opts, rpc.PoolSize(1))...)
		if err != nil {
			t.Fatal(err)
		}
		c = caller
	} else {
		client, err := rpc.Dial(t.Context(), "tcp", addr, opts...)
		if err != nil {
			t.Fatal(err)
		}
		c = client
	}
	named := c
	if multiplexed != "" {
		named = rpc.MultiplexedCaller(c, multiplexed)
	}
	talk(t, named)
	c.(io.Closer).Close()
	return tape
}

// TestWires reads calls on every wire, in both formats of files, and on every link layer. Packets
// are as small as a byte.
func TestWires(t *testing.T) {
	p, _ := echo(t)
	addr := serve(t, &rpc.Server{Processor: p})
	mux := serve(t, &rpc.Server{Processor: rpc.Multiplexed(map[string]*rpc.Processor{"E": p})})
	for _, w := range wires {
		t.Run(w.name, func(t *testing.T) {
			want := talked(t, w.name, "")
			tape := tape(t, addr, w.name, "", w.opts...)
			for _, c := range []*capturetest.Capture{{}, {VLAN: true}, {Link: layers.LinkTypeLoop}, {Link: layers.LinkTypeRaw}, {Link: layers.LinkTypeLinuxSLL}, {Link: layers.LinkTypeLinuxSLL2}} {
				tape.Play(c, "10.0.0.1", "10.0.0.2:9090")
				tape.Play(c, "2001:db8::1", "[2001:db8::2]:9090")
				for i, b := range [][]byte{c.PCAP(), c.PCAPNG(), c.Nanoseconds()} {
					f, sum := read(t, b, Options{})
					if f.String() != want+"\n"+want || sum.Replies != 0 || sum.Connections != 2 || len(sum.LeftOut) > 0 {
						t.Fatalf("link %v, format %d: %+v\n%s", c.Link, i, sum, difference(f.String(), want+"\n"+want))
					}
					call := f.calls[0]
					if call.Client.String() != "10.0.0.1:50001" || call.Server.String() != "10.0.0.2:9090" || !call.Began.Equal(capturetest.Began.Add(3*time.Millisecond)) || call.Took != time.Millisecond && w.name[0] != 'h' {
						t.Errorf("%+v", call)
					}
				}
			}
		})
		t.Run(w.name+" multiplexed", func(t *testing.T) {
			c := new(capturetest.Capture)
			tape(t, mux, w.name, "E", w.opts...).Play(c, "10.0.0.1", "10.0.0.2:9090")
			want := talked(t, w.name, "E:")
			if f, sum := read(t, c.PCAP(), Options{Port: 9090}); f.String() != want {
				t.Fatalf("%+v\n%s", sum, difference(f.String(), want))
			}
		})
	}
}

// TestOtherWires: what can't be read is named.
func TestOtherWires(t *testing.T) {
	c := new(capturetest.Capture)
	web := new(capturetest.Tape)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "hello") }))
	defer srv.Close()
	client := &http.Client{Transport: &http.Transport{DialContext: web.DialContext}}
	resp, err := client.Get(srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	client.CloseIdleConnections()
	web.Play(c, "10.0.0.1", "10.0.0.2:80")

	secret := new(capturetest.Tape)
	https := httptest.NewTLSServer(http.NotFoundHandler())
	defer https.Close()
	client = &http.Client{Transport: &http.Transport{DialContext: secret.DialContext, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	if resp, err = client.Get(https.URL); err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	client.CloseIdleConnections()
	secret.Play(c, "10.0.0.1", "10.0.0.2:443")

	for i, say := range []string{"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "SSH-2.0-OpenSSH_9.2\r\n", "\x00\x00\x00\x08\x04\xd2\x16\x2f", "\x00\x00\x00\x20\x10\x00\x00\x02\x00\x00\x00\x01\x00\x01\x00\x00\x00\x00protobuf"} {
		conn := c.Conn("10.0.0.1:4000"+fmt.Sprint(i), "10.0.0.2:22")
		conn.Open()
		conn.Send(capturetest.Client, []byte(say))
		conn.Send(capturetest.Server, []byte("\x00\x00\x12\x04\x00\x00\x00\x00\x00"))
		conn.Close()
	}
	c.Fragment("10.0.0.1", "10.0.0.2")
	f, sum := read(t, c.PCAP(), Options{})
	var have []string
	for _, l := range sum.LeftOut {
		have = append(have, fmt.Sprint(l.N, " ", l.What))
	}
	slices.Sort(have)
	want := []string{"1 connections: HTTP without Thrift messages", "1 connections: HTTP/2: not read", "1 connections: Kitex's TTHeader without Thrift messages, such as its streams",
		"1 connections: TLS: can't be read", "1 fragments of IP packets, which are not put together", "2 connections: another protocol"}
	if !slices.Equal(have, want) || f.String() != "" {
		t.Errorf("have %q\nwant %q\n%s", have, want, f)
	}
}

// difference returns the parts of two texts from shortly before their first difference.
func difference(have, want string) string {
	i := 0
	for i < min(len(have), len(want)) && have[i] == want[i] {
		i++
	}
	part := func(s string) string { return s[max(0, min(i-200, len(s))):min(len(s), i+200)] }
	return fmt.Sprintf("have …%s…\nwant …%s…", part(have), part(want))
}
