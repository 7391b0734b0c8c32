// Package call is the command that calls a method.
package call

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/idlfiles"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/invoke"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/recording"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/shell"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/target"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// Command calls a method of a server.
type Command struct {
	Address string   `arg:"" help:"HOST:PORT, an http:// or https:// URL, or the path of a unix socket."`
	Method  string   `arg:"" optional:"" help:"Service.method; Service:method for a multiplexing server; the method alone if no other service has one of its name."`
	Args    []string `arg:"" optional:"" help:"Arguments: key=value, a text, number, bool or enum name; key:=JSON; key=@FILE. A key may be a path, order.lines.0.name."`

	Data    string `short:"d" help:"Arguments as a JSON object, or @FILE, or - for standard input." placeholder:"JSON"`
	Calls   string `help:"Make a call for each line of a file, or of standard input (-): the arguments as a JSON object or, without a method, {\"method\": …, \"args\": …} as nocopy record writes them." placeholder:"FILE"`
	Raw     bool   `help:"Without IDL: fields by their ids and types, 1:i32=5 or {\"1\": {\"i32\": 5}}."`
	Oneway  bool   `help:"With -raw, expect no reply."`
	Verbose bool   `short:"v" help:"Show both messages, annotated, on standard error."`

	idlfiles.Files
	target.Connection
}

// Help is the end of the command's help text.
func (Command) Help() string {
	return `The result is JSON on standard output, null of a method that returns nothing. A declared exception
is JSON on standard error, with exit code 3. A TApplicationException of type n has exit code 64+n,
or 64 if n is not in 0 to 35.
With -calls there is a line of output for each line: the result or {"exception": …, "value": …},
{"error": {"type": n, "message": …}} or {"failed": …}; the exit code is that of the first failure.

Elements of lists and values of maps are key=value, too: lines.0.article=lamp, stock.oslo=3. Lists
and sets of texts, numbers and names have commas: tags=new,red.

Without -idl the server is asked for its IDL: servers of nocopythrift with Describe tell it, and those
of fbthrift.

Examples:
  nocopy call localhost:9090 Calculator.add -idl calculator.thrift a=1 b=2
  nocopy call localhost:9090 Orders.submit -idl orders.thrift -d @order.json -H 'token: x'
  nocopy call https://host/thrift Store.get key=a -idl store.thrift
  nocopy call localhost:9090 Calculator.add -raw 1:i32=1 2:i32=2`
}

// maxInput bounds the arguments that are read, in bytes.
const maxInput = 100 << 20

// Run is called by the parser.
func (c *Command) Run(sh *shell.Shell) error {
	if err := c.checkFlags(); err != nil {
		return shell.WithCode(shell.Usage, err)
	}
	var idl *idlfiles.IDL
	var err error
	if !c.Raw {
		if idl, err = c.Load(); err != nil {
			return err
		}
	}
	text, err := c.data(sh)
	if err != nil {
		return err
	}
	if c.Calls == "" {
		whole := *sh
		var cancel context.CancelFunc
		whole.Ctx, cancel = c.Whole(sh.Ctx)
		defer cancel()
		sh = &whole
	}
	conn := c.Connection
	if conn.Multiplexed == "" {
		conn.Multiplexed = c.service()
	}
	server, err := conn.Connect(sh.Ctx, c.Address, idl == nil && !c.Raw)
	if err != nil {
		return err
	}
	defer server.Close()
	if idl == nil && !c.Raw {
		if idl, err = idlfiles.Told(server); err != nil {
			return err
		}
	}
	if c.Calls != "" {
		return c.callAll(sh, server, idl)
	}
	m, err := c.find(idl, c.Method)
	if err != nil {
		return err
	}
	args, err := m.Wire(text, c.Args)
	if err != nil {
		return err
	}
	o := c.call(sh, server, m, args, &shell.Progress{})
	if o.Err == nil && o.Exception == "" {
		return printJSON(sh.Out, o.Result, "  ")
	}
	return c.failed(sh, o)
}

// checkFlags returns an error about a command line that means nothing.
func (c *Command) checkFlags() error {
	switch {
	case c.Method == "" && c.Calls == "":
		return errors.New("which method is to be called? Name it as Service.method")
	case c.Calls != "" && (c.Data != "" || len(c.Args) > 0):
		return errors.New("-calls has the arguments: leave -d and key=value away")
	case c.Oneway && !c.Raw:
		return errors.New("-oneway is for -raw: the IDL says which methods are oneway")
	case c.Raw && len(c.IDL) > 0:
		return errors.New("-raw is for calls without -idl")
	}
	return c.Check(c.Address)
}

// find returns the method of a name.
func (c *Command) find(idl *idlfiles.IDL, name string) (*invoke.Method, error) {
	m, err := invoke.Find(idl, name, c.Multiplexed, c.MaxDepth)
	if err == nil && m.Raw() {
		m.Oneway = c.Oneway
	}
	return m, err
}

// data returns what -d says: the arguments of the one call as a JSON object or, with -raw, as wire
// bytes.
func (c *Command) data(sh *shell.Shell) ([]byte, error) {
	if name, ok := strings.CutPrefix(c.Data, "@"); ok {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		return readAll(f)
	}
	if c.Data == "-" {
		return readAll(sh.In)
	}
	return []byte(c.Data), nil
}

func readAll(r io.Reader) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxInput+1))
	if err == nil && len(b) > maxInput {
		err = fmt.Errorf("the arguments have more than %d bytes", maxInput)
	}
	return b, err
}

// call makes a call.
func (c *Command) call(sh *shell.Shell, server *target.Server, m *invoke.Method, args []byte, progress *shell.Progress) invoke.Outcome {
	ctx, cancel := c.Context(sh.Ctx)
	defer cancel()
	var headers rpc.ReplyHeaders
	if c.Verbose {
		ctx = rpc.ReceiveHeaders(ctx, &headers)
	}
	o := m.Call(ctx, server.Caller, args)
	var answer *rpc.ApplicationException
	unknown := errors.As(o.Err, &answer) && answer.Type == rpc.UnknownMethod
	if (unknown || errors.Is(o.Err, rpc.ErrConnLost) && errors.Is(o.Err, io.EOF)) && m.Prefix == "" {
		service := m.Service
		if service == "" {
			service = "Service"
		}
		o.Err = fmt.Errorf("%w (if the server is a multiplexing one, call %s:%s)", o.Err, service, m.Name)
	}
	if c.Verbose {
		progress.Print(func() {
			m.Dump(sh.Err, sh.ErrColor, args, o.Reply)
			for name, value := range headers.All() {
				fmt.Fprintf(sh.Err, "# header %q: %q\n", name, value)
			}
			fmt.Fprintf(sh.Err, "# %s, %v\n", server.Wire, o.Took.Round(time.Microsecond))
		})
	}
	return o
}

// failed says why a call has no result, and returns the error for the exit code.
func (c *Command) failed(sh *shell.Shell, o invoke.Outcome) error {
	if o.Exception != "" && o.Err == nil {
		printJSON(sh.Err, outcomeJSON(&o), "  ")
		return shell.WithCode(o.Code(), shell.ErrSilent)
	}
	return shell.WithCode(o.Code(), c.Explain(c.Address, o.Err))
}

// printJSON writes JSON and a line's end, indented unless indent is empty.
func printJSON(w io.Writer, text json.RawMessage, indent string) error {
	var b bytes.Buffer
	if indent == "" {
		if err := json.Compact(&b, text); err != nil {
			return err
		}
	} else if err := json.Indent(&b, text, "", indent); err != nil {
		return err
	}
	b.WriteByte('\n')
	_, err := io.WriteString(w, shell.Printable(b.String()))
	return err
}

// line is a line of -calls without a method; other keys, of nocopy record, mean nothing here.
type line struct {
	Method string          `json:"method"`
	Args   json.RawMessage `json:"args"`
}

// service returns the name of a service by which a multiplexing server may demand to be called: of
// the method or, without one, of the first call in a file; "" if there is none.
func (c *Command) service() string {
	if c.Method != "" || c.Calls == "-" {
		return invoke.Prefix(c.Method)
	}
	if info, err := os.Stat(c.Calls); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	f, err := os.Open(c.Calls)
	if err != nil {
		return "" // callAll says so
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, maxInput)
	for lines.Scan() {
		var l line
		if isCall(lines.Bytes()) {
			json.Unmarshal(lines.Bytes(), &l)
			return invoke.Prefix(l.Method)
		}
	}
	return ""
}

// isCall reports whether a line is neither empty nor a comment.
func isCall(text []byte) bool {
	text = bytes.TrimSpace(text)
	return len(text) > 0 && text[0] != '#'
}

// callAll makes a call for each line, and prints a line for it: the result or why there is none.
// It goes on after calls that fail; the exit code is that of the first of them.
func (c *Command) callAll(sh *shell.Shell, server *target.Server, idl *idlfiles.IDL) error {
	in := sh.In
	if c.Calls != "-" {
		f, err := os.Open(c.Calls)
		if err != nil {
			return err
		}
		defer f.Close()
		in = shell.Reader(sh.Ctx, f)
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxInput)
	var first error
	var at atomic.Int64
	progress := sh.NewProgress("lines", -1, at.Load)
	defer progress.Done()
	for n := 1; lines.Scan(); n++ {
		at.Store(int64(n))
		if !isCall(lines.Bytes()) {
			progress.Print(func() { fmt.Fprintln(sh.Out) })
			continue
		}
		o := c.callLine(sh, server, idl, bytes.TrimSpace(lines.Bytes()), progress)
		if sh.Ctx.Err() != nil {
			return context.Cause(sh.Ctx)
		}
		var err error
		progress.Print(func() { err = printJSON(sh.Out, outcomeJSON(&o), "") })
		if err != nil {
			return err
		}
		code := o.Code()
		if code == 0 {
			continue
		}
		if first == nil {
			first = shell.WithCode(code, shell.ErrSilent)
		}
		why := "exception " + o.Exception
		if o.Err != nil {
			why = shell.Message(o.Err)
		}
		fmt.Fprintf(progress, "%s:%d: %s\n", c.Calls, n, why)
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("%s: %w", c.Calls, err)
	}
	return first
}

// outcomeJSON returns the line for a call: its result or, as in a recording, its exception, the
// server's error, or why there was no answer.
func outcomeJSON(o *invoke.Outcome) json.RawMessage {
	if o.Err == nil && o.Exception == "" {
		return o.Result
	}
	var l recording.Line
	l.SetOutcome(o)
	text, _ := json.Marshal(struct {
		Exception string             `json:"exception,omitempty"`
		Value     json.RawMessage    `json:"value,omitempty"`
		Error     *recording.Failure `json:"error,omitempty"`
		Failed    string             `json:"failed,omitempty"`
	}{l.Exception, l.Value, l.Error, l.Failed})
	return text
}

// callLine makes the call of a line.
func (c *Command) callLine(sh *shell.Shell, server *target.Server, idl *idlfiles.IDL, text []byte, progress *shell.Progress) invoke.Outcome {
	name := c.Method
	if name == "" {
		var l line
		if err := json.Unmarshal(text, &l); err != nil {
			return invoke.Outcome{Err: err}
		}
		if l.Method == "" {
			return invoke.Outcome{Err: errors.New("the key method is missing")}
		}
		name, text = l.Method, l.Args
	}
	m, err := c.find(idl, name)
	if err != nil {
		return invoke.Outcome{Err: err}
	}
	args, err := m.Args(text)
	if err != nil {
		return invoke.Outcome{Err: err}
	}
	o := c.call(sh, server, m, args, progress)
	o.Err = c.Plainly(o.Err)
	return o
}
