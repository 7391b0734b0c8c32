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

// parseCompact parses b, which is in the compact protocol, into m, which takes nothing of b. It
// returns the root. With an error it releases m.
func (m *Message) parseCompact(b []byte) (Struct, error) {
	d := m.desc
	d.Type().MustBeDefined()
	r := compact.TakeReader(len(b))
	defer r.Free()
	r.Reset(d.Type(), compactLimits(m.limits))
	end, status := r.Read(b, 0, true)
	if status != compact.Done {
		return Struct{}, m.refuseCompact(r, b)
	}
	if end < len(b) {
		m.discard()
		err := &wire.Error{Offset: end, Path: d.Name(), Err: wire.ErrTrailing}
		formats.AddTo(err, notCompact(b, d))
		return Struct{}, err
	}
	return m.parseBinaryOf(r, b)
}

// refuseCompact returns the error in b, which r could not read, and releases m.
func (m *Message) refuseCompact(r *compact.Reader, b []byte) error {
	d := m.desc
	err := r.Error(d.Name(), m.limits.MaxDepth)
	if err.Err == compact.ErrDepth { // the parser knows where it is too deep
		if _, bad := m.parseBinaryOf(r, b); errors.Is(bad, wire.ErrLimit) {
			return bad
		}
		err.Err = parse.DepthError(m.limits.MaxDepth)
		return err
	}
	formats.AddTo(err, notCompact(b, d))
	m.discard()
	return err
}

// notCompact names the format of b, which is not a struct in the compact protocol.
func notCompact(b []byte, d *schema.Struct) string {
	if len(b) >= formats.LeastCompact {
		if end, err := parse.Skip(b, 0, wire.Struct, parse.BudgetOf(parse.MaxDepth), parse.StructCost); err == nil && end == len(b) {
			return "a struct in Thrift Binary, which is parsed without the option Compact"
		}
	}
	if what := formats.Of(b, len(b), d); what != formats.CompactStruct {
		return what
	}
	return ""
}

// parseBinaryOf parses the Thrift Binary that r has made of b.
func (m *Message) parseBinaryOf(r *compact.Reader, b []byte) (Struct, error) {
	d, limits := m.desc, m.limits
	at, mem := m.buf.Place(r.Len())
	copy(mem, r.Bytes())
	m.buf.SetRoot(at, at+uint32(len(mem)))
	s, err := m.parseFrom(mem, at)
	if err != nil {
		var bad *wire.Error
		if errors.As(err, &bad) {
			bad.Offset = compactOffset(d, b, limits, bad.Offset)
		}
		return s, err
	}
	s.m.flags &^= Compact
	return s, nil
}

// readCompact reads n bytes in the compact protocol from src and parses them into m.
func (m *Message) readCompact(src io.Reader, n int) (Struct, error) {
	var in chain.Receiver
	in.Reset(true)
	defer in.Free()
	done := false
	defer func() {
		if !done { // an error, or src panics
			m.discard()
		}
	}()
	if err := in.FillTo(src, n, 0); err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return Struct{}, err
	}
	done = true
	return m.parseCompact(in.Bytes())
}

// compactOffset converts an offset in Thrift Binary to the offset of the same value in b, which is
// in the compact protocol. To do so it converts b again, value by value near the offset.
func compactOffset(d *schema.Struct, b []byte, limits Limits, offset int) int {
	r := compact.TakeReader(len(b))
	defer r.Free()
	at, end := 0, 0 // the last value begins and ends there
	from := 0       // the value of interest ends after so many bytes of b
	for _, step := range [...]int{4 << 10, 1} {
		r.Reset(d.Type(), compactLimits(limits))
		var status compact.Status
		end, status = r.Read(b[:from], 0, false)
		for upTo := from; status == compact.More && upTo < len(b); {
			upTo, at = min(upTo+step, len(b)), end
			if end, status = r.Read(b[:upTo], end, false); r.Len() > offset {
				break
			}
			from = upTo
		}
	}
	if r.Len() <= offset {
		return end
	}
	return max(at, end-(r.Len()-offset)) // from the value's end, as in a text
}

// gathered returns a copy of blocks in one piece, in recycled memory.
func gathered(blocks [][]byte, n int) chain.Chunk {
	c := chain.NewChunk(n, true)
	mem := c.Mem[:0]
	for _, b := range blocks {
		mem = append(mem, b...)
	}
	return c
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
		switch i, status = r.Read(b, i, false); {
		case status == compact.Failed:
			return Struct{}, 0, newMessage(d, flags, limits).refuseCompact(r, b)
		case status == compact.Done:
			c := in.Take(i)
			defer c.Release()
			s, err := newMessage(d, flags, limits).parseBinaryOf(r, c.Mem)
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
