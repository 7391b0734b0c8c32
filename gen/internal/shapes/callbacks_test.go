package shapes_test

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/nocopythrift/nocopythrift/gen/internal/shapes"
	"github.com/nocopythrift/nocopythrift/internal/memory"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/messages"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// TestCallbacks: every function of the program that a message, or a package for messages, calls
// may panic or end its goroutine, at its first, middle or last call. Afterwards the messages have
// the same bytes as before, another goroutine can read, edit, send, clone and release them, and no
// recycled memory is lost (with the tag nocopydebug).
func TestCallbacks(t *testing.T) {
	for _, c := range slices.Concat(loopCallbacks, editCallbacks, filterCallbacks, streamCallbacks, packageCallbacks) {
		t.Run(c.name, func(t *testing.T) {
			called := false
			for i, state := range states {
				if c.own && i == len(endings) {
					break // one state is enough
				}
				calls := 0
				interrupted(t, c, state, func() { calls++ }, nil)
				if calls == 0 {
					continue
				}
				called = true
				later := calls / 2
				if i%2 == 1 {
					later = calls - 1
				}
				for j, at := range slices.Compact([]int{0, later}) {
					end := endings[(i+j)%len(endings)]
					n := 0
					f := func() {
						if n++; n == at+1 {
							end.f()
						}
					}
					if err := interrupted(t, c, state, f, &end); err != nil {
						t.Errorf("%s, %s in call %d of %d: %v", state.name, end.name, at+1, calls, err)
					}
				}
			}
			if !called {
				t.Error("the function is never called")
			}
		})
	}
}

// callback is a use of messages that calls f in a function of the program.
type callback struct {
	name string
	use  func(t *testing.T, s *subject, f func())
	own  bool // it uses its own messages, not those of the subject
}

// ending is a way in which a function ends without returning.
type ending struct {
	name string
	f    func()
	// The messages are edited before any other use
	editFirst bool
}

var endings = []ending{{"panic", func() { panic("enough") }, true}, {"Goexit", runtime.Goexit, false}}

// interrupted calls c with f, which ends c unless end is nil, and returns what is wrong
// afterwards.
func interrupted(t *testing.T, c callback, state state, f func(), end *ending) error {
	blocks, leaked := memory.BlocksInUse(), len(nocopy.Leaked())
	s, twin := state.make(t), state.make(t) // twin stays in the original state of s
	returned, done := false, make(chan struct{})
	go func() {
		defer close(done)
		defer func() { recover() }()
		c.use(t, s, f)
		returned = true
	}()
	if !soon(done) {
		t.Fatal("it hangs")
	}
	if end == nil {
		if !returned {
			return fmt.Errorf("it did not return")
		}
		s.release()
		twin.release()
		return nil
	}
	if returned {
		return fmt.Errorf("it has returned")
	}
	var err error
	done = make(chan struct{})
	go func() {
		defer close(done)
		err = fmt.Errorf("using the messages panics")
		err = s.compare(twin, end.editFirst)
	}()
	if !soon(done) {
		t.Fatal("a lock is left held")
	}
	if err != nil {
		return err
	}
	if n := memory.BlocksInUse() - blocks; n != 0 {
		return fmt.Errorf("%d recycled blocks are lost", n)
	}
	if n := len(nocopy.Leaked()) - leaked; n != 0 {
		return fmt.Errorf("%d messages are not released: %v", n, nocopy.Leaked())
	}
	return nil
}

// soon waits until done is closed, and reports whether that happened in time.
func soon(done chan struct{}) bool {
	select {
	case <-done:
		return true
	case <-time.After(time.Minute):
		return false
	}
}

// subject holds the messages that callbacks use.
type subject struct {
	lists shapes.Lists
	sets  shapes.Sets
	maps  shapes.Maps
}

func (s *subject) release() {
	s.lists.Release()
	s.sets.Release()
	s.maps.Release()
}

// state is a way in which messages were made.
type state struct {
	name string
	make func(t *testing.T) *subject
}

var states = []state{
	{"built", func(*testing.T) *subject { return newSubject(nocopy.Recycle) }},
	{"parsed", func(t *testing.T) *subject { return parsedSubject(t, nocopy.Recycle) }},
	{"lazy", func(t *testing.T) *subject { return parsedSubject(t, nocopy.Lazy) }},
	{"edited", func(t *testing.T) *subject {
		s := parsedSubject(t, nocopy.Recycle)
		s.edit("edited")
		return s
	}},
}

// newSubject builds the messages.
func newSubject(opts ...nocopy.Option) *subject {
	s := &subject{shapes.NewLists(opts...), shapes.NewSets(opts...), shapes.NewMaps(opts...)}
	l := s.lists
	l.SetFlags([]bool{true, false, true})
	l.SetTinies([]int8{3, 1, 2})
	l.SetSmalls([]int16{3, 1, 2})
	l.SetMediums([]int32{3, 1, 2})
	l.SetLarges([]int64{3, 1, 2})
	l.SetReals([]float64{3, 1, 2})
	l.SetTexts([]string{"c", "a", "b"})
	l.SetBlobs([][]byte{bytes.Repeat([]byte("c"), 4096), []byte("a"), []byte("b")}) // one is linked
	l.SetKeys([]nocopy.UUID{{3}, {1}, {2}})
	l.SetColors([]shapes.Color{shapes.Color_BLUE, shapes.Color_RED, shapes.Color_GREEN})
	points, unions, matrix, table := l.NewPoints(3), l.NewShapes(3), l.NewMatrix(3), l.NewTable(3)
	for i := range 3 {
		points.At(i).SetX(int32(9 - i))
		unions.At(i).SetLabel(fmt.Sprint(9 - i))
		matrix.NewAt(i, 1).Set(0, int64(9-i))
		table.NewAt(i, 1).Set(0, fmt.Sprint(9-i))
	}
	large, texts, corners := s.sets.NewLarges(0), s.sets.NewTexts(0), s.sets.NewPoints(0)
	for i := range 3 {
		corners.AppendNew().SetX(int32(i))
	}
	toTexts, byLarges := s.maps.NewToTexts(), s.maps.NewByLarges()
	toPoints, nested := s.maps.NewToPoints(), s.maps.NewNested()
	for i := range 20 { // enough for a table
		large.Append(int64(i))
		texts.Append(fmt.Sprint(i))
		toTexts.Put(fmt.Sprint(i), "value")
		byLarges.Put(int64(i), "value")
		toPoints.PutNew(fmt.Sprint(i)).SetX(int32(i))
		nested.PutNew(fmt.Sprint(i), 1).Put("key", int64(i))
	}
	return s
}

// received has the wire bytes of the messages, with two unknown fields in each.
var received = func() (all [3][]byte) {
	s := newSubject()
	defer s.release()
	for i, m := range []*nocopy.Message{s.lists.Message(), s.sets.Message(), s.maps.Message()} {
		wire := m.AppendTo(nil)
		all[i] = append(wire[:len(wire)-1], 8, 0, 99, 0, 0, 0, 1, 3, 0, 100, 1, 0)
	}
	return all
}()

// parsedSubject returns messages that were received.
func parsedSubject(t *testing.T, opts ...nocopy.Option) *subject {
	lists, err := shapes.ParseLists(received[0], opts...)
	if err != nil {
		t.Fatal(err)
	}
	sets, err := shapes.ParseSets(received[1], opts...)
	if err != nil {
		t.Fatal(err)
	}
	maps, err := shapes.ParseMaps(received[2], opts...)
	if err != nil {
		t.Fatal(err)
	}
	return &subject{lists, sets, maps}
}

// edit changes values, lists, sets and maps of all messages.
func (s *subject) edit(v string) {
	s.lists.SetTimes([]int64{int64(len(v))})
	s.lists.GetTexts().Append(v)
	s.lists.GetTexts().Set(0, v)
	s.lists.GetPoints().AppendNew().SetX(77)
	s.lists.GetPoints().At(0).SetY(88)
	s.lists.GetShapes().Delete(0, 1)
	s.lists.GetReals().SortFunc(func(a, b float64) int { return int(a - b) })
	s.sets.GetTexts().Add(v)
	s.sets.GetLarges().Delete(3, 5)
	s.maps.GetToTexts().Put(v, v)
	s.maps.GetToTexts().Delete("7")
	s.maps.GetToPoints().PutNew("8").SetX(3)
	s.maps.GetByLarges().Put(int64(len(v)), v)
}

// compare makes the same use of s and twin, releases them, and returns their difference.
func (s *subject) compare(twin *subject, editFirst bool) error {
	defer s.release()
	defer twin.release()
	if editFirst {
		s.edit("first")
		twin.edit("first")
	}
	if err := cmp.Or(alike(s.lists, twin.lists), alike(s.sets, twin.sets), alike(s.maps, twin.maps)); err != nil {
		return err
	}
	if text, ok := s.maps.GetToTexts().Get("9"); !ok || text != "value" {
		return fmt.Errorf("a map has lost a key")
	}
	if !s.sets.GetTexts().Contains("9") || s.sets.GetTexts().Contains("none") {
		return fmt.Errorf("a set has lost an element")
	}
	for _, s := range []*subject{s, twin} {
		s.edit("later")
		s.lists.SetRefusalsBy(2, func(i int) shapes.RefusedFields { return shapes.RefusedFields{Code: int32(i)} })
	}
	if err := alike(s.lists, twin.lists); err != nil {
		return fmt.Errorf("after editing: %w", err)
	}
	return nil
}

// handle has methods of generated types of structs.
type handle[S any] interface {
	nocopy.AnyStruct
	fmt.Stringer
	Message() *nocopy.Message
	Clone() S
	Release()
}

// alike reads, sends and clones two messages and returns their difference.
func alike[S handle[S]](got, want S) error {
	var sent, framed bytes.Buffer
	clone := got.Clone()
	defer clone.Release()
	_, writeErr := got.Message().WriteTo(&sent)
	_, frameErr := got.Message().WriteFrame(&framed)
	wire := want.Message().AppendTo(nil)
	again, parseErr := thriftimpl.Parse(want.ThriftDesc(), bytes.Clone(sent.Bytes()), nocopy.Recycle)
	switch {
	case writeErr != nil || frameErr != nil || parseErr != nil:
		return fmt.Errorf("%v, %v, %v", writeErr, frameErr, parseErr)
	case !bytes.Equal(got.Message().AppendTo(nil), wire) || !bytes.Equal(sent.Bytes(), wire) || !bytes.Equal(framed.Bytes()[4:], wire):
		return fmt.Errorf("%T: other bytes:\n%s\nnot\n%s", got, got, want)
	case got.String() != want.String():
		return fmt.Errorf("%T: other values:\n%s\nnot\n%s", got, got, want)
	case !messages.Equal(got, want) || !messages.Equal(clone, want):
		return fmt.Errorf("%T: not equal, or its clone or what was sent is not", got)
	}
	nocopy.Struct(again).Release()
	return nil
}

// stoppedReader calls f at each Read, and once more at the end.
type stoppedReader struct {
	io.Reader
	f func()
}

// Read stores something before it ends.
func (r stoppedReader) Read(b []byte) (int, error) {
	copy(b, "garbage")
	r.f()
	return r.Reader.Read(b[:min(len(b), 20_000)])
}

// stoppedWriter calls f at each Write.
type stoppedWriter func()

func (f stoppedWriter) Write(b []byte) (int, error) { f(); return len(b), nil }
