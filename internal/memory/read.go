package memory

import (
	"errors"
	"io"
)

// ErrFrameSize is the error for a frame whose length is negative or above the limit.
var ErrFrameSize = errors.New("linkbuf: frame length out of range")

// errCount is the error for a Reader or Writer that returns an impossible count of bytes.
var errCount = errors.New("linkbuf: a Reader or Writer returned an impossible count")

// ReadFull fills mem from r and returns the number of bytes read. It returns the errors of
// io.ReadFull, and two more: one for a Reader that returns impossible counts, and io.ErrNoProgress
// for a Reader that keeps returning no bytes and no error.
func ReadFull(r io.Reader, mem []byte) (int, error) {
	got := 0
	for got < len(mem) {
		n, err := Read(r, mem[got:])
		if got += n; err != nil && got < len(mem) {
			if got > 0 {
				err = Unexpected(err)
			}
			return got, err
		}
	}
	return got, nil
}

// Read reads into mem once, at least one byte unless there is an error. It checks the Reader's
// count.
func Read(r io.Reader, mem []byte) (int, error) {
	for range mostEmpty {
		switch n, err := r.Read(mem); {
		case uint(n) > uint(len(mem)):
			return 0, errCount
		case n > 0 || err != nil:
			return n, err
		}
	}
	return 0, io.ErrNoProgress
}

// Unexpected returns err, or io.ErrUnexpectedEOF instead of io.EOF.
func Unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// mostEmpty is how many reads in a row may return nothing.
const mostEmpty = 100
