package client

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/socket"
)

// TestResetDuringWrite: a call is not made again whose connection was reset, though the system
// tells only the goroutine that writes of the reset, and reading meets the end of the stream. What
// had not been acknowledged may have arrived.
func TestResetDuringWrite(t *testing.T) {
	if !socket.KnowsUnread {
		t.Skip("a client does not know here what had arrived when a connection was closed")
	}
	for name, want := range map[string]error{"ended": ErrNotSent, "ended, while writing": ErrNotSent, "reset": ErrConnLost, "reset, noted": ErrConnLost} {
		t.Run(name, func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			nc, err := net.Dial("tcp", l.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			server, err := l.Accept()
			if err != nil {
				t.Fatal(err)
			}
			socket.Seal(server) // so that nothing is acknowledged
			opts := testConfig(slog.DiscardHandler)
			twoWay, _ := testMethods()
			idle, other := net.Pipe() // keeps the goroutine that reads from meeting the end by itself
			defer other.Close()
			c := newConnection(idle, &opts, nil)
			c.mu.Lock()
			c.nc, c.ackedBefore = nc, socket.Begin(nc)
			c.mu.Unlock()
			failed := make(chan error)
			go func() {
				_, err := c.call(context.Background(), nil, &Call{Method: twoWay, Args: claimed(twoWay)})
				failed <- err
			}()
			for written := false; !written; time.Sleep(time.Millisecond) {
				c.mu.Lock()
				written = len(c.calls) == 1 && !c.writing
				c.mu.Unlock()
			}
			b := make([]byte, 1)
			switch name {
			case "ended":
				server.Close()
				nc.Read(b)
			case "ended, while writing": // the writing goroutine alone is told, and has not yet said so
				c.mu.Lock()
				for _, p := range c.calls {
					c.batched = append(c.batched, p)
				}
				c.mu.Unlock()
				server.Close()
				nc.Read(b)
				err := error(nil)
				for err == nil {
					_, err = nc.Write(b)
				}
				time.AfterFunc(5*time.Millisecond, func() {
					c.mu.Lock()
					defer c.mu.Unlock()
					c.batched, c.writeErr = nil, err
				})
			default:
				server.(*net.TCPConn).SetLinger(0)
				server.Close()
				if _, err := nc.Read(b); !errors.Is(err, syscall.ECONNRESET) {
					t.Fatal(err)
				}
			}
			if name == "reset, noted" {
				c.mu.Lock()
				c.writeErr = syscall.ECONNRESET
				c.mu.Unlock()
			}
			c.close(errServerClosed)
			if err := <-failed; !errors.Is(err, want) {
				t.Errorf("%v, not %v", err, want)
			}
			idle.Close()
			c.wait()
		})
	}
}

// TestUnreadOnUnix: a call is not sent if its last byte is unread when a server closes a unix
// socket. It is lost if the server has read all of it.
func TestUnreadOnUnix(t *testing.T) {
	for unread, want := range map[int]error{0: ErrConnLost, 1: ErrNotSent} {
		l, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		nc, err := net.Dial("unix", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		server, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		opts := testConfig(slog.DiscardHandler)
		twoWay, _ := testMethods()
		c := newConnection(nc, &opts, nil)
		failed := make(chan error)
		go func() {
			_, err := c.call(context.Background(), nil, &Call{Method: twoWay, Args: claimed(twoWay)})
			failed <- err
		}()
		for written := false; !written; time.Sleep(time.Millisecond) {
			c.mu.Lock()
			written = len(c.calls) == 1 && !c.writing
			c.mu.Unlock()
		}
		if _, err := io.ReadFull(server, make([]byte, int(c.begun)-unread)); err != nil {
			t.Fatal(err)
		}
		server.Close()
		if err := <-failed; !errors.Is(err, want) {
			t.Errorf("%d bytes were not read: %v, not %v", unread, err, want)
		}
		c.wait()
	}
}
