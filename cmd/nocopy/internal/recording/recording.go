// Package recording reads and writes files of calls: what nocopy record writes, nocopy replay and
// nocopy mock read, and people write by hand. Each line is a JSON object.
package recording

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/invoke"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
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

	// Wire bytes, if the IDL is not known
	RawArgs  []byte `json:"rawArgs,omitempty"`
	RawReply []byte `json:"rawReply,omitempty"`
	Oneway   bool   `json:"oneway,omitempty"`

	Time *time.Time `json:"time,omitempty"` // when the call was made
	Took string     `json:"took,omitempty"` // until its answer

	// Of a mock's answer
	Delay string `json:"delay,omitempty"` // time before it is given
	Cut   bool   `json:"cut,omitempty"`   // end the connection instead
}

// Failure is a TApplicationException.
type Failure struct {
	Type    int    `json:"type"`
	Message string `json:"message"`
}

// maxLine is the most bytes of a line.
const maxLine = 100 << 20

// Read calls f for each line, with its number from 1. Empty lines, and those that begin with #,
// are left out.
func Read(r io.Reader, f func(n int, l *Line) error) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	n := 0
	for lines.Scan() {
		n++
		text := bytes.TrimSpace(lines.Bytes())
		if len(text) == 0 || text[0] == '#' {
			continue
		}
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
		if err == nil {
			err = f(n, &l)
		}
		if err != nil {
			return &LineError{n, err}
		}
	}
	if err := lines.Err(); err != nil {
		return &LineError{n + 1, err}
	}
	return nil
}

// Lines returns how many lines a file has, at whose beginning it stays; -1 if it can't be read
// twice.
func Lines(f *os.File) (int64, error) {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return -1, nil
	}
	n := int64(0)
	for b := make([]byte, 64<<10); ; {
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
	var answer *rpc.ApplicationException
	switch {
	case errors.As(o.Err, &answer):
		l.Error = &Failure{int(answer.Type), answer.Message}
	case o.Err != nil:
		l.Failed = o.Err.Error()
	case o.Exception != "":
		l.Exception, l.Value = o.Exception, o.Value
	default:
		l.Result = o.Result
	}
}
