package idl

import (
	"bytes"
	"fmt"
)

// maxBinary is the number of bytes outside comments and strings that are not UTF-8 up to which
// each is reported. A file with more of them is not text.
const maxBinary = 3

// encodingError returns an error if the file is not text in UTF-8. binary holds the positions of
// bytes outside comments and strings that are not UTF-8. In comments and strings any byte is
// allowed.
func encodingError(name string, src []byte, binary []Position) *Error {
	coding := markedEncoding(src)
	if coding == "" && len(binary) > 0 {
		coding = wideEncoding(src)
	}
	switch {
	case coding != "":
		return &Error{Pos: Position{Filename: name, Line: 1, Column: 1}, Msg: "the file is " + coding + ", save it as UTF-8"}
	case len(binary) > maxBinary:
		return &Error{Pos: binary[0], Msg: fmt.Sprintf("byte 0x%02x and others outside of comments and strings are no text, "+
			"give a .thrift file in UTF-8", src[binary[0].Offset])}
	}
	return nil
}

// markedEncoding returns the name of the encoding that a byte order mark indicates. It returns ""
// if there is no mark, or if the mark is that of UTF-8.
func markedEncoding(src []byte) string {
	for _, e := range []struct{ mark, name string }{
		{"\xff\xfe\x00\x00", "UTF-32"}, {"\x00\x00\xfe\xff", "UTF-32"}, {"\xff\xfe", "UTF-16"}, {"\xfe\xff", "UTF-16"},
	} {
		if bytes.HasPrefix(src, []byte(e.mark)) {
			return e.name
		}
	}
	return ""
}

// wideEncoding returns the name of an encoding with characters of 16 or 32 bits, if the places of
// zero bytes suggest one, and "" otherwise.
func wideEncoding(src []byte) string {
	src = src[:min(len(src), 4096)]
	var zeroes [4]int // by position modulo 4
	for i, c := range src {
		if c == 0 {
			zeroes[i%4]++
		}
	}
	even, odd := zeroes[0]+zeroes[2], zeroes[1]+zeroes[3]
	first, last := zeroes[0]+zeroes[1], zeroes[2]+zeroes[3]
	switch {
	case even+odd == len(src) || max(even, odd) <= len(src)/8:
		return ""
	case len(src) >= 4 && max(first, last)*32 >= len(src)*15:
		return "UTF-32"
	case min(even, odd) <= max(even, odd)/8:
		return "UTF-16"
	}
	return ""
}
