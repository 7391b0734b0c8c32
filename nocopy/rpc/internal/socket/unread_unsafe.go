//go:build linux && !nounsafe && (amd64 || arm64 || loong64 || ppc64le || riscv64)

package socket

import (
	"syscall"
	"unsafe"
)

// KnowsUnread reports whether acknowledged and unacknowledged know.
const KnowsUnread = true

// acknowledged returns how many bytes that were written to a TCP socket its other end has
// acknowledged, and perhaps one more for the beginning of the connection; -1 if it is not known.
func acknowledged(fd uintptr) int64 {
	var info struct { // Linux's struct tcp_info up to tcpi_bytes_acked
		_     [120]byte
		acked uint64
	}
	size := uint32(unsafe.Sizeof(info))
	// SAFETY: the system stores at most size bytes into info, and their number into size. It keeps
	// neither address.
	_, _, err := syscall.Syscall6(syscall.SYS_GETSOCKOPT, fd, syscall.IPPROTO_TCP, syscall.TCP_INFO,
		uintptr(unsafe.Pointer(&info)), uintptr(unsafe.Pointer(&size)), 0) // SAFETY: as above
	if err != 0 || uintptr(size) < unsafe.Sizeof(info) { // SAFETY: a constant
		return -1
	}
	return int64(info.acked)
}

// unacknowledged returns how many bytes that were written to a TCP socket its other end has not
// acknowledged; 0 if it is not known.
func unacknowledged(fd uintptr) int {
	var n int32
	// SAFETY: the system stores an int32 there, and does not keep the address.
	if _, _, err := syscall.Syscall(syscall.SYS_IOCTL, fd, syscall.TIOCOUTQ, uintptr(unsafe.Pointer(&n))); err != 0 {
		return 0
	}
	return int(n)
}
