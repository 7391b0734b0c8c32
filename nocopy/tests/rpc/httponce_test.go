package rpc_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
)

// onceServer counts the calls that reach it whole. It ends each as the test says.
type onceServer struct {
	url     string
	handled atomic.Int64
	begun   atomic.Int64 // requests whose header has arrived
}

// onceEnd ends the nth request of a server, whose body has arrived, in stream (HTTP/2).
type onceEnd func(nc net.Conn, l net.Listener, stream uint32, n int64)

// h2Frame returns a frame of HTTP/2.
func h2Frame(typ, flags byte, stream uint32, payload []byte) []byte {
	b := []byte{byte(len(payload) >> 16), byte(len(payload) >> 8), byte(len(payload)), typ, flags}
	return append(binary.BigEndian.AppendUint32(b, stream), payload...)
}

const (
	h2Data, h2Headers, h2Reset, h2Settings, h2GoAway, h2WindowUpdate = 0, 1, 3, 4, 7, 8
	h2EndStream, h2EndHeaders                                        = 1, 4
	h2Refused                                                        = 7
)

func h2Rst(stream uint32, code byte) []byte {
	return h2Frame(h2Reset, 0, stream, []byte{0, 0, 0, code})
}

func h2Away(last uint32, code byte) []byte {
	return h2Frame(h2GoAway, 0, 0, append(binary.BigEndian.AppendUint32(nil, last), 0, 0, 0, code))
}

// h2Response returns the HEADERS of a response.
func h2Response(stream uint32, status int, location string) []byte {
	block := fmt.Appendf([]byte{8, 3}, "%d", status)
	if location != "" {
		block = append(append(block, 0x0f, 31, byte(len(location))), location...)
	}
	return h2Frame(h2Headers, h2EndHeaders, stream, block)
}

func h2Reply(stream uint32, body []byte) []byte {
	return append(h2Response(stream, 200, ""), h2Frame(h2Data, h2EndStream, stream, body)...)
}

// serveH2 starts a server of HTTP/2 over TLS. If early, a call ends at its first bytes.
func serveH2(t *testing.T, cert tls.Certificate, early bool, end onceEnd) *onceServer {
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{cert}, NextProtos: []string{"h2"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	s := &onceServer{url: "https://" + l.Addr().String()}
	go acceptAll(l, func(nc net.Conn) {
		defer nc.Close()
		if _, err := io.ReadFull(nc, make([]byte, 24)); err != nil {
			return
		}
		nc.Write(h2Frame(h2Settings, 0, 0, nil))
		head, got, ended := make([]byte, 9), map[uint32]uint32{}, map[uint32]bool{}
		for {
			if _, err := io.ReadFull(nc, head); err != nil {
				return
			}
			n := uint32(head[0])<<16 | uint32(head[1])<<8 | uint32(head[2])
			io.CopyN(io.Discard, nc, int64(n))
			stream, last := binary.BigEndian.Uint32(head[5:]), head[4]&h2EndStream > 0
			switch head[3] {
			case h2Settings:
				if head[4] == 0 {
					nc.Write(h2Frame(h2Settings, 1, 0, nil))
				}
			case h2Headers:
				s.begun.Add(1)
			case h2Data:
				if n > 0 {
					nc.Write(h2Frame(h2WindowUpdate, 0, 0, binary.BigEndian.AppendUint32(nil, n)))
				}
				if got[stream] += n; last && got[stream] > 0 {
					s.handled.Add(1)
				}
				if (last || early) && !ended[stream] {
					ended[stream] = true
					end(nc, l, stream, s.begun.Load())
				}
			}
		}
	})
	return s
}

// serveH1 starts a server of HTTP/1.1. If early, a call ends after its header.
func serveH1(t *testing.T, early bool, end onceEnd) *onceServer {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	s := &onceServer{url: "http://" + l.Addr().String()}
	go acceptAll(l, func(nc net.Conn) {
		defer nc.Close()
		for in := bufio.NewReader(nc); ; {
			r, err := http.ReadRequest(in)
			if err != nil {
				return
			}
			n := s.begun.Add(1)
			if !early {
				if _, err := io.Copy(io.Discard, r.Body); err != nil {
					return
				}
				s.handled.Add(1)
			}
			end(nc, l, 0, n)
		}
	})
	return s
}

func acceptAll(l net.Listener, serve func(nc net.Conn)) {
	for {
		nc, err := l.Accept()
		if err != nil {
			return
		}
		go serve(nc)
	}
}

// onceClients are the clients that DialHTTP can make. token's Transport is the program's, again's
// repeats each request that fails.
var onceClients = map[string]func(t *testing.T, conf *tls.Config) []rpc.Option{
	"own": func(t *testing.T, conf *tls.Config) []rpc.Option { return []rpc.Option{rpc.TLS(conf)} },
	"net/http": func(t *testing.T, conf *tls.Config) []rpc.Option {
		return []rpc.Option{rpc.HTTPClient(&http.Client{Transport: onceTransport(t, conf)})}
	},
	"token": func(t *testing.T, conf *tls.Config) []rpc.Option {
		of := onceTransport(t, conf)
		return []rpc.Option{rpc.HTTPClient(&http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
			r = r.Clone(r.Context())
			r.Header.Set("Authorization", "Bearer secret")
			return of.RoundTrip(r)
		})})}
	},
	"again": func(t *testing.T, conf *tls.Config) []rpc.Option {
		of := onceTransport(t, conf)
		return []rpc.Option{rpc.HTTPClient(&http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
			early, _ := r.GetBody() // a reader from before the first try
			response, err := of.RoundTrip(r)
			for _, open := range []func() (io.ReadCloser, error){r.GetBody, func() (io.ReadCloser, error) { return early, nil }, r.GetBody} {
				if err != nil {
					r = r.Clone(r.Context())
					if body, err := open(); err == nil {
						r.Body = body
					}
					response, err = of.RoundTrip(r)
				}
			}
			return response, err
		})})}
	},
}

func onceTransport(t *testing.T, conf *tls.Config) *http.Transport {
	of := &http.Transport{TLSClientConfig: conf.Clone(), ForceAttemptHTTP2: true, ExpectContinueTimeout: time.Minute}
	t.Cleanup(of.CloseIdleConnections)
	return of
}

// onceCall makes a call of n bytes to a server. Retry would repeat it if it were ErrNotSent.
func onceCall(t *testing.T, url string, n int, opts []rpc.Option) error {
	tries := rpc.Retry(rpc.RetryPolicy{MinPause: -1, Budget: -1})
	c := echo.NewEchoClient(dialHTTP(t, url, append([]rpc.Option{rpc.Interceptors(tries)}, opts...)...))
	ctx, cancel := context.WithTimeout(bg, time.Minute)
	defer cancel()
	_, err := c.Echo(ctx, func(args echo.EchoEchoArgs) { args.SetPayload(make([]byte, n)) })
	return err
}

// TestHTTPOnce: a call that has reached a server whole reaches none again, however its stream or
// connection ends, and whatever Transport the program has. Its error never says that it was not
// sent.
func TestHTTPOnce(t *testing.T) {
	t.Parallel()
	cert, pool := certificate(t)
	elsewhere := new(onceServer) // where redirects lead
	elsewhere.url = fakeHTTP(t, func(w http.ResponseWriter, r *http.Request) { elsewhere.handled.Add(1) })
	write := func(b func(stream uint32) []byte) onceEnd {
		return func(nc net.Conn, _ net.Listener, stream uint32, _ int64) { nc.Write(b(stream)) }
	}
	then := func(first, second onceEnd) onceEnd {
		return func(nc net.Conn, l net.Listener, stream uint32, n int64) {
			first(nc, l, stream, n)
			second(nc, l, stream, n)
		}
	}
	closes := func(nc net.Conn, _ net.Listener, _ uint32, _ int64) { nc.Close() }
	gone := func(_ net.Conn, l net.Listener, _ uint32, _ int64) { l.Close() }
	h1, h2 := map[string]onceEnd{"close": closes, "gone": then(gone, closes)}, map[string]onceEnd{"close": closes, "gone": then(gone, closes)}
	for code := range byte(14) {
		if code != h2Refused { // see TestHTTPRefusedStream
			rst := write(func(stream uint32) []byte { return h2Rst(stream, code) })
			h2[fmt.Sprint("RST_STREAM ", code)] = rst
			h2[fmt.Sprint("gone, RST_STREAM ", code)] = then(gone, rst)
			h2[fmt.Sprint("GOAWAY, RST_STREAM ", code)] = then(write(func(stream uint32) []byte { return h2Away(stream, 0) }), rst)
		}
		h2[fmt.Sprint("GOAWAY ", code)] = then(write(func(stream uint32) []byte { return h2Away(stream, code) }), closes)
		h2[fmt.Sprint("later GOAWAY ", code)] = then(write(func(stream uint32) []byte { return h2Away(stream+2, code) }), closes)
		h2[fmt.Sprint("header, RST_STREAM ", code)] = write(func(stream uint32) []byte { return append(h2Response(stream, 200, ""), h2Rst(stream, code)...) })
		h2[fmt.Sprint("half a reply, RST_STREAM ", code)] = write(func(stream uint32) []byte {
			return append(append(h2Response(stream, 200, ""), h2Frame(h2Data, 0, stream, []byte("\x80\x01"))...), h2Rst(stream, code)...)
		})
	}
	h2["half a reply"] = then(write(func(stream uint32) []byte {
		return append(h2Response(stream, 200, ""), h2Frame(h2Data, 0, stream, []byte("\x80\x01"))...)
	}), closes)
	for name, text := range map[string]string{
		"half a status": "HTTP/1.", "half a header": "HTTP/1.1 200 OK\r\nContent-", "half a reply": "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n\x80\x01",
		"100": "HTTP/1.1 100 Continue\r\n\r\n", "408": "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n", "nonsense": "\r\n\r\n\r\n",
	} {
		h1[name] = then(write(func(uint32) []byte { return []byte(text) }), closes)
	}
	for _, status := range []int{301, 302, 303, 307, 308} {
		for name, to := range map[string]string{"elsewhere": elsewhere.url, "nowhere": "http://127.0.0.1:1/", "here": "/x"} {
			h1[fmt.Sprint(status, " ", name)] = write(func(uint32) []byte {
				return fmt.Appendf(nil, "HTTP/1.1 %d X\r\nLocation: %s\r\nContent-Length: 0\r\n\r\n", status, to)
			})
			h2[fmt.Sprint(status, " ", name)] = write(func(stream uint32) []byte {
				return append(h2Response(stream, status, to), h2Frame(h2Data, h2EndStream, stream, nil)...)
			})
		}
	}
	for client, dials := range onceClients {
		for proto, ends := range map[string]map[string]onceEnd{"HTTP/1.1": h1, "HTTP/2": h2} {
			t.Run(client+", "+proto, func(t *testing.T) {
				t.Parallel()
				for name, end := range ends {
					var s *onceServer
					if proto == "HTTP/2" {
						s = serveH2(t, cert, false, end)
					} else {
						s = serveH1(t, false, end)
					}
					err := onceCall(t, s.url, 100, dials(t, &tls.Config{RootCAs: pool}))
					var status *rpc.HTTPError
					lost := errors.Is(err, rpc.ErrConnLost) || errors.As(err, &status) || strings.Contains(err.Error(), "bad reply")
					if n := s.handled.Load(); n != 1 || err == nil || errors.Is(err, rpc.ErrNotSent) || !lost {
						t.Errorf("%s: handled %d times: %v", name, n, err)
					}
					if strings.Contains(err.Error(), "GetBody") {
						t.Errorf("%s: %v", name, err)
					}
				}
			})
		}
	}
	t.Cleanup(func() {
		if n := elsewhere.handled.Load(); n != 0 {
			t.Errorf("%d calls were sent elsewhere", n)
		}
	})
}

// TestHTTPRefusedStream: a call that an HTTP/2 server has certainly not handled is sent again, up
// to six times. Then its error says that it was not sent.
func TestHTTPRefusedStream(t *testing.T) {
	t.Parallel()
	cert, pool := certificate(t)
	answer := func(nc net.Conn, stream uint32) {
		nc.Write(h2Reply(stream, strict(reply, "echo", 1, []byte("\x0b\x00\x00\x00\x00\x00\x01x\x00"))))
	}
	refusals := map[string]func(nc net.Conn, stream uint32){
		"REFUSED_STREAM": func(nc net.Conn, stream uint32) { nc.Write(h2Rst(stream, h2Refused)) },
		"GOAWAY":         func(nc net.Conn, stream uint32) { nc.Write(h2Away(stream-2, 0)) },
	}
	for _, client := range []string{"own", "net/http"} {
		opts := onceClients[client](t, &tls.Config{RootCAs: pool})
		for name, refuse := range refusals {
			for _, size := range []int{100, 100_000} { // the window ends after 65,535 bytes
				first := uint32(1)
				if name == "GOAWAY" { // it answers the first call of each connection
					first = 3
				}
				for _, answered := range []int64{2, 7, 1000} {
					refused := int64(0)
					s := serveH2(t, cert, size > 65_535, func(nc net.Conn, _ net.Listener, stream uint32, n int64) {
						if stream < first {
							answer(nc, stream)
							return
						}
						if refused++; refused == answered {
							answer(nc, stream)
							return
						}
						refuse(nc, stream)
					})
					c := echo.NewEchoClient(dialHTTP(t, s.url, opts...))
					call := func(n int) error {
						_, err := c.Echo(bg, func(args echo.EchoEchoArgs) { args.SetPayload(make([]byte, n)) })
						return err
					}
					if first > 1 {
						if err := call(1); err != nil {
							t.Errorf("%s, %s: the first call: %v", client, name, err)
						}
					}
					err := call(size)
					if first > 1 { // a new connection's first call is answered
						if err != nil {
							t.Errorf("%s, %s, %d bytes: %v", client, name, size, err)
						}
						break
					}
					if want := answered > 7; errors.Is(err, rpc.ErrNotSent) != want || (err != nil) != want || errors.Is(err, rpc.ErrConnLost) {
						t.Errorf("%s, %s, %d bytes, answered the %dth time: %v", client, name, size, answered, err)
					}
					if n := s.begun.Load(); n != min(answered, 7) {
						t.Errorf("%s, %s, %d bytes, answered the %dth time: sent %d times", client, name, size, answered, n)
					}
				}
			}
		}
	}
}

// TestHTTPHalfSent: a server that ends a call before it has the whole of it can't have handled it.
func TestHTTPHalfSent(t *testing.T) {
	t.Parallel()
	cert, pool := certificate(t)
	for code := range byte(14) {
		s := serveH2(t, cert, true, func(nc net.Conn, _ net.Listener, stream uint32, _ int64) { nc.Write(h2Rst(stream, code)) })
		c := echo.NewEchoClient(dialHTTP(t, s.url, rpc.TLS(&tls.Config{RootCAs: pool})))
		_, err := c.Echo(bg, func(args echo.EchoEchoArgs) { args.SetPayload(make([]byte, 1<<20)) })
		if !errors.Is(err, rpc.ErrNotSent) || s.handled.Load() != 0 {
			t.Errorf("RST_STREAM %d: handled %d times: %v", code, s.handled.Load(), err)
		}
	}
}

// TestHTTPRedirect: a redirect is followed if it comes before any byte of the call was read, which
// a Transport achieves with "Expect: 100-continue". No other method than POST is ever sent.
func TestHTTPRedirect(t *testing.T) {
	t.Parallel()
	cert, pool := certificate(t)
	h := &custom{added: make(chan struct{}, 100)}
	target := "http://" + serve(t, &rpc.Server{Processor: echo.NewEchoProcessor(h)}, nil)
	for _, status := range []int{301, 302, 303, 307, 308} {
		redirect := fmt.Appendf(nil, "HTTP/1.1 %d X\r\nLocation: %s\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", status, target)
		for _, asks := range []bool{false, true} {
			front := serveH1(t, asks, func(nc net.Conn, _ net.Listener, _ uint32, _ int64) { nc.Write(redirect); nc.Close() })
			of := onceTransport(t, &tls.Config{RootCAs: pool, Certificates: []tls.Certificate{cert}})
			var methods []string
			client := &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
				methods = append(methods, r.Method)
				if r = r.Clone(r.Context()); asks {
					r.Header.Set("Expect", "100-continue")
				}
				return of.RoundTrip(r)
			})}
			_, err := echo.NewEchoClient(dialHTTP(t, front.url, rpc.HTTPClient(client))).Add(bg, nil)
			followed := asks && status >= 307
			var e *rpc.HTTPError
			switch {
			case followed && (err != nil || len(h.added) != 1 || len(methods) != 2 || methods[1] != "POST"):
				t.Errorf("%d: handled %d times, %q: %v", status, len(h.added), methods, err)
			case followed:
				<-h.added
			case !errors.As(err, &e) || e.Status != status || e.Text != "to "+target || errors.Is(err, rpc.ErrConnLost) == asks || len(methods) != 1 || len(h.added) > 0:
				t.Errorf("%d, asks %v: handled %d times, %q: %v", status, asks, len(h.added), methods, err)
			}
		}
	}
}

// TestHTTPTransportPanics: after a panic of a Transport, nothing reads the call.
func TestHTTPTransportPanics(t *testing.T) {
	var body io.ReadCloser
	client := &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
		body = r.Body
		panic("of the test")
	})}
	c := echo.NewEchoClient(dialHTTP(t, "http://x", rpc.HTTPClient(client)))
	func() {
		defer func() { recover() }()
		c.Ping(bg, nil)
	}()
	if n, err := body.Read(make([]byte, 10)); n != 0 || err == nil || errors.Is(err, io.EOF) {
		t.Errorf("%d bytes, %v", n, err)
	}
}

// TestHTTPIdleEnds: a server that ends idle connections at any moment handles no call twice. A
// call whose bytes nobody has read is sent on another connection.
func TestHTTPIdleEnds(t *testing.T) {
	t.Parallel()
	answer := bytes.Clone(strict(reply, "ping", 1, []byte{0}))
	for _, reset := range []bool{false, true} {
		s := serveH1(t, false, func(nc net.Conn, _ net.Listener, _ uint32, n int64) {
			fmt.Fprintf(nc, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(answer), answer)
			if n%3 == 0 {
				if reset {
					nc.(*net.TCPConn).SetLinger(0)
				}
				nc.Close()
			}
		})
		c := echo.NewEchoClient(dialHTTP(t, s.url))
		ok, lost := int64(0), int64(0)
		for range 3000 {
			switch _, err := c.Ping(bg, nil); {
			case err == nil:
				ok++
			case errors.Is(err, rpc.ErrConnLost):
				lost++
			default:
				t.Fatal(err)
			}
		}
		if n := s.handled.Load(); n < ok || n > ok+lost {
			t.Errorf("%d calls have succeeded and %d were lost, but %d were handled", ok, lost, n)
		}
	}
}
