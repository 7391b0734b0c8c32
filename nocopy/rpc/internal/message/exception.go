package message

import (
	"strings"

	"github.com/nocopythrift/nocopythrift/internal/entry"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/impl"
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

// notHandledID is the id of a field of a TApplicationException that only this library knows. It is
// true if the server has not begun to handle the call, and the call may be made again. A handler's
// exception never has it, also if it comes from another server.
const notHandledID = -32001

// NotHandled is how the text of such an exception, or of an answer with the status 503, ends.
const NotHandled = "; this call was not handled"

// OfHandler returns the text of a handler's error as the handler's client gets it. If it is of a
// call that the handler made and that was not handled, it does not say so of the client's call.
func OfHandler(text string) string {
	return strings.ReplaceAll(text, NotHandled, "; a call that its handler made was not handled")
}

// SayNotHandled adds to a TApplicationException that the call was not handled.
func SayNotHandled(m *nocopy.Message) {
	yes := impl.ValueOfWire(nocopy.WireBool, []byte{1})
	thriftimpl.Struct(m.Root()).AppendUnknown(ExceptionDesc, notHandledID, impl.WireValue(yes))
}

// SaysNotHandled reports whether a TApplicationException of this type says that.
func SaysNotHandled(s nocopy.Struct, typ int32) bool {
	if typ != LoadShedding {
		return false
	}
	v, _ := thriftimpl.Struct(s).FindField(notHandledID)
	return nocopy.Value(v).Bool() // false if it is of another type
}

// ReadException returns the type and the text of a struct that ExceptionDesc describes. They
// outlive it.
func ReadException(s nocopy.Struct) (typ int32, text string) {
	return thriftimpl.Struct(s).Int32(exceptionType), strings.Clone(thriftimpl.Struct(s).Text(exceptionMessage))
}
