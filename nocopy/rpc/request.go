package rpc

import (
	"bytes"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/nocopy"
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
func (c *serverConn) newRequest(h header) *request {
	req := requests.Get().(*request)
	req.strict, req.seqid = h.strict, h.seqid
	return req
}

// process handles a message that was received, with its header h and the bytes after that. It
// reports whether the calling goroutine is still the reader and may receive another request.
func (c *serverConn) process(h header, chunk chain.Chunk) bool {
	m := c.srv.method(h)
	var refusal *ApplicationException
	switch {
	case !h.isRequest():
		refusal = &ApplicationException{InvalidMessageType, fmt.Sprintf("%d", h.typ)}
	case m == nil:
		refusal = &ApplicationException{UnknownMethod, string(h.name)}
	}
	if refusal != nil {
		h.name = bytes.Clone(h.name)
		c.discard(chunk)
		return c.refuse(h, refusal, false)
	}
	args, err := c.parseArgs(m, chunk)
	if err != nil { // the call's end is known, so that the next one can be found
		h.name = []byte(m.Name) // parseArgs has released the chunk, which held the name
		return c.refuseBad(h, m, err)
	}
	req := c.newRequest(h)
	req.method, req.args = m, args
	arrived := c.in.arrived // another goroutine may be the reader from now on
	readerID := c.admit(req, true)
	c.handle(req, readerID, arrived)
	return c.complete(req, readerID)
}

// refuse answers a message with e instead of handling it, and returns what keepReading does. With
// noMore no more requests are handled.
func (c *serverConn) refuse(h header, e *ApplicationException, noMore bool) bool {
	c.in.stats.refused(e.Type)
	req := c.newRequest(h)
	c.admit(req, false)
	c.answer(req, e, c.bareName(h.name))
	return c.completeUnhandled(req, noMore)
}

// refuseBad refuses a call of m, nil for an unknown method, that is malformed or too large, as err
// tells, and whose end is known. The requests after it are handled. A oneway call is not answered:
// its client would take the answer for that to its next call.
func (c *serverConn) refuseBad(h header, m *Method, err error) bool {
	c.srv.log(warn, "call refused", "peer", c.peer, "method", string(h.name), "err", err)
	e := protocolError(err)
	if h.typ == typeOneway || m != nil && m.Oneway() {
		c.in.stats.refused(e.Type)
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

// parseArgs parses the struct at the beginning of chunk, which it takes over. Bytes after the
// struct are the next message of a frame: they are kept for receiver.next. If the struct is so
// malformed that its end can't be found, they are dropped.
func (c *serverConn) parseArgs(m *Method, chunk chain.Chunk) (args *nocopy.Message, err error) {
	defer c.guard(&err)
	whole := chunk.From(0)
	args, err = thriftimpl.ParseHeld(m.Args, chunk, c.srv.Limits, c.srv.recycle, c.srv.Lazy || m.lazy)
	switch {
	case errors.Is(err, nocopy.ErrTrailing):
		return c.parseFirstOfFrame(m, whole, err)
	case err != nil:
		c.discard(whole)
	default:
		whole.Release()
	}
	return args, err
}

// parseFirstOfFrame parses the arguments in a frame that has more bytes after them, as err tells,
// in which their end is. The rest of the frame is kept for the next requests.
func (c *serverConn) parseFirstOfFrame(m *Method, whole chain.Chunk, err error) (*nocopy.Message, error) {
	var trailing *nocopy.Error
	errors.As(err, &trailing)
	c.in.frameRest = whole.From(trailing.Offset)
	whole.Mem = whole.Mem[:trailing.Offset]
	return thriftimpl.ParseHeld(m.Args, whole, c.srv.Limits, c.srv.recycle, c.srv.Lazy || m.lazy)
}

// discard skips the struct at the beginning of chunk, which it takes over. Bytes after the struct
// are kept for receiver.next.
func (c *serverConn) discard(chunk chain.Chunk) {
	c.in.scan.Reset(c.in.limits.parse.MaxDepth)
	if end, _, err := c.in.scan.Scan(chunk.Mem); err == nil && 0 < end && end < len(chunk.Mem) {
		c.in.frameRest = chunk.From(end)
	}
	chunk.Release()
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
