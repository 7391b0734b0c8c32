package shapes_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/gen/internal/shapes"
)

// memoryOf returns how many bytes the slices in v and everything they refer to take, including
// elements beyond their lengths.
func memoryOf(v reflect.Value) (n int) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			n += memoryOf(v.Field(i))
		}
	case reflect.Pointer:
		if !v.IsNil() {
			n = int(v.Type().Elem().Size()) + memoryOf(v.Elem())
		}
	case reflect.Slice:
		n = v.Cap() * int(v.Type().Elem().Size())
		for i := range v.Cap() {
			n += memoryOf(v.Slice(0, v.Cap()).Index(i))
		}
	}
	return n
}

// Forms of the bytes: read directly, and through a message.
const (
	usual   = "usual"
	unknown = "with an unknown field"
)

// inForm returns b, the bytes of a struct, in a form.
func inForm(b []byte, form string) []byte {
	if form == unknown {
		return append(bytes.Clone(b[:len(b)-1]), 8, 0x77, 0x77, 0, 0, 0, 1, 0)
	}
	return b
}

// TestPlainKept: a value that is used for many messages takes no more memory than one message may,
// even if each message fills another element with a large list and keeps the others' lists. The
// same holds when messages are made.
func TestPlainKept(t *testing.T) {
	const rounds, many = 70, 10_000
	orders := map[string]func(k int) (elements, large int){
		"longer":   func(k int) (int, int) { return k + 1, k },
		"shorter":  func(k int) (int, int) { return rounds - k, rounds - k - 1 },
		"the same": func(k int) (int, int) { return rounds, k },
	}
	for name, order := range orders {
		for _, form := range []string{usual, unknown} {
			var v shapes.TreeFields
			most := 0
			for k := range rounds {
				elements, large := order(k)
				in := shapes.TreeFields{Children: make([]shapes.TreeFields, elements)}
				for i := range in.Children {
					in.Children[i].Children = []shapes.TreeFields{}
				}
				in.Children[large].Children = make([]shapes.TreeFields, many)
				b := inForm(in.AppendTo(nil), form)
				if err := v.Parse(b); err != nil {
					t.Fatalf("%s, message %d: %v", name, k, err)
				}
				if len(v.Children) != elements || len(v.Children[large].Children) != many {
					t.Fatalf("%s, message %d: other values", name, k)
				}
				most = max(most, 16<<20+64*len(b))
			}
			if n := memoryOf(reflect.ValueOf(v)); n > most {
				t.Errorf("%s, %s: %d MiB, a message may take %d", name, form, n>>20, most>>20)
			}
		}
	}
}

// TestPlainForgets: after a shorter list, the unused elements of the slice refer to no bytes of
// earlier messages.
func TestPlainForgets(t *testing.T) {
	v := shapes.ListsFields{Texts: []string{"a", "b"}, Blobs: [][]byte{{1}, {2}}, Refusals: []shapes.RefusedFields{{Reason: "x"}, {Reason: "y"}}}
	long := v.AppendTo(nil)
	v = shapes.ListsFields{Texts: []string{}, Blobs: [][]byte{}, Refusals: []shapes.RefusedFields{}}
	short := v.AppendTo(nil)
	for _, form := range []string{usual, unknown} {
		for _, b := range [][]byte{long, short} {
			if err := v.Parse(inForm(b, form)); err != nil {
				t.Fatal(err)
			}
		}
		if v.Texts[:1][0] != "" || v.Blobs[:1][0] != nil || v.Refusals[:1][0].Reason != "" {
			t.Errorf("%s: an element that is gone refers to its message", form)
		}
	}
}

// TestPlainByMemory: functions are called with all elements, although the elements take the same
// memory again when they are read for the second time.
func TestPlainByMemory(t *testing.T) {
	// Almost the largest number of empty structs, of a byte each, in a message
	n := (16 << 20) / int(reflect.TypeFor[shapes.SecretsFields]().Size()-64) * 9 / 10
	list := func(n int) []byte { return binary.BigEndian.AppendUint32([]byte{15, 0, 11, 12}, uint32(n)) }
	const elements = 3
	b := list(elements)
	for range elements {
		b = append(append(b, list(n)...), make([]byte, n+1)...)
	}
	b = append(b, 0)
	var v shapes.SecretsFields
	got := 0
	err := shapes.ParseSecretsBy(&v, shapes.SecretsBy{Nested: func(i int, c *shapes.SecretsFields) error {
		if i != got || len(c.Nested) != n {
			t.Fatalf("element %d has %d, want %d with %d", i, len(c.Nested), got, n)
		}
		got++
		return nil
	}}, b)
	if err != nil || got != elements {
		t.Errorf("%d of %d elements, %v", got, elements, err)
	}
}

// TestPlainByGrown: slices may grow to more elements than a message has. They count as when the
// elements are read for the second time, although a message may almost take that memory.
func TestPlainByGrown(t *testing.T) {
	list := func(id byte, n int) []byte {
		return binary.BigEndian.AppendUint32([]byte{15, 0, id, 12}, uint32(n))
	}
	nested := func(counts ...int) []byte { // a card, and lists of empty structs, of a byte each
		b := append(append(list(9, 1), 0), list(11, len(counts))...)
		for _, n := range counts {
			b = append(append(b, list(11, n)...), make([]byte, n+1)...)
		}
		return append(b, 0)
	}
	most := (16 << 20) / int(reflect.TypeFor[shapes.SecretsFields]().Size()-64)
	for _, second := range []int{most * 3 / 10, most * 35 / 100, most * 4 / 10, most * 45 / 100} {
		var v shapes.SecretsFields
		if err := v.Parse(nested(most/2, 0)); err != nil {
			t.Fatal(err)
		}
		cards := 0
		err := shapes.ParseSecretsBy(&v, shapes.SecretsBy{Cards: func(int, *shapes.CardFields) error { cards++; return nil }}, nested(most*52/100, second))
		if err != nil || cards != 1 || len(v.Nested[1].Nested) != second {
			t.Errorf("%d cards, %d structs, want 1 and %d; %v", cards, len(v.Nested[1].Nested), second, err)
		}
	}
}

// TestPlainByChanges: ParseXBy panics if a function changes the bytes. They were checked before
// the first call, so that reading can fail only for that reason.
func TestPlainByChanges(t *testing.T) {
	b := (&shapes.TreeFields{Children: make([]shapes.TreeFields, 3)}).AppendTo(nil)
	var v shapes.TreeFields
	stop := errors.New("stop")
	by := shapes.TreeBy{Children: func(int, *shapes.TreeFields) error { clear(b); return stop }}
	if err := shapes.ParseTreeBy(&v, by, b); err != stop {
		t.Error(err)
	}
	b = (&shapes.TreeFields{Children: make([]shapes.TreeFields, 3)}).AppendTo(nil)
	by.Children = func(int, *shapes.TreeFields) error { clear(b); return nil }
	defer func() {
		if s := fmt.Sprint(recover()); !strings.HasPrefix(s, "nocopy: the bytes of shapes.TreeFields have changed") {
			t.Error(s)
		}
	}()
	shapes.ParseTreeBy(&v, by, b)
}
