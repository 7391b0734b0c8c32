package capture

import (
	"bytes"
	"encoding/binary"
)

// findMessage returns the offset in b at which a message begins, or may begin; len(b) if there is
// none. If it only may begin there, more is how many bytes from there tell it. Messages with the
// headers of old versions are not found.
func findMessage(b []byte) (at, more int) {
	for at = range b {
		if is, more := messageAt(b[at:]); is || more > 0 {
			return at, more
		}
	}
	return len(b), 0
}

// messageAt reports whether a message or a frame begins with b. If b is too short to tell, more is
// how many bytes are needed.
func messageAt(b []byte) (is bool, more int) {
	switch {
	case b[0] == 'P' || b[0] == 'H':
		return textAt(b, "POST /", "HTTP/1.")
	case b[0] >= 0x80:
		return headerAt(b)
	case b[0] > maxMessage>>24:
		return false, 0
	case len(b) < 6:
		return false, 6
	}
	switch n, magic := binary.BigEndian.Uint32(b), binary.BigEndian.Uint16(b[4:]); {
	case n < 6 || n > maxMessage:
		return false, 0
	case magic == theaderMagic || magic == ttheaderMagic:
		return wrapperAt(b[4:], n)
	}
	is, more = headerAt(b[4:])
	if more > 0 {
		more += 4
	}
	return is, more
}

// textAt reports whether b begins with one of some texts.
func textAt(b []byte, texts ...string) (is bool, more int) {
	for _, text := range texts {
		n := min(len(text), len(b))
		if !bytes.HasPrefix(b, []byte(text[:n])) {
			continue
		}
		if n == len(text) {
			return true, 0
		}
		return false, len(text)
	}
	return false, 0
}

// headerAt reports whether b begins with the header of a message, and at least a byte of a name.
func headerAt(b []byte) (is bool, more int) {
	if b[0] != 0x80 && b[0] != 0x82 {
		return false, 0
	}
	if len(b) < 6 {
		return false, 6
	}
	if !beginsMessage(b) {
		return false, 0
	}
	m, size, err := parseHeader(b)
	switch {
	case err != nil:
		return false, 0
	case size > len(b):
		return false, size
	}
	return m.name != "", 0
}

// wrapperAt reports whether b begins with the THeader or TTHeader of a frame of n bytes.
func wrapperAt(b []byte, n uint32) (is bool, more int) {
	if len(b) < wrapperSize {
		return false, 4 + wrapperSize
	}
	words := uint32(binary.BigEndian.Uint16(b[8:]))
	return words > 0 && wrapperSize+4*words <= n && b[2] == 0, 0
}
