package server

import (
	"time"

	"github.com/nocopythrift/nocopythrift/internal/memory"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/impl"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/message"
)

// process handles a message that was received, with its header h and the bytes after that. It
// reports whether the calling goroutine is still the reader and may receive another request.
func (c *connection) process(h *message.Header, chunk memory.Chunk) bool {
	charge := c.in.TakeCharge()
	req, refusal := c.srv.Calls.Begin(&c.Origin, *h)
	args, err := c.parseArgs(req, chunk)
	if refusal != nil || err != nil {
		chunk.Release()
		charge.End()
	}
	switch {
	case refusal != nil:
		if !h.IsRequest() {
			c.logRefused(req.Name, refusal)
		}
		return c.refuse(req, refusal, false)
	case err != nil: // the call's end is known: the next one can be found
		return c.refuseBad(req, h.Type, req.Name, err)
	}
	req.charge = charge
	req.charge.Add(impl.IndexSize(args))
	req.Call.Head(h.Headers, chunk.First(args.Len()))
	req.Call.Take(args)
	chunk.Release()
	arrived := c.in.Arrived // another goroutine may be the reader from now on
	turn, admitted := c.enter(req)
	if !admitted {
		return c.complete(req, c.count(req))
	}
	readerID := c.begin(req, turn != nil)
	c.handle(req, turn, readerID, arrived)
	return c.complete(req, readerID)
}

// refuse answers a request that is not handled because of err, and returns the result of
// keepReading. With noMore no more requests are handled.
func (c *connection) refuse(req *Request, err error, noMore bool) bool {
	req.Oneway, req.Result = false, nil
	req.Call.Refused(err)
	req.Call.Answer(err)
	c.count(req)
	c.mu.Lock()
	c.noMore = c.noMore || noMore
	c.addReply(req)
	c.flush()
	c.mu.Unlock()
	return c.keepReading()
}

// refuseBad refuses a call that is malformed or too large, as err says, and whose end is known:
// the requests after it are handled. typ and name are its header's. A oneway call is not answered:
// its client would take the answer for the answer to its next call.
func (c *connection) refuseBad(req *Request, typ message.Type, name string, err error) bool {
	c.logRefused(name, err)
	if req.isOneway(typ) {
		req.Call.Refused(err)
		req.release()
		c.flushHeld() // to be written with the reply to this call
		return c.keepReading()
	}
	return c.refuse(req, err, false)
}

// enter gives a request a place among those that are handled, or a turn to wait for one. If it
// must not be handled, enter turns it away and reports false.
func (c *connection) enter(req *Request) (turn *turn, admitted bool) {
	if c.srv.admission == nil {
		return nil, true
	}
	decided := false
	defer func() {
		if !decided { // a function of Stats, or the logger, ends the goroutine
			req.release()
		}
	}()
	turn, err := c.srv.admission.enter(req)
	if err != nil {
		c.turnAway(req, err)
	}
	decided = true
	return turn, err == nil
}

// turnAway notes that a request is not handled since too many calls are under way. Nothing is
// wrong with it, and there may be many of them: its reply is made when it can be written.
func (c *connection) turnAway(req *Request, err error) {
	req.Result, req.turnedAway = nil, err
	req.Call.Refused(err)
	req.charge.End()
}

// parseArgs parses the arguments of a request at the beginning of chunk. If their type is not
// known, it passes over them.
func (c *connection) parseArgs(req *Request, chunk memory.Chunk) (_ *nocopy.Message, err error) {
	defer c.guard(&err)
	return c.in.ParseStruct(chunk, req.Args, c.srv.Limits, c.srv.Recycle, req.Lazy)
}

// handle calls the handler of a request, with its interceptors, and sets the reply. There is
// always a reply afterwards, even if they panic, or if methods of values that they return do. If
// they end the goroutine, another one becomes the reader. A request with a turn waits for its
// place first, and may be refused. readerID is begin's result. arrived is when the request's last
// bytes arrived, if stats wants to know.
func (c *connection) handle(req *Request, turn *turn, readerID uint64, arrived time.Time) {
	returned, reported := false, false
	defer func() {
		if returned && reported {
			return
		}
		if !returned && !req.Failed { // a panic on the way out has been answered
			req.Call.Panicked("the handler has ended its goroutine, as runtime.Goexit does")
		}
		c.handOver(readerID)
		c.complete(req, readerID)
	}()
	if turn != nil {
		ctx := c.Ctx
		if req.Oneway {
			ctx = c.Oneway
		}
		if err := c.wait(ctx, req, turn); err != nil {
			c.turnAway(req, err)
			returned, reported = true, true
			return
		}
	}
	defer func() {
		c.Stats.InFlight(-1)
		req.leave()
		reported = true // else it has ended the goroutine
	}()
	c.Stats.Queued(arrived)
	c.Stats.InFlight(1)
	req.Call.Handle()
	returned = true
}
