package engine

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/index"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/parse"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// The library accepts all messages that it builds.

// fieldOf returns the field of allDesc with this name.
func fieldOf(name string) schema.Ref {
	for i := range allDesc.Fields() {
		if allDesc.Fields()[i].Name == name {
			return allDesc.Field(i)
		}
	}
	panic(name)
}

// accepted checks that all ways of parsing, with default limits, take the message's bytes.
func accepted(t *testing.T, what string, d *schema.Struct, m *Message) {
	t.Helper()
	wire := m.AppendTo(nil)
	for _, w := range manyWays {
		s, err := w.parse(d, wire)
		if err == nil {
			err = s.m.Index()
		}
		if err != nil {
			t.Fatalf("%s, %d bytes, %s: %v", what, len(wire), w.name, err)
		}
		if got := s.m.AppendTo(nil); !bytes.Equal(got, wire) {
			t.Fatalf("%s, %s: goes out otherwise", what, w.name)
		}
		s.Release()
	}
}

// TestOwnNesting: after any operations, a message can be finished if and only if Parse accepts it.
func TestOwnNesting(t *testing.T) {
	selfField, childrenField := fieldOf("self"), fieldOf("children")
	namedField, unionField := fieldOf("named"), fieldOf("text")
	r := rand.New(rand.NewPCG(1, 2))
	deepest := 0
	for range testmode.Of(100, 300) {
		msgs := []Struct{New(allDesc), mustParse(t, allDesc, []byte(structs(1+r.IntN(64))))}
		at := []Struct{msgs[0], msgs[1]}
		for at[1].HasField(selfField) {
			at[1] = at[1].Child(selfField, allDesc)
		}
		for range 1 + r.IntN(600) {
			i := r.IntN(len(at))
			if s := at[i]; r.IntN(4) > 0 { // one level down
				switch r.IntN(5) {
				case 0:
					at[i] = s.NewChild(selfField, allDesc, 0)
				case 1:
					at[i] = StructList[Struct](s.NewChild(childrenField, allDesc, 1)).At(0)
				case 2:
					at[i] = StructMap[string, Struct, AsString](s.NewChild(namedField, allDesc, 0)).PutNew("k")
				case 3:
					at[i] = StructList[Struct](s.NewChild(childrenField, allDesc, 0)).AppendNew()
				default:
					s.SetText(unionField, "x")
				}
				continue
			}
			from := at[r.IntN(len(at))]
			// It was removed
			if from.m.Check() != nil || from.m.exceeds(allDesc.Type(), index.Word(from.entry()), parse.MaxDepth) {
				continue
			}
			switch r.IntN(5) {
			case 0:
				at[i].SetChild(selfField, allDesc, from)
				at[i] = at[i].Child(selfField, allDesc)
			case 1:
				l := StructList[Struct](at[i].NewChild(childrenField, allDesc, 0))
				l.Append(from)
				l.Set(0, from)
				at[i] = l.At(0)
			case 2:
				StructMap[string, Struct, AsString](at[i].NewChild(namedField, allDesc, 0)).Put("k", from)
			case 3:
				c := from.Clone(allDesc)
				msgs, at = append(msgs, c), append(at, c)
			default:
				s := mustParse(t, allDesc, from.m.AppendTo(nil), Lazy)
				msgs, at = append(msgs, s), append(at, s)
			}
		}
		for _, s := range msgs {
			err := s.m.Check()
			if err == nil {
				accepted(t, "a message", allDesc, s.m)
				for s.HasField(selfField) {
					s = s.Child(selfField, allDesc)
				}
				continue
			}
			deepest++
			checkTooDeep(t, s, err)
		}
	}
	if deepest < 20 {
		t.Errorf("only %d messages were too deep", deepest)
	}
}

// checkTooDeep checks that everything that would finish a message says that it is too deep, which
// Parse finds too.
func checkTooDeep(t *testing.T, s Struct, err error) {
	t.Helper()
	const text = "All: offset 0: limit exceeded: nested deeper than Limits.MaxDepth = 64"
	if !errors.Is(err, wire.ErrLimit) || err.Error() != "nocopy: "+text {
		t.Fatalf("Check: %v", err)
	}
	if n, err := s.m.WriteTo(io.Discard); n != 0 || !errors.Is(err, wire.ErrLimit) {
		t.Fatalf("WriteTo: %d, %v", n, err)
	}
	if _, err := s.m.WriteFrame(io.Discard); !errors.Is(err, wire.ErrLimit) {
		t.Fatalf("WriteFrame: %v", err)
	}
	for what, f := range map[string]func(){
		"Finish": s.m.Finish, "Len": func() { s.m.Len() }, "Bytes": func() { s.m.Bytes() },
		"AppendTo": func() { s.m.AppendTo(nil) }, "Clone": func() { s.Clone(allDesc) },
	} {
		panics(t, what, "nocopy: message can't be finished: "+text, f)
	}
	s.m.limit(Limits{MaxDepth: 1 << 20})
	data := s.m.AppendTo(nil)
	if _, err := Parse(allDesc, data); !errors.Is(err, wire.ErrLimit) {
		t.Fatalf("Parse accepts what could not be finished: %v", err)
	}
}

// manyWays are the ways of parsing that take different paths through the parser.
var manyWays = []way{
	inOnePiece, with(inOnePiece, Lazy, "lazy"), cutAt(9), cutAt(30), with(cutAt(30), Lazy, "lazy"), fromReader,
	with(inOnePiece, ValidUTF8, "utf8"),
}
