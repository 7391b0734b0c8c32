// TestModelHTTP's calls: what they ask for, how the handler behaves, and how they may end.

package rpc_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
)

// httpOutcome is a set of ways in which a call may end.
type httpOutcome uint32

const (
	hOwn       httpOutcome = 1 << iota // its own reply; of oneway calls: no error
	hOther                             // a reply that was sent before it was asked for
	hMissing                           // NotFound with the call's token
	hInternal                          // an ApplicationException: InternalError
	hUnknown                           // UnknownMethod
	hException                         // any other one
	hNoHeader                          // a header can't be sent
	hCancelled                         // the context's errors
	hExpired
	hClosed  // ErrClientClosed
	hNotSent // ErrNotSent
	hLost    // ErrConnLost
	hStatus  // an HTTPError alone
	hBad     // a bad reply
	hStrange // anything else: never allowed
)

var httpOutcomeNames = strings.Fields("own other missing internal unknown exception no-header cancelled expired closed not-sent lost status bad strange")

func (o httpOutcome) String() string {
	var names []string
	for i, name := range httpOutcomeNames {
		if o&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, "|")
}

// httpAsked are requests, with the outcomes of the server's answers to them.
var httpAsked = []struct {
	name string
	ends httpOutcome
}{
	{"echo", hOwn}, {"echo", hOwn}, {"link", hOwn}, {"notify", hOwn}, {"unknown", hUnknown},
	{"missing, returned", hMissing}, {"missing, filled", hMissing}, {"undeclared", hInternal}, {"panic", hInternal}, {"exit", hInternal},
}

// httpConducts are the handler's possible first steps.
var httpConducts = []string{"", "", "waits", "waits for its context", "ends late", "takes a second"}

// httpSent are the headers of a call. A call with the last ones can't be sent. The Idempotency-Key
// makes net/http send a request again, which a call must not be.
var httpSent = []map[string]string{
	nil, {"X-Model": "plain"}, {"!#$%&'*+-.^_`|~": "x y", "Cookie": "a=b; c=d", "User-Agent": ""},
	{"Idempotency-Key": "7"}, {"X-IDEMPOTENCY-KEY": "7", "Range": "bytes=0-3"},
	{"Content-Type": "text/html"}, {"no name": "x"},
}

const badHeaders = 2 // at the end of httpSent

// httpModelCall is a call.
type httpModelCall struct {
	of, began int // the side, and the epoch
	token     string
	way       string
	ends      httpOutcome // as the server answers
	size      int
	conduct   string
	headers   int
	ctx       context.Context
	cancel    context.CancelFunc
	gate      chan struct{}
	opened    sync.Once
	cancelled atomic.Bool
	replied   int          // how the hostile server has answered; -1: not at all
	runs      atomic.Int32 // in the handler
	returned  atomic.Int32
	done      atomic.Bool
	outcome   httpOutcome // when it is done
	err       error
}

func (c *httpModelCall) String() string {
	return fmt.Sprintf("%s of client %d (%s, %d bytes, handler %q, headers %d)", c.token, c.of, c.way, c.size, c.conduct, c.headers)
}

func (c *httpModelCall) open() { c.opened.Do(func() { close(c.gate) }) }

func (c *httpModelCall) payload() []byte {
	return append([]byte(c.token), bytes.Repeat([]byte{'x'}, max(c.size-len(c.token), 0))...)
}

// addCall adds a call that is answered at once.
func (w *httpWorld) addCall(of int) *httpModelCall {
	c := &httpModelCall{of: of, began: w.epoch, way: "echo", ends: hOwn, gate: make(chan struct{}), replied: -1}
	c.token = fmt.Sprintf("<%04d>", len(w.order))
	c.ctx, c.cancel = context.WithCancel(context.Background())
	w.order = append(w.order, c)
	w.mu.Lock()
	w.calls[c.token] = c
	w.mu.Unlock()
	return c
}

// call starts a call as the program says.
func (w *httpWorld) call(of int) {
	c := w.addCall(of)
	way := httpAsked[w.n(len(httpAsked))]
	c.way, c.ends = way.name, way.ends
	c.size = modelSizes[w.n(len(modelSizes))]
	c.conduct = httpConducts[w.n(len(httpConducts))]
	switch w.n(16) {
	case 1, 2, 3, 4, 5, 6:
		c.headers = w.n(len(httpSent) - badHeaders)
	case 7:
		c.headers = len(httpSent) - 1 - w.n(badHeaders)
	}
	if patience := []time.Duration{0, 0, 0, 500 * time.Microsecond, 10 * time.Millisecond, 2 * time.Second}[w.n(6)]; patience > 0 {
		c.cancel()
		c.ctx, c.cancel = context.WithTimeout(context.Background(), patience)
	}
	w.logf("call %v", c)
	go w.run(c)
}

// lookup returns the call whose token b has; nil if there is none.
func (w *httpWorld) lookup(b []byte) *httpModelCall {
	at := bytes.IndexByte(b, '<')
	if at < 0 || len(b) < at+6 {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.calls[string(b[at:at+6])]
}

// run makes a call.
func (w *httpWorld) run(c *httpModelCall) {
	var reply rpc.ReplyHeaders
	ctx := rpc.ReceiveHeaders(c.ctx, &reply)
	for key, value := range httpSent[c.headers] {
		ctx = rpc.SetHeader(ctx, key, value)
	}
	err := w.make(ctx, c)
	if c.err = err; c.outcome == 0 {
		c.outcome = w.classify(c, err)
	}
	if got := reply.Get("X-Token"); c.of != evilSide && c.outcome&(hOwn|hMissing|hInternal) != 0 && c.way != "notify" && got != c.token {
		if c.outcome != hInternal || got != "" || c.runs.Load() > 0 {
			w.failf("%v: the reply's header has the token %q (%v)", c, got, err)
		}
	}
	c.done.Store(true)
}

// make makes a call, and checks a result.
func (w *httpWorld) make(ctx context.Context, c *httpModelCall) error {
	caller := w.sides[c.of].caller
	if c.way == "unknown" {
		caller = rpc.MultiplexedCaller(caller, "Nobody")
	}
	cl := echo.NewEchoClient(caller)
	own := func(got []byte, from int) {
		if bytes.Equal(got[:min(from, len(got))], []byte(otherReply)[:min(from, len(got))]) && c.of == evilSide {
			c.outcome = hOther
		} else if want := c.payload(); !bytes.Equal(got, want) {
			w.failf("%v: the result is %d bytes %.40q", c, len(got), got)
		} else {
			c.outcome = hOwn
		}
	}
	switch c.way {
	case "notify":
		return cl.Notify(ctx, func(args echo.EchoNotifyArgs) { args.SetText(string(c.payload())) })
	case "echo", "unknown":
		r, err := cl.Echo(ctx, func(args echo.EchoEchoArgs) { args.SetPayload(c.payload()) })
		if err != nil {
			return err
		}
		own(r.GetSuccess(), len(otherReply))
		r.Release()
		return nil
	}
	r, err := cl.Put(ctx, func(args echo.EchoPutArgs) {
		args.SetMode(c.way)
		item := args.NewItem()
		item.SetName(c.token)
		item.SetData(c.payload())
	})
	if err != nil {
		return err
	}
	own(r.GetSuccess().GetData(), len(otherReply))
	r.Release()
	return nil
}

// classify returns the outcome that the error of a call stands for.
func (w *httpWorld) classify(c *httpModelCall, err error) httpOutcome {
	var missing echo.NotFound
	var ae *rpc.ApplicationException
	var status *rpc.HTTPError
	notSent, lost := errors.Is(err, rpc.ErrNotSent), errors.Is(err, rpc.ErrConnLost)
	switch {
	case notSent && lost:
		w.failf("%v: its error is both ErrNotSent and ErrConnLost: %v", c, err)
		return hStrange
	case err == nil:
		return hOwn
	case errors.As(err, &missing):
		defer missing.Release()
		if key := missing.GetKey(); key != c.token {
			w.failf("%v: the exception is about %.40q", c, key)
		}
		return hMissing
	case errors.As(err, &ae) && ae.Type == rpc.InternalError:
		return hInternal
	case errors.As(err, &ae) && ae.Type == rpc.UnknownMethod:
		return hUnknown
	case errors.As(err, &ae):
		return hException
	case errors.Is(err, rpc.ErrClientClosed):
		return hClosed
	case notSent:
		return hNotSent
	case lost:
		return hLost
	case errors.Is(err, context.Canceled):
		return hCancelled
	case errors.Is(err, context.DeadlineExceeded):
		return hExpired
	case errors.As(err, &status):
		return hStatus
	case strings.Contains(err.Error(), "bad reply: "):
		return hBad
	case strings.Contains(err.Error(), "HTTP has a meaning of its own"), strings.Contains(err.Error(), "HTTP does not allow"):
		return hNoHeader
	}
	return hStrange
}

// may returns how a call may end.
func (w *httpWorld) may(c *httpModelCall) httpOutcome {
	s := w.sides[c.of]
	troubled := s.trouble >= c.began
	if c.headers >= len(httpSent)-badHeaders {
		return hNoHeader
	}
	o := c.ends
	switch m := w.conf.serverMaxFrame; {
	case c.of == evilSide && c.replied >= 0:
		o = httpEvilKinds[c.replied].gives
	case c.of == evilSide:
		o = 0
	case m > 0 && c.size+200 > m: // the server may end the connection before all is written
		o |= hStatus | hNotSent | hLost
	}
	if c.of == evilSide && w.strayed >= c.began {
		o |= hOther | hException // HTTP/1.1 can't tell it from the call's own
	}
	if c.of == evilSide && c.way == "notify" && o&(hBad|hException|hLost) != 0 {
		o |= hOwn // there is no reply to look at, be it its own or a stray one
	}
	if m := w.conf.maxFrame; m > 0 && c.size+200 > m {
		o |= hBad
	}
	if c.cancelled.Load() {
		o |= hCancelled
	}
	ended := c.ctx.Err() == context.DeadlineExceeded
	if ended {
		o |= hExpired
	}
	if c.conduct == "waits for its context" && (ended || c.cancelled.Load() || troubled || s.closed) {
		o |= hInternal
	}
	if s.closed {
		o |= hClosed
	}
	if troubled {
		o |= hNotSent | hLost | hStatus // 400 and 408 for a request that does not arrive in time
	}
	return o
}

// checkCalls checks how calls have ended, and how often they were handled.
func (w *httpWorld) checkCalls() {
	for _, c := range w.order {
		runs := c.runs.Load()
		switch {
		case runs > 1:
			w.failf("%v was handled %d times", c, runs)
		case c.of == rawSide:
		case !c.done.Load():
			w.failf("%v does not end", c)
		case c.outcome&w.may(c) == 0:
			w.failf("%v has ended with %v (%v), but may only with %v", c, c.outcome, c.err, w.may(c))
		case c.outcome&(hNotSent|hNoHeader|hUnknown|hStatus) != 0 && runs > 0:
			w.failf("%v has ended with %v (%v), but was handled", c, c.outcome, c.err)
		case c.outcome&(hOwn|hMissing) != 0 && c.of != evilSide && runs == 0 && !(c.way == "notify" && w.sides[c.of].trouble >= c.began):
			w.failf("%v has ended with %v, but was not handled", c, c.outcome)
		case c.outcome == hNotSent && c.replied >= 0 && !httpEvilKinds[c.replied].early:
			w.failf("%v has ended with %v, but has arrived", c, c.err)
		}
		if c.of != rawSide {
			w.checkSentOnce(c)
		}
	}
}

// checkSentOnce checks that the call's token has not been written to two connections.
func (w *httpWorld) checkSentOnce(c *httpModelCall) {
	sent := 0
	for _, conn := range w.all() {
		if bytes.Contains(conn.end.out.written(), []byte(c.token)) {
			sent++
		}
	}
	if sent > 1 || sent > 0 && c.outcome == hNoHeader {
		w.failf("%v was sent %d times (%v, %v)", c, sent, c.outcome, c.err)
	}
}

// checkResting checks what must hold whenever all goroutines wait.
func (w *httpWorld) checkResting() {
	slow := false
	for _, c := range w.all() {
		slow = slow || c.end.in.slow() || c.end.out.slow()
	}
	for _, c := range w.order {
		if c.of == rawSide {
			continue
		}
		ended := c.ctx.Err() != nil || w.sides[c.of].closed
		if ended && !c.done.Load() {
			w.failf("%v goes on, though its context has ended or its client is closed", c)
		}
		waits := c.conduct == "waits for its context" && c.runs.Load() > c.returned.Load()
		if ended && waits && !slow && c.way != "notify" {
			w.failf("%v: the client has given it up, but the handler's context goes on", c)
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for of := range w.sides {
		if n := w.counts[fmt.Sprintf("client %d in flight at most", of)]; n > w.conf.inFlight && w.err == nil {
			w.err = fmt.Errorf("client %d has had %d calls in flight", of, n)
		}
	}
}

// httpModelHandler is the good server's handler.
type httpModelHandler struct {
	handler
	w *httpWorld
}

// begin notes that a call is handled, and behaves as the call says.
func (h *httpModelHandler) begin(ctx context.Context, b []byte) (c *httpModelCall, err error) {
	w := h.w
	if c = w.lookup(b); c == nil {
		w.failf("an unknown call is handled: %.40q", b)
		return nil, errTest
	}
	c.runs.Add(1)
	defer c.returned.Add(1)
	if c.of != rawSide {
		for key, value := range httpSent[c.headers] {
			if got := rpc.Header(ctx, key); got != value {
				w.failf("%v: the header %s is %q instead of %q", c, key, got, value)
			}
		}
	}
	if c.way != "notify" {
		if err := rpc.SetReplyHeader(ctx, "X-Token", c.token); err != nil {
			w.failf("%v: %v", c, err)
		}
	}
	switch c.conduct {
	case "waits":
		select {
		case <-c.gate:
		case <-ctx.Done(): // the server may be gone
		}
	case "waits for its context":
		select {
		case <-c.gate:
		case <-ctx.Done():
			return c, ctx.Err()
		}
	case "ends late":
		<-c.gate
	case "takes a second":
		time.Sleep(time.Second)
	}
	return c, nil
}

func (h *httpModelHandler) Echo(ctx context.Context, args echo.EchoEchoArgs, result echo.EchoEchoResult) error {
	_, err := h.begin(ctx, args.GetPayload())
	if err == nil {
		result.SetSuccess(args.GetPayload())
	}
	return err
}

func (h *httpModelHandler) Put(ctx context.Context, args echo.EchoPutArgs, result echo.EchoPutResult) error {
	c, err := h.begin(ctx, args.GetItem().GetData())
	if err != nil {
		return err
	}
	switch c.way {
	case "exit":
		runtime.Goexit()
	case "missing, returned": // it stays the handler's
		e := echo.NewNotFound()
		e.SetKey(c.token)
		h.w.mu.Lock()
		defer h.w.mu.Unlock()
		h.w.owned = append(h.w.owned, e)
		return fmt.Errorf("wrapped: %w", e)
	}
	return h.handler.Put(ctx, args, result)
}

func (h *httpModelHandler) Notify(ctx context.Context, args echo.EchoNotifyArgs) error {
	_, err := h.begin(ctx, []byte(args.GetText()))
	return err
}
