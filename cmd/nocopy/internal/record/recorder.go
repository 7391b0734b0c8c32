package record

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/contract"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/faults"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/idlfiles"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/invoke"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/recording"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/shell"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// recorder passes calls on.
type recorder struct {
	*Command
	idl      *idlfiles.IDL // nil if it is not known
	wire     string        // how the server is spoken to
	faults   *faults.Injector
	verifier *contract.Verifier // nil without -verify

	n        atomic.Int64    // calls recorded: lines of the file
	stop     func()          // ends the command
	ending   <-chan struct{} // closed when the command ends
	progress *shell.Progress
	large    sync.Mutex     // of calls with many bytes, one becomes JSON at a time
	handling sync.WaitGroup // calls

	mu    sync.Mutex
	ended bool // no further call is handled
	taken int  // calls to be recorded, up to -n
	out   io.Writer
	err   error // of out; nothing is written after it
}

// upstream is the server's side of a client's connection.
type upstream struct {
	forward rpc.Handler
	// Of calls without the name of a service, which get that of -multiplexed
	named  rpc.Handler
	latest atomic.Pointer[string] // the method that was called last
}

type upstreamKey struct{}

// connect makes a connection to the server for one of a client's. It ends with that.
func (r *recorder) connect(ctx context.Context, nc net.Conn) context.Context {
	ctx = faults.ConnContext(ctx, nc)
	u := &upstream{}
	opts := []rpc.Option{rpc.StallTimeout(r.Timeout), rpc.Logger(slog.New(&strays{slog.DiscardHandler, r, u, nc.RemoteAddr().String()}))}
	if !r.overHTTP() {
		opts = append(opts, rpc.OneConnection)
	}
	server, err := r.Again(ctx, r.Address, r.wire, opts...)
	if err != nil {
		u.forward = func(context.Context, *rpc.Call) error { return errUnreachable }
		u.named = u.forward
		fmt.Fprintln(r.progress, "nocopy:", shell.Message(err))
	} else {
		u.forward = rpc.Forward(server.Caller)
		u.named = rpc.Forward(rpc.MultiplexedCaller(server.Caller, r.Multiplexed))
		context.AfterFunc(ctx, server.Close)
	}
	return context.WithValue(ctx, upstreamKey{}, u)
}

// overHTTP reports whether the server is called over HTTP.
func (r *recorder) overHTTP() bool { return strings.HasPrefix(r.wire, "http ") }

var errUnreachable = errors.New("nocopy record can't reach the server")

// processor returns what handles all calls. The IDL says which are oneway; without it, their
// headers do.
func (r *recorder) processor() *rpc.Processor {
	var oneway []*rpc.Method
	if r.idl != nil {
		for _, s := range r.idl.Services {
			for m := range s.AllMethods() {
				if !m.Oneway() {
					continue
				}
				names := []string{m.Name(), s.Name() + ":" + m.Name()}
				for _, other := range []string{r.idl.Multiplexed[s.Name()], r.Multiplexed} {
					if other != "" && other != s.Name() {
						names = append(names, other+":"+m.Name())
					}
				}
				for _, name := range names {
					oneway = append(oneway, rpc.RawMethod(name, true).HandledBy(r.handle))
				}
			}
		}
	}
	byService := map[string]*rpc.Processor{}
	var plain []*rpc.Method
	for _, m := range oneway {
		if name := m.WireName(); name == m.Name {
			plain = append(plain, m)
		} else {
			service := name[:len(name)-len(m.Name)-1]
			byService[service] = rpc.NewProcessor(service, byService[service], m)
		}
	}
	byService[""] = rpc.NewProcessor("", nil, plain...)
	return rpc.Multiplexed(byService).WithFallback(r.handle)
}

// call is a call that passes through.
type call struct {
	*rpc.Call
	name    string         // as the server receives it
	method  *invoke.Method // nil if the IDL does not have it, or is not known
	unknown error          // why
	args    []byte
	began   time.Time
	took    time.Duration // until the server's answer

	passedOn bool // to the server
}

// names returns the names that patterns of -methods are compared with.
func (c *call) names() []string {
	if c.method == nil {
		return []string{c.name}
	}
	return []string{recording.NameOf(c.method, c.name), c.method.String()}
}

// begin reports whether a call may be handled. If so, it is to be ended by handling.Done.
func (r *recorder) begin() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.ended {
		r.handling.Add(1)
	}
	return !r.ended
}

// end waits until all calls have been handled. Those that wait for the server have been ended.
func (r *recorder) end() {
	r.mu.Lock()
	r.ended = true
	r.mu.Unlock()
	r.handling.Wait()
}

// handle passes a call on and records it.
func (r *recorder) handle(ctx context.Context, rc *rpc.Call) error {
	if !r.begin() {
		return contract.ErrEnded
	}
	defer r.handling.Done()
	u := ctx.Value(upstreamKey{}).(*upstream)
	c := &call{Call: rc, name: rc.Method.WireName(), args: rc.Args.Message().AppendTo(nil)}
	forward := u.forward
	if r.Multiplexed != "" && invoke.Prefix(c.name) == "" {
		c.name, forward = r.Multiplexed+":"+c.name, u.named
	}
	if recording.AsksForIDL(c.name) {
		return r.forward(ctx, c, forward)
	}
	if r.idl != nil {
		c.method, c.unknown = invoke.Find(r.idl, c.name, "", r.MaxDepth)
	}
	u.latest.Store(&c.name)
	return r.answer(ctx, c, forward)
}

// answer passes a call on and its answer back, unless it is to go wrong.
func (r *recorder) answer(ctx context.Context, c *call, forward rpc.Handler) error {
	c.began = time.Now()
	fault, oneway := r.faults.Draw(c.names()...), c.Method.Oneway()
	switch {
	case fault == faults.CutBefore:
		err := r.faults.Cut(ctx)
		r.record(c, nil, err, "cut")
		return err
	case fault == faults.Error && !oneway: // a oneway call has no answer that could be an error
		err := r.faults.Err()
		r.record(c, nil, err, "error")
		if given := r.faults.Hold(ctx, c.names()...); given != nil {
			return given
		}
		return err
	}
	err := r.forward(ctx, c, forward)
	c.took, c.passedOn = time.Since(c.began), true
	var reply []byte
	if err == nil && !oneway {
		reply = c.Result.Message().AppendTo(nil)
	}
	if fault == faults.CutAfter {
		r.record(c, reply, err, "cut")
		return r.faults.Cut(ctx)
	}
	r.record(c, reply, err, "")
	if !oneway {
		if given := r.faults.Hold(ctx, c.names()...); given != nil {
			return given
		}
	}
	return err
}

// forward makes the call of the server.
func (r *recorder) forward(ctx context.Context, c *call, forward rpc.Handler) error {
	within, cancel := r.within(ctx)
	defer cancel()
	err := r.Plainly(forward(within, c.Call))
	if err == nil || invoke.Answer(err) != nil || ctx.Err() == nil {
		return err
	}
	select {
	case <-r.ending:
		return contract.ErrEnded
	default:
		return contract.ErrGone
	}
}

// within bounds a call by -timeout.
func (r *recorder) within(ctx context.Context) (context.Context, context.CancelFunc) {
	if r.Timeout <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, r.Timeout)
}

// manyBytes are those of a call that becomes JSON while no other such call does.
const manyBytes = 1 << 20

// record verifies a call and writes its line, unless -n calls have been recorded. It ends the
// command after the last one. fault is what has gone wrong on purpose, or "".
func (r *recorder) record(c *call, reply []byte, err error, fault string) {
	if !r.take() {
		return
	}
	if len(c.args)+len(reply) > manyBytes {
		r.large.Lock()
		defer r.large.Unlock()
	}
	oneway := c.Method.Oneway()
	if r.verifier != nil {
		r.verifier.Call(c.name, c.method, c.unknown, oneway, c.args)
		switch {
		case !c.passedOn:
		case oneway:
			r.verifier.Oneway(err)
		default:
			r.verifier.Reply(c.Peer.String(), c.name, c.method, reply, err, !r.overHTTP())
		}
	}
	l := recording.NewLine(r.idl, r.MaxDepth, recording.Call{Name: c.name, Oneway: oneway, Args: c.args, Reply: reply, Err: err})
	began := c.began.UTC().Round(time.Millisecond)
	l.Time, l.Took, l.Fault = &began, c.took.Round(time.Microsecond).String(), fault
	text, err := json.Marshal(l)
	r.write(shell.Printable(string(append(text, '\n'))), err)
}

// take reports whether a call is to be recorded: the first -n that end are.
func (r *recorder) take() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.Number > 0 && r.taken >= r.Number {
		return false
	}
	r.taken++
	return true
}

// write writes a line, unless err says why there is none. After an error of the file it writes no
// more: half a line may be there.
func (r *recorder) write(line string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		if err == nil {
			r.progress.Print(func() { _, err = io.WriteString(r.out, line) })
		}
		if r.err = err; err == nil {
			r.n.Add(1)
		} else {
			fmt.Fprintln(r.progress, "nocopy: no further calls are recorded:", shell.Message(err))
		}
	}
	if r.Number > 0 && (r.n.Load() == int64(r.Number) || r.err != nil && r.taken == r.Number) {
		r.stop()
	}
}
