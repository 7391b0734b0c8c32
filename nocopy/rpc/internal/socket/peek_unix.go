//go:build unix

package socket

import (
	"net"
	"syscall"
)

// Peeker returns a function that says how many of the next bytes, 0 or 1, have arrived on nc,
// without taking them: 0 and no error at the end of the stream, syscall.EAGAIN if none have. It
// returns nil if nc is no socket. TLS on a socket, for instance, may hold bytes that have arrived.
func Peeker(nc net.Conn) func() (int, error) {
	socket, ok := nc.(syscall.Conn)
	if !ok {
		return nil
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return nil
	}
	var n int
	once := func(fd uintptr) {
		var b [1]byte
		n, _, err = syscall.Recvfrom(int(fd), b[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
	}
	return func() (int, error) {
		if err := raw.Control(once); err != nil { // not Read, which waits for others that read
			return 0, err
		}
		return n, err
	}
}
