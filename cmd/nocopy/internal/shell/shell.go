// Package shell has what all commands of the tool share: where they read and write, colours,
// progress, and exit codes.
package shell

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"syscall"

	"golang.org/x/term"

	"github.com/nocopythrift/nocopythrift/internal/command"
)

// The exit codes. A server's TApplicationException of type n gives Application+n, as grpcurl does
// for a status, unless that is not below Findings. Findings is buf's code.
const (
	Failed      = 1
	Usage       = 2
	Exception   = 3
	Application = 64
	Findings    = 100

	signaled = 128 // and the signal's number
)

// Shell is where a command runs. Tests make one of buffers.
type Shell struct {
	Ctx      context.Context // ends when the user interrupts the command
	In       io.Reader
	Out, Err io.Writer
	Color    bool // Out is a terminal that has colours
	ErrColor bool // so is Err
	ErrTerm  bool // Err is a terminal

	Project string // the project file that the command line was filled from; "" if there is none
}

// Of returns a Shell for these streams. Colours are for terminals only, and not if the environment
// variable NO_COLOR is set.
func Of(ctx context.Context, in io.Reader, out, err io.Writer) *Shell {
	colors := os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	if in != nil {
		in = Reader(ctx, in)
	}
	return &Shell{Ctx: ctx, In: in, Out: out, Err: err, Color: colors && isTerminal(out), ErrColor: colors && isTerminal(err), ErrTerm: isTerminal(err)}
}

// CheckOutputs returns an error if a command would write a file that it also reads, or one file
// for two outputs. Inputs are those of the command; the project file is one, too.
func (s *Shell) CheckOutputs(outputs, inputs []string) error {
	if err := command.CheckOutputs(outputs, append(inputs, s.Project)); err != nil {
		return WithCode(Usage, err)
	}
	return nil
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// A Color is a text style of terminals.
type Color string

// The colours.
const (
	Bold   Color = "1"
	Red    Color = "31"
	Green  Color = "32"
	Yellow Color = "33"
	Cyan   Color = "36"
)

// Printable returns text, which may come from a server or a file, without what terminals take for
// commands: these characters are escaped. JSON keeps its meaning.
func Printable(text string) string { return command.Printable(text) }

// Paint returns text in a colour if on is true, else unchanged. on is Color or ErrColor.
func Paint(on bool, c Color, text string) string {
	if !on {
		return text
	}
	return "\x1b[" + string(c) + "m" + text + "\x1b[0m"
}

// WriteJSON writes v to Out as indented JSON.
func (s *Shell) WriteJSON(v any) error { return EncodeJSON(s.Out, v) }

// EncodeJSON writes v to w as indented JSON.
func EncodeJSON(w io.Writer, v any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	_, err := io.WriteString(w, Printable(b.String()))
	return err
}

// Format is the flag of commands that print data.
type Format struct {
	Format string `help:"Output: ${enum}." enum:"text,json" default:"text"`
}

// JSON reports whether JSON was asked for.
func (f Format) JSON() bool { return f.Format == "json" }

// ErrSilent is the error of a command that has said itself what is wrong.
var ErrSilent = errors.New("failed")

// exit is an error with an exit code of its own.
type exit struct {
	error
	code  int
	final bool // a signal that has ended the command does not change the code
}

func (e *exit) Unwrap() error { return e.error }

// WithCode returns err with an exit code. With ErrSilent nothing more is printed.
func WithCode(code int, err error) error { return &exit{err, code, false} }

// Verdict returns err with an exit code that stays if a signal has ended the command: it is the
// result of one whose usual end is a signal.
func Verdict(code int, err error) error { return &exit{err, code, true} }

// Interrupted returns the error of a command that a signal has ended. Its exit code is that of
// shells, 130 for Ctrl-C.
func Interrupted(s os.Signal) error {
	code := Failed
	if n, ok := s.(syscall.Signal); ok {
		code = signaled + int(n)
	}
	return WithCode(code, errInterrupted)
}

var errInterrupted = errors.New("interrupted")

// ErrClean is the Verdict of a command that has nothing to report.
var ErrClean = Verdict(0, ErrSilent)

// Ended returns the error of a command that has returned err: Interrupted if ctx has ended by
// that. A command that serves until then returns nil, and SIGTERM is its usual end. If it has
// found something, or returns a Verdict, that stays its result.
func Ended(ctx context.Context, err error) error {
	cause := context.Cause(ctx)
	var e *exit
	verdict := errors.As(err, &e) && e.final
	switch {
	case !errors.Is(cause, errInterrupted), verdict, CodeOf(err) == Findings,
		err == nil && CodeOf(cause) != signaled+int(syscall.SIGINT):
		return err
	case err == nil:
		return WithCode(CodeOf(cause), ErrSilent)
	case errors.Is(err, context.Canceled):
		return cause
	}
	return WithCode(CodeOf(cause), err)
}

// CodeOf returns the exit code for an error of a command.
func CodeOf(err error) int {
	var e *exit
	switch {
	case err == nil:
		return 0
	case errors.As(err, &e):
		return e.code
	}
	return Failed
}
