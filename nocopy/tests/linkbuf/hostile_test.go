package linkbuf_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/linkbuf"
)

// hostile calls exported functions and methods with invalid arguments.
type hostile struct {
	next      func(n int) int // returns a choice below n
	buffers   [3]*linkbuf.Buffer
	receivers [2]*linkbuf.Receiver
	// neighbour is an unrelated message, in memory from the same pools.
	neighbour     linkbuf.Buffer
	neighbourWant []byte
	// foreign is memory around the arguments of methods.
	foreign []byte
}

func newHostile(next func(n int) int) *hostile {
	h := &hostile{next: next}
	for i := range h.buffers {
		h.buffers[i] = new(linkbuf.Buffer)
	}
	for i := range h.receivers {
		h.receivers[i] = new(linkbuf.Receiver)
	}
	h.foreign = bytes.Repeat([]byte{0xf0}, 3000)
	h.neighbour.Reset(true)
	h.neighbourWant = bytes.Repeat([]byte("neighbour"), 1000)
	h.neighbour.Write(h.neighbourWant)
	return h
}

// lyingReader and lyingWriter return impossible counts.
type lyingReader struct{ n int }

func (r lyingReader) Read([]byte) (int, error) { return r.n, nil }

type lyingWriter struct{ n int }

func (w lyingWriter) Write([]byte) (int, error) { return w.n, nil }

// meddler frees and fills the Buffers while one of them reads or writes.
type meddler struct{ h *hostile }

func (m meddler) Read(p []byte) (int, error) {
	m.h.meddle()
	return copy(p, "meddler"), nil
}

func (m meddler) Write(p []byte) (int, error) {
	m.h.meddle()
	return len(p), nil
}

func (h *hostile) meddle() {
	b := h.buffers[h.next(len(h.buffers))]
	switch h.next(3) {
	case 0:
		b.Free()
		h.receivers[0].Free()
	case 1:
		b.WriteString("in between")
	case 2:
		b.Reset(h.next(2) == 0)
		h.receivers[1].Reset(h.next(2) == 0)
	}
}

// arg returns an argument of a type.
func (h *hostile) arg(typ reflect.Type) any {
	pick := func(list ...any) any { return list[h.next(len(list))] }
	switch typ {
	case reflect.TypeFor[int]():
		size := h.buffers[h.next(len(h.buffers))].Len()
		return pick(0, 1, 2, 255, 256, 257, 5000, 70_000, size, size-1, size+1, size/2, -1, -256,
			math.MinInt, math.MaxInt, linkbuf.MaxSize+1, -linkbuf.MaxSize, math.MaxInt32, math.MinInt32)
	case reflect.TypeFor[byte]():
		return byte(h.next(256))
	case reflect.TypeFor[bool]():
		return h.next(2) == 0
	case reflect.TypeFor[string]():
		return strings.Repeat("s", h.next(600))
	case reflect.TypeFor[[]byte]():
		b := h.buffers[h.next(len(h.buffers))]
		n := h.next(1000)
		return pick([]byte(nil), []byte{}, h.foreign[1000:2000:2000], h.foreign[1000+n:2000:2000], b.Bytes(), b.Slice(b.Len()/2, b.Len()))
	case reflect.TypeFor[*linkbuf.Buffer]():
		return pick((*linkbuf.Buffer)(nil), new(linkbuf.Buffer), h.buffers[0], h.buffers[1], h.buffers[2])
	case reflect.TypeFor[*[4]byte]():
		return pick((*[4]byte)(nil), new([4]byte))
	case reflect.TypeFor[io.Reader]():
		text := strings.NewReader(strings.Repeat("\x00\x00\x00\x01read", 100))
		return pick(nil, text, text, io.LimitReader(text, int64(h.next(10))), lyingReader{-1}, lyingReader{0}, lyingReader{1 << 20},
			lyingReader{math.MaxInt}, lyingReader{math.MinInt}, meddler{h})
	case reflect.TypeFor[io.Writer]():
		return pick(nil, io.Discard, new(bytes.Buffer), lyingWriter{-1}, lyingWriter{0}, lyingWriter{1 << 20}, lyingWriter{math.MinInt}, meddler{h})
	}
	panic("no arguments of type " + typ.String())
}

// functions has the exported functions. Reflection finds the methods.
var functions = map[string]any{"ReadFrameSize": linkbuf.ReadFrameSize}

// call is a function or a bound method, with its name.
type call struct {
	name string
	f    reflect.Value
}

// calls returns all exported functions, and all methods of the existing Buffers and Receivers.
func (h *hostile) calls() []call {
	var all []call
	for name, f := range functions {
		all = append(all, call{name, reflect.ValueOf(f)})
	}
	methods := func(v any) {
		x := reflect.ValueOf(v)
		for i := range x.NumMethod() {
			all = append(all, call{x.Type().String() + "." + x.Type().Method(i).Name, x.Method(i)})
		}
	}
	for _, b := range h.buffers {
		methods(b)
	}
	for _, r := range h.receivers {
		methods(r)
	}
	slices.SortStableFunc(all, func(x, y call) int { return strings.Compare(x.name, y.name) })
	return all
}

// do calls c with hostile arguments. It returns an error if c neither returns nor panics in an
// allowed way.
func (h *hostile) do(c call) (err error) {
	args := make([]reflect.Value, c.f.Type().NumIn())
	var given []any
	for i := range args {
		typ := c.f.Type().In(i)
		v := h.arg(typ)
		if p, ok := v.([]byte); ok && strings.HasSuffix(c.name, ".Refer") && h.aliases(p) {
			v = h.foreign[:1000] // referred bytes must not change, but recycled memory would
		}
		given = append(given, v)
		if args[i] = reflect.Zero(typ); v != nil {
			args[i] = reflect.ValueOf(v)
		}
	}
	defer func() {
		r := recover()
		if text := fmt.Sprint(r); r != nil && !strings.HasPrefix(text, "linkbuf: ") {
			err = fmt.Errorf("%s(%.100v) panics with %s", c.name, fmt.Sprint(given...), text)
		}
	}()
	for _, result := range c.f.Call(args) {
		switch x := result.Interface().(type) {
		case []byte:
			if strings.HasSuffix(c.name, "Extend") {
				for i := range x {
					x[i] = 'x'
				}
			}
			bytes.Count(x, []byte{0}) // reads all of it
		case iter.Seq[[]byte]:
			for mem := range x {
				bytes.Count(mem, []byte{0})
			}
		}
	}
	return nil
}

// aliases reports whether p is in a Buffer's memory, or may be.
func (h *hostile) aliases(p []byte) bool {
	return len(p) > 0 && (&p[:cap(p)][cap(p)-1] != &h.foreign[1999])
}

// check returns an error if a message is damaged, or if foreign memory has changed.
func (h *hostile) check() error {
	for i, b := range h.buffers {
		n := 0
		for mem := range b.Pieces() {
			n += len(mem)
		}
		if n != b.Len() || len(b.AppendTo(nil)) != n {
			return fmt.Errorf("Buffer %d has %d bytes in pieces, and Len %d", i, n, b.Len())
		}
		if n > 1<<17 {
			b.Free()
		}
	}
	//lint:ignore SA1011 bytes, not text
	if strings.Trim(string(h.foreign), "\xf0") != "" {
		return errors.New("bytes of the caller's have changed")
	}
	if !bytes.Equal(h.neighbour.Bytes(), h.neighbourWant) {
		return errors.New("somebody else's message has changed")
	}
	return nil
}

// TestHostileArguments calls every exported function and method of the package with invalid
// arguments, in any order, on Buffers and Receivers that were never used, freed, or reset. They
// must return, or panic with one of the package's texts, and must not touch other memory.
func TestHostileArguments(t *testing.T) {
	for seed := range uint64(testmode.Of(3, 10)) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			h := newHostile(rand.New(rand.NewPCG(seed, 17)).IntN)
			for _, c := range h.calls() { // each at least once, first on unused values
				h.try(t, c)
			}
			for range 2000 {
				all := h.calls()
				h.try(t, all[h.next(len(all))])
			}
		})
	}
}

func (h *hostile) try(t *testing.T, c call) {
	t.Helper()
	if err := h.do(c); err != nil {
		t.Fatal(err)
	}
	if err := h.check(); err != nil {
		t.Fatalf("after %s: %v", c.name, err)
	}
}

// FuzzHostile is TestHostileArguments with choices that the fuzzer makes.
func FuzzHostile(f *testing.F) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 5 {
		seed := make([]byte, 300)
		for i := range seed {
			seed[i] = byte(r.Uint32())
		}
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, choices []byte) {
		if len(choices) > 2000 {
			return
		}
		h := newHostile(func(n int) int {
			if len(choices) == 0 {
				return 0
			}
			c := int(choices[0])
			choices = choices[1:]
			if n > 256 && len(choices) > 0 {
				c = c<<8 | int(choices[0])
			}
			return c % n
		})
		all := h.calls()
		for len(choices) > 0 {
			h.try(t, all[h.next(len(all))])
		}
	})
}

// TestHostileFunctions: functions has all exported functions of the package.
func TestHostileFunctions(t *testing.T) {
	files, err := filepath.Glob("../../../linkbuf/*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	exported := regexp.MustCompile(`(?m)^func ([A-Z]\w*)\(`)
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range exported.FindAllStringSubmatch(string(src), -1) {
			if functions[m[1]] == nil {
				t.Errorf("%s is called by no test with hostile arguments", m[1])
			}
		}
	}
}
