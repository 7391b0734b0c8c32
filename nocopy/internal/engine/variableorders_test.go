package engine

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"strconv"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/memory"
	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/index"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// keptInto parses wire into m.
func keptInto(t testing.TB, m *Message, d *schema.Struct, wire []byte, opts ...Option) Struct {
	t.Helper()
	s, err := ParseInto(d, m, wire, opts)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// textWire returns the bytes of a message of allDesc with this text.
func textWire(text string) []byte {
	s := New(allDesc)
	defer s.Release()
	s.SetText(fieldNamed(allDesc, "text"), text)
	return bytes.Clone(s.m.Bytes())
}

// isEmpty fails the test if m is not empty.
func isEmpty(t *testing.T, what string, m *Message) {
	t.Helper()
	panics(t, what+": Root", panicEmpty, func() { m.Root() })
	panics(t, what+": Len", panicEmpty, func() { m.Len() })
	panics(t, what+": WriteTo", panicEmpty, func() { m.WriteTo(io.Discard) })
	m.Release()
	m.Reset()
	m.Reset()
}

// TestVariableOrders: after any operations on a Message variable, in any order, it is empty or
// holds its last contents, and older handles are stale.
func TestVariableOrders(t *testing.T) {
	text := fieldNamed(allDesc, "text")
	steps := []struct {
		name string
		do   func(m *Message) (Struct, string) // absent: m is empty afterwards
	}{
		{"ParseInto", func(m *Message) (Struct, string) {
			return keptInto(t, m, allDesc, textWire("parsed")), "parsed"
		}},
		{"ParseInto, Own and an edit", func(m *Message) (Struct, string) {
			s := keptInto(t, m, allDesc, textWire("owned"), Own)
			s.SetText(text, "edited")
			return s, "edited"
		}},
		{"ParseInto, Lazy and Recycle", func(m *Message) (Struct, string) {
			return keptInto(t, m, allDesc, textWire("lazy"), Lazy, Recycle), "lazy"
		}},
		{"ParseInto, Limits and ValidUTF8", func(m *Message) (Struct, string) {
			return keptInto(t, m, allDesc, textWire("limited"), Limits{MaxBytes: 1000, MaxDepth: 3}, ValidUTF8), "limited"
		}},
		{"ParseInto, WithIndex", func(m *Message) (Struct, string) {
			return keptInto(t, m, allDesc, textWire(longText), WithIndex), longText
		}},
		{"ParseInto, ByIndex", func(m *Message) (Struct, string) {
			return keptInto(t, m, allDesc, Indexed(allDesc, textWire(longText)), ByIndex), longText
		}},
		{"ParseInto of what it holds", func(m *Message) (Struct, string) {
			s := NewInto(allDesc, m, nil)
			s.SetText(text, "its own")
			return keptInto(t, m, allDesc, m.Bytes()), "its own"
		}},
		{"ParseInto of another type", func(m *Message) (Struct, string) {
			keptInto(t, m, pointDesc, []byte{byte(wire.Stop)})
			return keptInto(t, m, allDesc, textWire("the other")), "the other"
		}},
		{"ParseInto of nothing", func(m *Message) (Struct, string) {
			if s, err := ParseInto(allDesc, m, nil, nil); err == nil || s != (Struct{}) {
				t.Errorf("%v, %v", s, err)
			}
			return Struct{}, ""
		}},
		{"ParseInto of too much", func(m *Message) (Struct, string) {
			if s, err := ParseInto(allDesc, m, textWire("x"), []Option{Limits{MaxBytes: 2}}); !errors.Is(err, wire.ErrLimit) || s != (Struct{}) {
				t.Errorf("%v, %v", s, err)
			}
			return Struct{}, ""
		}},
		{"ParseInto of what is no UTF-8", func(m *Message) (Struct, string) {
			if s, err := ParseInto(allDesc, m, textWire("\xff"), []Option{ValidUTF8}); !errors.Is(err, wire.ErrUTF8) || s != (Struct{}) {
				t.Errorf("%v, %v", s, err)
			}
			return Struct{}, ""
		}},
		{"NewInto", func(m *Message) (Struct, string) {
			s := NewInto(allDesc, m, nil)
			s.SetText(text, "built")
			return s, "built"
		}},
		{"NewInto, Recycle", func(m *Message) (Struct, string) {
			s := NewInto(allDesc, m, []Option{Recycle, Limits{MaxDepth: 100}})
			fill(s)
			s.SetText(text, "filled")
			return s, "filled"
		}},
		{"Reset", func(m *Message) (Struct, string) { m.Reset(); return Struct{}, "" }},
		{"Release", func(m *Message) (Struct, string) {
			if m.ix.Used != 0 {
				m.Release()
			}
			return Struct{}, ""
		}},
		{"Release of the root", func(m *Message) (Struct, string) {
			if m.ix.Used != 0 {
				Struct(m.Root()).Release()
			}
			return Struct{}, ""
		}},
	}
	for _, first := range steps {
		t.Run(first.name, func(t *testing.T) {
			for _, second := range steps {
				for i, third := range steps {
					if i%testmode.Of(3, 1) != 0 {
						continue
					}
					m := new(Message)
					isEmpty(t, "zero", m)
					var before Struct
					for _, step := range []int{0, 1, 2} {
						do := [...]func(*Message) (Struct, string){first.do, second.do, third.do}[step]
						s, want := do(m)
						if before != (Struct{}) {
							panics(t, "a handle of before", panicStale, func() { before.Text(text) })
							ignoredTwice(t, "before", before.Release)
						}
						if before = s; s == (Struct{}) {
							isEmpty(t, "after "+second.name+" and "+third.name, m)
							continue
						}
						if got := s.Text(text); got != want || s.Message() != m || Struct(m.Root()) != s {
							t.Fatalf("%s, %s: text %q, want %q", second.name, third.name, got, want)
						}
						if m.limits != usualLimits && m.flags&limited == 0 {
							t.Fatalf("%s, %s: limits of before", second.name, third.name)
						}
						if again := mustParse(t, allDesc, m.AppendTo(nil)); again.Text(text) != want {
							t.Fatalf("%s, %s: is sent as %q, want %q", second.name, third.name, again.Text(text), want)
						}
					}
				}
			}
		})
	}
}

// TestVariableMisuse: other messages can't be used as Message variables, and the attempt does not
// change them.
func TestVariableMisuse(t *testing.T) {
	wire := textWire("x")
	into := map[string]func(m *Message){
		"Reset":     (*Message).Reset,
		"ParseInto": func(m *Message) { ParseInto(allDesc, m, wire, nil) },
		"NewInto":   func(m *Message) { NewInto(allDesc, m, nil) },
	}
	parsed, built := mustParse(t, allDesc, wire), New(allDesc)
	ofCall := NewIn(allDesc, memory.Chunk{}, 0, Limits{}, OfCall)
	var kept Message
	keptInto(t, &kept, allDesc, wire)
	copied := reflect.New(reflect.TypeFor[Message]()) // as go vet would not let us
	copied.Elem().Set(reflect.ValueOf(&kept).Elem())
	copy := copied.Interface().(*Message)
	for name, c := range map[string]struct {
		m    *Message
		want string
	}{
		"nil": {nil, "nocopy: nil instead of a Message"}, "parsed": {parsed.m, panicNotVariable}, "built": {built.m, panicNotVariable},
		"of a call": {ofCall, panicNotVariable}, "absent": {Absent().Message(), panicNotVariable}, "zero handle's": {Struct{}.Message(), panicNotVariable},
		"default":  {New(defaultDesc).Child(fieldNamed(defaultDesc, "point2"), defaultDesc).Message(), panicNotVariable},
		"constant": {NewConst(schema.StructOf(pointDesc), "\x00").View().Message(), panicNotVariable}, "copy": {copy, panicCopied},
	} {
		for what, f := range into {
			panics(t, what+": "+name, c.want, func() { f(c.m) })
		}
	}
	panics(t, "Root of a copy", panicCopied, func() { copy.Root() })
	panics(t, "Release of a copy", panicCopied, copy.Release)
	for _, m := range []*Message{parsed.m, built.m, ofCall, &kept} {
		if m.Root(); m.Len() == 0 {
			t.Error("misuse has changed a message")
		}
	}
	if _, ok := reflect.TypeFor[*Message]().Elem().FieldByName("claims"); !ok {
		t.Error("without an atomic type go vet does not find copies")
	}
	parsed.Release()
	panics(t, "Reset of a released message", panicNotVariable, parsed.m.Reset)
}

// TestLargestIsNotKept: the memory that an unusual message needs besides its bytes and its index
// is given up with it, or after some usual ones.
func TestLargestIsNotKept(t *testing.T) {
	const most = 256 << 10
	nested := schema.NewStruct("Nested") // a wide one
	fields := []schema.FieldDesc{{ID: 3000, Name: "deeper", Type: schema.StructOf(nested), Req: schema.Optional}}
	for i := range int16(2000) {
		fields = append(fields, schema.FieldDesc{ID: i + 1, Name: strconv.Itoa(int(i)), Type: schema.TypeBool, Req: schema.Optional})
	}
	nested.DefineWide(fields...)
	var deep []byte
	for range 60 {
		for i := 2000; i > 0; i-- {
			deep = append(deep, byte(wire.Bool), byte(i>>8), byte(i), 1)
		}
		deep = append(deep, byte(wire.Struct), 3000>>8, 3000&0xff)
	}
	for name, fill := range map[string]func(m *Message){
		"fields of wide structs": func(m *Message) { ParseInto(nested, m, append(deep, make([]byte, 61)...), nil) },
		"wide structs, cut off":  func(m *Message) { ParseInto(nested, m, deep, nil) },
		"handouts": func(m *Message) {
			kids := StructList[Struct](NewInto(allDesc, m, nil).NewChild(fieldNamed(allDesc, "children"), allDesc, 20_000))
			for _, kid := range kids.All() {
				kid.NewBytes(fieldNamed(allDesc, "blob"), 1)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			var m Message
			fill(&m)
			for range 2 * index.KeepLarge {
				keptInto(t, &m, allDesc, textWire("small"))
				m.Reset()
			}
			eachSlice(reflect.ValueOf(&m).Elem(), "Message", func(path string, v reflect.Value) {
				n := v.Cap() * int(v.Type().Elem().Size())
				if n > most && path != "Message.buf.tail" { // a block is kept there
					t.Errorf("%s keeps %d bytes", path, n)
				}
			})
		})
	}
}

// eachSlice calls f with every slice in the fields of a struct.
func eachSlice(v reflect.Value, path string, f func(path string, v reflect.Value)) {
	switch v.Kind() {
	case reflect.Slice:
		f(path, v)
	case reflect.Struct:
		for i := range v.NumField() {
			eachSlice(v.Field(i), path+"."+v.Type().Field(i).Name, f)
		}
	}
}
