package wire

import (
	"errors"
	"fmt"
	"io"
)

// Error reports bytes that are not a message of the expected type: where, and why.
type Error struct {
	Offset int    // in bytes from the beginning of the message
	Path   string // of the value, such as "Request.user.tags[3]"
	Err    error  // the reason
}

// Error returns the path, if there is one, the offset and the reason.
func (e *Error) Error() string {
	if e.Path == "" {
		return fmt.Sprintf("nocopy: offset %d: %v", e.Offset, e.Err)
	}
	return fmt.Sprintf("nocopy: %s: offset %d: %v", e.Path, e.Offset, e.Err)
}

// Unwrap returns the reason.
func (e *Error) Unwrap() error { return e.Err }

// The reasons for refusing bytes. Package nocopy documents these errors. If
// bytes are missing at the end, the reason is io.ErrUnexpectedEOF.
var (
	ErrMissingRequired = errors.New("required field is missing")
	ErrLimit           = errors.New("limit exceeded")
	ErrType            = errors.New("no such wire type")
	ErrNegative        = errors.New("negative length")
	ErrTrailing        = errors.New("bytes after the end of the message")
	ErrUTF8            = errors.New("string is not UTF-8")
	ErrNotFound        = errors.New("no such field or element")
	ErrIndex           = errors.New("no index that fits the message")
)

// ErrNoBytes is the reason for refusing an empty input.
var ErrNoBytes = fmt.Errorf("no bytes: %w", io.ErrUnexpectedEOF)

// LimitError returns an ErrLimit that says which limit.
func LimitError(what string) error { return fmt.Errorf("%w: %s", ErrLimit, what) }

// TypeError returns an ErrType that says which type code.
func TypeError(t Type) error { return fmt.Errorf("%w: %d", ErrType, t) }
