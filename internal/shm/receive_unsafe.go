//go:build linux && !nounsafe && !386 && !s390x

package shm

import (
	"syscall"
	"unsafe"
)

// receive receives into b, which must have at least one byte, and oob, without waiting. Unlike
// package syscall's Recvmsg it does not ask for the sender's address, which would be allocated.
func receive(fd int, b, oob []byte) (n, oobn, flags int, err error) {
	part := syscall.Iovec{Base: &b[0]}
	part.SetLen(len(b))
	message := syscall.Msghdr{Iov: &part, Iovlen: 1, Control: &oob[0]}
	message.SetControllen(len(oob))
	for {
		// SAFETY: message refers to part, b and oob by pointers that the garbage collector knows, and
		// with their lengths; it is kept alive by being converted in the call.
		r, _, e := syscall.Syscall(syscall.SYS_RECVMSG, uintptr(fd), uintptr(unsafe.Pointer(&message)),
			syscall.MSG_CMSG_CLOEXEC|syscall.MSG_DONTWAIT)
		switch e {
		case 0:
			return int(r), int(message.Controllen), int(message.Flags), nil
		case syscall.EINTR:
		default:
			return 0, 0, 0, e
		}
	}
}
