package nocopy

import (
	"io"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
)

// ParseInto parses b as an X, the type parameter S, into m, a Message variable of the program;
// see Message. Otherwise it is like ParseX. The previous contents of m end in any case; if b
// is invalid, m is empty afterwards.
//
// m refers to b. b must not change until Reset, and while anything read from the message is in
// use. It may be part of m's previous contents, unless these were filled with Recycle. The error
// is an *Error. ParseInto panics if m was made by NewX, ParseX or the like.
func ParseInto[S StructView](m *Message, b []byte, opts ...Option) (S, error) {
	var s S
	root, err := engine.ParseInto(s.ThriftDesc(), (*engine.Message)(m), b, opts)
	return S(root), err
}

// NewInto makes a new X, the type parameter S, in m, a Message variable of the program; see
// Message. Otherwise it is like NewX. The previous contents of m end. NewInto panics if m was made
// by NewX, ParseX or the like.
func NewInto[S StructView](m *Message, opts ...Option) S {
	var s S
	return S(engine.NewInto(s.ThriftDesc(), (*engine.Message)(m), opts))
}

// Read reads a message of n bytes from r into one piece of new memory, and parses it. d is the
// descriptor of S, such as order.OrderDesc. Memory grows with the bytes that arrive, not with n.
// Small messages take parts of slabs of 64 KiB, or blocks of at least 4 KiB with Recycle.
// Errors of r are returned unchanged; if r ends too early, the error is io.ErrUnexpectedEOF.
func Read[S View](d *Desc, r io.Reader, n int, opts ...Option) (S, error) {
	engine.CheckDesc[S](d)
	s, err := engine.Read(d, r, n, opts...)
	return S(s), err
}

// ParseBlocks parses a message whose bytes are in several blocks, cut anywhere. Otherwise it is
// like ParseX. It copies values that cross a cut, and refers to the rest. If there are more than
// 128 blocks (with Lazy or ByIndex, more than 1), it copies them together first. d is the
// descriptor of S, such as order.OrderDesc. The blocks must not change while the message, or
// anything read from it, is in use.
func ParseBlocks[S View](d *Desc, blocks [][]byte, opts ...Option) (S, error) {
	engine.CheckDesc[S](d)
	s, err := engine.ParseBlocks(d, blocks, opts...)
	return S(s), err
}

// OpenIndexed parses a message with the option ByIndex. If the message has an index, OpenIndexed
// looks at little more than what is read. d is the descriptor of S, such as order.OrderDesc. The
// message refers to b, which must not change while the message, or anything read from it, is in
// use. The error is an *Error.
func OpenIndexed[S View](d *Desc, b []byte, opts ...Option) (S, error) {
	engine.CheckDesc[S](d)
	s, err := engine.OpenIndexed(d, b, opts...)
	return S(s), err
}
