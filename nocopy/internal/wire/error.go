package wire

import (
	"errors"
	"fmt"
)

// The reasons for refusing bytes. Package nocopy documents these errors and adds the place. If
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

// LimitError returns an ErrLimit that says which limit.
func LimitError(what string) error { return fmt.Errorf("%w: %s", ErrLimit, what) }

// TypeError returns an ErrType that says which type code.
func TypeError(t Type) error { return fmt.Errorf("%w: %d", ErrType, t) }
