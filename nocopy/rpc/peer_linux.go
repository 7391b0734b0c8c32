package rpc

import (
	"encoding/binary"
	"net"
	"syscall"
)

// peerState asks the system about the other end of a TCP connection without reading: whether it
// will send nothing more, and whether it has reset the connection. Of what is none, or hides that
// it is one, it knows neither.
func peerState(nc net.Conn) (eof, reset bool) {
	const closed, closeWait = 7, 8 // TCP's states as Linux numbers them
	sc, ok := nc.(syscall.Conn)
	if !ok {
		return false, false
	}
	rc, err := sc.SyscallConn()
	if err != nil {
		return false, false
	}
	var state byte
	rc.Control(func(fd uintptr) {
		v, err := syscall.GetsockoptInt(int(fd), syscall.IPPROTO_TCP, syscall.TCP_INFO)
		if err == nil { // v is its first four bytes, and the state the first of them
			state = binary.NativeEndian.AppendUint32(nil, uint32(v))[0]
		}
	})
	return state == closeWait, state == closed
}
