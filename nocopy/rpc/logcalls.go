package rpc

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/impl"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/foreign"
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
		began, before := time.Now(), c.stillRunning()
		err := errPanicked // what it stays if next panics or ends its goroutine
		defer func() { logCall(ctx, l, c, err, time.Since(began), c.stillRunning() > before) }()
		err = next(ctx, c)
		return err
	}
}

var errPanicked = errors.New("a handler or interceptor has panicked, or ended its goroutine")

// stillRunning returns how many handlers and interceptors of the call have not returned, not
// counting a server's outermost interceptor; 0 if the call has no interceptors.
func (c *Call) stillRunning() int {
	if c.tries != nil {
		return c.tries.underway()
	}
	return 0
}

// logCall logs a call that has ended with err. With inUse a handler may be using its arguments.
func logCall(ctx context.Context, l *slog.Logger, c *Call, err error, took time.Duration, inUse bool) {
	defer func() { recover() }() // the logger may do anything
	if err == nil && c.Method != nil && !c.Method.Oneway() {
		if err = c.Exception(); err != nil { // a proxy passes a declared exception on in the result
			defer releaseException(err)
		}
	}
	level, how, exception := loggedOutcome(err)
	if !l.Enabled(ctx, level) {
		return
	}
	end := new(loggingEnd)
	defer end.set()
	name := foreign.Shortened("?", foreign.MaxName)
	if c.Method != nil {
		name = foreign.Shortened(c.Method.String(), foreign.MaxName)
	}
	attrs := append(make([]slog.Attr, 0, 6), slog.String("method", name))
	if c.Peer != nil {
		attrs = append(attrs, slog.String("peer", foreign.Shortened(foreign.Text(c.Peer), foreign.MaxName)))
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
		attrs = append(attrs, slog.String("err", foreign.Shortened(foreign.Text(err), foreign.MaxText)))
	case c.Method != nil && !c.Method.Oneway() && !inUse:
		attrs = append(attrs, slog.Any("result", loggedStruct{end, AnyResult(c)}))
	}
	l.LogAttrs(ctx, level, "rpc: "+name+": "+how, attrs...)
}

// releaseException releases an exception that Call.Exception has returned.
func releaseException(exception error) {
	var e nocopy.AnyStruct
	if errors.As(exception, &e) {
		e.ThriftStruct().Release()
	}
}

// loggedOutcome returns the level and the outcome of a call that has ended with err, and the
// declared exception if that is one.
func loggedOutcome(err error) (level slog.Level, how string, exception nocopy.AnyStruct) {
	level, how = slog.LevelError, "failed"
	defer func() { recover() }() // methods of err may panic: then it has failed
	if err == nil {
		return slog.LevelInfo, "ok", nil
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
	return level, how, nil
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
	d, handle := impl.Parts(s.of)
	return impl.LogValueOf(handle, d)
}

// String returns what a Handler prints that does not know LogValue.
func (s loggedStruct) String() string { return s.LogValue().String() }

// SampleLogs returns a Handler that passes at most perSecond records of each kind per second to h,
// and drops the others. Use it for the Logger of a Server or Client whose peers are not trusted
// and might fill the log. The kind of a record is its message, up to 1 KiB of it. After the first
// 1,000 kinds, all further messages are one kind.
//
// At the end of a second, one more record per kind says how many were dropped. It has the
// message, level and time of the last of them, and the attribute dropped. SampleLogs keeps copies
// of messages, which may alias recycled memory.
//
// If a record was dropped, the log lacks the id of its panic or error that the client was told.
// SampleLogs panics if h is nil, or perSecond less than 1.
func SampleLogs(h slog.Handler, perSecond int) slog.Handler {
	if h == nil || perSecond < 1 {
		panic("nocopy: rpc.SampleLogs needs a Handler and a number of records")
	}
	return &sampler{Handler: h, counts: &logCounts{perSecond: perSecond, kinds: map[string]*logKind{}}}
}

const (
	maxKinds = 1000    // of records that are counted one by one
	maxKind  = 1 << 10 // bytes of a message by which its kind is known
)

// sampler is the Handler that SampleLogs returns.
type sampler struct {
	slog.Handler
	counts *logCounts // shared with those that WithAttrs and WithGroup return
}

type logCounts struct {
	perSecond int
	mu        sync.Mutex
	kinds     map[string]*logKind
	others    logKind
}

// logKind counts the records of a kind in one second.
type logKind struct {
	message string    // up to maxKind of it, a copy; in others, the last dropped one's
	until   time.Time // when the second ends
	passed  int
	dropped int
	last    slog.Record  // the last that was dropped
	to      slog.Handler // where it would have gone
}

func (s *sampler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &sampler{s.Handler.WithAttrs(attrs), s.counts}
}

func (s *sampler) WithGroup(name string) slog.Handler {
	return &sampler{s.Handler.WithGroup(name), s.counts}
}

func (s *sampler) Handle(ctx context.Context, r slog.Record) error {
	if !s.counts.pass(r, s.Handler) {
		return nil
	}
	return s.Handler.Handle(ctx, r)
}

// pass counts r, a record for h, and reports whether it is passed on.
func (c *logCounts) pass(r slog.Record, h slog.Handler) bool {
	now := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	message := r.Message[:min(len(r.Message), maxKind)]
	k := c.kinds[message]
	if k == nil {
		if k = &c.others; len(c.kinds) < maxKinds {
			k = &logKind{message: strings.Clone(message)}
			c.kinds[k.message] = k
		}
	}
	if k.dropped == 0 && !now.Before(k.until) { // else tell begins the next second
		k.until, k.passed = now.Add(time.Second), 0
	}
	if k.passed < c.perSecond {
		k.passed++
		return true
	}
	if k.dropped == 0 {
		time.AfterFunc(k.until.Sub(now), func() { c.tell(k) })
	}
	k.dropped++
	if k == &c.others {
		k.message = strings.Clone(message)
	}
	k.last, k.to = slog.NewRecord(r.Time, r.Level, k.message, r.PC), h
	return false
}

// tell logs how many records of a kind were dropped in the second that has ended, and begins the
// next second.
func (c *logCounts) tell(k *logKind) {
	defer func() { recover() }() // as for other records, the Handler may do anything
	c.mu.Lock()
	r, h := k.last, k.to
	r.AddAttrs(slog.Int("dropped", k.dropped))
	k.dropped, k.to, k.last = 0, nil, slog.Record{}
	k.until, k.passed = time.Now().Add(time.Second), 0
	c.mu.Unlock()
	h.Handle(context.Background(), r)
}
