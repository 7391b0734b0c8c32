package inspect

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/nocopythrift/nocopythrift/internal/firstbytes"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/compact"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/impl"
)

// A stream in the compact protocol is converted to Thrift Binary before it is dumped.

// mostCompact bounds the bytes of such a stream, and the Thrift Binary of one message or struct in
// it.
const mostCompact = impl.DefaultMaxBytes

const compactNote = "turned into Thrift Binary, whose offsets and bytes are shown"

// turn converts the walker's stream to Thrift Binary, which the walker then dumps.
func (w *walker) turn() error {
	all, err := io.ReadAll(io.LimitReader(w.in.r, mostCompact+1))
	if err != nil {
		return err
	}
	w.form = w.form.binary()
	out, err := toBinary(all, w.form)
	w.in.r = bufio.NewReaderSize(io.MultiReader(bytes.NewReader(out), failing{err}), window)
	return nil
}

// failing is a Reader that returns err, or io.EOF if err is nil.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) {
	if f.err == nil {
		return 0, io.EOF
	}
	return 0, f.err
}

// toBinary converts a stream in the compact protocol to Thrift Binary, up to the first error. The
// offset in the error counts in b.
func toBinary(b []byte, form Form) (out []byte, err error) {
	if len(b) > mostCompact {
		return nil, fmt.Errorf("inspect: more than %d bytes in the compact protocol", mostCompact)
	}
	for at := 0; at < len(b); {
		end := len(b)
		if form.framed() {
			if end-at < 4 || int64(binary.BigEndian.Uint32(b[at:])) > int64(end-at-4) {
				return out, &nocopy.Error{Offset: at, Err: io.ErrUnexpectedEOF}
			}
			at += 4
			end = at + int(binary.BigEndian.Uint32(b[at-4:]))
			out = append(out, 0, 0, 0, 0)
		}
		start := len(out)
		n, made, err := unitToBinary(out, b[at:end], form.messages(), true)
		if err == nil && form.framed() && at+n < end {
			n, err = at+n, nocopy.ErrTrailing
		}
		if err != nil {
			if form.framed() {
				start -= 4
			}
			return out[:start], &nocopy.Error{Offset: at + n, Err: err}
		}
		if out = made; form.framed() {
			binary.BigEndian.PutUint32(out[start-4:], uint32(len(out)-start))
		}
		at += n
	}
	return out, nil
}

// unitToBinary converts the message or struct at the beginning of b to Thrift Binary and appends
// it to out. It returns its length in b or, with an error, the offset of the error. Without whole,
// b may end in the middle of it.
func unitToBinary(out, b []byte, message, whole bool) (n int, made []byte, err error) {
	if message {
		name, kind, seqid, n := compactHeader(b)
		if n < 0 {
			return 0, nil, fmt.Errorf("no header of a message in the compact protocol: %w", io.ErrUnexpectedEOF)
		}
		out = binary.BigEndian.AppendUint32(out, 0x80010000|uint32(kind))
		out = append(binary.BigEndian.AppendUint32(out, uint32(len(name))), name...)
		out = binary.BigEndian.AppendUint32(out, seqid)
		m, made, err := unitToBinary(out, b[n:], false, whole)
		return n + m, made, err
	}
	r := compact.TakeReader(len(b))
	defer r.Free()
	r.Reset(nil, compact.Limits{Bytes: mostCompact, Levels: maxDepth})
	switch end, status := r.Convert(b, 0, whole); status {
	case compact.Done:
		return end, append(out, r.Bytes()...), nil
	case compact.More:
		return len(b), out, nil
	}
	n, err = r.Fault()
	return n, nil, err
}

// compactHeader returns the contents and the length of the message header at the beginning of b.
// The length is negative if there is none.
func compactHeader(b []byte) (name []byte, kind byte, seqid uint32, n int) {
	if !firstbytes.BeginsCompactCall(b) {
		return nil, 0, 0, -1
	}
	id, n := binary.Uvarint(b[2:])
	if n <= 0 {
		return nil, 0, 0, -1
	}
	size, m := binary.Uvarint(b[2+n:])
	n += 2 + m
	if m <= 0 || size > uint64(len(b)-n) {
		return nil, 0, 0, -1
	}
	return b[n : n+int(size)], b[1] >> 5, uint32(id), n + int(size)
}

// isCompactStruct reports whether b consists of structs in the compact protocol. With whole, the
// last one must be complete.
func isCompactStruct(b []byte, whole bool) bool {
	for at := 0; at < len(b); {
		n, _, err := unitToBinary(nil, b[at:], false, whole)
		if err != nil || n < 3 || b[at] <= 0x10 { // ids must have the short form
			return false
		}
		at += n
	}
	return len(b) >= leastCompact
}

// leastCompact is the size from which on bytes are taken for structs in the compact protocol.
const leastCompact = 8
