// Messages for tests, the operations on them, and functions that check for panics.

package engine_test

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/entry"
	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

func mustParse(t testing.TB, d *schema.Struct, wire []byte, opts ...engine.Option) engine.Struct {
	t.Helper()
	s, err := engine.Parse(d, wire, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// panics calls f, which must panic with the text.
func panics(t *testing.T, what, text string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		got := recover()
		if text == panicAbsent && strings.Contains(fmt.Sprint(got), setterOnAbsent) {
			return // it may name the field
		}
		if text == panicStale && isStale(got) {
			return // it may name the type
		}
		if got != text {
			t.Errorf("%s: panic with %v, want %q", what, got, text)
		}
	}()
	f()
}

// isStale reports whether v is the panic of a use after Release that names the message's type.
func isStale(v any) bool {
	const text = `^nocopy: (part of )?\w+ used after Release(\z| \(build with |; (made|released) at\n)`
	return regexp.MustCompile(text).MatchString(fmt.Sprint(v))
}

// ignoredTwice calls a Release that is not the first. It must do nothing; with the tag nocopydebug
// it must panic.
func ignoredTwice(t *testing.T, what string, release func()) {
	t.Helper()
	if debugging {
		panics(t, what+": a second Release", panicTwice, release)
		return
	}
	release()
}

// panicsWith runs f, which must panic with a text that begins with begins.
func panicsWith(t *testing.T, begins string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if got := fmt.Sprint(recover()); !strings.HasPrefix(got, begins) {
			t.Errorf("the panic is %q", got)
		}
	}()
	f()
}

var cloned = way{"cloned", func(d *schema.Struct, wire []byte, opts ...engine.Option) (engine.Struct, error) {
	s, err := engine.Parse(d, wire, opts...)
	if err != nil {
		return s, err
	}
	defer s.Release()
	return s.Clone(d), nil
}}

// soakWires returns messages of 1 KiB, 2 KiB, 4 KiB and so on up to 8 MiB; in the short form of 1,
// 16 and 256 KiB.
func soakWires() [][]byte {
	var wires [][]byte
	for octave := 0; octave < testmode.Of(11, 14); octave += testmode.Of(4, 1) {
		n := 1 << (10 + octave)
		s := engine.New(allDesc)
		s.SetText(fieldNamed(allDesc, "text"), strings.Repeat("t", n/8))
		s.SetInt64s(fieldNamed(allDesc, "numbers"), allDesc, make([]int64, n/18))
		words := nocopy.StringList(s.NewChild(fieldNamed(allDesc, "words"), allDesc, n/128))
		for i := range n / 128 {
			words.Set(i, "some words of text")
		}
		points := nocopy.StructList[engine.Struct](s.NewChild(fieldNamed(allDesc, "points"), allDesc, n/64))
		for i := range n / 64 {
			points.At(i).SetInt32(fieldNamed(pointDesc, "x"), int32(i))
		}
		wires = append(wires, bytes.Clone(s.Message().Bytes()))
		s.Release()
	}
	return wires
}

// define completes a descriptor, that of a wide struct if it has enough fields, as
// thriftimpl.Define does.
func define(d *schema.Struct, fields []schema.FieldDesc) {
	if len(fields) > entry.MaxDirect {
		d.DefineWide(fields...)
		return
	}
	d.Define(fields...)
}

// optionsOf returns the options that are chosen.
func optionsOf(recycle, lazy bool) (f engine.Flags) {
	if recycle {
		f |= engine.Recycle
	}
	if lazy {
		f |= engine.Lazy
	}
	return f
}
