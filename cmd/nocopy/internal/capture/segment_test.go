package capture

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"

	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/capture/capturetest"
)

// TestSegments: of random changes of packets with all headers that are known, those that gopacket
// takes for TCP are the same segments here, if they are taken at all.
func TestSegments(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	same := 0
	for _, c := range []*capturetest.Capture{
		{}, {VLAN: true}, {Link: layers.LinkTypeLoop}, {Link: layers.LinkTypeNull}, {Link: layers.LinkTypeRaw}, {Link: layers.LinkTypeLinuxSLL}, {Link: layers.LinkTypeLinuxSLL2},
	} {
		for _, ends := range [][2]string{{"10.0.0.1:50001", "10.0.0.2:9090"}, {"[2001:db8::1]:50001", "[2001:db8::2]:9090"}} {
			conn := c.Conn(ends[0], ends[1])
			conn.Open()
			conn.Send(capturetest.Client, []byte("some bytes"))
			conn.Close()
		}
		link := c.Link
		if link == layers.LinkTypeNull { // which is Ethernet to capturetest
			link = layers.LinkTypeEthernet
		}
		for _, p := range c.Packets {
			for round := range 400 {
				data := bytes.Clone(p.Data)
				for range min(round, 2) { // the first one stays as it is
					data[r.IntN(len(data))] ^= 1 << r.IntN(8)
				}
				if round%10 == 9 {
					data = data[:r.IntN(len(data))]
				}
				g, why := segmentOf(packet{link: linkType(link), data: slices.Clip(data)})
				want := gopacket.NewPacket(data, link, gopacket.Default)
				tcp, ok := want.TransportLayer().(*layers.TCP)
				if round == 0 && (why != "" || !ok) {
					t.Fatalf("%v: %s: %v", link, why, want)
				}
				if why != "" || !ok || want.ErrorLayer() != nil {
					continue
				}
				same++
				ip := want.NetworkLayer().NetworkFlow()
				if g.seq != tcp.Seq || g.ack != tcp.Ack || g.syn != tcp.SYN || g.fin != tcp.FIN || g.rst != tcp.RST || g.hasAck != tcp.ACK ||
					g.from.Port() != uint16(tcp.SrcPort) || g.to.Port() != uint16(tcp.DstPort) || !bytes.Equal(g.data, tcp.Payload) ||
					g.from.Addr().String() != ip.Src().String() || g.to.Addr().String() != ip.Dst().String() {
					t.Fatalf("%v % x: %+v instead of %v", link, data, g, want)
				}
			}
		}
	}
	if same < 10_000 {
		t.Errorf("only %d packets were compared", same)
	}
}
