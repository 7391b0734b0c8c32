package capture

import (
	"encoding/binary"
	"net/netip"
	"time"
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

// Why packets, or a part of what is known of them, are left out.
const (
	timeless     = "packets without a time, or with one that makes no sense"
	noTCP        = "packets that are not TCP"
	aFragment    = "fragments of IP packets, which are not put together"
	unknownLink  = "packets of an unknown link type"
	badHeaders   = "packets whose headers are malformed, or cut"
	shortened    = "packets that are not there to their ends (tcpdump -s 0 captures whole ones)"
	afterEnd     = "packets after the end of their connection"
	otherPorts   = "packets of other ports"
	tooManyConns = "connections that were given up for newer ones"
)

// A linkType is the protocol that packets begin with, by its number in files
// (https://www.tcpdump.org/linktypes.html).
type linkType uint16

const (
	linkNull     linkType = 0
	linkEthernet linkType = 1
	linkRaw      linkType = 101
	linkLoop     linkType = 108
	linkSLL      linkType = 113
	linkIPv4     linkType = 228
	linkIPv6     linkType = 229
	linkSLL2     linkType = 276
)

// Types of what a frame of Ethernet has.
const (
	etherIPv4   = 0x0800
	etherVLAN   = 0x8100
	etherIPv6   = 0x86dd
	etherQinQ   = 0x88a8 // a VLAN in another one (IEEE 802.1ad)
	etherDouble = 0x9100 // the same before the standard
)

// segmentOf returns the segment in a packet, or why there is none.
func segmentOf(p packet) (g segment, why string) {
	version, b, why := ipOf(p)
	if why != "" {
		return g, why
	}
	g.at = p.at
	var from, to netip.Addr
	if version == 6 {
		from, to, b, g.missing, why = ipv6(b)
	} else {
		from, to, b, g.missing, why = ipv4(b)
	}
	if why != "" {
		return g, why
	}
	// RFC 9293, section 3.1
	const header = 20
	if len(b) < header || int(b[12]>>4)*4 < header || int(b[12]>>4)*4 > len(b) {
		return g, badHeaders
	}
	const fin, syn, rst, ack = 1, 2, 4, 16
	flags := b[13]
	g.from = netip.AddrPortFrom(from, binary.BigEndian.Uint16(b))
	g.to = netip.AddrPortFrom(to, binary.BigEndian.Uint16(b[2:]))
	g.seq, g.ack = binary.BigEndian.Uint32(b[4:]), binary.BigEndian.Uint32(b[8:])
	g.fin, g.syn, g.rst, g.hasAck = flags&fin != 0, flags&syn != 0, flags&rst != 0, flags&ack != 0
	g.data = b[int(b[12]>>4)*4:]
	return g, ""
}

// ipOf returns what a packet has from its IP header on, and the version of IP.
func ipOf(p packet) (version int, ip []byte, why string) {
	b := p.data
	// Where the header ends, and where in it the type of what follows is
	header, kind := 0, 0
	switch p.link {
	case linkEthernet:
		header, kind = 14, 12
	case linkSLL:
		header, kind = 16, 14
	case linkSLL2:
		header, kind = 20, 0
	case linkNull, linkLoop: // the system's number of the family, in either byte order
		if len(b) < 4 {
			return 0, nil, badHeaders
		}
		switch max(b[0], b[3]) {
		case 2:
			return 4, b[4:], ""
		case 10, 24, 28, 30:
			return 6, b[4:], ""
		}
		return 0, nil, noTCP
	case linkRaw, 12, 14, linkIPv4, linkIPv6: // 12 and 14 are linkRaw on some systems
		if len(b) == 0 {
			return 0, nil, badHeaders
		}
		return int(b[0] >> 4), b, ""
	default:
		return 0, nil, unknownLink
	}
	if len(b) < header {
		return 0, nil, badHeaders
	}
	return etherType(binary.BigEndian.Uint16(b[kind:]), b[header:])
}

// etherType reads the tags of VLANs, up to an IP header. kind is the type of what b has.
func etherType(kind uint16, b []byte) (version int, ip []byte, why string) {
	for {
		switch kind {
		case etherIPv4:
			return 4, b, ""
		case etherIPv6:
			return 6, b, ""
		case etherVLAN, etherQinQ, etherDouble:
			if len(b) < 4 {
				return 0, nil, badHeaders
			}
			kind, b = binary.BigEndian.Uint16(b[2:]), b[4:]
		default:
			return 0, nil, noTCP
		}
	}
}

// ipv4 reads an IP header (RFC 791). It returns what follows, and how much of that is missing.
func ipv4(b []byte) (from, to netip.Addr, tcp []byte, missing int, why string) {
	const header = 20
	if len(b) < header || b[0]>>4 != 4 {
		return from, to, nil, 0, badHeaders
	}
	size, total := int(b[0]&15)*4, int(binary.BigEndian.Uint16(b[2:]))
	if total == 0 { // the network card cuts the packet into smaller ones
		total = len(b)
	}
	switch {
	case size < header || size > len(b) || total < size:
		return from, to, nil, 0, badHeaders
	case binary.BigEndian.Uint16(b[6:])&0x3fff != 0: // the place of this one, or more follow
		return from, to, nil, 0, aFragment
	case b[9] != protocolTCP:
		return from, to, nil, 0, noTCP
	}
	from, to = netip.AddrFrom4([4]byte(b[12:])), netip.AddrFrom4([4]byte(b[16:]))
	return from, to, b[size:min(total, len(b))], max(total-len(b), 0), ""
}

// Numbers of protocols, which are in IP headers, and of headers that IPv6 may have before them.
const (
	protocolTCP    = 6
	hopByHop       = 0
	routing        = 43
	fragment       = 44
	authentication = 51
	destination    = 60
)

// ipv6 is ipv4 for IPv6 (RFC 8200).
func ipv6(b []byte) (from, to netip.Addr, tcp []byte, missing int, why string) {
	const header = 40
	if len(b) < header || b[0]>>4 != 6 {
		return from, to, nil, 0, badHeaders
	}
	from, to = netip.AddrFrom16([16]byte(b[8:])).Unmap(), netip.AddrFrom16([16]byte(b[24:])).Unmap()
	next, length := b[6], int(binary.BigEndian.Uint16(b[4:]))
	b = b[header:]
	if length == 0 { // as in IPv4
		length = len(b)
	}
	missing = max(length-len(b), 0)
	b = b[:min(length, len(b))]
	for {
		size := 0
		switch next {
		case protocolTCP:
			return from, to, b, missing, ""
		case fragment:
			return from, to, nil, 0, aFragment
		case hopByHop, routing, destination:
			if len(b) > 1 {
				size = (int(b[1]) + 1) * 8
			}
		case authentication:
			if len(b) > 1 {
				size = (int(b[1]) + 2) * 4
			}
		default:
			return from, to, nil, 0, noTCP
		}
		if size == 0 || size > len(b) {
			return from, to, nil, 0, badHeaders
		}
		next, b = b[0], b[size:]
	}
}
