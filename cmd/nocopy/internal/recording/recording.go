// Package recording reads and writes files of calls: what nocopy record writes, nocopy replay and
// nocopy mock read, and people write by hand. Each line is a JSON object.
package recording

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/invoke"
)

// Line is a call and its outcome. Nothing in it names a file.
type Line struct {
	// Service.method or, of calls to a multiplexing server, Service:method; the name on the wire
	// without IDL
	Method string `json:"method"`
	// By their names. Of a mock's answer they are those that must match.
	Args json.RawMessage `json:"args,omitempty"`

	Result    json.RawMessage `json:"result,omitempty"`    // the return value
	Exception string          `json:"exception,omitempty"` // the name of the declared exception
	Value     json.RawMessage `json:"value,omitempty"`     // the exception's fields
	Error     *Failure        `json:"error,omitempty"`     // the server's TApplicationException
	Failed    string          `json:"failed,omitempty"`    // why there was no answer

	// What nocopy record did to the call: "error", or "cut"
	Fault string `json:"fault,omitempty"`

	// Wire bytes, if the IDL is not known
	RawArgs  []byte `json:"rawArgs,omitempty"`
	RawReply []byte `json:"rawReply,omitempty"`
	Oneway   bool   `json:"oneway,omitempty"`

	Time *time.Time `json:"time,omitempty"` // when the call was made
	Took string     `json:"took,omitempty"` // until its answer

	// Of a call in a capture of packets
	Client string `json:"client,omitempty"` // an address and a port, as the server's
	Server string `json:"server,omitempty"`
	Wire   string `json:"wire,omitempty"` // transport and protocol, as "framed binary"
	// Whether the answer is only assumed to be the call's: the capture lacks bytes
	Assumed bool `json:"assumed,omitempty"`

	// Of a mock's answer
	Delay string `json:"delay,omitempty"` // time before it is given
	Cut   bool   `json:"cut,omitempty"`   // end the connection instead
}

// Failure is a TApplicationException.
type Failure struct {
	Type    int    `json:"type"`
	Message string `json:"message"`
}

// maxLine bounds a line, in bytes.
const maxLine = 100 << 20

// Reader reads lines.
type Reader struct {
	lines *bufio.Scanner
	n     int
}

// NewReader returns a Reader of a file.
func NewReader(r io.Reader) *Reader {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	return &Reader{lines: lines}
}

// Next returns the next line and its number, from 1. Empty lines, and those that begin with #, are
// left out. At the end it returns io.EOF, other errors are LineErrors.
func (r *Reader) Next() (int, *Line, error) {
	for r.lines.Scan() {
		if r.lines.Err() != nil {
			break // the line is cut
		}
		r.n++
		text := bytes.TrimSpace(r.lines.Bytes())
		if len(text) == 0 || text[0] == '#' {
			continue
		}
		l, err := parse(text)
		if err != nil {
			return r.n, nil, &LineError{r.n, err}
		}
		return r.n, l, nil
	}
	if err := r.lines.Err(); err != nil {
		if errors.Is(err, bufio.ErrTooLong) {
			err = fmt.Errorf("the line has more than %d bytes", maxLine)
		}
		return r.n, nil, &LineError{r.n + 1, err}
	}
	return r.n, nil, io.EOF
}

func parse(text []byte) (*Line, error) {
	var l Line
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	err := d.Decode(&l)
	if err == nil && d.More() {
		err = errors.New("more follows after the JSON object")
	}
	if err == nil && l.Method == "" {
		err = errors.New("the key method is missing")
	}
	return &l, err
}

// Read calls f for each line, as Next returns them.
func Read(r io.Reader, f func(n int, l *Line) error) error {
	lines := NewReader(r)
	for {
		n, l, err := lines.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if err := f(n, l); err != nil {
			return &LineError{n, err}
		}
	}
}

// Lines returns how many lines a file has, at whose beginning it stays; -1 if it can't be read
// twice, as pipes and devices. It is an error if ctx ends before.
func Lines(ctx context.Context, f *os.File) (int64, error) {
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return -1, err
	}
	n := int64(0)
	for b := make([]byte, 64<<10); ctx.Err() == nil; {
		size, err := f.Read(b)
		n += int64(bytes.Count(b[:size], []byte("\n")))
		if err == io.EOF {
			_, err = f.Seek(0, io.SeekStart)
			return n, err
		}
		if err != nil {
			return 0, err
		}
	}
	return 0, ctx.Err()
}

// LineError is an error about a line.
type LineError struct {
	Line int
	Err  error
}

// Error returns the line's number and what is wrong.
func (e *LineError) Error() string { return fmt.Sprintf("%d: %v", e.Line, e.Err) }

// Unwrap returns what is wrong.
func (e *LineError) Unwrap() error { return e.Err }

// SetOutcome sets what came of the call.
func (l *Line) SetOutcome(o *invoke.Outcome) {
	answer := invoke.Answer(o.Err)
	switch {
	case answer != nil:
		l.Error = &Failure{int(answer.Type), answer.Message}
	case o.Err != nil:
		l.Failed = o.Err.Error()
	case o.Exception != "":
		l.Exception, l.Value = o.Exception, o.Value
	default:
		l.Result = o.Result
	}
}
