package linkbuf_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/linkbuf"
)

// copyBelow is the size from which on a Buffer refers to bytes instead of copying them.
const copyBelow = 256

// modelled is a Buffer with its expected bytes.
type modelled struct {
	b       linkbuf.Buffer
	want    []byte
	recycle bool
}

// TestModel changes several Buffers at random, which also share from each other, and compares all
// of them with plain bytes after each change.
func TestModel(t *testing.T) {
	for seed := range uint64(testmode.Of(8, 32)) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 16))
			w := modelWorld{r: r}
			for i := range w.buffers {
				w.buffers[i].recycle = seed>>i&1 != 0
				w.buffers[i].b.Reset(w.buffers[i].recycle)
			}
			for step := range 200 {
				did := w.step()
				w.check(t, fmt.Sprintf("step %d, %s", step, did))
			}
		})
	}
}

type modelWorld struct {
	r       *rand.Rand
	buffers [4]modelled
	// foreign are slices that Buffers refer to, and copies of them: no Buffer may change them.
	foreign, copies [][]byte
	in              linkbuf.Receiver
}

// bytes returns random bytes, usually a few.
func (w *modelWorld) bytes() []byte {
	n := w.r.IntN(20)
	switch w.r.IntN(10) {
	case 0:
		n = w.r.IntN(3000)
	case 1:
		n = copyBelow - 2 + w.r.IntN(4)
	case 2:
		n = w.r.IntN(70_000)
	}
	p := make([]byte, n)
	for i := range p {
		p[i] = byte(w.r.Uint32())
	}
	return p
}

// part returns a random range of n bytes.
func (w *modelWorld) part(n int) (from, to int) {
	from, to = w.r.IntN(n+1), w.r.IntN(n+1)
	return min(from, to), max(from, to)
}

// step changes a Buffer and returns what it did.
func (w *modelWorld) step() string {
	m := &w.buffers[w.r.IntN(len(w.buffers))]
	if len(m.want) > 200_000 {
		m.b.Free()
		m.want = nil
	}
	p := w.bytes()
	switch op := w.r.IntN(12); op {
	case 0:
		m.b.Write(p)
		m.want = append(m.want, p...)
		return "Write"
	case 1:
		m.b.WriteString(string(p))
		m.want = append(m.want, p...)
		return "WriteString"
	case 2:
		m.b.WriteByte(7)
		m.want = append(m.want, 7)
		return "WriteByte"
	case 3:
		mem := m.b.Extend(len(p))
		if !bytes.Equal(mem, make([]byte, len(p))) {
			return "Extend gave bytes that are not zero"
		}
		copy(mem, p)
		m.want = append(m.want, p...)
		return "Extend"
	case 4:
		w.foreign, w.copies = append(w.foreign, p), append(w.copies, bytes.Clone(p))
		m.b.Refer(p)
		m.want = append(m.want, p...)
		return "Refer"
	case 5, 6:
		src := &w.buffers[w.r.IntN(len(w.buffers))]
		from, to := w.part(len(src.want))
		m.b.Share(&src.b, from, to)
		m.want = append(m.want, src.want[from:to]...)
		return fmt.Sprint("Share ", from, " to ", to)
	case 7:
		if err := m.b.ReadN(iotest.HalfReader(bytes.NewReader(p)), len(p)); err != nil {
			return err.Error()
		}
		m.want = append(m.want, p...)
		return "ReadN"
	case 8:
		from, to := w.part(len(m.want))
		p = p[:min(len(p), to-from)]
		m.b.Put(from, p)
		copy(m.want[from:], p)
		return fmt.Sprint("Put at ", from)
	case 9:
		from, to := w.part(len(m.want))
		if w.r.IntN(2) == 0 {
			to = from
		}
		m.b.Replace(from, to, p)
		m.want = append(m.want[:from:from], append(p, m.want[to:]...)...)
		return fmt.Sprint("Replace ", from, " to ", to)
	case 10:
		if w.r.IntN(20) == 0 {
			w.in.Reset(w.r.IntN(2) == 0)
		}
		src := bytes.NewReader(p)
		for len(w.in.Bytes()) < len(p) && src.Len() > 0 {
			w.in.Fill(src, len(p))
		}
		if n := w.r.IntN(len(w.in.Bytes()) + 1); n > 0 {
			m.want = append(m.want, w.in.Bytes()[:n]...)
			w.in.Take(&m.b, n)
		}
		return "Take"
	default:
		if w.r.IntN(4) > 0 {
			return "nothing"
		}
		m.b.Free()
		m.want = nil
		return "Free"
	}
}

// check compares all Buffers with their expected bytes.
func (w *modelWorld) check(t *testing.T, what string) {
	t.Helper()
	for i := range w.buffers {
		m := &w.buffers[i]
		if got := m.b.AppendTo(nil); !bytes.Equal(got, m.want) || m.b.Len() != len(m.want) {
			t.Fatalf("%s: Buffer %d has %d bytes, Len %d, and should have %d", what, i, len(got), m.b.Len(), len(m.want))
		}
		from, to := w.part(len(m.want))
		if !bytes.Equal(m.b.Slice(from, to), m.want[from:to]) {
			t.Fatalf("%s: Slice(%d, %d) of Buffer %d", what, from, to, i)
		}
	}
	for i := range w.foreign {
		if !bytes.Equal(w.foreign[i], w.copies[i]) {
			t.Fatalf("%s: bytes of the caller's have changed", what)
		}
	}
	if w.r.IntN(10) > 0 {
		return
	}
	m := &w.buffers[w.r.IntN(len(w.buffers))]
	var out bytes.Buffer
	if n, err := m.b.WriteTo(&out); err != nil || int(n) != len(m.want) || !bytes.Equal(out.Bytes(), m.want) {
		t.Fatalf("%s: WriteTo wrote %d bytes, %v", what, n, err)
	}
	out.Reset()
	if s, err := m.b.WriteFrame(&out); err != nil || s.Bytes != len(m.want)+4 || !bytes.Equal(out.Bytes()[4:], m.want) {
		t.Fatalf("%s: WriteFrame wrote %+v, %v", what, s, err)
	}
	if n, err := linkbuf.ReadFrameSize(&out, linkbuf.MaxSize, nil); err != nil || n != len(m.want) {
		t.Fatalf("%s: the frame's length is %d, %v", what, n, err)
	}
}

// TestCopies: a copy of a Buffer or Receiver shares its state, so that nothing is freed twice.
func TestCopies(t *testing.T) {
	var b linkbuf.Buffer
	b.Reset(true)
	b.WriteString(strings.Repeat("x", 5000))
	c := b
	c.Free()
	b.Free()
	c.WriteString("one")
	if got := string(b.Bytes()); got != "one" {
		t.Errorf("the first has %q", got)
	}
	var r linkbuf.Receiver
	r.Reset(true)
	if err := r.Fill(strings.NewReader(strings.Repeat("y", 1000)), 0); err != nil {
		t.Fatal(err)
	}
	s := r
	s.Take(&b, 300)
	s.Free()
	r.Free()
	if got := string(b.Slice(3, 303)); got != strings.Repeat("y", 300) {
		t.Errorf("what was taken is %q", got)
	}
}

// TestAliasedArguments: methods that copy their argument accept bytes of the Buffer itself, from
// any place to any place.
func TestAliasedArguments(t *testing.T) {
	const size = 300
	for split := 100; split < 200; split += 25 {
		for from := 0; from < size; from += 20 {
			for to := 0; to+90 <= size; to += 20 {
				for name, f := range map[string]func(b *linkbuf.Buffer, p []byte){
					"Put":     func(b *linkbuf.Buffer, p []byte) { b.Put(to, p) },
					"Replace": func(b *linkbuf.Buffer, p []byte) { b.Replace(to, to+len(p), p) },
				} {
					var b linkbuf.Buffer
					for i := range size {
						b.WriteByte(byte(i))
					}
					want := b.AppendTo(nil)
					p := b.Slice(from, min(from+90, size))
					b.Replace(split, split+1, want[split:split+1]) // splits the message into three pieces
					copy(want[to:], bytes.Clone(want[from:min(from+90, size)]))
					f(&b, p)
					if got := b.AppendTo(nil); !bytes.Equal(got, want) {
						t.Fatalf("%s at %d of the bytes from %d on, pieces around %d:\n%x, want\n%x", name, to, from, split, got, want)
					}
				}
			}
		}
	}
}

// TestConcurrentReaders: several goroutines at once read one Buffer, write it, and share from it.
func TestConcurrentReaders(t *testing.T) {
	var src linkbuf.Buffer
	src.Reset(true)
	for range 20 {
		src.WriteString(strings.Repeat("0123456789", 300))
		src.Refer(bytes.Repeat([]byte("x"), 500))
	}
	want := src.AppendTo(nil)
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			var b linkbuf.Buffer
			b.Reset(i%2 == 0)
			for range 50 {
				b.Share(&src, 100, len(want)-i)
				b.Put(1000, []byte("changed"))
				if !bytes.Equal(src.Bytes(), want) || !bytes.Equal(b.Slice(2000, b.Len()), want[2100:len(want)-i]) {
					t.Error("messages have changed")
				}
				if n, err := src.WriteTo(io.Discard); int(n) != len(want) || err != nil {
					t.Error(n, err)
				}
				b.Free()
			}
		})
	}
	all.Wait()
	src.Put(0, []byte("alone again"))
	if got := string(src.Slice(0, 11)); got != "alone again" {
		t.Errorf("Put has stored %q", got)
	}
}

// TestSteadyAllocs: a recycling Buffer that is used again and again allocates nothing.
func TestSteadyAllocs(t *testing.T) {
	if testmode.Instrumented {
		t.Skip("instrumented builds allocate")
	}
	var b, c linkbuf.Buffer
	b.Reset(true)
	c.Reset(true)
	text, large := []byte("some text"), make([]byte, 10_000)
	if n := testing.AllocsPerRun(200, func() {
		for range 100 {
			b.Write(text)
		}
		b.Refer(large)
		b.WriteByte(0)
		c.Share(&b, 500, 5000)
		c.Put(2000, text)
		c.Free() // the block goes back to b
		b.Free()
	}); n > 1 { // a garbage collection may empty a pool
		t.Errorf("%v allocations a message", n)
	}
}
