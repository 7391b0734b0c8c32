package capture

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
	"time"
)

// ngReader is the source of a file in the format pcapng. It consists of blocks:
//
//	type | size of the block | content, padded to 4 bytes | size of the block
//
// A section begins with a block that tells the byte order. Interfaces have blocks of their own;
// their number, from 0, is in the blocks of packets.
type ngReader struct {
	r          *bufio.Reader
	order      binary.ByteOrder
	interfaces []ngInterface // of the section
	block      []byte
}

// ngInterface is an interface on which packets were captured.
type ngInterface struct {
	link   linkType
	snap   uint32 // most bytes of a packet; 0 for all
	unit   uint64 // of times, as a part of a second
	offset int64  // of times, in seconds
}

// Types of blocks.
const (
	ngSection      = 0x0a0d0d0a // the same in both byte orders
	ngInterfaceOf  = 1
	ngSimplePacket = 3
	ngPacket       = 6
)

const (
	ngMagic       = 0x1a2b3c4d // of the byte order, after a section's type and size
	ngAround      = 12         // bytes of a block besides its content
	maxInterfaces = 1 << 16
)

// next implements source.
func (r *ngReader) next() (packet, error) {
	for {
		kind, b, err := r.read()
		if err != nil {
			return packet{}, err
		}
		var p packet
		switch kind {
		case ngInterfaceOf:
			err = r.addInterface(b)
		case ngPacket:
			p, err = r.packet(b)
		case ngSimplePacket:
			p, err = r.simplePacket(b)
		}
		if err != nil || p.data != nil {
			return p, err
		}
	}
}

// read reads a block and returns its type and content, which is good until the next one is read.
func (r *ngReader) read() (kind uint32, content []byte, err error) {
	head, err := r.r.Peek(ngAround)
	if err != nil {
		if err == io.EOF && len(head) > 0 {
			err = io.ErrUnexpectedEOF
		}
		return 0, nil, err
	}
	if binary.BigEndian.Uint32(head) == ngSection {
		switch {
		case binary.BigEndian.Uint32(head[8:]) == ngMagic:
			r.order = binary.BigEndian
		case binary.LittleEndian.Uint32(head[8:]) == ngMagic:
			r.order = binary.LittleEndian
		default:
			return 0, nil, errors.New("a section without a byte order")
		}
		r.interfaces = nil
	}
	kind, size := r.order.Uint32(head), r.order.Uint32(head[4:])
	if size < ngAround || size%4 != 0 || size > 2*maxPacket {
		return 0, nil, fmt.Errorf("a block of %d bytes", size)
	}
	if uint32(cap(r.block)) < size {
		r.block = make([]byte, size)
	}
	if _, err := io.ReadFull(r.r, r.block[:size]); err != nil {
		return 0, nil, io.ErrUnexpectedEOF
	}
	if again := r.order.Uint32(r.block[size-4 : size]); again != size {
		return 0, nil, fmt.Errorf("a block of %d bytes that says at its end that it has %d", size, again)
	}
	return kind, r.block[8 : size-4], nil
}

// addInterface reads the block of an interface.
func (r *ngReader) addInterface(b []byte) error {
	const fixed, timeUnit, timeOffset = 8, 9, 14
	if len(b) < fixed || len(r.interfaces) == maxInterfaces {
		return errors.New("a malformed interface, or too many of them")
	}
	in := ngInterface{link: linkType(r.order.Uint16(b)), snap: r.order.Uint32(b[4:]), unit: 1e6}
	for b = b[fixed:]; len(b) >= 4; {
		kind, n := r.order.Uint16(b), int(r.order.Uint16(b[2:]))
		padded := (n + 3) &^ 3
		if b = b[4:]; kind == 0 || padded > len(b) {
			break
		}
		switch {
		case kind == timeUnit && n == 1 && b[0]&0x80 != 0 && b[0]&0x7f < 64:
			in.unit = 1 << (b[0] & 0x7f)
		case kind == timeUnit && n == 1 && b[0] < 20:
			in.unit = uint64(math.Pow10(int(b[0])))
		case kind == timeUnit:
			return errors.New("an interface whose times have an unknown unit")
		case kind == timeOffset && n == 8:
			in.offset = int64(r.order.Uint64(b))
		}
		b = b[padded:]
	}
	r.interfaces = append(r.interfaces, in)
	return nil
}

// packet reads the block of a packet.
func (r *ngReader) packet(b []byte) (packet, error) {
	const fixed = 20
	if len(b) < fixed {
		return packet{}, errors.New("a malformed packet")
	}
	i, size := r.order.Uint32(b), r.order.Uint32(b[12:])
	if i >= uint32(len(r.interfaces)) || size > uint32(len(b)-fixed) || size > maxPacket {
		return packet{}, fmt.Errorf("a packet of %d bytes in a block of %d, on interface %d of %d", size, len(b), i, len(r.interfaces))
	}
	in := r.interfaces[i]
	ticks := uint64(r.order.Uint32(b[4:]))<<32 | uint64(r.order.Uint32(b[8:]))
	return packet{in.time(ticks), in.link, copyOf(b[fixed : fixed+size])}, nil
}

// time returns the time of a number of units, or the zero time if that is before 1970 or after
// year 9999: malformed.
func (in *ngInterface) time(ticks uint64) time.Time {
	const most = 253402300799 // 9999-12-31T23:59:59
	seconds := ticks / in.unit
	if seconds > most || in.offset < -most || in.offset > most {
		return time.Time{}
	}
	at := int64(seconds) + in.offset
	if at < 0 || at > most {
		return time.Time{}
	}
	high, low := bits.Mul64(ticks%in.unit, 1e9)
	nanos, _ := bits.Div64(high, low, in.unit)
	return time.Unix(at, int64(nanos)).UTC()
}

// simplePacket reads the block of a packet of the first interface, which has no time.
func (r *ngReader) simplePacket(b []byte) (packet, error) {
	const fixed = 4
	if len(b) < fixed || len(r.interfaces) == 0 {
		return packet{}, errors.New("a malformed packet")
	}
	in, size := r.interfaces[0], r.order.Uint32(b)
	if in.snap > 0 {
		size = min(size, in.snap)
	}
	size = min(size, uint32(len(b)-fixed))
	return packet{link: in.link, data: copyOf(b[fixed : fixed+size])}, nil
}

// copyOf returns a copy of b that is not nil.
func copyOf(b []byte) []byte { return append([]byte{}, b...) }
