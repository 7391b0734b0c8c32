package engine

import (
	"errors"
	"io"

	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/compact"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/formats"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/parse"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// This file parses messages in the compact protocol. Package compact converts each once to Thrift
// Binary, in memory of its own, before it is parsed. Afterwards it is like any other.

// compactLimits are the limits of a Reader of the compact protocol. Its levels include containers
// of known types, which MaxDepth does not count, and which a type nests a few times. The parser
// counts again.
func compactLimits(l Limits) compact.Limits {
	const most = 16 // containers in each other, and the struct that they are in
	return compact.Limits{Bytes: l.MaxBytes, Levels: most*l.MaxDepth + most}
}

// parseCompact parses the message's bytes, which are in the compact protocol and in one piece. The
// message then has the Thrift Binary that they are converted to instead.
func (m *Message) parseCompact() (Struct, error) {
	_, b, _ := m.buf.Whole()
	m.desc.Type().MustBeDefined()
	r := compact.TakeReader(len(b))
	defer r.Free()
	r.Reset(m.desc.Type(), compactLimits(m.limits))
	end, status := r.Convert(b, 0, true)
	if status == compact.Done && end == len(b) {
		return m.parseConverted(r, b)
	}
	var err error
	if status == compact.Done {
		bad := &wire.Error{Offset: end, Path: m.desc.Name(), Err: wire.ErrTrailing}
		formats.ExplainCompact(bad, b, m.desc)
		err = bad
	} else {
		err = refuseCompact(r, m.desc, b, m.limits)
	}
	m.release()
	return Struct{}, err
}

// refuseCompact returns the error in b, which r could not read.
func refuseCompact(r *compact.Reader, d *schema.Struct, b []byte, limits Limits) error {
	err := r.Error(d.Name(), limits.MaxDepth)
	if err.Err == compact.ErrDepth { // the parser knows where it is too deep
		if _, bad := newMessage(d, limited, limits).parseConverted(r, b); errors.Is(bad, wire.ErrLimit) {
			return bad
		}
		err.Err = parse.DepthError(limits.MaxDepth)
		return err
	}
	formats.ExplainCompact(err, b, d)
	return err
}

// parseConverted parses the Thrift Binary that r has made of b, instead of what the message had.
func (m *Message) parseConverted(r *compact.Reader, b []byte) (Struct, error) {
	d, limits := m.desc, m.limits
	m.flags &^= Compact
	m.buf.Reset(m.flags&Recycle != 0)
	at, mem := m.buf.Place(r.Len())
	copy(mem, r.Bytes())
	m.buf.SetRoot(at, at+uint32(len(mem)))
	s, err := m.parseBinary()
	var bad *wire.Error
	if errors.As(err, &bad) {
		bad.Offset = r.OffsetIn(b, d.Type(), compactLimits(limits), bad.Offset)
	}
	return s, err
}

// ReceiveCompact receives a struct in the compact protocol from src and parses it. It returns the
// root and how many bytes the struct had. It reads at most ahead bytes more, which stay in in.
func ReceiveCompact(d *schema.Struct, in *chain.Receiver, src io.Reader, ahead int, flags Flags, limits Limits) (Struct, int, error) {
	d.Type().MustBeDefined()
	if err := in.FillTo(src, 1, ahead); err != nil {
		return Struct{}, 0, err
	}
	r := compact.TakeReader(len(in.Bytes()))
	defer r.Free()
	r.Reset(d.Type(), compactLimits(limits))
	for i := 0; ; {
		b := in.Bytes()
		var status compact.Status
		switch i, status = r.Convert(b, i, false); {
		case status == compact.Failed:
			return Struct{}, 0, refuseCompact(r, d, b, limits)
		case status == compact.Done:
			c := in.Take(i)
			defer c.Release()
			s, err := newMessage(d, flags, limits).parseConverted(r, c.Mem)
			return s, i, err
		case len(b) >= limits.MaxBytes:
			return Struct{}, 0, TooLong(d, int64(len(b))+1, limits.MaxBytes)
		}
		if err := in.FillTo(src, len(b)+1, ahead); err != nil {
			return Struct{}, 0, err
		}
	}
}
