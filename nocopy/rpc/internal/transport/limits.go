package transport

import (
	"math"

	"github.com/nocopythrift/nocopythrift/internal/memory"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/impl"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/message"
)

const (
	defaultMaxFrame   = 16_384_000 // as Apache's
	defaultMaxMessage = impl.DefaultMaxBytes
)

// Limits bound the messages that a client or a server accepts.
type Limits struct {
	Frame   int           // at most so many bytes in a frame, without its length
	Message int           // at most so many bytes in an unframed message
	Parse   nocopy.Limits // for the struct
	Name    string        // of the setting that Frame and Message come from, for errors
}

// LimitsOf returns the limits for the settings MaxFrame and Limits. If maxFrame is 0, the bound is
// the field MaxBytes of parse and room for a header; if that is 0 too, the default. name is
// MaxFrame's name, for errors.
func LimitsOf(maxFrame int, parse nocopy.Limits, name string) Limits {
	l := Limits{defaultMaxFrame, defaultMaxMessage, parse, name}
	const most = min(math.MaxInt32, memory.MaxSize)
	switch {
	case maxFrame > 0:
		l.Frame = min(maxFrame, most)
		l.Message = l.Frame
	case parse.MaxBytes > 0:
		l.Frame = min(parse.MaxBytes, most-message.MaxHeader) + message.MaxHeader
		l.Message = l.Frame
	}
	return l
}
