package nocopy

import (
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// Error reports bytes that are not a message of the expected type: where, and why. *Error is an
// error, and errors.As finds it. Its method Error returns the path, if there is one, the offset
// and the reason; its method Unwrap returns the reason. Error is a struct:
//
//	type Error struct {
//		Offset int    // in bytes from the beginning of the message
//		Path   string // of the value, such as "Request.user.tags[3]"
//		Err    error  // the reason: io.ErrUnexpectedEOF or one of the errors below, for errors.Is
//	}
type Error = wire.Error

// The reasons in an Error. For a message that ends too early the reason is io.ErrUnexpectedEOF.
var (
	ErrMissingRequired = wire.ErrMissingRequired
	ErrLimit           = wire.ErrLimit    // limit exceeded
	ErrType            = wire.ErrType     // no such wire type
	ErrNegative        = wire.ErrNegative // negative length
	ErrTrailing        = wire.ErrTrailing // bytes after the end of the message
	ErrUTF8            = wire.ErrUTF8     // string is not UTF-8
	ErrNotFound        = wire.ErrNotFound // no such field or element
	ErrIndex           = wire.ErrIndex    // no index that fits the message
)

// IndexError is the value of the panic when a program uses an index out of range. It is a
// runtime.Error, as that of a slice is, and a struct with the ints Index and Len. For Float64List,
// errors.As finds it in the panic's value. At of the zero handle of a list of numbers panics with
// another runtime.Error.
type IndexError = engine.IndexError

// BoundsError is the value of the panic when a program deletes elements out of range. It is a
// runtime.Error, as that of a slice is, and a struct with the ints Low, High and Len.
type BoundsError = engine.BoundsError
