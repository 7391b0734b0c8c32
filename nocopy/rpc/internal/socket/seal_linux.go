package socket

import (
	"crypto/tls"
	"errors"
	"net"
	"os"
	"syscall"
	"time"
)

// A server can't tell the clients of all Thrift libraries that it is about to close a connection,
// and any that it closes may have a request on its way. A client must not guess: that a
// connection was idle if it ends without a reply. If the server has crashed, the call would run
// twice. TCP knows: its last segment acknowledges exactly what had arrived.

// onlyControl is a program for the system's packet filter that drops TCP segments with data. It
// compares the length of a segment with the length of its header. The latter is the upper half of
// byte 12, in words.
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

// Seal makes the system take in no more data for a connection, and reports whether it does. Bytes
// that have arrived can be read, and everything else works. Data that comes for TCP is dropped,
// unacknowledged: when the connection is closed, the other end knows which bytes were, see
// Reached. On a unix socket, writing fails at the other end from now on.
func Seal(nc net.Conn) (sealed bool) {
	switch c := nc.(type) {
	case *net.TCPConn:
		control(c, func(fd uintptr) { sealed = syscall.AttachLsf(int(fd), onlyControl) == nil })
	case *net.UnixConn:
		sealed = c.CloseRead() == nil
	}
	return sealed
}

// noSYN is a program for the packet filter that drops the first segments of TCP connections. It
// looks at the flags, in byte 13.
var noSYN = []syscall.SockFilter{
	{Code: syscall.BPF_LD | syscall.BPF_B | syscall.BPF_ABS, K: 13},
	{Code: syscall.BPF_ALU | syscall.BPF_AND | syscall.BPF_K, K: 0x12},               // SYN and ACK
	{Code: syscall.BPF_JMP | syscall.BPF_JEQ | syscall.BPF_K, K: 0x02, Jt: 0, Jf: 1}, // SYN alone
	{Code: syscall.BPF_RET | syscall.BPF_K, K: 0},
	{Code: syscall.BPF_RET | syscall.BPF_K, K: 0xffff},
}

// sealListener makes l take in no further connections. Those that wait can still be accepted. On a
// unix socket connecting fails from now on; over TCP the client's system tries again after a
// second.
func sealListener(l net.Listener) {
	socket, ok := l.(syscall.Conn)
	if !ok {
		return
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return
	}
	raw.Control(func(fd uintptr) {
		if _, tcp := l.(*net.TCPListener); tcp {
			syscall.AttachLsf(int(fd), noSYN)
		} else {
			syscall.Shutdown(int(fd), syscall.SHUT_RD)
		}
	})
}

// ackedBefore returns what acknowledged says of a TCP connection; −1 of another one.
func ackedBefore(nc net.Conn) (n int64) {
	n = -1
	if _, ok := nc.(*net.TCPConn); ok {
		control(nc, func(fd uintptr) { n = acknowledged(fd) })
	}
	return n
}

// Reached returns how many of the n bytes that were written to nc may have reached the other end,
// when nc has failed with err; at worst n. A TCP connection ends with a segment that acknowledges
// all bytes that had arrived by then, and later ones are dropped. If the other end of a unix
// socket is closed before all has been read, err says so. before is the result of Begin, and
// writeErr the error that writing has met, if any.
func Reached(nc net.Conn, n, before int64, err, writeErr error) int64 {
	switch c := nc.(type) {
	case *net.TCPConn:
		if before >= 0 && IsEnd(err) {
			control(c, func(fd uintptr) {
				if acked := acknowledged(fd); acked >= before && !wasReset(fd, writeErr) {
					n = min(n, acked-before)
				}
			})
		}
	case *net.UnixConn:
		if errors.Is(err, syscall.ECONNRESET) {
			n--
		}
	case *tls.Conn:
		if !IsEnd(err) {
			break
		}
		const record = 30 // more than one has in which nothing is of ours
		switch tcp := c.NetConn().(type) {
		case *Counted:
			control(tcp, func(fd uintptr) {
				if acked := acknowledged(fd); acked >= tcp.before && !wasReset(fd, writeErr) {
					n = tcp.reached(acked-tcp.before, n)
				}
			})
		case *net.TCPConn: // the program's TLS
			control(tcp, func(fd uintptr) {
				if unacknowledged(fd) > record && !wasReset(fd, writeErr) { // the last of ours at least
					n--
				}
			})
		}
	}
	return n
}

// MayKnow reports whether Reached may know more than the worst of nc.
func MayKnow(nc net.Conn) bool {
	switch nc.(type) {
	case *net.TCPConn, *net.UnixConn, *tls.Conn:
		return true
	}
	return false
}

// wasReset reports whether a TCP connection whose stream has ended was reset, and not ended by the
// other end before: a reset does not say what had arrived. If the system has told the goroutine
// that writes of the reset, reading meets an end.
func wasReset(fd uintptr, writeErr error) bool {
	if tcpState(fd) != tcpClosed || errors.Is(writeErr, syscall.EPIPE) {
		return false
	}
	// The system reports EPIPE for a reset that follows an end
	code, err := syscall.GetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_ERROR)
	return err != nil || syscall.Errno(code) != syscall.EPIPE
}

// AcceptLeft seals l and calls f with each connection that waits to be accepted. It waits for
// those that are being made.
func AcceptLeft(l net.Listener, wait time.Duration, f func(net.Conn)) {
	sealListener(l)
	for again := range 2 {
		if again > 0 {
			time.Sleep(wait)
		}
		for nc := acceptNow(l); nc != nil; nc = acceptNow(l) {
			f(nc)
		}
	}
}

// acceptNow accepts a connection, without waiting for one. It returns nil if there is none.
func acceptNow(l net.Listener) (nc net.Conn) {
	socket, ok := l.(syscall.Conn)
	if !ok {
		return nil
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return nil
	}
	raw.Control(func(listener uintptr) {
		fd, _, err := syscall.Accept4(int(listener), syscall.SOCK_NONBLOCK|syscall.SOCK_CLOEXEC)
		for err == syscall.EINTR || err == syscall.ECONNABORTED {
			fd, _, err = syscall.Accept4(int(listener), syscall.SOCK_NONBLOCK|syscall.SOCK_CLOEXEC)
		}
		if err != nil {
			return
		}
		file := os.NewFile(uintptr(fd), "")
		defer file.Close() // FileConn duplicates it
		nc, _ = net.FileConn(file)
	})
	return nc
}
