package engine

import (
	"errors"
	"io"
	"strconv"

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

// parseCompact parses b, which is in the compact protocol, into m, or into a message from the pool
// if m is nil. The message takes nothing of b.
func parseCompact(m *Message, d *schema.Struct, b []byte, flags Flags, limits Limits) (Struct, error) {
	d.Type().MustBeDefined()
	r := compact.TakeReader(len(b))
	defer r.Free()
	r.Reset(d.Type(), compactLimits(limits))
	end, status := r.Convert(b, 0, true)
	switch {
	case status != compact.Done:
		return Struct{}, refuseCompact(r, d, b, limits)
	case end < len(b):
		err := &wire.Error{Offset: end, Path: d.Name(), Err: wire.ErrTrailing}
		formats.ExplainCompact(err, b, d)
		return Struct{}, err
	}
	return parseConverted(m, r, d, b, flags, limits)
}

// refuseCompact returns the error in b, which r could not read.
func refuseCompact(r *compact.Reader, d *schema.Struct, b []byte, limits Limits) error {
	err := r.Error(d.Name(), limits.MaxDepth)
	if err.Err == compact.ErrDepth { // the parser knows where it is too deep
		if _, bad := parseConverted(nil, r, d, b, limited, limits); errors.Is(bad, wire.ErrLimit) {
			return bad
		}
		err.Err = parse.DepthError(limits.MaxDepth)
		return err
	}
	formats.ExplainCompact(err, b, d)
	return err
}

// parseConverted parses the Thrift Binary that r has made of b into m, or into a message from the
// pool if m is nil.
func parseConverted(m *Message, r *compact.Reader, d *schema.Struct, b []byte, flags Flags, limits Limits) (Struct, error) {
	m = expecting(m, d, flags&^Compact, limits)
	m.buf.Reset(flags&Recycle != 0)
	at, mem := m.buf.Place(r.Len())
	copy(mem, r.Bytes())
	m.buf.SetRoot(at, at+uint32(len(mem)))
	s, err := m.parseWhole()
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
			s, err := parseConverted(nil, r, d, c.Mem, flags, limits)
			return s, i, err
		case len(b) >= limits.MaxBytes:
			return Struct{}, 0, TooLong(d, int64(len(b))+1, limits.MaxBytes)
		}
		if err := in.FillTo(src, len(b)+1, ahead); err != nil {
			return Struct{}, 0, err
		}
	}
}

// TooLong returns the error of a message of n bytes that are more than most.
func TooLong(d *schema.Struct, n int64, most int) *wire.Error {
	return &wire.Error{Path: d.Name(), Err: wire.LimitError("message of " + strconv.FormatInt(n, 10) + " bytes, more than Limits.MaxBytes = " + strconv.Itoa(most))}
}
