// Package capturetest makes captures of packets, as tcpdump would write them. Only tests import
// it.
package capturetest

import (
	"bytes"
	"context"
	"encoding/binary"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"
)

// Began is when the first packet of a capture was sent. A millisecond is between two packets.
var Began = time.Date(2026, 11, 30, 10, 0, 0, 0, time.UTC)

// Packet is a packet, with its link layer.
type Packet struct {
	At   time.Time
	Data []byte
	Size int // what it had, if Data is less; else 0
}

// Capture collects the packets of connections.
type Capture struct {
	Link    layers.LinkType // 0 is Ethernet
	VLAN    bool            // with Ethernet
	Packets []Packet
}

// Conn is a connection whose packets go to a Capture.
type Conn struct {
	to   *Capture
	ends [2]netip.AddrPort // client and server
	seq  [2]uint32
	MSS  int // most bytes of a packet
}

// Conn returns a new connection that has not sent anything. Sequence numbers begin near their
// greatest value.
func (c *Capture) Conn(client, server string) *Conn {
	return &Conn{to: c, ends: [2]netip.AddrPort{netip.MustParseAddrPort(client), netip.MustParseAddrPort(server)}, seq: [2]uint32{0xffffff00, 0xffffffff}, MSS: 1460}
}

// Jump changes the sequence numbers, as of a connection that was not made yet.
func (c *Conn) Jump(n uint32) {
	c.seq[0] += n
	c.seq[1] += n
}

// The ends of a connection.
const (
	Client = 0
	Server = 1
)

// Open sends the packets that open a connection.
func (c *Conn) Open() {
	c.packet(Client, &layers.TCP{SYN: true}, nil)
	c.packet(Server, &layers.TCP{SYN: true, ACK: true}, nil)
	c.packet(Client, &layers.TCP{ACK: true}, nil)
}

// Close sends the packets that close it.
func (c *Conn) Close() {
	c.packet(Client, &layers.TCP{FIN: true, ACK: true}, nil)
	c.packet(Server, &layers.TCP{FIN: true, ACK: true}, nil)
	c.packet(Client, &layers.TCP{ACK: true}, nil)
}

// Send sends bytes, which the other end acknowledges with what it sends next.
func (c *Conn) Send(from int, b []byte) {
	for len(b) > 0 {
		n := min(len(b), c.MSS)
		c.packet(from, &layers.TCP{ACK: true, PSH: n == len(b)}, b[:n])
		b = b[n:]
	}
}

// Fragment adds a packet with the fragment of an IP packet.
func (c *Capture) Fragment(from, to string) {
	src, dst := netip.MustParseAddr(from), netip.MustParseAddr(to)
	ip := &layers.IPv4{Version: 4, TTL: 64, Protocol: layers.IPProtocolTCP, SrcIP: src.AsSlice(), DstIP: dst.AsSlice(), FragOffset: 5}
	c.add(ip, layers.EthernetTypeIPv4, gopacket.Payload("fragment"))
}

// packet sends a packet with some flags.
func (c *Conn) packet(from int, t *layers.TCP, b []byte) {
	src, dst := c.ends[from], c.ends[1-from]
	t.SrcPort, t.DstPort, t.Seq, t.Window = layers.TCPPort(src.Port()), layers.TCPPort(dst.Port()), c.seq[from], 65535
	if t.ACK {
		t.Ack = c.seq[1-from]
	}
	c.seq[from] += uint32(len(b))
	if t.SYN || t.FIN {
		c.seq[from]++
	}
	if src.Addr().Is4() {
		ip := &layers.IPv4{Version: 4, TTL: 64, Protocol: layers.IPProtocolTCP, SrcIP: src.Addr().AsSlice(), DstIP: dst.Addr().AsSlice()}
		t.SetNetworkLayerForChecksum(ip)
		c.to.add(ip, layers.EthernetTypeIPv4, t, gopacket.Payload(b))
		return
	}
	ip := &layers.IPv6{Version: 6, HopLimit: 64, NextHeader: layers.IPProtocolTCP, SrcIP: src.Addr().AsSlice(), DstIP: dst.Addr().AsSlice()}
	t.SetNetworkLayerForChecksum(ip)
	c.to.add(ip, layers.EthernetTypeIPv6, t, gopacket.Payload(b))
}

// add adds a packet with an IP header and what follows.
func (c *Capture) add(ip gopacket.SerializableLayer, kind layers.EthernetType, rest ...gopacket.SerializableLayer) {
	b := gopacket.NewSerializeBuffer()
	err := gopacket.SerializeLayers(b, gopacket.SerializeOptions{FixLengths: true, ComputeChecksums: true}, append([]gopacket.SerializableLayer{ip}, rest...)...)
	if err != nil {
		panic(err)
	}
	c.Packets = append(c.Packets, Packet{At: Began.Add(time.Duration(len(c.Packets)) * time.Millisecond), Data: append(c.head(kind), b.Bytes()...)})
}

// head returns the header of the link layer.
func (c *Capture) head(kind layers.EthernetType) []byte {
	high, low := byte(kind>>8), byte(kind)
	switch c.Link {
	case layers.LinkTypeLinuxSLL:
		return append(make([]byte, 14), high, low)
	case layers.LinkTypeLinuxSLL2:
		return append([]byte{high, low}, make([]byte, 18)...)
	case layers.LinkTypeLoop:
		if kind == layers.EthernetTypeIPv6 {
			return []byte{0, 0, 0, 30}
		}
		return []byte{0, 0, 0, 2}
	case layers.LinkTypeRaw:
		return nil
	}
	if c.VLAN {
		return append(make([]byte, 12), 0x81, 0, 0, 7, high, low)
	}
	return append(make([]byte, 12), high, low)
}

// link returns the number of the link layer.
func (c *Capture) link() layers.LinkType {
	if c.Link == 0 {
		return layers.LinkTypeEthernet
	}
	return c.Link
}

// A writer writes packets to a file.
type writer interface {
	WritePacket(info gopacket.CaptureInfo, data []byte) error
}

func (c *Capture) write(w writer) {
	for _, p := range c.Packets {
		if err := w.WritePacket(gopacket.CaptureInfo{Timestamp: p.At, CaptureLength: len(p.Data), Length: max(len(p.Data), p.Size)}, p.Data); err != nil {
			panic(err)
		}
	}
}

// PCAP returns the capture in the format pcap.
func (c *Capture) PCAP() []byte {
	var b bytes.Buffer
	w := pcapgo.NewWriter(&b)
	w.WriteFileHeader(262144, c.link())
	c.write(w)
	return b.Bytes()
}

// Nanoseconds returns the capture in the format pcap with times in nanoseconds.
func (c *Capture) Nanoseconds() []byte {
	var b bytes.Buffer
	w := pcapgo.NewWriterNanos(&b)
	w.WriteFileHeader(262144, c.link())
	c.write(w)
	return b.Bytes()
}

// PCAPNG returns the capture in the format pcapng.
func (c *Capture) PCAPNG() []byte {
	var b bytes.Buffer
	w, err := pcapgo.NewNgWriter(&b, c.link())
	if err != nil {
		panic(err)
	}
	c.write(w)
	if err := w.Flush(); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// Simple returns the capture in the format pcapng with simple packets, which have no times.
func (c *Capture) Simple() []byte {
	b := []byte("\x0a\x0d\x0d\x0a\x1c\x00\x00\x00\x4d\x3c\x2b\x1a\x01\x00\x00\x00\xff\xff\xff\xff\xff\xff\xff\xff\x1c\x00\x00\x00")
	block := func(kind uint32, content []byte) {
		padding := -len(content) & 3
		n := uint32(12 + len(content) + padding)
		b = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(b, kind), n)
		b = append(append(b, content...), make([]byte, padding)...)
		b = binary.LittleEndian.AppendUint32(b, n)
	}
	block(1, binary.LittleEndian.AppendUint64(nil, uint64(c.link()))) // all of a packet
	for _, p := range c.Packets {
		block(3, append(binary.LittleEndian.AppendUint32(nil, uint32(max(len(p.Data), p.Size))), p.Data...))
	}
	return b
}

// Tape records what connections that it dials send and receive.
type Tape struct {
	mu    sync.Mutex
	conns []*taped
}

type taped struct {
	net.Conn
	tape  *Tape
	turns []turn
}

type turn struct {
	from int
	data []byte
}

// DialContext connects, for rpc.Dialer.
func (t *Tape) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	nc, err := new(net.Dialer).DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	c := &taped{Conn: nc, tape: t}
	t.conns = append(t.conns, c)
	return c, nil
}

func (c *taped) note(from int, b []byte) {
	c.tape.mu.Lock()
	defer c.tape.mu.Unlock()
	c.turns = append(c.turns, turn{from, bytes.Clone(b)})
}

// Read reads from the connection.
func (c *taped) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if n > 0 {
		c.note(Server, b[:n])
	}
	return n, err
}

// Write writes to the connection.
func (c *taped) Write(b []byte) (int, error) {
	c.note(Client, b)
	return c.Conn.Write(b)
}

// Play adds the packets of all connections to a capture, one connection after the other. Their
// clients have the ports 50001 and following.
func (t *Tape) Play(c *Capture, client, server string) { t.PlayIn(c, client, server, 1460) }

// PlayIn is Play with packets of at most some bytes.
func (t *Tape) PlayIn(c *Capture, client, server string, mss int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, from := range t.conns {
		conn := c.Conn(netip.AddrPortFrom(netip.MustParseAddr(client), uint16(50001+i)).String(), server)
		conn.MSS = mss
		conn.Open()
		for _, turn := range from.turns {
			conn.Send(turn.from, turn.data)
		}
		conn.Close()
	}
}
