//go:build !nounsafe

package rpc_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
)

// TestSharedKilled: a client that is killed in the middle of calls leaves the server no
// memory and no descriptor.
func TestSharedKilled(t *testing.T) {
	if !testmode.InOwnProcess(t) {
		return
	}
	for _, mode := range sharedModes {
		files, before := openFiles(t), maps(t)
		var handled atomic.Int64
		srv := &rpc.Server{SharedMemory: mode, Interceptors: []rpc.Interceptor{func(ctx context.Context, call *rpc.Call, next rpc.Handler) error {
			defer handled.Add(1)
			return next(ctx, call)
		}}}
		path := serveUnix(t, srv, &handler{})
		for i := range testmode.Of(2, 4) {
			child := startChild(t, "client", path, mode)
			for want := handled.Load() + int64(20+i*7); handled.Load() < want; {
				time.Sleep(time.Millisecond)
			}
			child.Process.Kill()
			child.Wait()
		}
		unharmed(t, echo.NewEchoClient(dial(t, path)))
		mapped(t, before)
		for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
			conns, _ := serverInUse(srv)
			if conns == 1 && openFiles(t) <= files+8 {
				break
			}
			if time.Now().After(end) {
				t.Fatalf("%d connections and %d files, %d before", conns, openFiles(t), files)
			}
		}
	}
}

// TestSharedServerKilled: when the server is killed in the middle of calls, they end with errors,
// and the client goes on with the next one.
func TestSharedServerKilled(t *testing.T) {
	if !testmode.InOwnProcess(t) {
		return
	}
	for _, mode := range sharedModes {
		before := maps(t)
		path := filepath.Join(t.TempDir(), "s")
		child := startChild(t, "server", path, mode)
		awaitServer(t, path)
		cl := dial(t, path, mode, rpc.PoolSize(1))
		c := echo.NewEchoClient(cl)
		var calls, ended atomic.Int64
		var wg sync.WaitGroup
		for g := range 8 {
			wg.Go(func() {
				payload := numbered(300_000, g)
				for {
					res, err := c.Echo(bg, func(args echo.EchoEchoArgs) { args.SetPayload(payload) })
					if err != nil {
						if !errors.Is(err, rpc.ErrConnLost) && !errors.Is(err, rpc.ErrNotSent) {
							t.Error(err)
						}
						ended.Add(1)
						return
					}
					if !bytes.Equal(res.GetSuccess(), payload) {
						t.Error("another payload")
					}
					res.Release()
					calls.Add(1)
				}
			})
		}
		for calls.Load() < 50 {
			time.Sleep(time.Millisecond)
		}
		child.Process.Kill()
		child.Wait()
		wg.Wait()
		os.Remove(path)
		startChild(t, "server", path, mode)
		awaitServer(t, path)
		for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
			res, err := c.Echo(bg, func(args echo.EchoEchoArgs) { args.SetPayload(numbered(100_000, 1)) })
			if err == nil && bytes.Equal(res.GetSuccess(), numbered(100_000, 1)) {
				res.Release()
				break
			}
			if time.Now().After(end) {
				t.Fatal(err)
			}
		}
		if connsLinked(cl) != 1 {
			t.Error("no shared memory with the next server")
		}
		cl.Close()
		mapped(t, before)
	}
}

func awaitServer(t *testing.T, path string) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		nc, err := net.Dial("unix", path)
		if err == nil {
			nc.Close()
			return
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
	}
}

// startChild runs TestSharedChild in another process, which is killed when the test has ended.
func startChild(t *testing.T, role, path string, mode rpc.SharedMemory) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestSharedChild$", "-test.timeout=10m")
	cmd.Env = append(os.Environ(), "SHARED_CHILD="+role, "SHARED_PATH="+path, fmt.Sprint("SHARED_MODE=", int(mode)))
	var out quiet
	cmd.Stdout, cmd.Stderr = &out, os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
		if t.Failed() {
			t.Logf("the other process, %s: %s", role, &out)
		}
	})
	return cmd
}

// TestSharedChild is the other process of tests that kill one: a client or a server, which goes on
// until it is killed. Otherwise there is nothing to do.
func TestSharedChild(t *testing.T) {
	mode := rpc.CopyFromPeer
	if os.Getenv("SHARED_MODE") == fmt.Sprint(int(rpc.TrustPeer)) {
		mode = rpc.TrustPeer
	}
	path := os.Getenv("SHARED_PATH")
	switch os.Getenv("SHARED_CHILD") {
	case "client":
		c := echo.NewEchoClient(dial(t, path, mode, rpc.PoolSize(1)))
		for g := range 8 {
			go func() {
				for {
					res, err := c.Echo(bg, func(args echo.EchoEchoArgs) { args.SetPayload(numbered(300_000, g)) })
					if err == nil {
						res.Release()
					}
				}
			}()
		}
		select {}
	case "server":
		l, err := net.Listen("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		srv := &rpc.Server{SharedMemory: mode, Processor: echo.NewEchoProcessor(&handler{})}
		srv.Serve(l)
	case "full":
		sharedFullTable(t, path, mode, new(quiet))
	case "full server":
		var log quiet
		path := serveUnix(t, &rpc.Server{SharedMemory: mode, Logger: log.debugLogger()}, &handler{})
		sharedFullTable(t, path, mode, &log)
	}
}

// TestSharedFullTable: a client, or a server, whose table of files is full when the other passes
// its memory, which the system then drops, goes on without.
func TestSharedFullTable(t *testing.T) {
	t.Parallel()
	path := serveUnix(t, &rpc.Server{SharedMemory: rpc.CopyFromPeer}, &handler{})
	for _, role := range []string{"full", "full server"} {
		child := startChild(t, role, path, rpc.CopyFromPeer)
		if err := child.Wait(); err != nil {
			t.Fatal(role, ": the other process: ", err)
		}
	}
}

// sharedFullTable calls with a table of files that has room for all but the memory of the other
// side, which may be in this process, and write to serverLog.
func sharedFullTable(t *testing.T, path string, mode rpc.SharedMemory, serverLog *quiet) {
	dialUnix(t, path)                              // what the runtime needs is open from now on
	unharmed(t, echo.NewEchoClient(dial(t, path))) // and the server has accepted both
	files := openFiles(t)
	for free := 1; free < 9; free++ { // the connection takes one, this side's memory another
		filesClosed(t, files)
		var log quiet
		var old syscall.Rlimit
		syscall.Getrlimit(syscall.RLIMIT_NOFILE, &old)
		limit := old
		limit.Cur = 0
		for n := 0; n < free; limit.Cur++ { // so many numbers below the limit are not taken
			if _, _, e := syscall.Syscall(syscall.SYS_FCNTL, uintptr(limit.Cur), syscall.F_GETFD, 0); e != 0 {
				n++
			}
		}
		syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit)
		cl, err := rpc.Dial(bg, "unix", path, mode, rpc.PoolSize(1), rpc.DialTimeout(2*time.Second), rpc.Logger(log.debugLogger()))
		syscall.Setrlimit(syscall.RLIMIT_NOFILE, &old)
		if err != nil { // not even the connection can be made
			continue
		}
		res, err := echo.NewEchoClient(cl).Echo(bg, func(args echo.EchoEchoArgs) { args.SetPayload(make([]byte, 100_000)) })
		if err != nil || len(res.GetSuccess()) != 100_000 {
			t.Errorf("%d free: %v", free, err)
		}
		t.Logf("%d free: shared memory of %d connections\n%s\n%s", free, connsLinked(cl), &log, serverLog)
		if strings.Contains(log.String()+serverLog.String(), "MSG_CTRUNC") {
			t.Setenv("CTRUNC", "seen")
		}
		cl.Close()
	}
	if os.Getenv("CTRUNC") == "" {
		t.Error("no descriptor was dropped")
	}
}
