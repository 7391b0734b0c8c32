// Package record is the command that writes the calls which pass through it to a file.
package record

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/idlfiles"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/invoke"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/listen"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/mock"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/recording"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/shell"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/target"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// Command passes calls on to a server and records them.
type Command struct {
	Address string `arg:"" help:"The server: HOST:PORT, a URL, or the path of a unix socket."`
	Listen  string `help:"Where clients connect to. Without a host it is 127.0.0.1." default:"127.0.0.1:9091" placeholder:"ADDR"`
	Output  string `short:"o" help:"File to write; - is standard output. It must not exist, unless with -append." default:"-" placeholder:"FILE"`
	Append  bool   `help:"Append to the file, which only its owner may be able to read."`

	idlfiles.Files
	target.Connection
}

// Help is the end of the command's help text.
func (Command) Help() string {
	return `Clients connect to -listen, in any way: framed or not, Binary, Compact, THeader or HTTP. Each of their
connections gets one to the server, so that sessions stay together. Headers are passed on. With
-multiplexed, calls that name no service get that name. With IDL, given by -idl or told by the server,
arguments and results are JSON; without, they are bytes in base64. A line is written when its call has
ended. The file has all that was said, secrets included: only its owner may read it. nocopy replay and
nocopy mock -answers read it.

Example:
  nocopy record localhost:9083 -idl hive_metastore.thrift -o calls.jsonl -listen :9091`
}

// Run is called by the parser.
func (c *Command) Run(sh *shell.Shell) error {
	if err := c.Check(c.Address); err != nil {
		return shell.WithCode(shell.Usage, err)
	}
	idl, err := c.Load()
	if err != nil {
		return err
	}
	server, err := c.Connect(sh.Ctx, c.Address, idl == nil)
	if err != nil {
		return err
	}
	server.Close()
	if idl == nil && server.Description != nil {
		if idl, err = idlfiles.Of(server.Description); err != nil {
			return err
		}
	}
	out, end, err := c.output(sh)
	if err != nil {
		return err
	}
	r := &recorder{Command: c, idl: idl, out: out, wire: server.Wire}
	r.progress = sh.NewProgress("calls recorded", -1, r.n.Load)
	defer r.progress.Done()
	l, err := listen.On(c.Listen)
	if err != nil {
		return errors.Join(err, end())
	}
	how := "with IDL"
	if idl == nil {
		how = "without IDL: bytes only"
	}
	fmt.Fprintf(r.progress, "recording calls of %s (%s) on %s, %s\n", target.Shown(c.Address), server.Wire, l.Addr(), how)
	err = mock.Serve(sh.Ctx, &rpc.Server{
		Processor: r.processor(), ConnContext: r.connect, Limits: nocopy.Limits{MaxDepth: r.MaxDepth}, Logger: slog.New(slog.NewTextHandler(r.progress, nil)),
	}, l)
	r.mu.Lock()
	defer r.mu.Unlock()
	fmt.Fprintf(r.progress, "%d calls recorded\n", r.n.Load())
	return errors.Join(err, r.err, end())
}

// output opens the file, which only its owner may read.
func (c *Command) output(sh *shell.Shell) (io.Writer, func() error, error) {
	if c.Output == "-" {
		return sh.Out, func() error { return nil }, nil
	}
	how := os.O_WRONLY | os.O_CREATE | os.O_EXCL
	if c.Append {
		how = os.O_WRONLY | os.O_CREATE | os.O_APPEND
	}
	f, err := os.OpenFile(c.Output, how, 0o600)
	if err != nil {
		return nil, nil, err
	}
	// Windows has no such permissions.
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows" {
		f.Close()
		return nil, nil, fmt.Errorf("others may read %s, which will have all that is said, secrets included (%v): chmod 600 %[1]s", c.Output, info.Mode())
	}
	return f, f.Close, nil
}

// recorder passes calls on.
type recorder struct {
	*Command
	idl  *idlfiles.IDL // nil if it is not known
	wire string        // how the server is spoken to

	n        atomic.Int64 // calls recorded
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
func (r *recorder) connect(ctx context.Context, _ net.Conn) context.Context {
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

// handle passes a call on and records it.
func (r *recorder) handle(ctx context.Context, c *rpc.Call) error {
	u, _ := ctx.Value(upstreamKey{}).(*upstream)
	if u == nil || u.err != nil {
		return errors.New("nocopy record can't reach the server")
	}
	args := c.Args.Message().AppendTo(nil)
	began := time.Now()
	ctx, cancel := r.within(ctx)
	defer cancel()
	name, forward := c.Method.WireName(), u.forward
	if r.Multiplexed != "" && invoke.Prefix(name) == "" {
		name, forward = r.Multiplexed+":"+name, u.named
	}
	err := r.Plainly(forward(ctx, c))
	took := time.Since(began)
	var reply []byte
	if err == nil && !c.Method.Oneway() {
		reply = c.Result.Message().AppendTo(nil)
	}
	if !recording.AsksForIDL(name) {
		r.record(recording.NewLine(r.idl, r.MaxDepth, recording.Call{Name: name, Oneway: c.Method.Oneway(), Args: args, Reply: reply, Err: err}), began, took)
	}
	return err
}

// within bounds a call by -timeout.
func (r *recorder) within(ctx context.Context) (context.Context, context.CancelFunc) {
	if r.Timeout <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, r.Timeout)
}

// record writes a line.
func (r *recorder) record(l *recording.Line, began time.Time, took time.Duration) {
	began = began.UTC().Round(time.Millisecond)
	l.Time, l.Took = &began, took.Round(time.Microsecond).String()
	text, err := json.Marshal(l)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil {
		r.progress.Print(func() { _, err = io.WriteString(r.out, shell.Printable(string(text))+"\n") })
	}
	r.n.Add(1)
	if err != nil && r.err == nil {
		r.err = err
		fmt.Fprintln(r.progress, "nocopy:", shell.Message(err))
	}
}
