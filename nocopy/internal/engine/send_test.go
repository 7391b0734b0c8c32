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
