// Package compressed has bodies of HTTP that are compressed with gzip, as servers receive and send
// them, and the bound for what compressed messages become: zlib and gzip make them up to 1,032
// times smaller.
package compressed

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Least is the size from which on bodies are worth compressing.
const Least = 1 << 10

// freeBytes is what a body may become before it is charged, besides FreeRatio: so many bytes are
// decompressed before its size can be judged.
const freeBytes = 4 << 10

// Encoding returns the Content-Encoding of a message: "" for none, and "gzip".
func Encoding(h http.Header) string {
	switch e := strings.ToLower(strings.TrimSpace(strings.Join(h["Content-Encoding"], ","))); e {
	case "identity":
		return ""
	case "x-gzip":
		return "gzip"
	default:
		return e
	}
}

// Prefers reports whether the sender of a request accepts an answer in gzip, and prefers no other
// coding that is none at all.
func Prefers(h http.Header) bool {
	zipped, plain := 0.0, 0.0
	for _, one := range strings.Split(strings.Join(h["Accept-Encoding"], ","), ",") {
		name, weight, _ := strings.Cut(strings.ToLower(strings.ReplaceAll(one, " ", "")), ";")
		q := 1.0
		if text, ok := strings.CutPrefix(weight, "q="); ok {
			q, _ = strconv.ParseFloat(text, 64)
		}
		switch name {
		case "gzip", "x-gzip":
			zipped = q
		case "identity":
			plain = q
		}
	}
	return zipped > 0 && zipped >= plain
}

// Room says where and how a Body takes the bytes that it becomes beyond FreeRatio times its size.
type Room struct {
	Budget *Budget
	Most   int           // how many bytes of a body are used at most
	Wait   time.Duration // how long reading waits for room, as Budget.Take does
	Stop   func() bool   // for Budget.Take

	// Growth returns how many times as large a body may become once it is read that begins with this
	// byte; nil: no body grows.
	Growth func(first byte) int64
}

// Body is a body that is decompressed as it is read. Its errors are those of reading, of package
// gzip, and of Budget.Take. It is for one goroutine at a time.
type Body struct {
	room   Room
	length int64
	src    counted
	z      *gzip.Reader // nil before the first Read, and when it has ended
	ended  bool
	n      int64 // bytes that were read
	growth int64 // as Room.Growth says; 0 before the first byte
	taken  int64 // from the Budget
}

// counted counts the bytes that arrive.
type counted struct {
	io.Reader
	n int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n += int64(n)
	return n, err
}

// Open returns a Body of the length compressed bytes in src; length is negative if it is not
// known. The caller must call End.
func (r Room) Open(src io.Reader, length int64) *Body {
	return &Body{room: r, length: length, src: counted{Reader: src}}
}

var readers = sync.Pool{New: func() any { return new(gzip.Reader) }}

// Read reads decompressed bytes.
func (b *Body) Read(p []byte) (n int, err error) {
	if b.ended {
		return 0, io.ErrClosedPipe
	}
	if b.z == nil {
		b.z = readers.Get().(*gzip.Reader)
		if err = b.z.Reset(&b.src); err == io.EOF { // no bytes at all
			err = io.ErrUnexpectedEOF
		}
	}
	if err == nil {
		n, err = b.z.Read(p)
	}
	if n > 0 && b.growth == 0 {
		if b.growth = 1; b.room.Growth != nil {
			b.growth = b.room.Growth(p[0])
		}
	}
	b.n += int64(n)
	if b.beyond(b.n) > b.taken {
		most := int64(b.room.Most)
		if b.length >= 0 {
			most = min(most, MaxRatio*b.length*b.growth)
		}
		if err := b.reserve(max(most, b.n)); err != nil {
			return 0, err
		}
	}
	if err != nil { // the body's size is known
		becomes := max(min(b.n*b.growth, int64(b.room.Most)), b.n)
		if err := b.reserve(becomes); err != nil {
			return 0, err
		}
		b.Settle(becomes)
	}
	return n, err
}

// beyond returns how many of n bytes are charged.
func (b *Body) beyond(n int64) int64 { return n - FreeRatio*b.src.n - freeBytes }

// reserve takes what the body needs to become n bytes. It waits only if nothing was taken yet:
// otherwise two bodies, each with a part, could wait for each other. The errors are those of
// Budget.Take.
func (b *Body) reserve(n int64) error {
	need := b.beyond(n) - b.taken
	if need <= 0 {
		return nil
	}
	if b.taken > 0 {
		b.room.Budget.Add(need)
	} else if err := b.room.Budget.Take(need, b.room.Wait, b.room.Stop); err != nil {
		return err
	}
	b.taken += need
	return nil
}

// Settle replaces the bytes taken from the Budget by those that the body needs at its final size
// of n bytes, at least as many as were read. It may be called on a nil Body.
func (b *Body) Settle(n int64) {
	if b == nil {
		return
	}
	need := max(b.beyond(max(n, b.n)), 0)
	b.room.Budget.Give(b.taken-need, 0)
	b.taken = need
}

// Received returns how many compressed bytes were read.
func (b *Body) Received() int { return int(b.src.n) }

// End declares that the bytes that were read are no longer used. It may be called more than once,
// and on a nil Body.
func (b *Body) End() {
	if b == nil || b.ended {
		return
	}
	if b.ended = true; b.z != nil {
		readers.Put(b.z)
		b.z = nil
	}
	b.room.Budget.Give(0, b.taken)
}

// Compressor compresses an answer. NewCompressor returns one.
type Compressor struct {
	*gzip.Writer
	out bytes.Buffer
}

var compressors = sync.Pool{New: func() any {
	c := new(Compressor)
	c.Writer, _ = gzip.NewWriterLevel(&c.out, gzip.BestSpeed)
	return c
}}

// NewCompressor returns a Compressor. Its Free must be called.
func NewCompressor() *Compressor { return compressors.Get().(*Compressor) }

// Bytes returns what was written, compressed. It is valid until Free is called.
func (c *Compressor) Bytes() []byte {
	c.Close()
	return c.out.Bytes()
}

// Free gives the memory back.
func (c *Compressor) Free() {
	if c.out.Reset(); c.out.Cap() > 64<<10 {
		c.out = bytes.Buffer{}
	}
	c.Reset(&c.out)
	compressors.Put(c)
}
