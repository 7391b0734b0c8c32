package engine

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// TestStaleNamesType: the panic of a handle after Release names its message's type as long as that
// is certain, and never another type, for all later contents of the message.
func TestStaleNamesType(t *testing.T) {
	said := func(s Struct) (text string) {
		defer func() { text = fmt.Sprint(recover()) }()
		s.Has(fieldNamed(describedOrder, "id"))
		return ""
	}
	want := func(what string, s Struct, prefix string) {
		t.Helper()
		if got := said(s); !strings.HasPrefix(got, prefix) {
			t.Errorf("%s: %q, want %q", what, got, prefix)
		}
	}
	const isOrder, isPart, isUnknown = "nocopy: Order used after Release", "nocopy: part of Order used after Release", panicStale
	var m Message
	fill := func(d *schema.Struct) Struct { return NewInto(d, &m, nil) }

	root := fill(describedOrder)
	part := root.NewChild(fieldNamed(describedOrder, "customer"), describedOrder, 0)
	m.Reset()
	want("empty", root, isOrder)
	want("empty, a part", part, isPart)
	second := fill(describedOrder)
	want("an Order again", root, isOrder)
	want("an Order again, a part", part, isPart)
	customer := fill(describedCustomer)
	want("a Customer since", root, isOrder)
	want("a Customer since, the second", second, isOrder)
	m.Reset()
	want("a Customer since, that has ended", root, isUnknown)
	want("the Customer", customer, "nocopy: Customer used after Release")
	fill(describedOrder)
	m.Reset()
	want("two types since", customer, isUnknown)
	want("no message at all", Struct{m: &m, k: 1<<32 - 1}, isUnknown)
}

// TestStaleNamesTypeAnywhere: a message of the library's own names its type, too, in every kind of
// handle, and its *Message does; and while another goroutine fills it again and again.
func TestStaleNamesTypeAnywhere(t *testing.T) {
	s, err := Parse(describedOrder, orderWire())
	if err != nil {
		t.Fatal(err)
	}
	m, list := s.m, Int32List(s.Child(fieldNamed(describedOrder, "price_list"), describedOrder))
	s.Release()
	for name, f := range map[string]func(){
		"getter":  func() { s.Int64(fieldNamed(describedOrder, "id")) },
		"setter":  func() { s.SetInt64(fieldNamed(describedOrder, "id"), 1) },
		"Len":     func() { list.Len() },
		"At":      func() { list.At(0) },
		"Append":  func() { list.Append(1) },
		"Clone":   func() { s.Clone(describedOrder) },
		"Message": func() { m.Len() },
	} {
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.Contains(got, "Order used after Release") || !strings.HasPrefix(got, "nocopy: ") {
					t.Errorf("%s: panic %q", name, got)
				}
			}()
			f()
		}()
	}
	var wg sync.WaitGroup
	defer wg.Wait()
	for range 2 {
		wg.Go(func() {
			for range 1000 {
				s := New(describedOrder)
				s.Release()
				if got := (staleUse(s)).Error(); !isStale(got) {
					t.Errorf("says %q", got)
				}
			}
		})
	}
}
