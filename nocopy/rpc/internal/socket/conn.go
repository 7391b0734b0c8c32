package socket

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"time"

	"github.com/nocopythrift/nocopythrift/internal/shm"
)

// Close closes nc, which may be of a type of the program and panic or end the goroutine. No lock
// may be held.
func Close(nc net.Conn) {
	defer func() { recover() }()
	closed := false
	defer func() {
		// TLS sets a deadline first. If that panics, the connection beneath is still open.
		if b := beneath(nc); !closed && b != nc {
			shm.CloseConn(b)
		}
	}()
	shm.CloseConn(nc)
	closed = true
}

// HasBytes reports whether bytes have arrived that were not read; false if that is not known.
func HasBytes(nc net.Conn) bool {
	peek := Peeker(nc)
	if peek == nil {
		return false
	}
	n, err := peek()
	return n > 0 && err == nil
}

// IsEnd reports whether err is of a stream that the other end has ended.
func IsEnd(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }

var defaultKeepAlive = net.KeepAliveConfig{Enable: true, Idle: 15 * time.Second, Interval: 15 * time.Second, Count: 4}

// SetKeepAlive sets TCP's keepalive if nc has such a thing, which it reports.
func SetKeepAlive(nc net.Conn, k net.KeepAliveConfig) bool {
	t, ok := nc.(interface {
		SetKeepAliveConfig(net.KeepAliveConfig) error
	})
	if !ok {
		return false
	}
	if k == (net.KeepAliveConfig{}) {
		k = defaultKeepAlive
	}
	t.SetKeepAliveConfig(k)
	return true
}

// Underlying returns the connection that nc is a wrapper of, or nc.
func Underlying(nc net.Conn) net.Conn {
	for {
		beneath, ok := nc.(interface{ NetConn() net.Conn })
		if !ok {
			return nc
		}
		nc = beneath.NetConn()
	}
}

// SetReadDeadline sets the read deadline of nc. Locks may be held. A connection of the program
// may panic or end the goroutine: it is closed then.
func SetReadDeadline(nc net.Conn, t time.Time) {
	if isForeign(nc) {
		survive(nc, func() { nc.SetReadDeadline(t) })
		return
	}
	nc.SetReadDeadline(t)
}

// isForeign reports whether the methods of nc are the program's.
func isForeign(nc net.Conn) bool {
	switch beneath(nc).(type) {
	case *net.TCPConn, *net.UnixConn:
		return false
	}
	return true
}

// survive calls f, which calls methods of nc, as Survive does. If f does not return, it closes nc.
func survive(nc net.Conn, f func()) bool {
	ok := Survive(f)
	if !ok {
		go Close(nc)
	}
	return ok
}

// Survive calls f, which calls functions of the program, in a goroutine that these may end. It
// reports whether f has returned.
func Survive(f func()) bool {
	returned := make(chan bool)
	go func() {
		ok := false
		defer func() {
			recover()
			returned <- ok
		}()
		f()
		ok = true
	}()
	return <-returned
}

// beneath returns the connection that carries nc, if nc is of TLS; else nc.
func beneath(nc net.Conn) net.Conn {
	if t, ok := nc.(*tls.Conn); ok {
		return uncounted(t.NetConn())
	}
	return nc
}

// WriteDeadline is a connection's present deadline for writing.
type WriteDeadline struct{ at time.Time }

// Extend makes sure that the deadline of nc is between three quarters of timeout and all of it
// after now. A timeout of 0 is no limit. Setting the deadline for every write would cost time.
func (d *WriteDeadline) Extend(nc net.Conn, now time.Time, timeout time.Duration) {
	if timeout > 0 && d.at.Sub(now) < timeout*3/4 {
		d.at = now.Add(timeout)
		nc.SetWriteDeadline(d.at)
	}
}
