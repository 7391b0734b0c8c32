package record

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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

	n        atomic.Int64 // calls recorded
	stop     func()       // ends the command
	progress *shell.Progress

	mu  sync.Mutex
	out io.Writer
	err error // of out
}

// upstream is the server's side of a client's connection.
type upstream struct {
	forward rpc.Handler
	named   rpc.Handler // of calls without the name of a service, which get that of -multiplexed
	err     error       // why there are none
}

type upstreamKey struct{}

// connect makes a connection to the server for one of a client's. It ends with that.
func (r *recorder) connect(ctx context.Context, nc net.Conn) context.Context {
	ctx = faults.ConnContext(ctx, nc)
	u := &upstream{}
	var opts []rpc.Option
	if !strings.HasPrefix(r.wire, "http ") {
		opts = append(opts, rpc.OneConnection)
	}
	server, err := r.Again(ctx, r.Address, r.wire, opts...)
	if err != nil {
		u.err = err
		fmt.Fprintln(r.progress, "nocopy:", shell.Message(err))
	} else {
		u.forward = rpc.Forward(server.Caller)
		u.named = rpc.Forward(rpc.MultiplexedCaller(server.Caller, r.Multiplexed))
		context.AfterFunc(ctx, server.Close)
	}
	return context.WithValue(ctx, upstreamKey{}, u)
}

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
}

// String returns the name that patterns of -methods are compared with.
func (c *call) String() string {
	if c.method != nil {
		return c.method.String()
	}
	return c.name
}

// handle passes a call on and records it.
func (r *recorder) handle(ctx context.Context, rc *rpc.Call) error {
	u, _ := ctx.Value(upstreamKey{}).(*upstream)
	if u == nil || u.err != nil {
		return errors.New("nocopy record can't reach the server")
	}
	c := &call{Call: rc, name: rc.Method.WireName(), args: rc.Args.Message().AppendTo(nil)}
	forward := u.forward
	if r.Multiplexed != "" && invoke.Prefix(c.name) == "" {
		c.name, forward = r.Multiplexed+":"+c.name, u.named
	}
	if recording.AsksForIDL(c.name) {
		return r.forward(ctx, c, forward)
	}
	defer r.count()
	if r.idl != nil {
		c.method, c.unknown = invoke.Find(r.idl, c.name, "", r.MaxDepth)
	}
	if r.verifier != nil {
		r.verifier.Call(c.name, c.method, c.unknown, rc.Method.Oneway(), c.args)
	}
	return r.answer(ctx, c, forward)
}

// count counts a call, and ends the command after the last one.
func (r *recorder) count() {
	if n := r.n.Add(1); r.Number > 0 && n >= int64(r.Number) {
		r.stop()
	}
}

// answer passes a call on and its answer back, unless it is to go wrong.
func (r *recorder) answer(ctx context.Context, c *call, forward rpc.Handler) error {
	c.began = time.Now()
	fault, oneway := r.faults.Draw(c.String()), c.Method.Oneway()
	switch {
	case fault == faults.CutBefore:
		err := r.faults.Cut(ctx)
		r.record(c, nil, err, "cut")
		return err
	case fault == faults.Error && !oneway: // a oneway call has no answer that could be an error
		err := r.faults.Err()
		r.record(c, nil, err, "error")
		if given := r.faults.Hold(ctx, c.String()); given != nil {
			return given
		}
		return err
	}
	err := r.forward(ctx, c, forward)
	c.took = time.Since(c.began)
	var reply []byte
	if err == nil && !oneway {
		reply = c.Result.Message().AppendTo(nil)
	}
	if r.verifier != nil && !oneway {
		r.verifier.Reply(c.Peer.String(), c.name, c.method, reply, err)
	}
	if fault == faults.CutAfter {
		r.record(c, reply, err, "cut")
		return r.faults.Cut(ctx)
	}
	r.record(c, reply, err, "")
	if !oneway {
		if given := r.faults.Hold(ctx, c.String()); given != nil {
			return given
		}
	}
	return err
}

// forward makes the call of the server.
func (r *recorder) forward(ctx context.Context, c *call, forward rpc.Handler) error {
	ctx, cancel := r.within(ctx)
	defer cancel()
	return r.Plainly(forward(ctx, c.Call))
}

// within bounds a call by -timeout.
func (r *recorder) within(ctx context.Context) (context.Context, context.CancelFunc) {
	if r.Timeout <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, r.Timeout)
}

// record writes a line. fault is what has gone wrong on purpose, or "".
func (r *recorder) record(c *call, reply []byte, err error, fault string) {
	l := recording.NewLine(r.idl, r.MaxDepth, recording.Call{Name: c.name, Oneway: c.Method.Oneway(), Args: c.args, Reply: reply, Err: err})
	began := c.began.UTC().Round(time.Millisecond)
	l.Time, l.Took, l.Fault = &began, c.took.Round(time.Microsecond).String(), fault
	text, err := json.Marshal(l)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil {
		r.progress.Print(func() { _, err = io.WriteString(r.out, shell.Printable(string(text))+"\n") })
	}
	if err != nil && r.err == nil {
		r.err = err
		fmt.Fprintln(r.progress, "nocopy:", shell.Message(err))
	}
}
