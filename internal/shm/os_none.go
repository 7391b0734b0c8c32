//go:build !linux || nounsafe

package shm

import "net"

func create(int) (memory, error) { return memory{}, ErrUnsupported }

func open(int, int) (memory, error) { return memory{}, ErrUnsupported }

func (m *memory) allocate(int, int) error { return ErrUnsupported }
func (m *memory) populate(int, int) error { return ErrUnsupported }
func (m *memory) closeFD()                {}
func (m *memory) unmap()                  {}

// CloseFD is not called: there are no descriptors.
func CloseFD(int) {}

// SendFD writes b to a unix socket, and passes fd with it: not here.
func SendFD(*net.UnixConn, []byte, int) error { return ErrUnsupported }

// Reader reads from a unix socket and keeps the last descriptor that was passed over it: none
// here.
type Reader struct{ *net.UnixConn }

// NewReader returns a Reader, which must be closed.
func NewReader(nc *net.UnixConn) *Reader { return &Reader{nc} }

// TakeFD returns the descriptor that was passed: there is none.
func (*Reader) TakeFD() (int, error) { return -1, ErrUnsupported }

// Close does nothing: it does not close the socket.
func (*Reader) Close() {}
