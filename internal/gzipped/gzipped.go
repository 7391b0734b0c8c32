// Package gzipped has bodies of HTTP that are compressed with gzip, as servers receive and send
// them. What they become is bounded: gzip makes a body up to 1,032 times smaller.
package gzipped

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	// Least is the size from which on bodies are worth compressing.
	Least = 1 << 10

	// freeRatio is how many times as large as what has arrived a body may become, and freeBytes how
	// much more, before it counts towards a Budget.
	freeRatio, freeBytes = 32, 4 << 10
)

// ErrBusy is the error of a Body for which a Budget has nothing left at the moment.
var ErrBusy = errors.New("too much is in use of bodies that were compressed more than 32 times")

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

// Budget bounds the bytes that the bodies of a server have become, beyond 32 times what has
// arrived of them. They count until the bodies are not used any more, and then fade: that bounds
// the time for decompressing. The zero Budget can be used. Any goroutine may call the methods.
type Budget struct {
	mu    sync.Mutex
	used  int64     // by bodies that are in use
	level int64     // used, and what had not faded at that time
	at    time.Time // when level was updated
}

// take takes n bytes for a body of at most most bytes, and reports whether there are as many. A
// Budget has one and a half times most. A quarter of most fades per second.
func (b *Budget) take(n, most int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	faded := int64(now.Sub(b.at).Seconds() * float64(most/4))
	if faded < 0 || b.at.IsZero() {
		faded = b.level
	}
	if faded > 0 {
		b.level, b.at = max(b.level-faded, b.used), now
	}
	if b.level+n > most/2*3 {
		return false
	}
	b.level += n
	b.used += n
	return true
}

// give notes that n bytes are not used any more.
func (b *Budget) give(n int64) {
	b.mu.Lock()
	b.used -= n
	b.mu.Unlock()
}

// Body is a body that is decompressed as it is read. Its errors are those of reading, of package
// gzip, and ErrBusy. It is for one goroutine at a time.
type Body struct {
	of    *Budget
	most  int64
	src   counted
	z     *gzip.Reader // nil before the first Read, and when it has ended
	ended bool
	n     int64 // bytes that were read
	taken int64 // from the Budget
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

// Open returns a Body of the compressed bytes in r. The caller uses at most most bytes of it, and
// must call End.
func (b *Budget) Open(r io.Reader, most int) *Body {
	return &Body{of: b, most: int64(most), src: counted{Reader: r}}
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
	b.n += int64(n)
	if charged := b.n - freeRatio*b.src.n - freeBytes; charged > b.taken {
		if !b.of.take(charged-b.taken, b.most) {
			return 0, ErrBusy
		}
		b.taken = charged
	}
	return n, err
}

// Received returns how many compressed bytes were read.
func (b *Body) Received() int { return int(b.src.n) }

// End notes that the bytes which were read are not used any more. It may be called again, and of
// nil.
func (b *Body) End() {
	if b == nil || b.ended {
		return
	}
	if b.ended = true; b.z != nil {
		readers.Put(b.z)
		b.z = nil
	}
	b.of.give(b.taken)
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
