// Package record is the command that passes calls on to a server and writes them to a file. On
// their way it can make calls go wrong, and compare them with the IDL.
package record

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"runtime"
	"time"

	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/contract"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/faults"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/idlfiles"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/listen"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/mock"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/shell"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/target"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// Command passes calls on to a server and records them.
type Command struct {
	Address  string        `arg:"" help:"The server: HOST:PORT, a URL, or the path of a unix socket."`
	Listen   string        `help:"Where clients connect to. Without a host it is 127.0.0.1." default:"127.0.0.1:9091" placeholder:"ADDR"`
	Output   string        `short:"o" help:"File to write; - is standard output. It must not exist, unless with -append." default:"-" placeholder:"FILE"`
	Append   bool          `help:"Append to the file, which only its owner may be able to read."`
	Duration time.Duration `help:"Stop after this time." placeholder:"DURATION"`
	Number   int           `short:"n" help:"Stop after this number of calls." placeholder:"N"`

	Verify   bool   `help:"Report what breaks the IDL or its rules (vt)."`
	Fail     bool   `help:"As -verify; exit with 100 if something does, and with 1 if no call went by or one got no answer."`
	Findings string `help:"As -verify; also write what was found to this new file, as JSON." placeholder:"FILE"`

	faults.Flags
	Bandwidth string `help:"Most bytes per second on each client's connection, in each direction, such as 100KB/s." placeholder:"RATE"`
	Seed      uint64 `help:"Seed of -errors and -cuts; 0 is a new one each time." default:"1"`

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

The server sees calls at once: -delay holds back answers, and those to later calls on a connection wait
for them. A call that gets an error is not passed on. Of the calls that are cut, the server sees half.
Oneway calls have no answers: only -cuts concerns them. -bandwidth is for all of a connection, whichever
methods are called. In the file, calls with an error or a cut have the key fault.

-verify needs the IDL. It reports unknown methods and fields, other types, values that are not in an enum,
missing required fields, texts that are not UTF-8, values against the rules, and replies without a call or
cut off. A line is printed for the first of a kind; at the end all kinds are counted. Exit codes with -fail:
0 all is as the IDL demands, 100 something is not, 1 no call went by, one got no answer, or the file could
not be written.

Examples:
  nocopy record localhost:9083 -idl hive_metastore.thrift -o calls.jsonl -listen :9091
  nocopy record localhost:9090 -o calls.jsonl -delay 50ms -errors 0.1 -methods 'Store.get,put*'
  nocopy record localhost:9090 -idl store.thrift -o calls.jsonl -fail -duration 10m`
}

// Run is called by the parser.
func (c *Command) Run(sh *shell.Shell) error {
	bandwidth, err := c.check()
	if err != nil {
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
	verify := c.Verify || c.Fail || c.Findings != ""
	switch {
	case idl != nil:
		if err := c.CheckMethods(idl.Services); err != nil {
			return shell.WithCode(shell.Usage, err)
		}
	case verify:
		return fmt.Errorf("calls can't be verified without the IDL: give it with -idl FILE (%w)", server.NotDescribed)
	}
	r := &recorder{Command: c, idl: idl, wire: server.Wire, faults: faults.New(c.Flags, "record", c.Seed)}
	return r.run(sh, verify, bandwidth)
}

// run opens files, passes calls on until the end, and reports how it went.
func (r *recorder) run(sh *shell.Shell, verify bool, bandwidth int64) (err error) {
	r.progress = sh.NewProgress("calls recorded", -1, r.n.Load)
	defer r.progress.Done()
	if err := sh.CheckOutputs([]string{r.Output, r.Findings}, append(r.Paths(r.idl), r.CA, r.Cert, r.Key)); err != nil {
		return err
	}
	l, err := listen.On(r.Listen)
	if err != nil {
		return err
	}
	defer l.Close()
	var findings *os.File
	if r.Findings != "" {
		if findings, err = os.OpenFile(r.Findings, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600); err != nil {
			return err
		}
	}
	var end func() error
	if r.out, end, err = r.output(sh); err != nil {
		if findings != nil { // the next try makes it
			findings.Close()
			os.Remove(r.Findings)
		}
		return err
	}
	if verify {
		var errs []error
		r.verifier, errs = contract.New(r.idl, func(f *contract.Finding) { fmt.Fprintln(r.progress, f) })
		for _, err := range errs {
			fmt.Fprintln(r.progress, "nocopy: not checked:", shell.Message(err))
		}
	}
	ctx, stop := context.WithCancel(sh.Ctx)
	defer stop()
	r.stop = stop
	r.ending = ctx.Done()
	err = r.serve(ctx, l, bandwidth)
	r.end()
	err = errors.Join(err, r.incomplete(end()))
	fmt.Fprintf(r.progress, "%d calls recorded\n", r.n.Load())
	if !verify {
		return err
	}
	if verdict := r.verdict(findings); err == nil {
		err = verdict
	}
	return err
}

// incomplete returns an error if the file lacks calls, or closing it has failed.
func (r *recorder) incomplete(closed error) error {
	switch {
	case r.err != nil:
		return shell.Verdict(shell.Failed, fmt.Errorf("the recording lacks %d of %d calls: %w", int64(r.taken)-r.n.Load(), r.taken, r.err))
	case closed != nil:
		return shell.Verdict(shell.Failed, closed)
	}
	return nil
}

// verdict reports what breaks the IDL. With -fail it is an error if there is something, if no call
// went by, or if one got no answer. Otherwise it returns ErrClean. What ends the command does not
// matter.
func (r *recorder) verdict(file *os.File) error {
	report := r.verifier.Report()
	for _, line := range report.Lines() {
		fmt.Fprintln(r.progress, line)
	}
	if file != nil {
		if err := errors.Join(shell.EncodeJSON(file, report), file.Close()); err != nil {
			return shell.Verdict(shell.Failed, err)
		}
	}
	if !r.Fail {
		return shell.ErrClean
	}
	if len(report.Findings) > 0 {
		return shell.Verdict(shell.Findings, shell.ErrSilent)
	}
	if err := report.Incomplete(); err != nil {
		return shell.Verdict(shell.Failed, err)
	}
	return shell.ErrClean
}

// check returns the bytes per second of -bandwidth, 0 if there is no limit, and an error about
// flags that make no sense.
func (c *Command) check() (bandwidth int64, err error) {
	if c.Duration < 0 || c.Number < 0 {
		return 0, errors.New("-duration and -n are not negative")
	}
	if err := c.Flags.Check(); err != nil {
		return 0, err
	}
	if c.Bandwidth != "" {
		if bandwidth, err = faults.ParseBandwidth(c.Bandwidth); err != nil {
			return 0, err
		}
	}
	return bandwidth, c.Connection.Check(c.Address)
}

// serve passes calls on until ctx or the time of -duration ends.
func (r *recorder) serve(ctx context.Context, l net.Listener, bandwidth int64) error {
	how := "with IDL"
	if r.idl == nil {
		how = "without IDL: bytes only"
	}
	fmt.Fprintf(r.progress, "recording calls of %s (%s) on %s, %s\n", target.Shown(r.Address), r.wire, l.Addr(), how)
	srv := &rpc.Server{
		Processor: r.processor(), ConnContext: r.connect, MaxFrame: r.MaxFrame, Limits: nocopy.Limits{MaxDepth: r.MaxDepth},
		Logger: slog.New(&refusals{slog.NewTextHandler(r.progress, nil), r}),
	}
	if bandwidth > 0 {
		l = faults.Throttle(l, bandwidth)
		srv.ReadTimeout, srv.WriteTimeout = -1, -1 // a large message takes as long as it takes
	}
	if r.Duration > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, r.Duration)
		defer cancel()
	}
	return mock.Serve(ctx, srv, l)
}

// output opens the file, which only its owner may read.
func (c *Command) output(sh *shell.Shell) (io.Writer, func() error, error) {
	switch c.Output {
	case "-":
		return sh.Out, func() error { return nil }, nil
	case os.DevNull: // which exists
		return io.Discard, func() error { return nil }, nil
	}
	how := os.O_WRONLY | os.O_CREATE | os.O_EXCL
	if c.Append {
		how = os.O_WRONLY | os.O_CREATE | os.O_APPEND
	}
	f, err := os.OpenFile(c.Output, how, 0o600)
	if err != nil {
		return nil, nil, err
	}
	if err := checkOutput(f); err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, f.Close, nil
}

// checkOutput returns an error if others may read a file, or if its last line has no end.
func checkOutput(f *os.File) error {
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return err
	}
	if info.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows" { // which has no such permissions
		return fmt.Errorf("others may read %s, which will have all that is said, secrets included (%v): chmod 600 %[1]s", f.Name(), info.Mode())
	}
	if info.Size() == 0 {
		return nil
	}
	in, err := os.Open(f.Name())
	if err != nil {
		return err
	}
	defer in.Close()
	var last [1]byte
	if _, err := in.ReadAt(last[:], info.Size()-1); err != nil {
		return err
	}
	if last[0] != '\n' {
		return fmt.Errorf("%s does not end with the end of a line, and nothing can be appended: delete its last line, which was cut off, or end it if it is whole", f.Name())
	}
	return nil
}
