package capture

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// maxWaiting is how many packets of an interface may wait until they are looked at.
const maxWaiting = 1 << 12

// anyInterface is the name of all interfaces together.
const anyInterface = "any"

// Live finds the calls in the packets of a network interface, or of all, until ctx ends.
func Live(ctx context.Context, name string, opt Options, out Output) (Summary, error) {
	in, err := net.InterfaceByName(name)
	switch {
	case name == anyInterface:
		in = new(net.Interface)
	case err != nil:
		return Summary{}, fmt.Errorf("no network interface %s: there are %s, and %s for all", name, interfaces(), anyInterface)
	}
	link, filter := linkEthernet, []bpf.Instruction(nil)
	if len(in.HardwareAddr) == 0 && in.Flags&net.FlagLoopback == 0 { // a tunnel, or all
		link = linkRaw
	} else if opt.Port > 0 {
		filter = ofPort(uint32(opt.Port))
	}
	socket, err := openSocket(in.Index, filter)
	if err != nil {
		return Summary{}, notOpened(name, err)
	}
	defer context.AfterFunc(ctx, func() { socket.Close() })()
	packets := received(socket, link)
	sum, err := follow(ctx, packets, opt, out)
	if ctx.Err() != nil { // its usual end
		err = out.Err()
	}
	socket.Close()
	for range packets { // its goroutine may be sending one
	}
	return sum, err
}

// notOpened returns the error of an interface whose packets can't be received.
func notOpened(name string, err error) error {
	if errors.Is(err, unix.EPERM) {
		return fmt.Errorf("reading packets of %s is not allowed: it needs the capability CAP_NET_RAW, as root has, or as \"setcap cap_net_raw+ep\" gives to the tool's file", name)
	}
	return fmt.Errorf("%s: %w", name, err)
}

// interfaces returns the names of the network interfaces.
func interfaces() string {
	all, err := net.Interfaces()
	if err != nil || len(all) == 0 {
		return "none"
	}
	var names []string
	for _, in := range all {
		names = append(names, in.Name)
	}
	return strings.Join(names, ", ")
}

// ofPort returns a filter for the kernel, which drops most packets of other ports: those of
// Ethernet with TCP or another protocol directly after the IP header.
func ofPort(port uint32) []bpf.Instruction {
	return []bpf.Instruction{
		bpf.LoadAbsolute{Off: 12, Size: 2}, // the protocol
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: 0x0800, SkipFalse: 9},
		bpf.LoadAbsolute{Off: 23, Size: 1}, // IPv4: is it TCP?
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: 6, SkipTrue: 15},
		bpf.LoadAbsolute{Off: 20, Size: 2}, // a fragment?
		bpf.JumpIf{Cond: bpf.JumpBitsSet, Val: 0x1fff, SkipTrue: 12},
		bpf.LoadMemShift{Off: 14}, // the header's size
		bpf.LoadIndirect{Off: 14, Size: 2},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: port, SkipTrue: 9},
		bpf.LoadIndirect{Off: 16, Size: 2},
		bpf.Jump{Skip: 6},
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: 0x86dd, SkipTrue: 6}, // VLAN, such as
		bpf.LoadAbsolute{Off: 20, Size: 1},                           // IPv6: TCP directly?
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: 6, SkipTrue: 4},
		bpf.LoadAbsolute{Off: 54, Size: 2},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: port, SkipTrue: 2},
		bpf.LoadAbsolute{Off: 56, Size: 2},
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: port, SkipTrue: 1},
		bpf.RetConstant{Val: maxPacket},
		bpf.RetConstant{Val: 0},
	}
}

// live is the source of an interface. A goroutine receives the packets, since the kernel drops
// those that nobody receives soon.
type live chan arrived

// arrived is a packet, or the error that ends them.
type arrived struct {
	packet
	err error
}

// received returns the source of a socket. It ends when the socket is closed.
func received(s *socket, link linkType) live {
	l := make(live, maxWaiting)
	go func() {
		defer close(l)
		for {
			data, at, again, err := s.read()
			if err == nil && again {
				continue
			}
			l <- arrived{packet{at, link, data}, err}
			if err != nil {
				return
			}
		}
	}()
	return l
}

func (l live) next() (packet, error) {
	p := <-l
	return p.packet, p.err
}
