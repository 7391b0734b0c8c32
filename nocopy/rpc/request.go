package rpc

import (
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/nocopythrift/nocopythrift/linkbuf"
	"github.com/nocopythrift/nocopythrift/nocopy"
)

// request is a call that was read, on its way through the handler to its reply.
type request struct {
	call   Call
	order  uint64
	strict bool
	seqid  int32
	reply  *nocopy.Message // nil: there is none
	began  time.Time       // set if the method is known to be slow
}

var requests = sync.Pool{New: func() any { return new(request) }}

func (c *serverConn) newRequest(h header) *request {
	req := requests.Get().(*request)
	req.strict, req.seqid = h.strict, h.seqid
	return req
}

// process handles the message that was read, and reports whether the goroutine is still the reader.
func (c *serverConn) process(h header, chunk linkbuf.Chunk) bool {
	req := c.newRequest(h)
	var refusal *ApplicationException
	m := c.srv.Processor.methods[string(h.name)]
	switch {
	case h.typ != typeCall && h.typ != typeOneway:
		refusal = &ApplicationException{InvalidMessageType, fmt.Sprintf("%d", h.typ)}
	case m == nil:
		refusal = &ApplicationException{UnknownMethod, string(h.name)}
	}
	if refusal != nil {
		name := string(h.name)
		c.discard(chunk)
		c.admit(req, false)
		c.answer(req, refusal, name)
		return c.finish(req, false)
	}
	args, err := c.parse(m.Args, chunk)
	if err != nil {
		c.logEnd(err)
		c.admit(req, false)
		c.answer(req, &ApplicationException{ProtocolError, err.Error()}, m.Name)
		return c.finish(req, true)
	}
	req.call = Call{Method: m, Args: args, Peer: c.nc.RemoteAddr()}
	turn := c.admit(req, true)
	c.run(req)
	return c.complete(req, turn)
}

// parse makes a message of the struct at the beginning of the chunk; what follows is kept for next.
func (c *serverConn) parse(d *nocopy.Desc, chunk linkbuf.Chunk) (nocopy.Struct, error) {
	whole := chunk.From(0)
	args, err := nocopy.ParseChunk(d, chunk, c.srv.Limits, c.srv.Recycle)
	if err != nil && errors.Is(err, nocopy.ErrTrailing) {
		return c.parseFirst(d, whole, err)
	}
	whole.Release()
	return args, err
}

// parseFirst is parse for a frame in which something follows, as err says.
func (c *serverConn) parseFirst(d *nocopy.Desc, whole linkbuf.Chunk, err error) (nocopy.Struct, error) {
	var trailing *nocopy.Error
	errors.As(err, &trailing)
	c.in.rest = whole.From(trailing.Offset)
	whole.Mem = whole.Mem[:trailing.Offset]
	return nocopy.ParseChunk(d, whole, c.srv.Limits, c.srv.Recycle)
}

// discard passes over the struct at the beginning of the chunk; what follows is kept for next.
func (c *serverConn) discard(chunk linkbuf.Chunk) {
	c.in.scan.Reset(c.in.limits.parse.MaxDepth)
	if end, _, err := c.in.scan.Scan(chunk.Mem); err == nil && 0 < end && end < len(chunk.Mem) {
		c.in.rest = chunk.From(end)
	}
	chunk.Release()
}

// run calls the handler and prepares the reply.
func (c *serverConn) run(req *request) {
	call := &req.call
	m := call.Method
	call.Result = nocopy.Absent()
	if !m.Oneway() {
		call.Result = c.newResult(m)
	}
	err := c.handle(call)
	if err == nil {
		if !m.Oneway() {
			req.reply = call.Result.Message()
			c.seal(req, typeReply, m.Name)
		}
		return
	}
	if m.Oneway() {
		c.srv.logger().Error("rpc: oneway call failed", "method", m, "peer", call.Peer, "err", err)
		return
	}
	c.replyError(req, err)
}

func (c *serverConn) newResult(m *Method) nocopy.Struct {
	return nocopy.NewWithRoom(m.Result, roomFor(len(m.Name)), c.srv.Recycle)
}

// handle calls the handler and turns a panic into an error.
func (c *serverConn) handle(call *Call) (err error) {
	defer func() {
		if v := recover(); v != nil {
			c.srv.logger().Error("rpc: handler panicked", "method", call.Method, "peer", call.Peer, "panic", v, "stack", string(debug.Stack()))
			err = fmt.Errorf("panic: %v", v)
		}
	}()
	return c.srv.handle(c.ctx, call)
}

// replyError makes a reply of a handler's error.
func (c *serverConn) replyError(req *request, err error) {
	m := req.call.Method
	// What the handler has put into the result does not go out.
	result := c.newResult(m)
	for i := range m.Throws {
		if m.Throws[i].set(result, m.Result, err) {
			req.reply = result.Message()
			req.call.Result.Message().Release()
			req.call.Result = result
			c.seal(req, typeReply, m.Name)
			return
		}
	}
	result.Release()
	var ae *ApplicationException
	if !errors.As(err, &ae) {
		ae = &ApplicationException{InternalError, err.Error()}
	}
	req.call.Result.Message().Release()
	c.answer(req, ae, m.Name)
}

// answer makes the exception the reply.
func (c *serverConn) answer(req *request, e *ApplicationException, name string) {
	if len(name) > maxName {
		name = name[:maxName]
	}
	req.reply = e.message(roomFor(len(name)))
	c.seal(req, typeException, name)
}

// seal puts the header in front of the reply and finishes it.
func (c *serverConn) seal(req *request, typ messageType, name string) {
	putHeader(req.reply.Prepend(headerSize(req.strict, len(name))), req.strict, typ, "", name, req.seqid)
	req.reply.Finish()
}

// oneway says whether a request is a call without a reply.
func (r *request) oneway() bool { return r.call.Method != nil && r.call.Method.Oneway() }

// release gives back what the request and its reply were made of.
func (r *request) release() {
	if r.reply != nil {
		r.reply.Release()
	}
	if r.call.Method != nil {
		r.call.Args.Message().Release()
	}
	*r = request{}
	requests.Put(r)
}
