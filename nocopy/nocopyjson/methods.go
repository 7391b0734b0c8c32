package nocopyjson

import (
	"errors"
	"strings"

	"github.com/nocopythrift/nocopythrift/internal/jsontext"
	"github.com/nocopythrift/nocopythrift/nocopy"
)

// The methods of generated types.

// MarshalValue returns s as its method MarshalJSON does.
func MarshalValue[S nocopy.StructView](s S) ([]byte, error) {
	return nocopy.X{}.AppendJSON(nil, nocopy.XStruct(s), s.ThriftDesc(), nocopy.XJSON{})
}

// MarshalTo writes a message to an Encoder, as its method MarshalJSONTo does.
func MarshalTo[S nocopy.StructView](s S, e *jsontext.Encoder) error {
	text, err := nocopy.X{}.AppendJSON(e.AvailableBuffer(), nocopy.XStruct(s), s.ThriftDesc(), nocopy.XJSON{})
	if err != nil {
		return err
	}
	return e.WriteValue(text)
}

// UnmarshalFrom reads a message from a Decoder, as its method UnmarshalJSONFrom does: null sets
// *s to the handle of an absent struct. The offsets of errors are those in all that the Decoder
// reads.
func UnmarshalFrom[S nocopy.StructView](s *S, d *jsontext.Decoder) error {
	desc := descOf(s)
	text, err := d.ReadValue()
	if err != nil {
		return faultIn(desc, d, err)
	}
	if text.Kind() == 'n' {
		var none S
		*s = none
		return nil
	}
	err = Unmarshal(text, s)
	var bad *nocopy.Error
	if errors.As(err, &bad) {
		bad.Offset += int(d.InputOffset()) - len(text)
	}
	return err
}

// faultIn returns an error of ReadValue that is about the text as reading the message tells it.
// The Decoder's would quote the text, and keys of maps, also of what is redacted.
func faultIn(desc *nocopy.XDesc, d *jsontext.Decoder, err error) error {
	var bad *jsontext.SyntacticError
	if !errors.As(err, &bad) {
		return err
	}
	at := d.InputOffset()
	text := d.UnreadBuffer()
	for len(text) > 0 && strings.IndexByte(" \t\r\n:,", text[0]) >= 0 {
		text, at = text[1:], at+1
	}
	_, err = read(desc, text, readingBy(nil))
	var fault *nocopy.Error
	if errors.As(err, &fault) && int64(fault.Offset)+at <= bad.ByteOffset {
		fault.Offset += int(at)
		return fault
	}
	return &nocopy.Error{Offset: int(bad.ByteOffset), Path: desc.Name(), Err: ErrSyntax}
}

// UnmarshalValue sets *s to a message of a JSON text, as its method UnmarshalJSON does: null sets
// it to the handle of an absent struct.
func UnmarshalValue[S nocopy.StructView](s *S, text []byte) error {
	descOf(s)
	if string(text) == "null" {
		var none S
		*s = none
		return nil
	}
	return Unmarshal(text, s)
}
