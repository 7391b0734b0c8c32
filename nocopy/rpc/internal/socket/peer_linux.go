package socket

import (
	"encoding/binary"
	"errors"
	"math"
	"net"
	"syscall"
	"time"
)

// PeerState asks the system about the other end of a TCP connection without reading. It reports
// whether that has closed its side for sending, and whether it has reset the connection; neither
// of a connection that is not TCP's or does not give access to its socket.
func PeerState(nc net.Conn) (eof, reset bool) {
	var state byte
	control(nc, func(fd uintptr) { state = tcpState(fd) })
	return state == tcpCloseWait, state == tcpClosed
}

// Some of TCP's states as Linux numbers them.
const (
	tcpClosed    = 7
	tcpCloseWait = 8 // the other end sends nothing more
)

// tcpState returns the state of a TCP socket; 0 if it is none.
func tcpState(fd uintptr) byte {
	v, err := syscall.GetsockoptInt(int(fd), syscall.IPPROTO_TCP, syscall.TCP_INFO)
	if err != nil {
		return 0
	}
	return binary.NativeEndian.AppendUint32(nil, uint32(v))[0] // v is its first four bytes
}

// SetUserTimeout makes the system reset a TCP connection if sent bytes stay unacknowledged for d,
// or for as long as keepalive's probes may stay unanswered, if that is shorter: with a timeout the
// system no longer counts probes. With 0 the system decides.
func SetUserTimeout(nc net.Conn, d time.Duration) {
	const userTimeout = 18 // TCP_USER_TIMEOUT
	if d > 0 {
		control(nc, func(fd uintptr) {
			ms := min(max(d.Milliseconds(), 1), math.MaxInt32)
			if probing := keepAliveTime(int(fd)); probing > 0 {
				ms = min(ms, probing.Milliseconds())
			}
			syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, userTimeout, int(ms))
		})
	}
}

// keepAliveTime returns the time without traffic after which keepalive gives the other end up; 0
// if there is no keepalive.
func keepAliveTime(fd int) time.Duration {
	on, err1 := syscall.GetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_KEEPALIVE)
	idle, err2 := syscall.GetsockoptInt(fd, syscall.IPPROTO_TCP, syscall.TCP_KEEPIDLE)
	interval, err3 := syscall.GetsockoptInt(fd, syscall.IPPROTO_TCP, syscall.TCP_KEEPINTVL)
	count, err4 := syscall.GetsockoptInt(fd, syscall.IPPROTO_TCP, syscall.TCP_KEEPCNT)
	if on == 0 || errors.Join(err1, err2, err3, err4) != nil {
		return 0
	}
	return time.Duration(idle+interval*count) * time.Second
}

// control calls f with the connection's socket, if the connection gives access to one.
func control(nc net.Conn, f func(fd uintptr)) {
	if sc, ok := nc.(syscall.Conn); ok {
		if rc, err := sc.SyscallConn(); err == nil {
			rc.Control(f)
		}
	}
}
