package transport

import (
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/nocopythrift/nocopythrift/internal/compressed"
	"github.com/nocopythrift/nocopythrift/internal/memory"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/header"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/message"
)

// THeader sends frames that begin with a THeader. Servers need not choose it: frames say.
var THeader Transport = new(theader)

type theader struct{ framed }

func (*theader) HasHeaders() bool { return true }

// opened is the THeader of a frame.
type opened struct {
	theader message.THeader
	headers header.List
	form    message.Form // of the messages; Strict stands for Old, too
}

// openTHeader is split for a frame that begins with a THeader.
func (r *Receiver) openTHeader(c memory.Chunk) (message.Header, memory.Chunk, error) {
	o := new(opened)
	var size int
	var err error
	o.theader, o.headers, o.form, size, err = message.ParseTHeader(c.Mem)
	rest := c
	if err == nil {
		if rest.Mem = c.Mem[size:]; o.theader.Zlib {
			r.charge = Charge{of: r, free: compressed.FreeRatio * int64(len(c.Mem))}
			rest, err = r.inflate(rest, o.form)
		}
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		r.waiting = c
		return message.Header{}, memory.Chunk{}, err
	}
	if err != nil {
		known := len(c.Mem) >= message.THeaderSize
		c.Release()
		if !known {
			return message.Header{}, memory.Chunk{}, err
		}
		o.theader.Zlib = false // its reply is short
		return o.stranger(r.Requests), memory.Chunk{}, err
	}
	if r.opened = o; o.form != message.Compact { // else when it is in Thrift Binary
		r.charge.settle(len(rest.Mem))
	}
	return r.splitNext(rest)
}

// isCompressed reports whether the message that is being received came in a compressed frame.
func (r *Receiver) isCompressed() bool { return r.opened != nil && r.opened.theader.Zlib }

// errSeveral returns the error of a compressed frame with n bytes after its message. No peer sends
// more than one message, while a small frame could hold millions.
func errSeveral(n int) error {
	return message.Malformed(fmt.Errorf("%w: %d; a compressed frame holds one message", nocopy.ErrTrailing, n))
}

// stranger returns the header of a message that is not known, as far as the THeader tells it.
func (o *opened) stranger(request bool) message.Header {
	h := message.Header{Type: message.Reply, SeqID: o.theader.SeqID, Size: message.THeaderSize}
	if request {
		h.Type = message.Call
	}
	h.Form, h.THeader, h.Headers = o.form, &o.theader, &o.headers
	return h
}

// check completes the header of a message in the frame, or refuses a message that has another
// encoding than the THeader says. Then it releases the chunk.
func (o *opened) check(h message.Header, c memory.Chunk) (message.Header, memory.Chunk, error) {
	h.THeader, h.Headers = &o.theader, &o.headers
	if (h.Form == message.Compact) != (o.form == message.Compact) {
		h.Name, h.Form = bytes.Clone(h.Name), o.form
		c.Release()
		return h, memory.Chunk{}, &message.Refusal{Type: message.InvalidProtocol, Text: "THeader: the message is in another protocol than it says"}
	}
	return h, c, nil
}

// parseLarge is message.Parse for the message in a frame that is too large. Of one that is
// compressed, only what the THeader says is known.
func (r *Receiver) parseLarge(b []byte) (h message.Header, need int, err error) {
	if !message.IsTHeader(b) {
		return message.Parse(b)
	}
	if len(b) < message.THeaderSize {
		return h, message.THeaderSize, nil
	}
	o := new(opened)
	var size int
	if size = message.SizeOfTHeader(b); len(b) < size {
		return h, size, nil
	}
	o.theader, o.headers, o.form, _, err = message.ParseTHeader(b[:size])
	if err != nil || o.theader.Zlib {
		o.theader.Zlib = false
		return o.stranger(r.Requests), 0, nil
	}
	h, need, err = message.Parse(b[size:])
	if need > 0 {
		need += size
	}
	h.Size += size
	h.THeader, h.Headers = &o.theader, &o.headers
	return h, need, err
}

// inflater decompresses messages. Its memory is used again.
type inflater struct {
	z   io.ReadCloser // also a zlib.Resetter; nil before the first use
	src bytes.Reader
	out memory.Receiver
}

var inflaters = sync.Pool{New: func() any { return new(inflater) }}

// inflate returns the decompressed bytes of c, which it takes over unless there is an error: a
// *message.Refusal, or os.ErrDeadlineExceeded if it was interrupted. It takes memory and time for
// at most MaxFrame bytes.
func (r *Receiver) inflate(c memory.Chunk, form message.Form) (memory.Chunk, error) {
	most := r.Limits.Frame
	out, err := r.inflateSmall(c.Mem, int(min(r.charge.free, int64(most))))
	if err == nocopy.ErrLimit && r.charge.free < int64(most) {
		out, err = r.inflateLarge(c.Mem, form)
	}
	if err == nil && form == message.Compact {
		if err = r.charge.reserve(compactRatio * int64(len(out.Mem))); err != nil {
			out.Release()
		}
	}
	switch {
	case err == nil:
		c.Release()
		r.Stats.Converted(len(out.Mem))
		return out, nil
	case err == compressed.ErrBusy:
		return out, r.busy()
	case errors.Is(err, os.ErrDeadlineExceeded):
		return out, err
	case err == nocopy.ErrLimit:
		err = fmt.Errorf("%w: more than %s = %d bytes when decompressed", err, r.Limits.Name, most)
	}
	return out, message.Malformed(err)
}

// busy returns the error of a message for which there was nothing in the Budget in time.
func (r *Receiver) busy() error {
	text := "THeader: " + compressed.ErrBusy.Error()
	if r.Requests {
		return &message.Refusal{Type: message.LoadShedding, Text: text + message.NotHandled}
	}
	return &message.Refusal{Type: message.InternalError, Text: text}
}

// inflateSmall returns the decompressed bytes of b. If they are more than most, the error is
// nocopy.ErrLimit.
func (r *Receiver) inflateSmall(b []byte, most int) (memory.Chunk, error) {
	f := inflaters.Get().(*inflater)
	defer f.free()
	f.out.Reset(true)
	err := f.open(b)
	in := io.LimitReader(f.z, int64(most)+1)
	for err == nil {
		err = f.out.Fill(in, len(f.out.Bytes())+1)
	}
	if err = f.end(err, len(f.out.Bytes()), most); err != nil {
		return memory.Chunk{}, err
	}
	return r.in.Copy(f.out.Bytes()), nil
}

// inflateLarge is inflate for bytes that are charged, once the Budget has enough. They are
// decompressed twice, first without being kept: then they need no more memory than they are.
func (r *Receiver) inflateLarge(b []byte, form message.Form) (out memory.Chunk, err error) {
	most := compressed.MaxRatio * int64(len(b))
	if form == message.Compact {
		most *= compactRatio
	}
	if err = r.charge.reserve(most); err != nil {
		return out, err
	}
	f := inflaters.Get().(*inflater)
	defer f.free()
	n := int64(0)
	if err = f.open(b); err == nil {
		n, err = io.Copy(io.Discard, io.LimitReader(f.z, int64(r.Limits.Frame)+1))
	}
	if err == nil {
		err = io.EOF
	}
	if err = f.end(err, int(n), r.Limits.Frame); err != nil {
		return out, err
	}
	out = r.in.New(int(n))
	if err = f.open(b); err == nil {
		_, err = io.ReadFull(f.z, out.Mem)
	}
	if err != nil {
		out.Release()
	}
	return out, err
}

// open begins to decompress b.
func (f *inflater) open(b []byte) (err error) {
	f.src.Reset(b)
	if f.z == nil {
		f.z, err = zlib.NewReader(&f.src)
		return err
	}
	return f.z.(zlib.Resetter).Reset(&f.src, nil)
}

// end returns the error of decompressing that ended with err after n bytes. It is nil if err is
// io.EOF, nothing follows, and there are not more than most bytes.
func (f *inflater) end(err error, n, most int) error {
	switch {
	case err != io.EOF:
		return err
	case n > most:
		return nocopy.ErrLimit
	case f.src.Len() > 0:
		return fmt.Errorf("%w: %d bytes come after what is compressed", nocopy.ErrTrailing, f.src.Len())
	}
	return nil
}

func (f *inflater) free() {
	f.src.Reset(nil)
	f.out.Free()
	inflaters.Put(f)
}
