// Package shell has what all commands of the tool share: where they read and write, colours,
// progress, and exit codes.
package shell

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// The exit codes. A server's TApplicationException of type n gives Application+n, as grpcurl does
// for a status. Findings is buf's code.
const (
	Failed      = 1
	Usage       = 2
	Exception   = 3
	Application = 64
	Findings    = 100
)

// Shell is where a command runs. Tests make one of buffers.
type Shell struct {
	Ctx      context.Context // ends when the user interrupts the command
	In       io.Reader
	Out, Err io.Writer
	Color    bool // Out is a terminal that has colours
	ErrColor bool // so is Err
	ErrTerm  bool // Err is a terminal
}

// Of returns a Shell for these streams. Colours are for terminals only, and not if the environment
// variable NO_COLOR is set.
func Of(ctx context.Context, in io.Reader, out, err io.Writer) *Shell {
	colors := os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	return &Shell{ctx, in, out, err, colors && isTerminal(out), colors && isTerminal(err), isTerminal(err)}
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

// Printable returns text, which may come from a server, without what terminals take for commands,
// and without what turns the direction of text around.
func Printable(text string) string {
	return strings.Map(func(c rune) rune {
		if c < ' ' && c != '\n' && c != '\t' || isCommand(c) {
			return '\uFFFD'
		}
		return c
	}, text)
}

// PrintableJSON returns JSON of the same value in which what Printable leaves out is escaped.
func PrintableJSON(text []byte) []byte {
	if !bytes.ContainsFunc(text, isCommand) {
		return text
	}
	var b []byte
	for _, c := range string(text) {
		if isCommand(c) {
			b = fmt.Appendf(b, `\u%04x`, c)
		} else {
			b = utf8.AppendRune(b, c)
		}
	}
	return b
}

// isCommand reports whether a character, which JSON need not escape, is a control character or
// changes the direction of text.
func isCommand(c rune) bool {
	return c >= 0x7f && c < 0xa0 || c >= 0x202a && c <= 0x202e || c >= 0x2066 && c <= 0x2069
}

// Paint returns text in a colour if on is true, else unchanged. on is Color or ErrColor.
func Paint(on bool, c Color, text string) string {
	if !on {
		return text
	}
	return "\x1b[" + string(c) + "m" + text + "\x1b[0m"
}

// WriteJSON writes v to Out as indented JSON.
func (s *Shell) WriteJSON(v any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	_, err := s.Out.Write(PrintableJSON(b.Bytes()))
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
	code int
}

func (e *exit) Unwrap() error { return e.error }

// WithCode returns err with an exit code. With ErrSilent nothing more is printed.
func WithCode(code int, err error) error { return &exit{err, code} }

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

// Progress shows on a terminal how far a command is, if it takes longer than a second. Any number
// of goroutines may use one.
type Progress struct {
	sh    *Shell
	what  string
	total int64
	began time.Time

	mu  sync.Mutex
	bar *progressbar.ProgressBar // nil in the first second
}

// NewProgress returns the progress of a command that takes total steps, or -1 if that is not
// known. Done ends it.
func (s *Shell) NewProgress(what string, total int64) *Progress {
	return &Progress{sh: s, what: what, total: total, began: time.Now()}
}

// Set tells how many steps have been taken.
func (p *Progress) Set(done int64) {
	if !p.sh.ErrTerm || time.Since(p.began) < time.Second {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar == nil {
		p.bar = progressbar.NewOptions64(p.total, progressbar.OptionSetWriter(p.sh.Err), progressbar.OptionSetDescription(p.what),
			progressbar.OptionShowCount(), progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish(),
			progressbar.OptionSetWidth(30))
	}
	p.bar.Set64(done)
}

// Done removes the progress from the terminal.
func (p *Progress) Done() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar != nil {
		p.bar.Finish()
	}
}
