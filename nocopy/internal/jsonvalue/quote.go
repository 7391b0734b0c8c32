package jsonvalue

import (
	"encoding/binary"
	"unicode/utf8"
)

// plainPrefix returns how many bytes at the start of b stand for themselves in a JSON string:
// ASCII except control characters, quotes and backslashes.
func plainPrefix(b []byte) int {
	i := 0
	for ; i+8 <= len(b); i += 8 {
		if x := binary.LittleEndian.Uint64(b[i:]); !plainWord(x) {
			break
		}
	}
	// Usually all of the rest is plain. One word that ends with b, and begins before the rest,
	// shows it.
	switch rest := len(b) - i; {
	case rest >= 8:
	case len(b) >= 8:
		if plainWord(binary.LittleEndian.Uint64(b[len(b)-8:])) {
			return len(b)
		}
	case len(b) >= 4:
		if plainWord(uint64(binary.LittleEndian.Uint32(b)) | uint64(binary.LittleEndian.Uint32(b[len(b)-4:]))<<32) {
			return len(b)
		}
	}
	for i < len(b) && b[i] >= 0x20 && b[i] < utf8.RuneSelf && b[i] != '"' && b[i] != '\\' {
		i++
	}
	return i
}

// plainWord reports whether all eight bytes stand for themselves. A byte below 32 borrows from the
// bit above it when 32 is subtracted; one that is equal to c is zero when c is subtracted.
// specialBytes also finds the place, and takes a third longer.
func plainWord(x uint64) bool {
	quote, backslash := x^eachByte*'"', x^eachByte*'\\'
	return (x|(x-eachByte*0x20)|(quote-eachByte)|(backslash-eachByte))&highBits == 0
}

// appendText appends b as the inside of a JSON string. It returns false if b is not UTF-8.
// With replace, dst has U+FFFD for each invalid byte; without, dst ends before the first one.
func appendText(dst, b []byte, replace bool) ([]byte, bool) {
	for ok := true; ; {
		n := plainPrefix(b)
		dst = append(dst, b[:n]...)
		if b = b[n:]; len(b) == 0 {
			return dst, ok
		}
		if c := b[0]; c >= utf8.RuneSelf {
			r, size := utf8.DecodeRune(b)
			if r == utf8.RuneError && size == 1 {
				if ok = false; !replace {
					return dst, false
				}
				dst = append(dst, `\ufffd`...) // as encoding/json writes it
				b = b[1:]
				continue
			}
			dst = append(dst, b[:size]...)
			b = b[size:]
			continue
		}
		dst = appendEscape(dst, b[0])
		b = b[1:]
	}
}

// appendEscape appends the escape of a control character, quote or backslash.
func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\b':
		return append(dst, `\b`...)
	case '\f':
		return append(dst, `\f`...)
	case '\n':
		return append(dst, `\n`...)
	case '\r':
		return append(dst, `\r`...)
	case '\t':
		return append(dst, `\t`...)
	}
	const digits = "0123456789abcdef"
	return append(dst, `\u00`+string(digits[c>>4])+string(digits[c&15])...)
}
