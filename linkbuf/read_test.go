package linkbuf

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
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
		{"above the limit", "\x00\x00\x03\xe9", 0, ErrFrameSize},
		{"2 GiB", "\x7f\xff\xff\xff", 0, ErrFrameSize},
		{"negative", "\xff\xff\xff\xff", 0, ErrFrameSize},
		{"most negative", "\x80\x00\x00\x00", 0, ErrFrameSize},
		{"HTTP", "GET /", 0, ErrFrameSize},
	} {
		for _, r := range []io.Reader{strings.NewReader(c.bytes), iotest.OneByteReader(strings.NewReader(c.bytes)), iotest.DataErrReader(strings.NewReader(c.bytes))} {
			got, err := ReadFrameSize(r, 1000, new([4]byte))
			if got != c.want || !errors.Is(err, c.err) {
				t.Errorf("%s: %d, %v, want %d, %v", c.name, got, err, c.want, c.err)
			}
		}
	}
	broken := errors.New("broken")
	if _, err := ReadFrameSize(iotest.ErrReader(broken), 1000, new([4]byte)); err != broken {
		t.Errorf("the reader's error: %v", err)
	}
}

// readN reads n bytes and returns them as they came into the Buffer.
func readN(b *Buffer, r io.Reader, n int) ([]byte, error) {
	p, mem, err := b.ReadN(r, n)
	if err == nil && n > 0 && &b.At(p)[0] != &mem[0] {
		panic("the bytes are not where their position says")
	}
	return mem, err
}

func TestReadN(t *testing.T) {
	data := make([]byte, 3<<20+17)
	for i := range data {
		data[i] = byte(i * 31)
	}
	for _, n := range []int{0, 1, 100, firstRead - 1, firstRead, firstRead + 1, 200_000, 1 << 20, len(data)} {
		for _, recycle := range []bool{false, true} {
			for name, r := range map[string]io.Reader{
				"whole": bytes.NewReader(data), "halves": iotest.HalfReader(bytes.NewReader(data)), "last with EOF": iotest.DataErrReader(bytes.NewReader(data[:n])),
			} {
				var b Buffer
				b.Reset(recycle)
				got, err := readN(&b, r, n)
				if err != nil || !bytes.Equal(got, data[:n]) {
					t.Errorf("%d bytes, %s: %d bytes, %v", n, name, len(got), err)
				}
				b.Free()
			}
		}
	}
}

// TestReadPromise: memory grows with the bytes that arrive, not with the number that was promised.
func TestReadPromise(t *testing.T) {
	for _, c := range []struct{ arrive, bound int }{
		{0, 256 << 10}, {1, 256 << 10}, {firstRead, 512 << 10}, {1 << 20, 8 << 20}, {10 << 20, 64 << 20},
	} {
		data := make([]byte, c.arrive)
		for _, recycle := range []bool{false, true} {
			var b Buffer
			b.Reset(recycle)
			for range 3 { // empty the pools
				runtime.GC()
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, _, err := b.ReadN(bytes.NewReader(data), MaxSize)
			runtime.ReadMemStats(&after)
			if err != io.ErrUnexpectedEOF {
				t.Errorf("%d bytes of 1 GiB: %v", c.arrive, err)
			}
			if got := after.TotalAlloc - before.TotalAlloc; got > uint64(c.bound) {
				t.Errorf("%d bytes of 1 GiB: %d bytes allocated", c.arrive, got)
			}
			b.Free()
		}
	}
	broken := errors.New("broken")
	var b Buffer
	b.Reset(false)
	if _, _, err := b.ReadN(io.MultiReader(strings.NewReader("abc"), iotest.ErrReader(broken)), 10); err != broken {
		t.Errorf("the reader's error: %v", err)
	}
}
