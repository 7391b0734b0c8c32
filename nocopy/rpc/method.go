package rpc

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/impl"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/client"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/header"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// Method describes a method of a service. Generated code makes one for each.
type Method struct {
	Service string // the service that is called; it may inherit the method
	Name    string // as in the IDL
	Args    *nocopy.Desc
	Result  *nocopy.Desc // nil if the method is oneway
	// The result's field for the return value, or 0 if the method returns nothing
	Success thriftimpl.Field
	Throws  []Exception

	prefix  string  // the service's name and a colon in multiplexed calls, else ""
	raw     bool    // made by RawMethod
	lazy    bool    // a server parses its arguments lazily
	direct  bool    // interceptors are not called
	passes  *Method // for a method whose calls return results unread: the same method without that
	handler Handler
	slow    *atomic.Bool // the handler took longer than patience last time
}

// of returns the method as one of a service that declares or inherits it. Service "" leaves the
// method as it is.
func (m *Method) of(service string) *Method {
	if m.Service == service || m.raw || service == "" {
		return m
	}
	c := *m
	c.Service = service
	return &c
}

// HandledBy returns a copy of the method with h as its handler, for NewProcessor.
func (m *Method) HandledBy(h Handler) *Method {
	c := *m
	c.handler, c.slow = h, new(atomic.Bool)
	return &c
}

// Unimplemented returns the server's answer for a method without a handler: an
// ApplicationException of type UnknownMethod. The generated UnimplementedXHandler returns it.
func (m *Method) Unimplemented() error { return &ApplicationException{UnknownMethod, m.Name} }

// Oneway reports whether the method is oneway: its calls get no reply.
func (m *Method) Oneway() bool { return m.Result == nil }

// called returns the method as connections know it.
func (m *Method) called() client.Method {
	return client.Method{Prefix: m.prefix, Name: m.Name, Args: m.Args, Result: m.Result}
}

// String returns the names of the service and the method, joined by a dot. For a RawMethod it
// returns the WireName.
func (m *Method) String() string {
	if m.raw {
		return m.WireName()
	}
	return m.prefix + m.Service + "." + m.Name
}

// Exception is a declared exception of a method. Throws and ThrowsAny make one.
type Exception struct {
	field thriftimpl.Field // in the result
	of    *thriftimpl.Desc
	in    func(error) (thriftimpl.Struct, bool) // the exception that an error is or wraps
	as    func(thriftimpl.Struct) error         // the error that is this exception
}

// Throws returns the description of a declared exception. f is its field in the result, and of its
// descriptor. For generated code.
func Throws[E interface {
	nocopy.View
	error
}](f thriftimpl.Field, of *thriftimpl.Desc) Exception {
	if of == nil {
		panic("nocopy: rpc.Throws without a Desc")
	}
	return Exception{f, of, func(err error) (thriftimpl.Struct, bool) {
		var e E
		ok := errors.As(err, &e)
		return thriftimpl.Struct(e), ok
	}, func(s thriftimpl.Struct) error { return E(s) }}
}

// ThrowsAny declares an exception whose type the compiler does not know. f is its field in the
// result, and of its descriptor. as returns the exception in a result as an error. A handler's
// error is sent if it is or wraps a nocopy.AnyStruct with the descriptor of, or with one that is
// declared alike.
func ThrowsAny(f thriftimpl.Field, of *nocopy.Desc, as func(nocopy.Struct) error) Exception {
	if of == nil || as == nil {
		panic("nocopy: rpc.ThrowsAny without a Desc or a function")
	}
	return Exception{f, of, func(err error) (thriftimpl.Struct, bool) {
		e := anyStructIn(err, of, false)
		if e == nil {
			return thriftimpl.Struct{}, false
		}
		return e.ThriftStruct(), true
	}, func(s thriftimpl.Struct) error { return as(nocopy.Struct(s)) }}
}

// set puts the exception e into a result of type d.
func (x *Exception) set(result nocopy.Struct, d *thriftimpl.Desc, e thriftimpl.Struct) error {
	if err := e.Sendable(); err != nil {
		return fmt.Errorf("the handler returned a %s that can't be sent: %w", x.of.Name(), err)
	}
	thriftimpl.Struct(result).SetChild(x.field, d, e)
	return nil
}

// get returns the exception that a result of type d holds, nil if it does not hold it.
func (x *Exception) get(result nocopy.Struct, d *thriftimpl.Desc) error {
	if !thriftimpl.Struct(result).HasField(x.field) {
		return nil
	}
	// The error outlives the result
	return x.as(thriftimpl.Struct(result).Child(x.field, d).Clone(x.of))
}

// exception returns the declared exception that a result holds, nil if there is none.
func (m *Method) exception(result nocopy.Struct) error {
	for i := range m.Throws {
		if err := m.Throws[i].get(result, m.Result); err != nil {
			return err
		}
	}
	return nil
}

// SetException sets the declared exception that err is or wraps in result, an empty struct of
// type m.Result, and reports whether there is one. If there is none, an exception of another
// package's generated code counts, if the IDL declares both alike. SetException returns an error
// if the exception can't be sent, since it is absent, was released, or is nested too deeply.
func (m *Method) SetException(result nocopy.Struct, err error) (bool, error) {
	x, e := m.declared(err)
	if x == nil {
		return false, nil
	}
	bad := x.set(result, m.Result, e)
	return bad == nil, bad
}

// declared returns the declared exception that err is or wraps, and its value; nil if there is
// none. One of the declared Go type counts before one that is declared alike: a method may throw
// exceptions of two files that look the same.
func (m *Method) declared(err error) (*Exception, thriftimpl.Struct) {
	for i := range m.Throws {
		if e, ok := m.Throws[i].in(err); ok {
			return &m.Throws[i], e
		}
	}
	for i := range m.Throws {
		if e := anyStructIn(err, m.Throws[i].of, true); e != nil {
			return &m.Throws[i], e.ThriftStruct()
		}
	}
	return nil, thriftimpl.Struct{}
}

// Outcome returns the error of a call with this result, of type m.Result. If the result holds a
// declared exception, Outcome returns it as a message of its own. If it holds an exception that
// m.Result does not declare and no return value, or nothing although the method returns a value,
// Outcome returns an *ApplicationException of type MissingResult. Otherwise it returns nil.
func (m *Method) Outcome(result nocopy.Struct) error {
	if m.passes != nil { // the result is passed on as it is
		return nil
	}
	if err := m.received(result); err != nil {
		return err
	}
	if m.Success != 0 && !thriftimpl.Struct(result).HasField(m.Success) {
		return &ApplicationException{MissingResult, m.String()}
	}
	return nil
}

// received returns the exception in a result that another server has sent, nil if there is none:
// as Outcome does, but also of a result that is passed on.
func (m *Method) received(result nocopy.Struct) error {
	err := m.exception(result)
	if err != nil || m.Success != 0 && thriftimpl.Struct(result).HasField(m.Success) || m.raw {
		return err
	}
	if id, ok := m.unknownException(result); ok {
		return &ApplicationException{MissingResult, fmt.Sprintf("%s: the reply has field %d, an exception that this IDL does not know", m, id)}
	}
	return nil
}

// unknownException returns the id of the exception in a result that m.Result does not declare, and
// whether there is one. Field 0 is a newer server's return value of a method that returned
// nothing.
func (m *Method) unknownException(result nocopy.Struct) (id int16, ok bool) {
	s := thriftimpl.Struct(result)
	if s.Sendable() != nil || s.WireLen(m.Result) <= 1 { // a STOP alone
		return 0, false
	}
	for id, v := range impl.UnknownOf(s, m.Result) {
		if id != 0 && id != header.FieldID && v.Type == nocopy.WireStruct {
			return id, true
		}
	}
	return 0, false
}

// Call is a call as handlers and interceptors see it. It ends when the outermost interceptor
// returns, or the handler if there is none. It must not be kept.
type Call struct {
	Method *Method

	// Args are the arguments. They belong to the library and are valid until the call ends. An
	// interceptor may put a struct of its own there, of type Method.Args; it stays the
	// interceptor's. Packages fmt and log/slog print Args and Result as text, with values
	// redacted; with %+v, AnyArgs(c) prints several lines.
	Args nocopy.Struct

	// Result is the result. A server's handler fills it. On a client, next sets it to the server's
	// result. An interceptor may put a struct of its own there, such as one that it keeps for many
	// calls or got from a Client's Call; a copy of it is sent or returned. The interceptor may
	// release its struct at any time after it has returned, or leave it to the garbage collector.
	Result nocopy.Struct

	Peer net.Addr // on a server the client's address, on a client nil

	fields []client.Field // what SetField has set on a client
	// The Result that Forward has put here last, and those that it had put here before. Nothing
	// with serverTries, which have them then
	forwarded       nocopy.Struct
	forwardedBefore []nocopy.Struct
	tries           callTries // a *serverTries or a *clientTries; nil without interceptors
	busy            int32     // 1 while a client's next is under way with this Call
}

// callTries is the state of a call with interceptors, which may call next any number of times.
type callTries interface {
	underway() int // how many handlers and interceptors have not returned
	onClient() bool
	// addForwarded keeps a result that Forward has put into a Call, and reports whether it does
	addForwarded(result nocopy.Struct) bool
	hasForwarded(result nocopy.Struct) bool
}

// running counts the handlers and interceptors of a call that have not returned.
type running struct {
	mu     sync.Mutex // guards what is in the same struct, too
	n      int
	closed bool // the outermost interceptor has returned, and nothing may begin
}

// enter counts an interceptor that is about to be called. It reports false if the call has ended.
func (r *running) enter() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return false
	}
	r.n++
	return true
}

func (r *running) underway() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.n
}

// endAll releases results.
func endAll(results []nocopy.Struct) {
	for _, r := range results {
		thriftimpl.Struct(r).End()
	}
}

// Exception returns the declared exception in Result as a message of its own, or nil if there is
// none. If another server has sent Result, which a client's call returned or Forward passes on,
// and holds an exception that the method does not declare, Exception returns an
// *ApplicationException, as [Method.Outcome] does.
func (c *Call) Exception() error {
	if (c.onClient() || c.isForwarded()) && c.hasResult() {
		return c.Method.received(c.Result)
	}
	return c.declared()
}

// onClient reports whether a client's interceptor has the Call.
func (c *Call) onClient() bool { return c.tries != nil && c.tries.onClient() }

// declared returns the declared exception in Result.
func (c *Call) declared() error {
	if c.hasResult() && len(c.Method.Throws) > 0 {
		return c.Method.exception(c.Result)
	}
	return nil
}

// hasResult reports whether Result is of the method's type.
func (c *Call) hasResult() bool {
	return c.Method != nil && !c.Method.Oneway() && thriftimpl.Struct(c.Result).Is(c.Method.Result)
}

// Peek finds one value in the bytes of Args by field ids and element indices, as nocopy.Peek does.
// It indexes nothing. The value is valid as long as strings that are read from Args, even if Args
// change.
//
// Peek is cheaper than nocopy.Peek on Args.Message().Bytes(): a message whose *Message was handed
// out is not used again for other calls. Large Args that came without a frame may be in several
// pieces. If the value is not in the first of them, Peek copies the pieces together.
func (c *Call) Peek(path ...int) (nocopy.Value, error) {
	v, err := thriftimpl.Struct(c.Args).Peek(path...)
	return nocopy.Value(v), err
}

// putForwarded makes result, which a backend has sent, c's Result. It is released when the reply
// has been made of it, or when the call ends, unless somebody has released it before.
func (c *Call) putForwarded(result nocopy.Struct) {
	c.Result = result
	s := thriftimpl.Struct(result)
	if !s.Is(c.Method.Result) {
		return
	}
	s.Offer()
	s.Claim(c.Method.Result) // from now on End reports whether it was released
	switch {
	case c.tries != nil && c.tries.addForwarded(result):
	case c.forwarded == nocopy.Struct{}:
		c.forwarded = result
	default:
		c.forwardedBefore = append(c.forwardedBefore, c.forwarded)
		c.forwarded = result
	}
}

// isForwarded reports whether Forward has put c's Result there.
func (c *Call) isForwarded() bool {
	if c.tries != nil && c.tries.hasForwarded(c.Result) {
		return true
	}
	return c.Result == c.forwarded || slices.Contains(c.forwardedBefore, c.Result)
}

// endForwarded releases the results that Forward has put into a Call without serverTries.
func (c *Call) endForwarded() {
	if c.forwarded != (nocopy.Struct{}) {
		thriftimpl.Struct(c.forwarded).End()
	}
	endAll(c.forwardedBefore)
}

// Handler handles a call. On a server it fills c.Result or returns an error. On a client it sends
// the call and sets c.Result.
//
// If a server's handler returns an exception, as it is or wrapped, the exception stays the
// handler's and the reply has a copy. After the call has ended, the handler may release it, return
// it from other calls, also at the same time, or leave it to the garbage collector. If it is
// released before the handler has returned, the client gets an internal error instead.
//
// A handler must not release its args or result. If it does, their handles end and the client gets
// an internal error.
type Handler func(ctx context.Context, c *Call) error

// Interceptor is called around a handler, on a server or on a client. It calls next, which is the
// next interceptor or the handler, or returns an error instead.
//
// An interceptor may call next several times in turn, for instance to try again. Each call of next
// begins with an empty result. For calls of next at the same time, the interceptor makes a copy of
// the Call for each, on a server with a Result of its own. Args and results are valid until all
// calls of next have returned.
//
// On a server, next returns a declared exception as its error, whether the handler returned it or
// put it into the result; Result holds it in both cases. A panic of the handler is also an error
// of next. After the interceptor has returned, next returns an error. An interceptor may therefore
// return early, without waiting for next.
//
// The outermost interceptor decides the reply. If it returns an error, the reply is the error,
// even if Result is set. If it returns nil, the reply is Result. An interceptor that drops a
// declared exception must therefore put another Result there.
type Interceptor func(ctx context.Context, c *Call, next Handler) error

// wrap returns h with interceptors around it, the first one outermost. All but the first are
// called through inner, since the interceptor around them may return before they do.
func wrap(list []Interceptor, h Handler, inner func(ctx context.Context, c *Call, next Handler) error) Handler {
	for i := len(list) - 1; i >= 0; i-- {
		f, next := list[i], h
		h = func(ctx context.Context, c *Call) error { return f(ctx, c, next) }
		if i > 0 {
			f := h
			h = func(ctx context.Context, c *Call) error { return inner(ctx, c, f) }
		}
	}
	return h
}

// callError returns the error of a call of m that has failed with err.
func callError(m *Method, err error) error { return fmt.Errorf("rpc: %s: %w", m, err) }

// The mistakes that interceptors can make.
var (
	errReturned   = client.ErrReturned // tries were under way, or begun, then
	errEnded      = errors.New("next was called after its interceptor had returned")
	errForeign    = errors.New("next was called with another Call than the interceptor's, or a copy of it")
	errMethod     = errors.New("the interceptor has put a Method there that can't be called with these args")
	errArgs       = errors.New("the interceptor has put Args there that were released or are not of the method's type")
	errResult     = errors.New("the interceptor has put a Result there that was released or is not of the method's type")
	errUnfinished = errors.New("the interceptor has returned no error while next was filling its Result")
	errResultUse  = errors.New("next was called while another call of it is filling the same Result")
)

// rawDesc describes arguments and results without a known type, as a struct without fields. Their
// bytes are kept, and passed over once to find their end.
var rawDesc = thriftimpl.NewDesc("struct")

func init() { rawDesc.Define() }

// RawMethod returns a Method that is known by its name alone. Its arguments and results are
// structs without known fields. A Caller accepts arguments that were parsed with the descriptor in
// Args, and returns the result's bytes; they include declared exceptions. name is the name in the
// header of a call: "service:method" if the server has several services.
func RawMethod(name string, oneway bool) *Method {
	at := strings.LastIndexByte(name, ':') + 1
	m := &Method{Name: name[at:], Args: rawDesc, prefix: name[:at], raw: true}
	if !oneway {
		m.Result = rawDesc
	}
	return m
}

// WireName returns the name in the headers of calls: the method's name, in multiplexed calls after
// "service:".
func (m *Method) WireName() string { return m.prefix + m.Name }

// anyStructIn returns the struct with the descriptor of that err is or wraps; with alike, one that
// the IDL declares alike. If there is none, it returns nil.
func anyStructIn(err error, of *thriftimpl.Desc, alike bool) nocopy.AnyStruct {
	if e, ok := err.(nocopy.AnyStruct); ok {
		if d := e.ThriftDesc(); d == of || alike && d != nil && impl.SameLayout(d, of) {
			return e
		}
	}
	switch x := err.(type) {
	case interface{ Unwrap() error }:
		if inner := x.Unwrap(); inner != nil {
			return anyStructIn(inner, of, alike)
		}
	case interface{ Unwrap() []error }:
		for _, inner := range x.Unwrap() {
			if e := anyStructIn(inner, of, alike); e != nil {
				return e
			}
		}
	}
	return nil
}

// Caller makes calls for generated clients. A [*Client] is one; NewCaller makes one of a function.
type Caller interface {
	// NewArgs returns empty arguments for a call of m. The caller fills them and passes them to Call.
	NewArgs(m *Method) nocopy.Struct
	// Call sends args and returns the result. It takes args over; the result belongs to the caller.
	// The result of a oneway method is absent, and so is a result that comes with an error.
	Call(ctx context.Context, m *Method, args nocopy.Struct) (nocopy.Struct, error)
}

// fallback handles the calls of methods that a Processor does not have.
type fallback struct {
	handler Handler
	args    *thriftimpl.Desc // what the arguments are parsed as
	slow    *atomic.Bool
}
