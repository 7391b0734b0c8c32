//go:build !unix

package shm

import (
	"io"
	"net"
)

// Here no descriptors are passed.

// CloseFD is not called: there are no descriptors.
func CloseFD(int) {}

// SendFD writes b to a unix socket, and passes fd with it: not here.
func SendFD(*net.UnixConn, []byte, int) error { return ErrUnsupported }

// Reader reads from a unix socket.
type Reader struct{ *net.UnixConn }

// NewReader returns a Reader, which must be closed.
func NewReader(nc *net.UnixConn) *Reader { return &Reader{nc} }

// TakeFD returns the descriptor that was passed: there is none.
func (*Reader) TakeFD() (int, error) { return -1, ErrUnsupported }

// Close does nothing: it does not close the socket.
func (*Reader) Close() {}

// ReaderOf returns what to read nc by.
func ReaderOf(nc net.Conn) io.Reader { return nc }

// Guard returns nc.
func Guard(nc net.Conn) net.Conn { return nc }

// IsUnix reports whether nc is a unix socket.
func IsUnix(nc net.Conn) bool {
	_, is := nc.(*net.UnixConn)
	return is
}

// CloseConn closes nc.
func CloseConn(nc net.Conn) error { return nc.Close() }

// CloseListener closes l.
func CloseListener(l net.Listener) error { return l.Close() }
