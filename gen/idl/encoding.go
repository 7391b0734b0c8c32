package idl

import (
	"bytes"
	"fmt"
)

// maxBinary is how many bytes that no text in UTF-8 has are reported one by one.
// A file with more of them outside of comments and strings is something else.
const maxBinary = 3

// unreadable returns what is wrong with a file as a whole, nil if nothing is.
// The scanner has found the bytes that no text in UTF-8 has outside of comments
// and strings, which may hold any.
func unreadable(name string, src []byte, binary []Position) *Error {
	coding := marked(src)
	if coding == "" && len(binary) > 0 {
		coding = wide(src)
	}
	switch {
	case coding != "":
		return &Error{Position{Filename: name, Line: 1, Column: 1},
			"the file is " + coding + ", save it as UTF-8"}
	case len(binary) > maxBinary:
		return &Error{binary[0], fmt.Sprintf("byte 0x%02x and others outside of comments and strings are no text, "+
			"give a .thrift file in UTF-8", src[binary[0].Offset])}
	}
	return nil
}

// marked returns the name of the encoding, other than UTF-8, that a byte order
// mark tells.
func marked(src []byte) string {
	for _, e := range []struct{ mark, name string }{
		{"\xff\xfe\x00\x00", "UTF-32"}, {"\x00\x00\xfe\xff", "UTF-32"}, {"\xff\xfe", "UTF-16"}, {"\xfe\xff", "UTF-16"},
	} {
		if bytes.HasPrefix(src, []byte(e.mark)) {
			return e.name
		}
	}
	return ""
}

// wide returns the name of the encoding of text whose characters are 16 or 32
// bits wide, by where its zeroes are, or "".
func wide(src []byte) string {
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
