package rpc

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/header"
)

// Limits of the headers of a request or a reply: their number, and the bytes of all names and
// values together.
const (
	MaxHeaders     = header.MaxPairs
	MaxHeaderBytes = header.MaxBytes
)

// HeaderField is the id of the field that has the headers of a call or a reply on wires without a
// place for them: a map<string,string> in the arguments or the result. Peers that do not know it
// skip it. OpenTelemetry's and SkyWalking's agents for Java use the same field. A field 8888 that
// the IDL declares belongs to the program: it is neither read nor written, and such methods have
// no headers on these wires.
const HeaderField = header.FieldID

// SetHeader returns a copy of ctx. Calls of clients with it send a header, a name and a value,
// that is not in the IDL, such as a token. It replaces an earlier one with this name. An empty
// value removes the header.
//
// Headers are sent on every wire: in a field of the arguments, see HeaderField, or in the place
// that the wire has for them. Names are compared without regard to the case of ASCII letters.
// Other programs may be stricter: the case is kept, except where HTTP changes it. Names must be
// ones that HTTP allows and has no meaning of its own for, as Content-Type; values must be
// without control characters, and must not begin or end with a space. Otherwise, and if there are
// more than MaxHeaders or MaxHeaderBytes, calls with the context fail with an error that says so,
// before anything is sent.
//
// A handler's context also has the headers of the request, see Header. Calls that the handler
// makes with it do not send these; calls of Forward do.
func SetHeader(ctx context.Context, key, value string) context.Context {
	if ctx == nil {
		panic("nocopy: rpc.SetHeader with a nil Context")
	}
	c := newHeaderContext(ctx)
	if c.h.err == nil {
		c.h.err = header.Check(key, value)
	}
	if c.h.err != nil {
		return c
	}
	c.h.set = c.h.set.With(key, value)
	c.h.err = tooLarge(c.h.set)
	return c
}

func tooLarge(l header.List) error {
	if l.TooLarge() {
		return fmt.Errorf("%d headers of %d bytes, more than %d or %d", len(l), l.Size(), MaxHeaders, MaxHeaderBytes)
	}
	return nil
}

// Header returns the value of a header, or "" if there is none. In a client, and its interceptors,
// it is the value that calls with ctx send. In a handler, and a server's interceptors, it is the
// value that the client has sent, unless SetHeader has set another one. Nothing has checked the
// client's value. If the client has sent several headers with this name, the last one counts.
func Header(ctx context.Context, key string) string {
	h := headersOf(ctx)
	if h == nil {
		return ""
	}
	if h.set.Has(key) {
		return h.set.Get(key)
	}
	return h.received.Get(key)
}

// Headers iterates over the names and values of the headers that Header returns, in no particular
// order. Names that a client has sent in several cases come once.
func Headers(ctx context.Context) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		h := headersOf(ctx)
		if h == nil {
			return
		}
		for _, p := range h.set {
			if p.Value != "" && !yield(p.Key, p.Value) {
				return
			}
		}
		for i, p := range h.received {
			if !h.set.Has(p.Key) && !h.received[i+1:].Has(p.Key) && !yield(p.Key, p.Value) {
				return
			}
		}
	}
}

// headers are the headers that a context holds. They do not change.
type headers struct {
	set      header.List // by SetHeader; with an empty value: not sent
	received header.List // of the request that is being handled
	inArgs   bool        // received are in a field of its arguments
	passedOn bool        // received are sent as well
	err      error       // why no call can be made with them
	reply    *replyState // of the call that is being handled; nil: it can't have headers
	wanted   []*ReplyHeaders
}

type headersKey struct{}

// headersOf returns what ctx knows of headers; nil if that is nothing.
func headersOf(ctx context.Context) *headers {
	h, _ := ctx.Value(headersKey{}).(*headers)
	return h
}

// headerContext is a context with headers.
type headerContext struct {
	context.Context
	h headers
}

func (c *headerContext) Value(key any) any {
	if key == (headersKey{}) {
		return &c.h
	}
	return c.Context.Value(key)
}

// newHeaderContext returns a context with the headers of ctx, which its caller may change.
func newHeaderContext(ctx context.Context) *headerContext {
	c := &headerContext{Context: ctx}
	if h := headersOf(ctx); h != nil {
		c.h = *h
	}
	return c
}

// ReplyHeaders are the headers of a reply, see ReceiveHeaders. Any number of goroutines may use
// one.
type ReplyHeaders struct {
	mu   sync.Mutex
	list header.List
}

// Get returns the value of a header, or "" if there is none. Names are as for SetHeader.
func (r *ReplyHeaders) Get(key string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.list.Get(key)
}

// All iterates over names and values. A server may have sent a name several times: then the last
// one counts.
func (r *ReplyHeaders) All() iter.Seq2[string, string] {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.list.All()
}

// ReceiveHeaders returns a copy of ctx. A call with it sets r to the headers of its reply, before
// it returns; to none if there is no reply. If an interceptor tries a call several times, the last
// try that has ended sets the headers.
//
// On wires without a place for headers, the client asks the server for them by a header of the
// call, ReplyHeadersKey. Servers of this package then send them in a field of the result,
// see HeaderField.
func ReceiveHeaders(ctx context.Context, r *ReplyHeaders) context.Context {
	if ctx == nil || r == nil {
		panic("nocopy: rpc.ReceiveHeaders with a nil Context or ReplyHeaders")
	}
	c := newHeaderContext(ctx)
	c.h.wanted = append(slices.Clip(c.h.wanted), r)
	return c
}

// ReplyHeadersKey is the name of the header by which a client asks for headers of the reply, on
// wires where peers might not expect any.
const ReplyHeadersKey = "thrift-reply-headers"

// SetReplyHeader makes the reply to the call that a handler or a server's interceptor handles
// with ctx carry a header, whether the reply is a result or an error. It replaces an earlier one
// with this name. What SetHeader says of names and values holds here, too: it returns an error if
// they can't be sent. It also returns ErrNoReplyHeaders if the client has not asked for headers
// on a wire that has no place for them, if the call is oneway, or if its reply has been made
// already.
func SetReplyHeader(ctx context.Context, key, value string) error {
	if err := header.Check(key, value); err != nil {
		return fmt.Errorf("rpc: %w", err)
	}
	h := headersOf(ctx)
	if h == nil || h.reply == nil {
		return ErrNoReplyHeaders
	}
	return h.reply.set(key, value)
}

// ErrNoReplyHeaders is the error of SetReplyHeader if the reply can't have headers.
var ErrNoReplyHeaders = errors.New("rpc: the reply to this call can't have headers, or is made already")

// replyState has the headers of a reply until it is made.
type replyState struct {
	mu     sync.Mutex
	own    header.List
	passed header.List // of the reply that Forward has received last
	closed bool        // the reply has been made
}

func (r *replyState) set(key, value string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return ErrNoReplyHeaders
	}
	list := r.own.With(key, value)
	if err := tooLarge(list); err != nil {
		return fmt.Errorf("rpc: %w", err)
	}
	r.own = list
	return nil
}

// pass sets the headers of a backend's reply. Those that the handler sets replace them.
func (r *replyState) pass(l header.List) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.passed = l
}

// close ends r and returns its headers. own reports whether some of them do not come from a
// backend.
func (r *replyState) close() (l header.List, own bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	return header.Merge(r.passed, r.own), len(r.own) > 0
}

// TimeoutKey is the name of the header with the time that was left for a call when it was sent.
// Its value has the form of grpc-timeout: one to eight digits and a unit, H, M, S, m, u or n for
// hours to nanoseconds.
const TimeoutKey = header.TimeoutKey

// SendDeadline returns a copy of ctx with the header TimeoutKey: the time until ctx's deadline,
// rounded up to eight digits. If ctx has no deadline, that header is removed: the one of a call
// that is forwarded no longer holds. The option Deadlines does this for each try of a call.
func SendDeadline(ctx context.Context) context.Context {
	if deadline, ok := ctx.Deadline(); ok {
		return SetHeader(ctx, TimeoutKey, formatTimeout(time.Until(deadline)))
	}
	return withoutDeadline(ctx)
}

func withoutDeadline(ctx context.Context) context.Context {
	if Header(ctx, TimeoutKey) != "" {
		ctx = SetHeader(ctx, TimeoutKey, "")
	}
	return ctx
}

// ReceiveDeadline returns a copy of ctx, a handler's, that ends after the time in the header
// TimeoutKey. If ctx ends earlier, or the header is not there or has another form, it ends with
// ctx. The caller must call cancel to free resources, as with context.WithTimeout.
// Server.Deadlines does this for each call.
func ReceiveDeadline(ctx context.Context) (_ context.Context, cancel context.CancelFunc) {
	d, ok := parseTimeout(Header(ctx, TimeoutKey))
	if !ok || d == math.MaxInt64 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, d)
}

var timeoutUnits = []struct {
	name byte
	unit time.Duration
}{{'n', time.Nanosecond}, {'u', time.Microsecond}, {'m', time.Millisecond}, {'S', time.Second}, {'M', time.Minute}, {'H', time.Hour}}

const maxDigits = 8

// formatTimeout returns d, rounded up, in the smallest unit in which it has up to eight digits.
func formatTimeout(d time.Duration) string {
	d = max(d, 0)
	for _, u := range timeoutUnits {
		n := d / u.unit
		if d%u.unit > 0 {
			n++
		}
		if n < 1e8 {
			return strconv.FormatInt(int64(n), 10) + string(u.name)
		}
	}
	panic("unreachable: a Duration has fewer than 1e8 hours")
}

// parseTimeout returns the time that s is, and whether it is one.
func parseTimeout(s string) (time.Duration, bool) {
	if len(s) < 2 || len(s) > maxDigits+1 {
		return 0, false
	}
	n := time.Duration(0)
	for _, c := range []byte(s[:len(s)-1]) {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = 10*n + time.Duration(c-'0')
	}
	for _, u := range timeoutUnits {
		if u.name == s[len(s)-1] {
			if n > math.MaxInt64/u.unit {
				return math.MaxInt64, true
			}
			return n * u.unit, true
		}
	}
	return 0, false
}

// sendDeadline is the interceptor of the option Deadlines.
func sendDeadline(ctx context.Context, c *Call, next Handler) error {
	if c.Method != nil && !c.Method.Oneway() {
		ctx = SendDeadline(ctx)
	} else {
		ctx = withoutDeadline(ctx)
	}
	return next(ctx, c)
}

// receiveDeadline is the interceptor of a Server's Deadlines.
func receiveDeadline(ctx context.Context, c *Call, next Handler) error {
	if c.Method.Oneway() {
		return next(ctx, c)
	}
	ctx, cancel := ReceiveDeadline(ctx)
	defer cancel()
	return next(ctx, c)
}
