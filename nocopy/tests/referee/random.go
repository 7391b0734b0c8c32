package referee

import (
	"strconv"
	"strings"

	"github.com/apache/thrift/lib/go/thrift"
)

// Choices is where random values come from: Intn returns a number in [0, n).
type Choices interface{ Intn(n int) int }

// Gen makes random values and types. It asks Choices when it has to choose. The contents of
// numbers and strings come from a counter instead: this takes no choices, and no two are alike.
type Gen struct {
	Choices
	count uint64
}

// Bits returns the next number that looks random.
func (g *Gen) Bits() uint64 {
	g.count++
	x := g.count * 0x9e3779b97f4a7c15
	x ^= x >> 29
	return x * 0xbf58476d1ce4e5b9
}

// long is a text from which long strings are cut.
var long = strings.Repeat("The quick brown fox jumps over the lazy dog. ", 4000)

// Leaf returns a value of a type that is not a struct or container.
func (g *Gen) Leaf(t *Type) Value {
	class := g.Intn(8)
	switch t.Wire {
	case thrift.BOOL:
		return class&1 != 0
	case thrift.BYTE:
		return int8(g.number(class))
	case thrift.I16:
		return int16(g.number(class))
	case thrift.I32:
		return int32(g.number(class))
	case thrift.I64:
		return int64(g.number(class))
	case thrift.DOUBLE:
		special := []uint64{0, 1 << 63, 0x7ff8000000000001, 0x7ff0000000000000} // 0, −0, a NaN, ∞
		if class < len(special) {
			return Float(special[class])
		}
		return Float(g.Bits())
	case thrift.UUID:
		var u thrift.Tuuid
		if class > 0 {
			for i := range u {
				u[i] = byte(g.Bits() >> 32)
			}
		}
		return u
	}
	if t.Binary {
		return Bytes(g.text())
	}
	return g.text()
}

func (g *Gen) number(class int) uint64 {
	switch class {
	case 0:
		return 0
	case 1:
		return ^uint64(0)
	case 2, 3:
		return g.Bits() >> 60 // few values: keys that meet again
	}
	return g.Bits()
}

// text returns a string, sometimes one so long that messages refer to it instead of copying it.
func (g *Gen) text() string {
	x := int(g.Bits() >> 40)
	switch class := g.Intn(32); {
	case class == 0:
		return ""
	case class == 1:
		return long[x%1000:][:4096+x%3]
	case class == 2:
		return long[x%1000:][:4090+x%12]
	case class == 3 && g.Intn(8) == 0:
		return long[x%1000:][:60000+x%10000]
	case class < 8:
		return long[x%1000:][:100+x%900]
	case class < 16:
		return strconv.Itoa(x % 24) // few values: keys that meet again
	case class < 18:
		return "\xff\x00" + strconv.Itoa(x)
	}
	return "s" + strconv.Itoa(x)
}

// Count returns a number of elements, mostly small.
func (g *Gen) Count() int {
	switch class := g.Intn(16); {
	case class < 11:
		return class / 2
	case class < 15:
		return class + g.Intn(8)
	default:
		return 16 + g.Intn(24)
	}
}

// Value returns a value of the type, at most depth structs and containers deep, not counting
// required ones.
func (g *Gen) Value(t *Type, depth int) Value {
	switch {
	case t.IsStruct():
		return g.Record(t.Struct, depth)
	case t.IsList():
		l := &List{Type: t}
		n := g.elements(depth, t.Elem)
		if n == 0 && depth > 0 && t.Wire == thrift.LIST && t.Elem.IsFixed() && g.Intn(4) == 0 {
			return g.many(t)
		}
		for range n {
			if x := g.Value(t.Elem, depth-1); t.Wire == thrift.LIST || !l.Contains(x) {
				l.Elems = append(l.Elems, x)
			}
		}
		return l
	case t.IsMap():
		m := &Map{Type: t}
		for range g.elements(depth, t.Elem) {
			k := g.Value(t.Key, min(depth-1, 1))
			if m.Find(k) < 0 {
				m.Pairs = append(m.Pairs, Pair{k, g.Value(t.Elem, depth-1)})
			}
		}
		return m
	}
	return g.Leaf(t)
}

func (g *Gen) elements(depth int, elem *Type) int {
	if depth <= 0 {
		return 0
	}
	n := g.Count()
	if elem.IsContainer() {
		n = min(n, 3)
	}
	return n
}

// many returns a list of elements of fixed size, of 4 KiB and more: so large that messages refer
// to it.
func (g *Gen) many(t *Type) *List {
	l := &List{Type: t}
	plain := &Gen{Choices: chance{g}, count: g.Bits()}
	for range 4096/len(WriteValue(t.Elem, Zero(t.Elem), nil)) + 1 {
		l.Elems = append(l.Elems, plain.Leaf(t.Elem))
	}
	return l
}

// chance chooses by the counter of a Gen.
type chance struct{ *Gen }

func (c chance) Intn(n int) int { return int(c.Bits() >> 33 % uint64(n)) }

// Contains reports whether an element equals x.
func (l *List) Contains(x Value) bool {
	for _, have := range l.Elems {
		if Equal(have, x) {
			return true
		}
	}
	return false
}

// Record returns a struct in which some fields are set, among them all required ones. Of a union
// it sets at most one.
func (g *Gen) Record(s *Struct, depth int) *Record {
	r := NewRecord(s)
	if s.Union {
		if len(s.Fields) > 0 {
			i := g.Intn(len(s.Fields))
			if t := s.Fields[i].Type; depth > 0 || !t.IsContainer() {
				r.Fields[i] = g.Value(t, depth-1)
				r.Last = i + 1
			}
		}
		return r
	}
	few := map[int]bool{} // those that are set if there are very many
	if len(s.Fields) > 100 {
		for range 1 + g.Intn(24) {
			few[g.Intn(len(s.Fields))] = true
		}
	}
	for i := range s.Fields {
		f := &s.Fields[i]
		if f.AddedIfUnset(s) || len(s.Fields) <= 100 && depth > 0 && g.Intn(4) > 0 || depth > 0 && few[i] {
			r.Fields[i] = g.Value(f.Type, depth-1)
		}
	}
	return r
}

// Noise adds to some of the structs in a value things that peers may send although they don't
// count or are not known: unknown fields, fields and keys that come twice, a second arm of a
// union.
func (g *Gen) Noise(v Value) {
	switch v := v.(type) {
	case *Record:
		for _, x := range v.Fields {
			g.Noise(x)
		}
		if g.Intn(4) == 0 {
			g.noise(v)
		}
	case *List:
		for _, x := range v.Elems {
			g.Noise(x)
		}
	case *Map:
		for i := range v.Pairs {
			g.Noise(v.Pairs[i].Value)
		}
		if n := len(v.Pairs); n > 0 && g.Intn(4) == 0 && !v.Type.Key.IsContainer() {
			again := Pair{v.Pairs[g.Intn(n)].Key, g.Value(v.Type.Elem, 1)}
			v.Pairs = append([]Pair{again}, v.Pairs...)
		}
	}
}

func (g *Gen) noise(r *Record) {
	i := 0
	if n := len(r.Fields); n > 0 {
		i = g.Intn(n)
	}
	switch class := g.Intn(4); {
	case class == 0 && len(r.Fields) > 0 && r.Fields[i] != nil:
		f := &r.Type.Fields[i]
		r.Superseded = append(r.Superseded, Raw{f.ID, f.Type.Wire, string(WriteValue(f.Type, g.Value(f.Type, 1), nil))})
	case class == 1 && r.Type.Union && r.Last > 0 && r.Fields[i] == nil:
		r.Fields[i] = g.Value(r.Type.Fields[i].Type, 1)
	default:
		t := []*Type{I32, String, UUID, ListOf(String), MapOf(I8, ListOf(Bool)), SetOf(Double)}[g.Intn(6)]
		id := int16(10000 + g.Intn(3))
		if class == 2 && len(r.Fields) > 0 && r.Type.Fields[i].Type.Wire != t.Wire {
			id = r.Type.Fields[i].ID // a known id with another type
		}
		r.Unknown = append(r.Unknown, Raw{id, t.Wire, string(WriteValue(t, g.Value(t, 2), nil))})
	}
}

// Normal removes the things that don't count from a value, in place. Reading the written value
// gives the remaining one.
func Normal(v Value) {
	switch v := v.(type) {
	case *Record:
		v.Superseded = nil
		for _, x := range v.Fields {
			Normal(x)
		}
	case *List:
		for _, x := range v.Elems {
			Normal(x)
		}
	case *Map:
		v.Pairs = v.Live()
		for _, p := range v.Pairs {
			Normal(p.Key)
			Normal(p.Value)
		}
	}
}
