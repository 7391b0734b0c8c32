package capture

import (
	"net/netip"
	"slices"
	"time"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
)

// A segment is what a packet has of a TCP connection.
type segment struct {
	from, to      netip.AddrPort
	at            time.Time
	seq, ack      uint32
	hasAck        bool
	syn, fin, rst bool
	data          []byte
	missing       int // bytes that follow data and were not captured
}

// size returns how many bytes of the connection the segment has.
func (g *segment) size() uint32 { return uint32(len(g.data) + g.missing) }

// decoder decodes the headers of packets.
type decoder struct {
	parsers  map[layers.LinkType]*gopacket.DecodingLayerParser
	ip4, ip6 *gopacket.DecodingLayerParser // of packets that begin with the IP header

	v4      layers.IPv4
	v6      layers.IPv6
	tcp     layers.TCP
	decoded []gopacket.LayerType
}

func newDecoder() *decoder {
	d := &decoder{}
	parser := func(first gopacket.LayerType, also ...gopacket.DecodingLayer) *gopacket.DecodingLayerParser {
		p := gopacket.NewDecodingLayerParser(first, append(also, &d.v4, &d.v6, &layers.IPv6ExtensionSkipper{}, &d.tcp)...)
		p.IgnoreUnsupported = true
		return p
	}
	vlan := &layers.Dot1Q{}
	loopback := parser(layers.LayerTypeLoopback, &layers.Loopback{})
	d.ip4, d.ip6 = parser(layers.LayerTypeIPv4), parser(layers.LayerTypeIPv6)
	d.parsers = map[layers.LinkType]*gopacket.DecodingLayerParser{
		layers.LinkTypeEthernet:  parser(layers.LayerTypeEthernet, &layers.Ethernet{}, vlan),
		layers.LinkTypeLinuxSLL:  parser(layers.LayerTypeLinuxSLL, &layers.LinuxSLL{}, vlan),
		layers.LinkTypeLinuxSLL2: parser(layers.LayerTypeLinuxSLL2, &layers.LinuxSLL2{}, vlan),
		layers.LinkTypeNull:      loopback,
		layers.LinkTypeLoop:      loopback,
		layers.LinkTypeIPv4:      d.ip4,
		layers.LinkTypeIPv6:      d.ip6,
	}
	return d
}

// Why packets are left out.
const (
	noTCP        = "packets that are not TCP"
	aFragment    = "fragments of IP packets, which are not put together"
	unknownLink  = "packets of an unknown link type"
	badHeaders   = "packets whose headers are malformed, or cut"
	otherPorts   = "packets of other ports"
	tooManyConns = "connections that were given up for newer ones"
)

// rawLinks are the numbers of "raw IP" besides LinkTypeRaw, which differ between systems.
var rawLinks = []layers.LinkType{layers.LinkTypeRaw, 12, 14}

// segment returns the segment in a packet, or why there is none.
func (d *decoder) segment(p packet) (g segment, why string) {
	parser := d.parsers[p.link]
	if slices.Contains(rawLinks, p.link) && len(p.data) > 0 {
		if parser = d.ip4; p.data[0]>>4 == 6 {
			parser = d.ip6
		}
	}
	if parser == nil {
		return g, unknownLink
	}
	if err := parser.DecodeLayers(p.data, &d.decoded); err != nil {
		return g, badHeaders
	}
	is := func(t gopacket.LayerType) bool { return slices.Contains(d.decoded, t) }
	switch {
	case is(layers.LayerTypeIPv6Fragment), is(layers.LayerTypeIPv4) && (d.v4.FragOffset > 0 || d.v4.Flags&layers.IPv4MoreFragments != 0):
		return g, aFragment
	case !is(layers.LayerTypeTCP):
		return g, noTCP
	}
	t := &d.tcp
	g = segment{at: p.at, seq: t.Seq, ack: t.Ack, syn: t.SYN, fin: t.FIN, rst: t.RST, hasAck: t.ACK, data: t.Payload}
	var from, to netip.Addr
	if is(layers.LayerTypeIPv4) {
		from, _ = netip.AddrFromSlice(d.v4.SrcIP)
		to, _ = netip.AddrFromSlice(d.v4.DstIP)
		g.missing = int(d.v4.Length) - len(d.v4.Contents) - len(d.v4.Payload)
	} else {
		from, _ = netip.AddrFromSlice(d.v6.SrcIP)
		to, _ = netip.AddrFromSlice(d.v6.DstIP)
		g.missing = int(d.v6.Length) - len(d.v6.Payload)
		if d.v6.HopByHop != nil {
			g.missing -= d.v6.HopByHop.ActualLength
		}
	}
	g.missing = max(g.missing, 0)
	g.from, g.to = netip.AddrPortFrom(from.Unmap(), uint16(t.SrcPort)), netip.AddrPortFrom(to.Unmap(), uint16(t.DstPort))
	return g, ""
}
