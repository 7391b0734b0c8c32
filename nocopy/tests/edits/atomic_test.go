package edits_test

import (
	"fmt"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/internal/memory"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/render"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// atomicDesc describes messages whose values setters may refuse. The lists l and s, m and n, k and
// x are of the same Go types.
var atomicDesc, atomicIn = func() (d, in *schema.Struct) {
	in, u, d := schema.NewStruct("In"), schema.NewUnion("U"), schema.NewStruct("Atomic")
	in.Define(schema.FieldDesc{ID: 1, Name: "a", Type: schema.TypeI32}, schema.FieldDesc{ID: 2, Name: "t", Type: schema.TypeString, Req: schema.Required})
	u.Define(schema.FieldDesc{ID: 1, Name: "in", Type: schema.StructOf(in), Req: schema.Optional}, schema.FieldDesc{ID: 2, Name: "t", Type: schema.TypeString, Req: schema.Optional},
		schema.FieldDesc{ID: 3, Name: "l", Type: schema.ListOf(schema.ListOf(schema.TypeString)), Req: schema.Optional})
	for i, f := range []struct {
		name string
		t    *schema.Type
	}{
		{"a", schema.TypeI32}, {"t", schema.TypeString}, {"b", schema.TypeBinary}, {"in", schema.StructOf(in)}, {"u", schema.StructOf(u)},
		{"l", schema.ListOf(schema.ListOf(schema.TypeString))}, {"s", schema.ListOf(schema.SetOf(schema.TypeString))},
		{"m", schema.MapOf(schema.TypeString, schema.ListOf(schema.TypeI32))}, {"n", schema.MapOf(schema.TypeString, schema.SetOf(schema.TypeI32))},
		{"k", schema.MapOf(schema.ListOf(schema.ListOf(schema.TypeI32)), schema.TypeString)}, {"x", schema.MapOf(schema.ListOf(schema.SetOf(schema.TypeI32)), schema.TypeString)},
		{"ins", schema.ListOf(schema.StructOf(in))}, {"ts", schema.ListOf(schema.TypeString)}, {"set", schema.SetOf(schema.TypeString)},
		{"ns", schema.ListOf(schema.TypeI64)}, {"mt", schema.MapOf(schema.TypeString, schema.TypeString)}, {"mi", schema.MapOf(schema.TypeString, schema.StructOf(in))},
		{"ll", schema.ListOf(schema.ListOf(schema.ListOf(schema.TypeString)))},
	} {
		atomicFields = append(atomicFields, schema.FieldDesc{ID: int16(i + 1), Name: f.name, Type: f.t})
	}
	d.Define(atomicFields...)
	return d, in
}()

var atomicFields []schema.FieldDesc

func atomicField(name string) schema.Ref {
	return atomicDesc.Field(slices.IndexFunc(atomicFields, func(f schema.FieldDesc) bool { return f.Name == name }))
}

type (
	textLists  = nocopy.NestedList[nocopy.StringList]
	numberMaps = nocopy.NestedMap[string, nocopy.Int32List, engine.AsString]
	keyLists   = nocopy.Map[nocopy.NestedList[nocopy.Int32List], string, engine.AsView[nocopy.NestedList[nocopy.Int32List]], engine.AsString]
)

// newAtomic returns a message that is being built, with something in all fields.
func newAtomic() engine.Struct {
	s := engine.New(atomicDesc)
	n := func(name string, k int) engine.Struct { return s.NewChild(atomicField(name), atomicDesc, k) }
	s.SetInt32(atomicField("a"), 1)
	s.SetText(atomicField("t"), "text")
	s.SetBytes(atomicField("b"), []byte("bytes"))
	n("in", 0).SetInt32(atomicIn.Field(0), 2)
	u := n("u", 0)
	ud := atomicDesc.FieldOf(atomicField("u")).Type.Struct()
	u.SetValue(ud.Field(1), ud, engine.ValueOfBytes(schema.TypeString, []byte("arm")))
	textLists(n("l", 0)).AppendNew(0).Append("x")
	textLists(n("s", 0)).AppendNew(0).Append("x")
	numberMaps(n("m", 0)).PutNew("k", 1)
	numberMaps(n("n", 0)).PutNew("k", 1)
	k, _ := keyLists(n("k", 0)).AppendNew()
	k.AppendNew(1)
	x, _ := keyLists(n("x", 0)).AppendNew()
	x.AppendNew(1)
	nocopy.StructList[engine.Struct](n("ins", 2)).At(0).SetInt32(atomicIn.Field(0), 3)
	s.SetTexts(atomicField("ts"), atomicDesc, []string{"b", "a"})
	s.SetTexts(atomicField("set"), atomicDesc, []string{"b", "a"})
	nocopy.Int64List(n("ns", 0)).Append(1)
	nocopy.StringMap(n("mt", 0)).Put("k", "v")
	nocopy.StructMap[string, engine.Struct, engine.AsString](n("mi", 0)).PutNew("k")
	nocopy.NestedList[textLists](n("ll", 1)).NewAt(0, 0).AppendNew(0).Append("x")
	return s
}

// atomicStates are the states of a message in which a setter refuses something.
var atomicStates = map[string]func() engine.Struct{
	"being built": newAtomic,
	"finished": func() engine.Struct {
		s := newAtomic()
		s.Message().Finish()
		return s
	},
	"parsed":         func() engine.Struct { return parsedAtomic() },
	"lazy":           func() engine.Struct { return parsedAtomic(engine.Lazy) },
	"owned":          func() engine.Struct { return parsedAtomic(engine.Own) },
	"parsed, edited": func() engine.Struct { s := parsedAtomic(); editAtomic(s); return s },
	"compacted": func() engine.Struct {
		s := parsedAtomic()
		editAtomic(s)
		s.Message().Compact()
		return s
	},
	"sent": func() engine.Struct {
		s := newAtomic()
		s.Message().Bytes()
		engine.Buffer(s.Message()).Freeze()
		return s
	},
}

func parsedAtomic(opts ...engine.Option) engine.Struct {
	s, err := engine.Parse(atomicDesc, newAtomic().Message().AppendTo(nil), opts...)
	if err != nil {
		panic(err)
	}
	return s
}

// editAtomic changes something everywhere.
func editAtomic(s engine.Struct) {
	c := func(name string) engine.Struct { return s.Child(atomicField(name), atomicDesc) }
	s.SetInt32(atomicField("a"), 5)
	s.SetText(atomicField("t"), strings.Repeat("t", 300))
	textLists(c("l")).AppendNew(0).Append("y")
	textLists(c("s")).At(0).Append("y")
	numberMaps(c("m")).Put("j", numberMaps(c("m")).PutNew("i", 2))
	numberMaps(c("n")).PutNew("l", 1)
	ins := nocopy.StructList[engine.Struct](c("ins"))
	ins.Swap(0, 1)
	ins.AppendNew().SetText(atomicIn.Field(1), "new")
	nocopy.StringList(c("ts")).Append("c")
	nocopy.StringList(c("set")).Add("c")
	nocopy.Int64List(c("ns")).Append(3)
	nocopy.StringMap(c("mt")).Put("l", "w")
	ud := atomicDesc.FieldOf(atomicField("u")).Type.Struct()
	c("u").SetText(ud.Field(1), "other")
}

// atomicSetter calls a setter that is refused. c returns the child in a field of s.
type atomicSetter struct {
	name string
	set  func(s engine.Struct, c func(name string) engine.Struct)
}

// holdsGigabytes is called by tests that hold large memory without touching it. With GOGC=400, as
// in CI, the collector would wait until the heap is five times as large, and other tests touch
// their memory.
func holdsGigabytes(t *testing.T) {
	percent := debug.SetGCPercent(20)
	t.Cleanup(func() {
		debug.SetGCPercent(percent)
		debug.FreeOSMemory()
	})
}

// atomicSetters returns setters with arguments that can't be set.
func atomicSetters() (setters []atomicSetter) {
	other := newAtomic() // with values of types that do not fit
	o := func(name string) engine.Struct { return other.Child(atomicField(name), atomicDesc) }
	stale := newAtomic()
	staleIn, staleTexts, staleNumbers := stale.Child(atomicField("in"), atomicDesc), stale.Child(atomicField("l"), atomicDesc), stale.Child(atomicField("m"), atomicDesc)
	staleKey := stale.Child(atomicField("ll"), atomicDesc)
	stale.Release()
	parsedIns := parsedAtomic().Child(atomicField("ins"), atomicDesc)
	ud := atomicDesc.FieldOf(atomicField("u")).Type.Struct()
	var long []byte                       // longer than a message
	if strconv.IntSize > 32 && aliasing { // else each of the setters would copy a gigabyte
		long = make([]byte, chain.MaxSize+1) // no page of it is touched
	}
	add := func(name string, set func(s engine.Struct, c func(name string) engine.Struct)) {
		setters = append(setters, atomicSetter{name, set})
	}
	child := func(field string, v engine.Struct) {
		add(fmt.Sprintf("SetChild %s", field), func(s engine.Struct, _ func(string) engine.Struct) { s.SetChild(atomicField(field), atomicDesc, v) })
	}
	child("in", other)
	child("in", staleIn)
	child("l", o("s"))
	child("s", o("l"))
	child("l", staleTexts)
	child("m", o("n"))
	child("n", o("m"))
	child("m", o("l"))
	child("k", o("x"))
	child("x", o("k"))
	child("ts", o("ns"))
	child("ll", o("l"))
	child("mt", o("mi"))
	for _, field := range []string{"l", "ins", "ts", "ns", "mt", "ll"} {
		for _, n := range []int{-1, 1<<31 - 1} {
			add(fmt.Sprintf("NewChild %s, %d", field, n), func(s engine.Struct, _ func(string) engine.Struct) { s.NewChild(atomicField(field), atomicDesc, n) })
		}
	}
	for _, field := range []string{"l", "s", "m", "k", "ins", "ts", "ns", "mt", "mi", "ll"} {
		child(field, other) // a struct, converted
		child(field, nocopy.StructList[engine.Struct](o("ins")).At(0))
		add("parsed element as "+field, func(s engine.Struct, _ func(string) engine.Struct) {
			s.SetChild(atomicField(field), atomicDesc, nocopy.StructList[engine.Struct](parsedIns).At(1))
		})
	}
	add("NewMap", func(s engine.Struct, _ func(string) engine.Struct) {
		s.NewMap(atomicField("mt"), atomicDesc, []int{-1})
	})
	add("NewMap of two", func(s engine.Struct, _ func(string) engine.Struct) {
		s.NewMap(atomicField("mt"), atomicDesc, []int{1, 2})
	})
	add("NewBytes", func(s engine.Struct, _ func(string) engine.Struct) { s.NewBytes(atomicField("b"), -1) })

	add("union SetValue stale", func(_ engine.Struct, c func(string) engine.Struct) {
		c("u").SetValue(ud.Field(0), ud, engine.ValueOfStruct(schema.StructOf(atomicIn), staleIn))
	})
	add("union SetValue of a wrong type", func(_ engine.Struct, c func(string) engine.Struct) {
		c("u").SetValue(ud.Field(0), ud, engine.ValueOfStruct(schema.StructOf(ud), o("u")))
	})
	add("union SetValue of a root of a wrong type", func(_ engine.Struct, c func(string) engine.Struct) {
		c("u").SetValue(ud.Field(0), ud, engine.ValueOfStruct(schema.StructOf(atomicIn), other))
	})
	add("union SetChild of a wrong type", func(_ engine.Struct, c func(string) engine.Struct) { c("u").SetChild(ud.Field(2), ud, o("s")) })
	add("union SetChild stale", func(_ engine.Struct, c func(string) engine.Struct) { c("u").SetChild(ud.Field(0), ud, staleIn) })
	add("union NewValue", func(_ engine.Struct, c func(string) engine.Struct) { c("u").NewValue(ud.Field(2), ud, -1) })
	add("union NewValue of a text", func(_ engine.Struct, c func(string) engine.Struct) { c("u").NewValue(ud.Field(1), ud, 0) })

	list := func(name string, f func(l textLists)) {
		add("list of lists: "+name, func(_ engine.Struct, c func(string) engine.Struct) { f(textLists(c("l"))) })
		add("list of sets: "+name, func(_ engine.Struct, c func(string) engine.Struct) { f(textLists(c("s"))) })
	}
	list("Set beyond", func(l textLists) { l.Set(9, nocopy.StringList{}) })
	list("Set stale", func(l textLists) { l.Set(0, nocopy.StringList(staleTexts)) })
	list("Set of a wrong type", func(l textLists) { l.Set(0, nocopy.StringList(o("ns"))) })
	list("Append stale", func(l textLists) { l.Append(nocopy.StringList(staleTexts)) })
	list("Append of a wrong type", func(l textLists) { l.Append(nocopy.StringList(o("mt"))) })
	list("Add stale", func(l textLists) { l.Add(nocopy.StringList(staleTexts)) })
	list("NewAt beyond", func(l textLists) { l.NewAt(9, 0) })
	list("NewAt too many", func(l textLists) { l.NewAt(0, -1) })
	list("AppendNew too many", func(l textLists) { l.AppendNew(-1) })
	list("Swap", func(l textLists) { l.Swap(0, 9) })
	list("Delete", func(l textLists) { l.Delete(0, 9) })
	list("Truncate", func(l textLists) { l.Truncate(-1) })
	add("list of lists of lists: Set", func(_ engine.Struct, c func(string) engine.Struct) {
		nocopy.NestedList[textLists](c("ll")).Set(0, textLists(o("s")))
	})
	add("list of lists of lists: Append", func(_ engine.Struct, c func(string) engine.Struct) {
		nocopy.NestedList[textLists](c("ll")).Append(textLists(o("s")))
	})

	structs := func(name string, f func(l nocopy.StructList[engine.Struct])) {
		add("list of structs: "+name, func(_ engine.Struct, c func(string) engine.Struct) { f(nocopy.StructList[engine.Struct](c("ins"))) })
	}
	structs("Set beyond", func(l nocopy.StructList[engine.Struct]) { l.Set(9, engine.Struct{}) })
	structs("Set stale", func(l nocopy.StructList[engine.Struct]) { l.Set(1, staleIn) })
	structs("Set of a wrong type", func(l nocopy.StructList[engine.Struct]) { l.Set(1, other) })
	structs("Append stale", func(l nocopy.StructList[engine.Struct]) { l.Append(staleIn) })
	structs("Append of a wrong type", func(l nocopy.StructList[engine.Struct]) { l.Append(other) })
	structs("Add stale", func(l nocopy.StructList[engine.Struct]) { l.Add(staleIn) })
	structs("Swap", func(l nocopy.StructList[engine.Struct]) { l.Swap(-1, 0) })
	structs("Delete", func(l nocopy.StructList[engine.Struct]) { l.Delete(1, 0) })
	structs("Truncate", func(l nocopy.StructList[engine.Struct]) { l.Truncate(9) })
	structs("SortFunc", func(l nocopy.StructList[engine.Struct]) {
		l.SortFunc(func(engine.Struct, engine.Struct) int { panic("nocopy: cmp") })
	})

	add("texts: Set", func(_ engine.Struct, c func(string) engine.Struct) { nocopy.StringList(c("ts")).Set(9, "x") })
	add("texts: Swap", func(_ engine.Struct, c func(string) engine.Struct) { nocopy.StringList(c("ts")).Swap(0, 9) })
	add("texts: Delete", func(_ engine.Struct, c func(string) engine.Struct) { nocopy.StringList(c("ts")).Delete(-1, 1) })
	add("texts: SortFunc", func(_ engine.Struct, c func(string) engine.Struct) {
		nocopy.StringList(c("ts")).SortFunc(func(string, string) int { panic("nocopy: cmp") })
	})
	add("numbers: Set", func(_ engine.Struct, c func(string) engine.Struct) { nocopy.Int64List(c("ns")).Set(9, 1) })
	add("numbers: Swap", func(_ engine.Struct, c func(string) engine.Struct) { nocopy.Int64List(c("ns")).Swap(0, 9) })
	add("numbers: Delete", func(_ engine.Struct, c func(string) engine.Struct) { nocopy.Int64List(c("ns")).Delete(0, 9) })

	maps := func(name string, f func(m numberMaps)) {
		add("map of lists: "+name, func(_ engine.Struct, c func(string) engine.Struct) { f(numberMaps(c("m"))) })
		add("map of sets: "+name, func(_ engine.Struct, c func(string) engine.Struct) { f(numberMaps(c("n"))) })
	}
	for _, key := range []string{"k", "new"} {
		maps("Put stale "+key, func(m numberMaps) { m.Put(key, nocopy.Int32List(staleNumbers)) })
		maps("Put of a wrong type "+key, func(m numberMaps) { m.Put(key, nocopy.Int32List(o("ts"))) })
		maps("PutNew "+key, func(m numberMaps) { m.PutNew(key, -1) })
		add("map of structs: Put stale "+key, func(_ engine.Struct, c func(string) engine.Struct) {
			nocopy.StructMap[string, engine.Struct, engine.AsString](c("mi")).Put(key, staleIn)
		})
		add("map of structs: Put of a wrong type "+key, func(_ engine.Struct, c func(string) engine.Struct) {
			nocopy.StructMap[string, engine.Struct, engine.AsString](c("mi")).Put(key, other)
		})
	}
	keyOf := func(name string) nocopy.NestedList[nocopy.Int32List] {
		for k := range keyLists(o(name)).All() {
			return k
		}
		return nocopy.NestedList[nocopy.Int32List]{}
	}
	add("key stale", func(_ engine.Struct, c func(string) engine.Struct) {
		keyLists(c("k")).Put(nocopy.NestedList[nocopy.Int32List](staleKey), "v")
	})
	add("key of a list of sets", func(_ engine.Struct, c func(string) engine.Struct) { keyLists(c("k")).Put(keyOf("x"), "v") })
	add("key of a list of lists", func(_ engine.Struct, c func(string) engine.Struct) { keyLists(c("x")).Put(keyOf("k"), "v") })

	if long != nil {
		text := memory.String(long)
		add("SetText", func(s engine.Struct, _ func(string) engine.Struct) { s.SetText(atomicField("t"), text) })
		add("SetBytes", func(s engine.Struct, _ func(string) engine.Struct) { s.SetBytes(atomicField("b"), long) })
		add("SetTexts", func(s engine.Struct, _ func(string) engine.Struct) {
			s.SetTexts(atomicField("ts"), atomicDesc, []string{"a", text})
		})
		add("SetTexts of a set", func(s engine.Struct, _ func(string) engine.Struct) {
			s.SetTexts(atomicField("set"), atomicDesc, []string{"a", text})
		})
		add("texts: Append long", func(_ engine.Struct, c func(string) engine.Struct) { nocopy.StringList(c("ts")).Append(text) })
		add("texts: Set long", func(_ engine.Struct, c func(string) engine.Struct) { nocopy.StringList(c("ts")).Set(0, text) })
		for _, key := range []string{"k", "new"} {
			add("Put long "+key, func(_ engine.Struct, c func(string) engine.Struct) { nocopy.StringMap(c("mt")).Put(key, text) })
		}
		add("SetMap", func(s engine.Struct, _ func(string) engine.Struct) {
			engine.Pairs[string, string, engine.AsString, engine.AsString](map[string]string{"a": "", "b": text}).SetIn(s, atomicField("mt"), atomicDesc)
		})
		add("union SetValue of a long text", func(_ engine.Struct, c func(string) engine.Struct) {
			c("u").SetValue(ud.Field(1), ud, engine.ValueOfBytes(schema.TypeString, long))
		})
	}
	return setters
}

// refuses calls the setter and reports whether it panicked. The panic must be one that is meant
// for programs, not an internal error.
func (x atomicSetter) refuses(t *testing.T, state string, s engine.Struct) (refused bool) {
	defer func() {
		switch v := recover().(type) {
		case nil:
			return
		case engine.IndexError, engine.BoundsError:
		case string:
			if !strings.HasPrefix(v, "nocopy: ") || strings.Contains(v, "internal error") {
				t.Errorf("%s, %s: %s", x.name, state, v)
			}
		default:
			if !isStale(v) {
				t.Errorf("%s, %s: %v", x.name, state, v)
			}
		}
		refused = true
	}()
	x.set(s, func(name string) engine.Struct { return s.Child(atomicField(name), atomicDesc) })
	return false
}

// TestSettersAreAtomic: a setter that panics has changed nothing. The message is sent as before,
// and later setters work as if it had not been called.
func TestSettersAreAtomic(t *testing.T) {
	holdsGigabytes(t)
	setters := atomicSetters()
	for state, make := range atomicStates {
		for _, x := range setters {
			s, want := make(), make()
			x.refuses(t, state, s)
			if state == "being built" { // go on, then look
				editAtomic(s)
				editAtomic(want)
			}
			sameAtomic(t, x.name+", "+state, atomicDesc, s, want)
			editAtomic(s)
			editAtomic(want)
			sameAtomic(t, x.name+", "+state+", after a change", atomicDesc, s, want)
		}
	}
}

// sameAtomic fails unless both messages are sent with the same values.
func sameAtomic(t *testing.T, name string, d *schema.Struct, s, want engine.Struct) {
	t.Helper()
	got, w := s.Message().AppendTo(nil), want.Message().AppendTo(nil)
	if string(got) == string(w) {
		return
	}
	again, err := engine.Parse(d, got)
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	wanted, err := engine.Parse(d, w)
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	if render.Text(again, d) != render.Text(wanted, d) {
		t.Errorf("%s:\n%s\nwanted:\n%s", name, render.Text(again, d), render.Text(wanted, d))
	}
}
