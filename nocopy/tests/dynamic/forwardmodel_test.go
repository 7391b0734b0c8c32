package dynamic_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/dynamic"
	"github.com/nocopythrift/nocopythrift/nocopy/messages"
	"github.com/nocopythrift/nocopythrift/nocopy/reflection"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

const forwardedIDL = `
struct Inner {1: required string a; 2: optional list<Inner> kids; 3: optional map<string,Inner> m; 4: optional binary big}
union Choice {1: string s; 2: i32 n; 3: Inner i}
struct Required {1: required Inner head; 2: list<string> names; 3: Choice u}
struct Optional {1: Inner head; 2: list<string> names; 3: Choice u; 5: map<string,list<i32>> ml; 6: set<string> st}
union Union {1: Inner head; 2: list<string> names; 3: Choice u}
`

// wireMaker makes the bytes of arguments that deviate in many ways from forwardedIDL.
type wireMaker struct{ *rand.Rand }

func size32(n int) []byte { return binary.BigEndian.AppendUint32(nil, uint32(n)) }

func fieldWire(typ byte, id int16, value []byte) []byte {
	return append([]byte{typ, byte(uint16(id) >> 8), byte(id)}, value...)
}

func (r wireMaker) text() []byte {
	n := []int{0, 1, 7, 20, 39, 100, 4095, 4096, 7000, 70_000}[r.IntN(10)]
	return append(size32(n), strings.Repeat(string(rune('a'+r.IntN(26))), n)...)
}

func (r wireMaker) field(depth int) []byte {
	t := []byte{2, 3, 4, 6, 8, 10, 11, 12, 13, 14, 15, 16}[r.IntN(12)]
	id := []int16{1, 2, 3, 7, 8888, -1, 100, 0, 32767, -32768}[r.IntN(10)]
	return fieldWire(t, id, r.value(t, depth))
}

func (r wireMaker) value(t byte, depth int) (b []byte) {
	switch t {
	case 2, 3:
		return []byte{byte(r.IntN(3))}
	case 6:
		return []byte{1, 2}
	case 8:
		return size32(r.Int())
	case 4, 10:
		return make([]byte, 8)
	case 16:
		return make([]byte, 16)
	case 11:
		return r.text()
	case 12:
		for depth > 0 && r.IntN(2) == 0 {
			b = append(b, r.field(depth-1)...)
		}
		return append(b, 0)
	}
	elem := []byte{2, 3, 6, 8, 10, 11, 12, 13, 15}[r.IntN(9)]
	if depth <= 0 && elem > 11 {
		elem = 8
	}
	n := r.IntN(5)
	if t == 13 {
		b = append(b, 11)
	}
	b = append(append(b, elem), size32(n)...)
	for range n {
		if t == 13 {
			b = append(b, r.text()...)
		}
		b = append(b, r.value(elem, depth-1)...)
	}
	return b
}

// structOf returns a struct of up to n fields. Each field is one from make, or any other.
func (r wireMaker) structOf(n int, make func() []byte) (b []byte) {
	for range r.IntN(n + 1) {
		if r.IntN(4) == 0 {
			b = append(b, r.field(3)...)
		} else {
			b = append(b, make()...)
		}
	}
	return append(b, 0)
}

func (r wireMaker) inner(depth int) []byte {
	begin := []byte{}
	if r.IntN(8) > 0 {
		begin = fieldWire(11, 1, r.text())
	}
	return append(begin, r.structOf(3, func() []byte {
		if depth > 0 && r.IntN(2) == 0 {
			b, n := []byte{12}, r.IntN(4)
			b = append(b, size32(n)...)
			for range n {
				b = append(b, r.inner(depth-1)...)
			}
			return fieldWire(15, 2, b)
		}
		return fieldWire(11, 4, r.text())
	})...)
}

func (r wireMaker) choice() []byte {
	return r.structOf(2, func() []byte {
		switch r.IntN(3) {
		case 0:
			return fieldWire(11, 1, r.text())
		case 1:
			return fieldWire(8, 2, size32(7))
		}
		return fieldWire(12, 3, r.inner(2))
	})
}

func (r wireMaker) args() []byte {
	return r.structOf(6, func() []byte {
		switch r.IntN(4) {
		case 0:
			return fieldWire(15, 2, bytes.Join([][]byte{{11}, size32(2), r.text(), r.text()}, nil))
		case 1:
			return fieldWire(12, 3, r.choice())
		}
		return fieldWire(12, 1, r.inner(3))
	})
}

// part returns the struct in a field of m, which is absent if the field is not set.
func part(m reflection.Message, name string) reflection.Message {
	v, err := m.Get(name)
	if err != nil || !m.Has(name) {
		return reflection.Message{}
	}
	return v.Message()
}

// edit changes m in the same way for the same seed, and returns a description of the change.
func edit(m reflection.Message, seed uint64) (did string) {
	r := rand.New(rand.NewPCG(seed, 9))
	for range 1 + r.IntN(4) {
		text := strings.Repeat("e", []int{0, 3, 50, 3000, 5000, 70_000}[r.IntN(6)])
		head, u := part(m, "head"), part(m, "u")
		var err error
		what := r.IntN(8)
		switch {
		case what == 0 && head.Valid():
			err = head.Set("a", text)
		case what == 1 && head.Valid():
			err = head.Set("big", []byte(text))
		case what == 2:
			err = m.Set("names", []any{"x", text})
		case what == 3 && u.Valid():
			err = u.Set("s", text)
		case what == 4 && u.Valid():
			err = u.Set("n", 12)
		case what == 5:
			err = errors.Join(m.Unset("u"), m.Unset("names"))
		case what == 6:
			if _, err = m.New("head"); err == nil {
				err = part(m, "head").Set("a", text)
			}
		case what == 7 && head.Valid() && head.Has("kids"):
			kids, _ := head.Get("kids")
			for i := range kids.List().Len() {
				err = errors.Join(err, kids.List().At(i).Message().Set("a", text))
			}
		}
		did += fmt.Sprintf("%d %t %t %v; ", what, head.Valid(), u.Valid(), err)
	}
	return did
}

// added is the field that an interceptor of the proxy's client adds to the arguments.
var added = fieldWire(8, 9999, []byte{1, 2, 3, 4})

// forwarded is a proxy of the test, and a client of it.
type forwarded struct {
	name   string
	typ    dynamic.Type // the type of the arguments, as the proxy knows it
	adds   bool         // its client's interceptor adds a field
	lazy   bool
	client *rpc.Client
	mu     sync.Mutex // held while the handler or the test uses the fields below
	seed   uint64     // seed of the handler's changes; 0 for none
	did    string
}

func startServer(t *testing.T, srv *rpc.Server) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv.Logger = slog.New(slog.DiscardHandler)
	done := make(chan struct{})
	go func() { defer close(done); srv.Serve(l) }()
	t.Cleanup(func() { srv.Close(); <-done })
	return l.Addr().String()
}

func dialServer(t *testing.T, addr string, opts ...rpc.Option) *rpc.Client {
	cl, err := rpc.Dial(t.Context(), "tcp", addr, append(opts, rpc.PoolSize(1))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cl.Close() })
	return cl
}

// startForwarding starts a proxy in one of 32 ways.
func startForwarding(t *testing.T, typ dynamic.Type, backend string, way int) *forwarded {
	is := func(bit int) bool { return way>>bit&1 > 0 }
	f := &forwarded{name: fmt.Sprintf("%s %05b", typ.Name(), way), typ: typ, lazy: is(0), adds: is(3)}
	srv := &rpc.Server{Lazy: is(0), Recycle: is(1)}
	var opts, own []rpc.Option
	if is(0) {
		opts = append(opts, rpc.Lazy)
	}
	if is(1) {
		opts = append(opts, rpc.Recycle)
	}
	if is(2) {
		opts = append(opts, rpc.Unframed)
	}
	if is(3) {
		opts = append(opts, rpc.Interceptors(func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
			c.SetField(9999, nocopy.WireI32, added[3:])
			return next(ctx, c)
		}))
	}
	if is(4) {
		own = append(own, rpc.Unframed)
	}
	forward := rpc.Forward(dialServer(t, backend, opts...))
	srv.Processor = rpc.NewProcessor("Proxy", nil).WithFallbackArgs(typ.Desc(), func(ctx context.Context, c *rpc.Call) error {
		f.mu.Lock()
		if f.seed != 0 {
			f.did = edit(reflection.Of(rpc.AnyArgs(c)), f.seed)
		}
		f.mu.Unlock()
		return forward(ctx, c)
	})
	f.client = dialServer(t, startServer(t, srv), own...)
	return f
}

// TestForwardModel: a proxy forwards any arguments that its types partly describe. If its handler
// changes nothing, the backend gets the same bytes. If it changes them, the backend gets the value
// that the same changes give elsewhere. Malformed arguments are refused.
func TestForwardModel(t *testing.T) {
	r := wireMaker{rand.New(rand.NewPCG(testmode.Seed(t), 3))}
	schema, err := dynamic.LoadText(map[string]string{"forwarded.thrift": forwardedIDL})
	if err != nil {
		t.Fatal(err)
	}
	got := make(chan []byte, 1)
	backend := startServer(t, &rpc.Server{Processor: rpc.NewProcessor("Backend", nil).WithFallback(func(ctx context.Context, c *rpc.Call) error {
		got <- bytes.Clone(c.Args.Message().Bytes())
		return nil
	})})
	var all []*forwarded
	for _, name := range []string{"Required", "Optional", "Union"} {
		typ, err := schema.Struct(name)
		if err != nil {
			t.Fatal(err)
		}
		for way := range 32 {
			all = append(all, startForwarding(t, typ, backend, way))
		}
	}
	refused, edited := 0, 0
	for range testmode.Of(600, 10_000) {
		f, wire := all[r.IntN(len(all))], r.args()
		seed := uint64(0)
		if r.IntN(2) == 0 {
			seed = r.Uint64() | 1
		}
		f.mu.Lock()
		f.seed, f.did = seed, ""
		f.mu.Unlock()
		want, malformed := f.typ.Parse(bytes.Clone(wire))
		_, err := dynamic.CallRaw(t.Context(), f.client, "any", wire)
		if errors.Is(err, rpc.ErrConnLost) { // the proxy closed it after a malformed call
			_, err = dynamic.CallRaw(t.Context(), f.client, "any", wire)
		}
		if malformed != nil {
			if refused++; err == nil {
				if <-got; !f.lazy { // a lazy proxy does not check everything
					t.Fatalf("%s: %x is malformed (%v), but was forwarded", f.name, wire, malformed)
				}
			}
			continue
		}
		if err != nil {
			t.Fatalf("%s: %x: %v", f.name, wire, err)
		}
		out := <-got
		if f.adds {
			var ok bool
			if out, ok = bytes.CutSuffix(out, append(added[:len(added):len(added)], 0)); !ok {
				t.Fatalf("%s: %x without the field: %x", f.name, wire, out)
			}
			out = append(out[:len(out):len(out)], 0)
		}
		if seed == 0 {
			if !bytes.Equal(out, wire) {
				t.Fatalf("%s: %x was forwarded as %x", f.name, wire, out)
			}
			continue
		}
		edited++
		f.mu.Lock()
		did := f.did
		f.mu.Unlock()
		if here := edit(want, seed); here != did {
			t.Fatalf("%s: edited %x: %s, by the proxy: %s", f.name, wire, here, did)
		}
		same, err := f.typ.Parse(out)
		if err != nil {
			t.Fatalf("%s: edited %x: %s: it is %x: %v", f.name, wire, did, out, err)
		}
		if again, err := f.typ.Parse(want.AppendTo(nil)); err != nil || !messages.Equal(same, again) {
			t.Fatalf("%s: edited %x: %s: it is\n%x, not\n%x", f.name, wire, did, out, want.AppendTo(nil))
		}
	}
	if refused == 0 || edited == 0 {
		t.Errorf("%d calls were refused, %d edited", refused, edited)
	}
}
