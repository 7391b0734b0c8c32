//go:build unix

package shm

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
)

// The peer at the other end of a unix socket can pass descriptors of anything with its bytes, also
// where nobody asks for them. The last close of some takes as long as the peer likes: that of a
// TCP socket that lingers, for instance. Descriptors that nobody receives are closed by the
// system, in the goroutine that reads the bytes, or closes the socket with the bytes unread. So
// this file receives all of them, and closes what is not shared memory where nobody waits for it.

// mostClosing is how many descriptors are being closed at a time. If one takes long, others can
// still be closed, but peers don't fill the process with threads.
const mostClosing = 8

var closing = make(chan struct{}, mostClosing)

// discard closes a descriptor of any kind that a peer has passed, in another goroutine. It
// waits while mostClosing others are being closed.
func discard(fd int) {
	closing <- struct{}{}
	go func() {
		defer func() { <-closing }()
		// An error if it is no socket. The close may still take long: the peer can set the option again
		// at this moment, and some file systems let it decide
		syscall.SetsockoptLinger(fd, syscall.SOL_SOCKET, syscall.SO_LINGER, &syscall.Linger{})
		syscall.Close(fd)
	}()
}

// CloseFD closes a descriptor of TakeFD that Attach is not called with.
func CloseFD(fd int) { syscall.Close(fd) }

// SendFD writes b to a unix socket, and passes fd with it.
func SendFD(nc *net.UnixConn, b []byte, fd int) error {
	n, _, err := nc.WriteMsgUnix(b, syscall.UnixRights(fd), nil)
	if err == nil && n < len(b) {
		_, err = nc.Write(b[n:])
	}
	return err
}

// rightsSize is the room for all descriptors that can be passed at a time, 253 on Linux: with less
// the system would close the others.
const rightsSize = 2048

// rooms holds room for descriptors while nobody receives any.
var rooms = sync.Pool{New: func() any { return new([rightsSize]byte) }}

// Reader reads from a TCP or unix socket. Until it is closed it keeps a descriptor that was
// passed, if it is one of memory that can be attached. All others it closes.
type Reader struct {
	nc    net.Conn
	raw   syscall.RawConn
	unix  bool
	keeps bool
	kept  int   // -1: none
	err   error // why there is none to be used

	into           Memory
	own            own                   // into, for Read
	once           func(fd uintptr) bool // tries to read
	oob            *[rightsSize]byte     // nil if nothing was passed
	n, oobn, flags int
	received       error
}

// Memory is memory for ReadLate.
type Memory = interface {
	Room() []byte // returns memory for trying to read now
	Vacate()      // says that the memory is not needed until Room is called again
}

// own is memory that its user keeps.
type own []byte

func (o *own) Room() []byte { return *o }
func (o *own) Vacate()      {}

// NewReader returns a Reader, which must be closed.
func NewReader(nc *net.UnixConn) *Reader {
	r := newReader(nc, nc, true)
	r.keeps = true
	return r
}

func newReader(nc net.Conn, socket syscall.Conn, unix bool) *Reader {
	r := &Reader{nc: nc, unix: unix, kept: -1}
	r.raw, r.err = socket.SyscallConn() // an error of a nil connection alone
	r.once = func(fd uintptr) bool {
		r.try(int(fd), r.into.Room())
		if r.received != syscall.EAGAIN {
			return true
		}
		r.into.Vacate()
		return false
	}
	return r
}

// try reads into b without waiting.
func (r *Reader) try(fd int, b []byte) {
	if !r.unix {
		for r.n, r.received = syscall.Read(fd, b); r.received == syscall.EINTR; {
			r.n, r.received = syscall.Read(fd, b)
		}
		return
	}
	r.oob = rooms.Get().(*[rightsSize]byte)
	if r.n, r.oobn, r.flags, r.received = receive(fd, b, r.oob[:]); r.oobn == 0 {
		r.freeRoom()
	}
}

func (r *Reader) freeRoom() {
	rooms.Put(r.oob)
	r.oob, r.oobn = nil, 0
}

// Read is io.Reader's.
func (r *Reader) Read(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	r.own = b
	n, err := r.ReadLate(&r.own)
	r.own = nil
	return n, err
}

// ReadLate is Read into memory that is needed only while bytes are read, not while it waits.
func (r *Reader) ReadLate(into Memory) (int, error) {
	r.into = into
	err := r.raw.Read(r.once)
	r.into = nil
	if op, ok := err.(*net.OpError); ok {
		op.Op = "read" // as errors of net.Conn's Read are
	}
	switch {
	case err != nil:
		return 0, err
	case r.received != nil:
		return 0, &net.OpError{Op: "read", Net: r.nc.LocalAddr().Network(), Source: r.nc.LocalAddr(), Addr: r.nc.RemoteAddr(), Err: os.NewSyscallError("read", r.received)}
	}
	if r.flags&syscall.MSG_CTRUNC != 0 {
		r.err = errors.New("a descriptor was passed, and dropped: MSG_CTRUNC; too many may be open")
	}
	if r.oob != nil {
		descriptors(r.oob[:r.oobn], r.keep)
		r.freeRoom()
	}
	if r.n == 0 {
		return 0, io.EOF
	}
	return r.n, nil
}

// descriptors calls f for each descriptor that was passed in oob.
func descriptors(oob []byte, f func(fd int)) {
	messages, err := syscall.ParseSocketControlMessage(oob)
	if err != nil {
		return // the system has written something else than it should have
	}
	for i := range messages {
		fds, err := syscall.ParseUnixRights(&messages[i])
		if err != nil {
			continue // something else, which nobody asked for
		}
		for _, fd := range fds {
			syscall.CloseOnExec(fd)
			f(fd)
		}
	}
}

// keep takes over a descriptor that was passed.
func (r *Reader) keep(fd int) {
	if !r.keeps {
		discard(fd)
		return
	}
	if r.kept >= 0 {
		r.err = errors.New("more than one descriptor was passed")
	} else if err := isSealed(fd); err != nil {
		r.err = err
	}
	if r.err != nil {
		discard(fd)
		return
	}
	r.kept = fd
}

// TakeFD returns the descriptor that was passed, of a memfd with all seals; it belongs to the
// caller. If there is none, the error says why.
func (r *Reader) TakeFD() (int, error) {
	if r.err == nil && r.kept < 0 {
		r.err = errors.New("no descriptor was passed")
	}
	if r.err != nil {
		return -1, r.err
	}
	fd := r.kept
	r.kept = -1
	return fd, nil
}

// Close closes the descriptor that was passed, unless TakeFD has returned it. From now on the
// Reader keeps none; it can still be read from.
func (r *Reader) Close() {
	if r.kept >= 0 {
		CloseFD(r.kept)
	}
	r.keeps, r.kept = false, -1
}

// ReaderOf returns what to read nc by, if no descriptors are expected: if it is a TCP or unix
// socket, a Reader that keeps none, else nc itself.
func ReaderOf(nc net.Conn) io.Reader {
	switch socket := nc.(type) {
	case *net.UnixConn:
		return newReader(nc, socket, true)
	case *net.TCPConn:
		return newReader(nc, socket, false)
	}
	return nc
}

// guarded is a unix socket that ReaderOf reads and CloseConn closes.
type guarded struct {
	*net.UnixConn
	in io.Reader
}

func (g guarded) Read(b []byte) (int, error) { return g.in.Read(b) }
func (g guarded) Close() error               { return CloseConn(g.UnixConn) }

// Guard returns nc, or, if it is a unix socket, a connection that reads and closes it as ReaderOf
// and CloseConn do: for what is on top of it, such as TLS.
func Guard(nc net.Conn) net.Conn {
	if socket, ok := nc.(*net.UnixConn); ok {
		return guarded{socket, ReaderOf(socket)}
	}
	return nc
}

// IsUnix reports whether nc is a unix socket, or a guarded one.
func IsUnix(nc net.Conn) bool {
	switch nc.(type) {
	case *net.UnixConn, guarded:
		return true
	}
	return false
}

// CloseConn closes nc. If it is a unix socket it does not wait for descriptors to be closed that
// were passed with bytes which nobody has read.
func CloseConn(nc net.Conn) error {
	socket, ok := nc.(*net.UnixConn)
	if !ok {
		return nc.Close()
	}
	return closeAfter(socket, socket.Close, empty)
}

// CloseListener closes l. If it listens for unix sockets, descriptors may have been passed over
// connections that nobody has accepted. CloseListener does not wait until these are closed.
func CloseListener(l net.Listener) error {
	socket, ok := l.(*net.UnixListener)
	if !ok {
		return l.Close()
	}
	return closeAfter(socket, socket.Close, func(fd int) {
		syscall.Shutdown(fd, syscall.SHUT_RD) // from now on nobody connects
		for {
			nfd, _, err := syscall.Accept(fd)
			switch err {
			case nil:
				syscall.CloseOnExec(nfd)
				empty(nfd)
				syscall.Close(nfd)
			case syscall.EINTR, syscall.ECONNABORTED:
			default:
				return
			}
		}
	})
}

// closeAfter closes a socket and calls f with a descriptor of it, which then is the last one.
// Users of the socket learn first that it is closed, and do not notice the effect of f. If no more
// descriptors can be had, f comes first.
func closeAfter(socket syscall.Conn, close func() error, f func(fd int)) error {
	last := -1
	raw, err := socket.SyscallConn()
	if err != nil {
		return close()
	}
	raw.Control(func(fd uintptr) {
		syscall.ForkLock.RLock()
		defer syscall.ForkLock.RUnlock()
		if last, err = syscall.Dup(int(fd)); err != nil {
			last = -1
			f(int(fd))
			return
		}
		syscall.CloseOnExec(last)
	})
	err = close()
	if last >= 0 {
		f(last)
		syscall.Close(last)
	}
	return err
}

// empty receives what nobody has received from a unix socket, and discards the descriptors that
// were passed. From then on nothing more can be sent to it.
func empty(fd int) {
	syscall.Shutdown(fd, syscall.SHUT_RD)
	b, oob := make([]byte, 16<<10), make([]byte, rightsSize)
	for {
		n, oobn, _, err := receive(fd, b, oob)
		if err != nil {
			return
		}
		descriptors(oob[:oobn], discard)
		if n == 0 {
			return
		}
	}
}
