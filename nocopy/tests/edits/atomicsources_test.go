package edits_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/memory"
	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/parse"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// partDesc describes a struct that may contain itself everywhere, has a required field, and a
// number of further fields. u is the type of its union.
type partDesc struct{ d, u *schema.Struct }

func newPartDesc(name string, more int) partDesc {
	d, u := schema.NewStruct(name), schema.NewUnion(name+"U")
	own := schema.StructOf(d)
	u.Define(schema.FieldDesc{ID: 1, Name: "n", Type: own, Req: schema.Optional}, schema.FieldDesc{ID: 2, Name: "t", Type: schema.TypeString, Req: schema.Optional},
		schema.FieldDesc{ID: 3, Name: "l", Type: schema.ListOf(own), Req: schema.Optional})
	fields := []schema.FieldDesc{
		{ID: 1, Name: "t", Type: schema.TypeString, Req: schema.Required}, {ID: 2, Name: "kid", Type: own, Req: schema.Optional},
		{ID: 3, Name: "kids", Type: schema.ListOf(own), Req: schema.Optional}, {ID: 4, Name: "named", Type: schema.MapOf(schema.TypeString, own), Req: schema.Optional},
		{ID: 5, Name: "u", Type: schema.StructOf(u), Req: schema.Optional}, {ID: 6, Name: "keyed", Type: schema.MapOf(own, schema.TypeString), Req: schema.Optional},
		{ID: 7, Name: "lists", Type: schema.ListOf(schema.ListOf(own)), Req: schema.Optional},
		{ID: 8, Name: "lately", Type: schema.MapOf(schema.TypeString, schema.ListOf(own)), Req: schema.Optional},
	}
	for i := range more {
		fields = append(fields, schema.FieldDesc{ID: int16(20 + i), Name: "x" + itoa(i), Type: schema.TypeI32, Req: schema.Optional})
	}
	define(d, fields)
	return partDesc{d, u}
}

func (p partDesc) child(s engine.Struct, field string) engine.Struct {
	return s.Child(fieldNamed(p.d, field), p.d)
}

func (p partDesc) set(s engine.Struct, field string, v engine.Struct) {
	s.SetChild(fieldNamed(p.d, field), p.d, v)
}

func (p partDesc) create(s engine.Struct, field string, n int) engine.Struct {
	return s.NewChild(fieldNamed(p.d, field), p.d, n)
}

type (
	partMap    = nocopy.StructMap[string, engine.Struct, engine.AsString]
	partKeys   = nocopy.Map[engine.Struct, string, engine.AsView[engine.Struct], engine.AsString]
	partLists  = nocopy.NestedList[nocopy.StructList[engine.Struct]]
	partNested = nocopy.NestedMap[string, nocopy.StructList[engine.Struct], engine.AsString]
)

// small returns a message that is being built, with a text.
func (p partDesc) small(text string) engine.Struct {
	s := engine.New(p.d)
	s.SetText(fieldNamed(p.d, "t"), text)
	return s
}

// full returns a message that is being built, with something in all fields, and the given arm in
// u.
func (p partDesc) full(text, arm string) engine.Struct {
	s := p.small(text)
	last := p.d.Field(len(p.d.Fields()) - 1)
	if len(p.d.Fields()) > 8 {
		s.SetInt32(last, 7)
	}
	p.create(s, "kid", 0).SetText(fieldNamed(p.d, "t"), "kid")
	kids := nocopy.StructList[engine.Struct](p.create(s, "kids", 2))
	kids.At(0).SetText(fieldNamed(p.d, "t"), "first")
	p.create(kids.At(1), "kid", 0).SetText(fieldNamed(p.d, "t"), "inner")
	partMap(p.create(s, "named", 0)).PutNew("k").SetText(fieldNamed(p.d, "t"), "named")
	if arm != "no union" {
		u := p.create(s, "u", 0)
		switch arm {
		case "n":
			u.NewValue(fieldNamed(p.u, "n"), p.u, 0)
		case "t":
			u.SetValue(fieldNamed(p.u, "t"), p.u, engine.ValueOfBytes(schema.TypeString, []byte("arm")))
		case "l":
			u.NewValue(fieldNamed(p.u, "l"), p.u, 2)
		}
	}
	partKeys(p.create(s, "keyed", 0)).Put(p.small("key"), "v")
	partLists(p.create(s, "lists", 0)).AppendNew(1)
	partNested(p.create(s, "lately", 0)).PutNew("k", 1)
	return s
}

func (p partDesc) parsed(wire []byte, opts ...engine.Option) engine.Struct {
	s, err := engine.Parse(p.d, wire, opts...)
	if err != nil {
		panic(err)
	}
	return s
}

// wireWithArm returns the wire bytes of a full message; with "unknown" its union has an arm that
// the IDL does not have.
func (p partDesc) wireWithArm(text, arm string) []byte {
	if arm != "unknown" {
		return p.full(text, arm).Message().AppendTo(nil)
	}
	s := p.full(text, "t")
	wire := string(s.Message().AppendTo(nil))
	known := string(appendHeader(nil, fieldNamed(p.u, "t").Header())) + be(3) + "arm"
	at := strings.Index(wire, known)
	return []byte(wire[:at] + "\x0b\x00\x09" + be(3) + "new" + wire[at+len(known):])
}

func appendHeader(b []byte, header uint32) []byte {
	return append(b, byte(header>>16), byte(header>>8), byte(header))
}

// targets are the states of the message in which something is set.
func (p partDesc) targets(arm string) map[string]func() engine.Struct {
	wire := p.wireWithArm("target", arm)
	indexed := engine.Indexed(p.d, wire)
	all := map[string]func() engine.Struct{
		"parsed":   func() engine.Struct { return p.parsed(slices.Clone(wire)) },
		"lazy":     func() engine.Struct { return p.parsed(slices.Clone(wire), engine.Lazy) },
		"owned":    func() engine.Struct { return p.parsed(slices.Clone(wire), engine.Own, engine.Recycle) },
		"by index": func() engine.Struct { return p.parsed(slices.Clone(indexed), engine.ByIndex, engine.AnySize) },
		"compacted": func() engine.Struct {
			s := p.parsed(slices.Clone(wire))
			p.create(s, "kid", 0).SetText(fieldNamed(p.d, "t"), "anew")
			s.Message().Compact()
			return s
		},
		"edited": func() engine.Struct {
			s := p.parsed(slices.Clone(wire))
			p.create(s, "kid", 0).SetText(fieldNamed(p.d, "t"), "anew")
			nocopy.StructList[engine.Struct](p.child(s, "kids")).Swap(0, 1)
			partMap(p.child(s, "named")).PutNew("other")
			return s
		},
	}
	if arm == "unknown" {
		return all
	}
	all["being built"] = func() engine.Struct { return p.full("target", arm) }
	all["finished"] = func() engine.Struct { s := p.full("target", arm); s.Message().Finish(); return s }
	all["sent"] = func() engine.Struct {
		s := p.full("target", arm)
		s.Message().Bytes()
		engine.Buffer(s.Message()).Freeze()
		return s
	}
	return all
}

// ofCall returns the root of a message of a call, as package rpc makes them of arguments.
func (p partDesc) ofCall(wire []byte, lazy bool) engine.Struct {
	m, err := engine.ParseForCall(p.d, memory.Chunk{Mem: wire}, engine.Limits{MaxDepth: parse.MaxDepth}, optionsOf(true, lazy))
	if err != nil {
		panic(err)
	}
	return m.Root()
}

// sources are the structs that are set, some of them parts of the target, and some that are absent
// or invalid.
func (p partDesc) sources() map[string]func(target engine.Struct) engine.Struct {
	good := p.full("source", "t").Message().AppendTo(nil)
	indexed, badIndex := engine.Indexed(p.d, good), badIndexed(p)
	part := func(s engine.Struct) engine.Struct {
		if l := nocopy.StructList[engine.Struct](p.child(s, "kids")); l.Len() > 1 {
			return l.At(1)
		}
		return p.child(s, "kid") // of an invalid message
	}
	large := func() engine.Struct {
		s := p.full("large", "l")
		p.create(s, "kid", 0).SetText(fieldNamed(p.d, "t"), strings.Repeat("large", engine.ReferSize))
		return s
	}
	return map[string]func(engine.Struct) engine.Struct{
		"the zero handle":      func(engine.Struct) engine.Struct { return engine.Struct{} },
		"an absent one":        func(engine.Struct) engine.Struct { return engine.Absent() },
		"a parsed one":         func(engine.Struct) engine.Struct { return p.parsed(slices.Clone(good)) },
		"a part":               func(engine.Struct) engine.Struct { return part(p.parsed(slices.Clone(good))) },
		"a lazy one":           func(engine.Struct) engine.Struct { return p.parsed(slices.Clone(good), engine.Lazy) },
		"a part of a lazy one": func(engine.Struct) engine.Struct { return part(p.parsed(slices.Clone(good), engine.Lazy)) },
		"by index": func(engine.Struct) engine.Struct {
			return p.parsed(slices.Clone(indexed), engine.ByIndex, engine.AnySize)
		},
		"a part by index": func(engine.Struct) engine.Struct {
			return part(p.parsed(slices.Clone(indexed), engine.ByIndex, engine.AnySize))
		},
		"being built":         func(engine.Struct) engine.Struct { return p.full("source", "t") },
		"empty, being built":  func(engine.Struct) engine.Struct { return engine.New(p.d) },
		"a part, being built": func(engine.Struct) engine.Struct { return part(p.full("source", "n")) },
		"a new element of a part, being built": func(engine.Struct) engine.Struct {
			return nocopy.StructList[engine.Struct](p.create(part(p.full("source", "n")), "kids", 3)).At(1)
		},
		"a large one":         func(engine.Struct) engine.Struct { return large() },
		"a large one, parsed": func(engine.Struct) engine.Struct { return p.parsed(large().Message().AppendTo(nil)) },
		"of a call":           func(engine.Struct) engine.Struct { return p.ofCall(slices.Clone(good), false) },
		"of a call, lazy":     func(engine.Struct) engine.Struct { return p.ofCall(slices.Clone(good), true) },
		"a part of one":       func(engine.Struct) engine.Struct { return part(p.ofCall(slices.Clone(good), true)) },
		"released":            func(engine.Struct) engine.Struct { s := p.full("source", "t"); s.Release(); return s },
		"a released part": func(engine.Struct) engine.Struct {
			s := p.parsed(slices.Clone(good), engine.Recycle)
			v := part(s)
			s.Release()
			return v
		},
		"by index, invalid": func(engine.Struct) engine.Struct {
			return p.parsed(slices.Clone(badIndex), engine.ByIndex, engine.AnySize)
		},
		"an invalid part by index": func(engine.Struct) engine.Struct {
			return part(p.parsed(slices.Clone(badIndex), engine.ByIndex, engine.AnySize))
		},
		"the target itself":     func(s engine.Struct) engine.Struct { return s },
		"its kid":               func(s engine.Struct) engine.Struct { return p.child(s, "kid") },
		"its first element":     func(s engine.Struct) engine.Struct { return nocopy.StructList[engine.Struct](p.child(s, "kids")).At(0) },
		"its last element":      func(s engine.Struct) engine.Struct { return part(s) },
		"a part of its element": func(s engine.Struct) engine.Struct { return p.child(part(s), "kid") },
		"its value": func(s engine.Struct) engine.Struct {
			v, _ := partMap(p.child(s, "named")).Get("k")
			return v
		},
		"its key": func(s engine.Struct) engine.Struct {
			for k := range partKeys(p.child(s, "keyed")).All() {
				return k
			}
			return engine.Struct{}
		},
		"another type":           func(engine.Struct) engine.Struct { return newAtomic() },
		"list":                   func(engine.Struct) engine.Struct { return p.child(p.full("source", "t"), "kids") },
		"list of its own":        func(s engine.Struct) engine.Struct { return p.child(s, "kids") },
		"list of another type":   func(s engine.Struct) engine.Struct { return p.child(s, "lists") },
		"list of the wrong kind": func(s engine.Struct) engine.Struct { return p.child(s, "named") },
	}
}

// badIndexed adds an index to a message that is not valid.
func badIndexed(p partDesc) []byte {
	indexed := string(engine.Indexed(p.d, p.full("source", "t").Message().AppendTo(nil)))
	return []byte(strings.Replace(indexed, "\x0b\x00\x01"+be(5)+"inner", "\x0b\x00\x09"+be(5)+"inner", 1))
}

// setters set a struct, or something of it, somewhere in the message s.
func (p partDesc) setters() map[string]func(s, v engine.Struct) {
	kids := func(s engine.Struct) nocopy.StructList[engine.Struct] {
		return nocopy.StructList[engine.Struct](p.child(s, "kids"))
	}
	named := func(s engine.Struct) partMap { return partMap(p.child(s, "named")) }
	keyed := func(s engine.Struct) partKeys { return partKeys(p.child(s, "keyed")) }
	lists := func(s engine.Struct) partLists { return partLists(p.child(s, "lists")) }
	u := func(s engine.Struct) engine.Struct { return p.child(s, "u") }
	list := func(v engine.Struct) nocopy.StructList[engine.Struct] {
		return nocopy.StructList[engine.Struct](p.child(v, "kids"))
	}
	setters := map[string]func(s, v engine.Struct){
		"kid": func(s, v engine.Struct) { p.set(s, "kid", v) },
		"value of kid": func(s, v engine.Struct) {
			s.SetValue(fieldNamed(p.d, "kid"), p.d, engine.ValueOfStruct(schema.StructOf(p.d), v))
		},
		"kid of kid":       func(s, v engine.Struct) { p.set(p.child(s, "kid"), "kid", v) },
		"kid of element":   func(s, v engine.Struct) { p.set(kids(s).At(1), "kid", v) },
		"Set":              func(s, v engine.Struct) { kids(s).Set(0, v) },
		"Set last":         func(s, v engine.Struct) { kids(s).Set(1, v) },
		"Append":           func(s, v engine.Struct) { kids(s).Append(v) },
		"Add":              func(s, v engine.Struct) { kids(s).Add(v) },
		"Put":              func(s, v engine.Struct) { named(s).Put("k", v) },
		"Put new":          func(s, v engine.Struct) { named(s).Put("new", v) },
		"Put key":          func(s, v engine.Struct) { keyed(s).Put(v, "w") },
		"list":             func(s, v engine.Struct) { p.set(s, "kids", p.child(v, "kids")) },
		"list as it is":    func(s, v engine.Struct) { p.set(s, "kids", v) },
		"map":              func(s, v engine.Struct) { p.set(s, "named", p.child(v, "named")) },
		"map with keys":    func(s, v engine.Struct) { p.set(s, "keyed", p.child(v, "keyed")) },
		"lists":            func(s, v engine.Struct) { p.set(s, "lists", p.child(v, "lists")) },
		"list in list Set": func(s, v engine.Struct) { lists(s).Set(0, list(v)) },
		"list in list":     func(s, v engine.Struct) { lists(s).Append(list(v)) },
		"list in map":      func(s, v engine.Struct) { partNested(p.child(s, "lately")).Put("k", list(v)) },
		"new list in map":  func(s, v engine.Struct) { partNested(p.child(s, "lately")).Put("new", list(v)) },
		"union":            func(s, v engine.Struct) { p.set(s, "u", p.child(v, "u")) },
		"arm":              func(s, v engine.Struct) { u(s).SetChild(fieldNamed(p.u, "n"), p.u, v) },
		"arm's value": func(s, v engine.Struct) {
			u(s).SetValue(fieldNamed(p.u, "n"), p.u, engine.ValueOfStruct(schema.StructOf(p.d), v))
		},
		"arm with a list": func(s, v engine.Struct) { u(s).SetChild(fieldNamed(p.u, "l"), p.u, p.child(v, "kids")) },
	}
	return setters
}

// takesPart are the setters that set a container or union of the source.
var takesPart = map[string]bool{"list": true, "map": true, "map with keys": true, "lists": true, "list in list Set": true,
	"list in list": true, "list in map": true, "new list in map": true, "union": true, "arm with a list": true}

// attempt calls f and returns the text of its panic, "" if it did not panic.
func attempt(t *testing.T, name string, f func()) (text string) {
	t.Helper()
	defer func() {
		switch v := recover().(type) {
		case nil:
		case string:
			if text = v; !strings.HasPrefix(v, "nocopy: ") || strings.Contains(v, "internal error") {
				t.Errorf("%s: %s", name, v)
			}
		case engine.IndexError, engine.BoundsError:
			text = fmt.Sprint(v)
		case error:
			if text = v.Error(); !strings.HasPrefix(text, "nocopy: ") {
				t.Errorf("%s: %s", name, text)
			}
		default:
			t.Errorf("%s: %v", name, v)
			text = fmt.Sprint(v)
		}
	}()
	f()
	return ""
}

// TestSettersAreAtomicBySource: a setter takes full effect or none, for all sources, places and
// states of the message. With full effect the message is as if a parsed copy of the source had
// been set in a parsed copy of the target. The source stays as it is.
func TestSettersAreAtomicBySource(t *testing.T) {
	for kind, more := range map[string]int{"few fields": 0, "60 fields more": 60} {
		p := newPartDesc("Part"+itoa(more), more)
		t.Run(kind, func(t *testing.T) {
			done, refused := 0, 0
			for _, arm := range []string{"t", "n", "l", "none", "no union", "unknown"} {
				if arm != "t" && more > 0 && !testmode.Long {
					continue
				}
				for state, target := range p.targets(arm) {
					for from, source := range p.sources() {
						for how, set := range p.setters() {
							switch {
							case arm != "t" && !strings.Contains(how, "arm") && how != "union":
								continue // the union is nothing to it
							case how == "list as it is" != strings.HasPrefix(from, "list"):
								continue // only lists, and other types than a list's
							case from == "another type" && takesPart[how]:
								continue // it has no such fields
							}
							if p.attemptOne(t, fmt.Sprintf("%s of %s in %s, arm %s", how, from, state, arm), target, source, set) {
								done++
							} else {
								refused++
							}
						}
					}
				}
			}
			if done == 0 || refused == 0 {
				t.Errorf("%d setters took effect, %d did not", done, refused)
			}
		})
	}
}

func (p partDesc) attemptOne(t *testing.T, name string, target func() engine.Struct, source func(engine.Struct) engine.Struct, set func(s, v engine.Struct)) (done bool) {
	t.Helper()
	s, want := target(), target()
	v, wanted := source(s), source(want)
	var sourceWire []byte
	isList, cannot := strings.Contains(name, "list as it is"), ""
	if !isList {
		cannot = attempt(t, name+": source", func() { sourceWire = wanted.AppendStruct(nil, p.d) })
	}
	text := attempt(t, name, func() { set(s, v) })
	if text == "" && cannot == "" {
		plain := p.parsed(want.Message().AppendTo(nil))
		var copied engine.Struct // what is invalid reads as absent by an index
		var err error
		switch {
		case isList:
			copied = wanted
		case strings.Contains(name, "by index, invalid"):
		default:
			if copied, err = engine.Parse(p.d, sourceWire); err != nil {
				copied = p.parsed(sourceWire, engine.Lazy) // as invalid as it was
			}
		}
		if again := attempt(t, name+": plainly", func() { set(plain, copied) }); again != "" {
			t.Errorf("%s: plainly: %s", name, again)
			return true
		}
		want = plain
	}
	var got, w []byte
	if text := attempt(t, name, func() { got, w = s.Message().AppendTo(nil), want.Message().AppendTo(nil) }); text != "" {
		t.Errorf("%s: then %s", name, text)
		return text == ""
	}
	if string(got) != string(w) {
		sameAtomic(t, name+fmt.Sprintf(" (%s)", text), p.d, s, want)
	}
	return text == ""
}

// TestSettersOfTooDeepValues: a value with which the message would be nested too deeply is
// refused, or the message can't be sent until the value is gone: then it is as if it had never
// been set.
func TestSettersOfTooDeepValues(t *testing.T) {
	p := newPartDesc("Deep", 0)
	chain := func(n int) engine.Struct {
		s := p.small("deep")
		for inner := s; n > 0; n-- {
			inner = p.create(inner, "kid", 0)
		}
		return s
	}
	built := chain(parse.MaxDepth - 1)
	wire := built.Message().AppendTo(nil)
	sources := map[string]func() engine.Struct{
		"finished":         func() engine.Struct { return p.parsed(slices.Clone(wire)) },
		"lazy":             func() engine.Struct { return p.parsed(slices.Clone(wire), engine.Lazy) },
		"being built":      func() engine.Struct { return chain(parse.MaxDepth - 1) },
		"too deep, itself": func() engine.Struct { return chain(parse.MaxDepth + 5) },
		"a part of one":    func() engine.Struct { return p.child(chain(parse.MaxDepth+5), "kid") },
	}
	tried := 0
	for state, target := range p.targets("t") {
		for from, source := range sources {
			for how, set := range p.setters() {
				if takesPart[how] || how == "list as it is" {
					continue
				}
				name := fmt.Sprintf("%s of %s in %s", how, from, state)
				s, want := target(), target()
				text := attempt(t, name, func() { set(s, source()) })
				if text == "" {
					sent := attempt(t, name+": sending", func() { s.Message().AppendTo(nil) })
					if !strings.Contains(sent, "nested") {
						t.Errorf("%s: then sending says %q", name, sent)
					}
					for _, m := range []engine.Struct{s, want} {
						for i := 1; i < len(p.d.Fields()); i++ {
							m.Unset(p.d.Field(i))
						}
					}
				}
				tried++
				if again := attempt(t, name+": sending", func() { sameAtomic(t, name, p.d, s, want) }); again != "" {
					t.Errorf("%s: without it: %s", name, again)
				}
			}
		}
	}
	if tried < 100 {
		t.Errorf("%d were tried", tried)
	}
}
