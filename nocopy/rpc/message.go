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

// messageType is the type in a message's header.
type messageType uint8

const (
	typeCall      messageType = 1
	typeReply     messageType = 2
	typeException messageType = 3
	typeOneway    messageType = 4
)

// version1 is the first half of a strict header.
const version1 = 0x8001

// maxName is the most bytes that a method's name may have, its service's included.
const maxName = 1 << 16

// maxHeader is the most bytes of a message's header.
const maxHeader = 4 + 4 + maxName + 4

// header is what stands in front of a message's struct.
type header struct {
	typ    messageType
	strict bool
	seqid  int32
	name   []byte // aliases what was parsed
	size   int
}

// What may be wrong with what arrives. A connection on which it happens is closed: nobody knows
// where the next message begins.
var (
	ErrVersion = errors.New("not a Thrift binary message")
	ErrHTTP    = fmt.Errorf("%w: an HTTP request", ErrVersion)
	ErrTLS     = fmt.Errorf("%w: a TLS handshake", ErrVersion)
)

// parseHeader reads the header at the beginning of b. If b ends too early it says how long it must
// be at least.
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

// headerSize is the size of the header of a message with that name.
func headerSize(strict bool, name int) int {
	if strict {
		return 4 + 4 + name + 4
	}
	return 4 + name + 1 + 4
}

// roomFor is the room in front of a message for its header and its frame's length.
func roomFor(name int) int { return 4 + headerSize(true, name) }

// putHeader fills b, of headerSize bytes, with a header whose name is in two parts, and returns
// where its sequence id is.
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

// isFramed tells from the first bytes of a connection whether messages come in frames. It needs
// five, or two of which the first is 0x80.
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
		return true, nil // a strict header behind the length, or a name shorter than 16 MiB
	case b[0]&0x80 != 0 || b[4] < ' ' || b[4] > '~':
		return false, fmt.Errorf("%w: it begins with % x", ErrVersion, b[:5])
	}
	return false, nil // a name's length and its first character
}

func looksLikeHTTP(b []byte) bool {
	const methods = "GET  POST PUT  HEAD OPTI DELE PATC CONN TRAC PRI "
	return b[0] >= 'A' && b[0] <= 'Z' && len(b) >= 4 && strings.Contains(methods, string(b[:4]))
}

const (
	defaultMaxFrame   = 16_384_000 // as Apache's
	defaultMaxMessage = 100 << 20
)

// limits bound what one side accepts.
type limits struct {
	frame   int           // the most bytes of a frame
	message int           // and of a message outside of one, its header included
	parse   nocopy.Limits // of its struct
	name    string        // of what sets frame and message, for errors
}

// limitsOf returns the limits for a MaxFrame and Limits, either of which may be zero: without
// MaxFrame it is what a message of Limits.MaxBytes needs, without that the default. name is what
// MaxFrame is called by its users.
func limitsOf(maxFrame int, parse nocopy.Limits, name string) limits {
	l := limits{defaultMaxFrame, defaultMaxMessage, parse, name}
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
