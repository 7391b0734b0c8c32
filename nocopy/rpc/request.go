package rpc

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/message"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// request is a call that a server has read, until its reply is written. states.md has its states
// as a table.
type request struct {
	method *Method // nil if it is answered without a handler
	call   Call    // what the handler gets, unless there are interceptors
	args   *nocopy.Message
	// Nil if there is none, if it has become the reply, or if tries holds it
	result    *nocopy.Message
	tries     *serverTries // nil if there are no interceptors
	stillUsed bool         // handlers are running that the interceptors did not wait for
	order     uint64       // its place among the requests of its connection that need a reply
	strict    bool         // its header was strict, so the reply's is
	seqid     int32
	reply     *nocopy.Message // nil if there is none
	began     time.Time       // when the handler was called, if the method is slow; else zero
}

var requests = sync.Pool{New: func() any { return new(request) }}

// newRequest returns a request with the header's form and sequence id.
func (c *serverConn) newRequest(h message.Header) *request {
	req := requests.Get().(*request)
	req.strict, req.seqid = h.Strict, h.SeqID
	return req
}

// process handles a message that was received, with its header h and the bytes after that. It
// reports whether the calling goroutine is still the reader and may receive another request.
func (c *serverConn) process(h message.Header, chunk chain.Chunk) bool {
	m, refusal := c.methodOf(h)
	if refusal != nil {
		h.Name = bytes.Clone(h.Name) // parseArgs releases the chunk, which holds it
	}
	args, err := c.parseArgs(m, chunk)
	switch {
	case refusal != nil:
		return c.refuse(h, refusal, false)
	case err != nil: // the call's end is known, so that the next one can be found
		h.Name = []byte(m.Name)
		return c.refuseBad(h, m, err)
	}
	req := c.newRequest(h)
	req.method, req.args = m, args
	arrived := c.in.Arrived // another goroutine may be the reader from now on
	readerID := c.admit(req, true)
	c.handle(req, readerID, arrived)
	return c.complete(req, readerID)
}

// methodOf returns the method that a message calls. If there is none, it returns the answer.
func (c *serverConn) methodOf(h message.Header) (*Method, *ApplicationException) {
	m := c.srv.method(h)
	switch {
	case !h.IsRequest():
		return nil, &ApplicationException{InvalidMessageType, fmt.Sprintf("%d", h.Type)}
	case m == nil:
		return nil, &ApplicationException{UnknownMethod, string(h.Name)}
	}
	return m, nil
}

// refuse answers a message with e instead of handling it, and returns what keepReading does. With
// noMore no more requests are handled.
func (c *serverConn) refuse(h message.Header, e *ApplicationException, noMore bool) bool {
	c.in.Stats.Refused(int32(e.Type))
	req := c.newRequest(h)
	c.admit(req, false)
	c.answer(req, e, c.bareName(h.Name))
	return c.completeUnhandled(req, noMore)
}

// refuseBad refuses a call of m, nil for an unknown method, that is malformed or too large, as err
// tells, and whose end is known. The requests after it are handled. A oneway call is not answered:
// its client would take the answer for that to its next call.
func (c *serverConn) refuseBad(h message.Header, m *Method, err error) bool {
	c.srv.log(slog.LevelWarn, "call refused", "peer", c.peer, "method", string(h.Name), "err", err)
	e := protocolError(err)
	if h.Type == message.Oneway || m != nil && m.Oneway() {
		c.in.Stats.Refused(int32(e.Type))
		return c.keepReading()
	}
	return c.refuse(h, e, false)
}

// bareName returns the name of a method for a reply: without the service's name and the colon that
// multiplexing clients put before it. No name of a method in an IDL has a colon.
func (c *serverConn) bareName(name []byte) string {
	if m := c.srv.Processor.methods[string(name)]; m != nil {
		return m.Name
	}
	return string(name[bytes.LastIndexByte(name, ':')+1:])
}

// protocolError returns the answer to a message of which err says what is wrong.
func protocolError(err error) *ApplicationException {
	var internal *ApplicationException
	if errors.As(err, &internal) {
		return internal
	}
	return &ApplicationException{ProtocolError, err.Error()}
}

// parseArgs parses the arguments of a call of m, which begin chunk, and takes that over. Those of
// an unknown method, nil, it passes over.
func (c *serverConn) parseArgs(m *Method, chunk chain.Chunk) (_ *nocopy.Message, err error) {
	defer c.guard(&err)
	var args *thriftimpl.Desc
	lazy := c.srv.Lazy
	if m != nil {
		args, lazy = m.Args, lazy || m.lazy
	}
	return c.in.TakeStruct(chunk, args, c.srv.Limits, c.srv.recycle, lazy)
}

// oneway reports whether the request is a oneway call, which has no reply.
func (r *request) oneway() bool { return r.method != nil && r.method.Oneway() }

// release frees the request and its messages, but those that handlers are still using.
func (r *request) release() {
	if r.reply != nil {
		thriftimpl.End(r.reply)
	}
	if r.tries != nil {
		r.tries.end(r.args, r.stillUsed)
	} else {
		if r.args != nil {
			thriftimpl.End(r.args)
		}
		if r.result != nil {
			thriftimpl.End(r.result)
		}
		r.call.endForwarded()
	}
	*r = request{}
	requests.Put(r)
}
