package firstbytes

import (
	"bytes"
	"encoding/binary"
	"strconv"
	"strings"
)

// InCall returns a text that names the format of calls and frames and a way to read them, or ""
// for other bytes. b is the first part of size bytes.
func InCall(b []byte, size int) string {
	switch {
	case isFrame(b, size):
		return InFrame(b[4:])
	case IsCall(b):
		return "a call: package rpc reads calls, and Parse the struct after the call's header"
	case isCompactCall(b):
		return "a call in the compact protocol, which package rpc reads"
	}
	return ""
}

// Other is InCall for all other formats.
func Other(b []byte) string {
	switch {
	case isTHeader(b):
		return "of Thrift's THeader transport, which package rpc reads"
	case len(b) >= 6 && IsTLS(b):
		return "of a TLS connection: package crypto/tls decrypts them"
	case IsHTTP(b):
		return "of an HTTP connection: package net/http reads them, and the struct is in the body"
	case isApacheText(b):
		return "in Apache's JSON protocol, which package apachethrift reads"
	case isObjectText(b):
		return "JSON, which UnmarshalJSON and package nocopyjson read"
	}
	return ""
}

// InFrame returns the name of the format in a frame, whose bytes after the length are b.
func InFrame(b []byte) string {
	switch {
	case IsCall(b):
		return "a frame with a call, which package rpc reads"
	case isCompactCall(b):
		return "a frame with a call in the compact protocol, which package rpc reads"
	case len(b) >= 2 && b[0] == 0x0f && b[1] == 0xff:
		return "of Thrift's THeader transport, which package rpc reads"
	}
	return StructInFrame
}

// StructInFrame is what InFrame returns if nothing else is known.
const StructInFrame = "a frame: its length comes first. NewFrameDecoder reads frames, and Parse what follows the length"

// mostFrames is how many frames in a row are followed.
const mostFrames = 64

// isFrame reports whether size bytes, whose first part is b, are one or more whole frames, or a
// part of a frame that holds a call.
func isFrame(b []byte, size int) bool {
	if len(b) < 5 || binary.BigEndian.Uint32(b) == 0 {
		return false
	}
	if n := uint64(binary.BigEndian.Uint32(b)); n >= 12 && n < 1<<30 && (IsCall(b[4:]) && b[4] == 0x80 || isCompactCall(b[4:])) {
		return true
	}
	for at, i := 0, 0; i < mostFrames && at+4 <= len(b); i++ {
		n := uint64(binary.BigEndian.Uint32(b[at:]))
		if n == 0 || n > uint64(size-at-4) {
			return false
		}
		if at += 4 + int(n); at == size {
			return true
		}
	}
	return false
}

// wireTypes has a bit for each type of a field in Thrift Binary.
const wireTypes = 0x1fd5c

// IsCall reports whether b begins with the header of a call or reply, with a version (strict) or
// without.
func IsCall(b []byte) bool {
	const header = 4
	if len(b) < 2*header {
		return false
	}
	if b[0] == 0x80 {
		if b[1] != 1 || b[2] != 0 || b[3] < 1 || b[3] > 4 {
			return false
		}
		n := binary.BigEndian.Uint32(b[header:])
		name := b[2*header:]
		return n > 0 && n < 1<<16 && isName(name[:min(len(name), int(n))])
	}
	n := binary.BigEndian.Uint32(b)
	if b[0] != 0 || n == 0 || n > 1<<16 || int(n)+2*header+2 > len(b) {
		return false
	}
	name, rest := b[header:header+n], b[header+n:]
	next := rest[1+header] // skips the kind of message and the sequence id
	return rest[0] >= 1 && rest[0] <= 4 && isName(name) && (next == 0 || next <= 16 && wireTypes>>next&1 != 0)
}

// isName reports whether b may be the name of a method, "service:method" included, or the
// beginning of one.
func isName(b []byte) bool {
	for _, c := range b {
		if c < '0' && c != '.' && c != '-' || c > '9' && c < 'A' && c != ':' || c > 'Z' && c < 'a' && c != '_' || c > 'z' {
			return false
		}
	}
	return true
}

// BeginsCompactCall reports whether the first two bytes of b are those of a call or reply in the
// compact protocol.
func BeginsCompactCall(b []byte) bool {
	return len(b) >= 2 && b[0] == 0x82 && b[1]&0x1f == 1 && b[1]>>5 >= 1 && b[1]>>5 <= 4
}

// isCompactCall reports whether b begins with the header of a call or reply in the compact
// protocol.
func isCompactCall(b []byte) bool {
	if len(b) < 5 || !BeginsCompactCall(b) {
		return false
	}
	_, n := binary.Uvarint(b[2:]) // the sequence id
	i := 2 + n
	if n <= 0 || i+1 >= len(b) || b[i] == 0 || b[i] > 127 {
		return false
	}
	name := b[i+1:]
	return isName(name[:min(len(name), int(b[i]))])
}

// isTHeader reports whether b begins like a frame of THeader's transport: length, magic number,
// flags, sequence id, and a header size that fits. The length may be missing.
func isTHeader(b []byte) bool {
	const fixedPart = 10
	if len(b) > 4 && b[0] == 0 && b[4] == 0x0f {
		n := int(binary.BigEndian.Uint32(b))
		b = b[4:]
		if n < fixedPart+2 {
			return false
		}
	}
	if len(b) < fixedPart+2 || b[0] != 0x0f || b[1] != 0xff || b[2] != 0 || b[3] != 0 {
		return false
	}
	words := int(b[8])<<8 | int(b[9])
	return words > 0 && fixedPart+4*words <= len(b) && (b[10] == 0 || b[10] == 2) && b[11] < 8
}

// IsTLS reports whether b begins with a record of TLS: a hello, an alert or data. Two bytes of a
// hello suffice, and five of an alert; more of them are looked at if they are there.
func IsTLS(b []byte) bool {
	const header = 5
	if len(b) < 2 || b[1] != 3 || len(b) > 2 && b[2] > 4 {
		return false
	}
	if len(b) < header {
		return b[0] == 0x16
	}
	n := int(b[3])<<8 | int(b[4])
	kind := len(b) == header || b[header] == 1 || b[header] == 2
	switch b[0] {
	case 0x16: // client and server hello; their length is at most the record's
		return n > 40 && n <= 16<<10+256 && kind
	case 0x15:
		return n == 2 && kind
	case 0x17:
		return n > 16 && n == len(b)-header
	}
	return false
}

// IsHTTP reports whether b begins as an HTTP request, a response or an HTTP/2 connection does.
func IsHTTP(b []byte) bool { return IsHTTPRequest(b) || bytes.HasPrefix(b, []byte("HTTP/")) }

// IsHTTPRequest reports whether b begins as an HTTP request does. Four bytes suffice.
func IsHTTPRequest(b []byte) bool {
	const methods = "GET  POST PUT  HEAD OPTI DELE PATC CONN TRAC PRI "
	return len(b) >= 4 && b[0] >= 'A' && b[0] <= 'Z' && strings.Contains(methods, string(b[:4]))
}

const jsonSpace = " \t\r\n"

// isObjectText reports whether b begins with a JSON object or an array of strings or objects.
// Thrift Binary does not begin so, and its first bytes are not all text: ids and lengths have
// zeros.
func isObjectText(b []byte) bool {
	b = bytes.TrimLeft(b, jsonSpace)
	for _, c := range b[:min(len(b), 32)] {
		if c < ' ' && bytes.IndexByte([]byte(jsonSpace), c) < 0 {
			return false
		}
	}
	if len(b) < 2 || b[0] != '{' && b[0] != '[' {
		return false
	}
	next := bytes.TrimLeft(b[1:], jsonSpace)
	return len(next) > 0 && (next[0] == '"' || b[0] == '{' && next[0] == '}' || b[0] == '[' && next[0] == '{')
}

// isApacheText reports whether b begins with a call in Apache's JSON protocol, such as
// [1,"name",1,0, or with a struct, such as {"1":{"i64":
func isApacheText(b []byte) bool {
	if call, ok := bytes.CutPrefix(b, []byte(`[1,"`)); ok {
		name, rest, ok := bytes.Cut(call[:min(len(call), 256)], []byte(`",`))
		return ok && isName(name) && len(rest) > 1 && rest[0] >= '1' && rest[0] <= '4' && rest[1] == ','
	}
	field, ok := bytes.CutPrefix(b, []byte(`{"`))
	id, value, found := bytes.Cut(field[:min(len(field), 16)], []byte(`":{"`))
	name, _, ended := bytes.Cut(value, []byte(`":`))
	_, err := strconv.ParseInt(string(id), 10, 16)
	return ok && found && ended && err == nil && len(name) > 1 && strings.Contains("tf i8 i16 i32 i64 dbl str rec map lst set uid", string(name))
}
