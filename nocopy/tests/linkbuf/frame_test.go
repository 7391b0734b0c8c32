package linkbuf_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/nocopythrift/nocopythrift/linkbuf"
)

func TestReadFrameSize(t *testing.T) {
	for _, c := range []struct {
		name, bytes string
		want        int
		err         error
	}{
		{"nothing", "", 0, io.EOF},
		{"a part of a length", "\x00\x00\x01", 0, io.ErrUnexpectedEOF},
		{"an empty frame", "\x00\x00\x00\x00", 0, nil},
		{"the limit", "\x00\x00\x03\xe8", 1000, nil},
		{"above the limit", "\x00\x00\x03\xe9", 0, linkbuf.ErrFrameSize},
		{"2 GiB", "\x7f\xff\xff\xff", 0, linkbuf.ErrFrameSize},
		{"negative", "\xff\xff\xff\xff", 0, linkbuf.ErrFrameSize},
		{"most negative", "\x80\x00\x00\x00", 0, linkbuf.ErrFrameSize},
		{"HTTP", "GET /", 0, linkbuf.ErrFrameSize},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, r := range []io.Reader{strings.NewReader(c.bytes), iotest.OneByteReader(strings.NewReader(c.bytes)), iotest.DataErrReader(strings.NewReader(c.bytes))} {
				got, err := linkbuf.ReadFrameSize(r, 1000, new([4]byte))
				if got != c.want || !errors.Is(err, c.err) {
					t.Errorf("%s: %d, %v, want %d, %v", c.name, got, err, c.want, c.err)
				}
			}
		})
	}
	broken := errors.New("broken")
	if _, err := linkbuf.ReadFrameSize(iotest.ErrReader(broken), 1000, new([4]byte)); err != broken {
		t.Errorf("the reader's error: %v", err)
	}
}
