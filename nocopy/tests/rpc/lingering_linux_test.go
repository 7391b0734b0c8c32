package rpc_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
)

// slowToClose returns a TCP socket whose last close would take a minute.
func slowToClose(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	nc, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close() // not the last one
	peer, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { peer.Close() }) // which has read nothing
	nc.SetWriteDeadline(time.Now().Add(50 * time.Millisecond))
	nc.Write(make([]byte, 16<<20))
	fd := -1
	raw, _ := nc.(syscall.Conn).SyscallConn()
	raw.Control(func(f uintptr) {
		syscall.SetsockoptLinger(int(f), syscall.SOL_SOCKET, syscall.SO_LINGER, &syscall.Linger{Onoff: 1, Linger: 60})
		fd, err = syscall.Dup(int(f))
	})
	if err != nil {
		t.Fatal(err)
	}
	return fd
}

// passSlow sends b, if the peer still receives, and passes a socket that is slow to close with it,
// which is closed here.
func passSlow(t *testing.T, nc net.Conn, b []byte) {
	t.Helper()
	fd := slowToClose(t)
	if _, _, err := nc.(*net.UnixConn).WriteMsgUnix(b, syscall.UnixRights(fd), nil); err != nil {
		// The close below is the last one
		syscall.SetsockoptLinger(fd, syscall.SOL_SOCKET, syscall.SO_LINGER, &syscall.Linger{})
	}
	syscall.Close(fd)
}

func dialSocket(t *testing.T, path string) net.Conn {
	t.Helper()
	nc, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { nc.Close() })
	return nc
}

// TestLingering: clients of a unix socket pass sockets that are slow to close, with shared memory
// and without: instead of memory, among requests, with bytes that are never read, and on
// connections that are not accepted. Other clients get their places and replies, and the server
// ends as usual.
func TestLingering(t *testing.T) {
	t.Parallel()
	cert, pool := certificate(t)
	waits := echo.NewEchoFailArgs()
	waits.SetHow("wait")
	ping, stuck := frame(strict(call, "ping", 1, []byte{0})), frame(strict(call, "fail", 2, waits.Message().Bytes()))
	asks := frame(strict(call, "nocopy.sharedMemory", 0, []byte{11, 0, 1, 0, 0, 0, 9, 1, 0, 0, 0, 0, 0, 16, 0, 0, 0}))
	for _, shared := range []rpc.SharedMemory{0, rpc.CopyFromPeer} {
		for name, attack := range map[string]func(t *testing.T, nc net.Conn){
			"instead of memory": func(t *testing.T, nc net.Conn) {
				passSlow(t, nc, asks[:6])
				time.Sleep(10 * time.Millisecond)
				nc.Write(asks[6:])
			},
			"with a request": func(t *testing.T, nc net.Conn) { passSlow(t, nc, ping) },
			"later": func(t *testing.T, nc net.Conn) {
				nc.Write(ping)
				passSlow(t, nc, ping)
			},
			"with garbage": func(t *testing.T, nc net.Conn) {
				passSlow(t, nc, []byte("GET / HTTP/1.1\r\n\r\n"))
				passSlow(t, nc, ping)
			},
			"unread": func(t *testing.T, nc net.Conn) { // the server reads no more than a mebibyte
				nc.Write(stuck)
				nc.SetWriteDeadline(time.Now().Add(100 * time.Millisecond))
				for range 20 {
					nc.Write(make([]byte, 100<<10))
				}
				passSlow(t, nc, []byte{0})
			},
			"not accepted": nil,
			"with TLS":     func(t *testing.T, nc net.Conn) { passSlow(t, nc, []byte{22, 3, 1, 0, 5}) },
		} {
			t.Run(fmt.Sprint(shared, name), func(t *testing.T) {
				t.Parallel()
				const places = 3
				h := &handler{waiting: make(chan struct{}, 100), release: make(chan struct{})}
				srv := &rpc.Server{Processor: echo.NewEchoProcessor(h), Logger: new(quiet).logger(), SharedMemory: shared, MaxConns: places, Concurrency: 1}
				var opts []rpc.Option
				if name == "with TLS" {
					srv.TLS = &tls.Config{Certificates: []tls.Certificate{cert}}
					opts = append(opts, rpc.TLS(&tls.Config{RootCAs: pool, ServerName: "127.0.0.1"}))
				}
				l, path := listenUnix(t)
				go srv.Serve(l)
				if attack != nil {
					for range places {
						nc := dialSocket(t, path)
						attack(t, nc)
						if name != "unread" {
							nc.Close()
						}
					}
				}
				if name != "unread" { // there its places are taken by handlers
					ctx, cancel := context.WithTimeout(bg, time.Minute)
					defer cancel()
					cl, err := rpc.Dial(ctx, "unix", path, opts...)
					if err == nil {
						_, err = echo.NewEchoClient(cl).Add(ctx, func(echo.EchoAddArgs) {})
						cl.Close()
					}
					if err != nil {
						t.Error("another client: ", err)
					}
				}
				if attack == nil {
					for range places {
						dialSocket(t, path).Write(stuck)
						<-h.waiting
					}
					for range 2 {
						passSlow(t, dialSocket(t, path), ping)
					}
				}
				ended := make(chan struct{})
				go func() {
					ctx, cancel := context.WithTimeout(bg, 100*time.Millisecond)
					defer cancel()
					srv.Shutdown(ctx)
					srv.Close()
					close(h.release)
					srv.Shutdown(bg)
					close(ended)
				}()
				select {
				case <-ended:
				case <-time.After(time.Minute):
					t.Fatal("the server does not end")
				}
			})
		}
	}
}

// TestLingeringServer: a server passes sockets that are slow to close, instead of memory, with a
// reply, or with bytes that are never read. The client dials, calls and closes as usual.
func TestLingeringServer(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]func(t *testing.T, nc net.Conn){
		"instead of memory": func(t *testing.T, nc net.Conn) {
			b := frame(strict(reply, "nocopy.sharedMemory", 0, []byte{11, 0, 0, 0, 0, 0, 9, 1, 0, 0, 0, 0, 0, 16, 0, 0, 0}))
			passSlow(t, nc, b[:6])
			time.Sleep(10 * time.Millisecond)
			nc.Write(b[6:])
		},
		"with a reply": func(t *testing.T, nc net.Conn) {
			passSlow(t, nc, frame(strict(exception, "nocopy.sharedMemory", 0, failure("none", 1))))
		},
		"unread": func(t *testing.T, nc net.Conn) {
			nc.Write([]byte("garbage, and more of it"))
			passSlow(t, nc, []byte{0})
		},
	} {
		for _, opts := range [][]rpc.Option{{rpc.CopyFromPeer}, nil} {
			t.Run(fmt.Sprint(name, len(opts)), func(t *testing.T) {
				t.Parallel()
				l, path := listenUnix(t)
				var answers sync.WaitGroup
				t.Cleanup(func() {
					l.Close()
					answers.Wait()
				})
				answers.Go(func() {
					for {
						nc, err := l.Accept()
						if err != nil {
							return
						}
						t.Cleanup(func() { nc.Close() })
						answers.Go(func() {
							nc.SetDeadline(time.Now().Add(time.Minute))
							io.ReadFull(nc, make([]byte, 20))
							answer(t, nc)
						})
					}
				})
				done := make(chan struct{})
				go func() {
					ctx, cancel := context.WithTimeout(bg, time.Second)
					defer cancel()
					if cl, err := rpc.Dial(ctx, "unix", path, append(opts, rpc.PoolSize(1), rpc.Logger(new(quiet).logger()))...); err == nil {
						c := echo.NewEchoClient(cl)
						for range 3 {
							c.Add(ctx, func(echo.EchoAddArgs) {})
						}
						cl.Close()
					}
					close(done)
				}()
				select {
				case <-done:
				case <-time.After(time.Minute):
					t.Fatal("the client hangs")
				}
			})
		}
	}
}
