package formats

import (
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/nocopythrift/nocopythrift/internal/firstbytes"
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
	what := firstbytes.InCall(b, size)
	switch {
	case what != "":
		return what
	case len(b) == size && size >= leastCompact && isCompactStruct(b, d):
		return compactStruct
	}
	return firstbytes.Other(b)
}

// compactStruct is the text for a struct in the compact protocol.
const compactStruct = "a struct in the compact protocol, which is parsed with the option Compact"

// StructWithoutFrame is the text for a struct where a frame was expected.
const StructWithoutFrame = "a struct without a frame: NewDecoder reads those"

// BeginsFrame reports whether b, the first bytes of a stream, consists of the length of a frame,
// and the beginning of a call or of a field that d describes.
func BeginsFrame(b []byte, d *schema.Struct) bool {
	const length = 4
	return b[0] == 0 && wire.BE32(b) != 0 && (d.Find(wire.HeaderAt(b, length)) != nil || firstbytes.InFrame(b[length:]) != firstbytes.StructInFrame)
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
