package nocopyjson

import (
	"io"
	"sync"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/jsonvalue"
)

// Options of this package. Marshal also takes nocopy.Limits, whose MaxBytes bounds the text.
// Unmarshal also takes nocopy.Limits and nocopy.Recycle.
const (
	// Int64Strings writes numbers of type i64 as strings. JavaScript has no integers beyond 53 bits.
	Int64Strings = jsonvalue.Int64Strings

	// ZeroValues also writes unset fields: with their default, or as zero or empty. An unset struct
	// is null. A union writes only the field that is set.
	//
	// Small messages can thus become large texts: each byte of a list may be an empty struct with
	// hundreds of fields. The text is limited to Limits.MaxBytes, or without it to 16 MiB plus 64
	// bytes per byte of the message. A longer text gives an error that wraps nocopy.ErrLimit.
	ZeroValues = jsonvalue.ZeroValues

	// AllowUnknown skips fields that the IDL does not know.
	AllowUnknown = jsonvalue.AllowUnknown

	// ReplaceInvalidUTF8 replaces each byte of a string that is not UTF-8 by U+FFFD, as encoding/json
	// does, both when writing and when reading. When reading, it also replaces halves of surrogate
	// pairs (\ud800). If keys of a map become equal, that is an error. Without the option, invalid
	// strings are errors.
	ReplaceInvalidUTF8 = jsonvalue.ReplaceInvalidUTF8
)

// The reasons for refusing a text, in a *nocopy.Error. Other reasons are
// nocopy.ErrMissingRequired, nocopy.ErrLimit, nocopy.ErrTrailing, nocopy.ErrUTF8 and
// io.ErrUnexpectedEOF. A text that is not UTF-8 gives both ErrSyntax and nocopy.ErrUTF8. Errors
// quote unknown names and invalid JSON, at most 64 bytes, unless something in the message is
// redacted (nocopy.redact).
var (
	ErrSyntax       = jsonvalue.ErrSyntax
	ErrValue        = jsonvalue.ErrValue
	ErrUnknownField = jsonvalue.ErrUnknownField
	ErrDuplicate    = jsonvalue.ErrDuplicate
)

// Marshal finishes a message and returns it, or a part of it, as JSON. An absent part is null. The
// error is an *nocopy.Error: ErrUTF8 if a string is not UTF-8, ErrLimit if the text would be
// longer than Limits.MaxBytes or ZeroValues allow. The bytes belong to the caller.
func Marshal(m nocopy.AnyStruct, opts ...nocopy.Option) ([]byte, error) {
	return Append(nil, m, opts...)
}

// Append appends to dst what Marshal returns. It appends nothing if there is an error.
func Append(dst []byte, m nocopy.AnyStruct, opts ...nocopy.Option) ([]byte, error) {
	if m == nil {
		panic("nocopy: nil instead of a message")
	}
	return jsonvalue.Append(dst, m, opts)
}

// buffers are for Write, of at most jsonvalue.MostKept bytes: *[]byte.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// Write writes to w, in one piece, what Marshal returns. It writes nothing if that fails. Errors
// of w are returned unchanged.
func Write(w io.Writer, m nocopy.AnyStruct, opts ...nocopy.Option) error {
	if w == nil {
		panic("nocopy: Write to a nil Writer")
	}
	buf := buffers.Get().(*[]byte)
	text, err := Append((*buf)[:0], m, opts...)
	if err == nil {
		_, err = w.Write(text)
	}
	if cap(text) <= jsonvalue.MostKept {
		*buf = text
		buffers.Put(buf)
	}
	return err
}

// Unmarshal makes a message from a JSON text, which must be exactly one object, and sets *s to its
// root. The message has its own memory. The error is an *nocopy.Error with the offset in the text;
// *s is then unchanged.
func Unmarshal[S nocopy.StructView](text []byte, s *S, opts ...nocopy.Option) error {
	read, err := UnmarshalAs(descOf(s), text, opts...)
	if err == nil {
		*s = S(read)
	}
	return err
}

// descOf returns the descriptor of S. It panics if s is nil.
func descOf[S nocopy.StructView](s *S) *nocopy.Desc {
	if s == nil {
		panic("nocopy: nil instead of a handle to be set")
	}
	return (*s).ThriftDesc()
}

// UnmarshalAs is Unmarshal for a type that is known only by its descriptor.
func UnmarshalAs(d *nocopy.Desc, text []byte, opts ...nocopy.Option) (nocopy.Struct, error) {
	if d == nil {
		panic("nocopy: nil instead of a descriptor")
	}
	return jsonvalue.Read(d, text, opts)
}

// Read is Unmarshal for all bytes of r. It reads at most Limits.MaxBytes, by default 100 MiB.
// Errors of r are returned unchanged.
func Read[S nocopy.StructView](r io.Reader, s *S, opts ...nocopy.Option) error {
	d := descOf(s)
	if r == nil {
		panic("nocopy: Read of a nil Reader")
	}
	text, err := io.ReadAll(io.LimitReader(r, int64(jsonvalue.MaxBytes(opts))+1))
	if err != nil {
		return err
	}
	m, err := jsonvalue.Read(d, text, opts)
	if err == nil {
		*s = S(m)
	}
	return err
}
