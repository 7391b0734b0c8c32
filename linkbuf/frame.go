package linkbuf

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/nocopythrift/nocopythrift/internal/chain"
)

// MaxSize is the most bytes that one message may have: 1 GiB.
const MaxSize = 1 << 30

// ErrFrameSize is the error for the length of a frame that is negative, above the limit, or more
// than a message may have.
var ErrFrameSize = chain.ErrFrameSize

// Stats tells how a message was written: what was copied together and what was written from where
// it lay.
type Stats struct {
	Bytes    int // written in all
	Pieces   int // stretches of memory that were handed to the writer
	ByRef    int // those of them that were not copied before
	RefBytes int // bytes in those
}

// ReadFrameSize reads the length of a frame, a big-endian int32, from r. The length is returned
// if it is at most limit; else, and if it is negative, the error is [ErrFrameSize]. The error is
// io.EOF if there is nothing to read, io.ErrUnexpectedEOF if there is a part of a length. The
// bytes of the length are left in scratch, which spares an allocation; it may be nil.
func ReadFrameSize(r io.Reader, limit int, scratch *[4]byte) (int, error) {
	if r == nil {
		panic("linkbuf: nil Reader")
	}
	if scratch == nil {
		scratch = new([4]byte)
	}
	if _, err := chain.ReadFull(r, scratch[:]); err != nil {
		return 0, err
	}
	n := int32(binary.BigEndian.Uint32(scratch[:]))
	if n < 0 || int64(n) > int64(limit) {
		return 0, fmt.Errorf("%w: %d (limit %d)", ErrFrameSize, n, limit)
	}
	return int(n), nil
}
