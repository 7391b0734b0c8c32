package dump

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/capture"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/idlfiles"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/invoke"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/recording"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/shell"
)

// capture shows the calls in a file of some size. file counts the bytes that are read.
func (c *Command) capture(sh *shell.Shell, idl *idlfiles.IDL, in io.Reader, file *counted, size int64) error {
	calls := &calls{Command: c, sh: sh, idl: idl}
	calls.progress = sh.NewProgress("bytes", size, file.n.Load)
	sum, err := capture.Read(sh.Ctx, in, calls.options(), calls)
	return calls.finish(sum, err, c.File)
}

// live shows the calls on an interface, until the user interrupts it.
func (c *Command) live(sh *shell.Shell) error {
	if err := c.usage(true); err != nil {
		return err
	}
	idl, err := c.Load()
	if err != nil {
		return err
	}
	calls := &calls{Command: c, sh: sh, idl: idl}
	calls.progress = sh.NewProgress("calls", -1, calls.n.Load)
	sum, err := capture.Live(sh.Ctx, c.Interface, calls.options(), calls)
	if err = calls.finish(sum, err, c.Interface); err == nil {
		return shell.ErrClean
	}
	return err
}

// calls is the capture.Output of the command.
type calls struct {
	*Command
	sh  *shell.Shell
	idl *idlfiles.IDL
	n   atomic.Int64 // that were shown

	methods map[string]bool // those that there are, if -only chooses some

	err error // of the output

	progress *shell.Progress
}

func (o *calls) options() capture.Options {
	return capture.Options{Port: o.Port, Oneway: func(method string) bool {
		m, err := invoke.Find(o.idl, method, "", 0)
		return err == nil && m.Oneway
	}}
}

// Err implements capture.Output.
func (o *calls) Err() error { return o.err }

// Call implements capture.Output.
func (o *calls) Call(c *capture.Call) {
	if o.err != nil || recording.AsksForIDL(c.Method) || o.Slower > 0 && (c.Oneway || c.Took < o.Slower && !noReply(c)) {
		return
	}
	l := o.line(c)
	if !o.named(l.Method) {
		return
	}
	o.n.Add(1)
	l.Client, l.Server, l.Wire, l.Assumed = c.Client.String(), c.Server.String(), c.Wire, c.Assumed
	if !c.Began.IsZero() {
		began := c.Began.UTC()
		l.Time = &began
	}
	if !c.Oneway && !noReply(c) && c.Took != capture.Unknown {
		l.Took = c.Took.String()
	}
	if !o.json() {
		o.write(o.text(l))
		return
	}
	text, err := json.Marshal(l)
	if err != nil {
		o.err = err
		return
	}
	o.write(shell.Printable(string(text)))
}

// line returns what a call's line begins with: all but times and addresses.
func (o *calls) line(c *capture.Call) *recording.Line {
	call := recording.Call{Name: c.Method, Oneway: c.Oneway, Args: c.Args, Reply: c.Reply, Err: c.Err}
	m, err := invoke.Find(o.idl, c.Method, "", 0)
	if len(c.Args)+len(c.Reply) <= mostJSON {
		return recording.NewLine(o.idl, 0, call)
	}
	l := recording.NewLine(nil, 0, call)
	if err == nil {
		l.Method = recording.NameOf(m, c.Method)
	}
	return l
}

func noReply(c *capture.Call) bool { return errors.Is(c.Err, capture.ErrNoReply) }

// named reports whether -only chooses a method.
func (o *calls) named(method string) bool {
	const most = 1000
	switch {
	case len(o.Only) == 0:
		return true
	case o.methods == nil:
		o.methods = map[string]bool{}
	}
	if len(o.methods) < most {
		o.methods[method] = true
	}
	return recording.Named(o.Only, recording.Names(o.idl, method)...)
}

func (o *calls) write(line string) {
	o.progress.Print(func() { _, o.err = io.WriteString(o.sh.Out, line+"\n") })
}

// Note implements capture.Output.
func (o *calls) Note(n *capture.Note) {
	fmt.Fprintf(o.progress, "%s %s → %s: %s\n", timeText(&n.At), n.From, n.To, shell.OneLine(short(n.Text)))
}

// timeText returns a time as text, - if it is not known.
func timeText(t *time.Time) string {
	if t == nil || t.IsZero() {
		return "-"
	}
	return t.UTC().Format("2006-01-02T15:04:05.000000Z")
}

const (
	mostText = 500     // bytes of arguments, and of a result, that a line shows
	mostRaw  = 1 << 20 // bytes of a struct without IDL; of a larger one, a line shows the size
	mostJSON = 4 << 20 // bytes of a call that are written as JSON; larger ones stay bytes
)

// text returns the line of a call for people.
func (o *calls) text(l *recording.Line) string {
	bold := func(text string) string { return shell.Paint(o.sh.Color, shell.Bold, shell.OneLine(text)) }
	red := func(text string) string { return shell.Paint(o.sh.Color, shell.Red, shell.OneLine(short(text))) }
	b := &strings.Builder{}
	fmt.Fprintf(b, "%s %s → %s %s %s", timeText(l.Time), l.Client, l.Server, l.Wire, bold(l.Method))
	if l.Took != "" {
		fmt.Fprintf(b, " %s", l.Took)
	}
	args := string(l.Args)
	if l.RawArgs != nil {
		args = raw(l.RawArgs)
	}
	fmt.Fprintf(b, " %s", shell.OneLine(short(args)))
	switch {
	case l.Error != nil:
		fmt.Fprintf(b, " %s", red(fmt.Sprintf("TApplicationException %d: %s", l.Error.Type, l.Error.Message)))
	case l.Failed != "":
		fmt.Fprintf(b, " %s", red(l.Failed))
	case l.Exception != "":
		fmt.Fprintf(b, " %s", red(l.Exception+" "+string(l.Value)))
	case l.Oneway:
		fmt.Fprint(b, " oneway")
	case l.RawReply != nil:
		fmt.Fprintf(b, " → %s", shell.OneLine(short(raw(l.RawReply))))
	default:
		fmt.Fprintf(b, " → %s", shell.OneLine(short(string(l.Result))))
	}
	if l.Assumed {
		b.WriteString(" (assumed)")
	}
	return b.String()
}

// raw returns the JSON of a struct without IDL.
func raw(wire []byte) string {
	if len(wire) > mostRaw {
		return fmt.Sprintf("(%d bytes)", len(wire))
	}
	m, _ := invoke.Find(nil, "any", "", 0)
	text, err := m.ArgsJSON(wire)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// short returns text of bounded length.
func short(text string) string {
	if len(text) <= mostText {
		return text
	}
	return strings.ToValidUTF8(text[:mostText], "") + "…"
}

// finish says what the capture has, and what could not be read.
func (o *calls) finish(sum capture.Summary, err error, name string) error {
	o.progress.Done()
	if err == nil || sum.Packets > 0 {
		text := fmt.Sprintf("%s: %d packets, %d connections, %d calls", name, sum.Packets, sum.Connections, sum.Calls)
		if n := o.n.Load(); n != int64(sum.Calls) {
			text += fmt.Sprintf(", %d shown", n)
		}
		if sum.Replies > 0 {
			text += fmt.Sprintf(", %d replies without their calls", sum.Replies)
		}
		fmt.Fprintln(o.sh.Err, shell.OneLine(text))
		for _, l := range sum.LeftOut {
			text := fmt.Sprintf("  %d %s", l.N, l.What)
			if l.From != (netip.AddrPort{}) {
				text += fmt.Sprintf(" (such as %s and %s)", l.From, l.To)
			}
			fmt.Fprintln(o.sh.Err, text)
		}
	}
	if len(o.methods) > 0 && o.n.Load() == 0 {
		text := strings.Join(o.Only, ",")
		text = "no call is of " + text + idlfiles.Instead(text, "the capture", "method", slices.Sorted(maps.Keys(o.methods)))
		fmt.Fprintln(o.sh.Err, shell.OneLine(text))
	}
	if err == nil || o.sh.Ctx.Err() != nil || o.err != nil || o.Interface != "" {
		return err
	}
	return fmt.Errorf("%s: %w", name, err)
}
