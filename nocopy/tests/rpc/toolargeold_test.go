package rpc_test

import (
	"bytes"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
)

// TestTooLargeWhenOld: a connection reaches its age in the middle of the header of a call that is
// too large. The call is answered as any other of its kind.
func TestTooLargeWhenOld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const age, pause = 10 * time.Second, 900 * time.Millisecond
		l := make(pipes)
		srv := &rpc.Server{Processor: echo.NewEchoProcessor(&handler{}), Logger: new(quiet).logger(), MaxFrame: 100, MaxConnAge: age}
		go srv.Serve(l)
		defer srv.Shutdown(bg)
		nc := l.dial()
		var got bytes.Buffer
		done := make(chan struct{})
		go func() {
			io.Copy(&got, nc)
			close(done)
		}()
		sent := 0
		for start := time.Now(); time.Since(start) < 2*age; sent++ {
			b := frame(strict(call, "add", sent, make([]byte, 100)))
			nc.Write(b[:8])
			time.Sleep(pause)
			if _, err := nc.Write(b[8:]); err != nil {
				t.Fatalf("after %v: %v", time.Since(start), err)
			}
		}
		synctest.Wait() // for the last reply
		nc.Close()
		if <-done; bytes.Count(got.Bytes(), []byte("add")) != sent {
			t.Errorf("%d calls, replies %q", sent, &got)
		}
	})
}
