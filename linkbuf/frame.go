package linkbuf

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/nocopythrift/nocopythrift/internal/memory"
)

// MaxSize is the largest number of bytes in one message: 1 GiB.
const MaxSize = 1 << 30

// ErrFrameSize reports a frame length that is negative, above the limit, or above the size that a
// message may have.
var ErrFrameSize = memory.ErrFrameSize

// Stats says how a message was written: how much was copied together, and how much was written
// from its place.
type Stats struct {
	Bytes     int // written in total
	Pieces    int // pieces of memory that were passed to the writer
	RefPieces int // pieces that were not copied before
	RefBytes  int // bytes in those pieces
}

// ReadFrameSize reads the length of a frame, a big-endian int32, from r. If the length is negative
// or above limit, the error is [ErrFrameSize]. If there is nothing to read, it is io.EOF; if there
// is only part of a length, io.ErrUnexpectedEOF. The bytes of the length are left in scratch,
// which saves an allocation; scratch may be nil.
func ReadFrameSize(r io.Reader, limit int, scratch *[4]byte) (int, error) {
	if r == nil {
		panic("linkbuf: nil Reader")
	}
	if scratch == nil {
		scratch = new([4]byte)
	}
	if _, err := memory.ReadFull(r, scratch[:]); err != nil {
		return 0, err
	}
	n := int32(binary.BigEndian.Uint32(scratch[:]))
	if n < 0 || int64(n) > int64(limit) {
		return 0, fmt.Errorf("%w: %d (limit %d)", ErrFrameSize, n, limit)
	}
	return int(n), nil
}
