package faults

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"golang.org/x/time/rate"
)

var units = map[string]float64{"": 1, "B": 1, "KB": 1e3, "MB": 1e6, "GB": 1e9, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}

// ParseBandwidth returns the bytes per second of a text such as "100KB/s" or "1MiB/s".
func ParseBandwidth(text string) (int64, error) {
	size := strings.TrimSuffix(text, "/s")
	number := strings.TrimRight(size, "KMGiB")
	n, err := strconv.ParseFloat(number, 64)
	n *= units[size[len(number):]]
	if err != nil || !(n >= 1 && n <= 1<<40) {
		return 0, fmt.Errorf("%q is no bandwidth: it is such as 100KB/s, 1MiB/s, or bytes per second", text)
	}
	return int64(n), nil
}

// piece is how long a throttled connection takes for what it passes on at once.
const piece = 50 * time.Millisecond

// Throttle returns a listener whose connections carry at most so many bytes per second, each of
// them and in each direction.
func Throttle(l net.Listener, perSecond int64) net.Listener { return &throttled{l, perSecond} }

type throttled struct {
	net.Listener
	perSecond int64
}

// Accept waits for the next connection.
func (l *throttled) Accept() (net.Conn, error) {
	nc, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return newThrottledConn(nc, l.perSecond), nil
}

type throttledConn struct {
	net.Conn
	in, out *rate.Limiter
}

func newThrottledConn(nc net.Conn, perSecond int64) *throttledConn {
	limiter := func() *rate.Limiter {
		l := rate.NewLimiter(rate.Limit(perSecond), int(max(perSecond*int64(piece)/int64(time.Second), 1)))
		l.AllowN(time.Now(), l.Burst()) // nothing is free at the beginning
		return l
	}
	return &throttledConn{nc, limiter(), limiter()}
}

// Read reads a piece, and takes as long as its bytes need.
func (c *throttledConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b[:min(len(b), c.in.Burst())])
	c.in.WaitN(context.Background(), n) // it is no error for a piece
	return n, err
}

// Write writes piece by piece.
func (c *throttledConn) Write(b []byte) (written int, err error) {
	for len(b) > 0 && err == nil {
		size := min(len(b), c.out.Burst())
		c.out.WaitN(context.Background(), size)
		var n int
		n, err = c.Conn.Write(b[:size])
		b, written = b[n:], written+n
	}
	return written, err
}
