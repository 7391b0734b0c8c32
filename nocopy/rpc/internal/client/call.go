package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/nocopythrift/nocopythrift/internal/memory"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/header"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/message"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// Carrier carries calls to a server, and the replies to them back: over a pool of connections
// (Pool), by HTTP (HTTP), or by a function of the program (Alone). Any number of goroutines may
// use one.
type Carrier interface {
	// HasHeaders reports whether there is a place for the headers of calls and replies. Otherwise
	// they are in a field of the struct.
	HasHeaders() bool
	// Enter waits until there are fewer calls in flight than allowed, and counts one more, which
	// Leave ends. It returns early when ctx ends or returned is closed.
	Enter(ctx context.Context, returned <-chan struct{}) error
	Leave()
	// Carry sends a call once, and returns the reply, whose Body the caller must parse or release. It
	// returns early when ctx ends or returned is closed. The caller must keep the arguments until
	// it returns. A *message.Refusal is the error of a call whose reply is not for it. Every other
	// error is to be put after the name of the method.
	Carry(ctx context.Context, returned <-chan struct{}, c Call) (Reply, error)
}

// Call is a call that is to be carried.
type Call struct {
	Method  Method
	Of      any           // the same method, as the Carrier's user has it
	Args    nocopy.Struct // complete
	Fields  []Field       // sent after the arguments' own
	Headers header.List   // sent in the transport's place for them
	Began   time.Time     // when the call began, if Stats wants to know
}

// Method is the method that is called, as connections know it.
type Method struct {
	Prefix, Name string           // together they are the name in the call's header
	Args, Result *thriftimpl.Desc // Result is nil if the method is oneway
}

// IsOneway reports whether no reply is for calls of the method.
func (m *Method) IsOneway() bool { return m.Result == nil }

// messageType returns the type of calls.
func (m *Method) messageType() message.Type {
	if m.IsOneway() {
		return message.Oneway
	}
	return message.Call
}

// Field is a field that is sent with a call's arguments. It replaces the arguments' field with
// its id.
type Field struct {
	ID   int16
	Wire []byte // header and value; empty: the arguments' are left out
}

// Reply is a reply that has not been parsed. A oneway call has the zero Reply.
type Reply struct {
	Type        message.Type
	NameMatches bool         // its header has the name of the method that was called
	Headers     *header.List // nil if the transport has no place for them
	Body        memory.Chunk
}

// The errors of calls, as package rpc has them.
var (
	ErrClosed     = errors.New("client closed")
	ErrNotSent    = errors.New("the call was not sent")
	ErrNotHandled = errors.New("the server has not handled the call")
	ErrConnLost   = errors.New("connection lost")
	ErrBadReply   = errors.New("bad reply")
)

// ErrReturned is the error of a try of a call that has returned meanwhile.
var ErrReturned = errors.New("the call has returned")

// ErrNoOther is the error of a Pool of one connection after that.
var ErrNoOther = errors.New("the connection has ended, and the client makes no other")

var (
	// errBroken is the cause of a connection's failure when one of its goroutines was ended.
	errBroken = errors.New("a function of Stats, or the net.Conn, has panicked or ended a goroutine")
	// errServerClosed is the cause of a connection's failure at the end of the stream.
	errServerClosed = fmt.Errorf("closed by the server: %w", io.EOF)
	// errRetired is the cause of the end of a connection that the client closes because it is idle or
	// old, or that failed and is not used any more.
	errRetired = errors.New("closed by the client, being idle or old")
	// errDialEnded is the error of a Dialer, or of functions of a tls.Config, that did not return.
	errDialEnded = errors.New("dialling has ended its goroutine, as runtime.Goexit does")
)

// BadReply returns the error of a call whose reply is malformed or too large.
func BadReply(err error) error { return fmt.Errorf("%w: %w", ErrBadReply, err) }

// badSequenceID returns the error of a call that another call's reply has ended.
func badSequenceID(reply, call int32) error {
	return &message.Refusal{Type: message.BadSequenceID, Text: fmt.Sprintf("reply %d to call %d", reply, call)}
}
