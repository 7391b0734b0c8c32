package rpc

import (
	"bytes"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/nocopy"
)

// request is a call that was read, on its way through the handler to its reply. Package rpc's
// documentation has its states as a table.
type request struct {
	method   *Method // nil: it is answered without a handler
	call     Call    // what the handler gets, unless there are interceptors
	args     *nocopy.Message
	result   *nocopy.Message // nil: there is none, or it is the reply, or attempts has it
	attempts *attempts       // nil: there are no interceptors
	inUse    bool            // handlers are still running that interceptors have not waited for
	order    uint64
	strict   bool
	seqid    int32
	reply    *nocopy.Message // nil: there is none
	began    time.Time       // set if the method is known to be slow
}

var requests = sync.Pool{New: func() any { return new(request) }}

func (c *serverConn) newRequest(h header) *request {
	req := requests.Get().(*request)
	req.strict, req.seqid = h.strict, h.seqid
	return req
}

// process handles the message that was read, and reports whether the goroutine is the reader and
// may receive another.
func (c *serverConn) process(h header, chunk chain.Chunk) bool {
	m := c.srv.Processor.methods[string(h.name)]
	var refusal *ApplicationException
	switch {
	case h.typ != typeCall && h.typ != typeOneway:
		refusal = &ApplicationException{InvalidMessageType, fmt.Sprintf("%d", h.typ)}
	case m == nil:
		refusal = &ApplicationException{UnknownMethod, string(h.name)}
	}
	if refusal != nil {
		h.name = bytes.Clone(h.name)
		c.discard(chunk)
		return c.refuse(h, refusal, false)
	}
	args, err := c.parse(m.Args, chunk)
	if err != nil {
		c.logEnd(err)
		h.name = []byte(m.Name) // it was in the chunk
		return c.refuse(h, protocolError(err), true)
	}
	req := c.newRequest(h)
	req.method, req.args = m, args
	turn := c.admit(req, true)
	c.handle(req, turn)
	return c.complete(req, turn)
}

// refuse answers a message that is not handled, and returns what goOn does. With last it is the
// last one.
func (c *serverConn) refuse(h header, e *ApplicationException, last bool) bool {
	req := c.newRequest(h)
	c.admit(req, false)
	c.answer(req, e, c.bareName(h.name))
	return c.finish(req, last)
}

// bareName returns the name of a method as it stands in replies: without the service that the
// client may have put before it. Only names that are not known are looked at: in an IDL no
// method's has a colon.
func (c *serverConn) bareName(name []byte) string {
	if m := c.srv.Processor.methods[string(name)]; m != nil {
		return m.Name
	}
	return string(name[bytes.LastIndexByte(name, ':')+1:])
}

// protocolError returns the answer to a message that can't be understood.
func protocolError(err error) *ApplicationException {
	var internal *ApplicationException
	if errors.As(err, &internal) {
		return internal
	}
	return &ApplicationException{ProtocolError, err.Error()}
}

// parse makes a message of the struct at the beginning of the chunk; what follows is kept for
// next.
func (c *serverConn) parse(d *nocopy.Desc, chunk chain.Chunk) (args *nocopy.Message, err error) {
	defer c.guard(&err)
	whole := chunk.From(0)
	args, err = nocopy.ParseHeld(d, chunk, c.srv.Limits, c.srv.Recycle)
	if err != nil && errors.Is(err, nocopy.ErrTrailing) {
		return c.parseFirst(d, whole, err)
	}
	whole.Release()
	return args, err
}

// parseFirst is parse for a frame in which something follows, as err says.
func (c *serverConn) parseFirst(d *nocopy.Desc, whole chain.Chunk, err error) (*nocopy.Message, error) {
	var trailing *nocopy.Error
	errors.As(err, &trailing)
	c.in.rest = whole.From(trailing.Offset)
	whole.Mem = whole.Mem[:trailing.Offset]
	return nocopy.ParseHeld(d, whole, c.srv.Limits, c.srv.Recycle)
}

// discard passes over the struct at the beginning of the chunk; what follows is kept for next.
func (c *serverConn) discard(chunk chain.Chunk) {
	c.in.scan.Reset(c.in.limits.parse.MaxDepth)
	if end, _, err := c.in.scan.Scan(chunk.Mem); err == nil && 0 < end && end < len(chunk.Mem) {
		c.in.rest = chunk.From(end)
	}
	chunk.Release()
}

// oneway reports whether a request is a call without a reply.
func (r *request) oneway() bool { return r.method != nil && r.method.Oneway() }

// release gives back what the request and its reply were made of, but for what handlers are still
// using.
func (r *request) release() {
	if r.reply != nil {
		r.reply.End()
	}
	end := (*nocopy.Message).End
	if r.inUse {
		end = (*nocopy.Message).Abandon
	}
	if r.args != nil {
		end(r.args)
	}
	if r.result != nil {
		end(r.result)
	}
	if r.attempts != nil {
		for _, m := range r.attempts.results {
			end(m)
		}
	}
	*r = request{}
	requests.Put(r)
}
