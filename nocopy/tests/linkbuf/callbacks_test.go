package linkbuf_test

import (
	"bytes"
	"io"
	"runtime"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/memory"
	"github.com/nocopythrift/nocopythrift/linkbuf"
)

// ending is a Reader and Writer that ends in its second call.
type ending struct {
	end   func()
	calls int
}

func (e *ending) Read(b []byte) (int, error) {
	copy(b, "garbage")
	e.call()
	return len(b), nil
}

func (e *ending) Write(b []byte) (int, error) { e.call(); return len(b), nil }

func (e *ending) call() {
	if e.calls++; e.calls == 2 {
		e.end()
	}
}

// TestCallbacks: if a Reader, a Writer or a loop body panics or ends its goroutine, the Buffer is
// unchanged and usable, and a Receiver has lost no bytes.
func TestCallbacks(t *testing.T) {
	const size = 200_000
	want := bytes.Repeat([]byte("0123456789"), size/10)
	for name, end := range map[string]func(){"panic": func() { panic("enough") }, "Goexit": runtime.Goexit} {
		for use, call := range map[string]func(b *linkbuf.Buffer, r *linkbuf.Receiver, e *ending){
			"ReadN":      func(b *linkbuf.Buffer, _ *linkbuf.Receiver, e *ending) { b.ReadN(e, 3*size) },
			"WriteTo":    func(b *linkbuf.Buffer, _ *linkbuf.Receiver, e *ending) { e.calls = 1; b.WriteTo(e) },
			"WriteFrame": func(b *linkbuf.Buffer, _ *linkbuf.Receiver, e *ending) { e.calls = 1; b.WriteFrame(e) },
			"ReadFrameSize": func(_ *linkbuf.Buffer, _ *linkbuf.Receiver, e *ending) {
				e.calls = 1
				linkbuf.ReadFrameSize(e, size, new([4]byte))
			},
			"Pieces": func(b *linkbuf.Buffer, _ *linkbuf.Receiver, e *ending) {
				e.calls = 1
				for range b.Pieces() {
					e.call()
				}
			},
			"Fill": func(_ *linkbuf.Buffer, r *linkbuf.Receiver, e *ending) { e.calls = 1; r.Fill(e, size) },
		} {
			blocks := memory.BlocksInUse()
			var b linkbuf.Buffer
			var r linkbuf.Receiver
			b.Reset(true)
			r.Reset(true)
			b.Write(want)
			if err := r.Fill(bytes.NewReader(want), 0); err != nil {
				t.Fatal(err)
			}
			arrived, returned, done := len(r.Bytes()), false, make(chan struct{})
			go func() {
				defer close(done)
				defer func() { recover() }()
				call(&b, &r, &ending{end: end})
				returned = true
			}()
			<-done
			if returned {
				t.Errorf("%s in %s: it has returned", name, use)
			}
			if !bytes.Equal(b.Bytes(), want) {
				t.Errorf("%s in %s: the Buffer has %d bytes, or other ones", name, use, b.Len())
			}
			if !bytes.Equal(r.Bytes(), want[:arrived]) {
				t.Errorf("%s in %s: the Receiver has %d bytes, or other ones", name, use, len(r.Bytes()))
			}
			if err := b.ReadN(bytes.NewReader(want), size); err != nil || !bytes.Equal(b.Slice(size, 2*size), want) {
				t.Errorf("%s in %s: ReadN afterwards: %v", name, use, err)
			}
			if n, err := b.WriteTo(io.Discard); err != nil || n != 2*size {
				t.Errorf("%s in %s: WriteTo afterwards: %d, %v", name, use, n, err)
			}
			if err := r.Fill(bytes.NewReader(want), 0); err != nil {
				t.Errorf("%s in %s: Fill afterwards: %v", name, use, err)
			}
			b.Free()
			r.Free()
			if n := memory.BlocksInUse() - blocks; n != 0 {
				t.Errorf("%s in %s: %d recycled blocks are lost", name, use, n)
			}
		}
	}
}
