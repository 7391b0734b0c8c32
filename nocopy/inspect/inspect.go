package inspect

import (
	"errors"
	"fmt"
	"io"
)

// Form says how a stream of Thrift Binary is divided. It holds any number of structs or messages
// in a row. Each header of a message may be strict (with a version) or old style.
type Form uint8

// The forms of a stream.
const (
	Auto           Form = iota // detected from the first bytes
	Structs                    // bare structs
	FramedStructs              // frames with one struct each
	Messages                   // messages: a header and a struct
	FramedMessages             // frames with one message each

	// The same in Thrift's compact protocol. Dump converts the stream to Thrift Binary and shows
	// that.
	CompactStructs
	CompactFramedStructs
	CompactMessages
	CompactFramedMessages
)

var formNames = [...]string{Auto: "auto", Structs: "struct", FramedStructs: "framed-struct", Messages: "message", FramedMessages: "framed-message",
	CompactStructs: "compact-struct", CompactFramedStructs: "compact-framed-struct", CompactMessages: "compact-message",
	CompactFramedMessages: "compact-framed-message"}

// String returns the name that UnmarshalText reads.
func (f Form) String() string {
	if int(f) < len(formNames) {
		return formNames[f]
	}
	return fmt.Sprintf("Form(%d)", uint8(f))
}

// MarshalText returns the name that UnmarshalText reads.
func (f Form) MarshalText() ([]byte, error) { return []byte(f.String()), nil }

// UnmarshalText sets f by its name: auto, struct, framed-struct, message or framed-message, or one
// of the last four after "compact-".
func (f *Form) UnmarshalText(text []byte) error {
	for i, name := range formNames {
		if name == string(text) {
			*f = Form(i)
			return nil
		}
	}
	return fmt.Errorf("inspect: %q is no form: it is one of %v", text, formNames)
}

// binary returns the form of a stream after conversion to Thrift Binary.
func (f Form) binary() Form {
	if f >= CompactStructs {
		return f - CompactStructs + Structs
	}
	return f
}

func (f Form) framed() bool   { return f == FramedStructs || f == FramedMessages }
func (f Form) messages() bool { return f == Messages || f == FramedMessages }

// Options describes the input and the output of a dump. The zero Options is a good default.
type Options struct {
	// Form is the form of the stream; Auto detects it.
	Form Form
	// IDL supplies the names of fields, enums and types. Nil shows only ids and wire types.
	IDL *IDL
	// Type is the name of the structs in Structs and FramedStructs, or of the service in messages.
	// Without it, structs have no names, and methods of all services are recognized.
	Type string
	// JSON writes each row as a JSON object on its own line; see the package's overview.
	JSON bool
	// Color adds terminal colours to text.
	Color bool
	// MaxText limits the bytes that are shown of a string or binary. 0 means 64. A negative value
	// means all.
	MaxText int
}

const defaultMaxText = 64

// newWalker returns a walker with the options. The caller sets its input and output.
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

// Dump reads r to its end and writes a row to w for each value. Malformed bytes end the dump with
// a row that says what is wrong and where. The error is then a *nocopy.Error, whose Offset counts
// from the beginning of r. A missing required field of the IDL is also such an error, but the dump
// continues after it. Errors of r and w are returned unchanged.
//
// Memory is bounded, whatever r contains: about 100 KiB, MaxText, and the memory for nesting,
// which is at most 10,000 levels deep. A stream in the compact protocol is read as a whole first.
// It has 100 MiB at most, and offsets in errors about its bytes are in the compact protocol.
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

// flushingReader flushes the rows so far before each read, since a read may take long.
type flushingReader struct {
	io.Reader
	out *printer
}

func (r flushingReader) Read(b []byte) (int, error) {
	r.out.flush() // put will return the error
	return r.Reader.Read(b)
}
