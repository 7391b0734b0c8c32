package parse_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/entry"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/render"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// optionDesc describes messages for tests of options: with a text, and fields that Lazy leaves for
// later.
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
func fillOptioned(s engine.Struct, pad string) {
	d := optionDesc
	in := d.Fields()[1].Type.Struct()
	part := engine.New(in)
	l := nocopy.StringList(part.NewChild(in.Field(1), in, 0))
	for range 300 {
		l.Append("x")
	}
	nocopy.StringMap(part.NewChild(in.Field(2), in, 0)).AppendNew()
	s.SetText(d.Field(0), pad)
	s.SetChild(d.Field(1), d, part)
	nocopy.StructList[engine.Struct](s.NewChild(d.Field(2), d, 0)).Append(part)
	s.SetTexts(d.Field(3), d, []string{"a", "b"})
}

// changeOptioned changes an Optioned in ways that differ for parts that are not indexed: it links
// parts of other messages, adds elements and sets texts.
func changeOptioned(s engine.Struct) {
	d := optionDesc
	other := engine.New(d)
	fillOptioned(other, "other")
	in := other.Child(d.Field(1), d)
	ins := nocopy.StructList[engine.Struct](s.Child(d.Field(2), d))
	ins.Append(in)
	s.SetChild(d.Field(1), d, ins.At(0))
	s.SetTexts(d.Field(3), d, []string{"c"})
	s.SetText(d.Field(0), "changed")
	nocopy.StructList[engine.Struct](s.NewChild(d.Field(2), d, 0)).Append(in)
}

// maker is a way in which a message is made with options.
type maker struct {
	name   string
	parses bool
	make   func(wire []byte, opts []engine.Option) (engine.Struct, error)
}

var makers = []maker{
	{"New", false, func(_ []byte, opts []engine.Option) (engine.Struct, error) {
		return engine.New(optionDesc, opts...), nil
	}},
	{"NewInto", false, func(_ []byte, opts []engine.Option) (engine.Struct, error) {
		return engine.NewInto(optionDesc, new(engine.Message), opts), nil
	}},
	{"NewXOf", false, func(_ []byte, opts []engine.Option) (engine.Struct, error) {
		var x engine.Draft
		return x.Root(copy(x.New(optionDesc, opts...), schema.AppendZero(nil, optionDesc.Type()))), nil
	}},
	{"Parse", true, func(wire []byte, opts []engine.Option) (engine.Struct, error) {
		return engine.Parse(optionDesc, wire, opts...)
	}},
	{"ParseInto", true, func(wire []byte, opts []engine.Option) (engine.Struct, error) {
		return engine.ParseInto(optionDesc, new(engine.Message), wire, opts)
	}},
	{"ParseBlocks", true, func(wire []byte, opts []engine.Option) (engine.Struct, error) {
		return engine.ParseBlocks(optionDesc, [][]byte{wire[:1000], wire[1000:]}, opts...)
	}},
	{"Read", true, func(wire []byte, opts []engine.Option) (engine.Struct, error) {
		return engine.Read(optionDesc, bytes.NewReader(wire), len(wire), opts...)
	}},
	{"Decoder", true, func(wire []byte, opts []engine.Option) (engine.Struct, error) {
		d := nocopy.NewDecoder[optionView](bytes.NewReader(wire), opts...)
		s, err := d.Next()
		return engine.Struct(s), err
	}},
	{"FrameDecoder", true, func(data []byte, opts []engine.Option) (engine.Struct, error) {
		frame := append(wire.AppendBE32(nil, uint32(len(data))), data...)
		d := nocopy.NewFrameDecoder[optionView](bytes.NewReader(frame), opts...)
		s, err := d.Next()
		return engine.Struct(s), err
	}},
	{"OpenIndexed", true, func(wire []byte, opts []engine.Option) (engine.Struct, error) {
		return engine.OpenIndexed(optionDesc, wire, opts...)
	}},
}

// TestNoOptions: a pointer to an option and a struct that embeds one have its methods, and the
// compiler accepts them as options. All functions refuse them. A nil option has no effect.
func TestNoOptions(t *testing.T) {
	source := engine.New(optionDesc)
	fillOptioned(source, strings.Repeat("p", 5000))
	lazy := engine.Lazy
	for _, made := range makers {
		for name, o := range map[string]engine.Option{
			"pointer to Limits": &engine.Limits{MaxBytes: 1000}, "nil pointer": (*engine.Limits)(nil), "pointer to Lazy": &lazy,
			"embedded": struct{ engine.Limits }{engine.Limits{MaxBytes: 1000}}, "nil": nil,
			"of JSON": engine.JSONOption(1),
		} {
			func() {
				defer func() {
					text := fmt.Sprint(recover())
					want := "nocopy: an Option is a pointer"
					switch name {
					case "nil":
						want = fmt.Sprint(nil)
					case "of JSON":
						want = "nocopy: an option of package nocopyjson given to a function that reads no JSON"
					}
					if !strings.HasPrefix(text, want) {
						t.Errorf("%s, %s: %s", made.name, name, text)
					}
				}()
				s, err := made.make(source.Message().Bytes(), []engine.Option{engine.Recycle, o})
				if err != nil {
					t.Errorf("%s, %s: %v", made.name, name, err)
				}
				s.Message().Release()
			}()
		}
	}
}

// TestOptions: every option and every pair of options has the effect that the options' comments
// describe, in all functions that make messages.
func TestOptions(t *testing.T) {
	type option struct {
		name string
		engine.Option
	}
	options := []option{{"Lazy", engine.Lazy}, {"Own", engine.Own}, {"Recycle", engine.Recycle}, {"ValidUTF8", engine.ValidUTF8}, {"WithIndex", engine.WithIndex},
		{"ByIndex", engine.ByIndex}, {"RequireIndex", engine.RequireIndex}, {"Limits", engine.Limits{MaxDepth: 100}}, {"too small Limits", engine.Limits{MaxBytes: 1000}}}
	pairs := [][]option{{}}
	for i, a := range options {
		pairs = append(pairs, []option{a})
		for _, b := range options[:i] {
			pairs = append(pairs, []option{a, b})
		}
	}
	source := func(pad string, opts ...engine.Option) []byte {
		s := engine.New(optionDesc, opts...)
		fillOptioned(s, pad)
		return s.Message().AppendTo(nil)
	}
	sources := map[string][]byte{
		"plain":      source(strings.Repeat("p", 5000)),
		"with index": source(strings.Repeat("p", 5000), engine.WithIndex),
		"bad UTF-8":  source("\xff" + strings.Repeat("p", 5000)),
	}
	for _, made := range makers {
		for from, wire := range sources {
			if !made.parses && from != "plain" {
				continue
			}
			for _, pair := range pairs {
				has := func(o engine.Option) bool {
					return slices.ContainsFunc(pair, func(p option) bool { return p.Option == o })
				}
				var opts []engine.Option
				for _, o := range pair {
					opts = append(opts, o.Option)
				}
				t.Run(fmt.Sprint(made.name, "/", from, "/", opts), func(t *testing.T) {
					var want error // what Parse refuses; New nothing
					switch {
					case !made.parses:
					case has(options[8].Option):
						want = nocopy.ErrLimit
					case has(engine.RequireIndex) && !has(engine.WithIndex) && from != "with index":
						want = nocopy.ErrIndex
					case has(engine.ValidUTF8) && from == "bad UTF-8":
						want = nocopy.ErrUTF8
					}
					s, err := made.make(bytes.Clone(wire), opts)
					if !errors.Is(err, want) || want != nil && s != (engine.Struct{}) {
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
						sent := s.Message().AppendTo(nil)
						if err := engine.CheckSentIndex(optionDesc, sent, indexed); err != nil {
							t.Fatalf("%s: %v", what, err)
						}
						if got := withoutIndexField(t, sent); !bytes.Equal(got, plain) && render.Text(s, optionDesc) != mustFormat(t, plain) {
							t.Fatalf("%s: sent is\n%x\nnot\n%x", what, got, plain)
						}
					}
					check("as it is", has(engine.WithIndex) || from == "with index", plain)
					if err := s.Message().Index(); err != nil {
						t.Fatal(err)
					}
					check("after Index", has(engine.WithIndex) || from == "with index", plain)
					changeOptioned(s)
					again := engine.New(optionDesc)
					fillOptioned(again, "p")
					changeOptioned(again)
					check("changed", false, again.Message().AppendTo(nil))
					s.SetText(optionDesc.Field(0), strings.Repeat("q", 6000))
					again.SetText(optionDesc.Field(0), strings.Repeat("q", 6000))
					check("changed again", has(engine.WithIndex), again.Message().AppendTo(nil))
					s.Release()
				})
			}
		}
	}
}

func mustFormat(t *testing.T, wire []byte) string {
	t.Helper()
	s, err := engine.Parse(optionDesc, wire)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Release()
	return render.Text(s, optionDesc)
}

// withoutIndexField returns a message without its index.
func withoutIndexField(t *testing.T, wire []byte) []byte {
	t.Helper()
	s, err := engine.Parse(optionDesc, bytes.Clone(wire))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Release()
	s.RemoveFields(entry.IndexID)
	return s.Message().AppendTo(nil)
}

// optionView is the Go type of handles of structs that optionDesc describes.
type optionView engine.Struct

func (optionView) ThriftDesc() *schema.Struct { return optionDesc }
