package capture

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"

	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"
)

// Live finds the calls in the packets of a network interface, until ctx ends.
func Live(ctx context.Context, name string, opt Options, out Output) (Summary, error) {
	in, err := net.InterfaceByName(name)
	if err != nil {
		return Summary{}, fmt.Errorf("no network interface %s: there are %s", name, interfaces())
	}
	h, err := pcapgo.NewEthernetHandle(name)
	if err != nil {
		return Summary{}, notAllowed(name, err)
	}
	defer h.Close()
	if err := h.SetCaptureLength(maxPacket); err != nil {
		return Summary{}, err
	}
	defer context.AfterFunc(ctx, func() { h.Close() })()
	link := layers.LinkTypeEthernet
	if len(in.HardwareAddr) == 0 && in.Flags&net.FlagLoopback == 0 { // a tunnel
		link = layers.LinkTypeRaw
	}
	sum, err := follow(ctx, live{h, link}, opt, out)
	if ctx.Err() != nil { // its usual end
		err = out.Err()
	}
	return sum, err
}

// notAllowed returns the error of an interface that can't be opened. gopacket's errors have only
// the text of the system's.
func notAllowed(name string, err error) error {
	if strings.Contains(err.Error(), syscall.EPERM.Error()) || errors.Is(err, syscall.EPERM) {
		return fmt.Errorf("reading packets of %s is not allowed: it needs the capability CAP_NET_RAW, as root has, or as \"setcap cap_net_raw+ep\" gives to the tool's file", name)
	}
	return err
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

// live is the source of an interface.
type live struct {
	handle *pcapgo.EthernetHandle
	link   layers.LinkType
}

func (l live) next() (packet, error) {
	data, info, err := l.handle.ReadPacketData()
	return packet{info.Timestamp, l.link, data}, err
}
