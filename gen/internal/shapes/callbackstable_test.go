// The functions that TestCallbacks ends.

package shapes_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"log/slog"
	"testing"
	"testing/fstest"

	"github.com/apache/thrift/lib/go/thrift"
	gocmp "github.com/google/go-cmp/cmp"

	"github.com/nocopythrift/nocopythrift/gen/internal/shapes"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/apachethrift"
	"github.com/nocopythrift/nocopythrift/nocopy/descriptor"
	"github.com/nocopythrift/nocopythrift/nocopy/dynamic"
	"github.com/nocopythrift/nocopythrift/nocopy/inspect"
	"github.com/nocopythrift/nocopythrift/nocopy/messages"
	"github.com/nocopythrift/nocopythrift/nocopy/nocopycmp"
	"github.com/nocopythrift/nocopythrift/nocopy/nocopyjson"
	"github.com/nocopythrift/nocopythrift/nocopy/reflection"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// loop makes a callback for the body of a loop.
func loop[K, V any](name string, all func(s *subject) iter.Seq2[K, V]) callback {
	return callback{"loop over " + name, func(t *testing.T, s *subject, f func()) {
		for range all(s) {
			f()
		}
	}, false}
}

func list(s *subject, name string) reflection.List {
	v, _ := reflection.Of(s.lists).Get(name)
	return v.List()
}

func dictionary(s *subject, name string) reflection.Map {
	v, _ := reflection.Of(s.maps).Get(name)
	return v.Map()
}

var loopCallbacks = []callback{
	loop("bools", func(s *subject) iter.Seq2[int, bool] { return s.lists.GetFlags().All() }),
	loop("bytes", func(s *subject) iter.Seq2[int, int8] { return s.lists.GetTinies().All() }),
	loop("i16", func(s *subject) iter.Seq2[int, int16] { return s.lists.GetSmalls().All() }),
	loop("i32", func(s *subject) iter.Seq2[int, int32] { return s.lists.GetMediums().All() }),
	loop("i64", func(s *subject) iter.Seq2[int, int64] { return s.lists.GetLarges().All() }),
	loop("doubles", func(s *subject) iter.Seq2[int, float64] { return s.lists.GetReals().All() }),
	loop("strings", func(s *subject) iter.Seq2[int, string] { return s.lists.GetTexts().All() }),
	loop("binaries", func(s *subject) iter.Seq2[int, []byte] { return s.lists.GetBlobs().All() }),
	loop("uuids", func(s *subject) iter.Seq2[int, nocopy.UUID] { return s.lists.GetKeys().All() }),
	loop("enums", func(s *subject) iter.Seq2[int, shapes.Color] { return s.lists.GetColors().All() }),
	loop("structs", func(s *subject) iter.Seq2[int, shapes.Point] { return s.lists.GetPoints().All() }),
	loop("unions", func(s *subject) iter.Seq2[int, shapes.Shape] { return s.lists.GetShapes().All() }),
	loop("lists", func(s *subject) iter.Seq2[int, nocopy.Int64List] { return s.lists.GetMatrix().All() }),
	loop("a set of i64", func(s *subject) iter.Seq2[int, int64] { return s.sets.GetLarges().All() }),
	loop("a set of strings", func(s *subject) iter.Seq2[int, string] { return s.sets.GetTexts().All() }),
	loop("a set of structs", func(s *subject) iter.Seq2[int, shapes.Point] { return s.sets.GetPoints().All() }),
	loop("map of strings", func(s *subject) iter.Seq2[string, string] { return s.maps.GetToTexts().All() }),
	loop("map by i64", func(s *subject) iter.Seq2[int64, string] { return s.maps.GetByLarges().All() }),
	loop("map to structs", func(s *subject) iter.Seq2[string, shapes.Point] { return s.maps.GetToPoints().All() }),
	{"loop over maps in a map", func(t *testing.T, s *subject, f func()) {
		for _, inner := range s.maps.GetNested().All() {
			for range inner.All() {
				f()
			}
		}
	}, false},
	loop("fields", func(s *subject) iter.Seq2[descriptor.Field, reflection.Value] { return reflection.Of(s.lists).All() }),
	loop("unknown fields", func(s *subject) iter.Seq2[int16, nocopy.Value] { return reflection.Of(s.maps).Unknown() }),
	loop("reflection.List", func(s *subject) iter.Seq2[int, reflection.Value] { return list(s, "points").All() }),
	loop("reflection.Map", func(s *subject) iter.Seq2[reflection.Value, reflection.Value] {
		return dictionary(s, "to_points").All()
	}),
}

// compared returns a comparison function for sorting in descending order.
func compared[T cmp.Ordered](f func()) func(a, b T) int {
	return func(a, b T) int { f(); return cmp.Compare(b, a) }
}

// sorts makes a callback for the argument of SortFunc.
func sorts(name string, sort func(s *subject, f func())) callback {
	return callback{"SortFunc of " + name, func(t *testing.T, s *subject, f func()) { sort(s, f) }, false}
}

// editCallbacks has functions that supply or compare values for a change. The change is made after
// all of them have returned.
var editCallbacks = []callback{
	{"SetXsBy of a field that is not set", func(t *testing.T, s *subject, f func()) {
		s.lists.UnsetRefusals()
		s.lists.SetRefusalsBy(300, func(i int) shapes.RefusedFields { f(); return shapes.RefusedFields{Code: int32(i)} })
	}, false},
	{"SetXsBy of a field that is set", func(t *testing.T, s *subject, f func()) {
		s.lists.SetPointsBy(300, func(i int) shapes.PointFields { f(); return shapes.PointFields{X: int32(i)} })
	}, false},
	{"SetXsBy of a union", func(t *testing.T, s *subject, f func()) {
		s.lists.GetShapes().At(1).SetOutlineBy(3, func(i int) shapes.PointFields { f(); return shapes.PointFields{X: int32(i)} })
	}, false},
	sorts("bools", func(s *subject, f func()) {
		s.lists.GetFlags().SortFunc(func(a, b bool) int { f(); return 0 })
	}),
	sorts("bytes", func(s *subject, f func()) { s.lists.GetTinies().SortFunc(compared[int8](f)) }),
	sorts("i16", func(s *subject, f func()) { s.lists.GetSmalls().SortFunc(compared[int16](f)) }),
	sorts("i32", func(s *subject, f func()) { s.lists.GetMediums().SortFunc(compared[int32](f)) }),
	sorts("i64", func(s *subject, f func()) { s.lists.GetLarges().SortFunc(compared[int64](f)) }),
	sorts("doubles", func(s *subject, f func()) { s.lists.GetReals().SortFunc(compared[float64](f)) }),
	sorts("strings", func(s *subject, f func()) { s.lists.GetTexts().SortFunc(compared[string](f)) }),
	sorts("enums", func(s *subject, f func()) { s.lists.GetColors().SortFunc(compared[shapes.Color](f)) }),
	sorts("binaries", func(s *subject, f func()) {
		s.lists.GetBlobs().SortFunc(func(a, b []byte) int { f(); return bytes.Compare(b, a) })
	}),
	sorts("uuids", func(s *subject, f func()) {
		s.lists.GetKeys().SortFunc(func(a, b nocopy.UUID) int { f(); return bytes.Compare(b[:], a[:]) })
	}),
	sorts("structs", func(s *subject, f func()) {
		s.lists.GetPoints().SortFunc(func(a, b shapes.Point) int { f(); return cmp.Compare(a.GetX(), b.GetX()) })
	}),
	sorts("unions", func(s *subject, f func()) {
		s.lists.GetShapes().SortFunc(func(a, b shapes.Shape) int { f(); return cmp.Compare(a.GetLabel(), b.GetLabel()) })
	}),
	sorts("lists", func(s *subject, f func()) {
		s.lists.GetMatrix().SortFunc(func(a, b nocopy.Int64List) int { f(); return cmp.Compare(a.At(0), b.At(0)) })
	}),
	sorts("lists of strings", func(s *subject, f func()) {
		s.lists.GetTable().SortFunc(func(a, b nocopy.StringList) int { f(); return cmp.Compare(a.At(0), b.At(0)) })
	}),
	sorts("a set", func(s *subject, f func()) { s.sets.GetTexts().SortFunc(compared[string](f)) }),
}

// filterCallbacks has the functions that choose what DeleteFunc removes, after all of them have
// returned.
var filterCallbacks = func() (all []callback) {
	for _, x := range filters {
		all = append(all, callback{"DeleteFunc of " + x.name, func(t *testing.T, s *subject, f func()) {
			x.deleteFunc(s, func(string) bool { f(); return true })
		}, false})
	}
	return all
}()

// largeLists has the wire bytes of a message that is read in several steps.
var largeLists = func() []byte {
	s := shapes.NewLists()
	defer s.Release()
	s.SetBlobs([][]byte{bytes.Repeat([]byte("blob"), 50_000)})
	return s.Message().AppendTo(nil)
}()

// reads makes a callback for a Reader with the bytes of a message.
func reads(name string, wire []byte, read func(r io.Reader, n int) (shapes.Lists, error)) callback {
	return callback{name, func(t *testing.T, _ *subject, f func()) {
		s, err := read(stoppedReader{bytes.NewReader(wire), f}, len(wire))
		if err != nil {
			t.Error(err)
		}
		s.Release()
	}, true}
}

// decodes makes a callback for the Reader of a Decoder. When the Reader continues, so does the
// Decoder.
func decodes(name string, framed, inReader bool) callback {
	return callback{name, func(t *testing.T, s *subject, f func()) {
		m, _ := shapes.ParseLists(largeLists)
		var stream bytes.Buffer
		for range 3 {
			if framed {
				m.Message().WriteFrame(&stream)
			} else {
				m.Message().WriteTo(&stream)
			}
		}
		m.Release()
		r, inLoop := stoppedReader{&stream, f}, func() {}
		if !inReader {
			r.f, inLoop = inLoop, f
		}
		d := nocopy.NewDecoder[shapes.Lists](r, nocopy.Recycle)
		if framed {
			d = nocopy.NewFrameDecoder[shapes.Lists](r, nocopy.Recycle)
		}
		n := 0
		next := func(m shapes.Lists, err error) {
			if err != nil || len(m.GetBlobs().At(0)) != 200_000 {
				t.Errorf("message %d: %v", n, err)
			}
			n++
			m.Release()
		}
		defer func() {
			for m, err := range d.All() {
				next(m, err)
			}
			if n != 3 {
				t.Errorf("%d messages", n)
			}
		}()
		for m, err := range d.All() {
			next(m, err)
			inLoop()
		}
	}, true}
}

// streamCallbacks has Readers and Writers, and the interfaces of fmt and log/slog.
var streamCallbacks = []callback{
	{"Writer of WriteTo", func(t *testing.T, s *subject, f func()) { s.lists.Message().WriteTo(stoppedWriter(f)) }, false},
	{"Writer of WriteFrame", func(t *testing.T, s *subject, f func()) { s.lists.Message().WriteFrame(stoppedWriter(f)) }, false},
	{"Writer of WriteTo of a large message", func(t *testing.T, s *subject, f func()) {
		large, _ := shapes.ParseLists(bytes.Clone(largeLists), nocopy.Recycle)
		defer large.Release()
		large.GetBlobs().Append(bytes.Repeat([]byte("more"), 5000))
		large.Message().WriteTo(stoppedWriter(f))
	}, true},
	{"Writer of nocopyjson.Write", func(t *testing.T, s *subject, f func()) { nocopyjson.Write(stoppedWriter(f), s.lists) }, false},
	{"Writer of json.Encoder", func(t *testing.T, s *subject, f func()) { json.NewEncoder(stoppedWriter(f)).Encode(s.maps) }, false},
	{"Writer of inspect.Dump", func(t *testing.T, s *subject, f func()) {
		inspect.Dump(stoppedWriter(f), bytes.NewReader(s.lists.Message().AppendTo(nil)), inspect.Options{Form: inspect.Structs})
	}, false},
	{"fmt.State", func(t *testing.T, s *subject, f func()) { s.lists.Format(stoppedState{stoppedWriter(f), 0}, 'v') }, false},
	{"fmt.State with +", func(t *testing.T, s *subject, f func()) { s.maps.Format(stoppedState{stoppedWriter(f), '+'}, 'v') }, false},
	{"fmt.State with #", func(t *testing.T, s *subject, f func()) { s.sets.Format(stoppedState{stoppedWriter(f), '#'}, 'v') }, false},
	{"fmt.State of a reflection.Message", func(t *testing.T, s *subject, f func()) {
		reflection.Of(s.lists).Format(stoppedState{stoppedWriter(f), 0}, 's')
	}, false},
	{"Writer of a log", func(t *testing.T, s *subject, f func()) {
		slog.New(slog.NewTextHandler(stoppedWriter(f), nil)).Info("", "lists", s.lists)
	}, false},
	{"ReplaceAttr of a log", func(t *testing.T, s *subject, f func()) {
		replace := func(_ []string, a slog.Attr) slog.Attr { f(); return a }
		slog.New(slog.NewJSONHandler(io.Discard, &slog.HandlerOptions{ReplaceAttr: replace})).Info("", "maps", s.maps)
	}, false},
	reads("Reader of ReadX", largeLists, func(r io.Reader, n int) (shapes.Lists, error) { return shapes.ReadLists(r, n) }),
	reads("Reader of ReadX recycled", largeLists, func(r io.Reader, n int) (shapes.Lists, error) {
		return shapes.ReadLists(r, n, nocopy.Recycle)
	}),
	reads("Reader of ReadX of a small message", []byte{0}, func(r io.Reader, n int) (shapes.Lists, error) {
		return shapes.ReadLists(r, n, nocopy.Recycle)
	}),
	reads("Reader of dynamic.Type.Read", largeLists, func(r io.Reader, n int) (shapes.Lists, error) {
		m, err := dynamic.TypeOf(shapes.Lists{}).Read(r, n, nocopy.Recycle)
		return shapes.Lists(m.ThriftStruct()), err
	}),
	reads("Reader of nocopyjson.Read", []byte(`{"texts": ["a", "b"]}`), func(r io.Reader, n int) (s shapes.Lists, err error) {
		err = nocopyjson.Read(r, &s, nocopy.Recycle)
		return s, err
	}),
	reads("Reader of json.Decoder", []byte(`{"texts": ["a", "b"]}`), func(r io.Reader, n int) (s shapes.Lists, err error) {
		err = json.NewDecoder(r).Decode(&s)
		return s, err
	}),
	decodes("Reader of a Decoder", false, true),
	decodes("Reader of a Decoder of frames", true, true),
	decodes("loop over a Decoder", false, false),
	decodes("loop over a Decoder of frames", true, false),
}

// stoppedState is a fmt.State.
type stoppedState struct {
	stoppedWriter
	flag int
}

func (s stoppedState) Width() (int, bool)     { return 0, false }
func (s stoppedState) Precision() (int, bool) { return 0, false }
func (s stoppedState) Flag(c int) bool        { return c == s.flag }

// stoppedTransport is a transport of Apache's library.
type stoppedTransport struct {
	*thrift.TMemoryBuffer
	f func()
}

func (s stoppedTransport) Read(b []byte) (int, error)  { s.f(); return s.TMemoryBuffer.Read(b) }
func (s stoppedTransport) ReadByte() (byte, error)     { s.f(); return s.TMemoryBuffer.ReadByte() }
func (s stoppedTransport) Write(b []byte) (int, error) { s.f(); return s.TMemoryBuffer.Write(b) }
func (s stoppedTransport) WriteByte(b byte) error      { s.f(); return s.TMemoryBuffer.WriteByte(b) }
func (s stoppedTransport) WriteString(v string) (int, error) {
	s.f()
	return s.TMemoryBuffer.WriteString(v)
}
func (s stoppedTransport) Flush(ctx context.Context) (_ error) { s.f(); return nil }

// stoppedApache is a struct of Apache's.
type stoppedApache func()

func (f stoppedApache) Read(ctx context.Context, p thrift.TProtocol) error { f(); return nil }
func (f stoppedApache) Write(ctx context.Context, p thrift.TProtocol) error {
	p.WriteFieldBegin(ctx, "flags", thrift.BOOL, 99)
	f()
	return io.ErrClosedPipe
}

// stoppedStruct is a handle of a type that the program defines.
type stoppedStruct struct {
	shapes.Lists
	f func()
}

func (s stoppedStruct) ThriftStruct() thriftimpl.Struct { s.f(); return s.Lists.ThriftStruct() }
func (s stoppedStruct) ThriftDesc() *thriftimpl.Desc    { s.f(); return s.Lists.ThriftDesc() }

// stoppedFiles is a file system.
type stoppedFiles struct {
	fstest.MapFS
	f func()
}

func (s stoppedFiles) Open(name string) (fs.File, error) {
	s.f()
	file, err := s.MapFS.Open(name)
	return stoppedFile{file, s.f}, err
}

func (s stoppedFiles) Stat(name string) (fs.FileInfo, error) { s.f(); return s.MapFS.Stat(name) }

type stoppedFile struct {
	fs.File
	f func()
}

func (s stoppedFile) Read(b []byte) (int, error) { s.f(); return s.File.Read(b) }
func (s stoppedFile) Close() error               { s.f(); return s.File.Close() }

// handles makes a callback for the methods of a handle.
func handles(name string, use func(s *subject, of nocopy.AnyStruct)) callback {
	return callback{"handle given to " + name, func(t *testing.T, s *subject, f func()) {
		use(s, stoppedStruct{s.lists, f})
	}, false}
}

// compares makes a callback for a function in an option for package cmp.
func compares(name string, option func(f func()) gocmp.Option) callback {
	return callback{name, func(t *testing.T, s *subject, f func()) {
		lists, sets := s.lists.Clone(), s.sets.Clone()
		defer lists.Release()
		defer sets.Release()
		opts := gocmp.Options{nocopycmp.Transform(), nocopycmp.IgnoreUnknown(), nocopycmp.IgnoreFields(lists, "blobs"), option(f)}
		if !gocmp.Equal(s.lists, lists, opts) || !gocmp.Equal(s.sets, sets, opts) {
			t.Error("a clone differs")
		}
	}, false}
}

// packageCallbacks has functions that are passed to packages for messages of any type.
var packageCallbacks = []callback{
	{"transport of apachethrift.Write", func(t *testing.T, s *subject, f func()) {
		to := stoppedTransport{thrift.NewTMemoryBuffer(), f}
		apachethrift.Write(context.Background(), thrift.NewTBinaryProtocolConf(to, nil), s.lists)
	}, false},
	{"transport of apachethrift.Write by another protocol", func(t *testing.T, s *subject, f func()) {
		to := stoppedTransport{thrift.NewTMemoryBuffer(), f}
		apachethrift.Write(context.Background(), thrift.NewTCompactProtocolConf(to, nil), s.lists)
	}, false},
	{"transport of apachethrift.Read", func(t *testing.T, s *subject, f func()) {
		from := stoppedTransport{thrift.NewTMemoryBuffer(), f}
		s.lists.Message().WriteTo(from.TMemoryBuffer)
		read, err := apachethrift.Read[shapes.Lists](context.Background(), thrift.NewTBinaryProtocolConf(from, nil), nocopy.Recycle)
		if err != nil {
			t.Error(err)
		}
		read.Release()
	}, true},
	{"Read of a struct of Apache's", func(t *testing.T, s *subject, f func()) {
		apachethrift.ToApache(s.lists, stoppedApache(f))
	}, false},
	{"Write of a struct of Apache's", func(t *testing.T, s *subject, f func()) {
		apachethrift.FromApache[shapes.Lists](stoppedApache(f), nocopy.Recycle)
	}, false},
	compares("function of SortRepeated", func(f func()) gocmp.Option {
		return nocopycmp.SortRepeated(func(a, b string) bool { f(); return a < b })
	}),
	compares("option of FilterField", func(f func()) gocmp.Option {
		return nocopycmp.FilterField(shapes.Point{}, "x", gocmp.Comparer(func(a, b int32) bool { f(); return a == b }))
	}),
	compares("filter of paths", func(f func()) gocmp.Option {
		return gocmp.FilterPath(func(gocmp.Path) bool { f(); return false }, gocmp.Ignore())
	}),
	handles("nocopyjson.Marshal", func(s *subject, of nocopy.AnyStruct) { nocopyjson.Marshal(of) }),
	handles("messages.Equal", func(s *subject, of nocopy.AnyStruct) { messages.Equal(of, s.lists) }),
	handles("messages.Merge", func(s *subject, of nocopy.AnyStruct) {
		to := shapes.NewLists(nocopy.Recycle)
		defer to.Release()
		messages.Merge(to, of)
	}),
	handles("messages.CopyInto", func(s *subject, of nocopy.AnyStruct) {
		to := shapes.NewLists(nocopy.Recycle)
		defer to.Release()
		messages.CopyInto(to, of)
	}),
	handles("reflection.Of", func(s *subject, of nocopy.AnyStruct) { reflection.Of(of) }),
	handles("dynamic.ToMap", func(s *subject, of nocopy.AnyStruct) { dynamic.ToMap(of) }),
	handles("apachethrift.Write", func(s *subject, of nocopy.AnyStruct) {
		apachethrift.Write(context.Background(), thrift.NewTBinaryProtocolConf(thrift.NewTMemoryBuffer(), nil), of)
	}),
	{"files of a dynamic.Loader", func(t *testing.T, s *subject, f func()) {
		text := "include 'b.thrift' struct A { 1: b.B b, 2: list<b.B> bs }"
		files := fstest.MapFS{"a.thrift": {Data: []byte(text)}, "b.thrift": {Data: []byte("struct B {} const i32 I = 1 service S { void m() }")}}
		defer func() {
			if _, err := (dynamic.Loader{FS: files}).Load("a.thrift"); err != nil {
				t.Error(err)
			}
		}()
		schema, err := dynamic.Loader{FS: stoppedFiles{files, f}}.Load("a.thrift")
		if err != nil {
			t.Error(err)
			return
		}
		for range schema.Structs() {
			f()
		}
		for range schema.Consts() {
			f()
		}
		for _, service := range schema.Services() {
			for range service.AllMethods() {
				f()
			}
		}
	}, true},
	{"text of a value", func(t *testing.T, s *subject, f func()) { fmt.Fprintf(stoppedWriter(f), "%v", s.lists.GetPoints()) }, false},
}
