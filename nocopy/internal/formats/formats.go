package formats

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/compact"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/parse"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// Explain adds the name of the bytes' format to the error of a failed parse, if it is another
// known format. b is the first part of size bytes, which were expected to be of the type that d
// describes.
func Explain(e *wire.Error, b []byte, size int, d *schema.Struct) {
	if size == 0 && e.Err == io.ErrUnexpectedEOF {
		e.Err = wire.ErrNoBytes
	}
	what := Of(b, size, d)
	if what == "" && len(b) == size && size < leastCompact && isCompactStruct(b, d) {
		mayBe(e, compactStruct)
	}
	AddTo(e, what)
}

// ExplainCompact is Explain for bytes that were expected to be in the compact protocol.
func ExplainCompact(e *wire.Error, b []byte, d *schema.Struct) {
	switch what := Of(b, len(b), d); {
	case len(b) == 0 && e.Err == io.ErrUnexpectedEOF:
		e.Err = wire.ErrNoBytes
	case what != "" && what != compactStruct:
		AddTo(e, what)
	case what == "" && isBinaryStruct(b):
		const binary = "a struct in Thrift Binary, which is parsed without the option Compact"
		if len(b) < leastCompact {
			mayBe(e, binary)
		} else {
			AddTo(e, binary)
		}
	}
}

// isBinaryStruct reports whether b is exactly one struct of any type.
func isBinaryStruct(b []byte) bool {
	end, err := parse.Skip(b, 0, wire.Struct, parse.BudgetOf(parse.MaxDepth), parse.StructCost)
	return err == nil && end == len(b)
}

// AddTo adds to an error what the bytes are, unless that is "".
func AddTo(e *wire.Error, what string) {
	if what != "" {
		e.Err = fmt.Errorf("%w; the bytes are %s", e.Err, what)
	}
}

// mayBe is AddTo for bytes that are so few that they may only look like what.
func mayBe(e *wire.Error, what string) { e.Err = fmt.Errorf("%w; the bytes may be %s", e.Err, what) }

// Of returns a text that names the format of some bytes and a way to read them, "" if it is
// unknown. b is the first part of size bytes, which were expected to be a message of the type that
// d describes.
func Of(b []byte, size int, d *schema.Struct) string {
	switch {
	case isFrame(b, size):
		return InFrame(b[4:])
	case IsCall(b):
		return "a call: package rpc reads calls, and Parse the struct after the call's header"
	case isCompactCall(b):
		return "a call in the compact protocol, which package rpc reads"
	case len(b) == size && size >= leastCompact && isCompactStruct(b, d):
		return compactStruct
	case isTHeader(b):
		return "of Thrift's THeader transport, which package rpc reads"
	case isTLS(b):
		return "of a TLS connection: package crypto/tls decrypts them"
	case isHTTP(b):
		return "of an HTTP connection: package net/http reads them, and the struct is in the body"
	case isApacheText(b):
		return "in Apache's JSON protocol, which package apachethrift reads"
	case isObjectText(b):
		return "JSON, which UnmarshalJSON and package nocopyjson read"
	}
	return ""
}

// compactStruct is the text for a struct in the compact protocol.
const compactStruct = "a struct in the compact protocol, which is parsed with the option Compact"

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
	return structInFrame
}

const structInFrame = "a frame: its length comes first. NewFrameDecoder reads frames, and Parse what follows the length"

// StructWithoutFrame is the text for a struct where a frame was expected.
const StructWithoutFrame = "a struct without a frame: NewDecoder reads those"

// BeginsFrame reports whether b, the first bytes of a stream, consists of the length of a frame,
// and the beginning of a call or of a field that d describes.
func BeginsFrame(b []byte, d *schema.Struct) bool {
	const length = 4
	return b[0] == 0 && wire.BE32(b) != 0 && (d.Find(wire.HeaderAt(b, length)) != nil || InFrame(b[length:]) != structInFrame)
}

// mostFrames is how many frames in a row are followed.
const mostFrames = 64

// isFrame reports whether size bytes, whose first part is b, are one or more whole frames, or a
// part of a frame that holds a call.
func isFrame(b []byte, size int) bool {
	if len(b) < 5 || wire.BE32(b) == 0 {
		return false
	}
	if n := uint64(wire.BE32(b)); n >= 12 && n < 1<<30 && (IsCall(b[4:]) && b[4] == 0x80 || isCompactCall(b[4:])) {
		return true
	}
	for at, i := 0, 0; i < mostFrames && at+4 <= len(b); i++ {
		n := uint64(wire.BE32(b[at:]))
		if n == 0 || n > uint64(size-at-4) {
			return false
		}
		if at += 4 + int(n); at == size {
			return true
		}
	}
	return false
}

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
		n := wire.BE32(b[header:])
		name := b[2*header:]
		return n > 0 && n < 1<<16 && isName(name[:min(len(name), int(n))])
	}
	n := wire.BE32(b)
	if b[0] != 0 || n == 0 || n > 1<<16 || int(n)+2*header+2 > len(b) {
		return false
	}
	name, rest := b[header:header+n], b[header+n:]
	next := rest[1+header] // skips the kind of message and the sequence id
	return rest[0] >= 1 && rest[0] <= 4 && isName(name) && (next == 0 || wire.MinSize[next] > 0)
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

// isCompactCall reports whether b begins with the header of a call or reply in the compact
// protocol.
func isCompactCall(b []byte) bool {
	if len(b) < 5 || b[0] != 0x82 || b[1]&0x1f != 1 || b[1]>>5 < 1 || b[1]>>5 > 4 {
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
		n := int(wire.BE32(b))
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

// isTLS reports whether b begins with a record of TLS: a hello, an alert or a record of data.
func isTLS(b []byte) bool {
	if len(b) < 6 || b[1] != 3 || b[2] > 4 {
		return false
	}
	n := int(b[3])<<8 | int(b[4])
	switch b[0] {
	case 0x16: // client and server hello; their length is at most the record's
		return n > 40 && n <= 16<<10+256 && (b[5] == 1 || b[5] == 2)
	case 0x15:
		return n == 2 && (b[5] == 1 || b[5] == 2)
	case 0x17:
		return n > 16 && n == len(b)-5
	}
	return false
}

// httpStarts has the beginnings of HTTP requests, responses and HTTP/2 connections.
var httpStarts = [][]byte{
	[]byte("GET /"), []byte("POST /"), []byte("PUT /"), []byte("HEAD /"), []byte("DELETE /"), []byte("PATCH /"),
	[]byte("OPTIONS "), []byte("CONNECT "), []byte("TRACE /"), []byte("HTTP/1."), []byte("HTTP/2"), []byte("PRI * HTTP/2"),
	[]byte("GET http"), []byte("POST http"),
}

func isHTTP(b []byte) bool {
	for _, start := range httpStarts {
		if bytes.HasPrefix(b, start) {
			return true
		}
	}
	return false
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

// Structs in the compact protocol are recognised for certain from the size leastCompact on:
// shorter bytes look like one by chance too often. In Thrift Binary they have at most fewCompact
// bytes, or no more than in the compact protocol, up to mostCompact: bytes that only look like one
// take no more memory.
const (
	leastCompact = 8
	fewCompact   = 1 << 20
	mostCompact  = 16 << 20
)

// isCompactStruct reports whether b is exactly one struct of the type that d describes, in the
// compact protocol: all its fields are known and have their declared types, and its strings are
// UTF-8.
func isCompactStruct(b []byte, d *schema.Struct) bool {
	if len(b) < 2 || b[0] <= byte(wire.UUID) {
		return false
	}
	r := compact.TakeReader(min(len(b), compact.PieceSize/2)) // its memory grows with what it reads
	defer r.Free()
	r.Reset(d.Type(), compact.Limits{Bytes: min(max(len(b), fewCompact), mostCompact), Levels: parse.MaxDepth})
	if end, status := r.Convert(b, 0, true); status != compact.Done || end < len(b) {
		return false
	}
	made := r.Bytes()
	for w := range parse.Fields(made) {
		if f := d.Find(w.Header); f == nil || f.Kind() == schema.Text && !f.Type.Binary() && !utf8.Valid(made[w.At+wire.TextHeader:w.End]) {
			return false
		}
	}
	return true
}
