package rpc_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"runtime"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
)

// echoCall returns a call of echo with this payload.
func echoCall(payload []byte) []byte {
	args := echo.NewEchoEchoArgs()
	defer args.Message().Release()
	args.SetPayload(payload)
	return strict(call, "echo", 7, args.Message().Bytes())
}

func gzippedBody(b []byte) []byte {
	var out bytes.Buffer
	z, _ := gzip.NewWriterLevel(&out, gzip.BestCompression)
	z.Write(b)
	z.Close()
	return out.Bytes()
}

// TestHTTPGzip: a server compresses replies of 1 KiB and more for clients that prefer it, in all
// ways of serving, also for a client that compresses its calls.
func TestHTTPGzip(t *testing.T) {
	t.Parallel()
	for way, start := range httpWays {
		t.Run(way, func(t *testing.T) {
			host, path := hostOf(t, start(t, &rpc.Server{}, &handler{}))
			nc := dialRaw(t, host)
			in := bufio.NewReader(nc)
			for _, n := range []int{0, 900, 1100, 100_000, 1 << 20} {
				for _, accept := range []string{"gzip", "gzip, deflate, br", "identity", "identity, gzip;q=0.5", "gzip;q=0", ""} {
					payload := bytes.Repeat([]byte("x"), n)
					headers := []string{"Accept-Encoding: " + accept}
					body := echoCall(payload)
					if n%8 == 0 {
						headers, body = append(headers, "Content-Encoding: gzip"), gzippedBody(body)
					}
					send(t, nc, rawRequest("POST", path, body, headers...))
					resp, text := response(t, in, "POST")
					isZipped := resp.Header.Get("Content-Encoding") == "gzip"
					if want := n > 1000 && accept != "" && accept[:4] == "gzip" && accept != "gzip;q=0"; isZipped != want {
						t.Errorf("%d bytes, %q: compressed: %v", n, accept, isZipped)
					}
					if isZipped {
						z, err := gzip.NewReader(bytes.NewReader([]byte(text)))
						if err != nil {
							t.Fatal(err)
						}
						b, err := io.ReadAll(z)
						if err != nil {
							t.Fatal(err)
						}
						if len(b) <= len(text) {
							t.Errorf("%d bytes have become %d", len(b), len(text))
						}
						text = string(b)
					}
					if !bytes.Contains([]byte(text), payload) || len(text) > n+100 {
						t.Errorf("%d bytes, %q: %s, the reply has %d bytes", n, accept, resp.Status, len(text))
					}
				}
			}
		})
	}
}

// TestHTTPGzipClient: a client of this package gets compressed replies if its Transport asks for
// them; its own asks for none from our servers.
func TestHTTPGzipClient(t *testing.T) {
	t.Parallel()
	var encodings []string
	of := new(http.Transport)
	t.Cleanup(of.CloseIdleConnections)
	asking := func(value string) rpc.Option {
		return rpc.HTTPClient(&http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
			if r = r.Clone(r.Context()); value != "" {
				r.Header.Set("Accept-Encoding", value)
			}
			resp, err := of.RoundTrip(r)
			if err == nil {
				encodings = append(encodings, resp.Header.Get("Content-Encoding"))
			}
			return resp, err
		})})
	}
	u := "http://" + serve(t, &rpc.Server{}, &handler{})
	for _, value := range []string{"gzip", ""} {
		for _, recycle := range [][]rpc.Option{nil, {rpc.Recycle}} {
			encodings = nil
			c := echo.NewEchoClient(dialHTTP(t, u, append(recycle, asking(value))...))
			for range 2 {
				res, err := c.Echo(bg, func(args echo.EchoEchoArgs) { args.SetPayload(make([]byte, 1<<20)) })
				if err != nil || len(res.GetSuccess()) != 1<<20 {
					t.Error(err)
				}
				res.Release()
			}
			if len(encodings) != 2 || encodings[0] != value {
				t.Errorf("%q: the replies are %q", value, encodings)
			}
		}
	}
}

// TestHTTPGzipAmplification: what compressed calls become is bounded for a whole server, also
// while handlers wait. Those that are refused are not handled, and others are served.
func TestHTTPGzipAmplification(t *testing.T) {
	if !testmode.InOwnProcess(t) {
		return
	}
	h := &custom{handler: *waitingHandler()}
	srv := &rpc.Server{Processor: echo.NewEchoProcessor(h)}
	host := serve(t, srv, nil)
	heap := func() int64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapInuse)
	}
	// A call of fail that waits, and has 15 MB in a field that the IDL does not know
	args := append([]byte("\x0b\x00\x01\x00\x00\x00\x04wait\x0b\x00\x63\x00\xe0\x00\x00"), make([]byte, 0xe00000+1)...)
	bomb := rawRequest("POST", "/", gzippedBody(strict(call, "fail", 7, args)), "Content-Encoding: gzip")
	before, sent, busy := heap(), 0, 0
	for sent < 1<<20 {
		nc := dialRaw(t, host)
		send(t, nc, bomb)
		sent += len(bomb)
		answered := make(chan int, 1)
		go func() {
			resp, err := http.ReadResponse(bufio.NewReader(nc), &http.Request{Method: "POST"})
			if err == nil {
				answered <- resp.StatusCode
			}
		}()
		select {
		case <-h.waiting:
		case status := <-answered:
			if busy++; status != http.StatusServiceUnavailable {
				t.Fatalf("status %d", status)
			}
		}
	}
	if grown := heap() - before; grown > 64<<20 || busy == 0 {
		t.Errorf("%d bytes sent, and the heap has grown by %d; %d were refused", sent, grown, busy)
	}
	unharmed(t, echo.NewEchoClient(dialHTTP(t, "http://"+host)))
	close(h.release)
}
