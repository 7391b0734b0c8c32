package rpc

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"syscall"
)

// A server can't tell the clients of all Thrift libraries that it is about to close a connection,
// and any that it closes may have a request on its way. A client must not guess: that a
// connection was idle if it ends without a reply. If the server has crashed, the call would run
// twice. TCP knows: its last segment acknowledges exactly what had arrived.

// onlyControl is a program for the system's packet filter that drops TCP segments with data. It
// compares a segment's length with that of its header, which is in the upper half of byte 12, in
// words.
var onlyControl = []syscall.SockFilter{
	{Code: syscall.BPF_LD | syscall.BPF_B | syscall.BPF_ABS, K: 12},
	{Code: syscall.BPF_ALU | syscall.BPF_AND | syscall.BPF_K, K: 0xf0},
	{Code: syscall.BPF_ALU | syscall.BPF_RSH | syscall.BPF_K, K: 2},
	{Code: syscall.BPF_MISC | syscall.BPF_TAX},
	{Code: syscall.BPF_LD | syscall.BPF_W | syscall.BPF_LEN},
	{Code: syscall.BPF_JMP | syscall.BPF_JEQ | syscall.BPF_X, Jf: 1},
	{Code: syscall.BPF_RET | syscall.BPF_K, K: 0xffff},
	{Code: syscall.BPF_RET | syscall.BPF_K, K: 0},
}

// seal makes the system drop data that comes for a TCP connection from now on, unacknowledged, and
// reports whether it does. What has arrived can be read, and everything else works. So the other
// end knows which bytes were dropped when the connection is closed, see reached.
func seal(nc net.Conn) (sealed bool) {
	if _, ok := nc.(*net.TCPConn); ok {
		control(nc, func(fd uintptr) { sealed = syscall.AttachLsf(int(fd), onlyControl) == nil })
	}
	return sealed
}

// isEnd reports whether err is of a stream that the other end has ended.
func isEnd(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }

// ackedBefore returns what acknowledged says of a connection on which nothing was written yet.
func ackedBefore(nc net.Conn) (n int64) {
	n = -1
	if _, ok := nc.(*net.TCPConn); ok {
		control(nc, func(fd uintptr) { n = acknowledged(fd) })
	}
	return n
}

// reached returns how many of the n bytes that were written to nc may have reached the other end,
// when nc has failed with err; at worst n. A TCP connection ends with a segment that acknowledges
// all that had arrived by then, and what comes later is dropped. Of a unix socket, an end that is
// closed before all has been read is an error. before is what ackedBefore has returned.
func reached(nc net.Conn, n, before int64, err error) int64 {
	switch c := nc.(type) {
	case *net.TCPConn:
		if before >= 0 && isEnd(err) {
			control(c, func(fd uintptr) {
				if acked := acknowledged(fd); acked >= before {
					n = min(n, acked-before)
				}
			})
		}
	case *net.UnixConn:
		if errors.Is(err, syscall.ECONNRESET) {
			n--
		}
	case *tls.Conn:
		const record = 30 // more than one has in which nothing is of ours
		if tcp, ok := c.NetConn().(*net.TCPConn); ok && isEnd(err) {
			control(tcp, func(fd uintptr) {
				if unacknowledged(fd) > record { // the last of ours at least
					n--
				}
			})
		}
	}
	return n
}
