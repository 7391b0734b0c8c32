package rpc_test

import (
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
)

// TestUnsealed: bytes keep coming on a connection that the system can't seal, each before the
// server has waited for long. The server reads them for half a second, and then ends the
// connection, after Shutdown and at the end of MaxConnAgeGrace.
func TestUnsealed(t *testing.T) {
	const (
		age   = 10 * time.Second
		grace = 5 * time.Second
		most  = 510 * time.Millisecond
	)
	drip := func(first []byte) func(int) []byte {
		return func(i int) []byte {
			if i == 0 {
				return first
			}
			return []byte{0}
		}
	}
	for name, next := range map[string]func(i int) []byte{
		"a frame":                   drip([]byte{0, 0x80, 0, 0, 0x80, 1, 0, 1}),
		"a text without a frame":    drip(strict(call, "add", 1, []byte{11, 0, 9, 0, 0x10, 0, 0})),
		"a list without a frame":    drip(strict(call, "add", 1, []byte{15, 0, 9, 11, 0, 0x10, 0, 0})),
		"the compact protocol":      drip(compactly(call, "add", 1, []byte{0x98, 0x80, 0x80, 0x40})),
		"one call after the other":  func(i int) []byte { return frame(strict(call, "add", i+1, addArgs(1, 2))) },
		"calls that are not framed": func(i int) []byte { return strict(call, "add", i+1, addArgs(1, 2)) },
	} {
		// run sends bytes until the connection has ended, and returns after how long it has
		run := func(t *testing.T, srv *rpc.Server, shutdown bool) time.Duration {
			l := make(pipes)
			srv.Processor, srv.Logger = echo.NewEchoProcessor(&handler{}), new(quiet).logger()
			go srv.Serve(l)
			nc := l.dial()
			defer nc.Close()
			go io.Copy(io.Discard, nc)
			start, ended := time.Now(), make(chan time.Duration)
			go func() {
				for i := 0; time.Since(start) < age+grace+time.Minute; i++ {
					if _, err := nc.Write(next(i)); err != nil {
						break
					}
					time.Sleep(time.Millisecond)
				}
				nc.Close()
				ended <- time.Since(start)
			}()
			if shutdown {
				time.Sleep(10 * time.Millisecond)
				srv.Shutdown(bg)
			}
			d := <-ended
			srv.Shutdown(bg)
			return d
		}
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if d := run(t, new(rpc.Server), true); d < 500*time.Millisecond || d > 10*time.Millisecond+most {
					t.Errorf("after Shutdown, the connection has ended after %v", d)
				}
				old := &rpc.Server{MaxConnAge: age, MaxConnAgeGrace: grace}
				if d := run(t, old, false); d < age*9/10 || d > age*11/10+grace+most {
					t.Errorf("an old connection has ended after %v", d)
				}
			})
		})
	}
}
