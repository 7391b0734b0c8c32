package handles_test

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/memory"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// TestLent: strings and bytes that a message without Recycle has returned stay as they were after
// Release, though memory that they don't refer to is used again.
func TestLent(t *testing.T) {
	d := schema.NewStruct("Lender")
	inner := schema.NewStruct("Inner")
	inner.Define(schema.FieldDesc{ID: 1, Name: "s", Type: schema.TypeString})
	d.Define(
		schema.FieldDesc{ID: 1, Name: "s", Type: schema.TypeString},
		schema.FieldDesc{ID: 2, Name: "b", Type: schema.TypeBinary},
		schema.FieldDesc{ID: 3, Name: "strings", Type: schema.ListOf(schema.TypeString)},
		schema.FieldDesc{ID: 4, Name: "binaries", Type: schema.ListOf(schema.TypeBinary)},
		schema.FieldDesc{ID: 5, Name: "m", Type: schema.MapOf(schema.TypeString, schema.TypeBinary)},
		schema.FieldDesc{ID: 6, Name: "inner", Type: schema.StructOf(inner)},
	)
	constant := func(i int) schema.Ref { return d.Field(i) }
	text, bin, texts, bins, dict, sub := constant(0), constant(1), constant(2), constant(3), constant(4), constant(5)
	const value = "the value that was lent"
	build := func(with string) engine.Struct {
		s := engine.New(d)
		s.SetText(text, with)
		s.SetBytes(bin, []byte(with))
		s.SetTexts(texts, d, []string{with, with})
		s.SetByteSlices(bins, d, [][]byte{[]byte(with)})
		nocopy.Map[string, []byte, engine.AsString, engine.AsBytes](s.NewChild(dict, d, 0)).Put(with, []byte(with))
		s.NewChild(sub, d, 0).SetText(inner.Field(0), with)
		return s
	}
	type pairs = nocopy.Map[string, []byte, engine.AsString, engine.AsBytes]
	for name, lend := range map[string]func(s engine.Struct) any{
		"Text":        func(s engine.Struct) any { return s.Text(text) },
		"Bytes":       func(s engine.Struct) any { return s.Bytes(bin) },
		"inner":       func(s engine.Struct) any { return s.Child(sub, d).Text(inner.Field(0)) },
		"list":        func(s engine.Struct) any { return nocopy.StringList(s.Child(texts, d)).At(1) },
		"list all":    func(s engine.Struct) any { return last(nocopy.StringList(s.Child(texts, d)).All()) },
		"list append": func(s engine.Struct) any { return nocopy.StringList(s.Child(texts, d)).AppendTo(nil)[0] },
		"binaries":    func(s engine.Struct) any { return nocopy.BytesList(s.Child(bins, d)).At(0) },
		"bin all":     func(s engine.Struct) any { return last(nocopy.BytesList(s.Child(bins, d)).All()) },
		"bin append":  func(s engine.Struct) any { return nocopy.BytesList(s.Child(bins, d)).AppendTo(nil)[0] },
		"list wire": func(s engine.Struct) any {
			b := nocopy.BytesList(s.Child(bins, d)).Wire()
			return b[len(b)-len(value):]
		},
		"map get": func(s engine.Struct) any { v, _ := pairs(s.Child(dict, d)).Get(value); return v },
		"map all": func(s engine.Struct) any { return last(pairs(s.Child(dict, d)).All()) },
		"map keys": func(s engine.Struct) any {
			for k := range pairs(s.Child(dict, d)).All() {
				return k
			}
			return nil
		},
		"NewBytes": func(s engine.Struct) any { b := s.NewBytes(bin, len(value)); copy(b, value); return b },
		"unknown": func(s engine.Struct) any {
			other := schema.NewStruct("Other")
			other.Define()
			for id, v := range s.Unknown(other) {
				if id == 1 {
					return memory.String(v.Raw()[wire.TextHeader:])
				}
			}
			return nil
		},
		"wire": func(s engine.Struct) any { b := s.Message().Bytes(); return b[7 : 7+len(value)] },
		"linked": func(s engine.Struct) any {
			other := engine.New(d)
			other.SetChild(sub, d, s.Child(sub, d))
			return lentLater(func() string { return other.Child(sub, d).Text(inner.Field(0)) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := build(value)
			got := lend(s)
			s.Release()
			for range 100 { // later messages must not write there
				next := build(strings.Repeat("x", len(value)))
				next.Message().WriteTo(io.Discard)
				next.Release()
			}
			if f, ok := got.(lentLater); ok {
				got = f()
			}
			if b, ok := got.([]byte); ok {
				got = string(b)
			}
			if got != value {
				t.Errorf("what was lent is %q now", got)
			}
		})
	}
}

type lentLater func() string

// TestLentReceived: values that were set in a received message, or joined from its blocks, stay
// after Release if they were returned, also if strings in the received bytes were returned before.
func TestLentReceived(t *testing.T) {
	d := requestDesc
	user, method, id := d.Field(1), d.Field(2), d.Field(0)
	s := engine.New(d)
	s.SetInt64(id, 1)
	s.SetText(user, "somebody")
	s.SetText(method, "something that is done")
	wire := s.Message().AppendTo(nil)
	s.Release()
	receive := map[string]func() engine.Struct{
		"in one piece": func() engine.Struct { return mustParse(t, d, wire) },
		"in blocks": func() engine.Struct {
			var blocks [][]byte
			for i := range wire {
				blocks = append(blocks, wire[i:i+1])
			}
			s, err := engine.ParseBlocks(d, blocks)
			if err != nil {
				t.Fatal(err)
			}
			return s
		},
	}
	for name, receive := range receive {
		t.Run(name, func(t *testing.T) {
			for _, before := range []bool{false, true} {
				s := receive()
				var got []string
				if before {
					got = append(got, s.Text(user), s.Text(method))
				}
				s.SetText(user, "somebody else")
				s.SetText(method, "another thing")
				got = append(got, s.Text(user), s.Text(method))
				want := strings.Join(got, ", ")
				s.Release()
				for range 50 {
					next := receive()
					next.SetText(user, "XXXXXXXX")
					next.SetText(method, strings.Repeat("X", 100))
					next.Message().WriteTo(io.Discard)
					next.Release()
					built := engine.New(d)
					built.SetText(user, strings.Repeat("Y", 100))
					built.Release()
				}
				if now := strings.Join(got, ", "); now != want {
					t.Errorf("%s, read before: %t: %s, was %s", name, before, now, want)
				}
			}
		})
	}
}

// last returns the last value of a sequence.
func last[K, V any](seq func(func(K, V) bool)) any {
	var v V
	for _, x := range seq {
		v = x
	}
	return v
}

// TestNotLent: a message that has returned no strings or bytes needs no new memory, with and
// without Recycle.
func TestNotLent(t *testing.T) {
	if debugging || raceEnabled {
		t.Skip("with nocopydebug every message is a new one, and the race detector's pools lose things on purpose")
	}
	for _, size := range []int{100, 5_000, 50_000, 200_000} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			parts := make([]string, size/100)
			for i := range parts {
				parts[i] = strings.Repeat("x", 90)
			}
			build := func() {
				s := engine.New(businessDesc)
				s.SetTexts(businessDesc.Field(4), businessDesc, parts)
				s.Message().WriteTo(io.Discard)
				s.Release()
			}
			for range 10 {
				build()
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			for range 100 {
				build()
			}
			runtime.ReadMemStats(&after)
			// A collection in between may take the pools' contents.
			if got := int(after.TotalAlloc - before.TotalAlloc); got > 20*size+1<<20 {
				t.Errorf("100 messages of %d bytes allocated %d", size, got)
			}
		})
	}
}

// TestNotLentLinked: linking from a message counts as returning its bytes.
func TestNotLentLinked(t *testing.T) {
	long := bytes.Repeat([]byte("0123456789"), 2_000)
	parts := make([]string, 200)
	for i := range parts {
		parts[i] = string(long[i*100 : i*100+100])
	}
	tags := businessDesc.Field(4)
	s := engine.New(businessDesc)
	s.SetTexts(tags, businessDesc, parts)
	other := engine.New(businessDesc)
	other.SetChild(tags, businessDesc, s.Child(tags, businessDesc))
	want := other.Message().Len()
	s.Release()
	for range 100 {
		next := engine.New(businessDesc)
		next.SetTexts(tags, businessDesc, []string{strings.Repeat("y", 3_900), strings.Repeat("y", 3_900), strings.Repeat("y", 3_900)})
		next.Message().WriteTo(io.Discard)
		next.Release()
	}
	if other.Message().Len() != want || !bytes.Contains(other.Message().Bytes(), long[:100]) || bytes.Contains(other.Message().Bytes(), []byte("yy")) {
		t.Error("what was linked has changed")
	}
}
