package apachethrift_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/apache/thrift/lib/go/thrift"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/apachethrift"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/referee"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/referee/apachetest"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

var everything = func() map[string]*thriftimpl.Desc {
	sc, m := apachetest.NewSchema(), map[string]*thriftimpl.Desc{}
	for _, s := range referee.Everything() {
		m[s.Name] = sc.Desc(s)
	}
	return m
}()

// bare has protocols without a header before the struct.
var bare = map[string]func(t thrift.TTransport) thrift.TProtocol{
	"binary":  func(t thrift.TTransport) thrift.TProtocol { return thrift.NewTBinaryProtocolConf(t, nil) },
	"compact": func(t thrift.TTransport) thrift.TProtocol { return thrift.NewTCompactProtocolConf(t, nil) },
	"JSON":    func(t thrift.TTransport) thrift.TProtocol { return thrift.NewTJSONProtocol(t) },
}

// stream is a transport with an unknown number of remaining bytes.
type stream struct{ *thrift.StreamTransport }

func over(b []byte) thrift.TTransport {
	return stream{thrift.NewStreamTransportR(bytes.NewReader(b))}
}

func memory(b []byte) thrift.TTransport {
	return &thrift.TMemoryBuffer{Buffer: bytes.NewBuffer(bytes.Clone(b))}
}

// allocated returns the number of bytes allocated while f runs, in any goroutine.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// check reads b over a transport made by trans, checks the form of the error, and returns it.
func check(t *testing.T, name string, d *thriftimpl.Desc, trans func([]byte) thrift.TTransport, b []byte) (nocopy.Struct, error) {
	t.Helper()
	var s nocopy.Struct
	var err error
	read := func() { s, err = apachethrift.ReadStruct(context.Background(), bare[name](trans(b)), d) }
	most, took := uint64(1<<20+2000*len(b)), allocated(read)
	for tries := 1; took > most && tries < 3; tries++ {
		took = allocated(read)
	}
	if took > most {
		t.Fatalf("%s: %d bytes allocated for %d", name, took, len(b))
	}
	var e *nocopy.Error
	if err != nil && (!errors.As(err, &e) || !strings.HasPrefix(e.Path, d.Name())) {
		t.Fatalf("%s: %v has no path", name, err)
	}
	return s, err
}

// TestHostile: counts and lengths without the bytes take no memory, nesting is bounded, and errors
// have the path.
func TestHostile(t *testing.T) {
	deep := func(s string, n int) string { return strings.Repeat(s, n) }
	for _, c := range []struct {
		protocol, bytes, path string
		is                    error
	}{
		// Node.kids, of 2³¹−1 structs; Node.label of as many bytes; Node.named
		{"compact", "\x39\xfc\xff\xff\xff\xff\x07", "Node.kids", nocopy.ErrLimit},
		{"compact", "\x39\xfc\xff\xff\xff\x07\x00\x00", "Node.kids[2]", io.ErrUnexpectedEOF},
		{"compact", "\x58\xff\xff\xff\x2f\x61", "Node.label", io.ErrUnexpectedEOF},
		{"compact", "\x58\xff\xff\xff\xff\x07", "Node.label", nocopy.ErrLimit},
		{"compact", "\x58\xff\xff\xff\xff\x0f", "Node.label", nocopy.ErrNegative},
		{"compact", "\x4b\xff\xff\xff\x07\x8c\x00", "Node.named[0]", io.ErrUnexpectedEOF},
		{"compact", "\x16", "Node.value", io.ErrUnexpectedEOF},
		{"compact", "", "Node", io.ErrUnexpectedEOF},
		{"binary", "\x0f\x00\x03\x0c\x00\xff\xff\xff\x00\x0a", "Node.kids[1]", io.ErrUnexpectedEOF},
		{"binary", "\x0b\x00\x05\x05\xff\xff\xffabc", "Node.label", io.ErrUnexpectedEOF},
		{"binary", "\x0f\x00\x03\x0c\xff\xff\xff\xff", "Node.kids", nocopy.ErrNegative},
		{"binary", "\x0b\x00\x63\x80\x00\x00\x00", "Node.99", nocopy.ErrNegative},
		{"binary", "\x01\x00\x63", "Node.99", nocopy.ErrType},
		{"binary", "\x0f\x00\x63\x05\x00\x00\x00\x01", "Node.99", nocopy.ErrType},
		{"JSON", `{"3":{"lst":["rec",40000000,{},{}`, "Node.kids[2]", nil},
		{"JSON", `{"3":{"lst":["rec",1e99,{},{}`, "Node.kids", nil},
		{"JSON", `{"3":{"lst":["rec",-1]}}`, "Node.kids", nocopy.ErrNegative},
		{"JSON", `{"4":{"map":["str","rec",10000000,{"a":{}`, "Node.named[1]", nil},
		{"JSON", `{"1":{"i64":"x"}}`, "Node.value", nil},
		{"JSON", `{"1":{"what":1}}`, "Node", nil},
		{"JSON", ``, "Node", nil},
		// Structs in structs, and lists in unknown fields
		{"compact", deep("\x2c", 1000), "Node.next.next", nocopy.ErrLimit},
		{"compact", "\x69" + deep("\x19", 100_000), "Node.6[0][0]", nocopy.ErrLimit},
		{"compact", "\x6c" + deep("\x1c", 100_000), "Node.6.1.1", nocopy.ErrLimit},
		{"binary", deep("\x0c\x00\x02", 1000), "Node.next.next", nocopy.ErrLimit},
		{"JSON", deep(`{"2":{"rec":`, 1000), "Node.next.next", nocopy.ErrLimit},
		{"JSON", `{"6":{"lst":` + deep(`["lst",1,`, 10_000), "Node.6[0][0]", nocopy.ErrLimit},
		// One more than 64 structs
		{"compact", deep("\x2c", 64) + deep("\x00", 65), "Node.next.next", nocopy.ErrLimit},
	} {
		_, err := check(t, c.protocol, everything["Node"], over, []byte(c.bytes))
		var e *nocopy.Error
		if err == nil {
			t.Errorf("%s %.40q: no error", c.protocol, c.bytes)
		} else if errors.As(err, &e); !strings.HasPrefix(e.Path, c.path) || c.is != nil && !errors.Is(err, c.is) {
			t.Errorf("%s %.40q: %.200v, not %s, %v", c.protocol, c.bytes, err, c.path, c.is)
		}
		if _, err := check(t, c.protocol, everything["Node"], memory, []byte(c.bytes)); err == nil {
			t.Errorf("%s %.40q in memory: no error", c.protocol, c.bytes)
		}
	}
	if _, err := check(t, "compact", everything["Node"], over, []byte(deep("\x2c", 63)+deep("\x00", 64))); err != nil {
		t.Errorf("64 structs: %v", err)
	}
}

// TestTruncatedAndMissing: over every protocol, a struct that is cut off anywhere is an error, and
// a missing required field is an error with its path.
func TestTruncatedAndMissing(t *testing.T) {
	g := apachetest.NewGen(5)
	sc := apachetest.NewSchema()
	s := referee.Everything()[1] // Item
	d := sc.Desc(s)
	for name, protocol := range bare {
		mem := thrift.NewTMemoryBuffer()
		p := protocol(mem)
		rec := g.Record(s, 3)
		for rec.Fields[2] == nil {
			rec = g.Record(s, 3)
		}
		if err := errors.Join(referee.WriteTo(p, rec), p.Flush(context.Background())); err != nil {
			t.Fatal(err)
		}
		whole := mem.Bytes()
		if _, err := check(t, name, d, over, whole); err != nil {
			t.Fatal(name, err)
		}
		for n := range whole {
			if n > 300 && n < len(whole)-300 {
				continue
			}
			if _, err := check(t, name, d, over, whole[:n]); err == nil {
				t.Fatalf("%s: no error for %d of %d bytes", name, n, len(whole))
			} else if name != "JSON" && !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Fatalf("%s: %v for %d of %d bytes", name, err, n, len(whole))
			}
		}
	}
	for name, b := range map[string]string{
		"binary":  "\x0c\x00\x03\x08\x00\x02\x00\x00\x00\x07\x00\x00",
		"compact": "\x3c\x25\x0e\x00\x00",
		"JSON":    `{"3":{"rec":{"2":{"i32":7}}}}`,
	} {
		for _, trans := range []func([]byte) thrift.TTransport{over, memory} {
			_, err := check(t, name, d, trans, []byte(b))
			var e *nocopy.Error
			if !errors.As(err, &e) || !errors.Is(err, nocopy.ErrMissingRequired) || e.Path != "Item.at.x" {
				t.Errorf("%s: %v, not a missing Item.at.x", name, err)
			}
		}
	}
}

// TestLimits: Limits and the option ValidUTF8 apply to every protocol, and errors of Read are also
// Apache's.
func TestLimits(t *testing.T) {
	d := everything["Node"]
	b := []byte("\x58\x0aabcdefghij\x00") // Node.label
	read := func(opts ...nocopy.Option) error {
		_, err := apachethrift.ReadStruct(context.Background(), bare["compact"](over(b)), d, opts...)
		return err
	}
	if err := read(nocopy.Limits{MaxBytes: 18}); err != nil {
		t.Error(err)
	}
	if err := read(nocopy.Limits{MaxBytes: 17}); !errors.Is(err, nocopy.ErrLimit) {
		t.Errorf("%v, not ErrLimit", err)
	}
	b = []byte("\x58\x01\xff\x00")
	if err := read(); err != nil {
		t.Error(err)
	}
	if err := read(nocopy.ValidUTF8); !errors.Is(err, nocopy.ErrUTF8) {
		t.Errorf("%v, not ErrUTF8", err)
	}
	b = []byte(strings.Repeat("\x2c", 99) + strings.Repeat("\x00", 100))
	if err := read(nocopy.Limits{MaxDepth: 100}); err != nil {
		t.Error(err)
	}
	deepest := 1 << 16
	b = []byte(strings.Repeat("\x2c", deepest-1) + strings.Repeat("\x00", deepest))
	s, err := apachethrift.ReadStruct(context.Background(), bare["compact"](over(b)), d, nocopy.Limits{MaxDepth: deepest})
	if err != nil {
		t.Fatal(err)
	}
	mem := thrift.NewTMemoryBuffer()
	if err := apachethrift.Write(context.Background(), bare["compact"](mem), apachetest.Known{Desc: d, Struct: s}); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(mem.Bytes(), b) {
		t.Error("the deepest message was not written as it was read")
	}
	if err := read(nocopy.Limits{MaxDepth: 1 << 30}, nocopy.Lazy); err != nil {
		t.Error(err)
	}
	simple := thrift.NewTSimpleJSONProtocol(memory([]byte("{}")))
	if _, err := apachethrift.ReadStruct(context.Background(), simple, d); err == nil {
		t.Error("simple JSON was read")
	}
}

// endless is a transport that continues with zeros for ever.
type endless struct{ thrift.TTransport }

func (e endless) Read(b []byte) (int, error) {
	n, _ := e.TTransport.Read(b)
	if n == 0 {
		clear(b)
		n = len(b)
	}
	return n, nil
}

// TestEndless: an endless message is read only up to the limit.
func TestEndless(t *testing.T) {
	for name, b := range map[string]string{
		"compact": "\x39\xfc\xff\xff\xff\x03", // Node.kids, with 2³⁰−1 elements
		"binary":  "\x0f\x00\x03\x0c\x03\xff\xff\xff",
	} {
		var err error
		took := allocated(func() {
			_, err = apachethrift.ReadStruct(context.Background(), bare[name](endless{over([]byte(b))}), everything["Node"], nocopy.Limits{MaxBytes: 10_000})
		})
		if !errors.Is(err, nocopy.ErrLimit) || took > 1<<20 {
			t.Errorf("%s: %v, %d bytes allocated", name, err, took)
		}
	}
}

// TestUnknownTexts: in JSON unknown texts are strings if they are UTF-8, otherwise binaries.
// Simple JSON names unknown fields by their ids.
func TestUnknownTexts(t *testing.T) {
	s, err := apachethrift.ReadStruct(context.Background(), bare["compact"](over([]byte("\x98\x02hi\x18\x01\xff\x00"))), everything["Node"])
	if err != nil {
		t.Fatal(err)
	}
	known := apachetest.Known{Desc: everything["Node"], Struct: s}
	mem := thrift.NewTMemoryBuffer()
	for p, want := range map[thrift.TProtocol]string{
		thrift.NewTJSONProtocol(mem):       `{"9":{"str":"hi"},"10":{"str":"/w=="}}`,
		thrift.NewTSimpleJSONProtocol(mem): `{"9":"hi","10":"/w=="}`,
	} {
		mem.Reset()
		if err := errors.Join(apachethrift.Write(context.Background(), p, known), p.Flush(context.Background())); err != nil || mem.String() != want {
			t.Errorf("%s, %v, not %s", mem, err, want)
		}
	}
}

// FuzzRead: over every protocol, any bytes are a message, or an error with a path. A message is
// the same after it was written and read again.
func FuzzRead(f *testing.F) {
	g := apachetest.NewGen(6)
	names, types := []string{"binary", "compact", "JSON"}, referee.Everything()
	for n, s := range types {
		for i, name := range names {
			mem := thrift.NewTMemoryBuffer()
			p := bare[name](mem)
			if err := errors.Join(referee.WriteTo(p, g.Record(s, 2)), p.Flush(context.Background())); err != nil {
				f.Fatal(err)
			}
			if mem.Len() < 4000 {
				f.Add(byte(i), byte(n), mem.Bytes())
			}
		}
	}
	f.Add(byte(2), byte(3), []byte(`{"3":{"lst":["rec",2147483647,null,null`))
	f.Add(byte(2), byte(3), []byte(`{"3":{"lst":null},"4":{"map":null},"5":{"str":null}}`))
	f.Fuzz(func(t *testing.T, which, typ byte, b []byte) {
		name, d := names[int(which)%len(names)], everything[types[int(typ)%len(types)].Name]
		if len(b) > 1<<16 {
			return
		}
		_, first := check(t, name, d, over, b)
		s, err := check(t, name, d, memory, b)
		if (first == nil) != (err == nil) {
			t.Fatalf("%s: from a stream %v, from memory %v", name, first, err)
		}
		if err != nil {
			return
		}
		want := s.Message().Bytes()
		mem := thrift.NewTMemoryBuffer()
		p := bare["compact"](mem)
		if err := apachethrift.Write(context.Background(), p, apachetest.Known{Desc: d, Struct: s}); err != nil {
			t.Fatal(err)
		}
		again, err := apachethrift.ReadStruct(context.Background(), p, d)
		if err != nil {
			t.Fatal(err)
		}
		if got := again.Message().Bytes(); len(got) != len(want) {
			t.Fatalf("read again as\n%x, not\n%x", got, want)
		}
	})
}
