// Package replay is the command that makes recorded calls again and compares the answers.
package replay

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"

	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/idlfiles"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/invoke"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/recording"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/shell"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/target"
	"github.com/nocopythrift/nocopythrift/nocopy/descriptor"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// Command makes recorded calls again.
type Command struct {
	File    string   `arg:"" help:"File of nocopy record; - is standard input."`
	Address string   `arg:"" help:"The server: HOST:PORT, a URL, or the path of a unix socket."`
	Ignore  []string `help:"Path in results or exceptions that may differ, such as created_at or lines[*].id; may be repeated." placeholder:"PATH" sep:"none"`
	Only    []string `help:"Replay only calls of these methods, such as Store.get,put*; may be repeated." placeholder:"METHOD"`

	shell.Format
	idlfiles.Files
	target.Connection
}

// Help is the end of the command's help text.
func (Command) Help() string {
	return `The calls are made one after the other, on one connection. An answer differs if its JSON does: elements
of sets and keys of maps may be in any order. Exit codes: 0 all answers are as recorded, 100 some differ,
1 the file or the server can't be read. Calls that had no answer when they were recorded are left out.
Calls keep the names of services that they were recorded with (Service:method). With -multiplexed, those
without such a name get that one. No file that a recording names is opened.

Example:
  nocopy replay calls.jsonl localhost:9083 -idl hive_metastore.thrift -ignore createTime`
}

// report is the report on a call whose answer differs.
type report struct {
	Line        int                    `json:"line"`
	Method      string                 `json:"method"`
	Differences []recording.Difference `json:"differences"`
}

// summary is the report at the end.
type summary struct {
	Calls     int      `json:"calls"`
	LeftOut   int      `json:"leftOut"`
	Different []report `json:"different"`
}

// Run is called by the parser.
func (c *Command) Run(sh *shell.Shell) error {
	if err := errors.Join(c.Check(c.Address), recording.CheckNames("-only", c.Only)); err != nil {
		return shell.WithCode(shell.Usage, err)
	}
	idl, err := c.Load()
	if err != nil {
		return err
	}
	in, total, end, err := c.open(sh)
	if err != nil {
		return err
	}
	defer end()
	lines := recording.NewReader(in)
	n, l, err := lines.Next() // its method may say how servers are called
	if err != nil && err != io.EOF {
		return c.at(err)
	}
	conn := c.Connection
	if l != nil {
		conn.Multiplexed = c.service(l)
	}
	server, err := conn.Connect(sh.Ctx, c.Address, idl == nil, rpc.PoolSize(1))
	if err != nil {
		return err
	}
	defer server.Close()
	if idl == nil && server.Description != nil {
		if idl, err = idlfiles.Of(server.Description); err != nil {
			return err
		}
	}
	r := &replayer{Command: c, sh: sh, server: server, idl: idl, sum: summary{Different: []report{}}}
	r.progress = sh.NewProgress("lines", total, r.done.Load)
	for err = nil; err == nil && l != nil; n, l, err = lines.Next() {
		if err := r.line(n, l); err != nil {
			r.progress.Done()
			return c.at(&recording.LineError{Line: n, Err: err})
		}
	}
	r.progress.Done()
	if err != nil && err != io.EOF {
		return c.at(err)
	}
	if len(r.Only) > 0 && r.sum.Calls+r.sum.LeftOut == 0 {
		return fmt.Errorf("%s has no call of %s", c.File, strings.Join(r.Only, ", "))
	}
	return r.finish()
}

// open opens the recording, and returns how many lines it has; -1 if that is not known.
func (c *Command) open(sh *shell.Shell) (in io.Reader, total int64, end func() error, err error) {
	if c.File == "-" {
		return sh.In, -1, func() error { return nil }, nil
	}
	f, err := os.Open(c.File)
	if err != nil {
		return nil, 0, nil, err
	}
	if total, err = recording.Lines(sh.Ctx, f); err != nil {
		f.Close()
		return nil, 0, nil, err
	}
	return shell.Reader(sh.Ctx, f), total, f.Close, nil
}

// at adds the file's name to an error about one of its lines.
func (c *Command) at(err error) error { return fmt.Errorf("%s:%w", c.File, err) }

// replayer makes the calls.
type replayer struct {
	*Command
	sh       *shell.Shell
	server   *target.Server
	idl      *idlfiles.IDL
	sum      summary
	done     atomic.Int64 // lines
	progress *shell.Progress
}

// line makes the call of a line and compares its answer.
func (r *replayer) line(n int, l *recording.Line) error {
	if r.sh.Ctx.Err() != nil {
		return context.Cause(r.sh.Ctx)
	}
	r.done.Store(int64(n))
	if len(r.Only) > 0 && !recording.Named(r.Only, recording.Names(r.idl, l.Method)...) {
		return nil
	}
	if l.Failed != "" && l.RawReply == nil {
		r.sum.LeftOut++
		return nil
	}
	r.sum.Calls++
	found, err := r.call(l)
	if err != nil {
		return err
	}
	if len(found) == 0 {
		return nil
	}
	r.sum.Different = append(r.sum.Different, report{n, l.Method, found})
	if !r.JSON() {
		r.progress.Print(func() { r.print(n, l.Method, found) })
	}
	return nil
}

func (r *replayer) print(n int, method string, found []recording.Difference) {
	for _, d := range found {
		fmt.Fprintf(r.sh.Out, "%s:%d: %s: %s: recorded %s, got %s\n", r.File, n, shell.Paint(r.sh.Color, shell.Bold, shell.OneLine(method)),
			shell.OneLine(d.Path), shell.OneLine(orAbsent(d.Recorded)), shell.OneLine(orAbsent(d.Got)))
	}
}

func orAbsent(text string) string {
	if text == "" {
		return "nothing"
	}
	return text
}

// service returns the name of the service that a line's call is made with: its own, or else that
// of -multiplexed; "" if there is none.
func (c *Command) service(l *recording.Line) string {
	if name := invoke.Prefix(l.Method); name != "" {
		return name
	}
	return c.Multiplexed
}

// call makes a call and returns where its answer differs.
func (r *replayer) call(l *recording.Line) ([]recording.Difference, error) {
	idl := r.idl
	if l.RawArgs != nil {
		idl = nil
	}
	if idl == nil && l.RawArgs == nil {
		return nil, fmt.Errorf("%s was recorded with IDL: give it with -idl FILE", l.Method)
	}
	m, err := invoke.Find(idl, l.Method, r.service(l), r.MaxDepth)
	if err != nil {
		return nil, err
	}
	m.Prefix = r.service(l) // not the one that the IDL has: the recorded call had none, perhaps
	args := l.RawArgs
	if args == nil {
		if args, err = m.Args(l.Args); err != nil {
			return nil, err
		}
	} else {
		m.Oneway = l.Oneway
	}
	ctx, cancel := r.Context(r.sh.Ctx)
	defer cancel()
	o := m.Call(ctx, r.server.Caller, args)
	if r.sh.Ctx.Err() != nil {
		return nil, context.Cause(r.sh.Ctx)
	}
	o.Err = r.Plainly(o.Err)
	if l.RawArgs != nil && l.RawReply != nil {
		return compareRaw(l, &o), nil
	}
	var got recording.Line
	got.SetOutcome(&o)
	return r.compare(m, l, &got), nil
}

// compareRaw compares wire bytes.
func compareRaw(l *recording.Line, o *invoke.Outcome) []recording.Difference {
	if bytes.Equal(l.RawReply, o.Reply) && o.Err == nil {
		return nil
	}
	got := fmt.Sprintf("%x", o.Reply)
	if o.Err != nil {
		got = o.Err.Error()
	}
	return []recording.Difference{{Path: "reply", Recorded: fmt.Sprintf("%.100x", l.RawReply), Got: fmt.Sprintf("%.200s", got)}}
}

// compare compares an answer with the recorded one.
func (r *replayer) compare(m *invoke.Method, was, got *recording.Line) []recording.Difference {
	kind := func(l *recording.Line) string {
		switch {
		case l.Error != nil:
			return fmt.Sprintf("TApplicationException %d: %s", l.Error.Type, l.Error.Message)
		case l.Failed != "":
			return "no answer: " + l.Failed
		case l.Exception != "":
			return "exception " + l.Exception
		}
		return "a result"
	}
	same := was.Exception == got.Exception && was.Failed == got.Failed && (was.Error == nil) == (got.Error == nil) &&
		(was.Error == nil || was.Error.Type == got.Error.Type)
	if !same {
		return []recording.Difference{{Path: "answer", Recorded: kind(was), Got: kind(got)}}
	}
	if was.Error != nil {
		return nil // texts of errors often have ids and times
	}
	var t descriptor.Type
	if was.Exception != "" {
		for f := range m.Desc().Throws() {
			if f.Type().Struct().Name() == was.Exception {
				t = f.Type()
			}
		}
		return recording.Compare(t, "value", orNull(was.Value), orNull(got.Value), r.Ignore)
	}
	if !m.Raw() {
		t, _ = m.Desc().Returns()
	}
	return recording.Compare(t, "result", orNull(was.Result), orNull(got.Result), r.Ignore)
}

func orNull(text json.RawMessage) json.RawMessage {
	if len(text) == 0 {
		return json.RawMessage("null")
	}
	return text
}

// finish says how it went.
func (r *replayer) finish() error {
	if r.JSON() {
		if err := r.sh.WriteJSON(r.sum); err != nil {
			return err
		}
	} else {
		color := shell.Green
		if len(r.sum.Different) > 0 {
			color = shell.Red
		}
		text := fmt.Sprintf("%d calls, %d answers differ", r.sum.Calls, len(r.sum.Different))
		if r.sum.LeftOut > 0 {
			text += fmt.Sprintf(", %d calls without a recorded answer left out", r.sum.LeftOut)
		}
		fmt.Fprintln(r.sh.Out, shell.Paint(r.sh.Color, color, text))
	}
	if len(r.sum.Different) > 0 {
		return shell.WithCode(shell.Findings, shell.ErrSilent)
	}
	return nil
}
