//go:build !nounsafe

package shm

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
)

// What package syscall has no names for.
const (
	addSeals = 1033 // F_ADD_SEALS
	getSeals = 1034 // F_GET_SEALS

	sealSeal, sealShrink, sealGrow, sealFutureWrite = 1, 2, 4, 16

	seals = sealSeal | sealShrink | sealGrow | sealFutureWrite

	closeOnExec, allowSealing, noExec = 1, 2, 8 // MFD_CLOEXEC, MFD_ALLOW_SEALING, MFD_NOEXEC_SEAL

	hugePages = 4 // MFD_HUGETLB

	populateRead = 22 // MADV_POPULATE_READ

	hugePagesMagic = 0x958458f6 // HUGETLBFS_MAGIC, the type of a file system
)

// create makes a sealed memfd of size bytes and maps it for writing.
func create(size int) (memory, error) {
	// Systems may refuse memory that could be executed; kernels before 6.3 don't know the flag
	fd, err := memfdCreate("nocopy-rpc", closeOnExec|allowSealing|noExec)
	if errors.Is(err, syscall.EINVAL) {
		fd, err = memfdCreate("nocopy-rpc", closeOnExec|allowSealing)
	}
	if err != nil {
		return memory{}, err
	}
	m := memory{fd: fd}
	if err := syscall.Ftruncate(fd, int64(size)); err != nil {
		m.unmap()
		return memory{}, os.NewSyscallError("ftruncate", err)
	}
	// Mapped before it is sealed: no later mapping can be written
	if m.mem, err = syscall.Mmap(fd, 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED); err != nil {
		m.unmap()
		return memory{}, os.NewSyscallError("mmap", err)
	}
	if _, err := fcntl(fd, addSeals, seals); err != nil {
		m.unmap()
		return memory{}, err
	}
	return m, nil
}

// open takes over fd, checks that it is a memfd with all seals, and maps it for reading, but no
// more than most bytes. It closes fd.
func open(fd, most int) (memory, error) {
	m := memory{fd: fd}
	defer m.closeFD()
	has, err := fcntl(fd, getSeals, 0)
	if err != nil {
		return memory{fd: -1}, err
	}
	if has&seals != seals {
		return memory{fd: -1}, fmt.Errorf("memory with the seals %#x, not %#x", has, seals)
	}
	var stat syscall.Stat_t
	if err := syscall.Fstat(fd, &stat); err != nil {
		return memory{fd: -1}, os.NewSyscallError("fstat", err)
	}
	var system syscall.Statfs_t
	if err := syscall.Fstatfs(fd, &system); err != nil {
		return memory{fd: -1}, os.NewSyscallError("fstatfs", err)
	}
	if uint32(system.Type) == hugePagesMagic { // parts of a page could not be unmapped
		return memory{fd: -1}, errors.New("memory in huge pages")
	}
	n := int(min(stat.Size, int64(most))) &^ (unit - 1)
	if n == 0 {
		return memory{fd: -1}, fmt.Errorf("memory of %d bytes", stat.Size)
	}
	mem, err := syscall.Mmap(fd, 0, n, syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return memory{fd: -1}, os.NewSyscallError("mmap", err)
	}
	return memory{fd: -1, mem: mem}, nil
}

func fcntl(fd, cmd, arg int) (int, error) {
	v, _, e := syscall.Syscall(syscall.SYS_FCNTL, uintptr(fd), uintptr(cmd), uintptr(arg))
	if e != 0 {
		return 0, os.NewSyscallError("fcntl", e)
	}
	return int(v), nil
}

// allocate makes sure that n bytes of this side's have memory.
func (m *memory) allocate(at, n int) error {
	for {
		if err := syscall.Fallocate(m.fd, 0, int64(at), int64(n)); err != syscall.EINTR {
			return os.NewSyscallError("fallocate", err)
		}
	}
}

// populate makes sure that n bytes of the peer's can be read. Where an access would be a SIGBUS,
// it returns an error.
func (m *memory) populate(at, n int) error {
	return os.NewSyscallError("madvise", syscall.Madvise(m.mem[at:at+n:at+n], populateRead))
}

// CloseFD closes a descriptor of TakeFD that Attach is not called with.
func CloseFD(fd int) { syscall.Close(fd) }

func (m *memory) closeFD() {
	if m.fd >= 0 {
		syscall.Close(m.fd)
	}
	m.fd = -1
}

func (m *memory) unmap() {
	if m.mem != nil {
		syscall.Munmap(m.mem)
	}
	m.mem = nil
	m.closeFD()
}

// SendFD writes b to a unix socket, and passes fd with it.
func SendFD(nc *net.UnixConn, b []byte, fd int) error {
	n, _, err := nc.WriteMsgUnix(b, syscall.UnixRights(fd), nil)
	if err == nil && n < len(b) {
		_, err = nc.Write(b[n:])
	}
	return err
}

// Reader reads from a unix socket and keeps the descriptor that was passed over it.
type Reader struct {
	nc   *net.UnixConn
	kept int   // the last descriptor; -1: none
	err  error // why it must not be used
	oob  [64]byte
}

// NewReader returns a Reader, which must be closed.
func NewReader(nc *net.UnixConn) *Reader { return &Reader{nc: nc, kept: -1} }

// Read is io.Reader's.
func (r *Reader) Read(b []byte) (int, error) {
	n, oobn, flags, _, err := r.nc.ReadMsgUnix(b, r.oob[:])
	if flags&syscall.MSG_CTRUNC != 0 {
		r.err = errors.New("a descriptor was passed, and dropped: MSG_CTRUNC; too many may be open")
	}
	if oobn > 0 {
		r.keep(r.oob[:oobn])
	}
	if errors.Is(err, io.EOF) { // as Read of a connection has it
		err = io.EOF
	}
	return n, err
}

func (r *Reader) keep(oob []byte) {
	messages, err := syscall.ParseSocketControlMessage(oob)
	if err != nil {
		r.err = err
	}
	for i := range messages {
		fds, err := syscall.ParseUnixRights(&messages[i])
		if err != nil {
			continue // something else, which nobody asked for
		}
		for _, fd := range fds {
			if r.kept >= 0 {
				r.err = errors.New("more than one descriptor was passed")
			}
			r.Close()
			r.kept = fd
		}
	}
}

// TakeFD returns the descriptor that was passed; it belongs to the caller. If there is none, the
// error tells why.
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

// Close closes the descriptor that was passed, unless TakeFD has returned it.
func (r *Reader) Close() {
	if r.kept >= 0 {
		syscall.Close(r.kept)
	}
	r.kept = -1
}
