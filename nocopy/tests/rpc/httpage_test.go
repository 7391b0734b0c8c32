package rpc_test

import (
	"context"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
)

// TestHTTPAge: connections over HTTP that end because they are old or the server stops finish
// their calls first, also those that begin at that moment.
func TestHTTPAge(t *testing.T) {
	for name, set := range map[string]func(*http.Protocols){
		"HTTP/1.1": func(p *http.Protocols) { p.SetHTTP1(true) },
		"HTTP/2":   func(p *http.Protocols) { p.SetUnencryptedHTTP2(true) },
	} {
		for _, loops := range []int{1, 8} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := &worker{took: 20 * time.Millisecond}
					srv := &rpc.Server{Processor: echo.NewEchoProcessor(w), MaxConnAge: 300 * time.Millisecond}
					l, dialled := make(pipes), new(atomic.Int64)
					serveOn(t, srv, nil, l)
					tr := &http.Transport{Protocols: new(http.Protocols), DialContext: func(context.Context, string, string) (net.Conn, error) {
						dialled.Add(1)
						return l.dial(), nil
					}}
					set(tr.Protocols)
					defer tr.CloseIdleConnections()
					client := echo.NewEchoClient(dialHTTP(t, "http://x", rpc.HTTPClient(&http.Client{Transport: tr})))
					var calls sync.WaitGroup
					for i := range loops {
						calls.Go(func() {
							time.Sleep(time.Duration(i) * 3 * time.Millisecond)
							for n := range 250 {
								res, err := client.Add(bg, func(args echo.EchoAddArgs) { args.SetA(1); args.SetB(2) })
								if err != nil {
									t.Errorf("call %d after %v: %v", n, w.took, err)
									continue
								}
								res.Release()
								if n%7 == i {
									time.Sleep(time.Duration(n) * 100 * time.Microsecond) // the connection may be idle
								}
							}
						})
					}
					calls.Wait()
					synctest.Wait() // none is being dialled
					if n := w.handled.Load(); n != int64(250*loops) || dialled.Load() < 10 {
						t.Errorf("%d calls were handled, on %d connections", n, dialled.Load())
					}
				})
			})
		}
	}
}

// TestHTTPShutdownMoments: a server that stops answers all calls over HTTP that it handles.
func TestHTTPShutdownMoments(t *testing.T) {
	for name, set := range map[string]func(*http.Protocols){
		"HTTP/1.1": func(p *http.Protocols) { p.SetHTTP1(true) },
		"HTTP/2":   func(p *http.Protocols) { p.SetUnencryptedHTTP2(true) },
	} {
		t.Run(name, func(t *testing.T) {
			for ms := range 60 { // the server stops at another moment each time
				synctest.Test(t, func(t *testing.T) {
					w, stopped := &worker{took: 20 * time.Millisecond}, new(atomic.Bool)
					srv, l := &rpc.Server{Processor: echo.NewEchoProcessor(w)}, make(pipes)
					serveOn(t, srv, nil, l)
					tr := &http.Transport{Protocols: new(http.Protocols), DialContext: func(context.Context, string, string) (net.Conn, error) {
						if stopped.Load() {
							return nil, net.ErrClosed
						}
						return l.dial(), nil
					}}
					set(tr.Protocols)
					defer tr.CloseIdleConnections()
					client := echo.NewEchoClient(dialHTTP(t, "http://x", rpc.HTTPClient(&http.Client{Transport: tr})))
					var calls sync.WaitGroup
					var good atomic.Int64
					for i := range 3 {
						calls.Go(func() {
							time.Sleep(time.Duration(i) * 3 * time.Millisecond)
							for {
								res, err := client.Add(bg, nil)
								if err != nil {
									return
								}
								good.Add(1)
								res.Release()
								time.Sleep(time.Duration(i*7) * time.Millisecond)
							}
						})
					}
					time.Sleep(100*time.Millisecond + time.Duration(ms)*time.Millisecond)
					stopped.Store(true)
					synctest.Wait() // none is being dialled
					if err := srv.Shutdown(bg); err != nil {
						t.Error(err)
					}
					calls.Wait()
					if n := w.handled.Load(); n != good.Load() {
						t.Errorf("stopped after %d ms: %d calls were handled, %d answered", 100+ms, n, good.Load())
					}
				})
			}
		})
	}
}
