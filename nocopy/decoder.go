package nocopy

import (
	"io"
	"iter"
)

// Decoder reads messages of type S from a stream, one after another. Each message is independent:
// it must be released on its own, may outlive the Decoder, and is not changed by it.
//
// Consecutive small messages share one block of memory of up to 64 KiB and are not copied. The
// block stays in memory while one of them is in use. Without Recycle it also stays while a string
// or binary that was read from one of them is in use. A program that keeps a few of many small
// messages should therefore keep copies: the result of ParseX on the bytes of AppendTo(nil).
//
// A Decoder reads ahead, up to 64 KiB beyond the message that it returns. Its memory grows with
// the bytes that arrive, not with the lengths that they claim. Only one goroutine at a time may
// use a Decoder.
type Decoder[S StructView] struct{ in stream }

// NewDecoder returns a Decoder of bare structs. Each ends with its STOP. The options are those of
// ParseX and apply to each message; Own is implied. In bare structs MaxDepth bounds all nesting,
// not only that in unknown fields. With Compact, structs are in the compact protocol, and MaxDepth
// has its usual meaning.
func NewDecoder[S StructView](r io.Reader, opts ...Option) *Decoder[S] {
	var s S
	return &Decoder[S]{newStream(s.ThriftDesc(), r, false, opts)}
}

// NewFrameDecoder returns a Decoder of frames: each struct follows its length in 4 bytes, as
// Message.WriteFrame writes it. Otherwise it is like NewDecoder.
func NewFrameDecoder[S StructView](r io.Reader, opts ...Option) *Decoder[S] {
	var s S
	return &Decoder[S]{newStream(s.ThriftDesc(), r, true, opts)}
}

// Next returns the next message. At the end of the stream the error is io.EOF, or
// io.ErrUnexpectedEOF if the stream ends inside a message. Other errors of the Reader are returned
// unchanged, after the messages that arrived before or together with them. A malformed message
// gives an *Error. Its Offset counts from the beginning of that message, which is at
// Decoder.Offset in the stream. After an error, Next returns the same error again.
func (d *Decoder[S]) Next() (S, error) {
	if d == nil || d.in.src == nil {
		panic("nocopy: Decoder that was not made by NewDecoder")
	}
	s, err := d.in.next()
	return S(s), err
}

// All iterates over the remaining messages. If the stream does not end with io.EOF, the last pair
// is an absent S and the error.
func (d *Decoder[S]) All() iter.Seq2[S, error] {
	return func(yield func(S, error) bool) {
		for {
			s, err := d.Next()
			if err == io.EOF || !yield(s, err) || err != nil {
				return
			}
		}
	}
}

// Offset returns the position of the next message in the stream, in bytes. After an error it is
// the position of the message with the error. A frame begins with its length.
func (d *Decoder[S]) Offset() int64 { return d.in.offset }
