package rpc

import (
	"sync"
	"time"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/header"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/message"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/transport"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// request is a call that a server has read, until its reply is written. states.md has its states
// as a table.
type request struct {
	method  *Method // nil if it is answered without a handler
	headers requestHeaders
	call    Call // what the handler gets, unless there are interceptors
	args    *nocopy.Message
	// Nil if there is none, if it has become the reply, or if tries holds it
	result    *nocopy.Message
	tries     *serverTries  // nil if there are no interceptors
	stillUsed bool          // handlers are running that the interceptors did not wait for
	order     uint64        // its place among the requests of its connection that need a reply
	style     message.Style // the reply has the same
	seqid     int32
	reply     *nocopy.Message   // nil if there is none
	sent      header.List       // sent with reply, in the transport's place for headers
	encoded   transport.Encoded // the reply as it is sent, if its form is another than Thrift Binary
	began     time.Time         // when the handler was called, if the method is slow; else zero
}

var requests = sync.Pool{New: func() any { return new(request) }}

// oneway reports whether the request is a oneway call, which has no reply.
func (r *request) oneway() bool { return r.method != nil && r.method.Oneway() }

// release frees the request and its messages, except messages that handlers are still using.
func (r *request) release() {
	r.encoded.Free()
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
