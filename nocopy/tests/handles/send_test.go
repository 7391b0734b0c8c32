package handles_test

import (
	"bytes"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/parse"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/render"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/internal/handles"
)

// TestClaimCopyLinks: a copy of a large message has the same bytes, whether it links the message
// or, since some bytes belong to the program, copies it. Later changes of one of the two don't
// change the other.
func TestClaimCopyLinks(t *testing.T) {
	text, blob, list := fieldNamed(allDesc, "text"), fieldNamed(allDesc, "blob"), fieldNamed(allDesc, "words")
	large := bytes.Repeat([]byte("large "), 5000)
	own := bytes.Clone(large) // the program's
	build := func(foreign bool) engine.Struct {
		s := engine.New(allDesc)
		s.SetText(text, "a text")
		if foreign {
			s.SetBytes(blob, own)
		} else {
			copy(s.NewBytes(blob, len(large)), large)
		}
		s.SetTexts(list, allDesc, []string{"one", strings.Repeat("two", 3000)})
		s.Message().Finish()
		return s
	}
	parsed := bytes.Clone(build(false).Message().Bytes())
	for name, from := range map[string]engine.Struct{
		"built":   build(false),
		"foreign": build(true),
		"parsed":  mustParse(t, allDesc, parsed),
		"edited": func() engine.Struct {
			s := mustParse(t, allDesc, build(false).Message().Bytes())
			s.SetText(text, "edited")
			return s
		}(),
		"small": mustParse(t, allDesc, handles.Wire()),
	} {
		t.Run(name, func(t *testing.T) {
			from.Message().Finish()
			want := bytes.Clone(from.Message().Bytes())
			c, err := from.ClaimCopy(allDesc)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(c.Message().Bytes(), want) {
				t.Fatal("the copy has other bytes")
			}
			c.SetText(text, "changed")
			c.SetTexts(list, allDesc, []string{"three"})
			if !bytes.Equal(from.Message().Bytes(), want) {
				t.Fatal("the original has changed")
			}
			changed := bytes.Clone(c.Message().Bytes())
			from.SetText(text, "the original's")
			from.SetBytes(blob, nil)
			if !bytes.Equal(c.Message().Bytes(), changed) || c.Text(text) != "changed" {
				t.Fatal("the copy has changed")
			}
			from.Release()
			switch name { // the memory is the program's again
			case "foreign":
				clear(own)
			case "parsed":
				clear(parsed)
			}
			if again := mustParse(t, allDesc, changed); !bytes.Equal(c.Message().Bytes(), changed) || !render.EqualStructs(again, c, allDesc) {
				t.Fatal("the copy's bytes are not what it reads as")
			}
			second := c.Clone(allDesc)
			if c.Message().Release(); !bytes.Equal(second.Message().Bytes(), changed) {
				t.Fatal("a copy of the copy has changed")
			}
		})
	}
}

// TestToSend: a message that is about to be sent stays as it is, even if the message that it was
// made from changes, or the caller's memory that this one refers to.
func TestToSend(t *testing.T) {
	large := strings.Repeat("0123456789", 300_000)
	for name, build := range map[string]func(s engine.Struct, own []byte){
		"nothing":            func(engine.Struct, []byte) {},
		"a small text":       func(s engine.Struct, _ []byte) { s.SetText(fieldNamed(allDesc, "text"), "small") },
		"a large text":       func(s engine.Struct, _ []byte) { s.SetText(fieldNamed(allDesc, "text"), large) },
		"the caller's bytes": func(s engine.Struct, own []byte) { s.SetBytes(fieldNamed(allDesc, "blob"), own) },
		"large pieces, more than are linked": func(s engine.Struct, _ []byte) {
			l := nocopy.StructList[engine.Struct](s.NewChild(fieldNamed(allDesc, "children"), allDesc, engine.MostLinks+100))
			for i := range l.Len() {
				l.At(i).SetInt32(fieldNamed(allDesc, "medium"), int32(i))
			}
			for i := range l.Len() {
				copy(l.At(i).NewBytes(fieldNamed(allDesc, "blob"), engine.ReferSize+i), large)
			}
		},
		"small pieces": func(s engine.Struct, _ []byte) {
			l := nocopy.StringList(s.NewChild(fieldNamed(allDesc, "words"), allDesc, 3000))
			for i := range 3000 {
				l.Set(2999-i, "word")
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, opts := range [][]engine.Option{nil, {engine.Recycle}} {
				own := bytes.Repeat([]byte("mine"), 5000)
				s := engine.New(allDesc, opts...)
				build(s, own)
				s.Message().Finish()
				for _, from := range []engine.Struct{s, editedCopy(t, s, opts)} {
					want := from.Message().AppendTo(nil)
					var wg sync.WaitGroup
					sent, errs := make([]*engine.Message, 4), make([]error, 4)
					for i := range sent {
						wg.Go(func() {
							sent[i], errs[i] = engine.CopyForCall(allDesc, from, 100, engine.Limits{MaxDepth: parse.MaxDepth}, optionsOf(i%2 == 0, false))
						})
					}
					wg.Wait()
					if err := errors.Join(errs...); err != nil {
						t.Fatal(err)
					}
					copy(sent[1].Prepend(4), "head")
					clear(own)
					from.SetText(fieldNamed(allDesc, "text"), "other")
					from.Release()
					for range 3 { // in the same memory, if that is used again
						again := engine.New(allDesc, opts...)
						copy(again.NewBytes(fieldNamed(allDesc, "blob"), 4<<20), bytes.Repeat([]byte("?"), 4<<20))
						again.Message().Finish()
						again.Release()
					}
					for i, m := range sent {
						head := ""
						if i == 1 {
							head = "head"
						}
						if err := m.Check(); err != nil {
							t.Fatal(err)
						}
						if got := m.AppendTo(nil); string(got) != head+string(want) {
							t.Errorf("%v: %d bytes are not the %d that were to be sent", opts, len(got), len(want))
						}
						m.EndOfCall()
					}
				}
			}
		})
	}
}

// editedCopy returns what was parsed from the bytes of s and edited.
func editedCopy(t *testing.T, s engine.Struct, opts []engine.Option) engine.Struct {
	t.Helper()
	c, err := engine.Parse(allDesc, s.Message().AppendTo(nil), append([]engine.Option{engine.Own}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	editScattered(c)
	c.Message().Finish()
	return c
}
