package rpc

import (
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/nocopythrift/nocopythrift/internal/memory"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/impl"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/foreign"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/header"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/message"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/server"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// receivedCall is a call that a server has received, until its reply is written. states.md has its
// states as a table.
type receivedCall struct {
	server.Request
	srv     *Server
	from    *server.Origin
	method  *Method // nil if it is answered without a handler
	headers requestHeaders
	call    Call // what the handler gets, unless there are interceptors
	args    *nocopy.Message
	// Nil if there is none, if it has become the reply, or if tries holds it
	result     *nocopy.Message
	completing *nocopy.Message // a result that is being completed, which may panic; else nil
	tries      *serverTries    // nil if there are no interceptors
	stillUsed  bool            // handlers are running that the interceptors did not wait for
	notHandled bool            // the answer says that the call may be made again
	bare       bool            // the reply has no header: it is Invoke's
	expires    time.Time       // the end of the time that the client gives, if the call had to wait
}

var receivedCalls = sync.Pool{New: func() any { return new(receivedCall) }}

// GiveBack frees the request and its messages, except messages that handlers are still using.
func (r *receivedCall) GiveBack() {
	if r.completing != nil {
		thriftimpl.End(r.completing)
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
	*r = receivedCall{}
	receivedCalls.Put(r)
}

// processing is a Server's methods, as the server below calls them.
type processing struct{ srv *Server }

// Descriptor returns the descriptor of a request's arguments, nil if it is not known.
func (p processing) Descriptor(h message.Header) *thriftimpl.Desc {
	if m := p.srv.method(h); m != nil && h.IsRequest() {
		return m.Args
	}
	return nil
}

// Begin returns a request for a message with this header. The error is why it can't be handled.
func (p processing) Begin(from *server.Origin, h message.Header) (*server.Request, error) {
	r := receivedCalls.Get().(*receivedCall)
	r.srv, r.from = p.srv, from
	r.Call, r.Style, r.SeqID = r, h.Style, h.SeqID
	m := p.srv.method(h)
	r.Oneway, r.Exempt = m != nil && m.Oneway(), m != nil && m == p.srv.health
	switch {
	case !h.IsRequest():
		r.Name = p.srv.bareName(h.Name)
		return &r.Request, &ApplicationException{InvalidMessageType, fmt.Sprintf("%d", h.Type)}
	case m == nil:
		r.Name = p.srv.bareName(h.Name)
		return &r.Request, &ApplicationException{UnknownMethod, foreign.Shortened(string(h.Name), foreign.MaxName)}
	}
	r.method = m
	r.Name, r.Args, r.Result, r.Slow, r.Lazy = m.Name, m.Args, m.Result, m.slow, p.srv.Lazy || m.lazy
	return &r.Request, nil
}

// Head reads the request's headers: those in the transport's place, nil if it has none, or those
// in the arguments, with which body begins.
func (r *receivedCall) Head(l *header.List, body memory.Chunk) {
	r.headers = headersIn(l, body, r.method.Args)
}

// Expires returns when the time is over that the client has given the call; zero if it has given
// none.
func (r *receivedCall) Expires() time.Time {
	if !r.Oneway {
		r.headers.complete(r.method, r.args)
		if d, ok := parseTimeout(r.headers.list.Get(TimeoutKey)); ok && d < math.MaxInt64 {
			r.expires = time.Now().Add(d)
		}
	}
	return r.expires
}

// Take takes over the arguments.
func (r *receivedCall) Take(args *nocopy.Message) { r.args = args }

// Refused counts the request as one that is refused because of err, and frees its arguments.
func (r *receivedCall) Refused(err error) {
	r.from.Stats.Refused(int32(protocolError(err).Type))
	if r.args != nil {
		thriftimpl.End(r.args)
		r.args = nil
	}
}

// Answer makes err the reply.
func (r *receivedCall) Answer(err error) {
	e := protocolError(err)
	r.notHandled = e.Type == LoadShedding
	r.answer(e, r.Name)
}

// conceal logs an error of the call and returns what the client gets instead: a fixed text and the
// id under which the log has the error.
func (r *receivedCall) conceal(what string, err error) *ApplicationException {
	return r.srv.conceal(what, r.method, r.from.Peer, err, nil)
}

// protocolError returns the answer to a message that was refused with err.
func protocolError(err error) *ApplicationException {
	var internal *ApplicationException
	if errors.As(err, &internal) {
		return internal
	}
	var refused *message.Refusal
	if errors.As(err, &refused) {
		return &ApplicationException{ExceptionType(refused.Type), refused.Text}
	}
	return &ApplicationException{ProtocolError, err.Error()}
}

// answer makes e the reply to a request for the method name.
func (r *receivedCall) answer(e *ApplicationException, name string) {
	m := message.NewException(int32(e.Type), e.Message, message.HeaderRoom(len(name)))
	if r.notHandled {
		message.SayNotHandled(m)
	}
	r.headers.addTo(m, message.ExceptionDesc)
	r.complete(m, message.Exception, name) // its fields are never nested too deeply
	r.setReply(m)
}

// complete completes a message that is sent in reply, with its header in the reserved room. It
// returns an error if m is nested too deeply, or too large.
func (r *receivedCall) complete(m *nocopy.Message, typ message.Type, name string) error {
	if !r.bare {
		strict := r.Style.Form != message.Old
		message.PutHeader(impl.Prepend(m, message.HeaderSize(strict, len(name))), strict, typ, "", name, r.SeqID)
	}
	return m.Check()
}

// setReply makes m, which is complete, the reply.
func (r *receivedCall) setReply(m *nocopy.Message) { r.Reply, r.Sent = m, r.headers.place() }
