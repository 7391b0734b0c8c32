package inspect

import (
	"errors"
	"fmt"
	"io"
)

// Form is what a stream of Thrift Binary consists of, any number in a row. Headers of messages are
// strict (with a version) or old style, which each header tells by itself.
type Form uint8

// The forms of a stream.
const (
	Auto           Form = iota // found out from the first bytes
	Structs                    // bare structs
	FramedStructs              // frames of a struct each
	Messages                   // messages: a header and a struct
	FramedMessages             // frames of messages
)

var formNames = [...]string{Auto: "auto", Structs: "struct", FramedStructs: "framed-struct", Messages: "message", FramedMessages: "framed-message"}

// String returns the name that UnmarshalText reads.
func (f Form) String() string {
	if int(f) < len(formNames) {
		return formNames[f]
	}
	return fmt.Sprintf("Form(%d)", uint8(f))
}

// MarshalText returns the name that UnmarshalText reads.
func (f Form) MarshalText() ([]byte, error) { return []byte(f.String()), nil }

// UnmarshalText sets f by its name: auto, struct, framed-struct, message or framed-message.
func (f *Form) UnmarshalText(text []byte) error {
	for i, name := range formNames {
		if name == string(text) {
			*f = Form(i)
			return nil
		}
	}
	return fmt.Errorf("inspect: %q is no form: it is one of %v", text, formNames)
}

func (f Form) framed() bool   { return f == FramedStructs || f == FramedMessages }
func (f Form) messages() bool { return f == Messages || f == FramedMessages }

// Options tells what a dump is of and what it looks like. The zero Options is fine.
type Options struct {
	// Form is what the stream consists of; Auto finds out.
	Form Form
	// IDL gives fields, enums and types their names; nil means ids and wire types only.
	IDL *IDL
	// Type is the name of the structs of Structs and FramedStructs, or of the service whose methods
	// the messages call. Without it structs have no names, and methods are those of all services.
	Type string
	// JSON makes each row a JSON object on a line of its own; see the package's documentation.
	JSON bool
	// Color adds the colours of terminals to text.
	Color bool
	// MaxText is how many bytes of a string or binary are shown; 64 if 0, all if negative.
	MaxText int
}

const defaultMaxText = 64

// newWalker returns a walker with the options. The caller sets where rows go and come from.
func newWalker(opt Options) (*walker, error) {
	if int(opt.Form) >= len(formNames) {
		return nil, fmt.Errorf("inspect: no such form: %v", opt.Form)
	}
	if opt.Type != "" && opt.IDL == nil {
		return nil, errors.New("inspect: a type without an IDL")
	}
	w := &walker{form: opt.Form, max: opt.MaxText}
	if w.max == 0 {
		w.max = defaultMaxText
	}
	if opt.IDL != nil {
		var err error
		if w.names, err = opt.IDL.names(opt.Type); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// Dump reads r to its end and writes to w what is in it, a row for each value. Malformed bytes end
// the dump with a row that tells what is wrong and where; that is the error, too, a *nocopy.Error
// whose Offset counts from the beginning of r. A required field that is missing by the IDL is such
// an error, but the dump goes on after it. The errors of r and w are returned as they are.
//
// Memory is bounded, whatever r yields: some 100 KiB, MaxText and what nesting takes, which is at
// most 10,000 levels deep.
func Dump(w io.Writer, r io.Reader, opt Options) error {
	if w == nil || r == nil {
		panic("nocopy: inspect.Dump of nil, or to nil")
	}
	wk, err := newWalker(opt)
	if err != nil {
		return err
	}
	out := newPrinter(w, opt)
	wk.out = out
	wk.in.reset(flushingReader{r, out})
	err = wk.stream()
	if flushed := out.flush(); flushed != nil {
		return flushed
	}
	return err
}

// flushingReader writes the rows so far before it reads, which may take long.
type flushingReader struct {
	io.Reader
	out *printer
}

func (r flushingReader) Read(b []byte) (int, error) {
	r.out.flush() // an error comes again
	return r.Reader.Read(b)
}
