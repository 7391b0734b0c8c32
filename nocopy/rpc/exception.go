package rpc

import (
	"fmt"
	"net/http"

	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/client"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/message"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/server"
)

// ExceptionType is the kind of an ApplicationException. The numbers are Thrift's.
type ExceptionType int32

// The types of ApplicationException.
const (
	UnknownException      ExceptionType = 0
	UnknownMethod         ExceptionType = 1 // the server has no such method
	InvalidMessageType    ExceptionType = 2 // neither a call nor a oneway call, or not a reply
	WrongMethodName       ExceptionType = 3 // the reply is to another method
	BadSequenceID         ExceptionType = 4 // the reply is to a call that was never made
	MissingResult         ExceptionType = 5 // neither a result nor an exception that is known
	InternalError         ExceptionType = 6 // the handler failed
	ProtocolError         ExceptionType = 7 // the arguments are malformed
	InvalidTransform      ExceptionType = 8
	InvalidProtocol       ExceptionType = 9
	UnsupportedClientType ExceptionType = 10
	LoadShedding          ExceptionType = 11 // too many calls are under way; fbthrift's, too
)

var exceptionNames = [...]string{"unknown exception", "unknown method", "invalid message type", "wrong method name", "bad sequence id",
	"missing result", "internal error", "protocol error", "invalid transform", "invalid protocol", "unsupported client type", "load shedding"}

// String returns the type in words.
func (t ExceptionType) String() string {
	if t >= 0 && int(t) < len(exceptionNames) {
		return exceptionNames[t]
	}
	return fmt.Sprintf("exception type %d", int32(t))
}

// ApplicationException is Thrift's TApplicationException. A server that has no result answers with
// it. A client's call also returns it when the reply does not answer the call.
type ApplicationException struct {
	Type    ExceptionType
	Message string
}

// Error returns the type and the message.
func (e *ApplicationException) Error() string {
	if e.Message == "" {
		return "rpc: " + e.Type.String()
	}
	return "rpc: " + e.Type.String() + ": " + e.Message
}

// Errors of bytes that are not a message. The server or client closes the connection, since it
// can't find the beginning of the next message. ErrHTTP and ErrTLS wrap ErrVersion.
var (
	ErrVersion = message.ErrVersion
	ErrHTTP    = message.ErrHTTP
	ErrTLS     = message.ErrTLS
)

// ErrServerClosed is the error of Serve after Shutdown or Close.
var ErrServerClosed = server.ErrClosed

// If a call gets no reply although its context has not ended, its error wraps one of these.
// ErrNotSent and ErrConnLost also wrap the cause, for errors.Is and errors.As: for instance
// io.EOF if the server has closed the connection, os.ErrDeadlineExceeded after StallTimeout,
// nocopy.ErrLimit if a reply without a frame was too large, or a *net.OpError.
var (
	// ErrClientClosed means that the client was closed.
	ErrClientClosed = client.ErrClosed
	// ErrNotSent means that the connection failed, or could not be made, before the whole call had
	// reached the server. The server has not begun to handle it, and the call can be made again.
	// For a call that was written, this is known only on Linux, if the server closed the
	// connection before its system had received the last byte. It does not hold for a server that
	// ends only its side of the stream, and goes on handling calls that arrive.
	ErrNotSent = client.ErrNotSent
	// ErrNotHandled means that the server, one of this package, has answered that it has not begun
	// to handle the call: too many calls are under way, see Server.MaxInFlight, or it is being shut
	// down. The call can be made again, after a pause or at another server. The error also wraps the
	// answer, an *ApplicationException of type LoadShedding or, over HTTP, an *HTTPError. Such an
	// exception alone does not say so: a handler may have returned it, after it has begun.
	ErrNotHandled = client.ErrNotHandled
	// ErrConnLost means that the connection failed after the whole call had reached the server, or
	// at an unknown point: the server may have handled the call.
	ErrConnLost = client.ErrConnLost
)

// ErrBadReply means that the reply to a call is malformed or too large, or does not answer the
// call. In the last case the error also wraps an *ApplicationException, made by the client, of
// type InvalidMessageType, WrongMethodName or BadSequenceID. If the end of a bad reply is not
// known, the connection is closed, and the error is ErrConnLost instead.
var ErrBadReply = client.ErrBadReply

// unfitting is the error of a call with a reply that does not answer it.
type unfitting struct{ ApplicationException }

func (e *unfitting) Unwrap() []error { return []error{ErrBadReply, &e.ApplicationException} }

// notHandled is an answer by which a server says that it has not handled the call.
type notHandled struct {
	ApplicationException
	method *Method // nil if it is not known
}

// Error returns the method, the type and the message.
func (e *notHandled) Error() string {
	if e.method == nil {
		return e.ApplicationException.Error()
	}
	return "rpc: " + e.method.String() + ": " + e.Type.String() + ": " + e.Message
}

func (e *notHandled) Unwrap() []error { return []error{ErrNotHandled, &e.ApplicationException} }

// HTTPError is the error of a call over HTTP that was answered with another status than 200. With
// the statuses 502, 503 and 504, which are a gateway's, the error of the call also wraps
// ErrConnLost: the server may have handled the call. If a Server of this package has answered with
// 503, it wraps ErrNotHandled instead.
type HTTPError struct {
	Status int    // such as 404
	Text   string // the first bytes of the answer's text, at most 1 KiB
}

// Error returns the status and the text.
func (e *HTTPError) Error() string {
	text := fmt.Sprintf("HTTP status %d %s", e.Status, http.StatusText(e.Status))
	if e.Text != "" {
		text += ": " + e.Text
	}
	return text
}

// newHTTPError returns the error of a response of another status than 200.
func newHTTPError(status int, text string) error { return &HTTPError{status, text} }
