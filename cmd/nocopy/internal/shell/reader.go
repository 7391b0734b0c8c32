package shell

import (
	"context"
	"io"
)

// Reader returns a Reader of r whose Read fails when ctx ends, even while r's is waiting for
// something.
func Reader(ctx context.Context, r io.Reader) io.Reader {
	return &reader{ctx: ctx, r: r, parts: make(chan part, 1)}
}

type reader struct {
	ctx     context.Context
	r       io.Reader
	parts   chan part
	reading bool // a goroutine reads the next part
	rest    part // what was read
}

type part struct {
	b   []byte
	err error
}

// Read reads the next bytes of r.
func (r *reader) Read(b []byte) (int, error) {
	if len(r.rest.b) == 0 && r.rest.err == nil {
		if !r.reading {
			r.reading = true
			go func() {
				b := make([]byte, 64<<10)
				n, err := r.r.Read(b)
				r.parts <- part{b[:n], err}
			}()
		}
		select {
		case r.rest = <-r.parts:
			r.reading = false
		case <-r.ctx.Done():
			return 0, context.Cause(r.ctx)
		}
	}
	if err := r.ctx.Err(); err != nil { // of a file that is always ready
		return 0, context.Cause(r.ctx)
	}
	n := copy(b, r.rest.b)
	r.rest.b = r.rest.b[n:]
	if len(r.rest.b) > 0 {
		return n, nil
	}
	return n, r.rest.err
}
