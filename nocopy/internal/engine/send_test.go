package engine

import (
	"bytes"
	"strings"
	"sync"
	"testing"
)

// TestToSend: what is about to be sent stays what it was, whatever happens to the message that it
// was made of and to the caller's memory that that refers to.
func TestToSend(t *testing.T) {
	large := strings.Repeat("0123456789", 300_000)
	for name, build := range map[string]func(s Struct, own []byte){
		"nothing":            func(Struct, []byte) {},
		"a small text":       func(s Struct, _ []byte) { s.SetText(fieldNamed(allDesc, "text"), "small") },
		"a large text":       func(s Struct, _ []byte) { s.SetText(fieldNamed(allDesc, "text"), large) },
		"the caller's bytes": func(s Struct, own []byte) { s.SetBytes(fieldNamed(allDesc, "blob"), own) },
		"large pieces, more than are linked": func(s Struct, _ []byte) {
			l := StructList[Struct](s.NewChild(fieldNamed(allDesc, "children"), allDesc, mostLinks+100))
			for i := range l.Len() {
				l.At(i).SetInt32(fieldNamed(allDesc, "medium"), int32(i))
			}
			for i := range l.Len() {
				copy(l.At(i).NewBytes(fieldNamed(allDesc, "blob"), ReferSize+i), large)
			}
		},
		"small pieces": func(s Struct, _ []byte) {
			l := StringList(s.NewChild(fieldNamed(allDesc, "words"), allDesc, 3000))
			for i := range 3000 {
				l.Set(2999-i, "word")
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, opts := range [][]Option{nil, {Recycle}} {
				own := bytes.Repeat([]byte("mine"), 5000)
				s := New(allDesc, opts...)
				build(s, own)
				s.m.Finish()
				for _, from := range []Struct{s, editedCopy(t, s, opts)} {
					want := from.m.AppendTo(nil)
					var wg sync.WaitGroup
					sent := make([]*Message, 4)
					for i := range sent {
						wg.Go(func() { sent[i] = from.toSend(held|limited|flagIf(i%2 == 0, Recycle), usualLimits, 100) })
					}
					wg.Wait()
					copy(sent[1].Prepend(4), "head")
					clear(own)
					from.SetText(fieldNamed(allDesc, "text"), "other")
					from.Release()
					for range 3 { // in the same memory, if that is used again
						again := New(allDesc, opts...)
						copy(again.NewBytes(fieldNamed(allDesc, "blob"), 4<<20), bytes.Repeat([]byte("?"), 4<<20))
						again.m.Finish()
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
						m.EndHeld()
					}
				}
			}
		})
	}
}

// editedCopy returns what was parsed from the bytes of s and edited.
func editedCopy(t *testing.T, s Struct, opts []Option) Struct {
	t.Helper()
	c, err := Parse(allDesc, s.m.AppendTo(nil), append([]Option{Own}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	editScattered(c)
	c.m.Finish()
	return c
}

// TestClaimCopyLinks: a copy of a large message is the same message, also once either is changed;
// it has none of its bytes, unless some were the program's.
func TestClaimCopyLinks(t *testing.T) {
	text, blob, list := fieldNamed(allDesc, "text"), fieldNamed(allDesc, "blob"), fieldNamed(allDesc, "words")
	large := bytes.Repeat([]byte("large "), 5000)
	build := func(foreign bool) Struct {
		s := New(allDesc)
		s.SetText(text, "a text")
		if foreign {
			s.SetBytes(blob, large)
		} else {
			copy(s.NewBytes(blob, len(large)), large)
		}
		s.SetTexts(list, allDesc, []string{"one", strings.Repeat("two", 3000)})
		s.m.Finish()
		return s
	}
	for name, from := range map[string]Struct{
		"built":   build(false),
		"foreign": build(true),
		"parsed":  mustParse(t, allDesc, build(false).m.Bytes()),
		"edited": func() Struct {
			s := mustParse(t, allDesc, build(false).m.Bytes())
			s.SetText(text, "edited")
			return s
		}(),
		"small": mustParse(t, allDesc, fullWire(t)),
	} {
		t.Run(name, func(t *testing.T) {
			from.m.Finish()
			want := bytes.Clone(from.m.Bytes())
			c, err := from.ClaimCopy(allDesc)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(c.m.Bytes(), want) {
				t.Fatal("the copy has other bytes")
			}
			c.SetText(text, "changed")
			c.SetTexts(list, allDesc, []string{"three"})
			if !bytes.Equal(from.m.Bytes(), want) {
				t.Fatal("the original has changed")
			}
			changed := bytes.Clone(c.m.Bytes())
			from.SetText(text, "the original's")
			from.SetBytes(blob, nil)
			if !bytes.Equal(c.m.Bytes(), changed) || c.Text(text) != "changed" {
				t.Fatal("the copy has changed")
			}
			again := mustParse(t, allDesc, changed)
			if !again.Equal(allDesc, c) {
				t.Fatal("the copy's bytes are not what it reads as")
			}
			second := c.Clone(allDesc)
			if c.Message().Release(); !bytes.Equal(second.m.Bytes(), changed) {
				t.Fatal("a copy of the copy has changed")
			}
		})
	}
}
