package capture

import (
	"encoding/binary"
	"fmt"
	"os"
	"syscall"
	"time"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// A socket receives what goes through a network interface: see packet(7).
type socket struct {
	*os.File
	raw   syscall.RawConn
	data  []byte
	extra [128]byte // with the time
}

// receiveBuffer is how many bytes of packets the kernel may keep.
const receiveBuffer = 8 << 20

// openSocket returns a socket of the interface with an index; of all if it is 0, and then packets
// begin with their IP headers. Of packets, it receives those that the filter passes, if there is
// one.
func openSocket(index int, filter []bpf.Instruction) (*socket, error) {
	kind := unix.SOCK_RAW
	if index == 0 {
		kind = unix.SOCK_DGRAM
	}
	fd, err := unix.Socket(unix.AF_PACKET, kind|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	s := &socket{File: os.NewFile(uintptr(fd), "packets"), data: make([]byte, maxPacket)}
	if err := s.setUp(fd, index, filter); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

func (s *socket) setUp(fd, index int, filter []bpf.Instruction) (err error) {
	if s.raw, err = s.SyscallConn(); err != nil {
		return err
	}
	if len(filter) > 0 {
		assembled, err := bpf.Assemble(filter)
		if err != nil {
			return err
		}
		program := make([]unix.SockFilter, len(assembled))
		for i, in := range assembled {
			program[i] = unix.SockFilter{Code: in.Op, Jt: in.Jt, Jf: in.Jf, K: in.K}
		}
		if err := unix.SetsockoptSockFprog(fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}); err != nil {
			return fmt.Errorf("the filter: %w", err)
		}
	}
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1); err != nil {
		return err
	}
	// Where it is not allowed, more packets are lost
	unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, receiveBuffer)
	// The kernel delivers packets from here on. It takes the number in the network's byte order
	all := binary.NativeEndian.Uint16([]byte{0, unix.ETH_P_ALL})
	return unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: all, Ifindex: index})
}

// read returns the next packet, when it came, and whether it comes again: those that this machine
// sends to itself are received, too.
func (s *socket) read() (data []byte, at time.Time, again bool, err error) {
	var n, extra int
	var from unix.Sockaddr
	if waiting := s.raw.Read(func(fd uintptr) bool {
		n, extra, _, from, err = unix.Recvmsg(int(fd), s.data, s.extra[:], 0)
		return err != unix.EAGAIN && err != unix.EINTR
	}); waiting != nil {
		err = waiting
	}
	if err != nil {
		return nil, at, false, err
	}
	link, ok := from.(*unix.SockaddrLinklayer)
	return copyOf(s.data[:n]), timeOf(s.extra[:extra]), ok && link.Pkttype == unix.PACKET_OUTGOING && link.Hatype == unix.ARPHRD_LOOPBACK, nil
}

// timeOf returns the time among what the kernel says about a packet.
func timeOf(b []byte) time.Time {
	all, err := unix.ParseSocketControlMessage(b)
	for _, m := range all {
		if err != nil || m.Header.Level != unix.SOL_SOCKET || m.Header.Type != unix.SO_TIMESTAMPNS {
			continue
		}
		switch len(m.Data) { // seconds and nanoseconds
		case 16:
			return time.Unix(int64(binary.NativeEndian.Uint64(m.Data)), int64(binary.NativeEndian.Uint64(m.Data[8:])))
		case 8:
			return time.Unix(int64(binary.NativeEndian.Uint32(m.Data)), int64(binary.NativeEndian.Uint32(m.Data[4:])))
		}
	}
	return time.Now()
}
