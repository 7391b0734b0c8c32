package jsonvalue

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// The options, which package nocopyjson documents.
const (
	Int64Strings engine.JSONOption = 1 << iota
	ZeroValues
	AllowUnknown
	ReplaceInvalidUTF8
)

// The reasons for refusing a text, which package nocopyjson documents.
var (
	ErrSyntax       = errors.New("not JSON")
	ErrValue        = errors.New("value of another type")
	ErrUnknownField = errors.New("unknown field")
	ErrDuplicate    = errors.New("name or key comes twice")
)

// Append appends m as JSON to dst. It appends nothing if there is an error.
func Append(dst []byte, m nocopy.AnyStruct, opts []nocopy.Option) ([]byte, error) {
	return appendStruct(dst, m.ThriftStruct(), m.ThriftDesc(), written(opts))
}

// Read returns a new message, which d describes, from a JSON text.
func Read(d *schema.Struct, text []byte, opts []nocopy.Option) (nocopy.Struct, error) {
	s, err := read(d, text, readingBy(opts))
	return nocopy.Struct(s), err
}

// MaxBytes returns how many bytes a text may have by the options.
func MaxBytes(opts []nocopy.Option) int { return readingBy(opts).limits.MaxBytes }

// written returns the options for writing.
func written(opts []nocopy.Option) (o writing) {
	for _, opt := range opts {
		switch opt := opt.(type) {
		case engine.JSONOption:
			o.int64Strings = o.int64Strings || opt&Int64Strings != 0
			o.zeroValues = o.zeroValues || opt&ZeroValues != 0
			o.replaceInvalid = o.replaceInvalid || opt&ReplaceInvalidUTF8 != 0
		case nocopy.Limits:
			o.maxBytes = max(opt.MaxBytes, 0)
		case engine.Flags: // of messages that are read
		default:
			engine.RefuseOption(opt)
		}
	}
	return o
}

// reading is how a text is read.
type reading struct {
	allowUnknown   bool
	repeatUnknown  bool // duplicate names are allowed, except for fields and keys
	replaceInvalid bool
	flags          engine.Flags // Recycle or none
	limits         nocopy.Limits
}

// readingBy returns the options for reading.
func readingBy(opts []nocopy.Option) reading {
	o := reading{limits: nocopy.Limits{MaxBytes: wire.DefaultMaxBytes, MaxDepth: wire.DefaultMaxDepth}}
	for _, opt := range opts {
		switch opt := opt.(type) {
		case engine.JSONOption:
			o.allowUnknown = o.allowUnknown || opt&AllowUnknown != 0
			o.replaceInvalid = o.replaceInvalid || opt&ReplaceInvalidUTF8 != 0
		case nocopy.Limits:
			if opt.MaxBytes > 0 {
				o.limits.MaxBytes = opt.MaxBytes
			}
			if opt.MaxDepth > 0 {
				o.limits.MaxDepth = opt.MaxDepth
			}
			o.limits.MaxIndex = opt.MaxIndex
		case engine.Flags:
			o.flags |= opt & nocopy.Recycle
		default:
			engine.RefuseOption(opt)
		}
	}
	return o
}

func limitError(what string) error { return fmt.Errorf("%w: %s", nocopy.ErrLimit, what) }

func tooLong(most int) error {
	return limitError("text of more than Limits.MaxBytes = " + strconv.Itoa(most) + " bytes")
}
