package server

import (
	"context"
	"log/slog"
	"net"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/nocopythrift/nocopythrift/internal/memory"
	"github.com/nocopythrift/nocopythrift/internal/shm"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/foreign"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/header"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/message"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/stats"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/transport"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// Calls are the methods that a server's clients call. Package rpc has them.
type Calls interface {
	// Descriptor returns the descriptor of the arguments of a request; nil if it is not known.
	Descriptor(h message.Header) *thriftimpl.Desc
	// Begin returns a Request for a message from that origin with this header. The error is why it
	// can't be handled: there is no such method, or the message is no call.
	Begin(from *Origin, h message.Header) (*Request, error)
}

// Call is what a Request is of, as package rpc knows it.
type Call interface {
	// Head reads the request's headers: those in the transport's place, nil if it has none, or those
	// in the arguments, with which body begins.
	Head(l *header.List, body memory.Chunk)
	// Take takes over the arguments, parsed.
	Take(args *nocopy.Message)
	// Handle calls the handler, with its interceptors, and sets the Request's Reply, unless the
	// method is oneway. It answers a panic and sets Failed then. It does not return if the handler
	// ends the goroutine, not even if a deferred function panics on the way and the panic is
	// recovered.
	Handle()
	// Panicked sets the Reply, in place of any other, if Handle did not return, with v as the cause.
	Panicked(v any)
	// Refused counts the request as one that is refused because of err, and frees its arguments.
	Refused(err error)
	// Answer sets the Reply to a request that is refused because of err.
	Answer(err error)
	// Expires returns when the time is over that the client has given the call; zero if it has given
	// none. It is asked once, when the call has to wait.
	Expires() time.Time
	// GiveBack frees the arguments and results, except those that handlers are still using. The
	// Request must not be used afterwards.
	GiveBack()
}

// Request is a message that a server has received, until its reply is written. states.md has its
// states as a table. Begin sets the first fields.
type Request struct {
	Call   Call
	Name   string           // the method's, without the service's
	Args   *thriftimpl.Desc // nil if they are not known
	Result *thriftimpl.Desc // nil if the method is oneway or not known
	Lazy   bool             // arguments are parsed as nocopy.Lazy does
	Oneway bool             // of a method that is: there is no reply
	Slow   *atomic.Bool     // the method's handler took longer than patience last time
	Style  message.Style    // the reply has the same
	SeqID  int32
	Exempt bool // it is handled however many calls are under way

	Reply  *nocopy.Message // complete, with its header; nil if there is none
	Sent   header.List     // sent with it, in the transport's place for headers
	Failed bool            // Handle has answered a panic

	turnedAway error             // set if too many calls are under way: what the reply is to be
	order      uint64            // its place among the requests of its connection that need a reply
	encoded    transport.Encoded // the reply as it is sent, if its form is another than Thrift Binary
	place      *admission        // where it has a place among the calls that are handled; else nil
	charge     transport.Charge  // for its arguments, if they were compressed
	began      time.Time         // when the handler was called, if the method is slow; else zero
}

// release frees the request and its messages, except messages that handlers are still using.
func (r *Request) release() {
	r.encoded.Free()
	if r.Reply != nil {
		thriftimpl.End(r.Reply)
	}
	r.charge.End()
	r.leave()
	of := r.Call
	*r = Request{}
	of.GiveBack()
}

// leave gives back the request's place among the calls that are handled, if it has one.
func (r *Request) leave() {
	if a := r.place; a != nil {
		r.place = nil
		a.leave()
	}
}

// Origin is where calls come from: a connection, a request of HTTP, or a single message.
type Origin struct {
	srv    *Server
	Peer   net.Addr
	Stats  *stats.Hook
	Ctx    context.Context // of calls except oneway ones
	Oneway context.Context // of oneway calls
	Shared *shm.Link       // nil if there is no shared memory
	Trusts bool            // messages in shared memory are used where they lie
}

// guard is deferred in the steps before the first request, and where arguments are parsed. It
// turns a panic into an error for the client and logs it. Only a program's functions should panic.
func (o *Origin) guard(err *error) {
	if v := recover(); v != nil {
		*err = o.srv.Conceal("request failed", o.Peer, v, debug.Stack())
	}
}

// logRefused logs that a message for the method name was refused.
func (o *Origin) logRefused(name string, err error) {
	o.srv.Log(slog.LevelWarn, "call refused", "peer", o.Peer, "method", foreign.Shortened(name, foreign.MaxName), "err", err)
}

// parse parses the arguments of a request, which are all of body, and returns them. It takes body
// over.
func (o *Origin) parse(req *Request, body memory.Chunk) (args *nocopy.Message, err error) {
	defer o.guard(&err)
	args, err = thriftimpl.ParseForCall(req.Args, body, o.srv.Limits, o.srv.Recycle, req.Lazy)
	if err == nil {
		req.Call.Take(args)
	}
	return args, err
}

// isOneway reports whether no answer must be given to a request with a header of this type.
func (r *Request) isOneway(t message.Type) bool { return t == message.Oneway || r.Oneway }
