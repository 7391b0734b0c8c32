package jsonvalue

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// raw returns the bytes of the last token.
func (r *reader) raw() []byte { return r.in[r.start:r.end] }

// text returns the value of the last token, a string. It is valid until the next token.
func (r *reader) text() []byte {
	if r.plain {
		return r.in[r.start+1 : r.end-1]
	}
	return r.scratch
}

// string reads a string or binary from the last token.
func (r *reader) string(t *schema.Type) bool {
	r.out = append(r.out, 0, 0, 0, 0)
	at := len(r.out)
	if t.Binary() {
		if !r.base64() {
			return false
		}
	} else {
		r.out = append(r.out, r.text()...)
	}
	binary.BigEndian.PutUint32(r.out[at-4:], uint32(len(r.out)-at))
	return true
}

// base64 appends the bytes that the last token encodes in either alphabet of RFC 4648, padded or
// not. Line breaks are passed over, as package encoding/base64 does.
func (r *reader) base64() bool {
	text, encoding := r.text(), base64.StdEncoding
	if bytes.ContainsAny(text, "\r\n") { // they would count in the length
		text = slices.DeleteFunc(bytes.Clone(text), func(c byte) bool { return c == '\r' || c == '\n' })
	}
	if bytes.ContainsAny(text, "-_") {
		encoding = base64.URLEncoding
	}
	if len(text)%4 != 0 {
		encoding = encoding.WithPadding(base64.NoPadding)
	}
	out, err := encoding.AppendDecode(r.out, text)
	if err != nil {
		return r.fail(r.start, fmt.Errorf("%w: a binary that is not base64", ErrValue))
	}
	r.out = out
	return true
}

// key reads a map's key, a scalar or text, from the last token, which is a string.
func (r *reader) key(t *schema.Type) bool {
	if t.Kind() == schema.Text {
		return r.string(t)
	}
	return r.scalar(t, '"')
}

// scalar reads a value of fixed size from the last token, which begins with c.
func (r *reader) scalar(t *schema.Type, c byte) bool {
	var text []byte
	switch {
	case c == '"':
		text = r.text()
	case c == '-' || c >= '0' && c <= '9':
		text = r.raw()
		c = '0'
	}
	switch t.Wire() {
	case wire.Bool:
		return r.bool(c, text)
	case wire.Double:
		return r.double(c, text)
	case wire.UUID:
		return r.uuid(c, text)
	}
	return r.integer(t, c, text)
}

func (r *reader) uuid(c byte, text []byte) bool {
	if c != '"' {
		return r.wrong(c, "a string")
	}
	u, err := nocopy.ParseUUID(string(text[:min(len(text), 64)]))
	if err != nil {
		return r.fail(r.start, fmt.Errorf("%w: not a uuid", ErrValue))
	}
	r.out = append(r.out, u[:]...)
	return true
}

// integer reads an integer, or a value of an enum by its name.
func (r *reader) integer(t *schema.Type, c byte, text []byte) bool {
	if t.Enum() != nil && c == '"' {
		if v, ok := t.Enum().Value(string(text)); ok {
			r.out = binary.BigEndian.AppendUint32(r.out, uint32(v))
			return true
		}
	}
	if c != '"' && c != '0' {
		return r.wrong(c, "a number")
	}
	v, err := integer(text)
	if shift := 64 - 8*t.Size(); err == nil && v<<shift>>shift != v {
		err = errRange
	}
	if err != nil {
		if err == errNumber && t.Enum() != nil {
			err = errors.New("not a name of the enum")
		}
		return r.fail(r.start, fmt.Errorf("%w: %w", ErrValue, err))
	}
	switch t.Size() {
	case 1:
		r.out = append(r.out, byte(v))
	case 2:
		r.out = binary.BigEndian.AppendUint16(r.out, uint16(v))
	case 4:
		r.out = binary.BigEndian.AppendUint32(r.out, uint32(v))
	default:
		r.out = binary.BigEndian.AppendUint64(r.out, uint64(v))
	}
	return true
}

func (r *reader) bool(c byte, text []byte) bool {
	switch {
	case c == 't' || c == '"' && string(text) == "true":
		r.out = append(r.out, 1)
	case c == 'f' || c == '"' && string(text) == "false":
		r.out = append(r.out, 0)
	default:
		return r.wrong(c, "a bool")
	}
	return true
}

func (r *reader) double(c byte, text []byte) bool {
	v, err := 0.0, error(nil)
	switch {
	case c != '"' && c != '0':
		return r.wrong(c, "a number")
	case c == '"' && string(text) == "NaN":
		v = math.NaN()
	case c == '"' && string(text) == "Infinity":
		v = math.Inf(1)
	case c == '"' && string(text) == "-Infinity":
		v = math.Inf(-1)
	default:
		if c == '"' && !isNumber(text) {
			err = errNumber
			break
		}
		if v, err = strconv.ParseFloat(string(text), 64); err != nil {
			err = errRange
		}
	}
	if err != nil {
		return r.fail(r.start, fmt.Errorf("%w: %w", ErrValue, err))
	}
	r.out = binary.BigEndian.AppendUint64(r.out, math.Float64bits(v))
	return true
}

var (
	errNumber = errors.New("not a number")
	errRange  = errors.New("a number out of range")
	errWhole  = errors.New("not a whole number")
)

// integer returns the whole number in text, which is a JSON number and may be written as 1.0 or
// 1e3.
func integer(text []byte) (int64, error) {
	digits := text
	if len(text) > 0 && text[0] == '-' {
		digits = text[1:]
	}
	// 19 digits can't overflow a uint64.
	if n := len(digits); n == 0 || n > 19 || digits[0] == '0' && n > 1 {
		return slowInteger(text)
	}
	v, rest := uint64(0), digits
	for len(rest) >= 8 {
		x := binary.LittleEndian.Uint64(rest)
		if !eightDigits(x) {
			return slowInteger(text)
		}
		v = 100_000_000*v + valueOfEight(x)
		rest = rest[8:]
	}
	for _, c := range rest {
		if c -= '0'; c > 9 {
			return slowInteger(text)
		}
		v = 10*v + uint64(c)
	}
	switch {
	case len(digits) < len(text) && v <= 1<<63:
		return -int64(v), nil
	case len(digits) == len(text) && v < 1<<63:
		return int64(v), nil
	}
	return 0, errRange
}

// eightDigits reports whether the eight bytes of x are digits.
func eightDigits(x uint64) bool {
	const each = 0x0101010101010101
	return (x&(0xf0*each))|((x+0x06*each)&(0xf0*each))>>4 == 0x33*each
}

// valueOfEight returns the number that the eight digits in x form. The first digit is in the
// lowest byte.
func valueOfEight(x uint64) uint64 {
	x = (x & 0x0f0f0f0f0f0f0f0f) * (10<<8 + 1) >> 8
	x = (x & 0x00ff00ff00ff00ff) * (100<<16 + 1) >> 16
	return (x & 0x0000ffff0000ffff) * (10000<<32 + 1) >> 32
}

// isNumber reports whether text is a JSON number.
func isNumber(text []byte) bool { return len(text) > 0 && endOfNumber(text, 0) == len(text) }

// mostExponent bounds exponents: a text has fewer digits.
const mostExponent = 1 << 30

// slowInteger is integer for numbers that are long, or have a fraction or an exponent. It returns
// an error if text is not a number, or not an int64.
func slowInteger(text []byte) (int64, error) {
	if !isNumber(text) {
		return 0, errNumber
	}
	// The number is digits·10^exponent, and digits neither begin nor end with zeros.
	mantissa, exponent := bytes.TrimPrefix(text, []byte{'-'}), 0
	if e := bytes.IndexAny(mantissa, "eE"); e >= 0 {
		exponent, _ = strconv.Atoi(string(mantissa[e+1:])) // one that is too large becomes the largest
		exponent = min(max(exponent, -mostExponent), mostExponent)
		mantissa = mantissa[:e]
	}
	whole, fraction, _ := bytes.Cut(mantissa, []byte{'.'})
	digits := append(bytes.Clone(whole), fraction...)
	exponent -= len(fraction)
	trimmed := bytes.TrimRight(digits, "0")
	exponent += len(digits) - len(trimmed)
	digits = bytes.TrimLeft(trimmed, "0")
	switch {
	case len(digits) == 0:
		return 0, nil
	case exponent < 0:
		return 0, errWhole
	case len(digits)+exponent > 19:
		return 0, errRange
	}
	for range exponent {
		digits = append(digits, '0')
	}
	if text[0] == '-' {
		digits = append([]byte{'-'}, digits...)
	}
	v, err := strconv.ParseInt(string(digits), 10, 64)
	if err != nil {
		return 0, errRange
	}
	return v, nil
}
