package message

import (
	"fmt"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/compact"
)

// CompactID is the first byte of a message in the compact protocol.
const CompactID = 0x82

const (
	compactVersion = 1
	// That of fbthrift, whose readers take both
	compactVersion2 = 2

	typeShift = 5 // of the type in the second byte; the version is in the bits below
)

// parseCompact is Parse for a message that begins with CompactID.
func (h *Header) parseCompact(b []byte) (need int, err error) {
	const fixed = 2
	h.Form = Compact
	if len(b) < fixed {
		return fixed, nil
	}
	switch v := b[1] & (1<<typeShift - 1); v {
	case compactVersion:
	case compactVersion2:
		h.Version2 = true
	default:
		return 0, fmt.Errorf("%w: version %d of the compact protocol", ErrVersion, v)
	}
	h.Type = Type(b[1] >> typeShift)
	seqid, at := compact.Number(b, fixed)
	if at < 0 {
		return noNumber(b, at)
	}
	n, name := compact.Number(b, at)
	if name < 0 {
		return noNumber(b, name)
	}
	if n > maxName {
		return 0, fmt.Errorf("%w: method name of %d bytes", ErrVersion, n)
	}
	h.SeqID = int32(uint32(seqid))
	if h.Size = name + int(n); len(b) < h.Size {
		return h.Size, nil
	}
	h.Name = b[name:h.Size:h.Size]
	return 0, nil
}

// noNumber returns parseCompact's results for a bad number: compact.Number has returned the
// negative index at.
func noNumber(b []byte, at int) (int, error) {
	if at == compact.Ended {
		return len(b) + 1, nil
	}
	return 0, fmt.Errorf("%w: a varint of more than 10 bytes or 64 bits", ErrVersion)
}

// AppendCompact appends the header of a message in the compact protocol, whose name is prefix and
// name.
func AppendCompact[T string | []byte](b []byte, typ Type, prefix string, name T, seqid int32) []byte {
	b = append(b, CompactID, byte(typ)<<typeShift|compactVersion)
	b = compact.AppendNumber(b, uint64(uint32(seqid)))
	b = compact.AppendNumber(b, uint64(len(prefix)+len(name)))
	return append(append(b, prefix...), name...)
}
