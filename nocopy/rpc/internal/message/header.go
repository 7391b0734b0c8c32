package message

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/nocopythrift/nocopythrift/internal/firstbytes"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/header"
)

// Type is the type of a message as its header has it.
type Type uint8

const (
	Call      Type = 1
	Reply     Type = 2
	Exception Type = 3
	Oneway    Type = 4
)

// Version1 is the first half of the first word of a strict header.
const Version1 = 0x8001

// maxName bounds the method's name in a header, in bytes. For a multiplexed call this includes the
// service's name.
const maxName = 1 << 16

// MaxHeader bounds a message's header, in bytes.
const MaxHeader = 4 + 4 + maxName + 4

// Form is how a message is encoded.
type Form uint8

const (
	Strict  Form = iota // Thrift Binary, with a strict header
	Old                 // Thrift Binary, with the header of old versions
	Compact             // Thrift's compact protocol
)

// Style is how a message is sent. A reply has the style of its request.
type Style struct {
	Form    Form
	THeader *THeader // nil if there is none
}

// IsPlain reports whether the message is Thrift Binary, with nothing but a length before it.
func (s Style) IsPlain() bool { return s.Form != Compact && s.THeader == nil }

// IsInPlace reports whether the message is Thrift Binary. Other bytes may precede it.
func (s Style) IsInPlace() bool {
	return s.Form != Compact && (s.THeader == nil || !s.THeader.Zlib)
}

// Header is a message's header, which comes before its struct.
type Header struct {
	Type Type
	Style
	SeqID int32
	Name  []byte // aliases the parsed bytes
	Size  int    // its bytes on the wire
	// The struct is of the compact protocol's version 2. Replies are of version 1, which such
	// peers take, too
	Version2 bool
	// The call's headers, or the reply's, if the transport has a place for them; else nil
	Headers *header.List
}

// IsRequest reports whether a client sends such messages.
func (h Header) IsRequest() bool { return h.Type == Call || h.Type == Oneway }

// IsReply reports whether a server sends such messages.
func (h Header) IsReply() bool { return h.Type == Reply || h.Type == Exception }

// Errors of bytes that are not a message. The others wrap ErrVersion.
var (
	ErrVersion = errors.New("not a Thrift message")
	ErrHTTP    = fmt.Errorf("%w: HTTP", ErrVersion)
	ErrTLS     = fmt.Errorf("%w: TLS", ErrVersion)
	ErrSASL    = fmt.Errorf("%w: a login by SASL", ErrVersion)
	errKitex   = fmt.Errorf("%w: Kitex's TTHeader", ErrVersion)
)

// ttheader follows a frame's length in Kitex's TTHeader. No method's name begins with it.
const ttheader = 0x10

// Tell is how many bytes Foreign needs to know all that it knows.
const Tell = 5

// Foreign returns an error if b begins with a request or response of a protocol that peers speak
// by mistake. The error names the protocol. It is nil if b begins with nothing known.
func Foreign(b []byte) error {
	switch {
	case firstbytes.IsHTTP(b):
		return ErrHTTP
	case firstbytes.IsTLS(b):
		return ErrTLS
	case len(b) >= 5 && b[0] == 0 && b[4] == ttheader:
		return errKitex
	case len(b) < 5 || b[1] != 0 || b[2] != 0 || InFrame(b[4]):
		return nil // frames begin so
	case b[0] == 1 && b[3] == 0 && b[4] <= 20, b[0] == 3, b[0] == 4:
		return ErrSASL // a mechanism's name, or a refusal
	}
	return nil
}

// InFrame reports whether what frames contain begins with the byte c.
func InFrame(c byte) bool {
	return c == 0 || c == Version1>>8 || c == CompactID || c == THeaderMagic>>8
}

// Begins reports whether b, the first bytes of something that may be a text, begins as a message
// does: with the version of its header, or with a whole header of old versions.
func Begins(b []byte) bool {
	if len(b) < 2 {
		return false
	}
	h, need, err := Parse(b)
	if b[0] == CompactID || binary.BigEndian.Uint16(b) == Version1 {
		return err == nil
	}
	return err == nil && need == 0 && Call <= h.Type && h.Type <= Oneway
}

// Parse returns the header at the beginning of b; need and err are those of Header.Parse.
func Parse(b []byte) (h Header, need int, err error) {
	need, err = h.Parse(b)
	return h, need, err
}

// Parse sets h to the header at the beginning of b. If b is too short, need is how many bytes it
// must have at least, else 0.
func (h *Header) Parse(b []byte) (need int, err error) {
	const fixed = 4 // the first word
	*h = Header{}
	if len(b) > 0 && b[0] == CompactID {
		return h.parseCompact(b)
	}
	if len(b) < fixed {
		return fixed, nil
	}
	first := binary.BigEndian.Uint32(b)
	name := fixed // where the name begins
	if first>>16 == Version1 {
		h.Type = Type(first)
		if name += 4; len(b) < name {
			return name, nil
		}
	} else if h.Form = Old; int32(first) < 0 {
		return 0, cmp.Or(Foreign(b), fmt.Errorf("%w: version %#x", ErrVersion, first>>16))
	}
	n := binary.BigEndian.Uint32(b[name-4:])
	if n > maxName {
		return 0, cmp.Or(Foreign(b), fmt.Errorf("%w: method name of %d bytes", ErrVersion, n))
	}
	end := name + int(n)
	h.Size = end + 4
	if h.Form == Old {
		h.Size++
	}
	if len(b) < h.Size {
		return h.Size, nil
	}
	h.Name = b[name:end:end]
	if h.Form == Old {
		h.Type = Type(b[end])
	}
	h.SeqID = int32(binary.BigEndian.Uint32(b[h.Size-4:]))
	return 0, nil
}

// HeaderSize returns the size of a header with a name of as many bytes.
func HeaderSize(strict bool, name int) int {
	if strict {
		return 4 + 4 + name + 4
	}
	return 4 + name + 1 + 4
}

// HeaderRoom returns the most bytes before a message's struct, the length of a frame included, for
// a name of as many bytes.
func HeaderRoom(name int) int { return 4 + HeaderSize(true, name) }

// PutHeader fills b, of HeaderSize bytes, with a header whose name is prefix and name, and returns
// the part of b that is the sequence id.
func PutHeader(b []byte, strict bool, typ Type, prefix, name string, seqid int32) []byte {
	n := len(prefix) + len(name)
	at := 4
	if strict {
		binary.BigEndian.PutUint32(b, Version1<<16|uint32(typ))
		at = 8
	}
	binary.BigEndian.PutUint32(b[at-4:], uint32(n))
	at += copy(b[at:], prefix)
	at += copy(b[at:], name)
	if !strict {
		b[at] = byte(typ)
		at++
	}
	binary.BigEndian.PutUint32(b[at:], uint32(seqid))
	return b[at:]
}
