package jsonvalue

import (
	"errors"
	"strings"

	"github.com/nocopythrift/nocopythrift/internal/jsontext"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// The methods that encoding/json and encoding/json/v2 call, of generated types and of messages
// whose types are known only by descriptors.

// MarshalValue returns the struct s, which d describes, as MarshalJSON does.
func MarshalValue(d *schema.Struct, s nocopy.Struct) ([]byte, error) {
	return appendStruct(nil, engine.Struct(s), d, writing{replaceInvalid: true})
}

// MarshalTo writes the struct s, which d describes, to an Encoder, as MarshalJSONTo does.
func MarshalTo(d *schema.Struct, s nocopy.Struct, e *jsontext.Encoder) error {
	o := writing{replaceInvalid: jsontext.AllowsInvalidUTF8(e.Options())}
	text, err := appendStruct(e.AvailableBuffer(), engine.Struct(s), d, o)
	if err != nil {
		return err
	}
	return e.WriteValue(text)
}

// UnmarshalFrom reads a message, which desc describes, from a Decoder, as UnmarshalJSONFrom does.
// It returns the zero handle for null. Offsets in errors count in everything that the Decoder
// reads.
func UnmarshalFrom(desc *schema.Struct, d *jsontext.Decoder) (nocopy.Struct, error) {
	o := byMethod()
	o.allowUnknown = !jsontext.RejectsUnknownMembers(d.Options())
	o.replaceInvalid = jsontext.AllowsInvalidUTF8(d.Options())
	text, err := d.ReadValue()
	if err != nil {
		return nocopy.Struct{}, faultIn(desc, d, err, o)
	}
	if text.Kind() == 'n' {
		return nocopy.Struct{}, nil
	}
	s, err := read(desc, text, o)
	var bad *nocopy.Error
	if errors.As(err, &bad) {
		bad.Offset += int(d.InputOffset()) - len(text)
	}
	return nocopy.Struct(s), err
}

// byMethod returns how the methods read a text. As in encoding/json, unknown fields are skipped,
// and bytes that are not UTF-8 are replaced.
func byMethod() reading {
	o := readingBy(nil)
	o.allowUnknown, o.repeatUnknown, o.replaceInvalid = true, true, true
	return o
}

// faultIn converts an error of ReadValue about the text into the error that reading the message
// gives. The Decoder's error would quote the text and keys of maps, even from redacted fields.
func faultIn(desc *schema.Struct, d *jsontext.Decoder, err error, o reading) error {
	var bad *jsontext.SyntacticError
	if !errors.As(err, &bad) {
		return err
	}
	at := d.InputOffset()
	text := d.UnreadBuffer()
	for len(text) > 0 && strings.IndexByte(" \t\r\n:,", text[0]) >= 0 {
		text, at = text[1:], at+1
	}
	o.repeatUnknown = false // the Decoder might not allow duplicates
	_, err = read(desc, text, o)
	var fault *nocopy.Error
	if errors.As(err, &fault) && int64(fault.Offset)+at <= bad.ByteOffset {
		fault.Offset += int(at)
		return fault
	}
	return &nocopy.Error{Offset: int(bad.ByteOffset), Path: desc.Name(), Err: ErrSyntax}
}

// UnmarshalValue returns a new message, which d describes, from a JSON text, as UnmarshalJSON
// does. It returns the zero handle for null.
func UnmarshalValue(d *schema.Struct, text []byte) (nocopy.Struct, error) {
	if string(text) == "null" {
		return nocopy.Struct{}, nil
	}
	s, err := read(d, text, byMethod())
	return nocopy.Struct(s), err
}
