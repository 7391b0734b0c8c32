package rpc

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// LogCalls returns an interceptor, for a Server or a Client, that logs each call when it has
// ended. A record's message is the method and the outcome. Its level depends on the outcome:
//
//	rpc: KeyValue.retrieve: ok         Info
//	rpc: KeyValue.retrieve: NotFound   Warn: the declared exception of this name
//	rpc: KeyValue.retrieve: canceled   Warn: a context has ended before the call
//	rpc: KeyValue.retrieve: timeout    Warn: its deadline has passed
//	rpc: KeyValue.retrieve: failed     Error: any other error, or a panic
//
// The attributes are method, took (a duration) and args. There is also result, unless the call is
// oneway or failed; err, if it failed; and peer, on a server. Arguments, results and declared
// exceptions are groups, as their LogValue returns them: values are redacted, and each group is
// shortened to about 8 KiB. Texts of other errors are shortened to 1 KiB, names to 256 bytes.
//
// SampleLogs bounds how much is logged. It counts the records of each method and outcome
// separately: many successes hide no failure. Records that a Handler drops cost little, because
// values become attributes only when it asks for them:
//
//	calls := slog.New(rpc.SampleLogs(slog.Default().Handler(), 10))
//	srv := &rpc.Server{Processor: p, Interceptors: []rpc.Interceptor{rpc.LogCalls(calls)}}
//
// Arguments are logged as they are after the call. A slog.Handler must ask for values before it
// returns. If it keeps records for later, it finds a text there that says that the call has ended.
// If an inner interceptor did not wait for a handler, which may still use the arguments, a text
// replaces them. Inside [Retry] each try is logged, outside it each call.
//
// A panic of the Handler is recovered. LogCalls panics if l is nil.
func LogCalls(l *slog.Logger) Interceptor {
	if l == nil {
		panic("nocopy: rpc.LogCalls without a Logger")
	}
	return func(ctx context.Context, c *Call, next Handler) error {
		began, before := time.Now(), c.running()
		err := errPanicked // what it stays if next panics or ends its goroutine
		defer func() { logCall(ctx, l, c, err, time.Since(began), c.running() > before) }()
		err = next(ctx, c)
		return err
	}
}

const (
	maxLoggedName = 256
	maxLoggedText = 1 << 10
)

var errPanicked = errors.New("a handler or interceptor has panicked, or ended its goroutine")

// running returns how many handlers and interceptors of the call have not returned, not counting
// a server's outermost interceptor; 0 if the call has no interceptors.
func (c *Call) running() int {
	switch {
	case c.serverTries != nil:
		c.serverTries.mu.Lock()
		defer c.serverTries.mu.Unlock()
		return c.serverTries.running
	case c.clientTries != nil:
		c.clientTries.mu.Lock()
		defer c.clientTries.mu.Unlock()
		return c.clientTries.running
	}
	return 0
}

// logCall logs a call that has ended with err. With inUse a handler may be using its arguments.
func logCall(ctx context.Context, l *slog.Logger, c *Call, err error, took time.Duration, inUse bool) {
	defer func() { recover() }() // the logger may do anything
	level, outcome, exception := loggedOutcome(c, err)
	if !l.Enabled(ctx, level) {
		return
	}
	end := new(loggingEnd)
	defer end.set()
	name := loggedText("?", maxLoggedName)
	if c.Method != nil {
		name = loggedText(c.Method.String(), maxLoggedName)
	}
	attrs := append(make([]slog.Attr, 0, 6), slog.String("method", name))
	if c.Peer != nil {
		attrs = append(attrs, slog.String("peer", loggedText(textOf(c.Peer), maxLoggedName)))
	}
	attrs = append(attrs, slog.Duration("took", took))
	switch {
	case inUse:
		attrs = append(attrs, slog.String("args", "<still in use>"))
	case c.Method != nil:
		attrs = append(attrs, slog.Any("args", loggedStruct{end, AnyArgs(c)}))
	}
	switch {
	case exception != nil:
		attrs = append(attrs, slog.Any("err", loggedStruct{end, exception}))
	case err != nil:
		attrs = append(attrs, slog.String("err", loggedText(textOf(err), maxLoggedText)))
	case c.Method != nil && !c.Method.Oneway() && !inUse:
		attrs = append(attrs, slog.Any("result", loggedStruct{end, AnyResult(c)}))
	}
	l.LogAttrs(ctx, level, "rpc: "+name+": "+outcome, attrs...)
}

// loggedText returns s, or its beginning if it has more than most bytes, as UTF-8.
func loggedText(s string, most int) string {
	if len(s) > most {
		s = s[:most] + "…"
	}
	return strings.ToValidUTF8(s, "\ufffd")
}

// loggedOutcome returns the level and the outcome of a call that has ended with err, and the
// declared exception if that is one.
func loggedOutcome(c *Call, err error) (level slog.Level, outcome string, exception nocopy.AnyStruct) {
	level, outcome = slog.LevelError, "failed"
	defer func() { recover() }() // methods of err may panic: then it has failed
	if err == nil {
		// A proxy passes a declared exception on in the result
		if m := c.Method; m == nil || m.Oneway() || c.Exception() == nil {
			return slog.LevelInfo, "ok", nil
		}
		err = c.Exception()
	}
	var e nocopy.AnyStruct
	switch {
	case errors.As(err, &e) && e.ThriftDesc() != nil:
		return slog.LevelWarn, e.ThriftDesc().Name(), e
	case errors.Is(err, context.Canceled):
		return slog.LevelWarn, "canceled", nil
	case errors.Is(err, context.DeadlineExceeded):
		return slog.LevelWarn, "timeout", nil
	}
	return level, outcome, nil
}

// loggingEnd tells a call's loggedStructs when their memory may be used for something else.
type loggingEnd struct {
	mu    sync.Mutex
	ended bool
}

func (e *loggingEnd) set() {
	e.mu.Lock()
	e.ended = true
	e.mu.Unlock()
}

// loggedStruct is a struct of a call that is being logged.
type loggedStruct struct {
	end *loggingEnd
	of  nocopy.AnyStruct
}

// LogValue returns the struct as slog's handlers print it.
func (s loggedStruct) LogValue() (v slog.Value) {
	s.end.mu.Lock()
	defer s.end.mu.Unlock()
	if s.end.ended {
		return slog.StringValue("<the call has ended>")
	}
	v = slog.StringValue("<released>")
	defer func() { recover() }() // a handler may have released it
	d, handle := thriftimpl.Parts(s.of)
	return handle.LogValue(d)
}

// String returns what a Handler prints that does not know LogValue.
func (s loggedStruct) String() string { return s.LogValue().String() }
