package message

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/compact"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/header"
)

// THeader is the header of a frame of Apache's THeaderTransport, without the program's headers:
//
//	0f ff | flags | sequence id | size/4 | protocol | count, transforms | infos | padding | message
//	  2      2        4            2       \____________ varints, size bytes ___________/
//
// Transforms were applied to the message in this order. An info is 1, the number of pairs, and the
// pairs' keys and values, each after its length. Padding is zeros.
type THeader struct {
	Flags uint16
	SeqID int32 // the message's
	Zlib  bool  // the message is compressed
}

// THeaderMagic are the first two bytes in such a frame.
const THeaderMagic = 0x0fff

// THeaderSize is the size of its fixed part.
const THeaderSize = 10

// IsTHeader reports whether b, which is in a frame, begins as a THeader does.
func IsTHeader(b []byte) bool {
	return len(b) >= 2 && b[0] == THeaderMagic>>8 && b[1] == THeaderMagic&0xff
}

const (
	theaderBinary  = 0 // protocols
	theaderCompact = 2

	zlibTransform = 1

	keyValues           = 1 // infos
	persistentKeyValues = 2 // fbthrift's, of the same form
)

// transforms are the names of those that are known, and not supported.
var transforms = map[uint64]string{2: " (HMAC)", 3: " (Snappy)", 4: " (QuickLZ)", 5: " (Zstandard)"}

// Refusal is the error of a message that is refused because of the way in which it was sent. Type
// is the answer's, as an ApplicationException has it.
type Refusal struct {
	Type int32
	Text string
	Ends bool // so does the connection
	Err  error
}

func (r *Refusal) Error() string { return r.Text }
func (r *Refusal) Unwrap() error { return r.Err }

// The types of a Refusal.
const (
	BadSequenceID         = 4
	InternalError         = 6
	ProtocolError         = 7
	invalidTransform      = 8
	InvalidProtocol       = 9
	UnsupportedClientType = 10
	LoadShedding          = 11 // the call may be made again
)

// malformed returns the Refusal of a malformed message.
func malformed(text string, args ...any) *Refusal {
	return &Refusal{Type: ProtocolError, Text: "THeader: " + fmt.Sprintf(text, args...), Err: ErrVersion}
}

// Malformed returns the Refusal of a message that is malformed since err says so.
func Malformed(err error) *Refusal {
	return &Refusal{Type: ProtocolError, Text: "THeader: " + err.Error(), Err: err}
}

// SizeOfTHeader returns the size of the THeader that begins with b, of THeaderSize bytes at least.
func SizeOfTHeader(b []byte) int { return THeaderSize + 4*int(binary.BigEndian.Uint16(b[8:])) }

// ParseTHeader parses the bytes before the message in b, the whole content of a frame. It returns
// the headers, the encoding of the message, and where the message begins. The error is a *Refusal;
// the sequence id and the flags are known then if b has THeaderSize bytes.
func ParseTHeader(b []byte) (t THeader, l header.List, form Form, size int, err error) {
	if len(b) < THeaderSize {
		return t, nil, 0, 0, malformed("it has %d bytes, less than %d", len(b), THeaderSize)
	}
	t.Flags = binary.BigEndian.Uint16(b[2:])
	t.SeqID = int32(binary.BigEndian.Uint32(b[4:]))
	if size = SizeOfTHeader(b); size > len(b) {
		return t, nil, 0, 0, malformed("it takes %d bytes in a frame of %d", size, len(b))
	}
	p := theaderParser{b: b[THeaderSize:size]}
	protocol, zlib := p.number(), false
	for k := p.number(); k > 0 && p.err == nil; k-- {
		switch id := p.number(); {
		case p.err != nil, id == 0:
		case id == zlibTransform && !zlib:
			zlib = true
		case id == zlibTransform:
			p.err = &Refusal{Type: invalidTransform, Text: "THeader: the message is compressed twice"}
		default:
			p.err = &Refusal{Type: invalidTransform, Text: fmt.Sprintf("THeader: transform %d%s is not supported, only zlib is", id, transforms[id])}
		}
	}
	switch {
	case p.err != nil:
	case protocol == theaderCompact:
		form = Compact
	case protocol != theaderBinary:
		p.err = &Refusal{Type: InvalidProtocol, Text: fmt.Sprintf("THeader: protocol %d is not supported, only 0 (Binary) and 2 (Compact) are", protocol)}
	}
	p.infos(&l)
	t.Zlib = zlib && p.err == nil
	if p.err != nil { // not nil as an error, either
		return t, nil, form, size, p.err
	}
	return t, l, form, size, nil
}

// theaderParser parses the part of a THeader that has no fixed size.
type theaderParser struct {
	b   []byte
	at  int
	err *Refusal
}

// number returns the varint that comes next, 0 if there is none.
func (p *theaderParser) number() uint64 {
	if p.err != nil {
		return 0
	}
	v, next := compact.Number(p.b, p.at)
	switch {
	case next == compact.Ended:
		p.err = malformed("it ends within a number")
	case next < 0 || v > math.MaxInt32:
		p.err = malformed("it has a number of more than 31 bits")
	default:
		p.at = next
		return v
	}
	return 0
}

// text returns the text that comes next.
func (p *theaderParser) text() string {
	n := p.number()
	if p.err == nil && n > uint64(len(p.b)-p.at) {
		p.err = malformed("it ends within a text of %d bytes", n)
	}
	if p.err != nil {
		return ""
	}
	p.at += int(n)
	return string(p.b[p.at-int(n) : p.at])
}

// infos adds the headers to l. It ends at the first unknown info, at padding, or when there is no
// room for more headers.
func (p *theaderParser) infos(l *header.List) {
	for p.err == nil && p.at < len(p.b) {
		if id := p.number(); id != keyValues && id != persistentKeyValues {
			return
		}
		for k := p.number(); k > 0 && p.err == nil; k-- {
			key, value := p.text(), p.text()
			if p.err == nil && !l.Add(key, value) {
				return
			}
		}
	}
}

// AppendTHeader appends t, with headers, for a message of this encoding and sequence id.
func AppendTHeader(b []byte, t THeader, l header.List, form Form, seqid int32) []byte {
	b = binary.BigEndian.AppendUint16(b, THeaderMagic)
	b = binary.BigEndian.AppendUint16(b, t.Flags)
	b = binary.BigEndian.AppendUint32(b, uint32(seqid))
	from := len(b) + 2
	protocol := byte(theaderBinary)
	if form == Compact {
		protocol = theaderCompact
	}
	b = append(b, 0, 0, protocol)
	if t.Zlib {
		b = append(b, 1, zlibTransform)
	} else {
		b = append(b, 0)
	}
	if len(l) > 0 {
		b = compact.AppendNumber(append(b, keyValues), uint64(len(l)))
	}
	for _, p := range l {
		b = append(compact.AppendNumber(b, uint64(len(p.Key))), p.Key...)
		b = append(compact.AppendNumber(b, uint64(len(p.Value))), p.Value...)
	}
	for (len(b)-from)%4 > 0 {
		b = append(b, 0)
	}
	binary.BigEndian.PutUint16(b[from-2:], uint16((len(b)-from)/4))
	return b
}
