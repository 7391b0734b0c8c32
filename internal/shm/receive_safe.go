//go:build unix && (nounsafe || !linux || 386 || s390x)

package shm

import "syscall"

// receive receives into b, which must have at least one byte, and oob, without waiting.
func receive(fd int, b, oob []byte) (n, oobn, flags int, err error) {
	for {
		n, oobn, flags, _, err = syscall.Recvmsg(fd, b, oob, syscall.MSG_DONTWAIT)
		if err != syscall.EINTR {
			return max(n, 0), oobn, flags, err
		}
	}
}
