package message

import (
	"strings"

	"github.com/nocopythrift/nocopythrift/internal/entry"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// ExceptionDesc describes TApplicationException, as generated code would.
var ExceptionDesc = thriftimpl.NewExceptionDesc("TApplicationException")

const (
	exceptionEnd = entry.FirstNumber + 2 // there are two fields

	exceptionMessage = thriftimpl.Field(entry.FirstNumber<<entry.NumberShift | exceptionEnd<<entry.EndShift | uint64(nocopy.WireString)<<entry.WireShift | 1)
	exceptionType    = thriftimpl.Field((entry.FirstNumber+1)<<entry.NumberShift | exceptionEnd<<entry.EndShift | uint64(nocopy.WireI32)<<entry.WireShift | 2)
)

func init() {
	ExceptionDesc.Define(
		thriftimpl.FieldDesc{ID: 1, Name: "message", Type: thriftimpl.TypeString},
		thriftimpl.FieldDesc{ID: 2, Name: "type", Type: thriftimpl.TypeI32},
	)
}

// NewException returns a TApplicationException with as many bytes of room before it for a header.
func NewException(typ int32, text string, room int) *nocopy.Message {
	m := thriftimpl.NewForCall(ExceptionDesc, room, nocopy.Limits{}, false)
	s := thriftimpl.Struct(m.Root())
	s.SetText(exceptionMessage, text)
	s.SetInt32(exceptionType, typ)
	return m
}

// ReadException returns the type and the text of a struct that ExceptionDesc describes. They
// outlive it.
func ReadException(s nocopy.Struct) (typ int32, text string) {
	return thriftimpl.Struct(s).Int32(exceptionType), strings.Clone(thriftimpl.Struct(s).Text(exceptionMessage))
}
