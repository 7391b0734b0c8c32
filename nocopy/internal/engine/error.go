package engine

import (
	"fmt"
	"strconv"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/formats"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// Error reports bytes that are not a message of the expected type: where, and why.
type Error struct {
	Offset int    // in bytes from the beginning of the message
	Path   string // of the value, such as "Request.user.tags[3]"
	Err    error  // the reason: io.ErrUnexpectedEOF or one of the errors below, for errors.Is
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

// The reasons in an Error.
var (
	ErrMissingRequired = wire.ErrMissingRequired
	ErrLimit           = wire.ErrLimit
	ErrType            = wire.ErrType
	ErrNegative        = wire.ErrNegative
	ErrTrailing        = wire.ErrTrailing
	ErrUTF8            = wire.ErrUTF8
	ErrNotFound        = wire.ErrNotFound
	ErrIndex           = wire.ErrIndex
)

// The fixed texts of panics about wrong use.
const (
	panicStale   = "nocopy: handle used after Release"
	panicEmpty   = "nocopy: empty Message used: ParseInto or NewInto fills it"
	panicAbsent  = "nocopy" + setterOnAbsent + "NewX first"
	panicTwice   = "nocopy: message released twice"
	panicGone    = "nocopy: setter called on a struct or container that is no longer in its message"
	panicNotRoot = "nocopy: Release called on a handle that is not its message's root"

	panicNotKept = "nocopy: message of this library used as one of the program's own"
	panicCopied  = "nocopy: copy of a Message used"
	panicOption  = "nocopy: an Option is a pointer, or a struct around an option: pass Limits, Lazy and so on as they are"

	setterOnAbsent = ": setter called on an absent struct or container: use "
)

func itoa(i int) string { return strconv.Itoa(i) }

// explain adds the name of the bytes' format to the error of a failed parse, if it is another
// known format. b are the first bytes of the message, and size is the size of the message.
func (e *Error) explain(b []byte, size int, d *schema.Struct) {
	e.addFormat(formats.Of(b, size, d))
}

// addFormat adds to the error what the bytes are, unless that is "".
func (e *Error) addFormat(what string) {
	if what != "" {
		e.Err = fmt.Errorf("%w; the bytes are %s", e.Err, what)
	}
}

// GenerateThisCodeAgainWithNocopyc appears in the compiler's error for code that an older version
// generated: what such code refers to as a constant is a variable of this type.
type GenerateThisCodeAgainWithNocopyc struct{}
