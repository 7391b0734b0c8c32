package nocopyjson_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"math/rand/v2"
	"regexp"
	"slices"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/render"
	"github.com/nocopythrift/nocopythrift/nocopy/nocopyjson"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/referee"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// roundTrip writes a message as JSON, compares the text with the values, and reads it again.
func roundTrip(t *testing.T, sc *schema, rec *referee.Record) {
	t.Helper()
	wire := referee.Write(rec, nil)
	d := sc.descs[rec.Type]
	s, err := thriftimpl.Parse(d, wire)
	if err != nil {
		t.Fatalf("%x: %v", wire, err)
	}
	text, err := nocopyjson.Marshal(message{s, d})
	if err != nil {
		if !errors.Is(err, nocopy.ErrUTF8) && !bytes.Contains(wire, []byte{0x7f, 0xf8}) && !bytes.Contains(wire, []byte{0xff, 0xf8}) {
			t.Fatalf("%s\n%v", hex.Dump(wire), err)
		}
		return
	}
	if err := compare(text, rec); err != nil {
		t.Fatalf("%s\n%v", text, err)
	}
	again, err := nocopyjson.UnmarshalAs(d, text)
	if err != nil {
		t.Fatalf("%s\n%v", text, err)
	}
	if twoNaNs.Match(text) {
		return // in a set, they are one once they were text
	}
	if got, want := again.StringAs(d), render.Text(s, d); got != want {
		t.Fatalf("%s\nis read as\n%s\nnot\n%s", text, got, want)
	}
	if second, err := nocopyjson.Marshal(message{thriftimpl.Struct(again), d}); err != nil || !bytes.Equal(second, text) {
		t.Fatalf("%s\nis then written as\n%s %v", text, second, err)
	}
	for _, opts := range [][]nocopy.Option{
		{nocopyjson.Int64Strings}, {nocopyjson.ZeroValues}, {nocopyjson.Int64Strings, nocopyjson.ZeroValues, nocopy.Recycle},
	} {
		text, err := nocopyjson.Marshal(message{s, d}, opts...)
		if err != nil && !errors.Is(err, nocopy.ErrUTF8) { // caused by a default
			t.Fatal(err)
		}
		if err != nil {
			continue
		}
		if _, err := nocopyjson.UnmarshalAs(d, text, opts...); err != nil {
			t.Fatalf("%s\n%v", text, err)
		}
	}
}

// twoNaNs matches a list or set with two of them, which may have been of different bits.
var twoNaNs = regexp.MustCompile(`\[[^\[\]]*"NaN"[^\[\]]*"NaN"`)

type seeded struct{ *rand.Rand }

func (s seeded) Intn(n int) int { return s.IntN(n) }

// TestRandom: messages of random types are the same after a round trip, and jsontext reads the
// right values from their text.
func TestRandom(t *testing.T) {
	seed := testmode.Seed(t)
	for i := range testmode.Of(150, 1200) {
		g := &referee.Gen{Choices: seeded{rand.New(rand.NewPCG(seed, uint64(i)))}}
		structs := g.Structs(1 + g.Intn(5))
		sc := newSchema(structs)
		for range 5 {
			roundTrip(t, sc, g.Record(structs[0], 5))
		}
	}
	everything := referee.Everything()
	sc := newSchema(everything)
	for i := range testmode.Of(50, 500) {
		g := &referee.Gen{Choices: seeded{rand.New(rand.NewPCG(seed, uint64(1000+i)))}}
		roundTrip(t, sc, g.Record(everything[i%4%len(everything)], 6))
	}
}

// FuzzRoundTrip is TestRandom with types and values that the fuzzer chooses.
func FuzzRoundTrip(f *testing.F) {
	for i := range 20 {
		b := make([]byte, 400)
		rand.NewChaCha8([32]byte{byte(i)}).Read(b)
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		c := choices(b)
		g := &referee.Gen{Choices: &c}
		structs := g.Structs(1 + g.Intn(4))
		sc := newSchema(structs)
		for range 3 {
			roundTrip(t, sc, g.Record(structs[0], 4))
		}
	})
}

// FuzzRead reads any text as a message of every type. Accepted messages are the same after a round
// trip.
func FuzzRead(f *testing.F) {
	everything := referee.Everything()
	sc := newSchema(everything)
	d := sc.descs[everything[0]]
	for i := range 300 {
		g := &referee.Gen{Choices: seeded{rand.New(rand.NewPCG(1, uint64(i)))}}
		s, err := thriftimpl.Parse(d, referee.Write(g.Record(everything[0], 1+i%2), nil))
		if err != nil {
			f.Fatal(err)
		}
		if text, err := nocopyjson.Marshal(message{s, d}); err == nil {
			f.Add(text)
		}
	}
	for _, text := range []string{`{"f1":1}`, `{"f43":{"x":{"name":"` + `\u00e9` + `"}}}`, `{"f6":1e0,"f11":-0.0E+0}`, `{"f1":null}`, `{"f31":"NaN"}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		checkRead(t, d, text, false)
		checkRead(t, d, text, true)
	})
}

// checkByTokenizer compares the result of reading text with and without AllowUnknown with the
// result when the tokenizer reads all of it. Two unknown names make the tokenizer do that.
func checkByTokenizer(t *testing.T, d *thriftimpl.Desc, text []byte, s nocopy.Struct, err error) {
	inside, is := bytes.CutPrefix(bytes.TrimLeft(text, " \t\r\n"), []byte("{"))
	if !is || errors.Is(err, nocopyjson.ErrUnknownField) {
		return
	}
	const unknown = `{"\u0000a":0,"\u0000b":0`
	comma := ","
	if bytes.HasPrefix(bytes.TrimLeft(inside, " \t\r\n"), []byte("}")) {
		comma = ""
	}
	longer := slices.Concat([]byte(unknown), []byte(comma), inside)
	want, wantErr := nocopyjson.UnmarshalAs(d, longer, nocopy.Limits{MaxBytes: 1<<16 + len(longer) - len(text), MaxDepth: 10}, nocopyjson.AllowUnknown)
	if (err == nil) != (wantErr == nil) {
		t.Fatalf("%q: %v, by the tokenizer %v", text, err, wantErr)
	}
	if err == nil && !bytes.Equal(s.Message().Bytes(), want.Message().Bytes()) {
		t.Fatalf("%q: %x, by the tokenizer %x", text, s.Message().Bytes(), want.Message().Bytes())
	}
}

func checkRead(t *testing.T, d *thriftimpl.Desc, text []byte, unknown bool) {
	opts := []nocopy.Option{nocopy.Limits{MaxBytes: 1 << 16, MaxDepth: 10}}
	if unknown {
		opts = append(opts, nocopyjson.AllowUnknown)
	}
	before := bytes.Clone(text)
	s, err := nocopyjson.UnmarshalAs(d, text, opts...)
	if !bytes.Equal(before, text) {
		t.Fatal("the text was changed")
	}
	checkByTokenizer(t, d, text, s, err)
	if err != nil {
		var bad *nocopy.Error
		if !errors.As(err, &bad) || bad.Offset < 0 || bad.Offset > len(text) || bad.Path == "" || bad.Err == nil {
			t.Fatalf("%q: %v", text, err)
		}
		if s.Valid() {
			t.Fatalf("%q: a message with an error", text)
		}
		return
	}
	first, err := nocopyjson.Marshal(message{thriftimpl.Struct(s), d})
	if err != nil {
		if bytes.Contains(text, []byte("NaN")) {
			return // two keys
		}
		t.Fatalf("%q: %v", text, err)
	}
	again, err := nocopyjson.UnmarshalAs(d, first)
	if err != nil {
		t.Fatalf("%q is written as %q: %v", text, first, err)
	}
	if second, err := nocopyjson.Marshal(message{thriftimpl.Struct(again), d}); err != nil || !bytes.Equal(first, second) {
		t.Fatalf("%q\nis written as\n%s\nthen as\n%s\n%v", text, first, second, err)
	}
}
