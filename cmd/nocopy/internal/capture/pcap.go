package capture

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"time"
)

// pcapReader is the source of a file in the format pcap
// (https://www.ietf.org/archive/id/draft-ietf-opsawg-pcap-05.html). After a header it consists of
// packets:
//
//	seconds | microseconds or nanoseconds | size in the file | size of the packet | bytes
type pcapReader struct {
	r     *bufio.Reader
	order binary.ByteOrder
	unit  time.Duration // of the fractions of seconds
	link  linkType
}

// The first bytes of a file.
const (
	pcapMicroseconds = 0xa1b2c3d4
	pcapNanoseconds  = 0xa1b23c4d
)

func newPcapReader(r *bufio.Reader) (source, error) {
	var head [24]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	p := &pcapReader{r: r, order: binary.BigEndian, unit: time.Microsecond}
	magic := binary.BigEndian.Uint32(head[:])
	if magic != pcapMicroseconds && magic != pcapNanoseconds {
		p.order = binary.LittleEndian
		magic = binary.LittleEndian.Uint32(head[:])
	}
	switch magic {
	case pcapMicroseconds:
	case pcapNanoseconds:
		p.unit = time.Nanosecond
	default:
		return nil, fmt.Errorf("a file that begins with %#x is no capture", head[:4])
	}
	if major := p.order.Uint16(head[4:]); major != 2 {
		return nil, fmt.Errorf("a capture of version %d.%d; 2.4 is known", major, p.order.Uint16(head[6:]))
	}
	p.link = linkType(p.order.Uint16(head[20:]))
	if p.order == binary.BigEndian {
		p.link = linkType(p.order.Uint16(head[22:]))
	}
	return p, nil
}

// next implements source.
func (p *pcapReader) next() (packet, error) {
	var head [16]byte
	if _, err := io.ReadFull(p.r, head[:]); err != nil {
		return packet{}, err
	}
	size := p.order.Uint32(head[8:])
	if size > maxPacket {
		return packet{}, fmt.Errorf("a packet of %d bytes; at most %d are read", size, maxPacket)
	}
	data := make([]byte, size)
	if _, err := io.ReadFull(p.r, data); err != nil {
		return packet{}, io.ErrUnexpectedEOF
	}
	at := time.Unix(int64(p.order.Uint32(head[:])), int64(p.order.Uint32(head[4:]))*int64(p.unit)).UTC()
	return packet{at, p.link, data}, nil
}
