package rpc

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/nocopy"
)

// messageType is the type of a message as its header has it.
type messageType uint8

const (
	typeCall      messageType = 1
	typeReply     messageType = 2
	typeException messageType = 3
	typeOneway    messageType = 4
)

// version1 is the first half of the first word of a strict header.
const version1 = 0x8001

// maxName is the most bytes of a method's name in a header, with the service's of a multiplexed
// call.
const maxName = 1 << 16

// maxHeader is the most bytes of a message's header.
const maxHeader = 4 + 4 + maxName + 4

// header is a message's header, which comes before its struct.
type header struct {
	typ    messageType
	strict bool
	seqid  int32
	name   []byte // aliases what was parsed
	size   int    // its bytes on the wire
}

func (h header) isRequest() bool { return h.typ == typeCall || h.typ == typeOneway }

func (h header) isReply() bool { return h.typ == typeReply || h.typ == typeException }

// Errors of bytes that are not a message. The server or client closes the connection, since it
// can't find the beginning of the next message. ErrHTTP and ErrTLS wrap ErrVersion.
var (
	ErrVersion = errors.New("not a Thrift binary message")
	ErrHTTP    = fmt.Errorf("%w: an HTTP request", ErrVersion)
	ErrTLS     = fmt.Errorf("%w: a TLS handshake", ErrVersion)
)

// parseHeader returns the header at the beginning of b. If b is too short, need is how many bytes
// it must have at least, else 0.
func parseHeader(b []byte) (h header, need int, err error) {
	const fixed = 4 // the first word
	if len(b) < fixed {
		return h, fixed, nil
	}
	first := binary.BigEndian.Uint32(b)
	name := fixed // where the name begins
	if first>>16 == version1 {
		h.strict, h.typ = true, messageType(first)
		if name += 4; len(b) < name {
			return h, name, nil
		}
	} else if int32(first) < 0 {
		return h, 0, fmt.Errorf("%w: version %#x", ErrVersion, first>>16)
	}
	n := binary.BigEndian.Uint32(b[name-4:])
	if n > maxName {
		return h, 0, fmt.Errorf("%w: method name of %d bytes", ErrVersion, n)
	}
	end := name + int(n)
	h.size = end + 4
	if !h.strict {
		h.size++
	}
	if len(b) < h.size {
		return h, h.size, nil
	}
	h.name = b[name:end:end]
	if !h.strict {
		h.typ = messageType(b[end])
	}
	h.seqid = int32(binary.BigEndian.Uint32(b[h.size-4:]))
	return h, 0, nil
}

// headerSize returns the size of a header with a name of as many bytes.
func headerSize(strict bool, name int) int {
	if strict {
		return 4 + 4 + name + 4
	}
	return 4 + name + 1 + 4
}

// headerRoom returns the most bytes before a message's struct, the length of a frame included, for
// a name of as many bytes.
func headerRoom(name int) int { return 4 + headerSize(true, name) }

// putHeader fills b, of headerSize bytes, with a header whose name is prefix and name, and returns
// the part of b that is the sequence id.
func putHeader(b []byte, strict bool, typ messageType, prefix, name string, seqid int32) []byte {
	n := len(prefix) + len(name)
	at := 4
	if strict {
		binary.BigEndian.PutUint32(b, version1<<16|uint32(typ))
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

// isFramed reports whether a connection that begins with b has framed messages. b has five bytes
// at least, or two of which the first is 0x80.
func isFramed(b []byte) (bool, error) {
	switch {
	case b[0] == version1>>8:
		if b[1] != version1&0xff {
			return false, fmt.Errorf("%w: version %#x%02x", ErrVersion, b[0], b[1])
		}
		return false, nil // a strict header: frames are not that long
	case looksLikeHTTP(b):
		return false, ErrHTTP
	case b[0] == 0x16 && b[1] == 3:
		return false, ErrTLS
	case b[4] == version1>>8 || b[4] == 0:
		return true, nil // a strict header after the length, or a name shorter than 16 MiB
	case b[0]&0x80 != 0 || b[4] < ' ' || b[4] > '~':
		return false, fmt.Errorf("%w: it begins with % x", ErrVersion, b[:5])
	}
	return false, nil // a name's length and its first character
}

// looksLikeHTTP reports whether b begins as an HTTP request does.
func looksLikeHTTP(b []byte) bool {
	const methods = "GET  POST PUT  HEAD OPTI DELE PATC CONN TRAC PRI "
	return b[0] >= 'A' && b[0] <= 'Z' && len(b) >= 4 && strings.Contains(methods, string(b[:4]))
}

const (
	defaultMaxFrame   = 16_384_000 // as Apache's
	defaultMaxMessage = 100 << 20
)

// receiveLimits bound the messages that a client or a server accepts.
type receiveLimits struct {
	frame   int           // the most bytes of a frame, without its length
	message int           // the most bytes of an unframed message
	parse   nocopy.Limits // for the struct
	name    string        // of the setting that frame and message come from, for errors
}

// limitsOf returns the limits for the settings MaxFrame and Limits. If maxFrame is 0, the bound is
// parse.MaxBytes and room for a header; if that is 0 too, the default. name is MaxFrame's name,
// for errors.
func limitsOf(maxFrame int, parse nocopy.Limits, name string) receiveLimits {
	l := receiveLimits{defaultMaxFrame, defaultMaxMessage, parse, name}
	const most = min(math.MaxInt32, chain.MaxSize)
	switch {
	case maxFrame > 0:
		l.frame = min(maxFrame, most)
		l.message = l.frame
	case parse.MaxBytes > 0:
		l.frame = min(parse.MaxBytes, most-maxHeader) + maxHeader
		l.message = l.frame
	}
	return l
}
