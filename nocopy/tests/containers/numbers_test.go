package containers_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// Lists of numbers are converted at once, in pieces that depend on their length and place in
// memory. These tests compare the results with those of encoding/binary.

var numbersDesc = newStructDesc("Numbers")

func init() {
	opt := func(id int16, name string, t *thriftimpl.Type) thriftimpl.FieldDesc {
		return thriftimpl.FieldDesc{ID: id, Name: name, Type: t, Req: thriftimpl.Optional}
	}
	numbersDesc.Define(
		opt(2, "bools", listTypeOf(typeBool)), opt(3, "int8s", listTypeOf(typeI8)), opt(4, "int16s", listTypeOf(typeI16)),
		opt(5, "int32s", listTypeOf(typeI32)), opt(6, "int64s", listTypeOf(typeI64)), opt(7, "float64s", listTypeOf(typeDouble)),
		opt(8, "uuids", listTypeOf(typeUUID)), opt(9, "enums", listTypeOf(colorType)),
		opt(10, "after", typeI32),
	)
}

type shade int32

// listOf is the interface of lists of E.
type listOf[E any] interface {
	nocopy.View
	Len() int
	At(i int) E
	Set(i int, v E)
	Append(v E)
	AppendTo(dst []E) []E
	All() iter.Seq2[int, E]
}

// numberKind is a kind of list: its field, and the function that sets it.
type numberKind[E comparable, L listOf[E]] struct {
	field string
	set   func(s thriftimpl.Struct, f thriftimpl.Field, d *thriftimpl.Desc, v []E)
	value func(r uint64) E
}

func TestNumbers(t *testing.T) {
	numberKind[bool, nocopy.BoolList]{"bools", thriftimpl.Struct.SetBools, func(r uint64) bool { return r&1 != 0 }}.test(t)
	numberKind[int8, nocopy.Int8List]{"int8s", thriftimpl.Struct.SetInt8s, func(r uint64) int8 { return int8(r) }}.test(t)
	numberKind[int16, nocopy.Int16List]{"int16s", thriftimpl.Struct.SetInt16s, func(r uint64) int16 { return int16(r) }}.test(t)
	numberKind[int32, nocopy.Int32List]{"int32s", thriftimpl.Struct.SetInt32s, func(r uint64) int32 { return int32(r) }}.test(t)
	numberKind[int64, nocopy.Int64List]{"int64s", thriftimpl.Struct.SetInt64s, func(r uint64) int64 { return int64(r) }}.test(t)
	numberKind[float64, nocopy.Float64List]{"float64s", thriftimpl.Struct.SetFloat64s, func(r uint64) float64 { return math.Float64frombits(r >> 2) }}.test(t)
	numberKind[nocopy.UUID, nocopy.UUIDList]{"uuids", thriftimpl.SetUUIDs, func(r uint64) nocopy.UUID { return nocopy.UUID{0: byte(r), 7: byte(r >> 8), 15: byte(r >> 16)} }}.test(t)
	numberKind[shade, nocopy.EnumList[shade]]{"enums", setShades, func(r uint64) shade { return shade(r) }}.test(t)
}

// numberRand is set again for each kind of numbers.
var numberRand *rand.Rand

func (n numberKind[E, L]) random(count int) []E {
	v := make([]E, count)
	for i := range v {
		v[i] = n.value(numberRand.Uint64())
	}
	return v
}

// test reads, changes, sends, and reads again lists of all lengths and origins. Large lists cross
// the boundaries of segments, and of the blocks that they arrive in.
func (n numberKind[E, L]) test(t *testing.T) {
	t.Run(n.field, func(t *testing.T) {
		numberRand = rand.New(rand.NewPCG(1, 2))
		size := binary.Size(n.value(0))
		counts := []int{4097 / size}
		if size == 8 || testmode.Long && !raceEnabled {
			counts = append(counts, (1<<20)/size+7)
		}
		for count := range 40 {
			counts = append(counts, count)
		}
		for _, count := range counts {
			v := n.random(count)
			wire := n.wire(t, v)
			for _, w := range []way{
				{Name: "built", Parse: n.built(v)}, with(way{Name: "built", Parse: n.built(v)}, nocopy.Recycle, "recycled"),
				inOnePiece, owned, with(inOnePiece, nocopy.Lazy, "lazy"), cutAt(12), cutAt(len(wire) / 2), with(cutEvery(512<<10-5), nocopy.Recycle, "recycled"),
			} {
				s, err := w.Parse(numbersDesc, wire)
				if err != nil {
					t.Fatal(err)
				}
				c := checked[E, L]{n, t, s, slices.Clone(v), fmt.Sprintf("%d, %s", count, w.Name), nil}
				c.check("as it came")
				c.change()
				s.Release()
			}
			if !bytes.Equal(wire, n.wire(t, v)) {
				t.Fatalf("%d: the bytes that were parsed have changed", count)
			}
		}
	})
}

// built returns a function that makes the message instead of parsing it.
func (n numberKind[E, L]) built(v []E) func(*thriftimpl.Desc, []byte, ...nocopy.Option) (thriftimpl.Struct, error) {
	return func(d *thriftimpl.Desc, _ []byte, opts ...nocopy.Option) (thriftimpl.Struct, error) {
		s := newStruct(d, opts...)
		n.set(s, fieldNamed(d, n.field), d, v)
		return s, nil
	}
}

// wire returns the bytes of a message of these elements.
func (n numberKind[E, L]) wire(t *testing.T, v []E) []byte {
	t.Helper()
	f := fieldNamed(numbersDesc, n.field)
	b := []byte{byte(nocopy.WireList), 0, byte(f), byte(numbersDesc.FieldDesc(numbersDesc.NumberByName(n.field)).Type.Elem().Wire())}
	b, err := binary.Append(binary.BigEndian.AppendUint32(b, uint32(len(v))), binary.BigEndian, v)
	if err != nil {
		t.Fatal(err)
	}
	return append(b, 0)
}

// checked is a message with its expected contents.
type checked[E comparable, L listOf[E]] struct {
	numberKind[E, L]
	t     *testing.T
	s     thriftimpl.Struct
	want  []E
	about string
	after []byte // wire bytes after the list
}

func (c *checked[E, L]) list() L { return L(c.s.Child(fieldNamed(numbersDesc, c.field), numbersDesc)) }

// check reads the list in every way, and the message's bytes.
func (c *checked[E, L]) check(when string) {
	c.t.Helper()
	l := c.list()
	if l.Len() != len(c.want) {
		c.t.Fatalf("%s, %s: %d elements instead of %d", c.about, when, l.Len(), len(c.want))
	}
	if got := l.AppendTo(nil); !slices.Equal(got, c.want) {
		c.t.Fatalf("%s, %s: AppendTo(nil) is wrong", c.about, when)
	}
	// AppendTo a slice that has an element and some room, after which bytes must stay unchanged.
	room := c.random(2 + len(c.want)/2 + numberRand.IntN(len(c.want)+2))
	rest := slices.Clone(room)
	got := l.AppendTo(room[:1])
	if got[0] != rest[0] || !slices.Equal(got[1:], c.want) {
		c.t.Fatalf("%s, %s: AppendTo a slice is wrong", c.about, when)
	}
	if written := min(1+len(c.want), len(room)); cap(room) > len(c.want) && !slices.Equal(room[written:], rest[written:]) {
		c.t.Fatalf("%s, %s: AppendTo wrote after the last element", c.about, when)
	}
	for i, v := range l.All() {
		if v != c.want[i] || l.At(i) != v {
			c.t.Fatalf("%s, %s: element %d is %v or %v instead of %v", c.about, when, i, v, l.At(i), c.want[i])
		}
	}
	b := c.wire(c.t, c.want)
	if b = append(b[:len(b)-1], c.after...); len(c.after) == 0 {
		b = append(b, 0)
	}
	if !bytes.Equal(c.s.Message().AppendTo(nil), b) {
		c.t.Fatalf("%s, %s: other bytes on the wire", c.about, when)
	}
}

// change changes the list in every way.
func (c *checked[E, L]) change() {
	some := c.random(4)
	if n := len(c.want); n > 0 {
		for _, i := range []int{0, n / 2, n - 1} {
			c.list().Set(i, some[i%4])
			c.want[i] = some[i%4]
		}
		c.check("after Set")
	}
	for _, v := range some {
		c.list().Append(v)
		c.want = append(c.want, v)
	}
	c.check("after Append")
	c.s.SetInt32(fieldNamed(numbersDesc, "after"), 7)
	c.after = []byte{byte(nocopy.WireI32), 0, 10, 0, 0, 0, 7, 0}
	c.list().Set(0, some[1])
	c.want[0] = some[1]
	c.check("after another field")
	for _, n := range []int{len(c.want) / 2, len(c.want) + 17} {
		c.want = c.random(n)
		c.set(c.s, fieldNamed(numbersDesc, c.field), numbersDesc, c.want)
		c.check("after all were set")
	}
}

func setShades(s thriftimpl.Struct, f thriftimpl.Field, d *thriftimpl.Desc, v []shade) {
	thriftimpl.SetEnums(s, f, d, v)
}

// TestFindAfterDelete: when numbers have been deleted from a list that was large when it was asked
// for one, it is found in the list if and only if it is still there.
func TestFindAfterDelete(t *testing.T) {
	const n = 40
	for _, r := range [][2]int{{0, 1}, {0, 30}, {3, 5}, {38, 40}, {0, n}} {
		s := newStruct(numbersDesc)
		l := nocopy.Int64List(s.NewChild(fieldNamed(numbersDesc, "int64s"), numbersDesc, 0))
		for i := range int64(n) {
			l.Append(i)
		}
		if l.Contains(n) || !l.Contains(0) {
			t.Fatal("it has other elements")
		}
		l.Delete(r[0], r[1])
		for i := range n {
			if got, want := l.Contains(int64(i)), i < r[0] || i >= r[1]; got != want {
				t.Errorf("without %v: %d is found: %t", r, i, got)
			}
		}
		s.Release()
	}
}

// TestEmptyOfAnotherType: an empty list may arrive with any type of elements. Elements that are
// added are sent with their own.
func TestEmptyOfAnotherType(t *testing.T) {
	wire := []byte{byte(nocopy.WireList), 0, 6, byte(nocopy.WireString), 0, 0, 0, 0, 0}
	s := mustParse(t, numbersDesc, wire)
	nocopy.Int64List(s.Child(fieldNamed(numbersDesc, "int64s"), numbersDesc)).Append(7)
	want := []byte{byte(nocopy.WireList), 0, 6, byte(nocopy.WireI64), 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 7, 0}
	if got := s.Message().AppendTo(nil); !bytes.Equal(got, want) {
		t.Errorf("%x, not %x", got, want)
	}
	s.Release()
}

// TestRoomOfLinkedNumbers: numbers that are added to a list with room for them are not in another
// message that links its memory.
func TestRoomOfLinkedNumbers(t *testing.T) {
	f := fieldNamed(numbersDesc, "int64s")
	s, other := newStruct(numbersDesc), newStruct(numbersDesc)
	s.SetInt64s(f, numbersDesc, make([]int64, referSize))
	s.Message().Finish()
	l := nocopy.Int64List(s.Child(f, numbersDesc))
	l.Append(1) // which makes room
	s.Message().Finish()
	other.SetChild(f, numbersDesc, s.Child(f, numbersDesc))
	want := other.Message().AppendTo(nil)
	for i := range 10 {
		l.Append(int64(i))
	}
	if got := other.Message().AppendTo(nil); !bytes.Equal(got, want) {
		t.Error("the other message has changed")
	}
	if got := l.Len(); got != referSize+11 || l.At(got-1) != 9 {
		t.Errorf("%d elements, the last is %d", got, l.At(got-1))
	}
	other.Release()
	s.Release()
}
