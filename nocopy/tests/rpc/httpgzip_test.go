package rpc_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

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

// TestHTTPGzipReplies: replies that are compressed as much as possible wait for each other in a
// whole client, until their calls end.
func TestHTTPGzipReplies(t *testing.T) {
	const calls, most = 32, 1 << 20
	zipped := gzippedBody(strict(reply, "echo", 1, join([]byte{11, 0, 0}, be32(most-1000), make([]byte, most-1000), []byte{0})))
	synctest.Test(t, func(t *testing.T) {
		w := new(work)
		zips := rpc.HTTPClient(&http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
			io.Copy(io.Discard, r.Body)
			return &http.Response{
				StatusCode: http.StatusOK, Header: http.Header{"Content-Encoding": {"gzip"}, "Content-Type": {"application/x-thrift"}},
				Body: io.NopCloser(bytes.NewReader(zipped)), ContentLength: int64(len(zipped)), Request: r,
			}, nil
		})})
		conn := dialHTTP(t, "http://x", rpc.MaxFrame(most), rpc.StallTimeout(time.Minute), zips, w.stats())
		c := echo.NewEchoClient(conn)
		ctx, cancel := context.WithTimeout(bg, 10*time.Second)
		defer cancel()
		var wg sync.WaitGroup
		for range calls {
			wg.Go(func() {
				res, err := c.Echo(ctx, nil)
				if err == nil {
					w.replies.Add(1)
					res.Release()
				} else if !errors.Is(err, context.DeadlineExceeded) {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		if n := w.converted.Load(); n > 2*most || n < most/2 {
			t.Errorf("%d bytes at once", n)
		}
		wg.Wait()
		if n := w.replies.Load(); n < 3 || n > 5 {
			t.Errorf("%d replies in ten seconds", n)
		}
	})
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
