package socket

import (
	"errors"
	"net"
	"time"

	"github.com/nocopythrift/nocopythrift/internal/shm"
)

// errPanicked is the error of a method of a program's connection that has panicked.
var errPanicked = errors.New("a method of the net.Conn has panicked or ended its goroutine")

// Guarded returns nc for net/http, which reads in goroutines that recover nothing. If nc is of a
// type of the program, a method that panics returns an error instead, and nc is closed. If it is
// a unix socket, descriptors that are passed are closed.
func Guarded(nc net.Conn) net.Conn {
	if isForeign(nc) {
		return guarded{nc}
	}
	return shm.Guard(nc)
}

type guarded struct{ net.Conn }

func (g guarded) Read(b []byte) (n int, err error) {
	return g.do(func() (int, error) { return g.Conn.Read(b) })
}

func (g guarded) Write(b []byte) (n int, err error) {
	return g.do(func() (int, error) { return g.Conn.Write(b) })
}

func (g guarded) Close() error {
	Close(g.Conn)
	return nil
}

func (g guarded) SetDeadline(t time.Time) error      { return g.set(g.Conn.SetDeadline, t) }
func (g guarded) SetReadDeadline(t time.Time) error  { return g.set(g.Conn.SetReadDeadline, t) }
func (g guarded) SetWriteDeadline(t time.Time) error { return g.set(g.Conn.SetWriteDeadline, t) }

func (g guarded) set(f func(time.Time) error, t time.Time) error {
	_, err := g.do(func() (int, error) { return 0, f(t) })
	return err
}

func (g guarded) do(f func() (int, error)) (n int, err error) {
	if !survive(g.Conn, func() { n, err = f() }) {
		return 0, errPanicked
	}
	return n, err
}
