package compact_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// order is an Order. anything is a struct without known fields.
type (
	order    thriftimpl.Struct
	anything thriftimpl.Struct
)

var nothingDesc = func() *thriftimpl.Desc {
	_, nothing := everyShape()
	return nothing
}()

func (order) ThriftDesc() *thriftimpl.Desc    { return orderDesc }
func (anything) ThriftDesc() *thriftimpl.Desc { return nothingDesc }

func decoder(framed bool, r io.Reader, opts ...nocopy.Option) *nocopy.Decoder[anything] {
	if framed {
		return nocopy.NewFrameDecoder[anything](r, opts...)
	}
	return nocopy.NewDecoder[anything](r, opts...)
}

// frames returns framed messages: each after its length.
func frames(messages [][]byte) (b []byte) {
	for _, m := range messages {
		b = append(binary.BigEndian.AppendUint32(b, uint32(len(m))), m...)
	}
	return b
}

// orders returns some Orders of different sizes.
func orders() (all [][]byte) {
	for _, n := range []int{0, 1, 100, 20_000, 300_000, 3} {
		s := thriftimpl.New(orderDesc)
		s.SetInt64(orderDesc.Field(0), int64(n))
		s.SetText(orderDesc.Field(3), strings.Repeat("note", n))
		s.SetInt64s(orderDesc.Field(9), orderDesc, make([]int64, n))
		all = append(all, (*nocopy.Message)(s.Message()).AppendCompact(nil))
		s.Release()
	}
	return all
}

// TestCompactDecoder: Decoders read messages in the compact protocol one after another, however
// they are cut, and report the correct offsets.
func TestCompactDecoder(t *testing.T) {
	all := orders()
	for _, framed := range []bool{false, true} {
		stream := bytes.Join(all, nil)
		if framed {
			stream = frames(all)
		}
		for name, r := range map[string]io.Reader{
			"at once": bytes.NewReader(stream), "byte by byte": &oneByOne{b: stream}, "with EOF": &atOnce{b: stream, chunk: 777},
		} {
			for _, opt := range []nocopy.Option{nocopy.Own, nocopy.Lazy, nocopy.Recycle} {
				if _, ok := r.(io.Seeker); ok {
					r.(io.Seeker).Seek(0, io.SeekStart)
				} else if opt != nocopy.Own {
					continue // already read
				}
				d := decoder(framed, r, nocopy.Compact, opt)
				offset := int64(0)
				for i, want := range all {
					if d.Offset() != offset {
						t.Fatalf("%s, message %d is at %d, not %d", name, i, d.Offset(), offset)
					}
					s, err := d.Next()
					if err != nil {
						t.Fatalf("%s, framed %v, message %d: %v", name, framed, i, err)
					}
					if got := (*nocopy.Message)(thriftimpl.Struct(s).Message()).AppendCompact(nil); !bytes.Equal(got, want) {
						t.Fatalf("%s, framed %v, message %d goes out otherwise", name, framed, i)
					}
					thriftimpl.Struct(s).Release()
					offset += int64(len(want))
					if framed {
						offset += 4
					}
				}
				if _, err := d.Next(); err != io.EOF {
					t.Fatalf("%s, framed %v: at the end %v", name, framed, err)
				}
			}
		}
	}
}

// atOnce returns io.EOF with the last bytes.
type atOnce struct {
	b     []byte
	chunk int
}

func (r *atOnce) Read(b []byte) (int, error) {
	n := copy(b, r.b[:min(r.chunk, len(r.b))])
	if r.b = r.b[n:]; len(r.b) == 0 {
		return n, io.EOF
	}
	return n, nil
}

// TestCompactDecoderErrors: messages before an error are returned first. The error is that of
// Parse, or reports that the stream ends too early. It is returned again by the next call.
func TestCompactDecoderErrors(t *testing.T) {
	good := []byte("\x16\x02\x00")
	for _, c := range hostile {
		for _, framed := range []bool{false, true} {
			if c.reason == nocopy.ErrTrailing && !framed || c.bytes == "" && !framed || c.reason == nil && !framed {
				continue // the rest is the next message, or the stream ends, or more may come
			}
			stream := append(bytes.Clone(good), c.bytes...)
			if framed {
				stream = frames([][]byte{good, []byte(c.bytes)})
			}
			var d interface{ Next() (order, error) }
			if d = nocopy.NewDecoder[order](&oneByOne{b: stream}, nocopy.Compact, nocopy.ValidUTF8); framed {
				d = nocopy.NewFrameDecoder[order](&oneByOne{b: stream}, nocopy.Compact, nocopy.ValidUTF8)
			}
			if s, err := d.Next(); err != nil {
				t.Fatalf("%s: %v", c.name, err)
			} else {
				thriftimpl.Struct(s).Release()
			}
			_, err := d.Next()
			if _, again := d.Next(); again != err {
				t.Errorf("%s, framed %v: first %v, then %v", c.name, framed, err, again)
			}
			if err == nil || c.reason != nil && !errors.Is(err, c.reason) {
				t.Errorf("%s, framed %v: %v, want %v", c.name, framed, err, c.reason)
				continue
			}
			var bad *nocopy.Error
			if errors.As(err, &bad) && c.offset >= 0 && c.reason != io.ErrUnexpectedEOF && bad.Offset != c.offset {
				t.Errorf("%s, framed %v: %v, want it at %d", c.name, framed, err, c.offset)
			}
		}
	}
}

// TestCompactDecoderLimits: a message that exceeds Limits.MaxBytes, in the compact protocol or in
// Thrift Binary, is refused before all of it was read.
func TestCompactDecoderLimits(t *testing.T) {
	const most = 100_000
	for name, c := range map[string]string{
		"numbers":     "\xa9\xf6\xff\xff\x7f" + strings.Repeat("\x00", most),
		"long varint": "\x16\x02" + strings.Repeat("\x06\x02\x80\x80\x80\x80\x80\x80\x80\x00", most/5) + "\x00",
		"text":        "\x48\xff\xff\x7f" + strings.Repeat("x", 2<<20) + "\x00",
	} {
		r := &oneByOne{b: []byte(c)}
		d := nocopy.NewDecoder[order](r, nocopy.Compact, nocopy.Limits{MaxBytes: most})
		_, err := d.Next()
		if read := len(c) - len(r.b); !errors.Is(err, nocopy.ErrLimit) || read > most+8 {
			t.Errorf("%s: %v after %d bytes", name, err, read)
		}
	}
}
