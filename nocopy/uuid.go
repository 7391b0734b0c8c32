package nocopy

import (
	"encoding/hex"
	"errors"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/render"
)

// UUID is a value of the IDL's type uuid: 16 bytes in wire order.
type UUID [16]byte

// String returns the UUID in the form 01234567-89ab-cdef-0123-456789abcdef.
func (u UUID) String() string { return string(render.AppendUUID(make([]byte, 0, 36), u)) }

// ParseUUID reads the form that String writes. The hyphens may be missing, and braces may surround
// it.
func ParseUUID(s string) (UUID, error) {
	var u UUID
	t := s
	if len(t) == 38 && t[0] == '{' && t[37] == '}' {
		t = t[1:37]
	}
	if len(t) == 36 && t[8] == '-' && t[13] == '-' && t[18] == '-' && t[23] == '-' {
		t = t[:8] + t[9:13] + t[14:18] + t[19:23] + t[24:]
	}
	if len(t) != 32 {
		return u, errors.New("nocopy: not a UUID: " + s)
	}
	if _, err := hex.Decode(u[:], []byte(t)); err != nil {
		return u, errors.New("nocopy: not a UUID: " + s)
	}
	return u, nil
}
