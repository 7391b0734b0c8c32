package engine

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/entry"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// optionDesc describes messages for tests of options: with a text, and what Lazy leaves for later.
var optionDesc = func() *schema.Struct {
	in, d := schema.NewStruct("In"), schema.NewStruct("Optioned")
	in.Define(
		schema.FieldDesc{ID: 1, Name: "a", Type: schema.TypeI32},
		schema.FieldDesc{ID: 2, Name: "l", Type: schema.ListOf(schema.TypeString)},
		schema.FieldDesc{ID: 3, Name: "m", Type: schema.MapOf(schema.TypeString, schema.TypeI64)},
	)
	d.Define(
		schema.FieldDesc{ID: 1, Name: "pad", Type: schema.TypeString},
		schema.FieldDesc{ID: 2, Name: "in", Type: schema.StructOf(in)},
		schema.FieldDesc{ID: 3, Name: "ins", Type: schema.ListOf(schema.StructOf(in))},
		schema.FieldDesc{ID: 4, Name: "strs", Type: schema.ListOf(schema.TypeString), Req: schema.Required},
	)
	return d
}()

// fillOptioned sets all fields of an Optioned, some to parts of other messages.
func fillOptioned(s Struct, pad string) {
	d := optionDesc
	in := d.Fields()[1].Type.Struct()
	part := New(in)
	l := StringList(part.NewChild(in.Field(1), in, 0))
	for range 300 {
		l.Append("x")
	}
	StringMap(part.NewChild(in.Field(2), in, 0)).AppendNew()
	s.SetText(d.Field(0), pad)
	s.SetChild(d.Field(1), d, part)
	StructList[Struct](s.NewChild(d.Field(2), d, 0)).Append(part)
	s.SetTexts(d.Field(3), d, []string{"a", "b"})
}

// changeOptioned changes an Optioned in ways that differ for what was not indexed: it grafts parts
// of other messages, adds elements and sets texts.
func changeOptioned(s Struct) {
	d := optionDesc
	other := New(d)
	fillOptioned(other, "other")
	in := other.Child(d.Field(1), d)
	ins := StructList[Struct](s.Child(d.Field(2), d))
	ins.Append(in)
	s.SetChild(d.Field(1), d, ins.At(0))
	s.SetTexts(d.Field(3), d, []string{"c"})
	s.SetText(d.Field(0), "changed")
	StructList[Struct](s.NewChild(d.Field(2), d, 0)).Append(in)
}

// maker is a way in which a message is made with options.
type maker struct {
	name   string
	parses bool
	make   func(wire []byte, opts []Option) (Struct, error)
}

var makers = []maker{
	{"New", false, func(_ []byte, opts []Option) (Struct, error) { return New(optionDesc, opts...), nil }},
	{"NewInto", false, func(_ []byte, opts []Option) (Struct, error) {
		return NewInto(optionDesc, new(Message), opts), nil
	}},
	{"NewXOf", false, func(_ []byte, opts []Option) (Struct, error) {
		var x Draft
		return x.Root(copy(x.New(optionDesc, opts...), schema.AppendZero(nil, optionDesc.Type()))), nil
	}},
	{"Parse", true, func(wire []byte, opts []Option) (Struct, error) { return Parse(optionDesc, wire, opts...) }},
	{"ParseInto", true, func(wire []byte, opts []Option) (Struct, error) {
		return ParseInto(optionDesc, new(Message), wire, opts)
	}},
	{"ParseBlocks", true, func(wire []byte, opts []Option) (Struct, error) {
		return ParseBlocks(optionDesc, [][]byte{wire[:1000], wire[1000:]}, opts...)
	}},
	{"Read", true, func(wire []byte, opts []Option) (Struct, error) {
		return Read(optionDesc, bytes.NewReader(wire), len(wire), opts...)
	}},
	{"Decoder", true, func(wire []byte, opts []Option) (Struct, error) {
		d := NewDecoder(optionDesc, bytes.NewReader(wire), false, opts)
		s, err := d.Next()
		return s, err
	}},
	{"FrameDecoder", true, func(data []byte, opts []Option) (Struct, error) {
		frame := append(wire.AppendBE32(nil, uint32(len(data))), data...)
		d := NewDecoder(optionDesc, bytes.NewReader(frame), true, opts)
		s, err := d.Next()
		return s, err
	}},
	{"OpenIndexed", true, func(wire []byte, opts []Option) (Struct, error) {
		return OpenIndexed(optionDesc, wire, opts...)
	}},
}

// TestOptions: every option and every pair of options, for everything that makes
// messages, has the outcome that the options' comments tell.
func TestOptions(t *testing.T) {
	type option struct {
		name string
		Option
	}
	options := []option{{"Lazy", Lazy}, {"Own", Own}, {"Recycle", Recycle}, {"ValidUTF8", ValidUTF8}, {"WithIndex", WithIndex},
		{"ByIndex", ByIndex}, {"RequireIndex", RequireIndex}, {"Limits", Limits{MaxDepth: 100}}, {"too small Limits", Limits{MaxBytes: 1000}}}
	pairs := [][]option{{}}
	for i, a := range options {
		pairs = append(pairs, []option{a})
		for _, b := range options[:i] {
			pairs = append(pairs, []option{a, b})
		}
	}
	source := func(pad string, opts ...Option) []byte {
		s := New(optionDesc, opts...)
		fillOptioned(s, pad)
		return s.m.AppendTo(nil)
	}
	sources := map[string][]byte{
		"plain":      source(strings.Repeat("p", 5000)),
		"with index": source(strings.Repeat("p", 5000), WithIndex),
		"bad UTF-8":  source("\xff" + strings.Repeat("p", 5000)),
	}
	for _, made := range makers {
		for from, wire := range sources {
			if !made.parses && from != "plain" {
				continue
			}
			for _, pair := range pairs {
				has := func(o Option) bool {
					return slices.ContainsFunc(pair, func(p option) bool { return p.Option == o })
				}
				var opts []Option
				for _, o := range pair {
					opts = append(opts, o.Option)
				}
				t.Run(fmt.Sprint(made.name, "/", from, "/", opts), func(t *testing.T) {
					var want error // what Parse refuses; New nothing
					switch {
					case !made.parses:
					case has(options[8].Option):
						want = ErrLimit
					case has(RequireIndex) && !has(WithIndex) && from != "with index":
						want = ErrIndex
					case has(ValidUTF8) && from == "bad UTF-8":
						want = ErrUTF8
					}
					s, err := made.make(bytes.Clone(wire), opts)
					if !errors.Is(err, want) || want != nil && s.m != nil {
						t.Fatalf("%v, not %v", err, want)
					}
					if err != nil {
						return
					}
					pad := "p"
					if !made.parses {
						fillOptioned(s, strings.Repeat(pad, 5000))
					}
					plain := sources["plain"]
					if from == "bad UTF-8" {
						plain = wire
					}
					check := func(what string, indexed bool, plain []byte) {
						t.Helper()
						sent := s.m.AppendTo(nil)
						if err := CheckSentIndex(optionDesc, sent, indexed); err != nil {
							t.Fatalf("%s: %v", what, err)
						}
						if got := withoutIndexField(t, sent); !bytes.Equal(got, plain) && s.Format(optionDesc) != mustFormat(t, plain) {
							t.Fatalf("%s: sent is\n%x\nnot\n%x", what, got, plain)
						}
					}
					check("as it is", has(WithIndex) || from == "with index", plain)
					if err := s.m.Index(); err != nil {
						t.Fatal(err)
					}
					check("after Index", has(WithIndex) || from == "with index", plain)
					changeOptioned(s)
					again := New(optionDesc)
					fillOptioned(again, "p")
					changeOptioned(again)
					check("changed", false, again.m.AppendTo(nil))
					s.SetText(optionDesc.Field(0), strings.Repeat("q", 6000))
					again.SetText(optionDesc.Field(0), strings.Repeat("q", 6000))
					check("changed again", has(WithIndex), again.m.AppendTo(nil))
					s.Release()
				})
			}
		}
	}
}

func mustFormat(t *testing.T, wire []byte) string {
	t.Helper()
	s, err := Parse(optionDesc, wire)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Release()
	return s.Format(optionDesc)
}

// withoutIndexField returns a message without its index.
func withoutIndexField(t *testing.T, wire []byte) []byte {
	t.Helper()
	s, err := Parse(optionDesc, bytes.Clone(wire))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Release()
	s.RemoveFields(entry.IndexID)
	return s.m.AppendTo(nil)
}
