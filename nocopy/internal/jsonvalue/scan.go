package jsonvalue

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"

	"github.com/nocopythrift/nocopythrift/internal/jsontext"
)

// The functions in this file read tokens. They know which may come next, and need no state
// machine. Each sets start and end and returns the first byte of the token, or 0 if there is none
// that may come: then failure has the Decoder find out why.

// nextName reads the name of an object's next member, or the closing brace. first says that no
// member has come yet.
func (r *reader) nextName(first bool) byte {
	i, c := r.afterSpace(r.end)
	if c == '}' {
		return r.sign(i)
	}
	if !first {
		if c != ',' {
			return 0
		}
		i, c = r.afterSpace(i + 1)
	}
	if c != '"' {
		return 0
	}
	return r.quoted(i)
}

// expects reports whether the next member has the name quoted. If so, the name becomes the last
// token.
func (r *reader) expects(quoted string, first bool) bool {
	if quoted == "" {
		return false
	}
	i := r.end
	if !first {
		if i >= len(r.in) || r.in[i] != ',' {
			return false
		}
		i++
	}
	if n := len(quoted); len(r.in)-i < n || string(r.in[i:i+n]) != quoted {
		return false
	}
	r.start, r.end, r.plain = i, i+len(quoted), true
	return true
}

// nextValue reads the first token of a member's value, after its name.
func (r *reader) nextValue() byte {
	i, c := r.afterSpace(r.end)
	if c != ':' {
		return 0
	}
	return r.token(r.afterSpace(i + 1))
}

// nextElement reads the first token of an array's next element, or the closing bracket. first
// says that no element has come yet.
func (r *reader) nextElement(first bool) byte {
	i, c := r.afterSpace(r.end)
	if c == ']' {
		return r.sign(i)
	}
	if !first {
		if c != ',' {
			return 0
		}
		i, c = r.afterSpace(i + 1)
	}
	return r.token(i, c)
}

// afterSpace returns the offset of the first byte from i on that is not white space, and that
// byte, or 0 at the end of the text.
func (r *reader) afterSpace(i int) (int, byte) {
	for ; i < len(r.in); i++ {
		switch c := r.in[i]; c {
		case ' ', '\t', '\r', '\n':
		default:
			return i, c
		}
	}
	return i, 0
}

// sign reads the one-byte token at i.
func (r *reader) sign(i int) byte {
	r.start, r.end = i, i+1
	return r.in[i]
}

// token reads the first token of a value, which begins at i with c.
func (r *reader) token(i int, c byte) byte {
	if !r.makeRoom() {
		return 0
	}
	switch c {
	case '"':
		return r.quoted(i)
	case '{', '[':
		return r.sign(i)
	case 't':
		return r.literal(i, "true")
	case 'f':
		return r.literal(i, "false")
	case 'n':
		return r.literal(i, "null")
	}
	return r.number(i)
}

func (r *reader) literal(i int, text string) byte {
	if len(r.in)-i < len(text) || string(r.in[i:i+len(text)]) != text {
		return 0
	}
	r.start, r.end = i, i+len(text)
	return text[0]
}

// number reads the number at i, if there is one.
func (r *reader) number(i int) byte {
	end := endOfNumber(r.in, i)
	if end == i {
		return 0
	}
	r.start, r.end = i, end
	return r.in[i]
}

// endOfNumber returns the index after the JSON number at b[i:]; i if there is none.
func endOfNumber(b []byte, i int) int {
	at := i
	if at < len(b) && b[at] == '-' {
		at++
	}
	whole := at
	if at = endOfDigits(b, at); at == whole {
		return i
	}
	if b[whole] == '0' { // which no other digits follow
		at = whole + 1
	}
	if at < len(b) && b[at] == '.' {
		point := at
		if at = endOfDigits(b, at+1); at == point+1 {
			return i
		}
	}
	if at < len(b) && b[at]|0x20 == 'e' {
		at++
		if at < len(b) && (b[at] == '+' || b[at] == '-') {
			at++
		}
		exponent := at
		if at = endOfDigits(b, at); at == exponent {
			return i
		}
	}
	return at
}

// endOfDigits returns the index after the digits at b[i:].
func endOfDigits(b []byte, i int) int {
	for i < len(b) && b[i]-'0' <= 9 {
		i++
	}
	return i
}

// quoted reads the string whose first quote is at i.
func (r *reader) quoted(i int) byte {
	in := r.in
	at, high := i+1, uint64(0)
	for ; len(in)-at >= 8; at += 8 {
		x := binary.LittleEndian.Uint64(in[at:])
		high |= x
		if special := specialBytes(x); special != 0 {
			at += bits.TrailingZeros64(special) >> 3
			if in[at] != '"' {
				return r.escaped(i, at)
			}
			return r.endQuoted(i, at, high&highBits == 0)
		}
	}
	for ; at < len(in); at++ {
		switch c := in[at]; {
		case c == '"':
			return r.endQuoted(i, at, false)
		case c == '\\' || c < ' ':
			return r.escaped(i, at)
		}
	}
	return 0
}

// endQuoted ends a string without escapes, from the quote at i to the quote at end. ascii says
// that all its bytes are ASCII.
func (r *reader) endQuoted(i, end int, ascii bool) byte {
	if !ascii && !utf8.Valid(r.in[i+1:end]) {
		return r.escaped(i, end)
	}
	r.start, r.end, r.plain = i, end+1, true
	return '"'
}

// escaped reads the string whose first quote is at i, into scratch. It has no escapes before at,
// but perhaps bytes that are not UTF-8.
func (r *reader) escaped(i, at int) byte {
	for ; at < len(r.in) && r.in[at] != '"'; at++ {
		if r.in[at] == '\\' {
			at++
		}
	}
	if at >= len(r.in) {
		return 0
	}
	var err error
	r.scratch, err = jsontext.AppendUnquote(r.scratch[:0], r.in[i:at+1])
	if err != nil && !(r.replaceInvalid && jsontext.Value(r.in[i:at+1]).IsValid(jsontext.AllowInvalidUTF8(true))) {
		return 0
	}
	r.start, r.end, r.plain = i, at+1, false
	return '"'
}

const (
	eachByte = 0x0101010101010101
	highBits = 0x80 * eachByte
)

// specialBytes finds the lowest byte of x that is a quote, a backslash or below a space. The
// lowest bit set in the result is the highest bit of that byte. The result is 0 if there is no
// such byte.
func specialBytes(x uint64) uint64 {
	quotes, escapes := x^'"'*eachByte, x^'\\'*eachByte
	return ((x-' '*eachByte)&^x | (quotes-eachByte)&^quotes | (escapes-eachByte)&^escapes) & highBits
}
