//go:build !nounsafe

package shm

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// Constants that package syscall lacks.
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

// isSealed returns an error unless fd is a memfd with all seals. fd may be anything, so it
// asks only for the seals: no file or socket can delay the answer.
func isSealed(fd int) error {
	has, err := fcntl(fd, getSeals, 0)
	if err == nil && has&seals != seals {
		err = fmt.Errorf("memory with the seals %#x, not %#x", has, seals)
	}
	return err
}

// open takes over fd, checks that it is a memfd with all seals, and maps it for reading, but no
// more than most bytes. It closes fd.
func open(fd, most int) (memory, error) {
	if err := isSealed(fd); err != nil {
		discard(fd)
		return memory{fd: -1}, err
	}
	m := memory{fd: fd}
	defer m.closeFD()
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
